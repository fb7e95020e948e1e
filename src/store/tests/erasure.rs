//! Contract 14: erased means gone.

use super::*;
use crate::domain::receipt::{Erasure, ReceiptState};

/// A text that occurs nowhere by chance; it also names the file and the address.
const MARKER: &str = "zanzibar-quagga";

fn marked(number: u32, key: u8) -> Wish {
    Wish { number, key: Some(key), text: MARKER, file: Some(b"%PDF zanzibar-quagga %%EOF"), ..Wish::default() }
}

/// Whether any file below `root` holds the marker, as UTF-8, UTF-16, hex or base64 at any of its three offsets.
fn holds_marker(root: &Path) -> Vec<String> {
    let wide = |bytes: fn(u16) -> [u8; 2]| MARKER.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let mut needles = vec![MARKER.as_bytes().to_vec(), wide(u16::to_le_bytes), wide(u16::to_be_bytes)];
    let hex = crate::domain::digest::hex(MARKER.as_bytes());
    needles.extend([hex.to_uppercase().into_bytes(), hex.into_bytes()]);
    needles.extend((0..3).map(base64_middle));
    let mut holding = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in disk::entries(&folder).unwrap() {
            match entry.kind {
                disk::EntryKind::Folder => folders.push(entry.path),
                disk::EntryKind::Other => {}
                disk::EntryKind::File => {
                    let bytes = std::fs::read(&entry.path).unwrap();
                    let found = needles.iter().any(|needle| bytes.windows(needle.len()).any(|w| w == needle));
                    if found || entry.name.contains(MARKER) {
                        holding.push(entry.name);
                    }
                }
            }
        }
    }
    holding
}

/// The base64 of the marker where `offset` bytes stand before it, without the characters its neighbours share.
fn base64_middle(offset: usize) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = vec![0; offset];
    bytes.extend_from_slice(MARKER.as_bytes());
    let digits = bytes.chunks_exact(3).flat_map(|three| {
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        [18, 12, 6, 0].map(|shift| ALPHABET[(bits >> shift) as usize & 63])
    });
    digits.skip(if offset == 0 { 0 } else { 4 }).collect()
}

#[test]
fn after_erase_no_file_of_the_data_directory_holds_the_marker() {
    let world = World::new();
    for number in 1..=20_u8 {
        world.stored(&marked(u32::from(number) * 10, number));
    }
    let claim = world.claim(1, world.now).unwrap();
    world.store.directory().write_mail(claim.id, MARKER.as_bytes()).unwrap();
    let note = Some(format!("550 no such user {MARKER}@acme.example"));
    let attempt = NewAttempt { at: world.now, milliseconds: 1, verdict: Verdict::Refused, note };
    let failed = State::Failed(crate::domain::delivery::Reason::Refused);
    world.store.settle(claim.id, claim.token, failed, &attempt).unwrap();
    std::fs::write(world.root().join("formd-before-v1.db"), MARKER).unwrap();
    assert!(holds_marker(world.root()).len() >= 3);

    let ids: Vec<ReceiptId> = (1..=20).map(|number| ReceiptId::new(world.now, number * 10)).collect();
    let erased = world.store.erase(&ids, world.now).unwrap();
    assert_eq!(erased, Erased { receipts: 20, sending: Vec::new(), files_left: 0, wal_truncated: true });
    assert_eq!(holds_marker(world.root()), Vec::<String>::new());
    assert_eq!(world.count("SELECT COUNT(*) FROM removals"), 0);
    let view = world.view(claim.id.receipt, world.now);
    assert_eq!(view.row.state, ReceiptState::Erased { at: world.now, why: Erasure::Operator });
    assert_eq!((view.contents, view.attachments.is_none(), view.row.page.as_deref()), (None, true, Some("pricing")));
    assert_eq!((view.row.deliveries[0].target.clone(), view.attempts[0][0].note.clone()), (None, None));
    assert_eq!(world.view(ids[5], world.now).row.deliveries[0].state, "failed");
    // Again: nothing left to count, and done.
    let again = world.store.erase(&ids, world.now).unwrap();
    assert_eq!(again, Erased { wal_truncated: true, ..Erased::default() });
}

