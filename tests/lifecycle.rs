//! Destinations, forms and sites that are paused, changed, removed and come back, and what becomes of that which waits
//! for them: across a reload, a restart, and a send that is under way (contract 2.4, 2.6, 10.1, 10.2, 10.9).

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
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use common::peers::{HOLD, Smtp};
use common::process::{Process, signal, write_config};
use common::{FIELDS, World, submission, write_private};
use formd::harness::Span;

/// The forms of every world here.
fn forms() -> String {
    format!("[form.quote]\n{FIELDS}")
}

/// A world that mails to one destination alone.
fn mails() -> World {
    World::with(&sales("sales@acme.example", ""), &forms())
}

/// The destination `sales`, with more lines.
fn sales(address: &str, more: &str) -> String {
    format!("[[destination]]\nid = \"sales\"\nemail = \"{address}\"\n{more}")
}

/// `state reason held` of each delivery.
fn ends(world: &World, receipt: &str) -> Vec<String> {
    let shown = world.show(receipt);
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_owned();
    let deliveries = shown["deliveries"].as_array().unwrap();
    deliveries.iter().map(|d| format!("{} {} {}", text(&d["state"]), text(&d["reason"]), d["held"])).collect()
}

/// Level and reasons of `status`.
fn status(world: &World) -> (String, String) {
    let ran = world.ctl(&["status", "--json"]);
    let status: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    (status["level"].as_str().unwrap().to_owned(), status["reasons"].to_string())
}

fn wait_until(done: impl Fn() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(10), "waited too long");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_paused_destination_ends_what_waits_for_it_alone_and_can_be_sent_again_once_it_is_back() {
    let world = World::new();
    world.mail.script(&[Smtp::Greylist]);
    let receipt = world.post(&submission(), None).receipt();
    let second = world.post(&submission(), Some("second")).receipt();
    assert_eq!(world.deliver(), 4);
    let running = fs::read_to_string(world.site_file()).unwrap();
    let paused = running.replace("email = ", "paused = true\nemail = ");
    write_private(&world.site_file(), &paused);

    let checked = world.ctl(&["check"]).ok();
    assert!(checked.contains("2 waiting deliveries would end") && checked.contains("acme/sales 2"), "{checked}");
    assert_eq!(ends(&world, &receipt)[0], "retrying - false", "a check changes nothing");
    world.reload().unwrap();
    for receipt in [&receipt, &second] {
        assert_eq!(ends(&world, receipt), ["failed destination_inactive false", "delivered - false"]);
    }
    assert_eq!(world.states(&receipt)[0], "email failed 1", "no attempt was made for it");
    assert_eq!(world.show(&receipt)["deliveries"][0]["attempts_made"].as_array().unwrap().len(), 1);
    assert_eq!(status(&world).0, "ok", "what the operator ended is no alarm: {:?}", status(&world));
    assert_eq!(world.ctl(&["resend", &format!("{receipt}-d1")]).code, 1);
    let new = world.post(&submission(), Some("third")).receipt();
    assert_eq!(world.states(&new), ["webhook pending 0"]);
    assert_eq!(world.deliver(), 1);

    write_private(&world.site_file(), &running);
    world.reload().unwrap();
    world.mail.script(&[Smtp::Accept]);
    assert_eq!(world.deliver(), 0, "what has ended does not begin again by itself");
    let _ = world.ctl(&["resend", &format!("{receipt}-d1")]).ok();
    assert_eq!(world.deliver(), 1);
    assert_eq!(world.states(&receipt)[0], "email delivered 1");
}

#[test]
fn a_destination_or_form_that_is_removed_ends_what_waits_at_a_reload_and_at_a_start() {
    for (site, forms) in [
        (sales("sales@acme.example", "").replace("sales\"", "boss\""), forms()),
        (sales("sales@acme.example", ""), forms().replace("form.quote", "form.jobs")),
        (sales("sales@acme.example", ""), forms().replace("[form.quote]", "[form.quote]\ndestinations = []")),
    ] {
        for restarts in [false, true] {
            let mut world = mails();
            let receipt = world.post(&submission(), None).receipt();
            world.write_site(&site, &forms);
            if restarts {
                world.restart();
            } else {
                world.reload().unwrap();
            }
            assert_eq!(ends(&world, &receipt), ["failed destination_inactive false"], "{site}{forms}");
            assert_eq!(world.deliver(), 0);
            assert!(world.mail.mails().is_empty());
        }
    }
}

