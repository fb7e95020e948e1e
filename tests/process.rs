//! What only a process shows: signals, one daemon a directory, waking up in time, modes of files.

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
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::client::{Request, pdf};
use common::process::{Process, daemon_pid, signal, write_config};
use common::{files_below, submission};

fn ctl(config: &std::path::Path, args: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_formctl")).arg("--config").arg(config).args(args).output().unwrap()
}

fn wait_until(limit: Duration, done: impl Fn() -> bool) -> Duration {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < limit, "waited longer than {limit:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
    started.elapsed()
}

#[test]
fn a_running_daemon_delivers_new_and_resent_submissions_within_two_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "");
    let mut daemon = Process::start(&config);
    let receipt = submission().post("/f/acme/quote.json").send(daemon.address).receipt();
    let mail = folder.path().join(format!("data/mail/{receipt}-d1.eml"));
    wait_until(Duration::from_secs(2), || mail.exists());
    wait_until(Duration::from_secs(2), || {
        String::from_utf8_lossy(&ctl(&config, &["list", "--json"]).stdout).contains("\"delivered\"")
    });
    // A failed one, made so by hand; formctl is another process and wakes the daemon.
    let database = rusqlite::Connection::open(folder.path().join("data/formd.db")).unwrap();
    database.execute("UPDATE deliveries SET state = 'failed', reason = 'refused'", []).unwrap();
    fs::remove_file(&mail).unwrap();
    let resent = ctl(&config, &["resend", &receipt]);
    assert_eq!(resent.status.code(), Some(0), "{resent:?}");
    wait_until(Duration::from_secs(2), || mail.exists());
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn a_second_daemon_names_the_first_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "");
    let daemon = Process::start(&config);
    let second = Command::new(env!("CARGO_BIN_EXE_formd")).arg("--config").arg(&config).output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(said.contains(&daemon.pid.to_string()), "{said}");
    assert_eq!(daemon_pid(&folder.path().join("data")), Some(daemon.pid), "the lock still names the first");
}

#[test]
fn what_a_restart_cannot_mend_ends_with_78_and_says_what_to_do() {
    let start = |config: &std::path::Path| {
        let ran = Command::new(env!("CARGO_BIN_EXE_formd")).arg("--config").arg(config).output().unwrap();
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "[limit]\nhead = 1\n");
    let (code, said) = start(&config);
    assert!(code == Some(78) && said.contains("limits"), "{code:?} {said}");

    let config = write_config(folder.path(), "");
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o777)).unwrap();
    let (code, said) = start(&config);
    assert!(code == Some(78) && said.contains("chmod"), "{code:?} {said}");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();

    Process::start(&config).stop();
    let database = rusqlite::Connection::open(data.join("formd.db")).unwrap();
    database.pragma_update(None, "user_version", 9999).unwrap();
    drop(database);
    let (code, said) = start(&config);
    assert!(code == Some(78) && said.contains("newer"), "{code:?} {said}");
}

#[test]
fn everything_in_the_data_directory_is_for_its_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "");
    let mut daemon = Process::start(&config);
    let form = submission().pdf("x.pdf", &pdf("modes", 900));
    let _ = form.post("/f/acme/quote.json").send(daemon.address).receipt();
    let _ = ctl(&config, &["sweep"]);
    let data = folder.path().join("data");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    for name in files_below(&data) {
        assert_eq!(mode(&data.join(&name)), 0o600, "{name}");
    }
    for name in ["tmp", "attachments", "quarantine", "mail"] {
        assert_eq!(mode(&data.join(name)), 0o700, "{name}");
    }
    daemon.stop();
}

#[test]
fn sigterm_finishes_the_request_in_flight_and_takes_no_new_one() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "");
    let mut daemon = Process::start(&config);
    let bytes = submission().pdf("x.pdf", &pdf("term", 500_000)).post("/f/acme/quote.json").bytes();
    let mut slow = std::net::TcpStream::connect(daemon.address).unwrap();
    slow.write_all(&bytes[..bytes.len() / 2]).unwrap();
    wait_until(Duration::from_secs(5), || !files_below(&folder.path().join("data/tmp")).is_empty());
    signal(daemon.pid, "TERM");
    let address = daemon.address;
    wait_until(Duration::from_secs(5), || std::net::TcpStream::connect(address).is_err());
    slow.write_all(&bytes[bytes.len() / 2..]).unwrap();
    let answer = common::client::parse_answers(&common::client::read_all(&mut slow)).remove(0);
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(daemon.wait(), Some(0));
}

