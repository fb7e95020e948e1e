//! Contract 10.1, 10.3, 10.4, 10.8: claims, turns, settling, sending again.

use std::sync::Arc;

use super::*;
use crate::domain::delivery::{IllegalStep, Reason};

const ACCEPTED: Verdict = Verdict::Accepted;
const LATER: Verdict = Verdict::TryLater { after: None };

#[test]
fn a_claim_counts_before_the_send_and_nobody_else_gets_it() {
    let world = World::new();
    let id = world.stored(&Wish { file: Some(b"%PDF"), ..Wish::default() });
    let claim = world.claim(11, world.now).unwrap();
    assert_eq!((claim.id, claim.attempt, claim.token), (DeliveryId { receipt: id, n: 1 }, 1, 11));
    assert_eq!((claim.site.as_str(), claim.form.as_str(), claim.destination.as_str()), ("acme", "quote", "sales"));
    assert_eq!((claim.contents.clone(), claim.attachments.len()), (contents("hello"), 1));
    assert!(world.claim(12, world.now).is_none());
    let row = &world.view(id, world.now).row.deliveries[0];
    assert_eq!((row.state, row.attempts, row.sending), ("pending", 1, true));
    assert_eq!(world.store.confirm(&claim, world.now).unwrap(), Settled::Settled);
    assert_eq!(world.settle(&claim, ACCEPTED, world.now), Settled::Settled);
    let view = world.view(id, world.now);
    assert_eq!((view.row.deliveries[0].state, view.row.deliveries[0].sending), ("delivered", false));
    assert_eq!((view.attempts[0][0].outcome.as_str(), view.attempts[0][0].milliseconds), ("accepted", 12));
    assert_eq!(world.store.next_due(&[]).unwrap(), Due::Never);
}

#[test]
fn a_claim_older_than_five_minutes_is_taken_over_and_the_late_answer_is_ignored() {
    let world = World::new();
    let id = world.stored(&Wish::default());
    let first = world.claim(11, world.now).unwrap();
    let over = world.later(Span::from_minutes(5));
    assert_eq!(world.store.next_due(&[]).unwrap(), Due::At(over));
    assert!(world.claim(12, over.minus(Span::from_millis(1))).is_none());
    let second = world.claim(12, over).unwrap();
    assert_eq!((second.id, second.attempt), (first.id, 2));
    assert_eq!(world.store.confirm(&first, over).unwrap(), Settled::ClaimLost);
    assert_eq!(world.settle(&first, ACCEPTED, over), Settled::ClaimLost);
    assert_eq!(world.view(id, over).row.deliveries[0].state, "pending");
    assert_eq!(world.settle(&second, LATER, over), Settled::Settled);
    let view = world.view(id, over);
    assert_eq!((view.row.deliveries[0].state, view.attempts[0].len()), ("retrying", 2));
    assert_eq!(view.row.deliveries[0].next_attempt_at, Some(over.plus(Span::from_minutes(2))));
}

#[test]
fn a_claim_that_never_began_is_given_back_uncounted() {
    let world = World::new();
    world.stored(&Wish::default());
    let claim = world.claim(11, world.now).unwrap();
    world.store.unclaim(claim.id, 99, world.now).unwrap();
    assert!(world.claim(12, world.now).is_none());
    world.store.unclaim(claim.id, 11, world.now).unwrap();
    assert_eq!(world.claim(12, world.now).unwrap().attempt, 1);
}

#[test]
fn sites_take_turns_and_what_is_capped_is_hopped_over() {
    let world = World::new();
    let mut key = 0;
    for (site, destinations) in [("b", &["x", "y"][..]), ("b", &["x"]), ("a", &["x"]), ("c", &["x"])] {
        key += 1;
        world.stored(&Wish { number: u32::from(key) * 10, site, key: Some(key), destinations, ..Wish::default() });
    }
    let pick = |turn: &Turn, token| claim(&world.store, turn, token, world.now).map(|c| (c.site, c.destination));
    let found = |site: &str, destination: &str| Some((site.to_owned(), destination.to_owned()));
    let mut turn = Turn { after_site: Some("a".to_owned()), ..Turn::default() };
    turn.skip_destinations.push(("b".to_owned(), "x".to_owned()));
    assert_eq!(pick(&turn, 1), found("b", "y"));
    assert_eq!(pick(&turn, 2), found("c", "x"));
    // Around to the beginning; then nothing but what is capped.
    assert_eq!(pick(&turn, 3), found("a", "x"));
    assert_eq!(pick(&turn, 4), None);
    turn.skip_destinations.clear();
    turn.skip_sites.push("b".to_owned());
    assert_eq!(pick(&turn, 5), None);
    assert_eq!(world.store.next_due(&turn.skip_sites).unwrap(), Due::At(world.later(Span::from_minutes(5))));
    assert_eq!(world.store.next_due(&[]).unwrap(), Due::At(world.now));
    assert_eq!(pick(&Turn { after_site: Some("b".to_owned()), ..Turn::default() }, 6), found("b", "x"));
}

