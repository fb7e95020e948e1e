-- The whole present schema of formd's database; its comments are the data dictionary.
-- Times are milliseconds since 1970 in UTC. Every table is STRICT; every state has its CHECK.
-- No index covers a value of a visitor or a target of an operator: an index keeps copies that
-- secure_delete does not reach.

-- One row a submission that was accepted. Outlives its values.
CREATE TABLE receipts (
    id           INTEGER PRIMARY KEY CHECK (id >= 0), -- 42 bits of milliseconds since 2020, 21 random bits
    site         TEXT NOT NULL,
    form         TEXT NOT NULL,
    page         TEXT,                                -- the page the form stands on, as the form or formd.js says
    locale       TEXT NOT NULL,                       -- language of the answer: en, ru
    erase_at     INTEGER NOT NULL,                    -- fixed at arrival
    erased_at    INTEGER,
    erased_why   TEXT CHECK (erased_why IN ('expired', 'operator')),
    key_hash     BLOB UNIQUE CHECK (length(key_hash) = 16),     -- over site, form and submission key
    content_hash BLOB NOT NULL CHECK (length(content_hash) = 32),
    hash_version INTEGER NOT NULL,
    client_hash  BLOB CHECK (length(client_hash) = 16),         -- only without a key, dropped after 10 minutes
    spam         INTEGER NOT NULL DEFAULT 0 CHECK (spam IN (0, 1)),
    rehearsal    INTEGER NOT NULL DEFAULT 0 CHECK (rehearsal IN (0, 1)),
    CHECK ((erased_at IS NULL) = (erased_why IS NULL))
) STRICT;

-- What expires next: only rows that still have values.
CREATE INDEX receipts_expiring ON receipts (erase_at) WHERE erased_at IS NULL;
-- Double clicks without a key: only rows younger than about 10 minutes.
CREATE INDEX receipts_recent ON receipts (client_hash) WHERE client_hash IS NOT NULL;
-- The latest of a form, however quiet it is: the one index for lists that every receipt pays for (4 KiB of log).
CREATE INDEX receipts_form ON receipts (site, form);
-- What was judged spam, in the order of arrival.
CREATE INDEX receipts_spam ON receipts (spam) WHERE spam = 1;

-- The only home of values, and of the targets with their secrets and templates. They lie behind tabs, on overflow pages,
-- which secure_delete zeroes whole (store/apart.rs); so do attachments.name and deliveries.note.
CREATE TABLE contents (
    receipt INTEGER PRIMARY KEY REFERENCES receipts (id),
    fields  TEXT NOT NULL,                            -- JSON: fields in order with name, label, role, value; consent
    targets TEXT NOT NULL                             -- JSON: array, the n-th is the target of delivery n
) STRICT;

-- One row a file; deleted with the values.
CREATE TABLE attachments (
    id       INTEGER PRIMARY KEY,
    receipt  INTEGER NOT NULL REFERENCES receipts (id),
    position INTEGER NOT NULL CHECK (position BETWEEN 1 AND 255),
    field    TEXT NOT NULL,
    name     TEXT NOT NULL,                           -- display name, never part of a path
    type     TEXT NOT NULL,                           -- MIME type of the content
    size     INTEGER NOT NULL CHECK (size > 0),
    sha256   BLOB NOT NULL CHECK (length(sha256) = 32),
    path     TEXT NOT NULL                            -- below attachments/: DAY/RECEIPT-N
) STRICT;

CREATE INDEX attachments_receipt ON attachments (receipt, position);

