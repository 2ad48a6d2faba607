-- Commits that notify are carried out one after the other: whoever writes into the outbox tells of it after the commit.
DROP TRIGGER event_tell ON outbox.event;
DROP FUNCTION outbox.tell();
