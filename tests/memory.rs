//! Memory is bounded by design, whatever clients send.

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
use std::sync::Arc;
use std::thread;

use common::client::{pdf, urlencode};
use common::process::{Process, write_config};
use common::submission;

/// A number of `/proc/<pid>/status` in KiB.
fn status_kib(pid: u32, name: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find(|l| l.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn fifty_parallel_uploads_of_ten_mebibytes_stay_under_64_mb() {
    const UPLOADS: usize = 50;
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "[delivery]\nenabled = false\n");
    let site = folder.path().join("sites/acme.toml");
    let two_files =
        fs::read_to_string(&site).unwrap().replace("types = [\".pdf\"]", "types = [\".pdf\"]\nmax_files = 2");
    common::write_private(&site, &two_files);
    let daemon = Process::start(&config);
    let idle = status_kib(daemon.pid, "VmRSS");
    let file = Arc::new(pdf("large", 5 * 1024 * 1024));
    let address = daemon.address;
    let uploads: Vec<_> = (0..UPLOADS)
        .map(|number| {
            let file = Arc::clone(&file);
            thread::spawn(move || {
                let form = submission().field("extra", &number.to_string());
                let form = form.pdf("a.pdf", &file).pdf("b.pdf", &file);
                form.post("/f/acme/quote.json").send(address).status
            })
        })
        .collect();
    let statuses: Vec<u16> = uploads.into_iter().map(|upload| upload.join().unwrap()).collect();
    let peak = status_kib(daemon.pid, "VmHWM");
    println!("{UPLOADS} uploads of 10 MiB at once: idle {idle} KiB, peak {peak} KiB");
    assert!(statuses.iter().all(|s| *s == 200), "{statuses:?}");
    assert!(peak * 1024 < 64_000_000, "peak of {peak} KiB");
}

#[test]
fn floods_of_values_and_parts_are_refused_and_memory_stays_flat() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "[delivery]\nenabled = false\n");
    let daemon = Process::start(&config);
    let post = |content_type: &str, body: Vec<u8>| {
        common::client::Request::new("POST", "/f/acme/quote.json").body(content_type, body).send(daemon.address).status
    };
    let urlencoded = "application/x-www-form-urlencoded";
    let multipart = "multipart/form-data; boundary=b";
    let many: Vec<(String, String)> = (0..5000).map(|i| (format!("f{i}"), "x".to_owned())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    assert_eq!(post(urlencoded, urlencode(&many).into_bytes()), 413);
    assert_eq!(post(urlencoded, urlencode(&[("message", &"x".repeat(70_000))]).into_bytes()), 413);
    let endless_header = [b"--b\r\nContent-Disposition: form-data; name=\"".as_slice(), &vec![b'n'; 4 << 20]].concat();
    assert_eq!(post(multipart, endless_header), 400);
    let parts = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n".repeat(90_000);
    assert_eq!(post(multipart, parts.into_bytes()), 413);
    let preamble = vec![b'p'; 5 << 20];
    assert_eq!(post(multipart, preamble), 400);
    let peak = status_kib(daemon.pid, "VmHWM");
    println!("after the floods: peak {peak} KiB");
    assert!(peak < 48_000, "peak of {peak} KiB");
}
