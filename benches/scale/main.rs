//! What the store costs at 10 k, 100 k and 1 M receipts with three deliveries each: `make bench`, or
//! `cargo bench --bench scale -- 10000 100000` for other sizes.
//!
//! Printed are the middle of twenty runs of each question, the sweep of 10,000 expired receipts with the longest wait of
//! a submission beside it, and how each grows from size to size. Nothing is asserted: a time is no test. The largest size
//! needs about 2 GB below `target/`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::missing_docs_in_private_items,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "a measurement ends where it fails, and its output is its documentation"
)]

mod fill;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use formd::harness::scale::{Only, Scale};
use formd::harness::{Span, Timestamp};

/// Runs of each question.
const RUNS: u32 = 20;

/// Name and milliseconds, or another number.
type Figures = Vec<(&'static str, f64)>;

fn main() {
    let sizes: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![10_000, 100_000, 1_000_000] } else { sizes };
    let columns: Vec<Figures> = sizes.iter().map(|&size| measure(size)).collect();
    print!("{:<44}", "milliseconds (the middle of 20)");
    sizes.iter().for_each(|size| print!("{size:>12}"));
    println!("   ratios");
    for (row, (name, _)) in columns[0].iter().enumerate() {
        let values: Vec<f64> = columns.iter().map(|column| column[row].1).collect();
        print!("{name:<44}");
        values.iter().for_each(|value| print!("{value:>12.2}"));
        println!(
            "   {}",
            values.windows(2).map(|two| format!("{:.1}", two[1] / two[0])).collect::<Vec<_>>().join("  ")
        );
    }
}

/// Everything at one size.
fn measure(size: u64) -> Figures {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let data = folder.path().join("data");
    let now = Timestamp::parse("2026-11-30T12:00:00Z").unwrap();
    let started = Instant::now();
    let (row, key) = fill::fill(&data, size, now).unwrap();
    let mut figures = vec![("filling (s)", started.elapsed().as_secs_f64())];
    let database = data.join("formd.db").metadata().unwrap().len();
    figures.push(("database (MB)", database as f64 / 1e6));

    let started = Instant::now();
    let store = Scale::open(&data, now).unwrap();
    figures.push(("start", milliseconds(started.elapsed())));
    figures.extend(questions(&store, row, key, now));
    figures.push(("log per small record (KiB)", log_per_record(&store, &data, now)));
    figures.extend(sweeps(&store, now));
    figures
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The middle of some runs, so that a neighbour on the machine counts for nothing; a question that finds nothing would
/// measure nothing.
fn middle(mut ask: impl FnMut(u32) -> Result<usize, String>) -> f64 {
    let time = |run| {
        let started = Instant::now();
        assert!(ask(run).unwrap() > 0, "a question without an answer");
        started.elapsed()
    };
    let mut times: Vec<Duration> = (0..RUNS).map(time).collect();
    times.sort();
    milliseconds(times[times.len() / 2])
}

/// What is asked often.
fn questions(store: &Scale, row: i64, key: [u8; 16], now: Timestamp) -> Figures {
    let list = |only: Only| middle(|_| store.list(only, now));
    let state = |state| Only { state: Some(state), ..Only::default() };
    vec![
        ("list", list(Only::default())),
        ("list --site, a busy one", list(Only { site: Some("site-07"), ..Only::default() })),
        ("list --site, a quiet one", list(Only { site: Some("quiet"), ..Only::default() })),
        ("list --form, a quiet one", list(Only { form: Some("careers"), ..Only::default() })),
        ("list --state pending", list(state("pending"))),
        ("list --state retrying", list(state("retrying"))),
        ("list --state failed", list(state("failed"))),
        ("list --state delivered", list(state("delivered"))),
        ("list --site --state delivered", list(Only { site: Some("quiet"), ..state("delivered") })),
        ("list --spam", list(Only { spam: true, ..Only::default() })),
        ("status", middle(|_| store.numbers(now))),
        ("claim", middle(|run| store.claim(i64::from(run) + 1, now))),
        ("next_due", middle(|_| store.next_due())),
        ("deliveries", middle(|_| store.outstanding())),
        ("deliveries --state held", middle(|_| store.held())),
        ("deliveries --state failed", middle(|_| store.failed())),
        ("show", middle(|_| store.show(row, now))),
        ("find_by_key", middle(|_| store.find_by_key(key))),
    ]
}

/// Bytes that one lone submission adds to the log.
fn log_per_record(store: &Scale, data: &Path, now: Timestamp) -> f64 {
    const RECORDS: u32 = 100;
    let size = || data.join("formd.db-wal").metadata().unwrap().len();
    let before = size();
    (0..RECORDS).for_each(|number| store.record(number * 5, now).unwrap());
    (size() - before) as f64 / f64::from(RECORDS) / 1024.0
}

/// The sweep of what expired, beside submissions one after the other; then one with nothing to do.
fn sweeps(store: &Scale, now: Timestamp) -> Figures {
    let ended = AtomicBool::new(false);
    let (took, (waits, longest)) = std::thread::scope(|scope| {
        let visitor = scope.spawn(|| visits(store, &ended, now));
        let started = Instant::now();
        let swept = store.sweep(now);
        let took = started.elapsed();
        ended.store(true, Ordering::Relaxed);
        assert_eq!(swept.unwrap() as u64, fill::EXPIRED);
        (took, visitor.join().unwrap())
    });
    let started = Instant::now();
    store.sweep(now.plus(Span::from_minutes(1))).unwrap();
    vec![
        ("sweep of 10,000 expired", milliseconds(took)),
        ("submissions meanwhile", waits),
        ("the longest wait of one", milliseconds(longest)),
        ("sweep with nothing to do", milliseconds(started.elapsed())),
    ]
}

/// Records small submissions until told to stop: how many, and the longest wait.
fn visits(store: &Scale, ended: &AtomicBool, now: Timestamp) -> (f64, Duration) {
    let (mut number, mut longest) = (1000, Duration::ZERO);
    while !ended.load(Ordering::Relaxed) {
        let started = Instant::now();
        store.record(number * 5, now).unwrap();
        longest = longest.max(started.elapsed());
        number += 1;
    }
    (f64::from(number - 1000), longest)
}
