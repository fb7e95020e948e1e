//! E-mail addresses as HTML means them (WHATWG HTML, valid e-mail address), plus internationalised domains.

/// The longest label of a domain, in bytes (RFC 1034, 3.1).
const LONGEST_LABEL: usize = 63;
/// The longest domain, in bytes.
const LONGEST_DOMAIN: usize = 253;
/// The longest part before the `@`, in bytes.
const LONGEST_LOCAL: usize = 64;

/// Whether `text` is one valid address. No blanks around it, no display name, no quoted local part; a domain in
/// other scripts must have a punycode form (UTS 46).
pub fn is_valid(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    let atom = |b: u8| b.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&b);
    if local.is_empty() || !local.bytes().all(atom) {
        return false;
    }
    if domain.is_ascii() {
        return is_domain(domain);
    }
    ascii_domain(domain).is_some_and(|ascii| is_domain(&ascii))
}

/// Whether `text` is an address that mail can be sent to or from: valid, and within what mail servers take (RFC 5321,
/// 4.1.2 and 4.5.3.1). HTML's rule is wider: `a..b@x.example`.
pub fn is_mailbox(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@').filter(|_| is_valid(text)) else { return false };
    local.len() <= LONGEST_LOCAL
        && local.split('.').all(|atom| !atom.is_empty())
        && ascii_domain(domain).is_some_and(|ascii| ascii.len() <= LONGEST_DOMAIN)
}

/// The punycode form of a domain in other scripts; `None` when it has none.
pub fn ascii_domain(domain: &str) -> Option<String> {
    idna::domain_to_ascii_strict(domain).ok()
}

/// One or more labels of letters, digits and inner hyphens.
fn is_domain(domain: &str) -> bool {
    domain.split('.').all(|label| {
        (1..=LONGEST_LABEL).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_browser_takes_is_valid() {
        for good in [
            "a@b",
            "test@example.com",
            "first.last+tag@sub.example.co.uk",
            "..@x.y",
            "!#$%&'*+/=?^_`{|}~-@example.com",
            "info@почта.рф",
            "a@münchen.de",
            "a@xn--e1afmkfd.xn--p1ai",
            "a@例え.jp",
        ] {
            assert!(is_valid(good), "{good}");
        }
        assert!(is_valid(&format!("a@{}.com", "b".repeat(63))));
    }

    #[test]
    fn what_a_browser_refuses_is_not() {
        for bad in [
            "",
            "a",
            "@b",
            "a@",
            "a@@b",
            "a@b@c",
            "a b@c",
            "a@b c",
            " a@b",
            "a@b ",
            "a@b\n",
            "a@b\r\nBcc: x@y",
            "A <a@b>",
            "\"a\"@b",
            "a@-b",
            "a@b-",
            "a@b..c",
            "a@.b",
            "a@b.",
            "a@[127.0.0.1]",
            "a@b,c@d",
            "почта@example.com",
            "a@поч та.рф",
            "a@почта..рф",
            "a@\u{202e}почта.рф",
        ] {
            assert!(!is_valid(bad), "{bad:?}");
        }
        assert!(!is_valid(&format!("a@{}.com", "b".repeat(64))));
    }

    #[test]
    fn a_mailbox_is_what_mail_servers_take() {
        let long =
            |local: usize, labels: usize| format!("{}@{}", "x".repeat(local), vec!["y".repeat(49); labels].join("."));
        for good in ["a@b", "sales@example.com", "first.last+tag@sub.example.co.uk", "info@почта.рф", &long(64, 5)]
        {
            assert!(is_mailbox(good), "{good}");
        }
        for bad in ["..@x.y", "a..b@x.y", ".a@x.y", "a.@x.y", "A <a@x.y>", &long(65, 1), &long(1, 6)] {
            assert!(!is_mailbox(bad), "{bad}");
        }
    }
}
