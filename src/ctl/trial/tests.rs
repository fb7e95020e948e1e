//! The words of `formctl test` that need no submission.

use crate::ctl::testing::{ctl, files};

/// `formctl test` with these arguments where two sites have forms.
fn tested(args: &[&str]) -> String {
    let (folder, file) = files("[form.quote]\n[form.closed]\naccept = false\n[form.jobs]\n");
    std::fs::write(folder.path().join("sites/other.toml"), "[form.jobs]\n").unwrap();
    std::fs::write(folder.path().join("sites/shut.toml"), "enabled = false\n[form.shut]\n").unwrap();
    ctl(&[&["--config", &file, "test"], args].concat())
}

#[test]
fn a_form_that_does_not_exist_is_answered_with_those_that_do() {
    let all = "`acme/closed`, `acme/jobs`, `acme/quote`, `other/jobs`, `shut/shut`";
    for (name, said) in [
        ("acme/qoute", "there is no form `acme/qoute`"),
        ("acme", "there is no form `acme`"),
        ("jobs", "more than one site has a form `jobs`"),
    ] {
        assert_eq!(tested(&[name]), format!("exit 3\n--- stderr\nformctl: {said}\n  hint: there is {all}\n"));
    }
}

#[test]
fn a_closed_form_is_refused_in_words() {
    for (name, said) in [
        ("acme/closed", "form `acme/closed` is closed: `accept = false`"),
        ("closed", "form `acme/closed` is closed: `accept = false`"),
        ("shut/shut", "site `shut` is closed: `enabled = false`"),
    ] {
        let ended = tested(&[name]);
        assert!(ended.starts_with(&format!("exit 1\n--- stderr\nformctl: {said}")), "{ended}");
    }
}

#[test]
fn without_a_data_directory_it_says_what_to_do() {
    let ended = tested(&["quote"]);
    assert!(ended.starts_with("exit 1\n") && ended.contains("start `formd` once"), "{ended}");
}
