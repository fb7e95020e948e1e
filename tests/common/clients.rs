//! Real clients in front of the real binary: one form with a field of every kind, what every client sends to it, and
//! the judgement whether the same arrived.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::client::pdf;
use super::process::Process;

/// What every client sends: a Cyrillic name, an emoji text, a value that would break careless quoting, every kind.
pub const VALUES: &[(&str, &str)] = &[
    ("name", "Анна Ёлкина"),
    ("email", "anna@example.com"),
    ("message", "Привет 👋🏽 👩‍👩‍👧 🎉 \"100%\" + <b>&amp;</b>; a=b&c\nвторая строка"),
    ("phone", "+7 (900) 123-45-67"),
    ("site", "https://example.org/?a=1&b=%D0%B6#x"),
    ("amount", "12.50"),
    ("day", "2026-12-24"),
    ("colour", "зелёный"),
    ("size", "L"),
    ("agree", "on"),
    ("extras", "чай"),
    ("extras", "coffee & cake"),
    ("source", "лендинг"),
    ("город \"№ 1\"", "Київ"),
];

/// The name of the file that every client sends.
pub const FILE_NAME: &str = "отчёт \"б\" 100%.pdf";

/// The form of [`VALUES`].
pub const FORM: &str = r#"
rate = []
[[destination]]
id = "sales"
email = "sales@acme.example"
[form.all]
title = "All kinds"
field = [
  { name = "name", label = "Name", kind = "text", required = true },
  { name = "email", label = "E-mail", kind = "email", required = true },
  { name = "message", label = "Message", kind = "textarea" },
  { name = "phone", label = "Phone", kind = "tel" },
  { name = "site", label = "Site", kind = "url" },
  { name = "amount", label = "Amount", kind = "number" },
  { name = "day", label = "Day", kind = "date" },
  { name = "colour", label = "Colour", kind = "select", options = ["красный", "зелёный"] },
  { name = "size", label = "Size", kind = "radio", options = ["M", "L"] },
  { name = "agree", label = "Agree", kind = "checkbox" },
  { name = "extras", label = "Extras", kind = "checkboxes", options = ["чай", "coffee & cake", "none"] },
  { name = "source", label = "Source", kind = "hidden" },
  { name = "город \"№ 1\"", label = "Город", kind = "text" },
  { name = "file", label = "File", kind = "file", types = [".pdf"] },
]
[form.plain]
title = "Plain"
field = [
  { name = "name", label = "Name", kind = "text", required = true },
  { name = "email", label = "E-mail", kind = "email", required = true },
  { name = "message", label = "Message", kind = "textarea" },
  { name = "город", label = "Город", kind = "text" },
  { name = "file", label = "File", kind = "file", types = [".pdf"] },
]
"#;

/// A running formd with [`FORM`], and what a client reads: the values and the file.
#[derive(Debug)]
pub struct Desk {
    folder: tempfile::TempDir,
    pub formd: Process,
}

impl Desk {
    /// Starts the real binary with the form of every kind.
    pub fn new() -> Self {
        Self::with("", FORM)
    }

    /// The same with more lines in `formd.toml` and another site file.
    pub fn with(daemon: &str, site: &str) -> Self {
        Self::with_sites(daemon, &[("acme", site)])
    }

    /// The same with several sites.
    pub fn with_sites(daemon: &str, sites: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = super::process::write_config(folder.path(), daemon);
        for (id, site) in sites {
            super::write_private(&folder.path().join(format!("sites/{id}.toml")), site);
        }
        fs::write(folder.path().join(FILE_NAME), pdf("report", 30_000)).unwrap();
        let pairs: Vec<Value> = VALUES.iter().map(|(name, value)| json!([name, value])).collect();
        fs::write(folder.path().join("values.json"), json!(pairs).to_string()).unwrap();
        let formd = Process::start(&config);
        Self { folder, formd }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn config(&self) -> PathBuf {
        self.path().join("formd.toml")
    }

    pub fn file(&self) -> PathBuf {
        self.path().join(FILE_NAME)
    }

    /// The address of something on this daemon.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.formd.address)
    }

    /// Ends formd, by a signal that it may or may not hear, and starts it again at the same address.
    pub fn restart(&mut self, kindly: bool) {
        let config = fs::read_to_string(self.config()).unwrap();
        let fixed = config.replace("127.0.0.1:0", &self.formd.address.to_string());
        super::write_private(&self.config(), &fixed);
        if kindly {
            assert_eq!(self.formd.stop(), Some(0));
        } else {
            self.formd.kill();
        }
        self.formd = Process::start(&self.config());
    }

    /// Kept attachments and parts on disk.
    pub fn files(&self) -> Vec<String> {
        let data = self.path().join("data");
        [super::files_below(&data.join("attachments")), super::files_below(&data.join("tmp"))].concat()
    }

    /// Runs a client with the address of the form, the values and the file; its answer's receipt.
    pub fn receipt_of(&self, program: &str, args: &[&str]) -> String {
        let (url, values) = (self.url("/f/acme/all.json"), self.path().join("values.json"));
        let file = self.file();
        let all = [args, &[&url, values.to_str().unwrap(), file.to_str().unwrap()]].concat();
        receipt(&said(&run(program, &all)))
    }

