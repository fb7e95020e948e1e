//! What another service had accepted becomes submissions of a form: once, however often it is imported.

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
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::client::{Multipart, pdf};
use common::process::{Process, write_config};
use common::{FIELDS, Ran, World, submission};
use formd::harness::Span;
use serde_json::{Value, json};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/imports").join(name)
}

fn import(world: &World, file: &Path, from: &str, more: &[&str]) -> Ran {
    let file = file.to_str().unwrap();
    world.ctl(&[&["import", file, "--from", from, "--form", "acme/quote"], more].concat())
}

/// The report as JSON, whatever the exit code.
fn told(world: &World, file: &Path, from: &str, more: &[&str]) -> Value {
    let ran = import(world, file, from, &[&["--json"], more].concat());
    serde_json::from_str(ran.stdout.trim()).unwrap_or_else(|_| panic!("{ran:?}"))
}

fn counts(told: &Value) -> [u64; 4] {
    ["read", "imported", "skipped", "refused"].map(|name| told[name].as_u64().unwrap())
}

/// A file with this text.
fn written(folder: &tempfile::TempDir, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join("export");
    fs::write(&path, text).unwrap();
    path
}

/// Every receipt of the world, as `show --json` has it, earliest first by its original time.
fn shown(world: &World) -> Vec<Value> {
    let listed = world.ctl(&["list", "--all", "--json"]).json();
    let mut all: Vec<Value> = listed.iter().map(|row| world.show(row["receipt"].as_str().unwrap())).collect();
    all.sort_by_key(|shown| shown["imported"]["at"].as_str().map(str::to_owned));
    all
}

fn value<'a>(shown: &'a Value, name: &str) -> &'a Value {
    let fields = shown["values"].as_array().unwrap();
    fields.iter().find(|field| field["name"] == name).map_or(&Value::Null, |field| &field["value"])
}

fn names(shown: &Value) -> Vec<&str> {
    shown["values"].as_array().unwrap().iter().map(|field| field["name"].as_str().unwrap()).collect()
}

#[test]
fn netlifys_csv_becomes_submissions_that_arrive_now_and_say_when_they_arrived_there() {
    let world = World::new();
    let report = told(&world, &sample("netlify.csv"), "netlify", &[]);
    assert_eq!(counts(&report), [3, 3, 0, 0], "{report}");
    assert_eq!((&report["older_than_retention"], &report["links_kept"]), (&json!(1), &json!(1)));
    assert_eq!(report["faults"], json!([{"field": "email", "code": "email", "count": 1}]));
    assert_eq!(report["left_out"], json!(["ip", "referrer", "user_agent"]));

    let all = shown(&world);
    assert_eq!(all[1]["imported"]["at"], "2026-11-20T09:15:27.000Z");
    assert_eq!(all[1]["imported"]["from"], "netlify");
    assert_eq!(all[1]["imported"]["id"], "6459f0a1c2d3e4f5a6b7c8d9");
    assert_eq!(all[1]["received_at"], "2026-11-30T12:00:00.000Z");
    assert_eq!(all[1]["erase_at"], "2026-12-30T12:00:00.000Z");
    assert_eq!(names(&all[1]), ["name", "email", "message", "file"]);
    assert_eq!(all[1]["values"][0]["label"], "Имя", "a declared field has its label");
    assert_eq!(value(&all[1], "message"), "Hello,\nI would like a \"quote\".\nThank you");
    assert_eq!(value(&all[0], "message"), "=HYPERLINK(\"https://evil.example\")", "kept as it was");
    assert_eq!(all[1]["deliveries"], json!([]));
    assert_eq!(world.deliver(), 0);
    assert!(world.mail.mails().is_empty());
    for address in ["203.0.113", "Mozilla"] {
        assert_eq!(world.traces(address), Vec::<String>::new(), "{address} is not kept");
    }
}

