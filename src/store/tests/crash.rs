//! The table of what a crash leaves, row by row.

use super::recording::hold_writer;
use super::*;

#[test]
fn parts_that_a_dead_process_left_are_gone_after_the_next_start() {
    let mut world = World::new();
    let root = world.root().to_owned();
    std::fs::write(root.join("tmp/0123-1.part"), b"half").unwrap();
    std::fs::write(root.join("tmp/a note of the operator"), b"x").unwrap();
    world.restart();
    assert!(!root.join("tmp/0123-1.part").exists());
    std::fs::remove_file(root.join("tmp/a note of the operator")).unwrap();
}

#[test]
fn a_file_without_a_row_is_in_quarantine_after_the_next_start_and_a_file_with_one_stays() {
    let mut world = World::new();
    let kept = world.stored(&Wish { file: Some(b"%PDF"), ..Wish::default() });
    let lost = AttachmentId { receipt: ReceiptId::new(world.now, 99), position: 1 };
    world.part(b"%PDF-lost", 5).seal(lost).unwrap().keep();
    world.restart();
    assert_eq!(world.files("attachments"), [format!("{kept}-1")]);
    let quarantined = world.root().join("quarantine").join(format!("{}-1", lost.receipt));
    assert_eq!(std::fs::read(quarantined).unwrap(), b"%PDF-lost");
}

#[test]
fn after_a_commit_that_failed_everybody_hears_an_error_the_files_stay_and_the_sweep_decides() {
    let world = World::new();
    let gate = hold_writer(&world);
    let (reply, outcome) = channel();
    let new = world.submission(&Wish { file: Some(b"%PDF"), ..Wish::default() });
    world.store.record(new, move |answer| reply.send(answer).unwrap());
    // A reference to nothing, checked only by COMMIT.
    let poison = "PRAGMA defer_foreign_keys = ON; INSERT INTO contents (receipt, fields, targets) VALUES (77, '', '')";
    let (reply, poisoned) = channel();
    world.store.writer().submit(move |db, _| Ok(db.execute_batch(poison)?), move |answer| reply.send(answer).unwrap());
    gate.send(()).unwrap();
    assert!(matches!(outcome.recv().unwrap(), Err(StoreError::Unclear)));
    assert!(matches!(poisoned.recv().unwrap(), Err(StoreError::Unclear)));
    assert_eq!(world.files("attachments").len(), 1);
    assert_eq!(world.count("SELECT COUNT(*) FROM receipts"), 0);

    assert_eq!(world.sweep(world.later(Span::from_hours(1))).quarantined, 0);
    assert_eq!(world.sweep(world.later(Span::from_hours(3))).quarantined, 1);
    assert_eq!(world.files("quarantine").len(), 1);
    // The writer goes on with a fresh connection, and the same key is free.
    world.stored(&Wish { number: 9, file: Some(b"%PDF"), ..Wish::default() });
}

#[test]
fn a_folder_that_cannot_be_synced_fails_the_group_before_the_commit() {
    let world = World::new();
    let new = world.submission(&Wish { file: Some(b"%PDF"), ..Wish::default() });
    let folder = new.files[0].sealed.folder().to_owned();
    let aside = world.temp.path().join("aside");
    std::fs::rename(&folder, &aside).unwrap();
    assert!(matches!(record(&world.store, new), Err(StoreError::Unclear)));
    assert_eq!(world.count("SELECT COUNT(*) FROM receipts"), 0);
}

#[test]
fn what_is_dropped_on_the_way_leaves_nothing() {
    let world = World::new();
    drop(world.part(b"half", 1));
    drop(world.submission(&Wish { file: Some(b"%PDF"), ..Wish::default() }));
    assert!(world.files("tmp").is_empty());
    assert!(world.files("attachments").is_empty());
}

#[test]
fn a_name_that_is_taken_is_never_overwritten() {
    let world = World::new();
    let id = AttachmentId { receipt: ReceiptId::new(world.now, 3), position: 1 };
    let first = world.part(b"first", 1).seal(id).unwrap();
    let Err(SealError::Taken(part)) = world.part(b"second", 2).seal(id) else { panic!("not taken") };
    let other = AttachmentId { position: 2, ..id };
    let second = part.seal(other).unwrap();
    let read = |file: &SealedFile| std::fs::read(world.store.directory().attachments().join(file.path())).unwrap();
    assert_eq!((read(&first), read(&second)), (b"first".to_vec(), b"second".to_vec()));
}

#[test]
fn an_erasure_cut_short_is_finished_by_the_sweep() {
    let world = World::new();
    let id = world.stored(&Wish { file: Some(b"%PDF"), ..Wish::default() });
    // As far as the transaction, and not a step further.
    world
        .store
        .write(move |db, _| {
            db.execute("INSERT INTO removals (path) SELECT 'attachments/' || path FROM attachments", [])?;
            db.execute("DELETE FROM attachments", [])?;
            Ok(db.execute("DELETE FROM contents", [])?)
        })
        .unwrap();
    assert_eq!(world.files("attachments"), [format!("{id}-1")]);
    let report = world.sweep(world.later(Span::from_hours(5)));
    assert_eq!((report.removals_retried, report.quarantined), (1, 0));
    assert!(world.files("attachments").is_empty());
    assert!(world.files("quarantine").is_empty());
}
