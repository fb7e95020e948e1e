//! Contract 11.4: how many confirmations there may be.

use std::sync::Barrier;

use super::*;
use crate::domain::delivery::Reason;
use crate::domain::fingerprint::MailboxHash;
use crate::domain::target::ConfirmationTarget;

impl World {
    /// A submission of its own, `number` apart, that arrived `since` the world began and asks for a confirmation.
    fn asking(&self, number: u32, mailbox: u8, per_hour: u32, since: Span) -> NewReceipt {
        let (subject, text) = ("s".to_owned(), "t".to_owned());
        let target = ConfirmationTarget { address: "anna@home.example".to_owned(), subject, text };
        NewReceipt {
            key_hash: Some(KeyHash(u128::from(number).to_be_bytes())),
            received_at: self.later(since),
            confirmation: Some(NewConfirmation { target, mailbox: MailboxHash([mailbox; 16]), per_hour }),
            ..self.submission(&Wish { number: number * 8, ..Wish::default() })
        }
    }

    /// Whether that submission is confirmed.
    fn confirms(&self, new: NewReceipt) -> bool {
        let before = self.confirmed();
        assert!(matches!(record(&self.store, new).unwrap(), Outcome::Stored(_)));
        self.confirmed() > before
    }

    fn confirmed(&self) -> i64 {
        self.count("SELECT COUNT(*) FROM deliveries WHERE channel = 'confirmation'")
    }
}

const MINUTE: Span = Span::from_minutes(1);

#[test]
fn of_any_number_of_submissions_at_once_one_is_confirmed() {
    let world = World::new();
    let barrier = Barrier::new(8);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (world, barrier) = (&world, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for turn in 0..25 {
                    // Recorded in another order than they arrived, as under load.
                    let since = Span::from_millis(i64::from((turn * 7 + thread) % 25));
                    let new = world.asking(1 + thread * 25 + turn, 1, 100, since);
                    assert!(matches!(record(&world.store, new).unwrap(), Outcome::Stored(_)));
                }
            });
        }
    });
    assert_eq!(world.count("SELECT COUNT(*) FROM receipts"), 200);
    assert_eq!(world.confirmed(), 1);
}

#[test]
fn a_mailbox_has_one_in_any_day_and_another_mailbox_its_own() {
    let world = World::new();
    assert!(world.confirms(world.asking(1, 1, 100, Span::from_millis(0))));
    assert!(!world.confirms(world.asking(2, 1, 100, Span::from_millis(Span::from_hours(24).as_millis() - 1))));
    assert!(world.confirms(world.asking(3, 2, 100, MINUTE)));
    assert!(world.confirms(world.asking(4, 1, 100, Span::from_hours(24))));
    assert!(!world.confirms(world.asking(5, 1, 100, Span::from_hours(25))), "the day begins anew");
}

#[test]
fn the_hour_has_its_budget_for_all_together_and_rolls_on() {
    let world = World::new();
    for n in 0..3_u8 {
        let new = world.asking(1 + u32::from(n), 1 + n, 3, Span::from_minutes(i64::from(n)));
        assert!(world.confirms(new));
    }
    assert!(!world.confirms(world.asking(5, 5, 3, Span::from_minutes(59))), "three in the hour");
    assert!(world.confirms(world.asking(6, 5, 3, Span::from_minutes(60))), "the first one's hour is over");
    assert!(!world.confirms(world.asking(7, 6, 3, Span::from_minutes(60))));
    assert!(!world.confirms(world.asking(8, 7, 0, Span::from_hours(30))), "a budget of none");
}

#[test]
fn a_repeat_or_a_conflict_takes_nothing_from_anybody() {
    let world = World::new();
    let stored = |new: NewReceipt| record(&world.store, new).unwrap();
    let Outcome::Stored(id) = stored(NewReceipt { confirmation: None, ..world.asking(1, 1, 1, MINUTE) }) else {
        panic!()
    };
    assert_eq!(stored(world.asking(1, 1, 1, MINUTE)), Outcome::Repeated(id));
    let other = NewReceipt { content_hash: ContentHash([9; 32]), ..world.asking(1, 1, 1, MINUTE) };
    assert_eq!(stored(other), Outcome::Conflict);
    assert_eq!(world.count("SELECT COUNT(*) FROM confirmations"), 0);
    assert!(world.confirms(world.asking(2, 1, 1, MINUTE)));
}

#[test]
fn a_clock_that_was_ahead_blocks_nobody_for_ever() {
    let world = World::new();
    let year = Span::from_days(365);
    assert!(world.confirms(world.asking(1, 1, 1, year)));
    assert!(world.confirms(world.asking(2, 1, 1, MINUTE)), "neither the mailbox nor the budget");
    assert!(!world.confirms(world.asking(3, 1, 1, Span::from_millis(0))), "a moment earlier is still the same day");
}

#[test]
fn the_sweep_forgets_mailboxes_after_their_day_and_keeps_those_of_today() {
    let world = World::new();
    for n in 0..250_u32 {
        let mailbox = MailboxHash(u128::from(n + 1000).to_be_bytes());
        let mut new = world.asking(1 + n, 0, 1000, Span::from_millis(0));
        new.confirmation.as_mut().unwrap().mailbox = mailbox;
        assert!(world.confirms(new));
    }
    assert!(world.confirms(world.asking(300, 1, 1000, Span::from_hours(23))));
    assert!(world.confirms(world.asking(301, 2, 1000, Span::from_days(365))));
    world.sweep(world.later(Span::from_hours(25)));
    assert_eq!(world.count("SELECT COUNT(*) FROM confirmations"), 1);
}

#[test]
fn the_target_of_a_confirmation_stands_behind_the_others_and_goes_with_the_values() {
    let world = World::new();
    let Outcome::Stored(id) = record(&world.store, world.asking(1, 1, 1, MINUTE)).unwrap() else { panic!() };
    let view = world.view(id, world.later(MINUTE));
    let shown: Vec<_> = view.row.deliveries.iter().map(|d| (d.destination.as_str(), d.target.as_deref())).collect();
    assert_eq!(shown, [("sales", Some("hello@acme.example")), ("confirmation", Some("anna@home.example"))]);
    world.store.erase(&[id], world.later(MINUTE)).unwrap();
    let view = world.view(id, world.later(MINUTE));
    assert!(view.row.deliveries.iter().all(|d| d.target.is_none() && d.reason == Some(Reason::ValuesGone)));
}
