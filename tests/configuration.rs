//! What `docs/configuration.md` shows is a configuration, and it names every key that there is.

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

use common::write_private;
use formd::harness::{self, Clock, Timestamp};

const CHATS: &str = include_str!("../docs/chat.md");
const MANUAL: &str = include_str!("../docs/configuration.md");

/// Writes the manual's example into `folder`: each block begins with the name of its file.
fn lay_out(folder: &Path) {
    fs::create_dir_all(folder.join("sites")).unwrap();
    fs::create_dir_all(folder.join("secrets")).unwrap();
    for block in MANUAL.split("```toml\n# ").skip(1) {
        let (name, text) = block.split_once('\n').unwrap();
        write_private(&folder.join(name), text.split_once("```").unwrap().0);
    }
    for name in ["acme-crm", "shop"] {
        write_private(&folder.join("secrets").join(name), "a-secret-of-the-manual\n");
    }
}

/// `formctl check` over a folder.
fn check(folder: &Path, flags: &[&str]) -> (u8, String) {
    let file = folder.join("formd.toml");
    let words = [&["formctl", "--config", file.to_str().unwrap(), "check"], flags].concat();
    let (code, stdout, stderr) =
        harness::ctl(&words, &Clock::stepped(Timestamp::parse("2026-11-30T12:00:00Z").unwrap()));
    (code, stdout + &stderr)
}

#[test]
fn the_example_is_valid() {
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path());
    let (code, said) = check(folder.path(), &[]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn every_destination_of_the_manual_on_chats_is_valid() {
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path());
    for (name, address) in [
        ("slack", "https://hooks.slack.com/services/T0/B0/x"),
        ("discord", "https://discord.com/api/webhooks/1/x"),
        ("telegram", "https://api.telegram.org/bot1:x/sendMessage"),
        ("mattermost", "https://chat.example.com/hooks/x"),
        ("matrix", "https://m.example/_matrix/client/v3/rooms/!r:m.example/send/m.room.message?access_token=x"),
        ("ntfy", "https://ntfy.sh/acme"),
        ("make", "https://hook.eu1.make.example/x"),
        ("tickets", "https://tickets.example/x"),
    ] {
        write_private(&folder.path().join("secrets").join(name), &format!("{address}\n"));
    }
    let blocks: Vec<&str> = CHATS.split("```toml\n").skip(1).map(|block| block.split_once("```").unwrap().0).collect();
    assert_eq!(blocks.len(), 9);
    for block in blocks {
        write_private(&folder.path().join("sites/acme.toml"), &format!("{block}\n[form.a]\n"));
        let (code, said) = check(folder.path(), &[]);
        assert_eq!(code, 0, "{block}{said}");
    }
}

#[test]
fn each_way_for_mail_to_leave_is_valid() {
    let ways: Vec<&str> = MANUAL.split("```\n[mail]\n").skip(1).map(|way| way.split_once("```").unwrap().0).collect();
    assert_eq!(ways.len(), 3);
    for way in ways {
        let folder = tempfile::tempdir().unwrap();
        lay_out(folder.path());
        write_private(&folder.path().join("formd.toml"), &format!("[mail]\n{way}"));
        write_private(&folder.path().join("secrets/smtp"), "a-password\n");
        write_private(&folder.path().join("our-authority.pem"), include_str!("data/tls/mail-ca.pem"));
        let (code, said) = check(folder.path(), &[]);
        assert_eq!(code, 0, "{way}{said}");
    }
}

#[test]
fn every_key_that_can_be_written_stands_in_the_manual() {
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path());
    // A key that nobody knows makes each table name those it has.
    let daemon = "x = 1\n[mail]\nx = 1\n[delivery]\nx = 1\n[sweep]\nx = 1\n[limits]\nx = 1\n";
    write_private(&folder.path().join("formd.toml"), daemon);
    let site = "x = 1\n[[destination]]\nx = 1\n[[shared_path]]\nx = 1\n[form.a]\nx = 1\n[form.a.confirmation]\nx = 1\n[[form.a.field]]\nx = 1\n";
    write_private(&folder.path().join("sites/acme.toml"), site);
    let (code, said) = check(folder.path(), &[]);
    assert_eq!(code, 1);
    let lists: Vec<&str> =
        said.lines().filter_map(|line| line.split_once("the keys here are ")).map(|(_, l)| l).collect();
    assert!(lists.len() >= 10, "{said}");
    let mut missing = Vec::new();
    for key in lists.iter().flat_map(|list| list.split(", ")) {
        let section = format!("[{}]", key.trim_matches('`'));
        if !MANUAL.contains(key) && !MANUAL.contains(&section) && !MANUAL.contains(&section.replace(']', ".ID]")) {
            missing.push(key);
        }
    }
    assert_eq!(
        missing,
        ["`texts`", "`field`", "`confirmation`"],
        "which stand there as `[texts.LANGUAGE]`, `[[form.ID.field]]` and `[form.ID.confirmation]`"
    );
}
