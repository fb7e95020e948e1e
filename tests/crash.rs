//! kill -9 under load: nothing that was acknowledged is lost, nothing is kept twice, no row lacks its file.

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

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use common::client::{Multipart, parse_answers, pdf};
use common::process::{Process, write_config};
use common::{files_below, submission};

/// Kills of one run.
const CYCLES: usize = 30;
/// Clients that post at once.
const CLIENTS: usize = 4;

/// What the clients know.
#[derive(Debug, Default)]
struct Ledger {
    /// Key -> receipt, for every 200 that was read to its end.
    acknowledged: HashMap<String, String>,
    /// Keys whose answer was lost: sent again with the same key, as a browser's user does.
    unsure: Vec<String>,
    repeated: usize,
}

/// The submission of a key; every third has a file.
fn body(key: &str) -> Multipart {
    let form = submission().field("extra", key);
    if key.len().is_multiple_of(3) { form.pdf("x.pdf", &pdf(key, 30_000)) } else { form }
}

/// Posts and reads the whole answer; `None` when it was lost.
fn post(address: std::net::SocketAddr, key: &str) -> Option<String> {
    use std::io::Write;
    let request = body(key).post("/f/acme/quote.json").header("Idempotency-Key", key);
    let mut stream = std::net::TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    stream.write_all(&request.bytes()).ok()?;
    let answer = parse_answers(&common::client::read_all(&mut stream)).into_iter().next()?;
    let json: serde_json::Value = serde_json::from_str(&answer.body).ok()?;
    (answer.status == 200).then(|| json["receipt"].as_str().map(str::to_owned))?
}

/// Posts until told to stop: fresh keys, and now and then an unsure one again.
fn client(number: usize, cycle: usize, address: std::net::SocketAddr, ledger: &Mutex<Ledger>, stop: &AtomicBool) {
    for turn in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let again = if turn % 3 == 0 { ledger.lock().unwrap().unsure.pop() } else { None };
        let is_repeat = again.is_some();
        let key = again.unwrap_or_else(|| format!("c{cycle}-{number}-{turn}"));
        let receipt = post(address, &key);
        let mut ledger = ledger.lock().unwrap();
        ledger.repeated += usize::from(is_repeat);
        match receipt {
            Some(receipt) => drop(ledger.acknowledged.insert(key, receipt)),
            None => ledger.unsure.push(key),
        }
    }
}

#[test]
fn thirty_kills_under_load_lose_nothing_and_double_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "");
    let ledger = Arc::new(Mutex::new(Ledger::default()));
    let mut slowest = Duration::ZERO;
    for cycle in 0..CYCLES {
        let started = Instant::now();
        let mut daemon = Process::start(&config);
        slowest = slowest.max(started.elapsed());
        let stop = Arc::new(AtomicBool::new(false));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let (ledger, stop, address) = (Arc::clone(&ledger), Arc::clone(&stop), daemon.address);
                thread::spawn(move || client(number, cycle, address, &ledger, &stop))
            })
            .collect();
        // Not a wait for something: the kill comes at another moment of the work each time.
        thread::sleep(Duration::from_millis(40 + (cycle as u64 * 37) % 260));
        daemon.kill();
        stop.store(true, Ordering::Relaxed);
        for client in clients {
            client.join().unwrap();
        }
    }
    let mut daemon = Process::start(&config);
    let unsure = std::mem::take(&mut ledger.lock().unwrap().unsure);
    for key in unsure {
        let receipt = post(daemon.address, &key).expect("a repeat after the restart is answered");
        ledger.lock().unwrap().acknowledged.insert(key, receipt);
    }
    assert_eq!(daemon.stop(), Some(0));
    judge(folder.path(), &ledger.lock().unwrap(), slowest);
}

/// Compares what was acknowledged with what is kept.
fn judge(folder: &std::path::Path, ledger: &Ledger, slowest: Duration) {
    let database = rusqlite::Connection::open(folder.join("data/formd.db")).unwrap();
    let number = |sql: &str| -> usize {
        let count: i64 = database.query_row(sql, [], |row| row.get(0)).unwrap();
        usize::try_from(count).unwrap()
    };
    let rows = number("SELECT count(*) FROM receipts");
    println!(
        "{CYCLES} kills: {} acknowledged, {rows} receipts, {} repeats, slowest start {slowest:?}",
        ledger.acknowledged.len(),
        ledger.repeated
    );
    assert!(ledger.acknowledged.len() > CYCLES, "there was no load");
    assert_eq!(rows, ledger.acknowledged.len(), "acknowledged and kept differ");
    let mut kept: HashMap<String, usize> = HashMap::new();
    let mut contents = database.prepare("SELECT fields FROM contents").unwrap();
    for fields in contents.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap) {
        let fields: serde_json::Value = serde_json::from_str(&fields).unwrap();
        let extra = fields["fields"].as_array().unwrap().iter().find(|field| field["name"] == "extra").unwrap();
        *kept.entry(extra["value"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    for key in ledger.acknowledged.keys() {
        assert_eq!(kept.get(key), Some(&1), "{key}");
    }
    assert_eq!(number("SELECT count(*) FROM deliveries"), rows, "a delivery per receipt");
    assert_eq!(number("SELECT count(*) FROM receipts WHERE id NOT IN (SELECT receipt FROM contents)"), 0);
    let mut paths = database.prepare("SELECT path, size FROM attachments").unwrap();
    let paths: Vec<(String, i64)> =
        paths.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    for (path, size) in &paths {
        let file = std::fs::metadata(folder.join("data/attachments").join(path)).expect("every row has its file");
        assert_eq!(file.len(), u64::try_from(*size).unwrap());
    }
    let expected = ledger.acknowledged.keys().filter(|key| key.len().is_multiple_of(3)).count();
    assert_eq!(paths.len(), expected, "one file per submission with one");
    assert_eq!(files_below(&folder.join("data/tmp")), Vec::<String>::new(), "`.part` files are left");
    let integrity: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(integrity, "ok");
}
