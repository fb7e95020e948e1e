//! An upgrade as an operator lives it: a directory of version 1 under the real daemon, the way back, and what goes wrong.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::missing_docs_in_private_items,
    clippy::cast_precision_loss,
    reason = "a test ends where it fails, and its name is its documentation"
)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant, SystemTime};

use common::client::Request;
use common::encodings;
use common::process::{Process, write_config};
use formd::harness::sha256_hex;
use rusqlite::{Connection, params};

/// The schema of version 1, as it was released.
const VERSION_1: &str = include_str!("data/db/1.sql");
/// A value, to be found in whatever copy of it is left.
const VALUE: &str = "marker-of-version-1";
/// Rows of a waiting receipt with a file.
const RECEIPT: i64 = (211_000_000_000 << 21) + 5;

/// A data directory of version 1 with one waiting receipt and `more` that were delivered.
struct Old {
    folder: tempfile::TempDir,
    config: PathBuf,
}

impl Old {
    fn new(more: i64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = write_config(folder.path(), "");
        let old = Self { folder, config };
        // The folders and the key.
        old.start_and_stop();
        for name in ["formd.db", "formd.db-wal", "formd.db-shm"] {
            drop(fs::remove_file(old.data().join(name)));
        }
        let db = Connection::open(old.data().join("formd.db")).unwrap();
        fs::set_permissions(old.data().join("formd.db"), fs::Permissions::from_mode(0o600)).unwrap();
        db.execute_batch(VERSION_1).unwrap();
        db.pragma_update(None, "user_version", 1).unwrap();
        db.execute_batch("BEGIN").unwrap();
        for number in 0..=more {
            old.insert(&db, RECEIPT - (number << 21), number == 0);
        }
        db.execute_batch("COMMIT").unwrap();
        old
    }

