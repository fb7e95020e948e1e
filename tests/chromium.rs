//! Debian's Chromium in front of the real binary: a foreign page's own form, scripts of a page, the hosted page without
//! JavaScript, five clicks, pages in windows-1251.

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

use common::clients::{Desk, have_browser, node, values};
use serde_json::{Value, json};

/// Plays one scenario of `chromium_post.mjs`; what it found.
fn play(desk: &Desk, scenario: &str) -> Value {
    let (values, file) = (desk.path().join("values.json"), desk.file());
    let words = [scenario, &desk.url(""), values.to_str().unwrap(), file.to_str().unwrap()];
    node("chromium_post.mjs", &words).remove(0)
}

/// The same, for scenarios that send everything: it arrived.
fn assert_all_arrives(scenario: &str) {
    let desk = Desk::new();
    if have_browser() {
        let found = play(&desk, scenario);
        desk.assert_arrived(found["receipt"].as_str().unwrap_or_else(|| panic!("no receipt: {found}")));
        desk.only_receipt();
    }
}

#[test]
fn a_form_of_a_foreign_page_with_a_chosen_file_arrives() {
    assert_all_arrives("native");
}

#[test]
fn a_fetch_of_form_data_arrives() {
    assert_all_arrives("fetch");
}

#[test]
fn an_xml_http_request_of_form_data_arrives() {
    assert_all_arrives("xhr");
}

#[test]
fn the_hosted_page_works_with_javascript_switched_off() {
    assert_all_arrives("hosted");
}

#[test]
fn five_clicks_on_a_plain_page_are_one_receipt() {
    let desk = Desk::new();
    if have_browser() {
        let found = play(&desk, "clicks");
        assert_eq!(found["receipt"], desk.only_receipt().as_str(), "{found}");
    }
}

#[test]
fn a_page_in_windows_1251_arrives_as_written_when_the_charset_is_known_and_is_refused_when_not() {
    let desk = Desk::new();
    if !have_browser() {
        return;
    }
    let file = desk.file();
    for found in node("chromium_1251.mjs", &[&desk.url(""), file.to_str().unwrap()]) {
        let name = found["name"].as_str().unwrap();
        if name.ends_with("names nothing") {
            // Guessing would store other words than were written.
            assert!([400, 422].contains(&found["status"].as_i64().unwrap()), "{found}");
            assert_eq!(found["receipt"], Value::Null, "{found}");
            continue;
        }
        let shown = desk.show(found["receipt"].as_str().unwrap_or_else(|| panic!("no receipt: {found}")));
        let all = values(&shown);
        let value = |name: &str| all.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone());
        assert_eq!(value("name"), Some(json!("Анна Ёлкина")), "{name}");
        assert_eq!(value("message"), Some(json!("Съешь ещё — №5 «да»\nвторая строка")), "{name}");
        assert_eq!(value("город"), Some(json!("Київ")), "{name}");
        if name.contains("multipart") {
            desk.assert_file_arrived(&shown);
        }
    }
}
