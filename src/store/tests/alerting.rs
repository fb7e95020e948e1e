//! What failed is told once, and what fails anew is told anew.

use super::*;

impl World {
    /// A submission whose only delivery the peer refused.
    fn refused(&self, number: u32, now: Timestamp) -> DeliveryId {
        let key = u8::try_from(number).unwrap();
        self.stored(&Wish { number, key: Some(key), content: key, ..Wish::default() });
        let claim = self.claim(i64::from(number), now).unwrap();
        assert_eq!(self.settle(&claim, Verdict::Refused, now), Settled::Settled);
        claim.id
    }

    /// Sends one again and has it refused again.
    fn refused_again(&self, id: DeliveryId, now: Timestamp) {
        self.store.resend(id, now, |_, _| true).unwrap().unwrap();
        let claim = self.claim(99, now).unwrap();
        self.settle(&claim, Verdict::Refused, now);
    }
}

#[test]
fn a_failure_is_told_once_and_told_anew_when_it_fails_anew() {
    let world = World::new();
    let first = world.refused(1, world.now);
    let second = world.refused(2, world.later(Span::from_secs(1)));
    let failures = world.store.failures().unwrap();
    assert_eq!(failures.count(), 2);
    assert_eq!(failures.first.iter().map(|failure| failure.id).collect::<Vec<_>>(), [first, second]);
    assert_eq!(failures.first[0].failed_at, Some(world.now.plus(Span::from_millis(12))));
    assert_eq!(failures.tallies.len(), 1);
    assert_eq!(failures.tallies[0].count, 2);
    assert_eq!(failures.name(), Some(format!("alert-{second}-1")));
    world.store.settle_alert(&failures, world.now).unwrap();
    assert_eq!(world.store.failures().unwrap().count(), 0);

    world.refused_again(first, world.later(Span::from_minutes(1)));
    let failures = world.store.failures().unwrap();
    assert_eq!((failures.count(), failures.name()), (1, Some(format!("alert-{first}-2"))));
}

#[test]
fn what_failed_anew_while_the_message_was_under_way_is_still_to_be_told() {
    let world = World::new();
    let id = world.refused(1, world.now);
    let failures = world.store.failures().unwrap();
    world.refused_again(id, world.later(Span::from_secs(5)));
    world.store.settle_alert(&failures, world.later(Span::from_secs(6))).unwrap();
    assert_eq!(world.store.failures().unwrap().count(), 1);
}

#[test]
fn what_was_erased_needs_nobody() {
    let world = World::new();
    let id = world.refused(1, world.now);
    world.store.erase(&[id.receipt], world.now).unwrap();
    assert_eq!(world.store.failures().unwrap().count(), 0);
}

#[test]
fn of_two_who_saw_the_same_moments_one_may_try() {
    let world = World::new();
    let seen = world.store.alert_times().unwrap();
    assert_eq!(seen, AlertTimes::default());
    assert_eq!(world.store.begin_alert(seen, world.now).unwrap(), Begun::Ours);
    assert_eq!(world.tool().begin_alert(seen, world.now).unwrap(), Begun::Others);
    assert_eq!(world.store.alert_times().unwrap(), AlertTimes { tried: Some(world.now), sent: None });
}

#[test]
fn of_many_failures_all_are_counted_and_marked_and_twenty_are_described() {
    let world = World::new();
    for number in 1..=25 {
        world.refused(number, world.now);
    }
    let failures = world.store.failures().unwrap();
    assert_eq!((failures.count(), failures.first.len(), failures.tallies[0].count), (25, 20, 25));
    world.store.settle_alert(&failures, world.now).unwrap();
    assert_eq!(world.count("SELECT SUM(alerted) FROM deliveries"), 25);
}