-- How many attachments are kept and how large they are: one row, counted along, so that `status` reads no table.
CREATE TABLE attachments_kept (
    files INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT;

INSERT INTO attachments_kept (files, bytes) VALUES (0, 0);

CREATE TRIGGER attachments_added AFTER INSERT ON attachments
BEGIN
    UPDATE attachments_kept SET files = files + 1, bytes = bytes + NEW.size;
END;

CREATE TRIGGER attachments_removed AFTER DELETE ON attachments
BEGIN
    UPDATE attachments_kept SET files = files - 1, bytes = bytes - OLD.size;
END;

-- One row a delivery. Its target stands in contents, so that erasing has one home.
CREATE TABLE deliveries (
    receipt     INTEGER NOT NULL REFERENCES receipts (id),
    n           INTEGER NOT NULL CHECK (n BETWEEN 1 AND 255),
    site        TEXT NOT NULL,
    destination TEXT NOT NULL,
    channel     TEXT NOT NULL CHECK (channel IN ('email', 'webhook', 'confirmation')),
    state       TEXT NOT NULL CHECK (state IN ('pending', 'retrying', 'delivered', 'failed')),
    reason      TEXT CHECK (reason IN ('refused', 'exhausted', 'destination_inactive', 'values_gone')),
    attempts    INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    due_at      INTEGER,                              -- when the next attempt is due; while claimed: when the claim ends
    held        TEXT CHECK (held IN ('spam', 'restored', 'site_gone')), -- why it waits and is not due
    claim       INTEGER,                              -- token of the claim that is sending it now
    note        TEXT,                                 -- what the peer or the network said; erased with the values
    acked       INTEGER NOT NULL DEFAULT 0 CHECK (acked IN (0, 1)), -- the operator has seen the failure
    alerted     INTEGER NOT NULL DEFAULT 0 CHECK (alerted IN (0, 1)), -- an [alert] has named the failure
    PRIMARY KEY (receipt, n),
    CHECK ((state = 'failed') = (reason IS NOT NULL)),
    CHECK (state IN ('pending', 'retrying') OR (due_at IS NULL AND held IS NULL AND claim IS NULL)),
    CHECK (state IN ('delivered', 'failed') OR (due_at IS NULL) = (held IS NOT NULL)),
    CHECK (claim IS NULL OR due_at IS NOT NULL)
) STRICT, WITHOUT ROWID;

-- What waits, by site and destination, so that the next one in turn is one look-up.
CREATE INDEX deliveries_due ON deliveries (site, destination, due_at) WHERE due_at IS NOT NULL;
-- What stopped and nobody has dealt with.
CREATE INDEX deliveries_failed ON deliveries (receipt, n, reason, channel) WHERE state = 'failed' AND acked = 0;
-- What stopped at all, for lists.
CREATE INDEX deliveries_stopped ON deliveries (receipt, n) WHERE state = 'failed';
-- What waits at all, held or due, in the order of arrival.
CREATE INDEX deliveries_waiting ON deliveries (receipt, n, state, held) WHERE state IN ('pending', 'retrying');
-- What is held and why: counted, and listed in the order of arrival.
CREATE INDEX deliveries_held ON deliveries (receipt, n, held, site) WHERE held IS NOT NULL;

-- One row an attempt that ended.
CREATE TABLE attempts (
    receipt      INTEGER NOT NULL,
    n            INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    milliseconds INTEGER NOT NULL,
    outcome      TEXT NOT NULL CHECK (outcome IN ('accepted', 'try_later', 'refused')),
    note         TEXT,                                -- as in deliveries
    FOREIGN KEY (receipt, n) REFERENCES deliveries (receipt, n)
) STRICT;

CREATE INDEX attempts_delivery ON attempts (receipt, n);

-- One row a confirmation of the last day: once per address, form and day, and so many an hour. The address is a
-- keyed hash, and the row goes after a day.
CREATE TABLE confirmations (
    address_hash BLOB PRIMARY KEY CHECK (length(address_hash) = 16), -- over site, form and address
    at           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX confirmations_at ON confirmations (at);

-- Files still to be unlinked: erased in the database, perhaps not yet on disk.
CREATE TABLE removals (
    path TEXT PRIMARY KEY                             -- below the data directory
) STRICT, WITHOUT ROWID;

-- Addresses under which receipts exist: they are read for a repeat's key even when the form is gone.
CREATE TABLE addresses (
    path TEXT PRIMARY KEY,
    site TEXT NOT NULL,
    form TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What the running daemon knows and formctl asks.
CREATE TABLE facts (
    name  TEXT PRIMARY KEY,                           -- see store/facts.rs
    value TEXT NOT NULL,
    at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