#[test]
fn a_report_for_a_person_names_counts_places_and_reasons_and_no_value() {
    let world = World::new();
    let planned = import(&world, &sample("netlify.json"), "netlify", &["--dry-run"]);
    assert_eq!(planned.code, 1);
    insta::assert_snapshot!("import_planned", planned.stdout);
    world.assert_nothing_kept();
    let done = import(&world, &sample("netlify.json"), "netlify", &[]);
    insta::assert_snapshot!("import_done", done.stdout);
    for text in [&planned.stdout, &done.stdout] {
        assert!(!text.contains("hostile") && !text.contains("example.org"), "{text}");
    }
}

#[test]
fn the_answer_of_netlifys_api_keeps_lists_links_and_hostile_values_and_one_form_of_several() {
    let world = World::new();
    let report = told(&world, &sample("netlify.json"), "netlify", &[]);
    assert_eq!(counts(&report), [3, 2, 0, 1], "{report}");
    assert_eq!(report["refusals"][0]["place"], "submission 3");
    assert!(report["refusals"][0]["why"].as_str().unwrap().contains("`jobs`"), "{report}");
    let all = shown(&world);
    assert_eq!(value(&all[0], "message"), "\u{1b}[2Jhostile\u{0}value");
    assert_eq!(value(&all[1], "topics"), &json!(["Roof", "Wall"]));
    assert_eq!(value(&all[1], "file"), "https://d33wubrfki0l68.cloudfront.net/5f85/plan.pdf");
    assert_eq!(value(&all[1], "message"), "First line\nsecond line");
    let text = world.ctl(&["show", all[0]["receipt"].as_str().unwrap()]).ok();
    assert!(!text.contains('\u{1b}') && text.contains("from netlify, arrived there 2026-11-19 08:00:00 UTC"), "{text}");
}

#[test]
fn formsprees_exports_are_taken_with_the_visitors_address_as_email() {
    let world = World::new();
    let report = told(&world, &sample("formspree.csv"), "formspree", &[]);
    assert_eq!(counts(&report), [2, 2, 0, 0], "{report}");
    let all = shown(&world);
    assert_eq!(value(&all[0], "email"), "ann@example.org");
    assert_eq!(all[0]["imported"], json!({"from": "formspree", "id": null, "at": "2026-11-03T07:28:29.707Z"}));
    assert_eq!(names(&all[1]), ["name", "email", "message"]);

    let world = World::new();
    let report = told(&world, &sample("formspree.json"), "formspree", &[]);
    assert_eq!((counts(&report), &report["spam"]), ([2, 2, 0, 0], &json!(1)), "{report}");
    assert_eq!(world.ctl(&["list", "--spam", "--json"]).json().len(), 1);
    assert_eq!(shown(&world)[1]["imported"]["id"], "2");
}

#[test]
fn what_todays_form_would_say_is_said_of_the_values_as_they_are_kept() {
    let forms = "[form.quote]\n[[form.quote.field]]\nname = \"topics\"\nkind = \"checkboxes\"\noptions = [\"Roof\", \"Wall\"]\n\
                 [[form.quote.field]]\nname = \"agree\"\nkind = \"checkbox\"\n";
    let world = World::with("", forms);
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, "agree,topics,note\non,\"Roof, Wall\",x\n,Door,x\n");
    let report = told(&world, &file, "netlify", &[]);
    assert_eq!(report["faults"], json!([{"field": "topics", "code": "option", "count": 1}]));
    let all = shown(&world);
    let kept = all.iter().find(|shown| value(shown, "agree") == &json!(true)).unwrap();
    assert_eq!((value(kept, "topics"), names(kept)), (&json!(["Roof", "Wall"]), vec!["topics", "agree", "note"]));
}

#[test]
fn a_table_that_went_through_a_spreadsheet_is_read_by_its_own_separator_and_encoding() {
    let world = World::new();
    let ran = import(&world, &sample("excel.csv"), "formspree", &[]);
    assert!(ran.stdout.contains("windows-1252") && ran.stdout.contains("1 without a time"), "{ran:?}");
    let report = told(&world, &sample("mark.csv"), "formspree", &[]);
    assert_eq!((counts(&report), &report["encoding"]), ([1, 1, 0, 0], &json!("utf-8")));
    let all = shown(&world);
    assert_eq!(value(&all[0], "name"), "Müller; Jörg");
    assert_eq!(value(&all[0], "message"), "5 €, „gut“");
    assert_eq!(value(&all[1], "name"), "Müller");
}

