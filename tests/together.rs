//! Everything at once: visitors post while values expire, are erased, listed, backed up and exported, from several
//! processes. Nothing fails, nothing that was acknowledged is missing, every row has its file and every file its row.

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

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use common::client::pdf;
use common::process::{Process, write_config};
use common::{files_below, submission};

/// Rounds in the suite; `FORMD_ROUNDS=50` for the patient.
const ROUNDS: usize = 3;
/// Submissions of each visitor in a round.
const POSTS: usize = 15;
/// Visitors at once.
const VISITORS: usize = 3;

/// What the outside knows.
#[derive(Debug, Default)]
struct Ledger {
    /// Every receipt that was acknowledged.
    acknowledged: Mutex<Vec<String>>,
    /// Those that somebody erased.
    erased: Mutex<HashSet<String>>,
}

/// Runs the real `formctl`; the exit codes are those that may come of the command beside others.
fn formctl(config: &Path, words: &[&str], codes: &[i32]) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_formctl")).arg("--config").arg(config).args(words).output().unwrap();
    let (code, stdout) = (run.status.code().unwrap(), String::from_utf8_lossy(&run.stdout).into_owned());
    assert!(codes.contains(&code), "{words:?}: exit {code}: {stdout}{}", String::from_utf8_lossy(&run.stderr));
    stdout
}

/// Posts, every third time with a file.
fn visit(process: &Process, ledger: &Ledger, name: &str) {
    for number in 0..POSTS {
        let form = submission().field("extra", &format!("{name}-{number}"));
        let form = if number % 3 == 0 { form.pdf("x.pdf", &pdf(name, 20_000)) } else { form };
        let receipt = form.post("/f/acme/quote.json").send(process.address).receipt();
        ledger.acknowledged.lock().unwrap().push(receipt);
    }
}

/// Runs commands again and again until told to stop, at least once each.
fn repeat(ended: &AtomicBool, mut act: impl FnMut()) {
    loop {
        act();
        if ended.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// Erases every fourth acknowledged receipt. While others read, an erasure may be pending.
fn erase_some(config: &Path, ledger: &Ledger) {
    let some: Vec<String> = ledger.acknowledged.lock().unwrap().iter().step_by(4).cloned().collect();
    for receipt in some {
        if ledger.erased.lock().unwrap().insert(receipt.clone()) {
            formctl(config, &["erase", &receipt, "--yes"], &[0, 4]);
        }
    }
}

/// One round beside a running daemon.
fn round(process: &Process, config: &Path, ledger: &Ledger, round: usize) {
    let ended = AtomicBool::new(false);
    let sweep = || drop(formctl(config, &["sweep", "--json"], &[0, 4]));
    let list = || {
        formctl(config, &["list", "--all", "--json"], &[0]);
        formctl(config, &["list", "--state", "delivered"], &[0]);
    };
    // 1 is a warning: no sweep has run yet.
    let status = || drop(formctl(config, &["status", "--json"], &[0, 1]));
    let erase = || erase_some(config, ledger);
    let backups = config.with_file_name("backups");
    let backup = || {
        formctl(config, &["backup", backups.to_str().unwrap(), "--keep", "2"], &[0]);
        formctl(config, &["verify", backups.to_str().unwrap()], &[0]);
    };
    let export = || {
        formctl(config, &["export", "--format", "csv"], &[0]);
        formctl(config, &["export", "--format", "jsonl"], &[0]);
    };
    let work: [&(dyn Fn() + Sync); 6] = [&sweep, &list, &status, &erase, &backup, &export];
    thread::scope(|scope| {
        for act in work {
            let ended = &ended;
            scope.spawn(move || repeat(ended, act));
        }
        let visitors: Vec<_> = (0..VISITORS)
            .map(|visitor| scope.spawn(move || visit(process, ledger, &format!("r{round}-v{visitor}"))))
            .collect();
        let outcomes: Vec<_> = visitors.into_iter().map(thread::ScopedJoinHandle::join).collect();
        ended.store(true, Ordering::Relaxed);
        for outcome in outcomes {
            outcome.expect("a visitor is served");
        }
    });
}

/// What must hold of the data directory after a round.
fn check(config: &Path, data: &Path, ledger: &Ledger) {
    let db = rusqlite::Connection::open(data.join("formd.db")).unwrap();
    db.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
    let column = |sql: &str| -> Vec<String> {
        let mut ask = db.prepare(sql).unwrap();
        ask.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(column("PRAGMA integrity_check"), ["ok"]);
    assert_eq!(column("SELECT \"table\" FROM pragma_foreign_key_check"), Vec::<String>::new());
    let paths = column("SELECT path FROM attachments ORDER BY path");
    assert_eq!(paths, files_below(&data.join("attachments")), "rows and files differ");
    assert_eq!(files_below(&data.join("quarantine")), Vec::<String>::new());
    let counted = "SELECT format('%d %d', files, bytes) FROM attachments_kept";
    assert_eq!(column(counted), column("SELECT format('%d %d', COUNT(*), COALESCE(SUM(size), 0)) FROM attachments"));

    let listed = formctl(config, &["list", "--all", "--json"], &[0]);
    let listed: Vec<serde_json::Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (acknowledged, erased) = (ledger.acknowledged.lock().unwrap(), ledger.erased.lock().unwrap());
    assert_eq!(listed.len(), acknowledged.len(), "as many receipts as were acknowledged");
    for row in &listed {
        let receipt = row["receipt"].as_str().unwrap();
        assert!(acknowledged.iter().any(|known| known == receipt), "{receipt} was never acknowledged");
        assert_eq!(row["erased"], erased.contains(receipt), "{receipt}");
    }
}

#[test]
fn sweep_erase_backup_export_and_visitors_at_once_lose_nothing_and_fail_nowhere() {
    let rounds = std::env::var("FORMD_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "");
    let data = folder.path().join("data");
    let mut process = Process::start(&config);
    let ledger = Ledger::default();
    for number in 0..rounds {
        round(&process, &config, &ledger, number);
        formctl(&config, &["sweep"], &[0]);
        formctl(&config, &["verify"], &[0]);
        check(&config, &data, &ledger);
    }
    let log = std::fs::read_to_string(config.with_extension("log")).unwrap();
    // What is erased while it is being sent loses its claim, and that is all that may be worth a word.
    let trouble = |line: &&str| line.contains("ERROR") || line.contains("WARN") && !line.contains("claim_lost");
    let troubles: Vec<&str> = log.lines().filter(trouble).collect();
    assert_eq!(troubles, Vec::<&str>::new());
    assert_eq!(process.stop(), Some(0));
    assert_eq!(files_below(&data.join("tmp")), Vec::<String>::new());
    check(&config, &data, &ledger);
}
