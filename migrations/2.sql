-- Version 1 to 2: why a delivery is held, whether its failure was alerted, confirmations, and targets of webhooks
-- with their format. Append-only: never changed once it was released.

-- The secret of a webhook stands with its format now; version 1 knew only formd's own.
UPDATE contents
SET targets = (
    SELECT json_group_array(
        json(CASE
            WHEN value -> '$.webhook.secret' IS NULL THEN value
            ELSE json_object('webhook', json_object(
                'url', json(value -> '$.webhook.url'),
                'disclosure', 'path',
                'allow_private', json(value -> '$.webhook.allow_private'),
                'format', json_object('formd', json_object('secret', json(value -> '$.webhook.secret'), 'previous', NULL))
            ))
        END)
        ORDER BY key
    )
    FROM json_each(contents.targets)
)
WHERE json_valid(targets)
  AND EXISTS (SELECT 1 FROM json_each(contents.targets) WHERE value -> '$.webhook.secret' IS NOT NULL);

-- New columns and checks need new tables. The child goes first, so that no reference is broken at any moment.
DROP INDEX deliveries_due;
DROP INDEX deliveries_failed;
DROP INDEX deliveries_waiting;
DROP INDEX attempts_delivery;
ALTER TABLE attempts RENAME TO attempts_1;
ALTER TABLE deliveries RENAME TO deliveries_1;

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

CREATE TABLE attempts (
    receipt      INTEGER NOT NULL,
    n            INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    milliseconds INTEGER NOT NULL,
    outcome      TEXT NOT NULL CHECK (outcome IN ('accepted', 'try_later', 'refused')),
    note         TEXT,                                -- as in deliveries
    FOREIGN KEY (receipt, n) REFERENCES deliveries (receipt, n)
) STRICT;

-- What waited and was not due was held as spam or, else, by a restore.
INSERT INTO deliveries
    (receipt, n, site, destination, channel, state, reason, attempts, due_at, held, claim, note, acked)
SELECT d.receipt, d.n, d.site, d.destination, d.channel, d.state, d.reason, d.attempts, d.due_at,
       CASE WHEN d.state IN ('pending', 'retrying') AND d.due_at IS NULL
            THEN CASE WHEN r.spam = 1 THEN 'spam' ELSE 'restored' END
       END,
       d.claim, d.note, d.acked
FROM deliveries_1 AS d
JOIN receipts AS r ON r.id = d.receipt;

INSERT INTO attempts (rowid, receipt, n, at, milliseconds, outcome, note)
SELECT rowid, receipt, n, at, milliseconds, outcome, note FROM attempts_1;

DROP TABLE attempts_1;
DROP TABLE deliveries_1;

CREATE INDEX deliveries_due ON deliveries (site, destination, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_failed ON deliveries (receipt, n, reason, channel) WHERE state = 'failed' AND acked = 0;
CREATE INDEX deliveries_stopped ON deliveries (receipt, n) WHERE state = 'failed';
CREATE INDEX deliveries_waiting ON deliveries (receipt, n, state, held) WHERE state IN ('pending', 'retrying');
CREATE INDEX deliveries_held ON deliveries (receipt, n, held, site) WHERE held IS NOT NULL;
CREATE INDEX attempts_delivery ON attempts (receipt, n);

CREATE TABLE confirmations (
    address_hash BLOB PRIMARY KEY CHECK (length(address_hash) = 16), -- over site, form and address
    at           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX confirmations_at ON confirmations (at);

-- Lists and counts that do not cost the whole table.
CREATE INDEX receipts_form ON receipts (site, form);
CREATE INDEX receipts_spam ON receipts (spam) WHERE spam = 1;

CREATE TABLE attachments_kept (
    files INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT;

INSERT INTO attachments_kept (files, bytes) SELECT COUNT(*), COALESCE(SUM(size), 0) FROM attachments;

CREATE TRIGGER attachments_added AFTER INSERT ON attachments
BEGIN
    UPDATE attachments_kept SET files = files + 1, bytes = bytes + NEW.size;
END;

CREATE TRIGGER attachments_removed AFTER DELETE ON attachments
BEGIN
    UPDATE attachments_kept SET files = files - 1, bytes = bytes - OLD.size;
END;