#[test]
fn the_same_file_again_adds_nothing_and_a_dry_run_says_so_before() {
    for (file, from) in [
        ("netlify.csv", "netlify"),
        ("netlify.json", "netlify"),
        ("formspree.csv", "formspree"),
        ("formspree.json", "formspree"),
        ("excel.csv", "formspree"),
    ] {
        let world = World::new();
        let planned = told(&world, &sample(file), from, &["--dry-run"]);
        assert_eq!(world.count("SELECT count(*) FROM receipts"), 0);
        let done = told(&world, &sample(file), from, &[]);
        let but_mode = |mut report: Value| {
            report["dry_run"] = json!(null);
            report
        };
        assert_eq!(but_mode(planned), but_mode(done.clone()), "{file}");
        let [read, imported, _, refused] = counts(&done);
        for more in [&["--dry-run"][..], &[]] {
            assert_eq!(counts(&told(&world, &sample(file), from, more)), [read, 0, imported, refused], "{file}");
        }
        assert_eq!(world.count("SELECT count(*) FROM contents"), i64::try_from(imported).unwrap());
    }
}

#[test]
fn what_was_erased_or_expired_is_not_brought_back_by_importing_it_again() {
    let world = World::new();
    let _ = import(&world, &sample("netlify.csv"), "netlify", &[]).ok();
    let _ = world.ctl(&["erase", "--where", "email=ann@example.org", "--yes"]).ok();
    assert_eq!(world.traces("would like a"), Vec::<String>::new());
    assert_eq!(world.traces("6459f0a1c2d3e4f5a6b7c8d9"), Vec::<String>::new(), "its origin goes with it");
    world.pass(Span::from_days(30));
    let swept = world.ctl(&["sweep", "--json"]).json().remove(0);
    assert_eq!(swept["expired"], 2, "imports expire as others");
    assert_eq!(counts(&told(&world, &sample("netlify.csv"), "netlify", &[])), [3, 0, 3, 0]);
    assert_eq!(world.count("SELECT count(*) FROM contents"), 0);
}

#[test]
fn another_content_under_an_id_that_was_imported_is_refused_and_nothing_is_overwritten() {
    let world = World::new();
    let folder = tempfile::tempdir().unwrap();
    let first = written(&folder, "id,name,created_at\n7,Ann,2026-11-01\n");
    assert_eq!(counts(&told(&world, &first, "netlify", &[])), [1, 1, 0, 0]);
    let other = written(
        &folder,
        "id,name,created_at\n7,Another name,2026-11-01\n8,Bob,2026-11-01\n8,Bob,2026-11-01\n8,Ben,2026-11-01\n",
    );
    for more in [&["--dry-run"][..], &[]] {
        assert_eq!(counts(&told(&world, &other, "netlify", more)), [4, 1, 1, 2]);
    }
    assert_eq!(world.traces("Another name"), Vec::<String>::new());
}

#[test]
fn broken_rows_are_told_with_their_line_and_the_rest_goes_on() {
    let world = World::new();
    let folder = tempfile::tempdir().unwrap();
    let mut text = "name,email,message\n".to_owned();
    text += "Ann,ann@example.org,\"one\ntwo\"\n"; // lines 2 and 3
    text += "only one\n";
    for size in [64 * 1024 + 1, 64 * 1024] {
        text += &["Ann,ann@example.org,", &"x".repeat(size), "\n"].concat();
    }
    text += "a,b,c,d\n,,\n \n"; // a spreadsheet's blank rows are none
    text += "Open,open@example.org,\"never closed\nBob,bob@example.org,lost\n";
    let report = told(&world, &written(&folder, &text), "netlify", &[]);
    assert_eq!(counts(&report), [6, 2, 0, 4], "{report}");
    let places: Vec<&str> =
        report["refusals"].as_array().unwrap().iter().map(|r| r["place"].as_str().unwrap()).collect();
    assert_eq!(places, ["line 4", "line 5", "line 7", "line 10"]);

    let many: Vec<String> = (0..201).map(|n| format!("f{n}")).collect();
    let wide = format!("{}\n{}\n", many.join(","), vec!["x"; 201].join(","));
    let report = told(&world, &written(&folder, wide), "netlify", &[]);
    assert_eq!(report["refusals"][0]["why"], "it has more than 200 fields");
}

