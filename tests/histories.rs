//! Erased means gone, after any history: posts, deliveries that fail, what is sent again, erased, expired and swept, restarts,
//! and `kill -9` of the daemon and of formctl in the middle of an erasure. The seed of a history is printed.
//!
//! The short set is 20 histories; `FORMD_HISTORIES=200 cargo test --test histories` runs as many as wanted.

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
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use common::client::{Multipart, pdf};
use common::process::{Process, write_config};
use common::{encodings, files_below};

/// Numbers that look random and are the same every time (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) >> 33).unwrap() % end
    }
}

/// One submission and what would betray it.
struct Sent {
    receipt: String,
    marker: String,
}

struct History {
    dice: Dice,
    config: PathBuf,
    formd: Process,
    kept: Vec<Sent>,
    erased: Vec<Sent>,
    kills: usize,
}

impl History {
    fn start(folder: &Path, seed: u64) -> Self {
        let config = write_config(folder, "");
        let formd = Process::start(&config);
        Self { dice: Dice(seed), config, formd, kept: Vec::new(), erased: Vec::new(), kills: 0 }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_formctl"));
        command.arg("--config").arg(&self.config).args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn formctl(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn post(&mut self, number: usize) {
        let marker = format!("zanzibar{number:03}quagga{:05}", self.dice.below(100_000));
        let times = [1, 3, 40, 300, 2800][self.dice.below(5)];
        let mut form = Multipart::default().field("name", &marker).field("email", &format!("{marker}@example.com"));
        form = form.field("message", &marker.repeat(times));
        if self.dice.below(3) == 0 {
            form = form.pdf(&format!("{marker}.pdf"), &pdf(&marker, 3000));
        }
        let receipt = form.post("/f/acme/quote.json").send(self.formd.address).receipt();
        self.kept.push(Sent { receipt, marker });
    }

    /// Erases some; formctl or the daemon may be killed meanwhile, and then it is asked again.
    fn erase(&mut self) {
        if self.kept.is_empty() {
            return;
        }
        let lot = (0..=self.dice.below(4)).filter_map(|_| {
            let place = self.dice.below(self.kept.len().max(1));
            (place < self.kept.len()).then(|| self.kept.remove(place))
        });
        let lot: Vec<Sent> = lot.collect();
        let mut args = vec!["erase", "--yes"];
        args.extend(lot.iter().map(|sent| sent.receipt.as_str()));
        if self.dice.below(8) == 0 {
            args.push("--vacuum");
        }
        let victim = self.dice.below(3);
        if victim < 2 {
            let mut erasing = self.command(&args).spawn().unwrap();
            std::thread::sleep(Duration::from_micros(u64::try_from(self.dice.below(60_000)).unwrap()));
            self.kills += 1;
            if victim == 0 {
                erasing.kill().unwrap();
            } else {
                self.formd.kill();
                self.formd = Process::start(&self.config);
            }
            drop(erasing.wait_with_output());
        }
        let done = self.formctl(&args);
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        self.erased.extend(lot);
    }

    fn resend(&mut self) {
        let Some(sent) = self.kept.first() else { return };
        // It may be refused, where nothing is to be sent again.
        drop(self.formctl(&["resend", &sent.receipt]));
    }

    fn restart(&mut self) {
        if self.dice.below(2) == 0 {
            self.formd.kill();
            self.kills += 1;
        } else {
            assert_eq!(self.formd.stop(), Some(0));
        }
        self.formd = Process::start(&self.config);
    }

    /// Its time is over for one of them.
    fn expire(&mut self) {
        if self.kept.is_empty() {
            return;
        }
        let sent = self.kept.remove(self.dice.below(self.kept.len()));
        let database = rusqlite::Connection::open(self.config.with_file_name("data").join("formd.db")).unwrap();
        database.busy_timeout(Duration::from_secs(5)).unwrap();
        // What `list` shows of it is its place among all.
        let due = "UPDATE receipts SET erase_at = 1 WHERE key_hash IS NULL AND id = (SELECT id FROM receipts ORDER BY id LIMIT 1 OFFSET ?1)";
        let place = self.place(&sent.receipt);
        assert_eq!(database.execute(due, [place]).unwrap(), 1);
        drop(database);
        let swept = self.formctl(&["sweep"]);
        assert!(swept.status.success(), "{swept:?}");
        self.erased.push(sent);
    }

    /// How many receipts are older.
    fn place(&self, receipt: &str) -> i64 {
        let list = self.formctl(&["list", "--all", "--json"]).stdout;
        let list = String::from_utf8(list).unwrap();
        let ids: Vec<String> = list
            .lines()
            .map(|line| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()["receipt"].as_str().unwrap().to_owned()
            })
            .collect();
        i64::try_from(ids.iter().rev().position(|id| id == receipt).unwrap()).unwrap()
    }

    /// No erased one has left a trace, and every kept one is there.
    fn judge(&self) {
        let data = self.config.with_file_name("data");
        let swept = self.formctl(&["sweep"]);
        assert!(swept.status.success(), "{swept:?}");
        for name in files_below(&data) {
            let Ok(bytes) = fs::read(data.join(&name)) else { continue };
            for sent in &self.erased {
                let found = encodings(&sent.marker).iter().any(|needle| contains(&bytes, needle));
                assert!(!found && !name.contains(&sent.marker), "{} in {name}", sent.marker);
            }
        }
        for sent in &self.kept {
            let shown = self.formctl(&["show", &sent.receipt, "--json"]).stdout;
            assert!(String::from_utf8(shown).unwrap().contains(&sent.marker), "{} is kept", sent.marker);
        }
    }
}

/// Whether bytes hold a needle; the search goes by its first byte, which makes it quick enough without optimisation.
fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| *byte == needle[0]) {
        if bytes[from + at..].starts_with(needle) {
            return true;
        }
        from += at + 1;
    }
    false
}

#[test]
fn after_any_history_nothing_erased_is_left_in_any_file_and_nothing_kept_is_lost() {
    let histories = std::env::var("FORMD_HISTORIES").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    let mut kills = 0;
    for seed in 0..histories {
        println!("history {seed}");
        let folder = tempfile::tempdir().unwrap();
        let mut history = History::start(folder.path(), seed);
        for number in 0..14 {
            match history.dice.below(8) {
                0..4 => history.post(number),
                4 | 5 => history.erase(),
                6 => history.expire(),
                _ => {
                    history.resend();
                    history.restart();
                }
            }
        }
        history.erase();
        history.judge();
        kills += history.kills;
    }
    println!("{histories} histories, {kills} kills");
}
