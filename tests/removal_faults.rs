//! Each call of the removal path fails once: an erasure never says *done* when it is not, and the next sweep finishes it.

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
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::client::{Multipart, pdf};
use common::process::{Process, write_config};
use common::{encodings, files_below, skip};

const MARKER: &str = "zanzibar-quagga-4711";

/// The shim, built with the system's compiler.
fn shim(folder: &Path) -> Option<PathBuf> {
    let (source, library) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/shim.c"), folder.join("shim.so"));
    let built =
        Command::new("cc").args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl").status();
    match built {
        Ok(status) if status.success() => Some(library),
        Ok(status) => panic!("cc: {status}"),
        Err(_) => {
            skip("there is no C compiler `cc`");
            None
        }
    }
}

/// A stopped installation with one submission that holds the marker, its mail and a copy from before a migration.
fn installed(folder: &Path) -> (PathBuf, String) {
    let config = write_config(folder, "");
    let mut formd = Process::start(&config);
    let form = Multipart::default().field("name", MARKER).field("email", "ann@example.com").field("message", MARKER);
    let form = form.pdf(&format!("{MARKER}.pdf"), &pdf(MARKER, 4000));
    let receipt = form.post("/f/acme/quote.json").send(formd.address).receipt();
    let mail = folder.join("data/mail").join(format!("{receipt}-d1.eml"));
    for _ in 0..400 {
        if mail.exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    assert_eq!(formd.stop(), Some(0));
    fs::write(folder.join("data/formd-before-v1.db"), MARKER).unwrap();
    (config, receipt)
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

/// Files that hold the marker.
fn traces(data: &Path) -> Vec<String> {
    let needles = encodings(MARKER);
    let holds = |name: &String| {
        // The daemon's socket cannot be read, and holds nothing.
        let bytes = fs::read(data.join(name)).unwrap_or_default();
        needles.iter().any(|needle| bytes.windows(needle.len()).any(|window| window == needle.as_slice()))
    };
    files_below(data).into_iter().filter(holds).collect()
}

struct Fault<'a> {
    shim: &'a Path,
    errno: &'a str,
    nth: usize,
    log: &'a Path,
}

fn formctl(config: &Path, args: &[&str], fault: Option<&Fault<'_>>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_formctl"));
    command.arg("--config").arg(config).args(args);
    if let Some(fault) = fault {
        command.env("LD_PRELOAD", fault.shim).env("SHIM_ROOT", config.with_file_name("data"));
        command.env("SHIM_ERROR", fault.errno).env("SHIM_NTH", fault.nth.to_string()).env("SHIM_LOG", fault.log);
    }
    command.output().unwrap()
}

/// Runs a command once for each of its calls, which fails with `errno`; how many calls that were.
fn each_call_fails(shim: &Path, template: &Path, work: &Path, args: &[&str], errno: &str) -> usize {
    let config = work.join("formd.toml");
    let log = work.with_extension("calls");
    let mut nth = 0;
    loop {
        drop(fs::remove_dir_all(work));
        drop(fs::remove_file(&log));
        copy(template, work);
        nth += 1;
        let done = formctl(&config, args, Some(&Fault { shim, errno, nth, log: &log }));
        let calls: Vec<String> = fs::read_to_string(&log).unwrap().lines().map(str::to_owned).collect();
        let said = format!("{args:?} errno {errno}, call {nth} {:?}: {done:?}", calls.get(nth - 1));
        let data = work.join("data");
        if args[0] == "erase" && done.status.code() == Some(0) {
            assert_eq!(traces(&data), Vec::<String>::new(), "a false done: {said}");
        } else {
            assert!(matches!(done.status.code(), Some(0 | 1 | 4)), "{said}");
        }
        if args[0] == "erase"
            && formctl(&config, &["list", "--json"], None).stdout.windows(14).any(|w| w == b"\"erased\":false")
        {
            // The erasure itself was refused: nothing is half gone, and asking again does it.
            assert_eq!(done.status.code(), Some(1), "{said}");
            let again = formctl(&config, args, None);
            assert_eq!(again.status.code(), Some(0), "{again:?}");
        }
        let swept = formctl(&config, &["sweep"], None);
        assert!(swept.status.success(), "{swept:?} after {said}");
        let left = traces(&data);
        let copies = left.iter().all(|name| name == "formd-before-v1.db" && args[0] == "sweep");
        assert!(copies, "left {left:?} after {said}");
        if calls.len() < nth {
            return nth;
        }
    }
}

#[test]
fn each_call_of_an_erasure_that_fails_once_ends_in_pending_or_an_error_and_the_next_sweep_finishes() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shim) = shim(folder.path()) else { return };
    let (template, work) = (folder.path().join("template"), folder.path().join("work"));
    fs::create_dir(&template).unwrap();
    let (_, receipt) = installed(&template);
    let mut all = 0;
    for errno in ["5", "1", "28"] {
        all += each_call_fails(&shim, &template, &work, &["erase", &receipt, "--yes"], errno);
    }
    println!("{all} erasures, each with one fault");
    assert!(all > 30, "the shim saw too few calls: {all}");
}

#[test]
fn each_call_of_a_sweep_that_fails_once_is_made_good_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shim) = shim(folder.path()) else { return };
    let (template, work) = (folder.path().join("template"), folder.path().join("work"));
    fs::create_dir(&template).unwrap();
    let (_, receipt) = installed(&template);
    // Its time is over, and nobody has swept yet.
    let database = rusqlite::Connection::open(template.join("data/formd.db")).unwrap();
    database.execute_batch("PRAGMA secure_delete = 1; UPDATE receipts SET erase_at = 1").unwrap();
    drop(database);
    let mut all = 0;
    for errno in ["5", "1", "28"] {
        all += each_call_fails(&shim, &template, &work, &["sweep"], errno);
    }
    println!("{all} sweeps of {receipt}, each with one fault");
    assert!(all > 30, "the shim saw too few calls: {all}");
}