#[test]
fn an_old_reader_makes_it_pending_and_the_next_sweep_finishes() {
    let world = World::new();
    let id = world.stored(&marked(1, 1));
    let reader = schema::open_reader(&world.root().join("formd.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT COUNT(*) FROM receipts").unwrap();
    let _: i64 = reader.query_row("SELECT COUNT(*) FROM receipts", [], |row| row.get(0)).unwrap();
    assert!(!world.store.erase(&[id], world.now).unwrap().wal_truncated);
    assert!(!holds_marker(world.root()).is_empty());
    // Intake goes on meanwhile.
    world.stored(&Wish { number: 9, key: Some(2), ..Wish::default() });
    drop(reader);
    assert!(world.sweep(world.now).wal_truncated);
    assert_eq!(holds_marker(world.root()), Vec::<String>::new());
}

#[test]
fn a_send_under_way_is_named_its_outcome_recorded_and_no_value_returns() {
    let world = World::new();
    let id = world.stored(&marked(1, 1));
    let claim = world.claim(1, world.now).unwrap();
    assert_eq!(world.store.erase(&[id], world.now).unwrap().sending, [claim.id]);
    assert_eq!(world.store.confirm(&claim, world.now).unwrap(), Settled::ClaimLost);
    // The file transport was at it already, and the peer's word names the visitor.
    world.store.directory().write_mail(claim.id, MARKER.as_bytes()).unwrap();
    let note = Some(MARKER.to_owned());
    let attempt = NewAttempt { at: world.now, milliseconds: 1, verdict: Verdict::Accepted, note };
    let settled = world.store.settle(claim.id, claim.token, State::Delivered, &attempt).unwrap();
    assert_eq!(settled, Settled::ClaimLost);
    let view = world.view(id, world.now);
    assert_eq!((view.row.deliveries[0].state, view.row.deliveries[0].reason.is_none()), ("delivered", true));
    assert_eq!((view.attempts[0][0].outcome.as_str(), view.attempts[0][0].note.as_deref()), ("accepted", None));
    assert!(world.sweep(world.now).wal_truncated);
    assert_eq!(holds_marker(world.root()), Vec::<String>::new());
}

#[test]
fn past_its_date_a_submission_is_unreadable_before_any_sweep_and_expired_after_it() {
    let world = World::new();
    let id = world.stored(&marked(1, 1));
    let end = world.later(Span::from_days(30));
    assert!(world.view(id, end.minus(Span::from_millis(1))).contents.is_some());
    let view = world.view(id, end);
    assert_eq!(view.row.state, ReceiptState::Erased { at: end, why: Erasure::Expired });
    assert_eq!((view.contents, view.row.deliveries[0].target.as_deref()), (None, None));
    let later = end.plus(Span::from_days(1));
    assert_eq!(world.store.plan_sweep(RULES, &world.limiter(), later).unwrap().expired, 1);
    assert_eq!(world.sweep(later).expired, 1);
    assert_eq!(world.view(id, later).row.state, ReceiptState::Erased { at: end, why: Erasure::Expired });
    assert_eq!(holds_marker(world.root()), Vec::<String>::new());
    assert_eq!(world.sweep(later).expired, 0);
}

#[test]
fn a_file_that_cannot_be_unlinked_is_pending_and_retried() {
    let world = World::new();
    let id = world.stored(&marked(1, 1));
    let path = world.view(id, world.now).attachments.unwrap()[0].path.clone();
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(world.store.erase(&[id], world.now).unwrap().files_left, 1);
    let swept = world.sweep(world.now);
    assert_eq!((swept.removals_retried, swept.removals_left), (0, 1));
    std::fs::remove_dir(&path).unwrap();
    let swept = world.sweep(world.now);
    assert_eq!((swept.removals_retried, swept.removals_left), (1, 0));
    assert_eq!(world.store.erase(&[id], world.now).unwrap().files_left, 0);
}
