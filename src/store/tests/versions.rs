//! Databases of older versions: brought up to date whole, or left as they were.

use super::*;
use crate::domain::delivery::Hold;

/// The schema of version 1, as it was released.
const VERSION_1: &str = include_str!("../../../tests/data/db/1.sql");

/// Rows of version 1 in every state: (n, state, reason, due, claim); receipt 7 is spam, receipt 8 is not.
const ROWS: &str = r#"
    INSERT INTO receipts (id, site, form, locale, erase_at, content_hash, hash_version, spam)
    VALUES (7, 'acme', 'quote', 'en', 9000000000000, zeroblob(32), 1, 1),
           (8, 'acme', 'quote', 'en', 9000000000000, zeroblob(32), 1, 0);
    INSERT INTO contents (receipt, fields, targets)
    VALUES (7, '{"fields":[],"consent":null}', '[]'),
           (8, '{"fields":[],"consent":null}', '[
               {"email":{"address":"sales@acme.example","subject":null,"text":null,"reply_to":null,"attach_files":false,"max_attach":7,"title":null}},
               {"webhook":{"url":"https://crm.acme.example/hook?k=1","secret":"a \"secret\" of \u00fcber 16","allow_private":true}},
               {"webhook":{"url":"https://b.example/","secret":"0123456789abcdef","allow_private":false}}]');
    INSERT INTO deliveries (receipt, n, site, destination, channel, state, reason, attempts, due_at, claim, note, acked)
    VALUES (7, 1, 'acme', 'sales', 'email', 'pending', NULL, 0, NULL, NULL, NULL, 0),
           (8, 1, 'acme', 'sales', 'email', 'pending', NULL, 0, NULL, NULL, NULL, 0),
           (8, 2, 'acme', 'crm', 'webhook', 'retrying', NULL, 2, 5000, NULL, 'HTTP 500', 0),
           (8, 3, 'acme', 'b', 'webhook', 'pending', NULL, 1, 6000, 99, NULL, 0),
           (8, 4, 'acme', 'c', 'email', 'delivered', NULL, 1, NULL, NULL, '250 ok', 0),
           (8, 5, 'acme', 'd', 'email', 'failed', 'refused', 3, NULL, NULL, '550 no', 1),
           (8, 6, 'acme', 'e', 'email', 'failed', 'values_gone', 0, NULL, NULL, NULL, 1),
           (8, 7, 'acme', 'f', 'email', 'retrying', NULL, 1, NULL, NULL, NULL, 0);
    INSERT INTO attempts (receipt, n, at, milliseconds, outcome, note)
    VALUES (8, 5, 3, 10, 'refused', '550 no'), (8, 2, 1, 10, 'try_later', 'HTTP 500'), (8, 2, 2, 10, 'try_later', NULL);
    PRAGMA user_version = 1;
"#;

/// A data directory whose database has version 1.
fn version_1() -> TempDir {
    let temp = tempfile::tempdir().unwrap();
    let data = temp.path().join("data");
    let now = Timestamp::from_millis(1_800_000_000_000);
    drop(Store::open_daemon(&data, now, [7; 32]).unwrap());
    for name in ["formd.db", "formd.db-wal", "formd.db-shm"] {
        disk::unlink(&data.join(name)).unwrap();
    }
    let db = schema::open_writer(&data.join("formd.db"), OpenFlags::SQLITE_OPEN_CREATE).unwrap();
    db.execute_batch(VERSION_1).unwrap();
    db.execute_batch(ROWS).unwrap();
    temp
}

/// A backup as version 1 would have made it, beside one of today; the folder lives as long as the first value.
pub(super) fn backed_up_by_version_1(today: &Path) -> (TempDir, PathBuf) {
    let temp = version_1();
    let old = temp.path().join(today.file_name().unwrap());
    std::fs::create_dir(&old).unwrap();
    std::fs::copy(today.join("key"), old.join("key")).unwrap();
    let copy = old.join("formd.db");
    let db = schema::open_writer(&temp.path().join("data/formd.db"), OpenFlags::empty()).unwrap();
    db.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    let bytes = std::fs::read(&copy).unwrap();
    let text = std::fs::read_to_string(today.join("manifest.json")).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    manifest["schema"] = 1.into();
    manifest["receipts"] = 2.into();
    manifest["files"] = serde_json::json!([]);
    manifest["database"] =
        serde_json::json!({"path": "formd.db", "size": bytes.len(), "sha256": Sha256Sum::of(&bytes).to_string()});
    std::fs::write(old.join("manifest.json"), manifest.to_string()).unwrap();
    (temp, old)
}

