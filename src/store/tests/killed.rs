//! `kill -9` under load, at the level of the store: what was acknowledged is there, once, with its file.

use std::io::Read as _;
use std::process::{Command, Stdio};

use super::*;

/// Where the victim works; unset in an ordinary run.
const PLACE: &str = "FORMD_TEST_VICTIM";
/// Rounds; each kills a fresh process over the same directory.
const ROUNDS: u8 = 8;

/// A key of its own for each submission.
fn key(round: u8, thread: u8, turn: u16) -> KeyHash {
    let mut bytes = [0; 16];
    bytes[..2].copy_from_slice(&[round, thread]);
    bytes[2..4].copy_from_slice(&turn.to_be_bytes());
    KeyHash(bytes)
}

#[test]
#[ignore = "the victim of what_was_acknowledged_survives_kill_9, which starts it"]
fn victim() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let (round, data) = place.split_once(':').unwrap();
    let round: u8 = round.parse().unwrap();
    let temp = tempfile::tempdir_in(Path::new(data).parent().unwrap()).unwrap();
    let now = disk::moment(temp.path().metadata().unwrap().modified().unwrap());
    let world = std::mem::ManuallyDrop::new(World {
        store: Store::open_daemon(Path::new(data), now, [7; 32]).unwrap(),
        now,
        temp,
    });
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let world = &world;
            scope.spawn(move || {
                for turn in 0..u16::MAX {
                    let number = u32::from(round) << 18 | u32::from(thread) << 16 | u32::from(turn);
                    let mut new = world.submission(&Wish { number, file: Some(b"%PDF-1.7 killed"), ..Wish::default() });
                    new.key_hash = Some(key(round, thread, turn));
                    if let Ok(Outcome::Stored(id)) = record(&world.store, new) {
                        println!("ack {thread} {turn} {id}");
                    }
                }
            });
        }
    });
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let mut world = World::new();
    let data = world.root().to_owned();
    let tool = world.tool();
    drop(std::mem::replace(&mut world.store, tool));
    let mut acknowledged = Vec::new();
    for round in 0..ROUNDS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store::tests::killed::victim", "--ignored", "--nocapture"])
            .env(PLACE, format!("{round}:{}", data.display()))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(120 + u64::from(round) * 37));
        child.kill().unwrap();
        let mut said = String::new();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        child.wait().unwrap();
        for line in said.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let Some(line) = line.split("ack ").nth(1) else { continue };
            let [thread, turn, id] = line.split_whitespace().collect::<Vec<_>>().try_into().unwrap();
            acknowledged
                .push((key(round, thread.parse().unwrap(), turn.parse().unwrap()), ReceiptId::parse(id).unwrap()));
        }
    }
    world.store = Store::open_daemon(&data, world.now, [7; 32]).unwrap();
    println!("{} acknowledged in {ROUNDS} rounds", acknowledged.len());
    assert!(!acknowledged.is_empty());
    for (key, id) in &acknowledged {
        assert_eq!(world.store.find_by_key(*key).unwrap().unwrap().receipt, *id);
        let [file] = world.view(*id, world.now).attachments.unwrap().try_into().unwrap();
        assert_eq!(Sha256Sum::of(&std::fs::read(file.path).unwrap()), file.sha256);
    }
    // Files without a row are in quarantine after the start, never the other way round (the world's Drop looks).
    let rows = usize::try_from(world.count("SELECT COUNT(*) FROM attachments")).unwrap();
    assert_eq!(world.files("attachments").len(), rows);
}
