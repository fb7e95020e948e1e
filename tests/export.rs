//! `formctl export` as an owner uses it, and what other programs read in it: Python, unzip, `LibreOffice`.

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
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use common::client::{Multipart, pdf};
use common::process::{Process, write_config};
use common::{World, skip};
use formd::harness::Span;
use serde_json::{Value, json};

/// A form with a field of every kind that a table shows differently, and one that takes anything.
const FORMS: &str = r#"
[form.all]
consent = "agree"
extra_fields = "keep"
field = [
  { name = "name", label = "Name", kind = "textarea" },
  { name = "phone", label = "Phone", kind = "tel" },
  { name = "amount", label = "Amount", kind = "number" },
  { name = "topics", label = "Topics", kind = "checkboxes", options = ["Roof", "Wall"] },
  { name = "agree", label = "Agree", kind = "checkbox" },
  { name = "file", label = "File", kind = "file", types = [".pdf"], max_files = 5 },
]
[form.other]
field = [{ name = "receipt", label = "Receipt", kind = "text" }]
"#;

fn world() -> World {
    World::with("", FORMS)
}

/// Posts to a form of `acme`; the receipt.
fn post(world: &World, form: &str, body: &Multipart) -> String {
    world.pass(Span::from_secs(1));
    world.send(&body.post(&format!("/f/acme/{form}")).header("Accept", "application/json")).receipt()
}

/// A submission of the form `all`.
fn all(name: &str, phone: &str) -> Multipart {
    Multipart::default().field("name", name).field("phone", phone)
}

