//! Laws over any sequence of steps.

use proptest::prelude::*;

use super::*;
use crate::domain::delivery::Hold;

/// What may happen to a delivery.
#[derive(Clone, Debug)]
enum Act {
    Claim(i64),
    Settle(i64, u8),
    Unclaim(i64),
    Resend,
    Move(Fate),
    Erase,
    Sweep,
    Wait(i64),
}

/// What a configuration may want of it.
const FATES: &[Fate] =
    &[Fate::End, Fate::Hold(Hold::SiteGone), Fate::Release(Hold::SiteGone), Fate::Release(Hold::Restored)];

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (1_i64..4).prop_map(Act::Claim),
        4 => (1_i64..4, 0_u8..3).prop_map(|(token, verdict)| Act::Settle(token, verdict)),
        1 => (1_i64..4).prop_map(Act::Unclaim),
        2 => Just(Act::Resend),
        2 => proptest::sample::select(FATES).prop_map(Act::Move),
        1 => Just(Act::Erase),
        1 => Just(Act::Sweep),
        3 => (0_i64..600).prop_map(Act::Wait),
    ];
    proptest::collection::vec(act, 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_steps_breaks_a_check_or_sends_what_was_erased(acts in acts()) {
        let world = World::new();
        let id = DeliveryId { receipt: world.stored(&Wish::default()), n: 1 };
        let (mut now, mut erased, mut attempts) = (world.now, false, [0_u32; 4]);
        for act in acts {
            match act {
                Act::Claim(token) => {
                    if let Some(claim) = world.claim(token, now) {
                        prop_assert!(!erased);
                        attempts[usize::try_from(token).unwrap()] = claim.attempt;
                    }
                }
                Act::Settle(token, verdict) => {
                    let verdict = [Verdict::Accepted, Verdict::TryLater { after: None }, Verdict::Refused][usize::from(verdict)];
                    let attempt = attempts[usize::try_from(token).unwrap()];
                    let event = Event::Attempted { verdict, attempt, allowed: 5, now, chance: 0.5 };
                    let state = next(State::Pending(Waiting::Due(now)), event).unwrap();
                    let attempt = NewAttempt { at: now, milliseconds: 1, verdict, note: Some("note".into()) };
                    let settled = world.store.settle(id, token, state, &attempt).unwrap();
                    prop_assert!(!erased || settled == Settled::ClaimLost);
                }
                Act::Unclaim(token) => world.store.unclaim(id, token, now).unwrap(),
                Act::Resend => {
                    let resent = world.store.resend(id, now, |_, _| true).unwrap();
                    prop_assert!(!erased || resent == Err(ResendError::ValuesGone));
                }
                Act::Move(fate) => {
                    let moved = world.store.move_waiting(move |_| fate, now).unwrap();
                    prop_assert!(!erased || moved == Moved::default());
                }
                Act::Erase => {
                    world.store.erase(&[id.receipt], now).unwrap();
                    erased = true;
                }
                Act::Sweep => drop(world.sweep(now)),
                Act::Wait(secs) => now = now.plus(Span::from_secs(secs)),
            }
            let view = world.view(id.receipt, now);
            let delivery = &view.row.deliveries[0];
            prop_assert_eq!(delivery.state == "failed", delivery.reason.is_some());
            prop_assert!(!delivery.sending || delivery.next_attempt_at.is_some());
            prop_assert!(!erased || (delivery.state == "failed" || delivery.state == "delivered"));
            prop_assert!(!erased || view.attempts[0].iter().all(|attempt| attempt.note.is_none()));
        }
    }
}
