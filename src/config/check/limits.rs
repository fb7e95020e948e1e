//! `[limits]`: the bounds of contract 13. Each has a range of its own, chosen so that no setting can take the
//! program's memory or order of work apart; some must fit together.

use std::ops::RangeInclusive;

use super::super::table::Table;
use super::super::value::{Value, size_text};
use crate::domain::bounds::{Bounds, KIB, MIB};
use crate::domain::time::Span;

/// A count of a key, within a range.
type Count = (&'static str, RangeInclusive<u64>, fn(&mut Bounds) -> &mut u64);

/// The bounds that are counts of things.
const COUNTS: &[Count] = &[
    ("headers", 8..=1000, |b| &mut b.headers),
    ("parts", 1..=10_000, |b| &mut b.parts),
    ("fields", 1..=10_000, |b| &mut b.fields),
    ("max_files", 1..=100, |b| &mut b.max_files),
    ("connections", 16..=100_000, |b| &mut b.connections),
    ("in_flight", 1..=1024, |b| &mut b.in_flight),
    ("limiter_files", 1..=1_000_000, |b| &mut b.limiter_files),
];

/// The bounds that are sizes. The values in flight have 16 MiB between them, so `values` cannot be more.
const SIZES: &[Count] = &[
    ("head", KIB..=256 * KIB, |b| &mut b.head),
    ("part_header", KIB..=64 * KIB, |b| &mut b.part_header),
    ("field_name", 1..=4 * KIB, |b| &mut b.field_name),
    ("value", 1..=16 * MIB, |b| &mut b.value),
    ("values", 1..=16 * MIB, |b| &mut b.values),
    ("max_file", 1..=1024 * MIB, |b| &mut b.max_file),
    ("max_files_total", 1..=4096 * MIB, |b| &mut b.max_files_total),
    ("disk_reserve", 0..=1024 * 1024 * MIB, |b| &mut b.disk_reserve),
];

/// Reads the section; where a value is wrong its default stands in.
pub(super) fn check(mut table: Table<'_>) -> Bounds {
    let mut bounds = Bounds::default();
    let mut written: Vec<Value<'_>> = Vec::new();
    for (key, range, place) in COUNTS {
        if let Some(count) = table.take(key).and_then(|value| value.whole(range.clone())) {
            *place(&mut bounds) = count;
        }
    }
    for (key, range, place) in SIZES {
        let Some(value) = table.take(key) else { continue };
        if let Some(size) = value.size(range.clone()) {
            *place(&mut bounds) = size;
            written.push(value);
        }
    }
    if let Some(rate) = table.take("min_rate").and_then(|value| value.rate(1..=1024 * MIB)) {
        bounds.min_rate = rate;
    }
    let times = Span::from_secs(1)..=Span::from_minutes(10);
    if let Some(time) = table.take("head_time").and_then(|value| value.time(&times)) {
        bounds.head_time = time;
    }
    let times = Span::from_secs(10)..=Span::from_hours(24);
    if let Some(time) = table.take("body_time").and_then(|value| value.time(&times)) {
        bounds.body_time = time;
    }
    table.finish();
    fit(&written, ("value", bounds.value), ("values", bounds.values));
    fit(&written, ("max_file", bounds.max_file), ("max_files_total", bounds.max_files_total));
    bounds
}

/// Notes that the bound of one thing is above the bound of all together, at whichever was written.
fn fit(written: &[Value<'_>], one: (&str, u64), all: (&str, u64)) {
    let culprit = written.iter().find(|value| value.key == one.0 || value.key == all.0);
    if let Some(value) = culprit.filter(|_| one.1 > all.1) {
        value.wrong(
            format!("`{}`, {}, is larger than `{}`, {}", one.0, size_text(one.1), all.0, size_text(all.1)),
            format!("lower `{}`, or raise `{}`", one.0, all.0),
        );
    }
}