/// Runs Python with what it is given as JSON to read; what it prints, read as JSON.
fn python(script: &str, args: &[&str]) -> Option<Value> {
    let output = Command::new("/usr/bin/python3").args([&["-c", script], args].concat()).output();
    let Ok(output) = output else {
        skip("python3 is not installed");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn a_table_has_a_column_a_field_and_a_row_a_receipt_oldest_first() {
    let world = world();
    let body = all("Anna; \"A\", B\nline", "+49 30 1234").field("amount", "12.50").field("agree", "on");
    let body = body.field("topics", "Roof").field("topics", "Wall").field("colour", "red");
    let first = post(&world, "all", &body.pdf("план, 1.pdf", &pdf("a", 900)).pdf("b.pdf", &pdf("b", 900)));
    let second = post(&world, "other", &Multipart::default().field("receipt", "=1+1"));
    let csv = world.ctl(&["export", "--format", "csv"]);
    assert_eq!(csv.stderr, "note: 2 receipts\n");
    assert_eq!(
        csv.ok(),
        format!(
            "receipt,received_at,site,form,page,locale,consent,name,phone,amount,topics,agree,receipt (field),colour,attachments\r\n\
             {first},2026-11-30T12:00:01.000Z,acme,all,,en,Yes,\"Anna; \"\"A\"\", B\nline\",'+49 30 1234,12.50,\"Roof, Wall\",Yes,,red,\"{first}-a1 план, 1.pdf, {first}-a2 b.pdf\"\r\n\
             {second},2026-11-30T12:00:02.000Z,acme,other,,en,,,,,,,'=1+1,,\r\n"
        )
    );
    let excel = world.ctl(&["export", "--format", "csv", "--excel", "--tz", "Europe/Berlin", "--form", "other"]).ok();
    assert_eq!(
        excel,
        format!(
            "\u{feff}receipt;received_at;site;form;page;locale;consent;receipt (field);attachments\r\n\
             {second};2026-11-30 13:00:02 +01:00;acme;other;;en;;'=1+1;\r\n"
        )
    );
    let none = world.ctl(&["export", "--format", "csv", "--until", "2026-11-30", "--form", "other"]);
    assert_eq!(none.ok(), "receipt,received_at,site,form,page,locale,consent,receipt (field),attachments\r\n");
    let missing = world.ctl(&["export", "--format", "csv", "--site", "nobody"]);
    assert!(missing.code == 3 && missing.stderr.contains("`acme`"), "{missing:?}");
}

#[test]
fn json_lines_hold_every_value_exactly_as_it_was_sent() {
    let world = world();
    let hostile = [
        String::new(),
        "\"quotes\" \\ back, =1+1".to_owned(),
        "\u{202e}\u{200b}\u{feff}\u{e0041}".to_owned(),
        "👩‍👩‍👧 日本 и\u{306} \u{10ffff} \u{fffd}".to_owned(),
        "a\tb\nc\u{2028}d".to_owned(),
        "\u{1f600}x".repeat(13_000),
    ];
    let receipts: Vec<String> = hostile.iter().map(|value| post(&world, "all", &all(value, "+1"))).collect();
    let lines = world.ctl(&["export", "--format", "jsonl"]);
    assert!(!lines.stdout.contains(['\u{202e}', '\u{200b}', '\u{feff}']), "a terminal would obey");
    let lines = lines.json();
    for ((line, receipt), sent) in lines.iter().zip(&receipts).zip(&hostile) {
        let shown = world.show(receipt);
        for member in ["receipt", "site", "form", "page", "locale", "received_at", "erase_at", "spam"] {
            assert_eq!(line[member], shown[member], "{member}");
        }
        for member in ["values", "consent", "attachments"] {
            assert_eq!(line[member], shown[member], "{member}");
        }
        assert!(line["values"][0]["value"] == sent.as_str(), "{receipt}");
    }
    assert_eq!(lines.len(), hostile.len());
}

#[test]
fn python_reads_the_table_and_raw_cells_are_what_was_sent() {
    let world = world();
    let values = ["a,b;c\"d\"\ne", " =1+1 ", "'", "\u{202e}", "", "\"", "x\ty"];
    for value in values {
        let _ = post(&world, "all", &all(value, "1"));
    }
    let folder = tempfile::tempdir().unwrap();
    for (options, expected) in [
        (&["--raw"][..], values),
        (&["--raw", "--excel"], values),
        (&[], ["a,b;c\"d\"\ne", "' =1+1 ", "'", "\\u{202e}", "", "\"", "x\\ty"]),
    ] {
        let file = folder.path().join(options.concat());
        let file = file.with_extension("csv");
        let _ = world.ctl(&[&["export", "--format", "csv", "-o", file.to_str().unwrap()], options].concat()).ok();
        let script = "import csv,json,sys\n\
            f=open(sys.argv[1],encoding='utf-8-sig',newline='')\n\
            print(json.dumps([r['name'] for r in csv.DictReader(f,delimiter=sys.argv[2],strict=True)]))";
        let delimiter = if options.contains(&"--excel") { ";" } else { "," };
        let Some(read) = python(script, &[file.to_str().unwrap(), delimiter]) else { return };
        assert_eq!(read, json!(expected), "{options:?}");
    }
}

#[test]
fn libreoffice_finds_no_formula_and_every_telephone_number_intact() {
    let phones = [
        "+49 30 1234",
        "+493012345678",
        "0301234567",
        "030/1234567",
        "030-1234567",
        "(030) 123 45 67",
        "01/2345",
        "0049 30 1234",
        "8 (800) 555-35-35",
        "88005553535",
        "491701234567",
        "+1-800-555-0199",
        "00",
        "+7",
        "-5",
        "1-800-555",
        "555-1234",
        "12345678901234567890",
        "  0301234",
        "030.1234.567",
        "(0301234)",
        "+1.5",
        "0 30 12 34",
    ];
    let formulas = [
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(1;2)",
        " =1+1",
        "\u{a0}=1+1",
        "\u{feff}=1+1",
        "＝1+1",
        "＋1+1",
        "－1+1",
        "−1+1",
        "=HYPERLINK(\"http://evil.example\";\"x\")",
        "=cmd|' /C calc'!A0",
        "\t=1+1",
        "\n=1+1",
        "\"=1+1\"",
        "{=1+1}",
        "x\n=1+1",
        "x\r\n=1+1",
        "\u{200b}=1+1",
        "\u{202e}=1+1",
        "',=1+1",
        "a\",=1+1,\"b",
        "a;=1+1;b",
        "%3D1+1",
    ];
    if !Command::new("soffice").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return skip("soffice (libreoffice-calc-nogui) is not installed");
    }
    let world = world();
    for (n, phone) in phones.iter().enumerate() {
        let _ = post(&world, "all", &all(formulas.get(n).copied().unwrap_or("x"), phone));
    }
    for formula in &formulas[phones.len()..] {
        let _ = post(&world, "all", &all(formula, "1"));
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, options) in [("comma", &[][..]), ("excel", &["--excel"]), ("raw", &["--raw"])] {
        let file = folder.path().join(format!("{name}.csv"));
        let _ = world.ctl(&[&["export", "--format", "csv", "-o", file.to_str().unwrap()], options].concat()).ok();
    }
    // Separator, quote, UTF-8, first line, no column formats, English, quoted cells are not text, special numbers are
    // detected, ..., formulas are run: the most that a careless user can ask for.
    for (name, separator) in [("comma", 44), ("excel", 59), ("raw", 44)] {
        let rows =
            spreadsheet(folder.path(), name, &format!("{separator},34,76,1,,1033,false,true,false,false,false,0,true"));
        let found: Vec<&Value> = rows.iter().flatten().filter(|cell| !cell[1].is_null()).collect();
        let column = rows[0].iter().position(|cell| cell[2] == "phone").unwrap();
        let intact = rows[1..]
            .iter()
            .zip(phones)
            .filter(|(row, phone)| row[column][2].as_str().unwrap().trim_start_matches('\'') == *phone);
        if name == "raw" {
            assert!(found.len() >= 3 && intact.count() < phones.len() - 5, "the judge sees what is wrong: {found:?}");
            continue;
        }
        assert_eq!(found, Vec::<&Value>::new(), "{name}");
        assert_eq!(
            intact.count(),
            phones.len(),
            "{name}: {:?}",
            rows.iter().map(|row| &row[column]).collect::<Vec<_>>()
        );
    }
}

/// The cells of `NAME.csv` as `LibreOffice` understands them: type, formula, text.
fn spreadsheet(folder: &Path, name: &str, filter: &str) -> Vec<Vec<Value>> {
    let output = Command::new("soffice")
        .arg(format!("-env:UserInstallation=file://{}/profile", folder.display()))
        .args(["--headless", "--convert-to", "fods", "--outdir", folder.to_str().unwrap()])
        .arg(format!("--infilter=Text - txt - csv (StarCalc):{filter}"))
        .arg(folder.join(format!("{name}.csv")))
        .output()
        .unwrap();
    let sheet = folder.join(format!("{name}.fods"));
    assert!(sheet.exists(), "{name}: {output:?}");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/cells.py");
    let cells = Command::new("/usr/bin/python3").args([&script, &sheet]).output().unwrap();
    assert!(cells.status.success(), "{}", String::from_utf8_lossy(&cells.stderr));
    serde_json::from_slice(&cells.stdout).unwrap()
}

#[test]
fn a_zip_holds_both_texts_and_every_file_under_a_safe_name() {
    let world = world();
    let names = ["план.pdf", "../../evil.pdf", "CON.pdf", "a:b*?.pdf", "план.pdf"];
    let files: Vec<Vec<u8>> = (0..names.len()).map(|n| pdf(&format!("zip-{n}"), 900 + n)).collect();
    let body = names.iter().zip(&files).fold(all("Anna", "1"), |body, (name, bytes)| body.pdf(name, bytes));
    let receipt = post(&world, "all", &body);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.zip");
    let path = file.to_str().unwrap();
    let ran = world.ctl(&["export", "--format", "zip", "-o", path]);
    assert_eq!(ran.stderr, "note: 1 receipt, 5 files\n");
    assert_eq!(ran.ok(), "");
    let script = "import zipfile,json,sys,hashlib\n\
        z=zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None\n\
        print(json.dumps([[i.filename,hashlib.sha256(z.read(i)).hexdigest(),i.date_time[:5]] for i in z.infolist()]))";
    let Some(read) = python(script, &[path]) else { return };
    let safe = ["1-план.pdf", "2-evil.pdf", "3-CON.pdf", "4-a_b__.pdf", "5-план.pdf"];
    let lines = world.ctl(&["export", "--format", "jsonl"]).ok();
    let table = world.ctl(&["export", "--format", "csv"]).ok();
    let texts =
        [("submissions.jsonl".to_owned(), lines.into_bytes()), ("submissions.csv".to_owned(), table.into_bytes())];
    let kept = safe.iter().zip(&files).map(|(name, bytes)| (format!("files/{receipt}/{name}"), bytes.clone()));
    let expected: Vec<Value> = texts
        .into_iter()
        .chain(kept)
        .map(|(name, bytes)| json!([name, formd::harness::sha256_hex(&bytes), [2026, 11, 30, 12, 0]]))
        .collect();
    assert_eq!(read, json!(expected));
    match Command::new("unzip").args(["-t", path]).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
        Err(_) => skip("unzip is not installed"),
    }
    let again = world.ctl(&["export", "--format", "zip", "-o", path]);
    assert!(again.code == 1 && again.stderr.contains("not written over"), "{again:?}");
}

