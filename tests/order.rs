//! The durability order, read from the system calls of the real process: what is answered is on disk.

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
use std::process::Command;
use std::thread;

use common::client::pdf;
use common::process::{Process, write_config};
use common::submission;

/// Connections that post at once.
const CONNECTIONS: usize = 16;
/// Small forms of each.
const EACH: usize = 40;

/// Whether strace can be used here; says so loudly where not.
fn has_strace() -> bool {
    let works = Command::new("strace").args(["-o", "/dev/null", "true"]).status().is_ok_and(|s| s.success());
    if !works {
        common::skip("strace is not installed or may not trace");
    }
    works
}

/// Starts formd under strace, following its threads.
fn traced(config: &Path, trace: &Path, calls: &str) -> Process {
    let trace = trace.to_str().unwrap();
    let calls = format!("trace={calls}");
    Process::start_under(
        &["strace", "-f", "--seccomp-bpf", "-ttt", "-yy", "-s", "32", "-o", trace, "-e", &calls],
        config,
    )
}

/// The first line at or after `from` for which `fits` holds.
fn find(lines: &[&str], from: usize, what: &str, fits: impl Fn(&str) -> bool) -> usize {
    let found = lines.iter().skip(from).position(|line| fits(line)).map(|at| at + from);
    found.unwrap_or_else(|| panic!("no {what} after line {from} of\n{}", lines[from.min(lines.len())..].join("\n")))
}

#[test]
fn the_file_its_name_its_folder_and_the_row_are_synced_before_the_first_byte_of_the_answer() {
    if !has_strace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "[delivery]\nenabled = false\n");
    let trace = folder.path().join("trace");
    let calls = "openat,fsync,fdatasync,rename,renameat,renameat2,write,writev,sendto,sendmsg,pwrite64,io_uring_enter";
    let mut daemon = traced(&config, &trace, calls);
    let post = |key: &str| {
        let request = submission().pdf("x.pdf", &pdf(key, 20_000)).post("/f/acme/quote.json");
        request.header("Idempotency-Key", key).send(daemon.address).receipt()
    };
    let _ = post("warm");
    let before = fs::read_to_string(&trace).unwrap().lines().count();
    let _ = post("traced");
    daemon.stop();

    let text = fs::read_to_string(&trace).unwrap();
    assert!(!text.contains("io_uring"), "strace cannot see what io_uring does");
    let lines: Vec<&str> = text.lines().collect();
    let synced = |line: &str, name: &str| {
        (line.contains("fsync(") || line.contains("fdatasync(") || line.contains("fsync resumed"))
            && line.contains(name)
            && (line.ends_with("= 0") || line.contains("unfinished"))
    };
    let part = find(&lines, before, "fsync of the .part", |l| synced(l, ".part>"));
    let rename =
        find(&lines, part, "rename", |l| l.contains("rename") && l.contains(".part") && l.contains("attachments"));
    let parent = find(&lines, rename, "fsync of the folder", |l| synced(l, "/attachments/"));
    let wal = find(&lines, parent, "fsync of the log", |l| synced(l, "formd.db-wal>"));
    let answer = find(&lines, wal, "answer", |l| l.contains("TCP") && l.contains("HTTP/1.1 200"));
    // Nothing was answered before: the first 200 behind the warm-up is that one.
    assert_eq!(find(&lines, before, "first answer", |l| l.contains("TCP") && l.contains("HTTP/1.1 200")), answer);
}

#[test]
fn sixteen_connections_share_their_commits() {
    if !has_strace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "[delivery]\nenabled = false\n");
    let trace = folder.path().join("trace");
    let mut daemon = traced(&config, &trace, "fsync,fdatasync");
    let address = daemon.address;
    // The best of five rounds: whatever else the machine does makes groups smaller, never larger.
    let best = (0..5).map(|round| log_syncs_of_a_round(address, round, &trace)).min().unwrap();
    daemon.stop();
    let forms = CONNECTIONS * EACH;
    let each = best as f64 / forms as f64;
    println!("{best} fsyncs of the log for {forms} small forms over {CONNECTIONS} connections: {each:.3} each");
    assert!(each < 0.3, "{each:.3} fsyncs of the log per form");
}

/// Posts one round of forms and counts the syncs of the log that the trace shows for it.
fn log_syncs_of_a_round(address: std::net::SocketAddr, round: usize, trace: &Path) -> usize {
    let before = fs::read_to_string(trace).unwrap().lines().count();
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|number| thread::spawn(move || keep_posting(address, number + round * CONNECTIONS, EACH)))
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    let text = fs::read_to_string(trace).unwrap();
    text.lines().skip(before).filter(|l| l.contains("sync(") && l.contains("-wal>")).count()
}

/// Posts `count` small forms over one connection that stays open.
fn keep_posting(address: std::net::SocketAddr, number: usize, count: usize) {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    for turn in 0..count {
        let body = format!("name=A{number}-{turn}&email=a%40b.example");
        let request = format!(
            "POST /f/acme/quote.json HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             Idempotency-Key: {number}-{turn}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let mut buffer = [0; 4096];
        while !common::client::parse_answers(&answer).iter().any(|a| a.body.ends_with('}')) {
            let n = stream.read(&mut buffer).unwrap();
            assert!(n > 0, "closed after {turn}: {}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&buffer[..n]);
        }
        assert_eq!(common::client::parse_answers(&answer)[0].status, 200);
    }
}
