//! Contract 8: the limiter counts, and whatever is wrong with a file lets the request pass at once.

use std::time::{Duration, Instant};

use super::*;
use crate::domain::quota::{Admission, Quota};

/// A limiter of its own.
struct Limiter {
    temp: TempDir,
    throttle: Throttle,
    now: Timestamp,
}

impl Limiter {
    fn new(files: u64) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let now = disk::moment(temp.path().metadata().unwrap().modified().unwrap());
        let throttle = Throttle::new(temp.path().join("limiter"), files);
        Self { temp, throttle, now }
    }

    fn charge(&self, key: &str) -> Charge {
        self.throttle.charge(key, &[Quota::parse("2/d").unwrap()], self.now)
    }

    fn files(&self) -> Vec<PathBuf> {
        disk::entries(&self.temp.path().join("limiter")).unwrap().into_iter().map(|entry| entry.path).collect()
    }

    /// The only state file.
    fn file(&self) -> PathBuf {
        let [file] = self.files().try_into().unwrap();
        file
    }
}

fn is_admitted(charge: Charge) -> bool {
    matches!(charge, Charge::Counted(Admission::Admit(_)))
}

fn is_denied(charge: Charge) -> bool {
    matches!(charge, Charge::Counted(Admission::Deny { .. }))
}

#[test]
fn a_key_has_its_own_windows_and_a_refused_request_counts() {
    let limiter = Limiter::new(100);
    assert!(is_admitted(limiter.charge("acme/ip:203.0.113.7")));
    assert!(is_admitted(limiter.charge("acme/ip:203.0.113.7")));
    assert!(is_denied(limiter.charge("acme/ip:203.0.113.7")));
    assert!(is_admitted(limiter.charge("acme/ip:203.0.113.8")));
    let used: Vec<String> = limiter.files().iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert!(used.iter().any(|text| text.contains("\"used\":3")), "{used:?}");
    let names: Vec<_> = limiter.files().iter().map(|path| path.display().to_string()).collect();
    assert!(names.iter().all(|name| !name.contains("203")));
    // A second limiter over the same directory goes on counting.
    let other = Throttle::new(limiter.temp.path().join("limiter"), 100);
    assert!(is_denied(other.charge("acme/ip:203.0.113.7", &[Quota::parse("2/d").unwrap()], limiter.now)));
    assert_eq!(limiter.throttle.charge("x", &[], limiter.now), Charge::Counted(Admission::Admit(None)));
    assert_eq!(limiter.throttle.failures(), 0);
}

#[test]
fn garbage_passes_once_and_the_windows_start_anew() {
    for garbage in [b"{ not json".to_vec(), vec![b' '; 5000], b"{}".to_vec()] {
        let limiter = Limiter::new(100);
        for _ in 0..3 {
            limiter.charge("k");
        }
        std::fs::write(limiter.file(), garbage).unwrap();
        assert_eq!(limiter.charge("k"), Charge::Open);
        assert_eq!(limiter.throttle.failures(), 1);
        assert!(is_admitted(limiter.charge("k")));
        assert!(is_denied(limiter.charge("k")));
    }
}

#[test]
fn a_directory_a_link_a_pipe_and_a_second_name_in_the_files_place_let_the_request_pass_at_once() {
    let plants: [fn(&Path); 4] = [
        |path| std::fs::create_dir(path).unwrap(),
        |path| std::os::unix::fs::symlink("/etc/passwd", path).unwrap(),
        |path| {
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        },
        |path| {
            let other = path.with_extension("other");
            std::fs::write(&other, "[]").unwrap();
            std::fs::hard_link(&other, path).unwrap();
        },
    ];
    for plant in plants {
        let limiter = Limiter::new(100);
        limiter.charge("k");
        let file = limiter.file();
        std::fs::remove_file(&file).unwrap();
        plant(&file);
        let begun = Instant::now();
        assert_eq!(limiter.charge("k"), Charge::Open);
        assert!(begun.elapsed() < Duration::from_millis(50));
        assert_eq!(limiter.throttle.failures(), 1);
    }
}

#[test]
fn a_lock_that_is_held_for_ever_lets_the_request_pass_within_50_ms() {
    let limiter = Limiter::new(100);
    limiter.charge("k");
    let held = File::open(limiter.file()).unwrap();
    held.lock().unwrap();
    assert_eq!(limiter.charge("k"), Charge::Contended);
    assert_eq!(limiter.throttle.failures(), 0);
    let begun = Instant::now();
    let charge = limiter.throttle.charge_waiting("k", &[Quota::parse("2/d").unwrap()], limiter.now);
    assert_eq!(charge, Charge::Open);
    // 50 ms and what a machine full of other tests adds.
    assert!(begun.elapsed() < Duration::from_millis(250));
    held.unlock().unwrap();
    assert!(is_admitted(limiter.charge("k")));
}

#[test]
fn beyond_the_allowed_files_new_keys_share_256_and_a_flood_is_limited_together() {
    let limiter = Limiter::new(10);
    let denied = (0..2000).filter(|n| is_denied(limiter.charge(&format!("ip:{n}")))).count();
    assert!(limiter.files().len() <= 10 + 256, "{}", limiter.files().len());
    assert!(denied > 1000, "{denied}");
    // Who has a file keeps it.
    assert!(is_admitted(limiter.charge("ip:3")));
}

#[test]
fn files_that_nobody_wrote_for_two_days_go_by_the_way_and_by_the_sweep() {
    let limiter = Limiter::new(5);
    for n in 0..5 {
        limiter.charge(&format!("old:{n}"));
    }
    for file in limiter.files() {
        touch(&file, limiter.now.minus(Span::from_days(2)));
    }
    std::fs::write(limiter.temp.path().join("limiter/README"), b"not ours").unwrap();
    assert_eq!(limiter.throttle.plan_sweep(limiter.now), 5);
    for _ in 0..60 {
        limiter.charge("new");
    }
    // The overflow file that `new` had to share first, the one it has now, and the stranger's.
    assert_eq!(limiter.files().len(), 3);
    assert_eq!(limiter.throttle.plan_sweep(limiter.now.plus(Span::from_days(3))), 2);
    assert_eq!(limiter.throttle.sweep(limiter.now.plus(Span::from_days(3))), 2);
    limiter.charge("another");
    assert_eq!(limiter.throttle.plan_sweep(limiter.now.plus(Span::from_days(3))), 1);
}

#[test]
fn parallel_charges_of_one_key_never_admit_more_than_the_quota() {
    let limiter = Limiter::new(100);
    let quotas = [Quota::parse("20/d").unwrap()];
    let admitted: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let own = Throttle::new(limiter.temp.path().join("limiter"), 100);
                scope.spawn(move || {
                    (0..20)
                        .filter(|_| {
                            loop {
                                match own.charge("k", &quotas, limiter.now) {
                                    Charge::Contended => std::thread::yield_now(),
                                    charge => break is_admitted(charge),
                                }
                            }
                        })
                        .count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(admitted, 20);
}