#[test]
fn reload_publishes_new_files_at_one_stroke_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "");
    let mut daemon = Process::start(&config);
    let site = folder.path().join("sites/acme.toml");
    let good = fs::read_to_string(&site).unwrap();
    common::write_private(&site, &format!("{good}\n[form.second]\n"));
    let reloaded = ctl(&config, &["reload"]);
    assert_eq!(reloaded.status.code(), Some(0), "{reloaded:?}");
    let post =
        |form: &str| Request { ..submission().post(&format!("/f/acme/{form}.json")) }.send(daemon.address).status;
    assert_eq!(post("second"), 200);
    common::write_private(&site, "nonsense = true\n");
    assert_eq!(ctl(&config, &["reload"]).status.code(), Some(1));
    signal(daemon.pid, "HUP");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(post("second"), 200, "the old configuration is in force");
    let status = ctl(&config, &["status", "--json"]);
    assert!(String::from_utf8_lossy(&status.stdout).contains("\"config_current\":false"), "{status:?}");
    daemon.stop();
}

#[test]
fn a_run_by_hand_logs_a_failure_for_good_as_the_daemon_does() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "[delivery]\nenabled = false\nattempts = 1\n");
    let mail_less = fs::read_to_string(&config)
        .unwrap()
        .replace("[mail]\nfrom = \"forms@example.com\"\ntransport = \"file\"\n", "");
    common::write_private(&config, &mail_less);
    let daemon = Process::start(&config);
    let receipt = submission().post("/f/acme/quote.json").send(daemon.address).receipt();
    let ran = ctl(&config, &["deliver"]);
    let log = String::from_utf8_lossy(&ran.stderr).into_owned();
    let line = log.lines().find(|line| line.contains(" ERROR ")).unwrap_or_default();
    assert!(line.contains("event=\"delivery_failed\"") && line.contains(&format!("{receipt}-d1")), "{log}");
    assert!(!String::from_utf8_lossy(&ran.stdout).contains("ERROR"), "{ran:?}");
    assert_eq!(String::from_utf8_lossy(&ctl(&config, &["deliver"]).stderr), "", "nothing failed, nothing is said");
}

#[test]
fn a_monitoring_plugin_without_its_files_says_unknown_where_monitoring_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let ran = ctl(&folder.path().join("none.toml"), &["status", "--check"]);
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stdout).starts_with("FORMD UNKNOWN - "), "{ran:?}");
}

#[test]
fn a_log_that_cannot_be_written_costs_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "");
    let full = ["sh", "-c", "exec \"$0\" \"$@\" 2>/dev/full"];
    let mut formd = Process::start_under(&full, &config);
    for _ in 0..3 {
        submission().pdf("x.pdf", &pdf("full", 300)).post("/f/acme/quote").send(formd.address).receipt();
    }
    assert_eq!(formd.stop(), Some(0));
}

#[test]
fn output_that_nobody_reads_does_not_end_the_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "");
    let socket = folder.path().join("formd.sock");
    let mut child = Command::new(env!("CARGO_BIN_EXE_formd"))
        .args(["--config", config.to_str().unwrap(), "--listen", &format!("unix:{}", socket.display())])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    wait_until(Duration::from_secs(10), || UnixStream::connect(&socket).is_ok());
    let mut stream = UnixStream::connect(&socket).unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    signal(child.id(), "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn no_value_and_no_address_of_a_visitor_is_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "");
    let mut daemon = Process::start(&config);
    let form = submission().field("extra", "marker-in-a-value").pdf("marker-in-a-name.pdf", &pdf("x", 900));
    let request = form.post("/f/acme/quote.json").header("X-Real-IP", "203.0.113.77");
    assert_eq!(request.send(daemon.address).status, 200);
    let bad = submission()
        .field("email", "marker-in-an-error")
        .post("/f/acme/quote.json")
        .header("X-Real-IP", "203.0.113.77");
    assert_eq!(bad.send(daemon.address).status, 422);
    daemon.stop();
    let log = fs::read_to_string(config.with_extension("log")).unwrap();
    assert!(log.lines().filter(|l| l.contains("quote")).count() >= 2, "one line a submission: {log}");
    for secret in ["marker", "203.0.113", "anna@", "Анна"] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}

#[test]
fn a_signal_that_comes_with_the_first_line_ends_the_daemon_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "");
    for round in 0..20 {
        assert_eq!(Process::start(&config).stop(), Some(0), "round {round}");
    }
}
