//! Where a visitor goes after success.
//!
//! A page may wish for an address (`_next` and its kin); the wish counts only under one of the site's origins or
//! formd's own. A path is taken from the page that the request came from, never from formd's own address, where that
//! page is not. Everything else would make formd a machine that sends people wherever a stranger likes.

use hyper::HeaderMap;
use hyper::header::{ORIGIN, REFERER};

use crate::domain::control;
use crate::domain::digest::hex;
use crate::domain::draft::Draft;
use crate::domain::form::Site;
use crate::domain::origin::Origin;
use crate::http::cors::{Own, is_listed};

/// The first wish of a draft that may come true, ready for a `Location` header; `page` is where it came from.
pub(in crate::http) fn allowed(draft: &Draft, site: &Site, own: &Own, page: Option<&str>) -> Option<String> {
    control::NEXT.iter().filter_map(|name| draft.control(name)).find_map(|wish| {
        let wish = if wish.contains("://") { wish.to_owned() } else { resolve(page?, wish)? };
        is_ours(&wish, site, own).then(|| encode(&wish)).flatten()
    })
}

/// The page that a request came from, where it is one of the site or ours: `Referer`, else what `Origin` says of it.
pub(in crate::http) fn page_of(headers: &HeaderMap, site: &Site, own: &Own) -> Option<String> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let referer = text(REFERER).filter(|url| is_ours(url, site, own)).map(str::to_owned);
    referer.or_else(|| text(ORIGIN).filter(|url| is_ours(url, site, own)).map(|origin| format!("{origin}/")))
}

/// Whether an absolute URL is under one of the site's origins or formd's own.
fn is_ours(url: &str, site: &Site, own: &Own) -> bool {
    Origin::of_url(url).is_some_and(|origin| own.is(&origin) || is_listed(site, &origin))
}

/// A path taken from a page: `/thanks`, `thanks.html`, `../thanks/`. Whatever a browser could take for another host
/// or scheme is none.
fn resolve(page: &str, path: &str) -> Option<String> {
    let page = page.split(['?', '#']).next()?;
    let begins = page.find("://")? + 3;
    let root = begins + page.get(begins..)?.find('/').unwrap_or(page.len() - begins);
    let first = path.chars().next()?;
    let folder = match first {
        '/' if !path.starts_with("//") => page.get(..root)?.to_owned(),
        '.' | '_' | '-' | '~' => folder_of(page, root)?,
        first if first.is_alphanumeric() => folder_of(page, root)?,
        _ => return None,
    };
    let is_plain = !path.contains('\\') && !path.split(['/', '?', '#']).next()?.contains(':');
    is_plain.then(|| format!("{folder}{path}"))
}

/// The folder of a page whose path begins at `root`, with the slash at its end.
fn folder_of(page: &str, root: usize) -> Option<String> {
    let folder = page.get(root..)?.rfind('/').map_or(root, |slash| root + slash);
    Some(format!("{}/", page.get(..folder)?))
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
        allowed(&draft, &site(&["https://acme.example"]), &own, Some("https://acme.example/a/b.html?c=/d"))
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
            "///evil.example",
            "/\\evil.example",
            "x\\y",
            "?a=b",
            "https:evil.example",
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
    fn a_path_is_taken_from_the_page_that_sent_it() {
        for (wish, place) in [
            ("/thanks", "https://acme.example/thanks"),
            ("thanks.html", "https://acme.example/a/thanks.html"),
            ("../thanks?x=1:2", "https://acme.example/a/../thanks?x=1:2"),
        ] {
            assert_eq!(next(&[("_next", wish)]).as_deref(), Some(place));
        }
        assert_eq!(resolve("https://acme.example", "x").as_deref(), Some("https://acme.example/x"));
        assert_eq!(resolve("https://acme.example", "/x").as_deref(), Some("https://acme.example/x"));
    }

    #[test]
    fn the_page_is_one_of_the_site_or_ours_and_nothing_else() {
        let site = site(&["https://acme.example"]);
        let own = Own::of(Some("https://forms.example"), &HeaderMap::new());
        let page = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            page_of(&headers, &site, &own)
        };
        assert_eq!(page("referer", "https://acme.example/a").as_deref(), Some("https://acme.example/a"));
        assert_eq!(page("origin", "https://acme.example").as_deref(), Some("https://acme.example/"));
        for (name, value) in [("referer", "https://evil.example/"), ("origin", "null"), ("referer", "javascript:1")] {
            assert_eq!(page(name, value), None, "{value}");
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
