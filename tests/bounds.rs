//! What wants much of the machine gets little: hostile bodies and archives are refused for a few milliseconds of the
//! processor, and memory stays flat.

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
use std::path::Path;
use std::time::Duration;

use common::client::{BOUNDARY, Request};
use common::process::{Process, write_config};
use common::submission;

/// Time on the processor that one refusal may take; four times as much without optimisation.
const CPU: Duration = Duration::from_millis(if cfg!(debug_assertions) { 200 } else { 50 });
/// KiB that all of them together may add to the most memory of the idle daemon.
const MEMORY: u64 = 16 * 1024;

/// Time that all threads of a process have run.
fn cpu(pid: u32) -> Duration {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let run = tasks.map(|task| {
        let text = fs::read_to_string(task.unwrap().path().join("schedstat")).unwrap_or_default();
        text.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0)
    });
    Duration::from_nanos(run.sum())
}

/// The most memory so far, in KiB.
fn peak(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find(|l| l.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A ZIP of empty files.
fn many_entries(count: u32) -> Vec<u8> {
    let (mut local, mut central) = (Vec::new(), Vec::new());
    for number in 0..count {
        let (name, start) = (format!("{number:04x}"), u32::try_from(local.len()).unwrap());
        local.extend(b"PK\x03\x04\x14\0\0\0\0\0\0\0\x21\0");
        local.extend([0; 12]);
        local.extend([4, 0, 0, 0]);
        local.extend(name.bytes());
        central.extend(b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\x21\0");
        central.extend([0; 12]);
        central.extend([4, 0]);
        central.extend([0; 12]);
        central.extend(start.to_le_bytes());
        central.extend(name.bytes());
    }
    let entries = u16::try_from(count).unwrap().to_le_bytes();
    let (size, start) = (u32::try_from(central.len()).unwrap(), u32::try_from(local.len()).unwrap());
    let end =
        [&b"PK\x05\x06\0\0\0\0"[..], &entries, &entries, &size.to_le_bytes(), &start.to_le_bytes(), &[0, 0]].concat();
    [local, central, end].concat()
}

#[test]
fn hostile_bodies_and_archives_are_refused_for_little_time_and_memory() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "[delivery]\nenabled = false\n");
    let site = folder.path().join("sites/acme.toml");
    let any_kind = fs::read_to_string(&site).unwrap().replace("types = [\".pdf\"]", "max_files = 5");
    common::write_private(&site, &any_kind);
    let daemon = Process::start(&config);
    // The first submission warms up what every one needs.
    assert_eq!(submission().post("/f/acme/quote.json").send(daemon.address).status, 200);

    let post = |body: Vec<u8>| {
        Request::new("POST", "/f/acme/quote.json").body(&format!("multipart/form-data; boundary={BOUNDARY}"), body)
    };
    let file = |name: &str, bytes: &[u8]| {
        submission().file("file", name, "application/octet-stream", bytes).post("/f/acme/quote.json")
    };
    let start = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"a");
    let empty = format!("{start}\"\r\n\r\n\r\n");
    let short = |body: &str, count: usize| body.replace(BOUNDARY, "b").repeat(count).into_bytes();
    let bomb = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/files/bomb.xlsx")).unwrap();
    let idle = peak(daemon.pid);
    for (name, request, status) in [
        ("a part header of 10 MiB that never ends", post([start.as_bytes(), &vec![b'n'; 10 << 20]].concat()), 400),
        (
            "200,000 empty parts",
            Request::new("POST", "/f/acme/quote.json").body("multipart/form-data; boundary=b", short(&empty, 200_000)),
            413,
        ),
        ("a preamble of 10 MiB", post(vec![b'p'; 10 << 20]), 400),
        ("a preamble of 10 MiB of line breaks", post(b"\r\n".repeat(5 << 20)), 400),
        ("a ZIP bomb of 100 MiB", file("bomb.xlsx", &bomb), 422),
        ("a ZIP with 60,000 entries", file("many.xlsx", &many_entries(60_000)), 422),
    ] {
        let before = cpu(daemon.pid);
        let answer = request.send(daemon.address);
        let spent = cpu(daemon.pid).saturating_sub(before);
        let grown = peak(daemon.pid).saturating_sub(idle);
        println!(
            "{name}: {} {:?} after {spent:?} of the processor, memory has grown by {grown} KiB",
            answer.status,
            answer.faults()
        );
        assert_eq!(answer.status, status, "{name}: {}", answer.body);
        assert!(spent < CPU, "{name}: {spent:?}");
        assert!(grown < MEMORY, "{name}: {grown} KiB");
    }
}
