-- The entity tables hold the present truth; events hold what happened; accounting holds what has ended. One transaction
-- writes all three. Columns are what is searched or read often; the rest of a thing is one JSON text, as lib/wire writes it.
-- Times are microseconds since 1970 UTC.

CREATE TABLE cluster (
  one            INTEGER PRIMARY KEY CHECK (one = 1),
  sequence       INTEGER NOT NULL,           -- of the last event
  next_job_id    INTEGER NOT NULL,
  epoch          INTEGER NOT NULL,
  policy_version INTEGER NOT NULL,
  settings       TEXT                        -- absent until the first configuration
) STRICT;

CREATE TABLE nodes (
  id   INTEGER PRIMARY KEY,                  -- the node's index; never reused
  name TEXT NOT NULL,                        -- a removed node keeps its row
  node TEXT NOT NULL
) STRICT;

CREATE TABLE partitions (
  position  INTEGER PRIMARY KEY,             -- order of the configuration
  partition TEXT NOT NULL
) STRICT;

CREATE TABLE topologies (
  name     TEXT PRIMARY KEY,
  topology TEXT NOT NULL
) STRICT;

CREATE TABLE enrol_tokens (
  position INTEGER PRIMARY KEY,
  token    TEXT NOT NULL                     -- its digest, never the token
) STRICT;

CREATE TABLE jobs (
  id              INTEGER PRIMARY KEY,
  uid             INTEGER NOT NULL,
  gid             INTEGER NOT NULL,
  user            TEXT NOT NULL,
  user_group      TEXT NOT NULL,
  submitted_us    INTEGER NOT NULL,
  eligible_us     INTEGER NOT NULL,
  script_digest   TEXT NOT NULL,
  env_digest      TEXT NOT NULL,
  held_by_user    INTEGER NOT NULL CHECK (held_by_user IN (0, 1)),
  held_by_admin   INTEGER NOT NULL CHECK (held_by_admin IN (0, 1)),
  launch_failures INTEGER NOT NULL,
  restarts        INTEGER NOT NULL,
  state           TEXT NOT NULL,
  lost_from       TEXT NOT NULL,
  last_attempt    INTEGER NOT NULL,
  outcome         TEXT NOT NULL,
  ended_us        INTEGER,
  end_reason      TEXT NOT NULL,
  attempt         TEXT,                      -- the live one, or the last after the end
  spec            TEXT NOT NULL
) STRICT;

-- Scripts and environments by content. `uses` counts the jobs above that name a blob, once for each naming.
CREATE TABLE blobs (
  id     INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,               -- sha256, hex
  uses   INTEGER NOT NULL CHECK (uses > 0),
  bytes  BLOB NOT NULL
) STRICT;

CREATE TABLE events (
  sequence INTEGER PRIMARY KEY,
  at_us    INTEGER NOT NULL,
  who      TEXT NOT NULL,
  kind     TEXT NOT NULL,
  version  INTEGER NOT NULL,
  fact     TEXT NOT NULL
) STRICT;

-- Answers kept for their idempotency keys. Rows are as old as their ids are low.
CREATE TABLE replies (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  principal      TEXT NOT NULL,
  route          TEXT NOT NULL,
  key            TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  status         INTEGER NOT NULL,
  body           TEXT NOT NULL,
  expires_us     INTEGER NOT NULL,
  UNIQUE (principal, route, key)
) STRICT;

-- One row for each ended attempt, and for each time a job ended while it waited (attempt 0), in the order they happened.
CREATE TABLE accounting (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  job          INTEGER NOT NULL,
  attempt      INTEGER NOT NULL,
  user         TEXT NOT NULL,
  account      TEXT NOT NULL,
  partition    TEXT NOT NULL,
  name         TEXT NOT NULL,
  outcome      TEXT NOT NULL,
  submitted_us INTEGER NOT NULL,
  ended_us     INTEGER NOT NULL,
  record       TEXT NOT NULL                 -- the job as it was at that end
) STRICT;
CREATE INDEX accounting_by_job ON accounting (job);
CREATE INDEX accounting_by_user ON accounting (user, job);
CREATE INDEX accounting_by_end ON accounting (ended_us);

CREATE TABLE accounting_nodes (
  node    INTEGER NOT NULL,
  job     INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  PRIMARY KEY (node, job, attempt)
) STRICT, WITHOUT ROWID;
