//! Front-ends of other services change only the address they post to: the official library of Formspree, the snippets
//! that other services document. They believe a success to be one, and show an error.

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

use std::fmt::Write as _;

use common::clients::{Desk, have_browser, have_node, node};

/// One form a service: its preset and the address it is known under.
const FORMS: &[(&str, &str)] = &[
    ("formspree", ""),
    ("web3forms", "/submit"),
    ("formsubmit", "/ajax/hello@acme.example"),
    ("formcarry", "/s/Abc123"),
    ("basin", ""),
    ("netlify", "/contact"),
];

/// A site with a form for each service.
fn site() -> String {
    FORMS.iter().fold("rate = []\n".to_owned(), |mut all, (preset, path)| {
        let paths = if path.is_empty() { String::new() } else { format!("paths = [\"{path}\"]\n") };
        write!(
            all,
            "[form.{preset}]\nresponse = \"{preset}\"\ndestinations = []\n{paths}field = [\n\
             {{ name = \"name\", label = \"Name\", kind = \"text\", required = true }},\n\
             {{ name = \"email\", label = \"E-mail\", kind = \"email\", required = true }},\n\
             {{ name = \"message\", label = \"Message\", kind = \"textarea\" }} ]\n"
        )
        .unwrap();
        all
    })
}

#[test]
fn front_ends_of_other_services_recognise_success_and_error() {
    if !have_node() {
        return;
    }
    let desk = Desk::with("", &site());
    let found = node("presets.mjs", &[&desk.url("")]);
    assert_eq!(found.len(), 16);
    for end in &found {
        assert_eq!(end["ok"], end["kind"] == "good", "{end}");
        let words = end["errors"].as_array().map_or(0, Vec::len);
        assert_eq!(words > 0, end["kind"] == "bad", "{end}");
    }
    assert_eq!(desk.receipts().len(), 8);
}

#[test]
fn the_library_of_formspree_knows_what_is_wrong_with_which_field() {
    if !have_node() {
        return;
    }
    let desk = Desk::with("", &site());
    let found = node("presets.mjs", &[&desk.url("")]);
    let bad = found.iter().find(|end| end["name"] == "formspree, form data" && end["kind"] == "bad").unwrap();
    let codes: Vec<(&str, &str)> = bad["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| (e[0].as_str().unwrap(), e[1][0]["code"].as_str().unwrap()))
        .collect();
    // Whether an empty field was missing is no difference to formd.
    assert!(codes[0].0 == "name" && codes[0].1.starts_with("REQUIRED_FIELD_"), "{codes:?}");
    assert_eq!(codes[1..], [("email", "TYPE_EMAIL")]);
}

#[test]
fn the_library_of_formspree_works_in_a_browser_from_another_origin() {
    if !have_browser() {
        return;
    }
    let desk = Desk::with("", &site());
    let found = node("chromium_formspree.mjs", &[&desk.url("")]);
    assert_eq!(found[0]["kind"], "success", "{found:?}");
    assert_eq!(found[1]["kind"], "error", "{found:?}");
    desk.only_receipt();
}