#[test]
fn a_list_that_breaks_off_gives_what_came_before_and_says_where() {
    let world = World::new();
    let folder = tempfile::tempdir().unwrap();
    let broken = written(&folder, "[{\"id\":\"1\",\"data\":{\"name\":\"Ann\"}},\n{\"id\":\"2\",\"data\":{\"na");
    let ran = import(&world, &broken, "netlify", &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("1 submission read, 1 imported") && ran.stderr.contains("line 2"), "{ran:?}");
    let whole =
        written(&folder, "[{\"id\":\"1\",\"data\":{\"name\":\"Ann\"}},{\"id\":\"2\",\"data\":{\"name\":\"Bob\"}}]");
    assert_eq!(counts(&told(&world, &whole, "netlify", &[])), [2, 1, 1, 0]);
}

#[test]
fn what_is_no_export_at_all_is_refused_in_words() {
    let world = World::new();
    let folder = tempfile::tempdir().unwrap();
    for (bytes, from, word) in [
        (&b"PK\x03\x04 a workbook"[..], "netlify", "archive"),
        (b"\xff\xfen\0a\0m\0e\0", "formspree", "UTF-16"),
        (b" \n ", "netlify", "empty"),
        (b"<!doctype html><title>Log in</title>\n", "netlify", "web page"),
        (b"[\"\xff\"]", "netlify", "UTF-8"),
        (b"name,email\nAnn,x\n", "formd", "jsonl"),
    ] {
        let ran = import(&world, &written(&folder, bytes), from, &[]);
        assert_eq!((ran.code, ran.stderr.contains(word)), (1, true), "{ran:?}");
    }
    let missing = import(&world, Path::new("/nowhere/export.csv"), "netlify", &[]);
    assert_eq!((missing.code, missing.stderr.contains("/nowhere/export.csv")), (1, true), "{missing:?}");
    let pipe = import(&world, Path::new("/dev/null"), "netlify", &[]);
    assert!(pipe.stderr.contains("regular file"), "{pipe:?}");
    let file = sample("netlify.csv");
    let form = world.ctl(&["import", file.to_str().unwrap(), "--from", "netlify", "--form", "acme/quotes"]);
    assert_eq!((form.code, form.stderr.contains("acme/quote`")), (3, true), "{form:?}");
    world.assert_nothing_kept();
}

#[test]
fn our_own_export_comes_back_equal_in_another_form_and_adds_nothing_in_its_own() {
    let twin = format!(
        "[form.quote]\ntitle = \"Quote\"\n{FIELDS}\n[form.copy]\n{}",
        FIELDS.replace("form.quote", "form.copy")
    );
    let world = World::with("", &twin);
    let _ = world.post(&submission().pdf("план.pdf", &pdf("round", 900)), None).receipt();
    let several =
        Multipart::default().field("name", "=1+1").field("email", "b@example.org").field("x", "1").field("x", "2");
    let _ = world.post(&several, None).receipt();
    let _ = import(&world, &sample("formspree.json"), "formspree", &[]).ok();
    let before = shown(&world);
    let export = before.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, export);

    assert_eq!(counts(&told(&world, &file, "formd", &[])), [4, 0, 4, 0], "they are here");
    let copy = ["import", file.to_str().unwrap(), "--from", "formd", "--form", "acme/copy", "--json"];
    let report = world.ctl(&copy).json().remove(0);
    assert_eq!((counts(&report), &report["files_missing"]), ([4, 4, 0, 0], &json!(1)), "{report}");
    let copies: Vec<Value> = shown(&world).into_iter().filter(|shown| shown["form"] == "copy").collect();
    for original in &before {
        let at = if original["imported"].is_null() { &original["received_at"] } else { &original["imported"]["at"] };
        let copy = copies.iter().find(|copy| copy["values"] == original["values"]).expect("equal values");
        assert_eq!((&copy["imported"]["at"], &copy["spam"]), (at, &original["spam"]));
    }
    assert_eq!(counts(&world.ctl(&copy).json()[0]), [4, 0, 4, 0]);

    let lines = "no json\n{\"receipt\":\"0000000000000\"}\n[]\n";
    let report = told(&world, &written(&folder, format!("{{}}\n{lines}")), "formd", &[]);
    assert_eq!(counts(&report), [4, 0, 0, 4], "{report}");
}

