//! Backups, restored and verified: what an erasure, a crash or damage at the worst moment makes of them.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;

use super::*;
use crate::domain::delivery::Hold;

/// A submission with a file, numbered.
fn wish(number: u8) -> Wish {
    let text = ["alpha", "bravo", "charly", "delta", "echo"][usize::from(number) % 5];
    Wish {
        number: u32::from(number) * 8 + 1,
        key: Some(number),
        content: number,
        text,
        file: Some(b"%PDF-1.7 a file of some bytes"),
        ..Wish::default()
    }
}

fn shelf(world: &World) -> PathBuf {
    world.temp.path().join("backups")
}

/// A backup `minutes` after the world's making.
fn back_up(world: &World, minutes: i64) -> Result<BackedUp, BackupError> {
    back_up_watched(world, minutes, &mut |_| {})
}

fn back_up_watched(world: &World, minutes: i64, watcher: &mut dyn FnMut(Progress)) -> Result<BackedUp, BackupError> {
    let order = BackupOrder { dir: &shelf(world), keep: None, key: KeyCopy::Included };
    world.tool().back_up(&order, world.later(Span::from_minutes(minutes)), watcher)
}

fn faults(dir: &Path) -> Vec<String> {
    verify_backup(dir, &mut |_| {}).unwrap().faults.iter().map(Fault::to_string).collect()
}

fn restore_into(world: &World, name: &str) -> Result<Restored, BackupError> {
    let into = world.temp.path().join(name);
    restore(&shelf(world), &into, KeySource::Backup, world.now, &mut |_| {})
}

/// Every file below a folder by path.
fn tree(root: &Path) -> BTreeMap<String, PathBuf> {
    let mut all = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in disk::entries(&folder).unwrap() {
            match entry.kind {
                disk::EntryKind::Folder => folders.push(entry.path),
                _ => drop(all.insert(entry.path.strip_prefix(root).unwrap().display().to_string(), entry.path)),
            }
        }
    }
    all
}

#[test]
fn a_backup_holds_the_database_exactly_its_files_the_key_and_a_manifest_for_its_owner_alone() {
    let world = World::new();
    let (kept, erased) = (world.stored(&wish(1)), world.stored(&wish(2)));
    world.store.erase(&[erased], world.now).unwrap();
    std::fs::write(world.root().join("mail/x.eml"), "no record").unwrap();
    let made = back_up(&world, 0).unwrap();
    let day = world.now.day();
    let file = format!("attachments/{day}/{kept}-1");
    assert_eq!(tree(&made.path).into_keys().collect::<Vec<_>>(), [&file, "formd.db", "key", "manifest.json"]);
    assert_eq!((made.receipts, made.files, made.linked), (2, 1, 0));
    for path in tree(&made.path).into_values() {
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
    }
    for folder in [shelf(&world), made.path.clone(), made.path.join("attachments")] {
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }
    assert_eq!(faults(&shelf(&world)), Vec::<String>::new());
    assert_eq!(world.store.facts().unwrap().last_backup_at, Some(world.now));
    std::fs::remove_file(world.root().join("mail/x.eml")).unwrap();
}

#[test]
fn what_is_erased_between_the_snapshot_and_its_copy_is_erased_in_the_backup_too_and_at_once_here() {
    let world = World::new();
    let ids: Vec<ReceiptId> = (1..=3).map(|number| world.stored(&wish(number))).collect();
    let mut erased = None;
    // The snapshot's last page is copied, no file is yet.
    let made = back_up_watched(&world, 0, &mut |progress| {
        if progress.what == "files" && erased.is_none() {
            erased = Some(world.store.erase(&ids[1..], world.now).unwrap());
        }
    })
    .unwrap();
    let erased = erased.unwrap();
    assert!(erased.wal_truncated && erased.files_left == 0, "copying files pins nothing: {erased:?}");
    assert_eq!((made.receipts, made.files), (3, 1));
    assert_eq!(faults(&made.path), Vec::<String>::new());
    let restored = restore_into(&world, "again").unwrap();
    let again = Store::open_tool(&restored.into).unwrap();
    assert!(again.show(ids[1], world.now).unwrap().unwrap().contents.is_none());
    let bytes = std::fs::read(made.path.join("formd.db")).unwrap();
    assert!(!bytes.windows(6).any(|six| six == b"charly"), "its values are not in the copy");
}