    fn insert(&self, db: &Connection, id: i64, waiting: bool) {
        let far = 9_000_000_000_000_i64;
        db.execute(
            "INSERT INTO receipts (id, site, form, locale, erase_at, content_hash, hash_version) VALUES (?1, 'acme', 'quote', 'en', ?2, zeroblob(32), 1)",
            params![id, far],
        )
        .unwrap();
        let fields = format!(
            r#"{{"fields":[{{"name":"name","label":"Name","role":"plain","value":"{VALUE} {}"}}],"consent":null}}"#,
            "x".repeat(1000)
        );
        let targets = r#"[{"email":{"address":"sales@acme.example","subject":null,"text":null,"reply_to":null,"attach_files":true,"max_attach":7340032,"title":null}}]"#;
        db.execute("INSERT INTO contents (receipt, fields, targets) VALUES (?1, ?2, ?3)", params![id, fields, targets])
            .unwrap();
        let (state, due) = if waiting { ("pending", Some(0)) } else { ("delivered", None) };
        db.execute(
            "INSERT INTO deliveries (receipt, n, site, destination, channel, state, due_at) VALUES (?1, 1, 'acme', 'sales', 'email', ?2, ?3)",
            params![id, state, due],
        )
        .unwrap();
        if waiting {
            let path = "2026-09-08/old-1";
            fs::create_dir_all(self.data().join("attachments/2026-09-08")).unwrap();
            let bytes = b"%PDF-1.4 of version 1";
            fs::write(self.data().join("attachments").join(path), bytes).unwrap();
            db.execute(
                "INSERT INTO attachments (receipt, position, field, name, type, size, sha256, path) VALUES (?1, 1, 'file', 'old.pdf', 'application/pdf', 21, unhex(?3), ?2)",
                params![id, path, sha256_hex(bytes)],
            )
            .unwrap();
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn copy(&self) -> PathBuf {
        self.data().join("formd-before-v1.db")
    }

    fn formctl(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_formctl")).arg("--config").arg(&self.config).args(words).output().unwrap()
    }

    fn number(&self, sql: &str) -> i64 {
        Connection::open(self.data().join("formd.db")).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Lets the daemon start, answer once and end in order.
    fn start_and_stop(&self) {
        let mut process = Process::start(&self.config);
        assert_eq!(Request::new("GET", "/healthz").send(process.address).status, 200);
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(process.stop(), Some(0));
    }

    /// A start that must fail: exit code and what it says.
    fn refused(&self, front: &str) -> (Option<i32>, String) {
        let command = format!("{front} exec {} --config {}", env!("CARGO_BIN_EXE_formd"), self.config.display());
        let run = Command::new("sh").args(["-c", &command]).output().unwrap();
        (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned())
    }
}

/// Waits until something is so.
fn wait_for(what: &str, mut so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !so() {
        assert!(started.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn holds(path: &Path, text: &str) -> bool {
    // The socket of the daemon is no file.
    let bytes = fs::read(path).unwrap_or_default();
    encodings(text).iter().any(|needle| bytes.windows(needle.len()).any(|window| window == needle.as_slice()))
}

#[test]
fn a_directory_of_version_1_is_upgraded_delivers_what_waited_and_is_erased_with_its_copy() {
    let old = Old::new(1);
    let mut process = Process::start(&old.config);
    assert_eq!(fs::metadata(old.copy()).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(holds(&old.copy(), VALUE));
    wait_for("what waited is delivered", || {
        old.number("SELECT COUNT(*) FROM deliveries WHERE state = 'delivered'") == 2
    });
    let mail = common::files_below(&old.data().join("mail"));
    assert_eq!(mail.len(), 1, "{mail:?}");
    assert_eq!(old.number("SELECT files * 1000 + bytes FROM attachments_kept"), 1021, "the file is counted");

    let listed = old.formctl(&["list", "--json"]);
    assert_eq!(String::from_utf8_lossy(&listed.stdout).lines().count(), 2);
    let erased = old.formctl(&["erase", "--site", "acme", "--before", "2100-01-01", "--yes"]);
    assert!(erased.status.success(), "{erased:?}");
    assert!(!old.copy().exists(), "the copy holds values");
    for file in common::files_below(&old.data()) {
        assert!(!holds(&old.data().join(&file), VALUE), "{file}");
    }
    assert_eq!(process.stop(), Some(0));
}

#[test]
fn the_sweep_removes_the_copy_after_a_week_and_not_before() {
    let old = Old::new(0);
    let _process = Process::start(&old.config);
    assert!(old.formctl(&["sweep"]).status.success());
    assert!(old.copy().exists());
    let week_ago = SystemTime::now() - Duration::from_hours(7 * 24 + 1);
    fs::File::open(old.copy()).unwrap().set_modified(week_ago).unwrap();
    assert!(old.formctl(&["sweep"]).status.success());
    assert!(!old.copy().exists());
}

#[test]
fn a_newer_database_is_refused_and_the_way_back_that_it_names_works() {
    let old = Old::new(0);
    old.start_and_stop();
    // As a formd of the future would have left it.
    Connection::open(old.data().join("formd.db")).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let (code, said) = old.refused("");
    assert_eq!(code, Some(78), "{said}");
    for words in ["has version 99", "formd-before-v1.db", "move `formd.db`, `formd.db-wal` and `formd.db-shm` out of"] {
        assert!(said.contains(words), "`{words}` not in: {said}");
    }
    let asked = old.formctl(&["list"]);
    assert!(String::from_utf8_lossy(&asked.stderr).contains("formd-before-v1.db"), "{asked:?}");

    for name in ["formd.db", "formd.db-wal", "formd.db-shm"] {
        drop(fs::rename(old.data().join(name), old.folder.path().join(name)));
    }
    fs::rename(old.copy(), old.data().join("formd.db")).unwrap();
    let mut process = Process::start(&old.config);
    assert_eq!(old.number("SELECT COUNT(*) FROM contents"), 1);
    assert_eq!(process.stop(), Some(0));
}

#[test]
fn a_crash_between_the_copy_and_the_migration_costs_nothing() {
    let old = Old::new(0);
    // What it leaves: the whole copy, perhaps half of an older one, and the database as it was.
    fs::write(old.copy(), b"an older copy").unwrap();
    fs::write(old.data().join("formd-before-v1.part"), b"half a copy").unwrap();
    old.start_and_stop();
    assert!(holds(&old.copy(), VALUE), "the copy is made anew");
    assert!(!old.data().join("formd-before-v1.part").exists());
    assert_eq!(old.number("SELECT COUNT(*) FROM contents"), 1);
}

#[test]
fn without_room_for_the_copy_nothing_is_changed_and_the_next_start_does_it() {
    let old = Old::new(1500);
    // No file of this process may grow beyond 512 KiB; the database has two megabytes and more.
    let (code, said) = old.refused("trap '' XFSZ; ulimit -f 1024;");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("formd-before-v1.part") && said.contains("as much room as the database"), "{said}");
    assert!(!old.data().join("formd-before-v1.part").exists() && !old.copy().exists());
    assert_eq!(old.number("PRAGMA user_version"), 1);
    old.start_and_stop();
    assert!(old.copy().exists());
    assert_eq!(old.number("SELECT COUNT(*) FROM contents"), 1501);
}