#[test]
fn an_export_into_the_data_directory_is_refused_since_erasing_would_not_find_it() {
    let world = world();
    let _ = post(&world, "all", &all("Anna", "1"));
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(world.data().join("tmp"), &link).unwrap();
    for file in [world.data().join("x.csv"), link.join("x.csv")] {
        let ran = world.ctl(&["export", "--format", "csv", "-o", file.to_str().unwrap()]);
        assert!(ran.code == 1 && ran.stderr.contains("is inside the data directory"), "{ran:?}");
        assert!(!file.exists());
    }
}

#[test]
fn a_damaged_file_ends_the_export_and_leaves_nothing() {
    let world = world();
    let receipt = post(&world, "all", &all("Anna", "1").pdf("a.pdf", &pdf("whole", 900)));
    let stored = world.data().join("attachments").join(&world.attachments()[0]);
    let whole = fs::read(&stored).unwrap();
    fs::write(&stored, &whole[..800]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.zip");
    let ran = world.ctl(&["export", "--format", "zip", "-o", file.to_str().unwrap()]);
    assert!(ran.code == 1 && ran.stderr.contains(&format!("`{receipt}-a1` is damaged")), "{ran:?}");
    fs::remove_file(&stored).unwrap();
    let ran = world.ctl(&["export", "--format", "zip", "-o", file.to_str().unwrap()]);
    assert!(ran.code == 1 && ran.stderr.contains(&format!("cannot read attachment `{receipt}-a1`")), "{ran:?}");
    assert_eq!(common::files_below(folder.path()), Vec::<String>::new());
    fs::write(&stored, whole).unwrap();
}

#[test]
fn erased_and_expired_values_and_other_sites_are_in_no_export() {
    let world = world();
    let other = "rate = []\n[form.all]\n";
    common::write_private(&world.site_file().with_file_name("zoo.toml"), other);
    world.reload().unwrap();
    let _ = post(&world, "all", &all("expired-value", "1").pdf("a.pdf", &pdf("expired", 900)));
    world.pass(Span::from_days(20));
    let erased = post(&world, "all", &all("erased-value", "1"));
    let _ = post(&world, "all", &all("kept-value", "1"));
    let zoo = all("zoo-value", "1").field("zoo-field", "x").post("/f/zoo/all").header("Accept", "application/json");
    let _ = world.send(&zoo).receipt();
    world.pass(Span::from_days(10));
    let _ = world.ctl(&["erase", &erased, "--yes"]).ok();
    let folder = tempfile::tempdir().unwrap();
    for format in ["csv", "jsonl"] {
        let of_site = world.ctl(&["export", "--format", format, "--site", "acme"]).ok();
        assert!(of_site.contains("kept-value") && !of_site.contains("zoo"), "{of_site}");
        let everything = world.ctl(&["export", "--format", format]).ok();
        assert!(everything.contains("zoo-value"), "{everything}");
        assert!(!everything.contains("expired-value") && !everything.contains("erased-value"), "{everything}");
    }
    let file = folder.path().join("x.zip");
    let ran = world.ctl(&["export", "--format", "zip", "--site", "acme", "-o", file.to_str().unwrap()]);
    assert_eq!(ran.stderr, "note: 1 receipt, 0 files\n");
}

/// So many receipts of 4 KiB each, written behind the daemon's back.
fn fill(database: &Path, receipts: i64) {
    let mut connection = rusqlite::Connection::open(database).unwrap();
    let all = connection.transaction().unwrap();
    let now = i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    let mut noise = 7_u64;
    for n in 0..receipts {
        let mut value = String::new();
        while value.len() < 4096 {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            value.push_str(&noise.to_string());
        }
        let field = json!({"name": "message", "label": "Message", "role": "plain", "value": value});
        let fields = json!({"fields": [field], "consent": null});
        let arrived = now - 2 * receipts + n;
        // The layout of a receipt's number: milliseconds since 2020, then 21 bits.
        let id = (arrived - 1_577_836_800_000) << 21;
        all.execute(
            "INSERT INTO receipts (id, site, form, locale, erase_at, content_hash, hash_version)
             VALUES (?1, 'acme', 'quote', 'en', ?2, zeroblob(32), 1)",
            [id, now + 86_400_000],
        )
        .unwrap();
        all.execute("INSERT INTO contents VALUES (?1, ?2, '[]')", (id, fields.to_string())).unwrap();
    }
    all.commit().unwrap();
}

/// The most memory a child has held, in KiB; 0 when it has just ended.
fn peak(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmHWM"));
    line.map_or(0, |line| line.split_whitespace().nth(1).unwrap().parse().unwrap())
}

/// Exports to a pipe and reads it slowly: how many bytes came, and the peak shortly before the end.
fn export_to_pipe(config: &Path, format: &str) -> (usize, u64) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_formctl"))
        .args(["--config", config.to_str().unwrap(), "export", "--format", format])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (mut buffer, mut total, mut most) = (vec![0; 64 * 1024], 0, 0);
    loop {
        // While it waits for us it is there to be measured.
        if let Ok(None) = child.try_wait() {
            most = most.max(peak(child.id()));
        }
        match stdout.read(&mut buffer).unwrap() {
            0 => break,
            count => total += count,
        }
    }
    assert!(child.wait().unwrap().success());
    (total, most)
}

