//! Where private text lies in the database's file, and that nothing of it remains there.

use super::*;

/// Numbers that look random and are the same every time (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) >> 33).unwrap() % end
    }
}

/// A submission whose value, address and, for some, file name are `marker`; numbers do not come in order.
fn marked(world: &World, dice: &mut Dice, number: u32, marker: &str) -> NewReceipt {
    let file: Option<&'static [u8]> = (dice.below(4) == 0).then_some(b"%PDF");
    let mut new = world.submission(&Wish { number: number * 10, file, ..Wish::default() });
    new.key_hash = Some(KeyHash(u128::from(number).to_be_bytes()));
    let times = [1, 2, 5, 30, 60, 90, 150, 400][dice.below(8)];
    new.contents = contents("");
    new.contents.fields[0].value = Value::Text(marker.repeat(times));
    new.deliveries[0].target = target(marker);
    for file in &mut new.files {
        file.name = format!("{marker}.pdf");
    }
    new
}

/// Fails what is due, each with a note that quotes the address; `most` attempts.
fn fail(world: &World, most: usize) {
    for token in 1..=most {
        let now = world.later(Span::from_millis(1));
        let Some(claim) = world.claim(i64::try_from(token).unwrap(), now) else { return };
        let Target::Email(email) = &claim.target else { panic!("an address") };
        let note = Some(format!("550 5.1.1 <{}> unknown", email.address));
        let attempt = NewAttempt { at: now, milliseconds: 1, verdict: Verdict::Refused, note };
        let failed = State::Failed(crate::domain::delivery::Reason::Refused);
        world.store.settle(claim.id, claim.token, failed, &attempt).unwrap();
    }
}

fn holds(database: &[u8], marker: &str) -> bool {
    database.windows(marker.len()).any(|window| window == marker.as_bytes())
}

/// One history: many small rows in nearly the order of their numbers, then failures and erasures in random order; the
/// markers that remain though they were erased.
fn remains(seed: u64) -> Vec<String> {
    let (world, mut dice) = (World::new(), Dice(seed));
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    let mut numbers: Vec<u32> = (1..=150).collect();
    let (reply, outcomes) = channel();
    while !numbers.is_empty() {
        let number = numbers.remove(dice.below(8.min(numbers.len())));
        let marker = format!("q{seed:04}x{number:04}zanzibar");
        let new = marked(&world, &mut dice, number, &marker);
        kept.push((new.id, marker));
        let reply = reply.clone();
        world.store.record(new, move |outcome| reply.send(outcome.is_ok()).unwrap());
    }
    assert!(kept.iter().all(|_| outcomes.recv().unwrap()));
    while kept.len() > 30 {
        fail(&world, dice.below(6));
        let lot = 1 + dice.below(12);
        let erased: Vec<_> = (0..lot).map(|_| kept.remove(dice.below(kept.len()))).collect();
        let ids: Vec<ReceiptId> = erased.iter().map(|(id, _)| *id).collect();
        assert!(world.store.erase(&ids, world.now).unwrap().wal_truncated);
        gone.extend(erased.into_iter().map(|(_, marker)| marker));
    }
    let database = std::fs::read(world.root().join("formd.db")).unwrap();
    assert!(kept.iter().all(|(_, marker)| holds(&database, marker)), "what is kept is there");
    gone.retain(|marker| holds(&database, marker));
    gone
}

#[test]
fn no_erased_text_remains_on_any_page_whatever_the_rows_beside_it_did() {
    for seed in 0..3 {
        assert_eq!(remains(seed), Vec::<String>::new(), "seed {seed}");
    }
}

#[test]
fn private_text_never_lies_on_a_page_that_moves_with_other_rows() {
    let (world, mut dice) = (World::new(), Dice(7));
    for number in 1..=60 {
        let new = marked(&world, &mut dice, number, "zanzibar");
        record(&world.store, new).unwrap();
    }
    fail(&world, 60);
    world.sweep(world.now);
    let database = std::fs::read(world.root().join("formd.db")).unwrap();
    let pages: Vec<(u32, String, String)> = world
        .store
        .read(|db| {
            let mut pages = db.prepare("SELECT pageno, name, pagetype FROM dbstat")?;
            let pages = pages.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            Ok(pages.collect::<Result<_, _>>()?)
        })
        .unwrap();
    let mut homes = std::collections::BTreeSet::new();
    for (number, name, kind) in pages {
        let end = usize::try_from(number).unwrap() * 4096;
        let page = &database[end - 4096..end];
        if holds(page, "zanzibar") {
            homes.insert(format!("{name} {kind}"));
        }
    }
    let homes: Vec<&str> = homes.iter().map(String::as_str).collect();
    // Rows of `attempts` are appended and made shorter, nothing else: no other row moves there.
    assert_eq!(homes, ["attachments overflow", "attempts leaf", "contents overflow", "deliveries overflow"]);
}