/// What `formctl export` writes of a form, as a file.
fn exported(world: &World, folder: &tempfile::TempDir, form: &str) -> PathBuf {
    let lines = world.ctl(&["export", "--format", "jsonl", "--site", "acme", "--form", form]);
    assert_eq!(lines.code, 0, "{lines:?}");
    written(folder, lines.stdout)
}

#[test]
fn what_export_writes_import_skips_where_it_is_and_takes_over_value_by_value_elsewhere() {
    let fields = "[[form.quote.field]]\nname = \"name\"\nkind = \"textarea\"\n\
                  [[form.quote.field]]\nname = \"agree\"\nkind = \"checkbox\"\n\
                  [[form.quote.field]]\nname = \"topics\"\nkind = \"checkboxes\"\noptions = [\"Roof\", \"Wall, wood\"]\n\
                  [[form.quote.field]]\nname = \"file\"\nkind = \"file\"\n";
    let forms = format!("[form.quote]\nconsent = \"agree\"\n{fields}\n[form.open]\naccept_files = true\n");
    let (world, elsewhere) = (World::with("", &forms), World::with("", &forms));
    let hostile = "=1+1 \u{202e}\u{200b}\u{feff} \"q\"; \\ \u{2028} \r\n\u{1f600} \u{e0041}";
    let post = |form: &str, body: Multipart| {
        world.pass(Span::from_secs(1));
        world.send(&body.post(&format!("/f/acme/{form}")).header("Accept", "application/json")).receipt()
    };
    let none = Multipart::default;
    let whole = none().field("name", hostile).field("agree", "on").field("topics", "Wall, wood");
    let _ = post("quote", whole.field("topics", "Roof").field("extra[]", " a ").field("receipt", "0000000000000"));
    let _ = post("quote", none().field("name", "").field("agree", "").pdf("план.pdf", &pdf("quote", 900)));
    for (number, body) in [
        none().field("x", "1").field("x", "").field("x", "2").field("url", "{\"url\":\"https://e.example\"}"),
        none().pdf("alone.pdf", &pdf("alone", 900)),
        none(),
    ]
    .into_iter()
    .enumerate()
    {
        assert!(!post("open", body).is_empty(), "{number}");
    }

    let folder = tempfile::tempdir().unwrap();
    for (form, count, files) in [("quote", 2, 1), ("open", 3, 1)] {
        let file = exported(&world, &folder, form);
        let name = format!("acme/{form}");
        let command = ["import", file.to_str().unwrap(), "--from", "formd", "--form", &name, "--json"];
        let run = |world: &World| {
            let ran = world.ctl(&command);
            (ran.code, ran.json().remove(0))
        };
        let (code, same) = run(&world);
        assert_eq!((code, counts(&same)), (0, [count, 0, count, 0]), "all is here: {same}");
        let (code, taken) = run(&elsewhere);
        assert_eq!((code, counts(&taken)), (0, [count, count, 0, 0]), "{taken}");
        assert_eq!(taken["files_missing"], json!(files));
        assert_eq!(counts(&run(&elsewhere).1), [count, 0, count, 0], "twice is once");

        let lines = |world: &World| world.ctl(&["export", "--format", "jsonl", "--form", form]).json();
        let originals = lines(&world);
        for original in &originals {
            let copies = lines(&elsewhere);
            let copy = copies.iter().find(|copy| copy["imported"]["id"] == original["receipt"]).unwrap();
            for member in ["values", "consent", "page", "locale", "spam"] {
                assert_eq!(copy[member], original[member], "{member}");
            }
            assert_eq!(copy["imported"]["at"], original["received_at"]);
        }
    }
}

