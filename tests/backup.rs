//! A backup one can trust: made under load, restored, verified; killed at any moment; sending nothing by itself.

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
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use common::client::pdf;
use common::process::{Process, write_config};
use common::{World, files_below, skip, submission};
use formd::harness::Span;
use serde_json::Value;

/// A real formd with a folder for backups and a second configuration to restore into.
struct Site {
    folder: tempfile::TempDir,
    config: PathBuf,
    again: PathBuf,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = write_config(folder.path(), "[delivery]\nenabled = false\n");
        fs::create_dir(folder.path().join("again")).unwrap();
        let again = write_config(&folder.path().join("again"), "");
        Self { folder, config, again }
    }

    fn backups(&self) -> PathBuf {
        self.folder.path().join("backups")
    }

    /// Complete ones, the oldest first, and what looks like anything else.
    fn names(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let Ok(entries) = fs::read_dir(self.backups()) else { return Default::default() };
        let mut folders: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).filter(|path| path.is_dir()).collect();
        folders.sort();
        folders.into_iter().partition(|path| path.extension().is_none_or(|ending| ending != "part"))
    }

    fn restored_data(&self) -> PathBuf {
        self.folder.path().join("again/data")
    }
}

fn ctl(config: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_formctl")).arg("--config").arg(config).args(args).output().unwrap()
}

fn ok(config: &Path, args: &[&str]) -> String {
    let ran = ctl(config, args);
    assert_eq!(ran.status.code(), Some(0), "{args:?}: {ran:?}");
    String::from_utf8(ran.stdout).unwrap()
}

fn json(config: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&ok(config, args)).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Receipts with values, at most.
const MOST: usize = 150;

/// Receipts that were acknowledged and not yet erased, in the order of their answers.
type Acknowledged = Arc<Mutex<Vec<String>>>;

/// Posts and erases until told to stop.
fn load(
    site: &Site,
    address: std::net::SocketAddr,
    known: &Acknowledged,
    stop: &Arc<AtomicBool>,
) -> Vec<thread::JoinHandle<()>> {
    let posting = (0..2).map(|number| {
        let (known, stop) = (Arc::clone(known), Arc::clone(stop));
        thread::spawn(move || {
            for turn in 0.. {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                // So many that each round has new, shared and erased files, and no more.
                if known.lock().unwrap().len() >= MOST {
                    thread::sleep(Duration::from_millis(20));
                    continue;
                }
                let key = format!("{number}-{turn}");
                let form = submission().field("extra", &key).pdf("x.pdf", &pdf(&key, 20_000));
                let answer = form.post("/f/acme/quote.json").header("Idempotency-Key", &key).send(address);
                known.lock().unwrap().push(answer.receipt());
                thread::sleep(Duration::from_millis(20));
            }
        })
    });
    let mut threads: Vec<_> = posting.collect();
    let (config, known, stop) = (site.config.clone(), Arc::clone(known), Arc::clone(stop));
    threads.push(thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            let receipt = {
                let mut known = known.lock().unwrap();
                // The newest: its file is the one that a backup is about to copy.
                if known.len() > 10 { known.pop() } else { None }
            };
            thread::sleep(Duration::from_millis(100));
            let Some(receipt) = receipt else { continue };
            let ran = ctl(&config, &["erase", "--yes", &receipt]);
            assert!(matches!(ran.status.code(), Some(0 | 4)), "{ran:?}");
        }
    }));
    threads
}

