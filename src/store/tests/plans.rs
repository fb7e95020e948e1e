//! No question that is asked often reads a whole table.

use rusqlite::types::Value;

use super::*;

/// Partial indexes that hold only what such a question counts: reading one whole is the point of it.
const PARTIAL: [&str; 6] = [
    "deliveries_failed",
    "deliveries_held",
    "deliveries_stopped",
    "deliveries_waiting",
    "receipts_recent",
    "deliveries_due",
];

#[test]
fn no_frequent_question_scans_a_table() {
    let world = World::new();
    for (name, sql) in [
        ("list", list::LIST_SQL),
        ("overdue", list::OVERDUE_SQL),
        ("latest of a form", list::FORM_SQL),
        ("next form", list::FORMS_SQL),
        ("latest spam", list::SPAM_SQL),
        ("latest that wait", list::WAITING_SQL),
        ("latest that stopped", list::STOPPED_SQL),
        ("every failure", outstanding::FAILED_SQL),
        ("deliveries of a receipt", list::DELIVERIES_SQL),
        ("next destination in turn", claim::HOP_SQL),
        ("claim", claim::TAKE_SQL),
        ("confirm", deliveries::CONFIRM_SQL),
        ("find by key", receipts::KEY_SQL),
        ("double click", record::DOUBLE_CLICK_SQL),
        ("due for erasure", erase::EXPIRED_SQL),
        ("due for erasure, counted", sweep::EXPIRED_COUNT_SQL),
        ("clients to forget", sweep::FORGET_SQL),
        ("confirmation", crate::store::confirmations::GRANT_SQL),
        ("mailboxes to forget", crate::store::confirmations::FORGET_SQL),
        ("oldest waiting", numbers::OLDEST_SQL),
        ("failed", numbers::FAILED_SQL),
        ("failed and not alerted", alerts::FAILURES_SQL),
        ("what is outstanding", outstanding::OUTSTANDING_SQL),
        ("what waits in a state", outstanding::WAITING_SQL),
        ("what is held", numbers::HELD_SQL),
        ("failed confirmations", numbers::CONFIRMATIONS_SQL),
        ("what waits", lifecycle::WAITERS_SQL),
        ("a pass over what waits", lifecycle::PASS_SQL),
        ("lookalikes of a day", numbers::LOOKALIKES_SQL),
    ] {
        let steps = world
            .store
            .read(|db| {
                let mut plan = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                let nulls = vec![Value::Null; plan.parameter_count()];
                let steps = plan.query_map(rusqlite::params_from_iter(nulls), |row| row.get::<_, String>(3))?;
                Ok(steps.collect::<Result<Vec<_>, _>>()?)
            })
            .unwrap();
        for step in &steps {
            let whole =
                ["receipts", "deliveries", "contents", "attachments", "attempts", "confirmations", "d", "r", "c"]
                    .iter()
                    .any(|table| step == &format!("SCAN {table}") || step.starts_with(&format!("SCAN {table} ")));
            let partial = PARTIAL.iter().any(|index| step.contains(index));
            assert!(!whole || partial, "{name}: {step}\n{steps:#?}");
        }
        assert!(steps.iter().any(|step| step.contains("SEARCH") || step.contains("INDEX")), "{name}: {steps:#?}");
    }
    let hop = world.store.read(|db| {
        let step: String =
            db.query_row(&format!("EXPLAIN QUERY PLAN {}", claim::HOP_SQL), ["", ""], |row| row.get(3))?;
        Ok(step)
    });
    // Both columns are sought (how far a hop then walks is the next test).
    assert!(hop.unwrap().contains("((site,destination)>(?,?))"));
}

#[test]
fn a_hop_over_a_flooded_destination_or_form_costs_no_more_than_over_a_quiet_one() {
    let world = World::new();
    let flood = "
        WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000)
        INSERT INTO receipts (id, site, form, locale, erase_at, content_hash, hash_version)
        SELECT n, 'acme', 'quote', 'en', 9000000000000, zeroblob(32), 1 FROM numbers;
        INSERT INTO deliveries (receipt, n, site, destination, channel, state, due_at)
        SELECT id, 1, site, 'sales', 'email', 'pending', id FROM receipts";
    world.store.write(move |db, _| Ok(db.execute_batch(flood)?)).unwrap();
    let steps = |sql: &str, id: &str| {
        let count = world.store.read(|db| {
            let mut hop = db.prepare(sql)?;
            assert!(hop.query(["acme", &rows::just_behind(id)])?.next()?.is_none(), "nothing stands behind");
            Ok(hop.get_status(rusqlite::StatementStatus::VmStep))
        });
        count.unwrap()
    };
    for (sql, id) in [(claim::HOP_SQL, "sales"), (list::FORMS_SQL, "quote")] {
        assert!(steps(sql, id) < 100, "{} steps: {sql}", steps(sql, id));
    }
}
