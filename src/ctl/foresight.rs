//! What files that are not in force yet would do to the deliveries that wait, in words (contract 2.4).

use crate::config::Config;
use crate::delivery::lifecycle::{self, Preview};
use crate::store::Store;

/// What `config` would end or hold of that which waits in its data directory; `None` where nothing can be known: there
/// is no data directory yet, it belongs to somebody else, or its database to an older formd. Nothing is created.
pub fn look(config: &Config) -> Option<Preview> {
    let store = Store::open_tool(&config.daemon.data_dir).ok()?;
    lifecycle::preview(&store, config).ok()
}

/// `12 waiting deliveries WOULD end: acme/crm 9, acme/sales 3; ...`: one line for what ends, one a site for what is
/// held. `would` is the verb's mood: `would`, or `will` right before it happens.
pub fn lines(preview: &Preview, would: &str) -> Vec<String> {
    let each = preview.ending.iter().map(|((site, destination), count)| format!("{site}/{destination} {count}"));
    let each: Vec<String> = each.collect();
    let ending = (!each.is_empty()).then(|| {
        let count = deliveries(preview.ending.values().sum());
        format!("{count} {would} end, their destination takes nothing any more: {}", each.join(", "))
    });
    let holding = preview
        .holding
        .iter()
        .map(|(site, count)| format!("{} {would} be held: site `{site}` has no file any more", deliveries(*count)));
    ending.into_iter().chain(holding).collect()
}

/// `1 waiting delivery`, `3 waiting deliveries`.
fn deliveries(count: u64) -> String {
    if count == 1 { "1 waiting delivery".to_owned() } else { format!("{count} waiting deliveries") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_is_counted_by_destination_and_what_would_be_held_by_site() {
        let key = |site: &str, destination: &str| (site.to_owned(), destination.to_owned());
        let preview = Preview {
            ending: [(key("acme", "sales"), 3), (key("acme", "crm"), 9)].into(),
            holding: [("old".to_owned(), 1)].into(),
        };
        assert_eq!(
            lines(&preview, "would"),
            [
                "12 waiting deliveries would end, their destination takes nothing any more: acme/crm 9, acme/sales 3",
                "1 waiting delivery would be held: site `old` has no file any more",
            ]
        );
        assert!(lines(&Preview::default(), "will").is_empty());
    }
}
