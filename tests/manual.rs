//! The manual of formctl is made of its own help, so that the two cannot drift. `FORMD_BLESS=1` writes it anew.

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

use std::fs;
use std::path::Path;

use formd::harness::{self, Clock};

/// What stands above the help of the commands.
const OPENING: &str = "\
# formctl

How an owner works with formd: at a terminal, from cron, from a program. It works while the daemon runs and while it
does not. A receipt may be given by its first characters while they are unique; every time is UTC.

Standard output is data: a table on a terminal, tab-separated elsewhere, one JSON object a line with `--json`, whose
names are only ever added to. Standard error is talk. All text from visitors is shown with control characters and
escape sequences made visible.

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | failed or refused |
| 2 | usage |
| 3 | not found, or an ambiguous prefix (with the candidates) |
| 4 | in progress or pending |

`status` follows the monitoring plugins instead: 0 ok, 1 warning, 2 critical, 3 unknown.

Run by root, formctl opens what root names and then becomes the owner of the data directory.
";

fn help(args: &[&str]) -> String {
    let (code, stdout, stderr) = harness::ctl(&[&["formctl"], args, &["--help"]].concat(), &Clock::system());
    assert_eq!(code, 0, "{stderr}");
    stdout
}

/// The commands in the order of `formctl --help`.
fn commands() -> Vec<String> {
    let help = help(&[]);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| line.starts_with("  "));
    let words = listed.filter_map(|line| line.split_whitespace().next());
    words.filter(|word| word.bytes().all(|b| b.is_ascii_lowercase()) && *word != "help").map(str::to_owned).collect()
}

#[test]
fn the_manual_is_what_the_commands_say_of_themselves() {
    let commands = commands();
    assert!(commands.len() >= 10, "{commands:?}");
    let sections = commands.iter().map(|name| format!("\n## {name}\n\n```text\n{}```\n", help(&[name])));
    let made = OPENING.to_owned() + &sections.collect::<String>();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/formctl.md");
    if std::env::var_os("FORMD_BLESS").is_some() {
        fs::write(&file, &made).unwrap();
    }
    assert_eq!(made, fs::read_to_string(&file).unwrap_or_default(), "run with FORMD_BLESS=1 and read the difference");
}
