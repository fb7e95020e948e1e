//! Waiting deliveries meet the fate of their destination.

use super::*;
use crate::domain::delivery::{Hold, Reason};

#[test]
fn hundreds_end_in_small_transactions_and_other_queues_are_left_alone() {
    let world = World::new();
    let (reply, outcomes) = channel();
    for number in 0..450_u32 {
        let destinations: &[&str] = if number % 2 == 0 { &["sales", "crm"] } else { &["sales"] };
        let mut new = world.submission(&Wish { number: number * 10, destinations, ..Wish::default() });
        new.key_hash = Some(KeyHash(u128::from(number).to_be_bytes()));
        let reply = reply.clone();
        world.store.record(new, move |outcome| reply.send(outcome.is_ok()).unwrap());
    }
    assert!((0..450).all(|_| outcomes.recv().unwrap()));
    let waiters = |destination: &str, held| {
        let all = world.store.waiters().unwrap();
        all.iter().filter(|w| w.queue.destination == destination && w.held == held).map(|w| w.count).sum::<u64>()
    };
    assert_eq!((waiters("sales", None), waiters("crm", None)), (450, 225));
    let before = world.store.writer().counts().jobs.load(std::sync::atomic::Ordering::Relaxed);
    let fate = |queue: &Queue| if queue.destination == "sales" { Fate::End } else { Fate::Release(Hold::SiteGone) };
    let moved = world.store.move_waiting(fate, world.now).unwrap();
    assert_eq!(moved, Moved { ended: 450, ..Moved::default() });
    let jobs = world.store.writer().counts().jobs.load(std::sync::atomic::Ordering::Relaxed) - before;
    assert!(jobs >= 4, "{jobs} transactions");
    assert_eq!((waiters("sales", None), waiters("crm", None)), (0, 225));
    assert_eq!(world.store.numbers(world.now).unwrap().failed_deliveries, 0, "no alarm");

    let hold = |_: &Queue| Fate::Hold(Hold::SiteGone);
    assert_eq!(world.store.move_waiting(hold, world.now).unwrap(), Moved { held: 225, ..Moved::default() });
    assert_eq!(world.store.move_waiting(hold, world.now).unwrap(), Moved::default());
    assert_eq!(world.store.numbers(world.now).unwrap().sites_gone, [("acme".to_owned(), 225)]);
    assert_eq!(world.store.next_due(&[]).unwrap(), Due::Never);
    let other = |_: &Queue| Fate::Release(Hold::Restored);
    assert_eq!(world.store.move_waiting(other, world.now).unwrap(), Moved::default(), "each hold has its own release");
    let release = |_: &Queue| Fate::Release(Hold::SiteGone);
    assert_eq!(world.store.move_waiting(release, world.now).unwrap(), Moved { released: 225, ..Moved::default() });
    assert_eq!(world.store.next_due(&[]).unwrap(), Due::At(world.now));
}

#[test]
fn a_send_under_way_is_left_alone_and_a_claim_that_ran_out_is_not() {
    let world = World::new();
    let id = world.stored(&Wish::default());
    let claim = world.claim(7, world.now).unwrap();
    let end = |_: &Queue| Fate::End;
    assert_eq!(world.store.move_waiting(end, world.now).unwrap(), Moved::default());
    let over = world.later(Span::from_minutes(5));
    assert_eq!(world.store.move_waiting(end, over).unwrap().ended, 1);
    let row = &world.view(id, over).row.deliveries[0];
    assert_eq!((row.state, row.reason), ("failed", Some(Reason::DestinationInactive)));
    assert_eq!(world.settle(&claim, Verdict::Accepted, over), Settled::ClaimLost);
}

#[test]
fn a_claim_that_is_turned_away_is_not_counted_and_keeps_what_was_said_last() {
    let world = World::new();
    let id = world.stored(&Wish::default());
    world.settle(&world.claim(1, world.now).unwrap(), Verdict::TryLater { after: None }, world.now);
    let now = world.later(Span::from_hours(1));
    let claim = world.claim(2, now).unwrap();
    world.store.turn_away(&Claim { token: 99, ..claim.clone() }, Fate::End, now).unwrap();
    assert!(world.view(id, now).row.deliveries[0].sending, "the claim of somebody else");
    world.store.turn_away(&claim, Fate::Hold(Hold::SiteGone), now).unwrap();
    let view = world.view(id, now);
    let row = &view.row.deliveries[0];
    assert_eq!((row.state, row.attempts, row.held, row.sending), ("retrying", 1, Some(Hold::SiteGone), false));
    assert_eq!((row.note.is_some(), view.attempts[0].len()), (true, 1));
    assert_eq!(world.settle(&claim, Verdict::Accepted, now), Settled::ClaimLost);
}

#[test]
fn what_is_outstanding_comes_oldest_first_in_pages_and_failures_go_once_they_are_acknowledged() {
    let world = World::new();
    for number in 1..=3_u8 {
        world.stored(&Wish {
            number: u32::from(number),
            key: Some(number),
            destinations: &["sales", "crm"],
            ..Wish::default()
        });
    }
    let list = |which, after, limit| -> Vec<DeliveryId> {
        let rows = world.store.outstanding(which, after, limit, world.now).unwrap();
        rows.iter().map(|row| row.delivery.id).collect()
    };
    let all = list(Which::Outstanding, None, 9);
    assert!(all.len() == 6 && all.is_sorted_by_key(|id| (id.receipt, id.n)), "{all:?}");
    assert_eq!(list(Which::Outstanding, Some(all[1]), 2), all[2..4]);

    let refused = world.claim(1, world.now).unwrap();
    world.settle(&refused, Verdict::Refused, world.now);
    assert_eq!(list(Which::Outstanding, None, 9), all, "a failure is still open");
    assert_eq!(list(Which::Failed, None, 9), [refused.id]);
    assert_eq!(list(Which::Pending, None, 9).len(), 5);
    assert_eq!(world.store.acknowledge(refused.id).unwrap(), Acknowledged::Now);
    assert_eq!(world.store.acknowledge(refused.id).unwrap(), Acknowledged::Before);
    assert_eq!(list(Which::Outstanding, None, 9).len(), 5);
    assert_eq!(list(Which::Failed, None, 9), [refused.id]);
    let waiting = *all.iter().find(|id| **id != refused.id).unwrap();
    assert!(matches!(world.store.acknowledge(waiting).unwrap(), Acknowledged::NotFailed(_)));
    assert_eq!(world.store.acknowledge(DeliveryId { n: 9, ..waiting }).unwrap(), Acknowledged::Missing);
    assert_eq!(world.store.acknowledge_all().unwrap(), 0);
    world.store.move_waiting(|_| Fate::Hold(Hold::Restored), world.now).unwrap();
    assert_eq!((list(Which::Held, None, 9).len(), list(Which::Retrying, None, 9).len()), (5, 0));
}
