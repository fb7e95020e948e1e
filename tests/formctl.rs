//! formctl as an owner and a cron job use it.

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

use common::client::{Multipart, pdf};
use common::{FIELDS, World, submission};
use formd::harness::Span;

#[test]
fn list_show_and_attachment_tell_all_about_a_submission() {
    let world = World::new();
    let receipt = world.post(&submission().pdf("план.pdf", &pdf("ctl", 5000)), None).receipt();
    world.deliver();
    let listed = world.ctl(&["list", "--json"]).json().remove(0);
    assert_eq!(listed["receipt"], receipt.as_str());
    assert_eq!(listed["received_at"], "2026-11-30T12:00:00.000Z");
    assert_eq!(listed["erase_at"], "2026-12-30T12:00:00.000Z");
    assert_eq!(listed["deliveries"][0]["target"], "sales@acme.example");
    let hook = listed["deliveries"][1]["target"].as_str().unwrap();
    assert!(hook.ends_with("/hooks/forms") && !hook.contains("hook-token-4711"), "{hook}");
    let text = world.ctl(&["list"]).ok();
    assert!(text.contains(&receipt) && !text.contains("Анна"), "values are not in lists: {text}");

    let shown = world.ctl(&["show", &receipt[..10]]).ok();
    for word in ["Анна", "anna@example.com", "Здравствуйте", "план.pdf", "5000", "delivered"] {
        assert!(shown.contains(word), "{word} in {shown}");
    }
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().to_str().unwrap();
    let _ = world.ctl(&["attachment", &receipt, "-o", folder]).ok();
    assert_eq!(fs::read(out.path().join("план.pdf")).unwrap(), pdf("ctl", 5000));
    let again = world.ctl(&["attachment", &receipt, "-o", folder]);
    assert_eq!(again.code, 1, "never over a file: {again:?}");
}

#[test]
fn exit_codes_say_what_happened() {
    let world = World::new();
    let receipt = world.post(&submission(), Some("a")).receipt();
    let _ = world.post(&submission(), Some("b")).receipt();
    assert_eq!(world.ctl(&["show", "0000000000000"]).code, 3);
    assert_eq!(world.ctl(&["show", "not a receipt"]).code, 3);
    let ambiguous = world.ctl(&["show", &receipt[..3]]);
    assert_eq!(ambiguous.code, 3);
    assert!(ambiguous.stderr.contains(&receipt), "{ambiguous:?}");
    assert_eq!(world.ctl(&["list", "--nonsense"]).code, 2);
    assert_eq!(world.ctl(&["list", "--site", "nobody"]).code, 3);
    let unknown = world.ctl(&["list", "--site", "acme", "--form", "nothing"]);
    assert!(unknown.code == 3 && unknown.stderr.contains("quote"), "{unknown:?}");
    assert_eq!(world.ctl(&["resend", &receipt]).code, 1, "pending is not sent again");
}