/// Backups under load, each verified and restored; the last restored directory stays.
fn rounds(site: &Site, count: usize) {
    let mut daemon = Process::start(&site.config);
    let (known, stop) = (Acknowledged::default(), Arc::new(AtomicBool::new(false)));
    let threads = load(site, daemon.address, &known, &stop);
    let (backups, mut linked, mut files) = (site.backups(), 0, 0);
    while known.lock().unwrap().len() < 10 {
        thread::sleep(Duration::from_millis(5));
    }
    for round in 0..count {
        let before: Vec<String> = known.lock().unwrap().clone();
        let made = json(&site.config, &["backup", text(&backups), "--keep", "3", "--json"]);
        linked += made["linked"].as_u64().unwrap();
        files += made["files"].as_u64().unwrap();
        ok(&site.config, &["verify", text(&backups)]);
        ok(&site.config, &["verify"]);
        drop(fs::remove_dir_all(site.restored_data()));
        // For root, who is not told otherwise whose it should be.
        DirBuilder::new().mode(0o700).create(site.restored_data()).unwrap();
        let restored = json(&site.again, &["restore", text(&backups), "--json"]);
        assert_eq!(restored["receipts"], made["receipts"], "round {round}");
        assert_eq!(restored["files"], made["files"]);
        assert_eq!(restored["files"], restored["held"], "each kept submission has one file, and one delivery waits");
        let found = json(&site.again, &["verify", "--json"]);
        assert_eq!((&found["files"], &found["young_files"]), (&made["files"], &Value::from(0)), "{found}");
        let list = ok(&site.again, &["list", "--all", "--json"]);
        let there: HashSet<String> = list
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["receipt"].as_str().unwrap().to_owned())
            .collect();
        assert!(before.iter().all(|receipt| there.contains(receipt)), "what was answered before is in the backup");
    }
    stop.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{count} backups: {files} files, {linked} of them shared; {} receipts left", known.lock().unwrap().len());
    assert_eq!(site.names().0.len(), 3);
    assert!(linked > 0 && linked < files);
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn twenty_backups_under_load_are_whole_and_a_restored_daemon_sends_nothing_until_it_is_told() {
    let site = Site::new();
    rounds(&site, 20);
    sends_nothing_until_told(&site);
}

#[test]
#[ignore = "the long set: fifty rounds"]
fn fifty_backups_under_load_are_whole() {
    let site = Site::new();
    rounds(&site, 50);
    sends_nothing_until_told(&site);
}

