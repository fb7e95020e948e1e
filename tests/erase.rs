//! Erased means gone: from every answer, every command and every file of the data directory.

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

use common::client::{Multipart, pdf};
use common::peers::Smtp;
use common::{FIELDS, World};
use formd::harness::Span;

const VALUE: &str = "marker-value-4711-of-a-visitor";
const NAME: &str = "marker-name-4711";
const BYTES: &str = "marker-bytes-4711-in-the-file";

fn marked() -> Multipart {
    let form = Multipart::default().field("name", VALUE).field("email", "marker-4711@example.com");
    form.field("message", VALUE).pdf(&format!("{NAME}.pdf"), &pdf(BYTES, 8000))
}

/// A world whose mails are files, so that they are traces as well.
fn world_with_mail_files() -> World {
    let world = World::new();
    let text = std::fs::read_to_string(world.config_file()).unwrap();
    let kept = |line: &&str| !["host", "port", "tls"].iter().any(|key| line.starts_with(key));
    let text: Vec<&str> = text.lines().filter(kept).collect();
    common::write_private(&world.config_file(), &text.join("\n").replace("\"smtp\"", "\"file\""));
    world.reload().unwrap();
    world
}

#[test]
fn erase_leaves_no_trace_in_any_file_and_ends_the_waiting_delivery() {
    let world = world_with_mail_files();
    world.hooks.script(&["500 Oops"]);
    let receipt = world.post(&marked(), Some("marker-key-4711")).receipt();
    world.deliver();
    assert_eq!(world.states(&receipt), ["email delivered 1", "webhook retrying 1"]);
    for marker in [VALUE, NAME, BYTES] {
        assert!(!world.traces(marker).is_empty(), "{marker} is there before");
    }

    let said = world.ctl(&["erase", &receipt, "--yes"]).ok();
    assert!(said.contains("done"), "{said}");
    for marker in [VALUE, NAME, BYTES, "marker-4711", "marker-key-4711", "sales@acme.example", "hook-token-4711"] {
        assert_eq!(world.traces(marker), Vec::<String>::new(), "{marker}");
    }
    let shown = world.show(&receipt);
    assert_eq!(shown["erased"], true);
    assert!(shown["values"].is_null() && shown["attachments"].is_null());
    assert!(shown["deliveries"][1]["target"].is_null());
    assert_eq!(shown["deliveries"][1]["reason"], "values_gone");
    assert_eq!(world.deliver(), 0);
    let attachment = world.ctl(&["attachment", &receipt, "-o", "-"]);
    assert_eq!(attachment.code, 3, "{attachment:?}");
    let list = world.ctl(&["list", "--json"]).ok();
    assert!(list.contains("\"erased\":true") && !list.contains(VALUE), "{list}");
}

#[test]
fn past_the_erase_date_values_are_unreadable_at_once_and_the_sweep_removes_them() {
    let world = World::with("retention_days = 1", &format!("[form.quote]\n{FIELDS}"));
    let receipt = world.post(&marked(), None).receipt();
    world.pass(Span::from_days(1));
    assert!(world.show(&receipt)["values"].is_null(), "swept or not");
    assert_eq!(world.deliver(), 0);
    let planned = world.ctl(&["sweep", "--dry-run", "--json"]).json().remove(0);
    assert_eq!(planned["expired"], 1);
    assert!(!world.traces(VALUE).is_empty(), "a dry run does nothing");
    let swept = world.ctl(&["sweep", "--json"]).json().remove(0);
    assert_eq!(swept["expired"], 1);
    for marker in [VALUE, NAME, BYTES] {
        assert_eq!(world.traces(marker), Vec::<String>::new(), "{marker}");
    }
    assert_eq!(world.show(&receipt)["deliveries"][0]["reason"], "values_gone");
}