#[test]
fn an_erased_receipt_in_an_export_is_told_and_not_taken() {
    let world = World::new();
    let receipt = world.post(&submission(), None).receipt();
    let _ = world.ctl(&["erase", &receipt, "--yes"]).ok();
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, format!("{}\n", world.show(&receipt)));
    let report = told(&world, &file, "formd", &[]);
    assert_eq!(report["refusals"][0]["why"], "its values were erased before the export");
}

/// `formctl import` of a file of Netlify's, as a process.
fn importer(config: &Path, file: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_formctl"));
    let (config, file) = (config.to_str().unwrap(), file.to_str().unwrap());
    command.args(["--config", config, "import", file, "--from", "netlify", "--form", "acme/quote", "--json"]);
    command
}

fn one_number(data: &Path, sql: &str) -> i64 {
    let connection = rusqlite::Connection::open(data.join("formd.db")).unwrap();
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn an_import_that_is_killed_again_and_again_beside_the_daemon_is_completed_and_doubles_nothing() {
    const ROWS: u64 = 6000;
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "");
    let formd = Process::start(&config);
    let data = folder.path().join("data");
    let rows = (0..ROWS).map(|n| format!("id-{n},Visitor {n},v{n}@example.org,2026-11-01 00:00:00 UTC\n"));
    let file = written(&folder, "id,name,email,created_at\n".to_owned() + &rows.collect::<String>());
    let count = || one_number(&data, "SELECT count(*) FROM receipts");
    let (mut posted, mut slowest) = (0, Duration::ZERO);
    for _ in 0..5 {
        let before = count();
        let mut child = importer(&config, &file).stdout(Stdio::null()).spawn().unwrap();
        let started = Instant::now();
        while count() < before + 300 && started.elapsed() < Duration::from_mins(1) {
            let began = Instant::now();
            let body = submission().field("extra", &posted.to_string());
            let answer = body.post("/f/acme/quote.json").send(formd.address);
            slowest = slowest.max(began.elapsed());
            assert_eq!(answer.status, 200, "intake goes on");
            posted += 1;
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(count() - posted < i64::try_from(ROWS).unwrap(), "it was killed in the middle");
    let done = importer(&config, &file).output().unwrap();
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    let [read, imported, skipped, refused] = counts(&report);
    assert_eq!((read, imported + skipped, refused), (ROWS, ROWS, 0));
    assert!(skipped >= 1000 && imported > 0, "{report}");
    assert_eq!(count(), i64::try_from(ROWS).unwrap() + posted);
    let names = "SELECT count(DISTINCT fields) FROM contents WHERE fields LIKE '%Visitor %'";
    assert_eq!(one_number(&data, names), i64::try_from(ROWS).unwrap());
    let pairs = "SELECT count(*) FROM receipts JOIN contents ON contents.receipt = receipts.id";
    assert_eq!(one_number(&data, pairs), count(), "no half of one");
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
}

#[test]
fn root_imports_a_file_that_only_root_may_read_into_the_daemons_directory() {
    if !rustix::process::geteuid().is_root() {
        return common::skip("only root can become the owner of a data directory");
    }
    let owner = Some(65_534);
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let config = write_config(folder.path(), "");
    mode(folder.path(), 0o755);
    mode(&folder.path().join("sites"), 0o755);
    drop(Process::start(&config));
    for path in [config.clone(), folder.path().join("sites/acme.toml")] {
        chown(&path, None, owner).unwrap();
        mode(&path, 0o640);
    }
    let data = folder.path().join("data");
    for name in [vec![data.clone()], fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().path()).collect()].concat()
    {
        chown(&name, owner, owner).unwrap();
    }
    let program = folder.path().join("formctl");
    fs::copy(env!("CARGO_BIN_EXE_formctl"), &program).unwrap();
    let file = folder.path().join("private.csv");
    fs::copy(sample("netlify.csv"), &file).unwrap();
    mode(&file, 0o600);
    let words = ["import", file.to_str().unwrap(), "--from", "netlify", "--form", "acme/quote"];
    let ran = Command::new(&program).arg("--config").arg(&config).args(words).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stdout).contains("3 imported"), "{ran:?}");
    for entry in fs::read_dir(&data).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().uid(), 65_534, "{}", entry.path().display());
    }
}
