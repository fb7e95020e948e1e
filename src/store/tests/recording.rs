//! Contract 4.11, 4.12, 5: recording and repeats.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Barrier};

use super::*;

#[test]
fn the_same_key_with_the_same_content_is_one_submission_and_with_other_content_a_conflict() {
    let world = World::new();
    let id = world.stored(&Wish { file: Some(b"%PDF"), ..Wish::default() });
    let repeat = Wish { number: 50, file: Some(b"%PDF"), ..Wish::default() };
    assert_eq!(world.record(&repeat).unwrap(), Outcome::Repeated(id));
    let conflict = Wish { number: 60, content: 2, file: Some(b"%PDF-other"), text: "other", ..Wish::default() };
    assert_eq!(world.record(&conflict).unwrap(), Outcome::Conflict);
    let view = world.view(id, world.now);
    assert_eq!(view.contents, Some(contents("hello")));
    assert_eq!(world.files("attachments"), [format!("{id}-1")]);
    let [file] = view.attachments.unwrap().try_into().unwrap();
    assert_eq!(std::fs::read(&file.path).unwrap(), b"%PDF");
    assert_eq!((file.sha256, file.name.as_str(), file.size), (Sha256Sum::of(b"%PDF"), "hello.pdf", 4));
    let known = world.store.find_by_key(KeyHash([1; 16])).unwrap().unwrap();
    assert_eq!((known.receipt, known.content_hash), (id, ContentHash([1; 32])));
    assert_eq!(world.store.find_by_key(KeyHash([9; 16])).unwrap(), None);
}

#[test]
fn a_repeat_after_erasure_still_gets_the_same_receipt() {
    let world = World::new();
    let id = world.stored(&Wish::default());
    world.store.erase(&[id], world.now).unwrap();
    assert_eq!(world.record(&Wish { number: 7, ..Wish::default() }).unwrap(), Outcome::Repeated(id));
    assert_eq!(world.count("SELECT COUNT(*) FROM contents"), 0);
}

#[test]
fn five_parallel_clicks_make_one_receipt_one_row_one_file_and_one_delivery_each() {
    let world = World::new();
    let together = Arc::new(Barrier::new(5));
    let clicks: Vec<_> = (1..=5)
        .map(|number| {
            let wish =
                Wish { number: number * 10, file: Some(b"%PDF"), destinations: &["sales", "crm"], ..Wish::default() };
            let (new, store, together) = (world.submission(&wish), world.store.clone(), Arc::clone(&together));
            std::thread::spawn(move || {
                together.wait();
                record(&store, new).unwrap()
            })
        })
        .collect();
    let outcomes: Vec<Outcome> = clicks.into_iter().map(|click| click.join().unwrap()).collect();
    let stored: Vec<ReceiptId> =
        outcomes.iter().filter_map(|o| if let Outcome::Stored(id) = o { Some(*id) } else { None }).collect();
    assert_eq!(stored.len(), 1, "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(|o| **o == Outcome::Repeated(stored[0])).count(), 4, "{outcomes:?}");
    assert_eq!(world.files("attachments").len(), 1);
    assert_eq!(world.count("SELECT COUNT(*) FROM receipts"), 1);
    assert_eq!(world.count("SELECT COUNT(*) FROM deliveries"), 2);
}

#[test]
fn without_a_key_a_double_click_is_one_submission_for_ten_minutes_and_only_for_the_same_client_and_form() {
    let world = World::new();
    let click = Wish { key: None, ..Wish::default() };
    let id = world.stored(&click);
    let again = |number, change: fn(&mut NewReceipt)| {
        let mut new = world.submission(&Wish { number, key: None, ..Wish::default() });
        change(&mut new);
        record(&world.store, new).unwrap()
    };
    assert_eq!(again(10, |_| ()), Outcome::Repeated(id));
    assert_eq!(again(15, |new| new.received_at = new.received_at.plus(Span::from_minutes(10))), Outcome::Repeated(id));
    for (number, change) in [
        (20, (|new| new.client_hash = ClientHash([2; 16])) as fn(&mut NewReceipt)),
        (30, |new| new.content_hash = ContentHash([2; 32])),
        (40, |new| new.form = FormId::parse("other").unwrap()),
    ] {
        assert!(matches!(again(number, change), Outcome::Stored(_)));
    }
    let late = again(50, |new| {
        new.received_at = new.received_at.plus(Span::from_secs(601));
        new.id = ReceiptId::new(new.received_at, 50);
    });
    assert!(matches!(late, Outcome::Stored(_)));
    // With a key the client's hash is not even stored.
    world.stored(&Wish { number: 70, ..Wish::default() });
    assert_eq!(world.count("SELECT COUNT(*) FROM receipts WHERE key_hash IS NOT NULL AND client_hash IS NOT NULL"), 0);
}

#[test]
fn a_number_that_is_taken_is_drawn_again_and_the_file_keeps_its_path() {
    let world = World::new();
    let first = world.stored(&Wish::default());
    let mut new = world.submission(&Wish { number: 90, key: Some(2), file: Some(b"%PDF"), ..Wish::default() });
    let path = new.files[0].sealed.path().to_owned();
    new.id = first;
    new.redraw = [1, 1, 5, 6];
    let Outcome::Stored(id) = record(&world.store, new).unwrap() else { panic!("not stored") };
    assert_eq!(id, ReceiptId::new(world.now, 5));
    let view = world.view(id, world.now);
    assert!(view.attachments.unwrap()[0].path.ends_with(&path));
    assert_eq!(view.row.deliveries[0].id, DeliveryId { receipt: id, n: 1 });
    // Neither the start nor a sweep takes such a file for one without a row.
    assert_eq!(world.sweep(world.later(Span::from_days(1))).quarantined, 0);
}

#[test]
fn what_waits_together_is_committed_together() {
    let world = World::new();
    let gate = hold_writer(&world);
    let (reply, outcomes) = channel();
    for number in 1..=40_u32 {
        let key = u8::try_from(number).unwrap();
        let new = world.submission(&Wish { number: number * 10, key: Some(key), ..Wish::default() });
        let reply = reply.clone();
        world.store.record(new, move |outcome| reply.send(outcome).unwrap());
    }
    let groups = world.store.writer().counts().groups.load(Ordering::Relaxed);
    gate.send(()).unwrap();
    for _ in 0..40 {
        assert!(matches!(outcomes.recv().unwrap(), Ok(Outcome::Stored(_))));
    }
    // The job that held the writer, and one group for all that waited behind it.
    assert_eq!(world.store.writer().counts().groups.load(Ordering::Relaxed), groups + 2);
}

#[test]
fn a_job_that_fails_or_panics_is_undone_alone_and_its_asker_hears_of_it() {
    let world = World::new();
    let gate = hold_writer(&world);
    let (reply, outcomes) = channel();
    let submit = |name: &'static str, work: fn(&Connection) -> Result<(), StoreError>| {
        let reply = reply.clone();
        world.store.writer().submit(move |db, _| work(db), move |outcome| reply.send((name, outcome)).unwrap());
    };
    submit("good", |db| facts::write(db, "good", "1", Timestamp::from_millis(0)));
    submit("bad", |db| {
        facts::write(db, "bad", "1", Timestamp::from_millis(0))?;
        Ok(db.execute_batch("INSERT INTO removals (path) VALUES (NULL)")?)
    });
    submit("panics", |db| {
        facts::write(db, "panics", "1", Timestamp::from_millis(0))?;
        panic!("on purpose")
    });
    submit("last", |db| facts::write(db, "last", "1", Timestamp::from_millis(0)));
    gate.send(()).unwrap();
    let mut heard: Vec<_> = (0..4).map(|_| outcomes.recv().unwrap()).collect();
    heard.sort_by_key(|(name, _)| *name);
    assert!(matches!(heard[0], ("bad", Err(StoreError::Database(_)))));
    assert!(matches!(heard[1], ("good", Ok(()))));
    assert!(matches!(heard[2], ("last", Ok(()))));
    assert!(matches!(heard[3], ("panics", Err(StoreError::Defect))));
    assert_eq!(world.count("SELECT COUNT(*) FROM facts WHERE name IN ('good', 'last')"), 2);
    assert_eq!(world.count("SELECT COUNT(*) FROM facts WHERE name IN ('bad', 'panics')"), 0);
}

