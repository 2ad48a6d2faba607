-- The nodes that the caller had to see for a kept reply: whoever sees one of them no more is not told it again.
ALTER TABLE outbox.applied_call ADD COLUMN rests_on uuid[] NOT NULL DEFAULT '{}';

-- Replies of before do not say it, so they are not repeated; that their calls were carried out stays known.
UPDATE outbox.applied_call SET reply = NULL;
