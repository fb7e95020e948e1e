//! What the store costs at 10 k, 100 k and 1 M receipts with three deliveries each: `make bench`, or
//! `cargo bench --bench scale -- 10000 100000` for other sizes.
//!
//! Printed are the fastest and the middle of twenty runs of each question, the sweep of 10,000 expired receipts with the longest wait of
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

/// Name and milliseconds, or another number; of a question the fastest and the middle run.
type Figures = Vec<(&'static str, f64, Option<f64>)>;

fn main() {
    let sizes: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![10_000, 100_000, 1_000_000] } else { sizes };
    let columns: Vec<Figures> = sizes.iter().map(|&size| measure(size)).collect();
    print!("{:<36}", "milliseconds (fastest, middle of 20)");
    for size in &sizes {
        print!("{size:>20}");
    }
    println!("   ratios of the fastest");
    for (row, (name, _, _)) in columns[0].iter().enumerate() {
        let cells: Vec<_> = columns.iter().map(|column| column[row]).collect();
        print!("{name:<36}");
        for (_, fastest, middle) in &cells {
            print!("{fastest:>11.2}{:>9}", middle.map_or_else(String::new, |middle| format!("{middle:.2}")));
        }
        let ratios: Vec<String> = cells.windows(2).map(|two| format!("{:.1}", two[1].1 / two[0].1)).collect();
        println!("   {}", ratios.join("  "));
    }
}

/// Everything at one size.
fn measure(size: u64) -> Figures {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let data = folder.path().join("data");
    let now = Timestamp::parse("2026-11-30T12:00:00Z").unwrap();
    let started = Instant::now();
    let (row, key) = fill::fill(&data, size, now).unwrap();
    let mut figures = vec![("filling (s)", started.elapsed().as_secs_f64(), None)];
    let database = data.join("formd.db").metadata().unwrap().len();
    figures.push(("database (MB)", database as f64 / 1e6, None));

    let started = Instant::now();
    let store = Scale::open(&data, now).unwrap();
    figures.push(("start", milliseconds(started.elapsed()), None));
    figures.extend(questions(&store, row, key, now));
    figures.push(("log per small record (KiB)", log_per_record(&store, &data, now), None));
    figures.extend(sweeps(&store, now));
    figures
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The fastest and the middle of some runs: the second is what a user meets, the first tells how the cost grows even when a
/// neighbour has the machine. A question that finds nothing would measure nothing.
fn time(name: &'static str, mut ask: impl FnMut(u32) -> Result<usize, String>) -> (&'static str, f64, Option<f64>) {
    let one = |run| {
        let started = Instant::now();
        assert!(ask(run).unwrap() > 0, "a question without an answer");
        started.elapsed()
    };
    let mut times: Vec<Duration> = (0..RUNS).map(one).collect();
    times.sort();
    (name, milliseconds(times[0]), Some(milliseconds(times[times.len() / 2])))
}

/// What is asked often.
fn questions(store: &Scale, row: i64, key: [u8; 16], now: Timestamp) -> Figures {
    let list = |name, only: Only| time(name, |_| store.list(only, now));
    let state = |state| Only { state: Some(state), ..Only::default() };
    vec![
        list("list", Only::default()),
        list("list --site, a busy one", Only { site: Some("site-07"), ..Only::default() }),
        list("list --site, a quiet one", Only { site: Some("quiet"), ..Only::default() }),
        list("list --form, a quiet one", Only { form: Some("careers"), ..Only::default() }),
        list("list --state pending", state("pending")),
        list("list --state retrying", state("retrying")),
        list("list --state failed", state("failed")),
        list("list --state delivered", state("delivered")),
        list("list --site --state delivered", Only { site: Some("quiet"), ..state("delivered") }),
        list("list --spam", Only { spam: true, ..Only::default() }),
        time("status", |_| store.numbers(now)),
        time("claim", |run| store.claim(i64::from(run) + 1, now)),
        time("next_due", |_| store.next_due()),
        time("deliveries", |_| store.outstanding()),
        time("deliveries --state held", |_| store.held()),
        time("deliveries --state failed", |_| store.failed()),
        time("show", |_| store.show(row, now)),
        time("find_by_key", |_| store.find_by_key(key)),
    ]
}

/// Bytes that one lone submission adds to the log.
fn log_per_record(store: &Scale, data: &Path, now: Timestamp) -> f64 {
    const RECORDS: u32 = 100;
    let size = || data.join("formd.db-wal").metadata().unwrap().len();
    let before = size();
    for number in 0..RECORDS {
        store.record(number * 5, now).unwrap();
    }
    (size() - before) as f64 / f64::from(RECORDS) / 1024.0
}

/// Submissions one after the other, alone and then beside the sweep of what expired; then a sweep with nothing to do.
fn sweeps(store: &Scale, now: Timestamp) -> Figures {
    let (_, alone) = beside(store, 10_000, now, || std::thread::sleep(Duration::from_secs(3)));
    let started = Instant::now();
    let (meanwhile, longest) = beside(store, 1_000_000, now, || {
        assert_eq!(store.sweep(now).unwrap() as u64, fill::EXPIRED);
    });
    let took = started.elapsed();
    let started = Instant::now();
    store.sweep(now.plus(Span::from_minutes(1))).unwrap();
    vec![
        ("longest wait of a submission, alone", milliseconds(alone), None),
        ("longest wait beside the sweep", milliseconds(longest), None),
        ("submissions beside the sweep", f64::from(meanwhile), None),
        ("sweep of 10,000 expired", milliseconds(took), None),
        ("sweep with nothing to do", milliseconds(started.elapsed()), None),
    ]
}

/// Ends the submissions however the work ends.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Records small submissions, numbered from `first`, while `work` is done: how many, and the longest wait.
fn beside(store: &Scale, first: u32, now: Timestamp, work: impl FnOnce()) -> (u32, Duration) {
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let visitor = scope.spawn(|| {
            let (mut count, mut longest) = (0, Duration::ZERO);
            while !ended.load(Ordering::Relaxed) {
                let started = Instant::now();
                store.record(first + count * 5, now).unwrap();
                longest = longest.max(started.elapsed());
                count += 1;
            }
            (count, longest)
        });
        let end = End(&ended);
        work();
        drop(end);
        visitor.join().unwrap()
    })
}
