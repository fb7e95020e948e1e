//! Lists, prefixes, the numbers of `status`.

use super::*;
use crate::domain::ids::ReceiptPrefix;

#[test]
fn a_list_is_latest_first_in_pages_and_narrowed_by_every_filter() {
    let world = World::new();
    let mut ids = Vec::new();
    for number in 1..=6_u8 {
        let site = if number % 2 == 0 { "even" } else { "odd" };
        let mut new = world.submission(&Wish { site, key: Some(number), ..Wish::default() });
        new.received_at = world.later(Span::from_secs(i64::from(number)));
        new.id = ReceiptId::new(new.received_at, 0);
        ids.push(new.id);
        record(&world.store, new).unwrap();
    }
    ids.reverse();
    let now = world.later(Span::from_minutes(1));
    let list = |filter: &ListFilter, before, limit| -> Vec<ReceiptId> {
        world.store.list(filter, before, limit, now).unwrap().iter().map(|row| row.id).collect()
    };
    let all = ListFilter::default();
    assert_eq!(list(&all, None, 4), ids[..4]);
    assert_eq!(list(&all, Some(ids[3]), 4), ids[4..]);
    let site = ListFilter { site: Some(SiteId::parse("even").unwrap()), ..ListFilter::default() };
    assert_eq!(list(&site, None, 9), [ids[0], ids[2], ids[4]]);
    let times = ListFilter {
        since: Some(world.later(Span::from_secs(2))),
        until: Some(world.later(Span::from_secs(4))),
        ..ListFilter::default()
    };
    assert_eq!(list(&times, None, 9), [ids[3], ids[4]]);
    let key = ListFilter { key_hash: Some(KeyHash([2; 16])), ..ListFilter::default() };
    assert_eq!(list(&key, None, 9), [ids[4]]);
    assert!(list(&ListFilter { key_hash: Some(KeyHash([99; 16])), ..ListFilter::default() }, None, 9).is_empty());
    assert!(list(&ListFilter { spam: true, ..ListFilter::default() }, None, 9).is_empty());
    let claim = claim(&world.store, &Turn::default(), 1, now).unwrap();
    world.settle(&claim, Verdict::Accepted, now);
    let delivered = ListFilter { state: Some("delivered"), ..ListFilter::default() };
    assert_eq!(list(&delivered, None, 9), [claim.id.receipt]);
    let row = &world.store.list(&key, None, 1, now).unwrap()[0];
    assert_eq!(row.deliveries[0].target.as_deref(), Some("hello@acme.example"));

    let whole = ReceiptPrefix::parse(&ids[0].to_string()).unwrap();
    assert_eq!(world.store.find_by_prefix(whole, 2).unwrap(), [ids[0]]);
    let many = ReceiptPrefix::parse(&ids[0].to_string()[..3]).unwrap();
    assert_eq!(world.store.find_by_prefix(many, 4).unwrap().len(), 4);
    let forms = [("even", "quote"), ("odd", "quote")].map(|(site, form)| (site.to_owned(), form.to_owned()));
    assert_eq!(world.store.known_forms().unwrap(), forms);
    let (site, form) = world.store.find_address("/f/even/quote").unwrap().unwrap();
    assert_eq!((site.as_str(), form.as_str()), ("even", "quote"));
    assert!(world.store.find_address("/f/none/quote").unwrap().is_none());
}

#[test]
fn the_numbers_count_what_waits_failed_and_is_kept() {
    let world = World::new();
    let empty = world.store.numbers(world.now).unwrap();
    assert_eq!((empty.oldest_pending, empty.usual_hour, empty.last_hour), (None, None, 0));
    world.stored(&Wish { file: Some(b"%PDF"), ..Wish::default() });
    // Another key, equal content: a front-end that renews its key.
    world.stored(&Wish { number: 9, key: Some(2), ..Wish::default() });
    let mut old =
        world.submission(&Wish { number: 20, key: Some(3), content: 3, destinations: &[], ..Wish::default() });
    old.id = ReceiptId::new(world.now.minus(Span::from_days(15)), 0);
    record(&world.store, old).unwrap();
    let part = world.part(b"12345", 7);
    let numbers = world.store.numbers(world.now).unwrap();
    assert_eq!(numbers.oldest_pending, Some(world.now));
    assert_eq!((numbers.attachments_bytes, numbers.attachments_files), (4, 1));
    assert_eq!((numbers.tmp_bytes, numbers.tmp_files, numbers.lookalikes, numbers.last_hour), (5, 1, 1, 2));
    assert_eq!(numbers.usual_hour, Some(0.0));
    assert!(numbers.free_bytes > 0 && numbers.database_bytes > 0);
    drop(part);
    world.settle(&world.claim(1, world.now).unwrap(), Verdict::Refused, world.now);
    assert_eq!(world.store.numbers(world.now).unwrap().failed_deliveries, 1);
    // Erased, it is no alarm any more.
    world.store.erase(&[ReceiptId::new(world.now, 1)], world.now).unwrap();
    assert_eq!(world.store.numbers(world.now).unwrap().failed_deliveries, 0);
}