#[test]
fn a_file_that_is_gone_or_changed_without_an_erasure_is_named_and_there_is_no_backup() {
    let world = World::new();
    let ids = [world.stored(&wish(1)), world.stored(&wish(2))];
    let [one, two] = ids.map(|id| world.view(id, world.now).attachments.unwrap().remove(0).path);
    let aside = world.temp.path().join("aside");
    std::fs::rename(&one, &aside).unwrap();
    std::fs::write(&two, b"%PDF-1.7 A file of some bytes").unwrap();
    let Err(BackupError::Damaged { faults, .. }) = back_up(&world, 0) else { panic!("a damaged file was backed up") };
    let said: Vec<String> = faults.iter().map(Fault::to_string).collect();
    let day = world.now.day();
    assert_eq!(
        said,
        [
            format!("{}-a1: its file `attachments/{day}/{}-1` is missing", ids[0], ids[0]),
            format!("{}-a1: the bytes of `attachments/{day}/{}-1` are not those that were written", ids[1], ids[1]),
        ]
    );
    let found = world.store.verify(world.now, &mut |_| {}).unwrap();
    assert_eq!(found.faults, faults);
    assert_eq!(disk::entries(&shelf(&world)).unwrap().len(), 1, "only the lock is left");
    assert_eq!(world.store.facts().unwrap().last_backup_at, None);
    std::fs::rename(&aside, &one).unwrap();
    std::fs::write(&two, b"%PDF-1.7 a file of some bytes").unwrap();
    back_up(&world, 1).unwrap();
}

#[test]
fn a_second_backup_shares_the_files_of_the_first_and_never_those_of_the_data_directory() {
    let world = World::new();
    let first = world.stored(&wish(1));
    let one = back_up(&world, 0).unwrap();
    let second = world.stored(&wish(2));
    let two = back_up(&world, 1).unwrap();
    assert_eq!((two.files, two.linked), (2, 1));
    let inode = |root: &Path, id: ReceiptId| {
        root.join(format!("attachments/{}/{id}-1", world.now.day())).metadata().unwrap().ino()
    };
    assert_eq!(inode(&one.path, first), inode(&two.path, first));
    assert_ne!(inode(world.root(), first), inode(&one.path, first));
    assert_ne!(inode(world.root(), second), inode(&two.path, second));
    // Cut short in the older backup, it is fetched anew.
    let path = one.path.join(format!("attachments/{}/{first}-1", world.now.day()));
    File::options().write(true).open(&path).unwrap().set_len(3).unwrap();
    let three = back_up(&world, 2).unwrap();
    assert_eq!((three.files, three.linked), (2, 1));
    assert_eq!(faults(&three.path), Vec::<String>::new());
    assert_eq!(faults(&two.path).len(), 1);
}

#[test]
fn keep_removes_the_oldest_of_ours_and_nothing_else() {
    let world = World::new();
    let names = |world: &World| -> Vec<String> {
        let mut names: Vec<String> = disk::entries(&shelf(world)).unwrap().into_iter().map(|e| e.name).collect();
        names.sort();
        names
    };
    back_up(&world, 0).unwrap();
    for foreign in ["notes", "20200101T000000.000Z", "x.part"] {
        std::fs::create_dir_all(shelf(&world).join(foreign)).unwrap();
    }
    std::fs::create_dir_all(shelf(&world).join("20200101T000001.000Z.part/attachments")).unwrap();
    let kept = back_up(&world, 1).unwrap();
    let dir = shelf(&world);
    let order = BackupOrder { dir: &dir, keep: std::num::NonZeroUsize::new(2), key: KeyCopy::Included };
    let last = world.tool().back_up(&order, world.later(Span::from_minutes(2)), &mut |_| {}).unwrap();
    assert_eq!(last.removed, 1);
    let of = |made: &BackedUp| made.path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut left = vec!["20200101T000000.000Z".to_owned(), of(&kept), of(&last)];
    left.extend(["formd-backup.lock", "notes", "x.part"].map(str::to_owned));
    assert_eq!(names(&world), left, "the interrupted one is cleared, strangers stay");
}

#[test]
fn a_folder_inside_the_data_directory_or_open_to_others_is_refused() {
    let world = World::new();
    let attempt = |dir: PathBuf| {
        let order = BackupOrder { dir: &dir, keep: None, key: KeyCopy::Included };
        world.tool().back_up(&order, world.now, &mut |_| {}).unwrap_err().to_string()
    };
    assert!(attempt(world.root().join("backups/deep")).contains("is inside the data directory"));
    assert!(!world.root().join("backups").exists(), "and it was not made");
    let link = world.temp.path().join("link");
    std::os::unix::fs::symlink(world.root(), &link).unwrap();
    assert!(attempt(link).contains("is inside the data directory"));
    let open = world.temp.path().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(attempt(open).contains("is writable by group or others"));
}