#[test]
fn while_an_old_reader_pins_the_log_erase_says_pending_and_the_sweep_finishes_it() {
    let world = World::new();
    let receipt = world.post(&marked(), None).receipt();
    world.deliver();
    let reader = rusqlite::Connection::open(world.data().join("formd.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM receipts;").unwrap();
    let pending = world.ctl(&["erase", &receipt, "--yes"]);
    assert_eq!(pending.code, 4, "{pending:?}");
    assert!(pending.stdout.contains("pending"), "{pending:?}");
    assert!(world.show(&receipt)["values"].is_null());
    drop(reader);
    let _ = world.ctl(&["sweep"]).ok();
    assert_eq!(world.traces(VALUE), Vec::<String>::new());
    let _ = world.ctl(&["erase", &receipt, "--yes"]).ok();
}

#[test]
fn a_send_under_way_is_named_and_writes_no_value_back() {
    let world = std::sync::Arc::new(World::with("", &format!("[form.quote]\ndestinations = [\"sales\"]\n{FIELDS}")));
    world.mail.script(&[Smtp::HoldData]);
    let receipt = world.post(&marked(), None).receipt();
    let sending = std::sync::Arc::clone(&world);
    let attempt = std::thread::spawn(move || sending.step());
    while world.mail.mails().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let erased = world.ctl(&["erase", &receipt, "--yes"]);
    let said = format!("{}{}", erased.stdout, erased.stderr);
    assert!(said.contains(&format!("{receipt}-d1")), "{said}");
    world.mail.let_go();
    attempt.join().unwrap();
    let _ = world.ctl(&["sweep"]).ok();
    for marker in [VALUE, NAME, BYTES, "sales@acme.example"] {
        assert_eq!(world.traces(marker), Vec::<String>::new(), "{marker}");
    }
    assert_eq!(world.show(&receipt)["deliveries"][0]["attempts_made"][0]["outcome"], "accepted");
}

#[test]
fn erasing_many_at_once_takes_just_those() {
    let world = World::new();
    let keep =
        world.post(&Multipart::default().field("name", "keep").field("email", "keep@example.com"), None).receipt();
    world.pass(Span::from_days(2));
    let _ = world.post(&marked(), None).receipt();
    assert_eq!(world.ctl(&["erase", "--where", &format!("name={VALUE}")]).code, 2, "asks for --yes without a terminal");
    let _ = world.ctl(&["erase", "--where", &format!("name={VALUE}"), "--yes"]).ok();
    assert_eq!(world.traces(VALUE), Vec::<String>::new());
    assert_eq!(world.show(&keep)["values"][0]["value"], "keep");
    let _ = world.ctl(&["erase", "--site", "acme", "--before", "1d", "--yes"]).ok();
    assert!(world.show(&keep)["values"].is_null());
}

#[test]
fn a_repeat_after_forty_days_after_expiry_and_after_erasure_gets_the_same_receipt_and_stores_nothing() {
    let world = World::with("retention_days = 30", &format!("[form.quote]\n{FIELDS}"));
    let (expired, erased) = (Some("key-of-the-first"), Some("key-of-the-second"));
    let first = world.post(&marked(), expired).receipt();
    let second = world.post(&marked(), erased).receipt();
    let _ = world.ctl(&["erase", &second, "--yes"]).ok();
    let repeated = |key, receipt: &str| {
        let answer = world.post(&marked(), key);
        assert_eq!((answer.header("Idempotent-Replayed"), answer.receipt().as_str()), (Some("true"), receipt));
    };
    repeated(expired, &first);
    repeated(erased, &second);
    world.pass(Span::from_days(40));
    repeated(expired, &first);
    world.sweep();
    for (key, receipt) in [(expired, &first), (erased, &second)] {
        repeated(key, receipt);
    }
    assert_eq!(world.count("SELECT count(*) FROM receipts"), 2);
    assert_eq!(world.attachments(), Vec::<String>::new());
    assert_eq!(world.traces(VALUE), Vec::<String>::new());
}

#[test]
fn a_clock_that_jumps_a_year_ahead_erases_nothing_for_an_hour_and_status_says_so() {
    let world = World::new();
    let receipt = world.post(&marked(), None).receipt();
    world.sweep();
    world.clock.jump(Span::from_days(365));
    assert!(world.show(&receipt)["values"].is_null(), "unreadable at once, as the date says");
    // Cron may be first: it judges by the daemon's clocks.
    let swept = world.ctl(&["sweep", "--json"]).json().remove(0);
    assert_eq!((&swept["expired"], swept["waits_until"].is_null()), (&0.into(), false));
    world.sweep();
    let status = || world.ctl(&["status", "--json"]).stdout;
    assert!(status().contains("the clock jumped ahead by more than a day"), "{}", status());
    world.pass(Span::from_minutes(59));
    world.sweep();
    assert!(!world.traces(VALUE).is_empty(), "an hour has not passed");
    world.pass(Span::from_minutes(1));
    world.sweep();
    assert_eq!(world.traces(VALUE), Vec::<String>::new());
    assert!(!status().contains("the clock"), "{}", status());
}

#[test]
fn time_that_really_passes_and_a_restart_are_no_jump() {
    let mut world = World::new();
    let _ = world.post(&marked(), None).receipt();
    world.stop();
    world.clock.jump(Span::from_days(365));
    world.start();
    world.sweep();
    assert_eq!(world.traces(VALUE), Vec::<String>::new());
    let _ = world.post(&marked(), None).receipt();
    world.pass(Span::from_days(365));
    assert_eq!(world.ctl(&["sweep", "--json"]).json().remove(0)["expired"], 1);
}

#[test]
fn vacuum_writes_the_database_anew_while_the_daemon_runs() {
    let world = World::new();
    let keep = world.post(&marked(), Some("keep")).receipt();
    let erased = world.post(&marked(), Some("gone")).receipt();
    let said = world.ctl(&["erase", &erased, "--yes", "--vacuum"]).ok();
    assert!(said.contains("done") && said.contains("written anew"), "{said}");
    assert_eq!(world.show(&keep)["values"][0]["value"], VALUE);
    assert_eq!(world.parts(), Vec::<String>::new());
    let another = world.post(&marked(), Some("later")).receipt();
    let writer = rusqlite::Connection::open(world.data().join("formd.db")).unwrap();
    writer.execute_batch("BEGIN; SELECT count(*) FROM receipts").unwrap();
    let _: i64 = writer.query_row("SELECT count(*) FROM receipts", [], |row| row.get(0)).unwrap();
    let pending = world.ctl(&["erase", &another, "--yes", "--vacuum"]);
    assert_eq!(pending.code, 4, "{pending:?}");
    drop(writer);
    let _ = world.ctl(&["erase", &another, "--yes", "--vacuum"]).ok();
    let _ = world.ctl(&["erase", &keep, "--yes"]).ok();
    assert_eq!(world.traces(VALUE), Vec::<String>::new());
}