#[test]
fn a_changed_address_is_for_new_submissions_only() {
    let world = mails();
    let old = world.post(&submission(), Some("old")).receipt();
    world.write_site(&sales("new@acme.example", ""), &forms());
    world.reload().unwrap();
    let new = world.post(&submission(), Some("new")).receipt();
    assert_eq!(world.deliver(), 2);
    let to = |receipt: &str| {
        let mails = world.mail.mails();
        let mail = mails.iter().find(|mail| mail.contains(receipt)).unwrap();
        mail.lines().find(|line| line.starts_with("To: ")).unwrap().trim_end().to_owned()
    };
    assert!(to(&old).contains("sales@acme.example"), "{}", to(&old));
    assert!(to(&new).contains("new@acme.example"), "{}", to(&new));
}

#[test]
fn a_disabled_site_keeps_what_waits_and_goes_on_when_it_is_enabled_again() {
    let mut world = mails();
    let receipt = world.post(&submission(), None).receipt();
    world.write_site(&format!("enabled = false\n{}", sales("sales@acme.example", "")), &forms());
    let checked = world.ctl(&["check"]).ok();
    assert!(!checked.contains("waiting deliver"), "{checked}");
    world.reload().unwrap();
    assert_eq!(world.deliver(), 0);
    world.restart();
    assert_eq!((world.deliver(), ends(&world, &receipt)), (0, vec!["pending - false".to_owned()]));
    let line = world.ctl(&["deliveries"]).ok();
    assert!(line.starts_with(&format!("{receipt}-d1\t")) && line.contains("\tsite_disabled\t"), "{line}");
    world.write_site(&sales("sales@acme.example", ""), &forms());
    world.reload().unwrap();
    assert_eq!(world.deliver(), 1);
    assert_eq!(world.states(&receipt), ["email delivered 1"]);
}

#[test]
fn a_site_whose_file_is_gone_has_what_waits_held_until_the_file_is_back() {
    let mut world = mails();
    let receipt = world.post(&submission(), None).receipt();
    let site = fs::read_to_string(world.site_file()).unwrap();
    fs::remove_file(world.site_file()).unwrap();
    let checked = world.ctl(&["check"]).ok();
    assert!(checked.contains("1 waiting delivery would be held: site `acme` has no file"), "{checked}");
    world.reload().unwrap();
    assert_eq!((world.deliver(), ends(&world, &receipt)), (0, vec!["pending - true".to_owned()]));
    world.pass(Span::from_hours(7));
    let _ = world.ctl(&["sweep"]).ok();
    let (level, reasons) = status(&world);
    assert_eq!(level, "warning", "held is not a queue that stands still: {reasons}");
    assert!(reasons.contains("the site's file is gone: 1 delivery (`acme` 1)"), "{reasons}");
    let row = world.ctl(&["deliveries", "--state", "held", "--json"]).json().remove(0);
    assert_eq!((row["held_why"].as_str(), row["next_attempt_at"].as_str()), (Some("site_gone"), None));
    assert_eq!(world.ctl(&["resend", &receipt]).code, 1, "nobody would send it");
    world.restart();
    assert_eq!((world.deliver(), ends(&world, &receipt)), (0, vec!["pending - true".to_owned()]));

    write_private(&world.site_file(), &site);
    world.reload().unwrap();
    assert_eq!(ends(&world, &receipt), ["pending - false"]);
    assert_eq!(world.deliver(), 1);
    assert_eq!(world.states(&receipt), ["email delivered 1"]);
    assert_eq!(status(&world).0, "ok");
}

#[test]
fn a_site_that_comes_back_without_the_destination_ends_what_was_held_for_it() {
    let world = mails();
    let receipt = world.post(&submission(), None).receipt();
    fs::remove_file(world.site_file()).unwrap();
    world.reload().unwrap();
    world.write_site(&sales("sales@acme.example", "paused = true\n"), &forms());
    world.reload().unwrap();
    assert_eq!(ends(&world, &receipt), ["failed destination_inactive false"]);
}

#[test]
fn a_confirmation_that_is_switched_off_ends_what_waits_of_it_and_nothing_else() {
    let world = World::new();
    let receipt = world.post(&submission(), None).receipt();
    database(&world)
        .execute_batch(
            "UPDATE deliveries SET channel = 'confirmation', destination = 'confirmation' WHERE n = 1;
             UPDATE contents SET targets = json_set(targets, '$[0]',
                 json('{\"confirmation\":{\"address\":\"anna@example.com\",\"subject\":\"s\",\"text\":\"t\"}}'))",
        )
        .unwrap();
    world.reload().unwrap();
    assert_eq!(ends(&world, &receipt), ["failed destination_inactive false", "pending - false"]);
    assert_eq!(world.deliver(), 1);
    assert!(world.mail.mails().is_empty());
    assert_eq!(status(&world).0, "ok");
}