#[test]
fn a_list_by_any_filter_is_what_judging_every_receipt_gives() {
    let world = World::new();
    let mut all = Vec::new();
    for number in 0..60_u32 {
        let site = ["acme", "beta", "gamma"][number as usize % 3];
        let mut new = world.submission(&Wish { number: number * 10, site, ..Wish::default() });
        new.form = FormId::parse(["quote", "careers"][usize::from(number % 7 == 0)]).unwrap();
        new.key_hash = Some(KeyHash(u128::from(number).to_be_bytes()));
        record(&world.store, new).unwrap();
        let id = ReceiptId::new(world.now, number * 10);
        all.push(id);
        let set = match number % 5 {
            0 => "state = 'failed', reason = 'refused', due_at = NULL, acked = 1",
            1 => "state = 'failed', reason = 'exhausted', due_at = NULL",
            2 => "state = 'retrying'",
            3 => "state = 'delivered', due_at = NULL",
            _ => continue,
        };
        let sql = format!("UPDATE deliveries SET {set} WHERE receipt = {}", id.as_row());
        let spam = format!("UPDATE receipts SET spam = 1 WHERE id = {} AND {number} % 4 = 0", id.as_row());
        world.store.write(move |db, _| Ok(db.execute_batch(&format!("{sql}; {spam}"))?)).unwrap();
    }
    let rows = |filter: &ListFilter, before, limit| world.store.list(filter, before, limit, world.now).unwrap();
    let whole = rows(&ListFilter::default(), None, 100);
    assert_eq!(whole.iter().map(|row| row.id).rev().collect::<Vec<_>>(), all);
    let mut seen = 0;
    for site in [None, Some("acme"), Some("beta"), Some("nobody")] {
        for form in [None, Some("quote"), Some("careers")] {
            for state in [None, Some("pending"), Some("retrying"), Some("delivered"), Some("failed")] {
                for (spam, limit) in [(false, 100), (true, 100), (false, 2)] {
                    let filter = ListFilter {
                        site: site.map(|site| SiteId::parse(site).unwrap()),
                        form: form.map(|form| FormId::parse(form).unwrap()),
                        state,
                        spam,
                        ..ListFilter::default()
                    };
                    let before = Some(all[55]);
                    let found: Vec<_> = rows(&filter, before, limit).iter().map(|row| row.id).collect();
                    let taken = whole.iter().filter(|row| {
                        row.id < all[55]
                            && site.is_none_or(|site| row.site == site)
                            && form.is_none_or(|form| row.form == form)
                            && state.is_none_or(|state| row.deliveries.iter().any(|d| d.state == state))
                            && (!spam || row.spam)
                    });
                    let expected: Vec<_> = taken.map(|row| row.id).take(limit as usize).collect();
                    assert_eq!(found, expected, "{filter:?} {limit}");
                    seen += found.len();
                }
            }
        }
    }
    assert!(seen > 300, "{seen}");
}

#[test]
fn attachments_are_counted_along_as_they_come_and_go() {
    let world = World::new();
    let kept = || {
        let numbers = world.store.numbers(world.now).unwrap();
        (numbers.attachments_files, numbers.attachments_bytes)
    };
    assert_eq!(kept(), (0, 0));
    let first = world.stored(&Wish { file: Some(b"%PDF-1"), ..Wish::default() });
    world.stored(&Wish { number: 9, key: Some(2), file: Some(b"%PDF-22"), ..Wish::default() });
    assert_eq!(kept(), (2, 13));
    world.store.erase(&[first], world.now).unwrap();
    assert_eq!(kept(), (1, 7));
}