/// What is damaged, and how.
type Damage<'a> = (&'a str, Box<dyn Fn() + 'a>);

#[test]
fn damage_in_a_backup_is_found_and_it_is_not_restored() {
    let world = World::new();
    let id = world.stored(&wish(1));
    let path = back_up(&world, 0).unwrap().path;
    let file = path.join(format!("attachments/{}/{id}-1", world.now.day()));
    let manifest = path.join("manifest.json");
    let flipped = |path: &Path, at: usize| {
        let mut bytes = std::fs::read(path).unwrap();
        bytes[at] ^= 1;
        std::fs::write(path, bytes).unwrap();
    };
    let edited = |from: &str, to: &str| {
        let text = std::fs::read_to_string(&manifest).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(&manifest, text.replacen(from, to, 1)).unwrap();
    };
    let cases: Vec<Damage<'_>> = vec![
        ("a bit of a file", Box::new(|| flipped(&file, 9))),
        ("a file is missing", Box::new(|| std::fs::remove_file(&file).unwrap())),
        ("a file too many", Box::new(|| std::fs::write(path.join("attachments/x"), "").unwrap())),
        ("a bit of the database", Box::new(|| flipped(&path.join("formd.db"), 5000))),
        (
            "the database is cut",
            Box::new(|| File::options().write(true).open(path.join("formd.db")).unwrap().set_len(9000).unwrap()),
        ),
        ("a bit of the key", Box::new(|| flipped(&path.join("key"), 3))),
        ("the manifest's size of a file", Box::new(|| edited("\"size\": 29", "\"size\": 28"))),
        ("the manifest's time", Box::new(|| edited("\"at\": \"2", "\"at\": \"3"))),
        ("the manifest's receipts", Box::new(|| edited("\"receipts\": 1", "\"receipts\": 2"))),
        (
            "the manifest's list",
            Box::new(|| {
                let mut all: serde_json::Value = serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
                all["files"] = serde_json::json!([]);
                std::fs::write(&manifest, all.to_string()).unwrap();
            }),
        ),
        ("no manifest", Box::new(|| std::fs::remove_file(&manifest).unwrap())),
    ];
    let sound: Vec<(PathBuf, Vec<u8>)> =
        tree(&path).into_values().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
    for (what, damage) in cases {
        damage();
        assert_ne!(faults(&path), Vec::<String>::new(), "{what}");
        let refused = restore(&path, &world.temp.path().join("never"), KeySource::Backup, world.now, &mut |_| {});
        assert!(matches!(refused, Err(BackupError::Damaged { .. })), "{what}: {refused:?}");
        assert!(!world.temp.path().join("never").exists());
        disk::unlink(&path.join("attachments/x")).unwrap();
        for (path, bytes) in &sound {
            std::fs::write(path, bytes).unwrap();
        }
        assert_eq!(faults(&path), Vec::<String>::new());
    }
}

#[test]
fn a_restore_holds_all_that_waits_and_a_repeat_is_recognised() {
    let world = World::new();
    let id = world.stored(&Wish { destinations: &["sales", "crm", "boss", "gone"], ..wish(1) });
    let claimed = world.claim(7, world.now).unwrap();
    let sent = world.claim(8, world.now).unwrap();
    world.settle(&sent, Verdict::Accepted, world.now);
    let fate = |queue: &Queue| {
        if queue.destination == "gone" { Fate::Hold(Hold::SiteGone) } else { Fate::Release(Hold::Spam) }
    };
    world.store.move_waiting(fate, world.now).unwrap();
    back_up(&world, 0).unwrap();
    let restored = restore_into(&world, "again").unwrap();
    assert_eq!((restored.receipts, restored.files, restored.held), (1, 1, 3));
    let again = Store::open_daemon(&restored.into, world.now, [9; 32]).unwrap();
    let held: Vec<(&str, Option<Hold>)> =
        again.show(id, world.now).unwrap().unwrap().row.deliveries.iter().map(|row| (row.state, row.held)).collect();
    let waits = |row: &&(&str, Option<Hold>)| **row == ("pending", Some(Hold::Restored));
    assert_eq!(held.iter().filter(waits).count(), 3, "{held:?}");
    // Not even the return of a site's file or the end of a claim lets anything go.
    again.move_waiting(|_| Fate::Release(Hold::SiteGone), world.later(Span::from_days(1))).unwrap();
    assert!(claim(&again, &Turn::default(), 9, world.later(Span::from_days(1))).is_none());
    assert_eq!(again.find_by_key(KeyHash([1; 16])).unwrap().unwrap().receipt, id);
    assert!(again.verify(world.now, &mut |_| {}).unwrap().faults.is_empty());
    assert_eq!(again.facts().unwrap().last_backup_at, Some(world.now));
    world.settle(&claimed, Verdict::Accepted, world.now);
}