#[test]
fn a_full_queue_is_busy_at_once_and_its_files_are_gone() {
    let world = World::new();
    let gate = hold_writer(&world);
    for _ in 0..4096 {
        world.store.writer().submit(|_, _| Ok(()), drop);
    }
    let refused = world.record(&Wish { file: Some(b"%PDF"), ..Wish::default() });
    assert!(matches!(refused, Err(StoreError::Busy)));
    assert!(world.files("attachments").is_empty());
    gate.send(()).unwrap();
    world.store.set_fact("config_hash", "x", world.now).unwrap_or(());
}

#[test]
fn the_last_clone_may_be_dropped_by_a_reply() {
    let world = World::new();
    let (done, told) = channel();
    let tool = world.tool();
    let kept = tool.clone();
    tool.writer().submit(
        |_, _| Ok(()),
        move |outcome| {
            drop(kept);
            done.send(outcome.is_ok()).unwrap();
        },
    );
    drop(tool);
    assert!(told.recv().unwrap());
}

#[test]
#[ignore = "a measurement: cargo test --lib records_a_second -- --ignored --nocapture"]
fn records_a_second() {
    for threads in [1_u32, 16] {
        let world = World::new();
        let each = 3200 / threads;
        let begun = std::time::Instant::now();
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let world = &world;
                scope.spawn(move || {
                    for turn in 0..each {
                        let number = (thread * each + turn) * 8;
                        let mut new = world.submission(&Wish { number, ..Wish::default() });
                        new.key_hash = Some(KeyHash(
                            u128::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).to_be_bytes(),
                        ));
                        assert!(matches!(record(&world.store, new).unwrap(), Outcome::Stored(_)));
                    }
                });
            }
        });
        let millis = begun.elapsed().as_millis().max(1);
        let counts = world.store.writer().counts();
        let (jobs, groups) = (counts.jobs.load(Ordering::Relaxed), counts.groups.load(Ordering::Relaxed));
        println!("{threads} threads: {} records/s, {jobs} records in {groups} groups", 3_200_000 / millis);
    }
}

/// Occupies the writer until the sender is used.
pub(super) fn hold_writer(world: &World) -> std::sync::mpsc::Sender<()> {
    let (gate, wait) = channel();
    let (begun, started) = channel();
    world.store.writer().submit(
        move |_, _| {
            begun.send(()).unwrap();
            wait.recv().unwrap();
            Ok(())
        },
        drop,
    );
    started.recv().unwrap();
    gate
}