#[test]
fn lists_are_filtered_by_site_form_time_state_and_key() {
    let world = World::with("", &format!("[form.quote]\n{FIELDS}\n[form.other]\n"));
    let old = world.post(&submission(), Some("old-key")).receipt();
    world.deliver();
    world.pass(Span::from_days(3));
    let new = submission().post("/f/acme/other").header("Accept", "application/json");
    let new = world.send(&new).receipt();
    let list = |args: &[&str]| -> Vec<String> {
        let rows = world.ctl(&[&["list", "--json"], args].concat()).json();
        rows.iter().map(|row| row["receipt"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(list(&[]), [new.clone(), old.clone()]);
    assert_eq!(list(&["--form", "quote", "--site", "acme"]), std::slice::from_ref(&old));
    assert_eq!(list(&["--since", "1d"]), std::slice::from_ref(&new));
    assert_eq!(list(&["--until", "2026-12-01"]), std::slice::from_ref(&old));
    assert_eq!(list(&["--state", "delivered"]), std::slice::from_ref(&old));
    assert_eq!(list(&["--state", "pending"]), std::slice::from_ref(&new));
    assert_eq!(list(&["--limit", "1"]), [new]);
    assert_eq!(list(&["--key", "old-key"]), [old]);
    assert_eq!(list(&["--key", "nobody"]), Vec::<String>::new());
}

#[test]
fn text_from_visitors_cannot_steer_a_terminal() {
    let world = World::new();
    let name = "a\u{202e}b\u{200b}";
    let body = Multipart::default().field("name", name).field("email", "a@example.com").field("message", "x\ny");
    let receipt = world.post(&body.pdf("e\u{202e}fdp.pdf", &pdf("esc", 900)), None).receipt();
    let shown = world.ctl(&["show", &receipt]).ok();
    assert!(!shown.contains('\u{202e}') && !shown.contains('\u{200b}'), "{shown:?}");
    assert!(shown.contains("\\u{202e}"), "{shown:?}");
}

#[test]
fn status_says_first_what_fills_the_disk_and_what_waits() {
    let world = World::new();
    let _ = world.post(&submission(), None).receipt();
    world.pass(Span::from_minutes(5));
    let ran = world.ctl(&["status", "--json"]);
    let status: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(status["free_bytes"].as_u64().unwrap() > 0);
    assert_eq!(status["oldest_pending_seconds"], 300);
    assert_eq!(status["tmp_files"], 0);
    assert_eq!(status["daemon"], true);
    assert_eq!(status["config_current"], true);
    assert_eq!(status["last_hour"], 1);
    let order: Vec<usize> = ["free_bytes", "oldest_pending_seconds", "tmp_bytes", "failed_deliveries"]
        .iter()
        .map(|name| ran.stdout.find(&format!("\"{name}\"")).unwrap())
        .collect();
    assert!(order.is_sorted(), "{}", ran.stdout);

    let site = fs::read_to_string(world.site_file()).unwrap();
    common::write_private(&world.site_file(), &format!("{site}\n# changed\n"));
    let changed = world.ctl(&["status", "--json"]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&changed.stdout).unwrap()["config_current"], false);
}

#[test]
fn without_a_daemon_status_is_critical_and_the_rest_works() {
    let mut world = World::new();
    let receipt = world.post(&submission(), None).receipt();
    world.stop();
    let status = world.ctl(&["status", "--json"]);
    assert_eq!(status.code, 2);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&status.stdout).unwrap()["daemon"], false);
    assert!(world.ctl(&["list"]).ok().contains(&receipt));
    let _ = world.ctl(&["deliver"]).ok();
    assert_eq!(world.mail.mails().len(), 1);
    let _ = world.ctl(&["sweep"]).ok();
    let _ = world.ctl(&["erase", &receipt, "--yes"]).ok();
}

#[test]
fn check_reports_every_mistake_with_its_line_and_reload_keeps_what_runs() {
    let world = World::new();
    assert_eq!(world.ctl(&["check"]).code, 0);
    let good = fs::read_to_string(world.site_file()).unwrap();
    common::write_private(&world.site_file(), &format!("retention_day = 5\naccpt = true\n{good}"));
    let checked = world.ctl(&["check"]);
    assert_eq!(checked.code, 1);
    let said = format!("{}{}", checked.stdout, checked.stderr);
    assert!(said.contains("retention_days") && said.contains("accept") && said.contains("acme.toml"), "{said}");
    assert!(!said.contains(common::HOOK_SECRET), "{said}");
    assert!(world.reload().is_err());
    assert_eq!(world.post(&submission(), None).status, 200, "the old configuration is in force");
}

#[test]
fn the_sweep_quarantines_files_without_a_row_and_removes_them_later() {
    let world = World::new();
    let _ = world.post(&submission().pdf("x.pdf", &pdf("sweep", 900)), None).receipt();
    let orphan = world.data().join("attachments/2026-11-30/0000000000000-1");
    fs::write(&orphan, "left by a crash").unwrap();
    let part = world.data().join("tmp/left.part");
    fs::write(&part, "left by a crash").unwrap();
    let age = |file: &std::path::Path, hours: u64| {
        let at =
            std::time::UNIX_EPOCH + std::time::Duration::from_millis(world.clock.now().as_millis().try_into().unwrap());
        let file = fs::File::options().write(true).open(file).unwrap();
        file.set_modified(at - std::time::Duration::from_secs(hours * 3600)).unwrap();
    };
    age(&orphan, 1);
    age(&part, 1);
    let young = world.ctl(&["sweep", "--json"]).json().remove(0);
    assert_eq!((young["quarantined"].as_i64(), young["parts_removed"].as_i64()), (Some(0), Some(0)));
    age(&orphan, 3);
    age(&part, 3);
    let swept = world.ctl(&["sweep", "--json"]).json().remove(0);
    assert_eq!((swept["quarantined"].as_i64(), swept["parts_removed"].as_i64()), (Some(1), Some(1)));
    assert_eq!(common::files_below(&world.data().join("quarantine")).len(), 1);
    world.pass(Span::from_days(8));
    let later = world.ctl(&["sweep", "--json"]).json().remove(0);
    assert_eq!(later["quarantine_removed"], 1);
}