    /// What `formctl show --json` knows of a receipt.
    pub fn show(&self, receipt: &str) -> Value {
        serde_json::from_str(&self.formctl(&["show", receipt, "--json"])).unwrap()
    }

    /// The receipts that exist.
    pub fn receipts(&self) -> Vec<String> {
        let list = self.formctl(&["list", "--json"]);
        list.lines()
            .map(|l| serde_json::from_str::<Value>(l).unwrap()["receipt"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The only receipt that exists.
    pub fn only_receipt(&self) -> String {
        let all = self.receipts();
        assert_eq!(all.len(), 1, "{all:?}");
        all.into_iter().next().unwrap()
    }

    fn formctl(&self, args: &[&str]) -> String {
        let config = self.config();
        let all = [&["--config", config.to_str().unwrap()], args].concat();
        said(&run(env!("CARGO_BIN_EXE_formctl"), &all))
    }

    /// All that was sent arrived as it was meant: each value under its name, the file's name and bytes.
    pub fn assert_arrived(&self, receipt: &str) {
        let shown = self.show(receipt);
        assert_eq!(values(&shown), expected_values());
        self.assert_file_arrived(&shown);
    }

    /// The file's field, name, size and hash are those of the file that was sent.
    pub fn assert_file_arrived(&self, shown: &Value) {
        let files = shown["attachments"].as_array().unwrap();
        assert_eq!(files.len(), 1, "{files:?}");
        assert_eq!(files[0]["name"], FILE_NAME);
        assert_eq!(files[0]["field"], "file");
        assert_eq!(files[0]["sha256"], sha256(&self.file()));
    }
}

/// The values of a shown receipt as `name=value`, lists by name joined.
pub fn values(shown: &Value) -> Vec<(String, Value)> {
    let all = shown["values"].as_array().unwrap();
    all.iter().map(|v| (v["name"].as_str().unwrap().to_owned(), v["value"].clone())).collect()
}

/// [`VALUES`] as `show --json` prints them.
fn expected_values() -> Vec<(String, Value)> {
    let mut all: Vec<(String, Value)> = Vec::new();
    for (name, value) in VALUES {
        match *name {
            "agree" => all.push(((*name).to_owned(), json!(true))),
            "extras" if all.last().is_some_and(|(last, _)| last == name) => {
                all.last_mut().unwrap().1.as_array_mut().unwrap().push(json!(value));
            }
            "extras" => all.push(((*name).to_owned(), json!([value]))),
            _ => all.push(((*name).to_owned(), json!(value))),
        }
    }
    all
}

/// The receipt in an answer that must be a success.
pub fn receipt(answer: &str) -> String {
    let body: Value = serde_json::from_str(answer).unwrap_or_else(|e| panic!("no JSON ({e}): {answer}"));
    body["receipt"].as_str().unwrap_or_else(|| panic!("no receipt: {answer}")).to_owned()
}

/// SHA-256 of a file by coreutils: a judge that shares no code with formd.
pub fn sha256(file: &Path) -> String {
    // From standard input: a name with quotes would be escaped in the output.
    let input = fs::File::open(file).unwrap();
    let out = Command::new("sha256sum").stdin(input).output().unwrap();
    String::from_utf8(out.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

/// Runs a program that is ended, with everything it started, after two minutes.
pub fn run(program: &str, args: &[&str]) -> Output {
    Command::new("timeout").args(["-k", "5", "120", program]).args(args).output().expect("timeout of coreutils")
}

/// What a program that must succeed printed.
pub fn said(out: &Output) -> String {
    let stdout = String::from_utf8_lossy(&out.stdout).trim().to_owned();
    assert!(out.status.success(), "{}: {stdout}\n{}", out.status, String::from_utf8_lossy(&out.stderr));
    stdout
}

/// A script beside the tests.
pub fn script(name: &str) -> String {
    format!("{}/tests/clients/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// True when a program and what it must be able to do are there; else says what to install.
pub fn have(package: &str, program: &str, args: &[&str]) -> bool {
    let there = Command::new(program).args(args).output().is_ok_and(|out| out.status.success());
    if !there {
        super::skip(&format!("{package} is missing"));
    }
    there
}

/// Runs a script under Node with what npm installed and Chromium; its lines of JSON by their `name`.
pub fn node(name: &str, args: &[&str]) -> Vec<Value> {
    let path = script(name);
    let out = said(&run("node", &[&[path.as_str()], args].concat()));
    out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

/// True when Node, the npm packages and Chromium are there.
pub fn have_browser() -> bool {
    have("chromium", "/usr/bin/chromium", &["--version"]) && have_node()
}

/// True when Node and the npm packages are there.
pub fn have_node() -> bool {
    let installed = script("node_modules/puppeteer-core/package.json");
    have("nodejs", "node", &["--version"]) && have("the npm packages of tests/clients", "test", &["-f", &installed])
}