/// The restored daemon of a configuration that delivers.
fn sends_nothing_until_told(site: &Site) {
    let (data, receipts) = (site.restored_data(), ok(&site.again, &["list", "--all", "--json"]));
    let mut daemon = Process::start(&site.again);
    // What would be due is sent within two seconds of a start.
    thread::sleep(Duration::from_secs(3));
    assert_eq!(files_below(&data.join("mail")), Vec::<String>::new());
    let form = submission().field("extra", "0-0").pdf("x.pdf", &pdf("0-0", 20_000));
    let answer = form.post("/f/acme/quote.json").header("Idempotency-Key", "0-0").send(daemon.address);
    assert_eq!(answer.header("Idempotent-Replayed"), Some("true"), "{answer:?}");
    assert!(receipts.contains(&answer.receipt()));
    let waiting = ok(&site.again, &["deliveries", "--state", "held", "--json"]).lines().count();
    assert!(waiting > 0);
    ok(&site.again, &["deliveries", "--release"]);
    let started = Instant::now();
    while files_below(&data.join("mail")).len() < waiting.min(20) {
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", files_below(&data.join("mail")).len());
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn a_backup_killed_at_any_moment_leaves_nothing_that_looks_complete_and_the_next_one_works() {
    let site = Site::new();
    let mut daemon = Process::start(&site.config);
    for number in 0..40 {
        let key = number.to_string();
        let form = submission().field("extra", &key).pdf("x.pdf", &pdf(&key, 200_000));
        let _ = form.post("/f/acme/quote.json").send(daemon.address).receipt();
    }
    let backups = site.backups();
    let whole = Instant::now();
    ok(&site.config, &["backup", text(&backups)]);
    let whole = whole.elapsed();
    let (mut complete, mut cut) = (0, 0);
    for round in 0..24 {
        for path in site.names().0 {
            fs::remove_dir_all(path).unwrap();
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_formctl"))
            .arg("--config")
            .arg(&site.config)
            .args(["backup", text(&backups)])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Not a wait for something: the kill comes at another moment of the work each time.
        thread::sleep(whole * round / 22);
        child.kill().unwrap();
        child.wait().unwrap();
        let (named, parts) = site.names();
        for path in &named {
            ok(&site.config, &["verify", text(path)]);
        }
        complete += named.len();
        cut += parts.len();
        assert!(named.len() + parts.len() <= 1, "the part of the round before was cleared");
    }
    println!("24 kills within {whole:?}: {complete} were complete, {cut} left a part");
    assert!(cut > 3, "no kill hit a backup");
    ok(&site.config, &["backup", text(&backups)]);
    assert_eq!(site.names().1, Vec::<PathBuf>::new());
    ok(&site.config, &["verify", text(&backups)]);
    ok(&site.config, &["verify"]);
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn the_status_knows_the_last_backup_and_a_restore_overwrites_nothing() {
    let world = World::new();
    let receipt = world.post(&submission().pdf("cv.pdf", &pdf("cv", 3000)), Some("k")).receipt();
    assert!(world.ctl(&["status", "--json"]).stdout.contains("\"last_backup_at\":null"));
    world.pass(Span::from_secs(7));
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("b");
    let said = world.ctl(&["backup", text(&dir)]).ok();
    let path = dir.join("20261130T120007.000Z");
    assert!(said.starts_with(&format!("{}: 1 receipt, 1 file (0 shared", path.display())), "{said}");
    assert!(world.ctl(&["status", "--json"]).stdout.contains("\"last_backup_at\":\"2026-11-30T12:00:07.000Z\""));
    for args in [&["verify"][..], &["verify", text(&dir)], &["verify", text(&path)]] {
        assert!(world.ctl(args).ok().contains("all is well: 1 receipt, 1 file"), "{args:?}");
    }
    let refused = world.ctl(&["restore", text(&dir)]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("works in"), "{refused:?}");
    // Damage is one line with the attachment's id.
    let file = files_below(&path).into_iter().find(|name| name.starts_with("attachments")).unwrap();
    fs::write(path.join(&file), "x").unwrap();
    let found = world.ctl(&["verify", text(&dir)]);
    assert_eq!(found.code, 1);
    assert!(found.stdout.starts_with(&format!("{receipt}-a1: its file `{file}` has 1 bytes instead of ")), "{found:?}");
    assert!(!found.stdout.contains("cv.pdf"));
    assert_eq!(world.ctl(&["verify", text(folder.path())]).code, 1, "there is no backup");
}

#[test]
fn root_makes_a_backup_that_the_owner_can_restore_and_reads_the_key_that_it_was_given() {
    if !fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0) {
        return skip("only root can run formctl as root");
    }
    let world = World::new();
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    open(folder.path(), 0o755);
    // A copy of the program and the configuration where somebody else can read them.
    let program = folder.path().join("formctl");
    fs::copy(env!("CARGO_BIN_EXE_formctl"), &program).unwrap();
    let config = write_config(folder.path(), "");
    for path in [config.clone(), folder.path().join("sites/acme.toml")] {
        open(&path, 0o644);
    }
    let run = |args: &[&str]| Command::new(&program).arg("--config").arg(&config).args(args).output().unwrap();
    let _ = world.post(&submission().pdf("cv.pdf", &pdf("cv", 3000)), Some("k")).receipt();
    let source = folder.path().join("source");
    let _ = world.ctl(&["backup", text(&source), "--without-key"]).ok();
    let own = |path: &Path| {
        let ran = Command::new("chown").args(["-R", "65534:65534", text(path)]).status().unwrap();
        assert!(ran.success());
    };
    own(&source);
    let data = folder.path().join("data");
    let absent = run(&["restore", text(&source)]);
    assert!(String::from_utf8_lossy(&absent.stderr).contains("nothing says whose it is"), "{absent:?}");
    fs::create_dir(&data).unwrap();
    open(&data, 0o700);
    own(&data);
    let key = folder.path().join("key-of-root");
    fs::copy(world.data().join("key"), &key).unwrap();
    open(&key, 0o600);
    let restored = run(&["restore", text(&source), "--key", text(&key)]);
    assert_eq!(restored.status.code(), Some(0), "{restored:?}");
    let dir = folder.path().join("b");
    let made = run(&["backup", text(&dir)]);
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    for root in [&dir, &data] {
        for name in files_below(root) {
            assert_eq!(root.join(&name).metadata().unwrap().uid(), 65534, "{name}");
        }
    }
    assert_eq!(run(&["verify"]).status.code(), Some(0));
    assert_eq!(run(&["verify", text(&dir)]).status.code(), Some(0));
    let roots = folder.path().join("roots");
    fs::create_dir(&roots).unwrap();
    let refused = run(&["backup", text(&roots)]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("belongs to user 0"), "{refused:?}");
}