#[test]
fn memory_does_not_grow_with_what_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "[delivery]\nenabled = false\n");
    let mut daemon = Process::start(&config);
    daemon.stop();
    let database = folder.path().join("data/formd.db");
    fill(&database, 100);
    let few = export_to_pipe(&config, "jsonl").1;
    fill(&database, 10_000);
    for format in ["jsonl", "csv", "zip"] {
        let (bytes, most) = export_to_pipe(&config, format);
        assert!(few > 1024 && most > 1024, "nothing was measured: {few}, {most}");
        println!("{format}: {bytes} bytes, peak {most} KiB, {few} KiB with 100 receipts");
        assert!(format == "zip" || bytes > 40_000_000, "{format}: {bytes}");
        assert!(most < few + 3 * 1024, "{format}: peak {most} KiB, {few} KiB with 100 receipts");
    }
}

#[test]
fn a_reader_that_leaves_ends_it_quietly_and_a_signal_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "[delivery]\nenabled = false\n");
    let daemon = Process::start(&config);
    fill(&folder.path().join("data/formd.db"), 5_000);
    let export = |more: &str| format!("{} --config {} export {more}", env!("CARGO_BIN_EXE_formctl"), config.display());
    let script = format!("set -o pipefail; {} | head -c 100 >/dev/null", export("--format jsonl"));
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    let script = format!("timeout -s INT 0.3 {}", export(&format!("--format zip -o {}", out.join("x.zip").display())));
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(124), "it was under way: {output:?}");
    assert_eq!(common::files_below(&out), Vec::<String>::new());
    drop(daemon);
}
