//! Where a visitor goes after success.
//!
//! A page may wish for an address (`_next` and its kin); the wish counts only for an absolute URL under one of the
//! site's origins or formd's own. A bare path would be taken as formd's own, where the page is not, and everything
//! else would make formd a machine that sends people wherever a stranger likes.

use crate::domain::control;
use crate::domain::digest::hex;
use crate::domain::draft::Draft;
use crate::domain::form::Site;
use crate::domain::origin::Origin;
use crate::http::cors::{Own, is_listed};

/// The first wish of a draft that may come true, ready for a `Location` header.
pub(in crate::http) fn allowed(draft: &Draft, site: &Site, own: &Own) -> Option<String> {
    control::NEXT.iter().filter_map(|name| draft.control(name)).find_map(|wish| {
        let origin = Origin::of_url(wish)?;
        (own.is(&origin) || is_listed(site, &origin)).then(|| encode(wish)).flatten()
    })
}

/// Percent-encodes what a header cannot carry; `None` with a control character in it.
pub(in crate::http) fn encode(url: &str) -> Option<String> {
    let mut text = String::with_capacity(url.len());
    for byte in url.bytes() {
        match byte {
            0..=31 | 127 => return None,
            b' ' | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | 128.. => {
                text.push('%');
                text.push_str(&hex(&[byte]).to_ascii_uppercase());
            }
            plain => text.push(char::from(plain)),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::draft::Shape;
    use crate::http::fixture::site;
    use hyper::HeaderMap;

    fn next(entries: &[(&str, &str)]) -> Option<String> {
        let mut draft = Draft::default();
        for (name, value) in entries {
            draft.push((*name).to_owned(), value, Shape::Scalar);
        }
        let own = Own::of(Some("https://forms.example"), &HeaderMap::new());
        allowed(&draft, &site(&["https://acme.example"]), &own)
    }

    #[test]
    fn a_wish_counts_only_under_the_sites_own_origins() {
        for good in ["https://acme.example/thanks?a=b#c", "https://acme.example", "https://forms.example/f/acme/quote"]
        {
            assert_eq!(next(&[("_next", good)]).as_deref(), Some(good));
        }
        for bad in [
            "https://evil.example/",
            "http://acme.example/",
            "//acme.example/x",
            "/thanks",
            "thanks.html",
            "javascript:alert(1)",
            "javascript://acme.example/%0aalert(1)",
            "https://acme.example@evil.example/",
            "https://acme.example\\@evil.example/",
            "https://acme.example.evil.example/",
            "https://acme.example:8443/",
            "https://acme.example/\r\nSet-Cookie: a=b",
            " https://acme.example/",
            "",
        ] {
            assert_eq!(next(&[("_next", bad)]), None, "{bad:?}");
        }
    }

    #[test]
    fn the_names_have_an_order_and_a_refused_wish_gives_way() {
        let good = "https://acme.example/b";
        assert_eq!(
            next(&[("redirect", good), ("_next", "https://acme.example/a")]).as_deref(),
            Some("https://acme.example/a")
        );
        assert_eq!(next(&[("redirect", good), ("_next", "https://evil.example/")]).as_deref(), Some(good));
    }

    #[test]
    fn letters_of_any_script_travel_encoded() {
        let wish = "https://acme.example/\u{441}\u{43f} x";
        assert_eq!(next(&[("_next", wish)]).as_deref(), Some("https://acme.example/%D1%81%D0%BF%20x"));
    }
}