#[test]
fn a_reload_with_a_mistake_changes_nothing() {
    let world = mails();
    let receipt = world.post(&submission(), None).receipt();
    let site = sales("sales@acme.example", "paused = true\n");
    world.write_site(&site, &format!("{}\n[form.other]\nacept = true\n", forms()));
    assert!(world.reload().is_err());
    assert_eq!(ends(&world, &receipt), ["pending - false"]);
    assert_eq!(world.deliver(), 1);
    assert_eq!(world.states(&receipt), ["email delivered 1"]);
}

#[test]
fn a_send_under_way_while_its_destination_is_removed_keeps_its_true_outcome() {
    for (answer, outcome) in [(HOLD, "delivered - false"), ("hold 500 Oops", "failed destination_inactive false")] {
        let forms_of =
            |destination: &str| forms().replace("quote]\n", &format!("quote]\ndestinations = [\"{destination}\"]\n"));
        let world = Arc::new(World::with("", &forms_of("crm")));
        world.hooks.script(&[answer]);
        let receipt = world.post(&submission(), None).receipt();
        let sending = Arc::clone(&world);
        let attempt = thread::spawn(move || sending.step());
        wait_until(|| !world.hooks.calls().is_empty());
        world.write_site("", &forms_of("sales"));
        world.reload().unwrap();
        assert_eq!(ends(&world, &receipt), ["pending - false"], "it cannot be recalled");
        world.hooks.let_go();
        attempt.join().unwrap();
        assert_eq!(ends(&world, &receipt), [outcome]);
        world.pass(Span::from_hours(1));
        assert_eq!(world.deliver(), 0);
        let shown = world.show(&receipt)["deliveries"][0].clone();
        let reason = if answer == HOLD { serde_json::Value::Null } else { "destination_inactive".into() };
        assert_eq!((&shown["reason"], &shown["attempts"]), (&reason, &1.into()), "{shown}");
        assert_eq!(shown["attempts_made"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn a_run_without_a_daemon_does_to_what_waits_as_the_files_say() {
    let mut world = World::new();
    let receipt = world.post(&submission(), None).receipt();
    world.stop();
    world.write_site(&sales("sales@acme.example", ""), &forms());
    let ran = world.ctl(&["deliver"]);
    assert!(ran.stderr.contains("ended: their destination is paused or no longer configured: 1"), "{ran:?}");
    assert_eq!(ends(&world, &receipt), ["delivered - false", "failed destination_inactive false"]);
}

#[test]
fn a_run_beside_a_daemon_leaves_to_it_what_files_that_are_not_in_force_would_end_or_hold() {
    let world = World::new();
    let receipt = world.post(&submission(), None).receipt();
    world.write_site(&sales("sales@acme.example", ""), &forms());
    let ran = world.ctl(&["deliver"]);
    assert!(ran.stderr.contains("not what the daemon runs") && ran.stdout.contains("1 attempt"), "{ran:?}");
    assert_eq!(ends(&world, &receipt), ["delivered - false", "pending - false"]);
    fs::rename(world.site_file(), world.site_file().with_extension("off")).unwrap();
    let ran = world.ctl(&["deliver"]);
    assert!(ran.stdout.contains("nothing was due"), "{ran:?}");
    assert_eq!(ends(&world, &receipt), ["delivered - false", "pending - false"]);
    assert_eq!(world.deliver(), 1, "the daemon knows nothing of them");
    assert_eq!(ends(&world, &receipt), ["delivered - false", "delivered - false"]);
}

#[test]
fn a_resend_says_that_the_files_it_went_by_are_not_in_force() {
    let world = World::new();
    world.hooks.script(&["410 Gone"]);
    let receipt = world.post(&submission(), None).receipt();
    assert_eq!(world.deliver(), 2);
    let running = fs::read_to_string(world.site_file()).unwrap();
    write_private(&world.site_file(), &running.replace("webhook = ", "paused = true\nwebhook = "));
    world.reload().unwrap();
    write_private(&world.site_file(), &running);
    let ran = world.ctl(&["resend", &format!("{receipt}-d2")]);
    assert!(ran.stderr.contains("`formctl reload` puts them in force"), "{ran:?}");
    world.reload().unwrap();
    let ran = world.ctl(&["resend", &format!("{receipt}-d2")]);
    assert_eq!(ran.stderr, "", "{ran:?}");
}

#[test]
fn a_daemon_that_sent_nothing_sends_after_the_reload_that_says_so_and_rests_after_the_next() {
    let world = mails();
    let waiting = world.post(&submission(), Some("1")).receipt();
    let resting = fs::read_to_string(world.config_file()).unwrap();
    write_private(&world.config_file(), &resting.replace("enabled = false", "enabled = true"));
    world.reload().unwrap();
    wait_until(|| world.states(&waiting) == ["email delivered 1"]);
    write_private(&world.config_file(), &resting);
    world.reload().unwrap();
    let resting = world.post(&submission(), Some("2")).receipt();
    thread::sleep(Duration::from_millis(300));
    assert_eq!(world.states(&resting), ["email pending 0"]);
}

#[test]
fn a_check_says_nothing_of_deliveries_where_there_is_no_data_directory_and_makes_none() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "");
    let ran = ctl(&config, &["check"]);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    assert!(!folder.path().join("data").exists());
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data/formd.db"), "no database").unwrap();
    let ran = ctl(&config, &["check"]);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    assert_eq!(common::files_below(&folder.path().join("data")), ["formd.db"]);
}

#[test]
fn a_failure_is_critical_until_it_is_acknowledged_and_stays_readable_after() {
    let world = World::new();
    world.hooks.script(&["410 Gone"]);
    let first = world.post(&submission(), Some("1")).receipt();
    world.pass(Span::from_millis(1));
    let second = world.post(&submission(), Some("2")).receipt();
    world.deliver();
    assert_eq!(status(&world).0, "critical");
    let rows = world.ctl(&["deliveries", "--json"]).json();
    let ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [format!("{first}-d2"), format!("{second}-d2")], "oldest first");
    let row = &rows[0];
    assert_eq!(
        (row["reason"].as_str(), row["acked"].as_bool(), row["form"].as_str()),
        (Some("refused"), Some(false), Some("quote"))
    );
    assert!(row["note"].as_str().unwrap().contains("410"), "{row}");

    assert_eq!(world.ctl(&["deliveries", "--ack", &format!("{first}-d1")]).code, 1, "delivered");
    assert_eq!(world.ctl(&["deliveries", "--ack", &format!("{first}-d9")]).code, 3);
    assert_eq!(world.ctl(&["deliveries", "--ack", "0000000000000"]).code, 3);
    let said = world.ctl(&["deliveries", "--ack", &first]).ok();
    assert_eq!(said, format!("{first}-d2: acknowledged\n"));
    assert_eq!(status(&world).0, "critical", "the other one");
    assert_eq!(world.ctl(&["deliveries", "--ack"]).ok(), "acknowledged: 1 failure\n");
    assert_eq!(status(&world).0, "ok");
    assert_eq!(world.ctl(&["deliveries"]).ok(), "");
    let failed = world.ctl(&["deliveries", "--state", "failed", "--json"]).json();
    assert!(failed.len() == 2 && failed.iter().all(|row| row["acked"] == true), "{failed:?}");

    // Sent again and failed again, it is an alarm again.
    let _ = world.ctl(&["resend", &format!("{first}-d2")]).ok();
    world.deliver();
    assert_eq!(status(&world).0, "critical");
}

#[test]
fn what_was_held_as_spam_goes_when_its_receipt_is_released() {
    let world = World::new();
    let receipt = world.post(&submission(), None).receipt();
    let other = world.post(&submission().field("extra", "1"), None).receipt();
    let refused = world.ctl(&["release", &receipt]);
    assert_eq!((refused.code, refused.stderr.contains("not held as spam")), (1, true), "{refused:?}");
    let held = "UPDATE deliveries SET held = 'spam', due_at = NULL; UPDATE receipts SET spam = 1";
    database(&world).execute_batch(held).unwrap();
    assert_eq!(world.deliver(), 0);
    assert_eq!(world.ctl(&["release", &receipt, "--trust"]).code, 1);
    assert_eq!(world.ctl(&["release", &receipt[..7]]).code, 3, "more than one receipt begins so");
    assert_eq!(world.show(&receipt)["spam"], true);

    assert_eq!(world.ctl(&["release", &receipt]).ok(), format!("{receipt}: released, 2 deliveries due now\n"));
    assert_eq!(world.show(&receipt)["spam"], false);
    assert_eq!(world.deliver(), 2, "the other one stays held");
    assert_eq!(world.states(&receipt), ["email delivered 1", "webhook delivered 1"]);
    assert_eq!(world.ctl(&["release", &receipt]).code, 1, "once");

    let _ = world.ctl(&["erase", &other, "--yes"]).ok();
    let gone = world.ctl(&["release", &other]);
    assert_eq!((gone.code, gone.stderr.contains("values_gone")), (1, true), "{gone:?}");
    assert_eq!(world.ctl(&["release", "zzzz"]).code, 3);
}

#[test]
fn what_a_restore_held_goes_when_it_is_released() {
    let world = World::new();
    let receipt = world.post(&submission(), None).receipt();
    database(&world).execute("UPDATE deliveries SET held = 'restored', due_at = NULL", []).unwrap();
    world.reload().unwrap();
    assert_eq!(world.deliver(), 0, "a reload releases nothing of it");
    let (level, reasons) = status(&world);
    assert!(level == "warning" && reasons.contains("formctl deliveries --release"), "{reasons}");
    assert_eq!(world.ctl(&["deliveries", "--release"]).ok(), "released: 2 deliveries\n");
    assert_eq!(world.deliver(), 2);
    assert_eq!(ends(&world, &receipt), ["delivered - false", "delivered - false"]);
    assert_eq!(world.ctl(&["deliveries", "--release"]).ok(), "nothing is held since a restore\n");
}

#[test]
fn a_failed_confirmation_is_a_warning() {
    let world = mails();
    let _ = world.post(&submission(), None).receipt();
    let set = "UPDATE deliveries SET channel = 'confirmation', destination = 'confirmation', state = 'failed', reason = 'exhausted', due_at = NULL";
    database(&world).execute(set, []).unwrap();
    let (level, reasons) = status(&world);
    assert!(level == "warning" && reasons.contains("1 confirmation failed"), "{level} {reasons}");
    let _ = world.ctl(&["deliveries", "--ack"]).ok();
    assert_eq!(status(&world).0, "ok");
}

fn database(world: &World) -> rusqlite::Connection {
    rusqlite::Connection::open(world.data().join("formd.db")).unwrap()
}

fn ctl(config: &Path, args: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_formctl")).arg("--config").arg(config).args(args).output().unwrap()
}

#[test]
fn the_real_daemon_moves_what_waits_at_a_signal_at_a_reload_and_at_its_start() {
    let folder = tempfile::tempdir().unwrap();
    let mail = common::peers::MailServer::start(&[Smtp::Greylist]);
    let config = write_config(folder.path(), "");
    let smtp = format!("transport = \"smtp\"\nhost = \"127.0.0.1\"\nport = {}\ntls = \"none\"", mail.address.port());
    let daemon = fs::read_to_string(&config).unwrap().replace("transport = \"file\"", &smtp);
    write_private(&config, &daemon);
    let site_file = folder.path().join("sites/acme.toml");
    let site = fs::read_to_string(&site_file).unwrap();
    let listed = |what: &str| String::from_utf8_lossy(&ctl(&config, &["list"]).stdout).contains(what);

    let mut daemon = Process::start(&config);
    let _ = submission().post("/f/acme/quote.json").send(daemon.address).receipt();
    wait_until(|| listed("retrying 1"));
    fs::remove_file(&site_file).unwrap();
    signal(daemon.pid, "HUP");
    wait_until(|| listed("held: its site has no file"));
    write_private(&site_file, &site);
    let reloaded = ctl(&config, &["reload"]);
    assert_eq!(reloaded.status.code(), Some(0), "{reloaded:?}");
    wait_until(|| listed("retrying") && !listed("held"));

    wait_until(|| listed("retrying 2"));
    let paused = site.replace("email = ", "paused = true\nemail = ");
    write_private(&site_file, &paused);
    let reloaded = ctl(&config, &["reload"]);
    let said = String::from_utf8_lossy(&reloaded.stderr).into_owned();
    assert!(said.contains("1 waiting delivery will end") && said.contains("acme/sales 1"), "{said}");
    assert!(listed("failed (destination_inactive)"), "when `reload` returns, it is done");

    write_private(&site_file, &site);
    assert_eq!(ctl(&config, &["reload"]).status.code(), Some(0));
    let _ = submission().post("/f/acme/quote.json").header("Idempotency-Key", "2").send(daemon.address).receipt();
    wait_until(|| listed("retrying 1"));
    assert_eq!(daemon.stop(), Some(0));
    write_private(&site_file, &paused);
    let daemon = Process::start(&config);
    wait_until(|| !listed("retrying"));
    assert!(mail.mails().is_empty());
    drop(daemon);
}
