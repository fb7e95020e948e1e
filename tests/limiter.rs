//! The rate limiter counts refused requests and never becomes the reason that a visitor is refused.

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
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::client::Multipart;
use common::{FIELDS, World, files_below, submission};
use formd::harness::Span;

fn limited(rate: &str) -> World {
    World::with(&format!("rate = [{rate}]"), &format!("[form.quote]\n{FIELDS}"))
}

/// The state file of the only client so far.
fn state_file(world: &World) -> PathBuf {
    let folder = world.data().join("limiter");
    folder.join(files_below(&folder).first().expect("a state file"))
}

#[test]
fn refused_requests_count_and_the_window_ends() {
    let world = limited("\"3/h\"");
    let missing = Multipart::default().field("name", "A");
    let answers: Vec<u16> = (0..3).map(|_| world.post(&missing, None).status).collect();
    assert_eq!(answers, [422, 422, 422]);
    let refused = world.post(&submission(), None);
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("Retry-After"), Some("3600"));
    assert_eq!(refused.header("X-RateLimit-Limit"), Some("3"));
    assert_eq!(refused.json()["code"], "rate_limited");
    world.pass(Span::from_hours(1));
    assert_eq!(world.post(&submission(), None).header("X-RateLimit-Remaining"), Some("2"));
}

#[test]
fn only_a_trusted_proxy_names_the_client() {
    let world = limited("\"1/h\"");
    let post = |ip: &str| {
        let request = submission().post("/f/acme/quote").header("Accept", "application/json");
        world.send(&request.header("X-Real-IP", ip)).status
    };
    assert_eq!(post("203.0.113.1"), 200);
    assert_eq!(post("203.0.113.1"), 429);
    assert_eq!(post("203.0.113.2"), 200);
    assert_eq!(post("2001:db8:1:2:3::1"), 200);
    assert_eq!(post("2001:db8:1:2:ffff::2"), 429, "one /64 is one client");
}

#[test]
fn garbage_a_directory_and_a_link_in_place_of_the_state_file_fail_open() {
    type Break = fn(&PathBuf);
    let breaks: [(&str, Break); 4] = [
        ("garbage", |file| fs::write(file, "{{{{").unwrap()),
        ("oversized", |file| fs::write(file, vec![b'['; 100_000]).unwrap()),
        ("directory", |file| {
            fs::remove_file(file).unwrap();
            fs::create_dir(file).unwrap();
        }),
        ("symbolic link", |file| {
            fs::remove_file(file).unwrap();
            symlink("/etc/passwd", file).unwrap();
        }),
    ];
    for (name, make) in breaks {
        let world = limited("\"1/h\"");
        assert_eq!(world.post(&submission(), Some("a")).status, 200);
        assert_eq!(world.post(&submission(), Some("b")).status, 429);
        make(&state_file(&world));
        let started = Instant::now();
        assert_eq!(world.post(&submission(), Some("c")).status, 200, "{name}");
        assert!(started.elapsed() < Duration::from_millis(500), "{name}: {:?}", started.elapsed());
        assert!(fs::read_to_string("/etc/passwd").unwrap().contains("root"), "{name}");
    }
}

#[test]
fn a_lock_held_by_a_stopped_process_costs_50_ms_and_is_counted() {
    let world = limited("\"1/h\"");
    assert_eq!(world.post(&submission(), Some("a")).status, 200);
    let hold =
        "import fcntl,sys,time; f=open(sys.argv[1],'r+'); fcntl.flock(f,2); print('x',flush=True); time.sleep(60)";
    let started = Command::new("python3").args(["-c", hold]).arg(state_file(&world)).stdout(Stdio::piped()).spawn();
    let Ok(mut holder) = started else { return common::skip("python3 is not installed") };
    let mut one = [0; 1];
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut one).unwrap();
    common::process::signal(holder.id(), "STOP");
    let started = Instant::now();
    assert_eq!(world.post(&submission(), Some("b")).status, 200);
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(40) && took < Duration::from_millis(400), "{took:?}");
    holder.kill().unwrap();
    holder.wait().unwrap();
}
