//! The pages that formd shows, in Debian's Chromium: valid HTML, nothing for axe to find in light and dark, no sideways
//! scrolling at 320 px, every field within reach of the keyboard, and nothing that a visitor typed ever runs.

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

use common::clients::{Desk, FORM, have_browser, node};
use serde_json::{Value, json};

/// The site of all kinds, and one whose visitors get a 429 with their second message.
fn desk() -> Desk {
    let limited = FORM.replace("rate = []", "rate = [\"1/d\"]");
    let helped = FORM.replace("label = \"Name\", kind", "label = \"Name\", help = \"As in your passport.\", kind");
    Desk::with_sites("", &[("acme", &helped), ("limited", &limited)])
}

/// Runs `pages.mjs`; its findings.
fn pages(desk: &Desk, mode: &str) -> Vec<Value> {
    node("pages.mjs", &[mode, &desk.url(""), env!("CARGO_TARGET_TMPDIR")])
}

/// No view has a fault.
fn assert_sound(found: &[Value]) {
    let faults: Vec<&Value> =
        found.iter().filter(|p| p["axe"] != json!([]) || p["html"] != json!([]) || p["over"] != 0).collect();
    assert_eq!(faults, Vec::<&Value>::new());
}

#[test]
fn the_page_with_most_words_is_sound_in_the_other_four_languages() {
    if !have_browser() {
        return;
    }
    let found = pages(&desk(), "languages");
    assert_sound(&found);
    let spoken: Vec<&str> = found.iter().step_by(4).map(|p| p["spoken"].as_str().unwrap()).collect();
    assert_eq!(spoken, ["de", "es", "fr", "ru"]);
}

#[test]
fn every_page_is_valid_and_accessible_in_light_and_dark_and_narrow() {
    if !have_browser() {
        return;
    }
    let desk = desk();
    let found = pages(&desk, "look");
    assert_sound(&found);
    let states = [
        ("form", 200),
        ("error", 422),
        ("thanks", 200),
        ("conflict", 409),
        ("missing", 404),
        ("method", 405),
        ("limited", 429),
    ];
    for (name, status) in states {
        let views: Vec<&Value> = found.iter().filter(|p| p["name"] == name).collect();
        assert_eq!(views.len(), 4, "{name}");
        assert!(views.iter().all(|p| p["status"] == status), "{name}: {views:?}");
        let backs = |scheme: &str| views.iter().find(|p| p["scheme"] == scheme).unwrap()["back"].clone();
        assert_ne!(backs("light"), backs("dark"), "{name}");
    }
}

#[test]
fn nothing_that_a_visitor_types_runs_on_any_page() {
    if !have_browser() {
        return;
    }
    let desk = desk();
    let found = pages(&desk, "hostile");
    assert_eq!(found.len(), 8 * 5);
    for page in &found {
        if page["name"] == "kept" {
            assert_eq!(page["equal"], true, "the text is not what was typed: {page}");
            continue;
        }
        assert_eq!((&page["ran"], &page["dialogs"]), (&Value::Null, &json!(0)), "{page}");
        assert_eq!((&page["strange"], &page["links"]), (&json!([]), &json!([])), "{page}");
        assert!(page["forms"].as_u64().unwrap() <= 1, "{page}");
        assert!(page["status"].as_u64().unwrap() >= 400, "{page}");
    }
}

#[test]
fn the_keyboard_reaches_every_field_in_order_and_sends() {
    if !have_browser() {
        return;
    }
    let desk = desk();
    let found = pages(&desk, "keyboard");
    assert_eq!(found.len(), 1, "{found:?}");
    let fields = ["name", "email", "message", "phone", "site", "amount", "day", "colour", "size", "agree", "extras"];
    let rest = ["город \"№ 1\"", "file", "submit"];
    assert_eq!(found[0]["reached"], json!([&fields[..], &rest[..]].concat()));
    assert_eq!(found[0]["receipt"], desk.only_receipt().as_str());
}