#[test]
fn a_restore_overwrites_nothing_and_an_interrupted_one_is_opened_by_nobody() {
    let world = World::new();
    let id = world.stored(&wish(1));
    back_up(&world, 0).unwrap();
    let said = |outcome: Result<Restored, BackupError>| outcome.unwrap_err().to_string();
    let running = restore(&shelf(&world), world.root(), KeySource::Backup, world.now, &mut |_| {});
    assert!(said(running).contains("a daemon or another restore works in"));
    let other = world.temp.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("note"), "mine").unwrap();
    assert!(said(restore_into(&world, "other")).contains("is not empty: there is `note`"));
    assert_eq!(tree(&other).len(), 1);
    // Killed before its last step.
    let into = restore_into(&world, "again").unwrap().into;
    std::fs::rename(into.join("formd.db"), into.join("restore.part")).unwrap();
    std::fs::write(into.join("attachments/left"), "over").unwrap();
    for error in [Store::open_daemon(&into, world.now, [9; 32]).err(), Store::open_tool(&into).err()] {
        assert!(error.unwrap().to_string().contains("holds a restore that has not ended"));
    }
    let again = restore_into(&world, "again").unwrap();
    assert!(!again.into.join("attachments/left").exists());
    assert!(Store::open_tool(&into).unwrap().show(id, world.now).unwrap().is_some());
}

#[test]
fn without_the_key_a_restore_wants_the_right_one() {
    let world = World::new();
    world.stored(&wish(1));
    let dir = shelf(&world);
    let order = BackupOrder { dir: &dir, keep: None, key: KeyCopy::LeftOut };
    let made = world.tool().back_up(&order, world.now, &mut |_| {}).unwrap();
    assert!(!tree(&made.path).contains_key("key"));
    assert_eq!(faults(&dir), Vec::<String>::new());
    assert!(restore_into(&world, "again").unwrap_err().to_string().contains("made without the instance key"));
    let into = world.temp.path().join("again");
    let with = |key: &[u8]| restore(&dir, &into, KeySource::Kept(key), world.now, &mut |_| {});
    for wrong in [&[8; 32][..], &[7; 31], &[7; 33], b""] {
        assert!(with(wrong).unwrap_err().to_string().contains("is not the instance key of the backup"));
    }
    assert!(!into.exists());
    with(&[7; 32]).unwrap();
    assert_eq!(std::fs::read(into.join("key")).unwrap(), [7; 32]);
}

#[test]
fn a_backup_of_an_older_schema_is_brought_up_to_date_and_a_newer_one_is_refused() {
    let world = World::new();
    world.stored(&wish(1));
    let path = back_up(&world, 0).unwrap().path;
    let manifest = std::fs::read_to_string(path.join("manifest.json")).unwrap();
    let newer = manifest.replace(&format!("\"schema\": {}", schema::SCHEMA.version()), "\"schema\": 99");
    std::fs::write(path.join("manifest.json"), newer).unwrap();
    let said = restore_into(&world, "again").unwrap_err().to_string();
    assert!(said.contains("has version 99"), "{said}");
    let (_temp, old) = versions::backed_up_by_version_1(&path);
    let restored = restore(&old, &world.temp.path().join("old"), KeySource::Backup, world.now, &mut |_| {}).unwrap();
    assert_eq!((restored.receipts, restored.held), (2, 4));
    let again = Store::open_daemon(&restored.into, world.now, [9; 32]).unwrap();
    assert!(claim(&again, &Turn::default(), 9, world.later(Span::from_days(1))).is_none());
}

#[test]
fn a_live_directory_with_a_young_stray_is_sound_and_with_an_old_one_is_not() {
    let world = World::new();
    world.stored(&wish(1));
    let stray = world.root().join(format!("attachments/{}/stray", world.now.day()));
    std::fs::write(&stray, "x").unwrap();
    touch(&stray, world.now);
    let found = world.tool().verify(world.now, &mut |_| {}).unwrap();
    assert_eq!((found.young, found.faults.len(), found.files, found.receipts), (1, 0, 1, 1));
    let found = world.tool().verify(world.later(Span::from_hours(2)), &mut |_| {}).unwrap();
    assert_eq!(found.faults, [Fault::Stray { path: format!("attachments/{}/stray", world.now.day()) }]);
    std::fs::remove_file(stray).unwrap();
}
