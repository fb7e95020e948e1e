//! Contract 14.5: what a sweep takes and what it leaves alone.

use super::*;

#[test]
fn a_part_that_a_request_holds_stays_however_old_and_a_dead_one_goes_after_two_hours() {
    let world = World::new();
    let live = world.part(b"live", 1);
    let dead = world.root().join("tmp/dead-1.part");
    std::fs::write(&dead, b"dead").unwrap();
    let hours = |n| world.later(Span::from_hours(n));
    touch(&dead, world.now);
    assert_eq!(world.sweep(hours(1)).parts_removed, 0);
    let plan = world.store.plan_sweep(RULES, &world.limiter(), hours(3)).unwrap();
    assert_eq!(plan.parts_removed, 1);
    assert!(dead.exists());
    // Another process sweeps.
    let report = world.tool().sweep(RULES, &world.limiter(), hours(3)).unwrap();
    assert_eq!(report.parts_removed, 1);
    assert!(!dead.exists());
    assert_eq!(world.files("tmp").len(), 1);
    drop(live);
}

#[test]
fn a_file_without_a_row_waits_two_hours_then_a_week_in_quarantine() {
    let world = World::new();
    let id = AttachmentId { receipt: ReceiptId::new(world.now, 99), position: 1 };
    let kept = world.stored(&Wish { file: Some(b"%PDF"), ..Wish::default() });
    world.part(b"lost", 5).seal(id).unwrap().keep();
    // A name that is taken in quarantine already.
    std::fs::write(world.root().join("quarantine").join(format!("{}-1", id.receipt)), b"older").unwrap();
    assert_eq!(world.sweep(world.later(Span::from_hours(1))).quarantined, 0);
    let moved = world.later(Span::from_hours(3));
    assert_eq!(world.store.plan_sweep(RULES, &world.limiter(), moved).unwrap().quarantined, 1);
    assert_eq!(world.sweep(moved).quarantined, 1);
    assert_eq!(world.files("attachments"), [format!("{kept}-1")]);
    assert_eq!(world.files("quarantine").len(), 2);
    assert_eq!(world.store.numbers(moved).unwrap().quarantine_files, 2);
    assert_eq!(world.sweep(moved.plus(Span::from_days(7)).minus(Span::from_secs(5))).quarantine_removed, 1);
    assert_eq!(world.sweep(moved.plus(Span::from_days(7))).quarantine_removed, 1);
    assert!(world.files("quarantine").is_empty());
}

#[test]
fn a_day_that_nothing_touched_is_looked_through_once_a_day_and_a_touched_one_at_the_next_sweep() {
    let world = World::new();
    let day = world.root().join("attachments/2020-03-01");
    // A file without a row, alone in its folder, which looks as if it had come before the last sweep, or just now. The
    // sweep removes the empty folder.
    let lose = |name: &str, folder: Timestamp| {
        std::fs::create_dir_all(&day).unwrap();
        std::fs::write(day.join(name), b"lost").unwrap();
        touch(&day.join(name), world.now.minus(Span::from_days(3)));
        File::open(&day).unwrap().set_modified(disk::file_time(folder)).unwrap();
    };
    let long_ago = world.now.minus(Span::from_days(2));
    lose("first", long_ago);
    assert_eq!(world.sweep(world.now).quarantined, 1, "no sweep has looked yet");

    lose("second", long_ago);
    let mut found = Vec::new();
    for minutes in (10..=1440).step_by(10) {
        let swept = world.sweep(world.later(Span::from_minutes(minutes)));
        found.extend((swept.quarantined == 1).then_some(minutes));
        if found.is_empty() {
            File::open(&day).unwrap().set_modified(disk::file_time(long_ago)).unwrap();
        }
    }
    assert_eq!(found.len(), 1, "{found:?}");

    let tomorrow = world.later(Span::from_days(1));
    lose("third", tomorrow.minus(Span::from_minutes(1)));
    assert_eq!(world.sweep(tomorrow.plus(Span::from_minutes(1))).quarantined, 1, "an entry came");
    lose("fourth", long_ago);
    assert_eq!(world.sweep(world.now).quarantined, 1, "the last sweep lies in the future: no word of it counts");
}

#[test]
fn empty_folders_of_past_days_go_and_what_is_not_ours_stays() {
    let world = World::new();
    let attachments = world.root().join("attachments");
    for folder in ["2020-01-01", "notes", "2020-01-02"] {
        std::fs::create_dir(attachments.join(folder)).unwrap();
    }
    std::fs::create_dir(attachments.join(world.now.day())).unwrap();
    std::fs::create_dir(attachments.join("2020-01-02/inner")).unwrap();
    std::fs::write(attachments.join("notes/x"), b"x").unwrap();
    world.sweep(world.later(Span::from_hours(9)));
    let left: Vec<bool> = ["2020-01-01", "notes/x", "2020-01-02/inner", &world.now.day()]
        .iter()
        .map(|path| attachments.join(path).exists())
        .collect();
    assert_eq!(left, [false, true, true, true]);
    std::fs::remove_dir_all(attachments.join("notes")).unwrap();
}

#[test]
fn a_clients_hash_is_forgotten_after_ten_minutes() {
    let world = World::new();
    world.stored(&Wish { key: None, ..Wish::default() });
    let known = || world.count("SELECT COUNT(*) FROM receipts WHERE client_hash IS NOT NULL");
    world.sweep(world.later(Span::from_minutes(9)));
    assert_eq!(known(), 1);
    world.sweep(world.later(Span::from_minutes(11)));
    assert_eq!(known(), 0);
}

#[test]
fn many_expire_in_small_transactions_and_two_sweeps_at_once_count_each_once() {
    let world = World::new();
    let (reply, outcomes) = channel();
    for number in 0..450_u32 {
        let mut new = world.submission(&Wish { number: number * 10, ..Wish::default() });
        new.key_hash = Some(KeyHash(u128::from(number).to_be_bytes()));
        let reply = reply.clone();
        world.store.record(new, move |outcome| reply.send(outcome.is_ok()).unwrap());
    }
    assert!((0..450).all(|_| outcomes.recv().unwrap()));
    let (tool, later) = (world.tool(), world.later(Span::from_days(31)));
    let expired: u64 = std::thread::scope(|scope| {
        let sweeps = [&world.store, &tool].map(|store| {
            let limiter = world.limiter();
            scope.spawn(move || store.sweep(RULES, &limiter, later).unwrap().expired)
        });
        sweeps.into_iter().map(|sweep| sweep.join().unwrap()).sum()
    });
    assert_eq!(expired, 450);
    assert_eq!(world.count("SELECT COUNT(*) FROM contents"), 0);
    assert_eq!(world.store.facts().unwrap().last_sweep_at, Some(later));
}

#[test]
fn a_checkpoint_beside_the_writer_empties_the_log_into_the_database() {
    let world = World::new();
    world.stored(&Wish::default());
    let pages = || {
        let moved: (i64, i64) = world
            .store
            .read(|db| Ok(db.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| Ok((row.get(1)?, row.get(2)?)))?))
            .unwrap();
        moved
    };
    world.store.checkpoint_aside().unwrap();
    let (log, moved) = pages();
    assert!(log > 0 && log == moved, "{moved} of {log} pages");
}