#[test]
fn within_a_site_the_idle_destination_that_was_served_longest_ago_has_its_turn() {
    let world = World::new();
    let waiting: [(u8, &[&str]); 5] =
        [(10, &["hangs"]), (20, &["hangs"]), (30, &["slow"]), (40, &["well"]), (50, &["new"])];
    for (number, destinations) in waiting {
        world.stored(&Wish { number: number.into(), key: Some(number), destinations, ..Wish::default() });
    }
    let mut served = Served::default();
    for destination in ["well", "slow", "hangs"] {
        served.note("acme", destination);
    }
    let seated = vec![("acme".to_owned(), "well".to_owned())];
    let turn = Turn { seated, served: Arc::new(served), ..Turn::default() };
    let order: Vec<String> =
        (1..=5).map(|token| claim(&world.store, &turn, token, world.now).unwrap().destination).collect();
    assert_eq!(order, ["new", "slow", "hangs", "hangs", "well"]);
}

#[test]
fn a_delivery_whose_values_are_gone_ends_on_the_way_and_the_next_one_is_claimed() {
    let world = World::new();
    let old = world.stored(&Wish::default());
    let mut new = world.submission(&Wish { number: 9, key: Some(2), ..Wish::default() });
    new.erase_at = world.later(Span::from_days(60));
    record(&world.store, new).unwrap();
    let now = world.later(Span::from_days(30));
    assert_eq!(world.claim(1, now).unwrap().id.receipt, ReceiptId::new(world.now, 9));
    let row = &world.view(old, now).row.deliveries[0];
    assert_eq!((row.state, row.reason, row.target.as_deref()), ("failed", Some(Reason::ValuesGone), None));
}

#[test]
fn thousands_that_expired_while_nobody_looked_end_in_small_transactions() {
    let world = World::new();
    let (reply, outcomes) = channel();
    for number in 0..250_u32 {
        let mut new = world.submission(&Wish { number: number * 10, ..Wish::default() });
        new.key_hash = Some(KeyHash(u128::from(number).to_be_bytes()));
        let reply = reply.clone();
        world.store.record(new, move |outcome| reply.send(outcome.is_ok()).unwrap());
    }
    assert!((0..250).all(|_| outcomes.recv().unwrap()));
    assert!(world.claim(1, world.later(Span::from_days(31))).is_none());
    assert_eq!(world.count("SELECT COUNT(*) FROM deliveries WHERE reason = 'values_gone'"), 250);
}

#[test]
fn one_row_that_cannot_be_read_does_not_hold_up_the_others() {
    let world = World::new();
    let bad = world.stored(&Wish::default());
    let good = world.stored(&Wish { number: 9, key: Some(2), ..Wish::default() });
    let row = bad.as_row();
    world
        .store
        .write(move |db, _| {
            Ok(db.execute("UPDATE contents SET targets = '[{\"pigeon\":{}}]' WHERE receipt = ?1", [row])?)
        })
        .unwrap();
    assert_eq!(world.claim(1, world.now).unwrap().id.receipt, good);
    assert_eq!(world.view(bad, world.now).row.deliveries[0].reason, Some(Reason::Refused));
    assert_eq!(world.store.numbers(world.now).unwrap().failed_deliveries, 1);
}

#[test]
fn resending_goes_by_the_state_and_never_during_a_send() {
    let world = World::new();
    let id = DeliveryId { receipt: world.stored(&Wish::default()), n: 1 };
    let resend =
        |now| world.store.resend(id, now, |site, destination| (site, destination) == ("acme", "sales")).unwrap();
    let now = world.now;
    assert_eq!(resend(now), Err(ResendError::State(IllegalStep::AlreadyPending)));
    let claim = world.claim(1, now).unwrap();
    assert_eq!(resend(now), Err(ResendError::InProgress));
    world.settle(&claim, LATER, now);
    assert_eq!(resend(now), Ok(Resent(id)));
    let row = &world.view(id.receipt, now).row.deliveries[0];
    assert_eq!((row.state, row.attempts, row.next_attempt_at), ("pending", 0, Some(now)));
    world.settle(&world.claim(2, now).unwrap(), Verdict::Refused, now);
    assert_eq!(world.store.resend(id, now, |_, _| false).unwrap(), Err(ResendError::DestinationInactive));
    assert_eq!(resend(now), Ok(Resent(id)));
    world.settle(&world.claim(3, now).unwrap(), ACCEPTED, now);
    assert_eq!(resend(now), Err(ResendError::State(IllegalStep::AlreadyDelivered)));
    assert_eq!(resend(world.later(Span::from_days(30))), Err(ResendError::ValuesGone));
    let unknown = DeliveryId { n: 2, ..id };
    assert_eq!(world.store.resend(unknown, now, |_, _| true).unwrap(), Err(ResendError::Missing));
}

#[test]
fn a_running_daemon_is_woken_by_a_submission_and_by_a_resend_of_another_process() {
    let world = World::new();
    let wake = world.store.directory().listen().unwrap();
    wake.set_read_timeout(Some(std::time::Duration::from_secs(2))).unwrap();
    let woken = || wake.recv(&mut [0; 8]).is_ok();
    let id = DeliveryId { receipt: world.stored(&Wish::default()), n: 1 };
    assert!(woken());
    world.settle(&world.claim(1, world.now).unwrap(), Verdict::Refused, world.now);
    assert_eq!(world.tool().resend(id, world.now, |_, _| true).unwrap(), Ok(Resent(id)));
    assert!(woken());
    // What makes nothing due wakes nobody.
    world.stored(&Wish { number: 9, key: Some(2), destinations: &[], ..Wish::default() });
    wake.set_nonblocking(true).unwrap();
    assert!(!woken());
}
