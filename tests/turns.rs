//! Fair turns (contract 10.4) in real time: the real daemon, peers on loopback that take a connection and say nothing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::missing_docs_in_private_items,
    reason = "a test ends where it fails, and its name is its documentation"
)]

mod common;

use std::fmt::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::client::Multipart;
use common::peers::HookServer;
use common::process::{Process, write_config};

/// A peer that takes every connection, keeps it open and never answers.
struct Hanging {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Hanging {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, connections) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
        let counter = Arc::clone(&connections);
        thread::spawn(move || {
            let mut held = Vec::new();
            for stream in listener.incoming().flatten() {
                counter.fetch_add(1, Ordering::SeqCst);
                held.push(stream);
            }
        });
        Self { address, connections }
    }
}

/// A site with a form for each destination.
fn site(destinations: &[(String, SocketAddr)]) -> String {
    let mut text = "rate = []\n".to_owned();
    for (id, address) in destinations {
        write!(
            text,
            "[[destination]]\nid = \"{id}\"\nwebhook = \"http://{address}/\"\nsecret = \"0123456789abcdef\"\n"
        )
        .unwrap();
    }
    for (id, _) in destinations {
        write!(text, "[form.{id}]\ndestinations = [\"{id}\"]\n").unwrap();
    }
    text
}

/// Posts a submission; what differs makes it no repeat.
fn post(daemon: &Process, form: &str, text: &str) {
    let body = Multipart::default().field("message", text);
    let answer = body.post(&format!("/f/{form}")).header("Accept", "application/json").send(daemon.address);
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// How long after its acceptance the submission of this text arrives.
fn arrival(daemon: &Process, form: &str, text: &str, peer: &HookServer) -> Duration {
    let before = peer.calls().len();
    post(daemon, form, text);
    let accepted = Instant::now();
    while peer.calls().len() == before {
        assert!(accepted.elapsed() < Duration::from_secs(30), "the delivery of {form} never arrived");
        thread::sleep(Duration::from_millis(2));
    }
    accepted.elapsed()
}

fn wait_until(seconds: u64, done: impl Fn() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(seconds), "waited too long");
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn ten_hanging_peers_of_a_site_delay_no_other_site_and_their_own_by_one_attempt_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let (well, elsewhere) = (HookServer::start(&["200 OK"]), HookServer::start(&["200 OK"]));
    let hanging: Vec<Hanging> = (0..10).map(|_| Hanging::start()).collect();
    let mut destinations: Vec<_> = (0..10).map(|n| (format!("hangs{n}"), hanging[n].address)).collect();
    destinations.push(("well".to_owned(), well.address));
    let config = write_config(folder.path(), "");
    common::write_private(&folder.path().join("sites/a.toml"), &site(&destinations));
    common::write_private(&folder.path().join("sites/b.toml"), &site(&[("well".to_owned(), elsewhere.address)]));
    let mut daemon = Process::start(&config);
    let connections = || hanging.iter().map(|peer| peer.connections.load(Ordering::SeqCst)).sum::<usize>();

    for round in 0..4 {
        for n in 0..10 {
            post(&daemon, &format!("a/hangs{n}"), &round.to_string());
        }
    }
    wait_until(5, || connections() == 8);
    let others: Vec<Duration> = (0..5).map(|n| arrival(&daemon, "b/well", &n.to_string(), &elsewhere)).collect();
    println!("eight places of site a hang; five deliveries of site b arrived after {others:.0?}");
    assert!(others.iter().all(|took| *took < Duration::from_secs(1)), "{others:?}");

    // The first was never served; the next ones have just been, while those that hang wait with older deliveries.
    for n in 0..3 {
        let own = arrival(&daemon, "a/well", &n.to_string(), &well);
        println!("delivery {n} of the eleventh destination of site a arrived after {own:.1?}");
        assert!(own < Duration::from_millis(11_500), "{own:?}");
    }
    assert!(connections() > 16, "the places that are free serve those that hang: {}", connections());
    assert!(arrival(&daemon, "b/well", "last", &elsewhere) < Duration::from_secs(1));
    daemon.kill();
}
