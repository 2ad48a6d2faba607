-- Sessions: durable records of what agents do, with an append-only log. The row of a session is locked by every change
-- of it and by every append, so that seq is dense and a state and its event are one.

CREATE SCHEMA session;

CREATE TABLE session.session (
  id uuid PRIMARY KEY,
  -- A purge of the node removes its sessions: who no longer sees it must not find them again as sessions without a node.
  node_id uuid REFERENCES graph.node (id) ON DELETE CASCADE,
  owner_id uuid NOT NULL REFERENCES identity."user" (id),
  origin text NOT NULL CHECK (origin IN ('connection', 'task')),
  name text NOT NULL CHECK (name <> ''),
  -- Whether the owner gave the name; a handoff replaces any other.
  is_named boolean NOT NULL DEFAULT false,
  state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'suspended', 'closed', 'archived')),
  waiting_since timestamptz(3),
  brief text,
  runner text,
  instance_id text,
  policy json,
  client json,
  suspended_at timestamptz(3),
  suspend_reason text CHECK (suspend_reason IN ('disconnect', 'idle', 'terminal_exit', 'server_restart', 'agent_missed_handoff', 'user')),
  handoff_title text,
  handoff_text text,
  handoff_by text CHECK (handoff_by IN ('agent', 'server')),
  handoff_at timestamptz(3),
  -- Of the last run: whether its conversation can be picked up.
  can_continue boolean NOT NULL DEFAULT false,
  -- The run under way. Beside the state, so that whoever has locked the row knows both.
  live_run_id uuid,
  last_seq integer NOT NULL DEFAULT 0,
  output_bytes bigint NOT NULL DEFAULT 0,
  last_activity_at timestamptz(3) NOT NULL DEFAULT now(),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  closed_at timestamptz(3),
  archived_at timestamptz(3),
  version integer NOT NULL DEFAULT 1,
  CHECK ((state = 'suspended') = (suspended_at IS NOT NULL)),
  CHECK ((state IN ('closed', 'archived')) = (closed_at IS NOT NULL)),
  CHECK ((state = 'archived') = (archived_at IS NOT NULL)),
  CHECK (live_run_id IS NULL OR state = 'running'),
  CHECK (waiting_since IS NULL OR state IN ('running', 'suspended')),
  CHECK ((handoff_title IS NULL) = (handoff_text IS NULL) AND (handoff_title IS NULL) = (handoff_by IS NULL) AND (handoff_title IS NULL) = (handoff_at IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX session_node_idx ON session.session (node_id, last_activity_at DESC, id DESC);
CREATE INDEX session_owner_idx ON session.session (owner_id, last_activity_at DESC, id DESC);
CREATE INDEX session_active_idx ON session.session (last_activity_at DESC, id DESC);
CREATE INDEX session_open_idx ON session.session (last_activity_at DESC, id DESC) WHERE state IN ('running', 'suspended');
CREATE INDEX session_closed_idx ON session.session (last_activity_at) WHERE state = 'closed';

-- One life of an agent at work on a session. Its holder is the process that can reach it, and renews its lease.
CREATE TABLE session.run (
  id uuid PRIMARY KEY,
  session_id uuid NOT NULL REFERENCES session.session (id) ON DELETE CASCADE,
  holder text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('fresh', 'conversation', 'handoff')),
  runner text NOT NULL,
  instance_id text,
  -- The terminal that started the client of a connection.
  terminal_id text,
  -- What requests of one agent have in common that keeps no connection.
  binding text,
  started_at timestamptz(3) NOT NULL DEFAULT now(),
  lease_until timestamptz(3) NOT NULL,
  last_used_at timestamptz(3) NOT NULL DEFAULT now(),
  ended_at timestamptz(3),
  outcome text CHECK (outcome IN ('completed', 'interrupted', 'suspended', 'closed', 'failed', 'lost')),
  error text,
  CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
CREATE INDEX run_session_idx ON session.run (session_id, started_at DESC);
-- A session has one run at a time.
CREATE UNIQUE INDEX run_live_idx ON session.run (session_id) WHERE ended_at IS NULL;
CREATE INDEX run_binding_idx ON session.run (binding, started_at DESC) WHERE binding IS NOT NULL;
CREATE INDEX run_idle_idx ON session.run (last_used_at) WHERE ended_at IS NULL AND runner = 'mcp';
CREATE INDEX run_lease_idx ON session.run (lease_until) WHERE ended_at IS NULL;

-- The log. Payloads are kept as they came: nothing looks into them but what reads a log.
CREATE TABLE session.event (
  session_id uuid NOT NULL REFERENCES session.session (id) ON DELETE CASCADE,
  seq integer NOT NULL CHECK (seq > 0),
  id uuid NOT NULL,
  run_id uuid,
  at timestamptz(3) NOT NULL DEFAULT now(),
  kind text NOT NULL,
  payload json NOT NULL,
  PRIMARY KEY (session_id, seq)
);
CREATE UNIQUE INDEX event_id_idx ON session.event (session_id, id);

CREATE FUNCTION session.refuse_event_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'An event of a session is never changed' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER event_is_final BEFORE UPDATE ON session.event FOR EACH ROW EXECUTE FUNCTION session.refuse_event_change();

-- The whole output of a tool call, beside the log.
CREATE TABLE session.output (
  session_id uuid NOT NULL,
  event_id uuid NOT NULL,
  text text NOT NULL,
  is_complete boolean NOT NULL,
  PRIMARY KEY (session_id, event_id),
  FOREIGN KEY (session_id, event_id) REFERENCES session.event (session_id, id) ON DELETE CASCADE
);

CREATE TABLE session.question (
  session_id uuid NOT NULL REFERENCES session.session (id) ON DELETE CASCADE,
  request_id text NOT NULL,
  run_id uuid,
  -- As it was asked.
  question json NOT NULL,
  asked_at timestamptz(3) NOT NULL DEFAULT now(),
  deadline_at timestamptz(3),
  answered_at timestamptz(3),
  -- Null for an answered one that nobody decided.
  decision json,
  -- When its run learnt the answer.
  delivered_at timestamptz(3),
  PRIMARY KEY (session_id, request_id)
);
CREATE INDEX question_open_idx ON session.question (session_id, asked_at) WHERE answered_at IS NULL;
CREATE INDEX question_deadline_idx ON session.question (deadline_at) WHERE answered_at IS NULL AND deadline_at IS NOT NULL;

-- What a session may reach, below what its person may see.
CREATE TABLE session.scope (
  session_id uuid NOT NULL REFERENCES session.session (id) ON DELETE CASCADE,
  node_id uuid NOT NULL REFERENCES graph.node (id) ON DELETE CASCADE,
  access text NOT NULL CHECK (access IN ('read', 'write')),
  added_via text NOT NULL CHECK (added_via IN ('seed', 'expand', 'write', 'disconnected', 'user')),
  reason text,
  added_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (session_id, node_id)
);
CREATE INDEX scope_node_idx ON session.scope (node_id);

-- ---------------------------------------------------------------- published

-- How many sessions a purge of the node would remove.
CREATE FUNCTION session.count_of_node(p_node uuid) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT count(*)::integer FROM session.session s WHERE s.node_id = p_node
$$;