/// Every object of a database without comments and layout, and every column.
fn shape(db: &Connection) -> Vec<String> {
    let objects = "SELECT type || ' ' || name || ' ' || COALESCE(sql, '') FROM sqlite_schema";
    let columns = "SELECT s.name || '.' || x.cid || x.name || x.type || x.\"notnull\" || COALESCE(x.dflt_value, '') || x.pk || x.hidden
                   FROM sqlite_schema AS s, pragma_table_xinfo(s.name) AS x WHERE s.type IN ('table', 'index')";
    let mut all = Vec::new();
    for sql in [objects, columns] {
        let mut ask = db.prepare(sql).unwrap();
        let found = ask.query_map([], |row| row.get::<_, String>(0)).unwrap();
        all.extend(found.map(|text| {
            let text = text.unwrap();
            let bare: Vec<&str> = text.lines().map(|line| line.split("--").next().unwrap()).collect();
            bare.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
        }));
    }
    all.sort();
    all
}

/// All rows of a question, as text.
fn column(db: &Connection, sql: &str) -> Vec<String> {
    let mut ask = db.prepare(sql).unwrap();
    ask.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// What must be the same before and after.
const KEPT: [&str; 3] = [
    "SELECT format('%s %s %s %s %s %s %s %s %s %s %s %s', receipt, n, site, destination, channel, state, reason, attempts, due_at, claim, note, acked) FROM deliveries ORDER BY receipt, n",
    "SELECT format('%s %s %s %s %s %s %s', rowid, receipt, n, at, milliseconds, outcome, note) FROM attempts ORDER BY rowid",
    "SELECT format('%s %s %s %s', id, site, form, spam) FROM receipts ORDER BY id",
];

#[test]
fn version_1_becomes_the_newest_with_every_row_and_the_same_tables_as_a_new_database() {
    let temp = version_1();
    let path = temp.path().join("data/formd.db");
    let before = KEPT.map(|sql| column(&Connection::open(&path).unwrap(), sql));
    let now = Timestamp::from_millis(1_800_000_000_000);
    let store = Store::open_daemon(&temp.path().join("data"), now, [7; 32]).unwrap();
    let db = Connection::open(&path).unwrap();
    assert_eq!(KEPT.map(|sql| column(&db, sql)), before);
    assert_eq!(shape(&db), shape(&Connection::open(World::new().root().join("formd.db")).unwrap()));
    assert_eq!(column(&db, "PRAGMA integrity_check"), ["ok"]);
    assert_eq!(column(&db, "SELECT \"table\" FROM pragma_foreign_key_check"), Vec::<String>::new());

    let view = |row| store.show(ReceiptId::from_row(row).unwrap(), now).unwrap().unwrap().row.deliveries;
    let held: Vec<_> = view(7).iter().chain(&view(8)).map(|delivery| delivery.held).collect();
    let (spam, restored) = (Some(Hold::Spam), Some(Hold::Restored));
    assert_eq!(held, [spam, restored, None, None, None, None, None, restored]);
    assert_eq!(view(8)[1].target.as_deref(), Some("https://crm.acme.example/hook"));
    let targets =
        store.read(|db| Ok(db.query_row("SELECT targets FROM contents WHERE receipt = 8", [], |r| r.get(0))?));
    let targets = rows::targets(&targets.map(|text: String| text).unwrap()).unwrap();
    let secret = |n: u8| match rows::target(&targets, n).unwrap() {
        Target::Webhook(hook) => serde_json::to_value(hook).unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(secret(2)["format"]["formd"]["secret"], "a \"secret\" of über 16");
    assert_eq!((&secret(2)["allow_private"], &secret(3)["allow_private"]), (&true.into(), &false.into()));
}

#[test]
fn a_crash_in_the_middle_of_a_step_leaves_version_1_and_the_next_start_does_it_again() {
    let temp = version_1();
    let data = temp.path().join("data");
    // What a crash leaves of the transaction: the files as they are before its COMMIT, its pages spilled to the log.
    let mut db = schema::open_writer(&data.join("formd.db"), OpenFlags::empty()).unwrap();
    db.execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1").unwrap();
    let step = db.transaction().unwrap();
    step.execute_batch(include_str!("../../../migrations/2.sql")).unwrap();
    let crashed = tempfile::tempdir().unwrap();
    for name in ["formd.db", "formd.db-wal"] {
        std::fs::copy(data.join(name), crashed.path().join(name)).unwrap();
    }
    drop(step);
    let left = Connection::open(crashed.path().join("formd.db")).unwrap();
    assert_eq!(schema::version(&left).unwrap(), 1);
    assert_eq!(column(&left, "SELECT name FROM sqlite_schema WHERE name = 'confirmations'"), Vec::<String>::new());
    assert_eq!(column(&left, KEPT[0]), column(&db, KEPT[0]));
    drop((left, db));
    for name in ["formd.db", "formd.db-wal"] {
        std::fs::copy(crashed.path().join(name), data.join(name)).ok();
    }
    let store = Store::open_daemon(&data, Timestamp::from_millis(1_800_000_000_000), [7; 32]).unwrap();
    assert_eq!(store.read(schema::version).unwrap(), schema::SCHEMA.version());
}
