//! Whom a form confirms a submission to by mail, and which spellings of an address are one mailbox.
//!
//! Whoever fills a form in may write any address into it. So that formd cannot be made to mail strangers, a
//! confirmation is only owed with consent, to one plain address that a person may read, and never to the operator's own
//! or to one that programs answer from (loops). How many there may be is the store's to decide, by [`mailbox`].
//!
//! Deliberately not known: providers' further habits (dashes at Yahoo, whole domains of one person). What they let
//! through, the hourly budget bounds.

use super::email;
use super::form::{Confirmation, Form};
use super::submission::{Contents, Role, Value};
use super::target::ConfirmationTarget;
use super::text::Texts;

/// The longest local part of an address (RFC 5321, 4.5.3.1.1).
const LONGEST_LOCAL: usize = 64;
/// The longest address (RFC 5321, 4.5.3.1.3, without the brackets).
const LONGEST: usize = 254;
/// How the addresses begin behind which a program stands.
const PROGRAMS: &[&str] = &["mailer-daemon", "postmaster", "no-reply", "noreply", "abuse"];
/// One provider, two domains; it does not see dots.
const GMAIL: &[&str] = &["gmail.com", "googlemail.com"];

/// The mail that `form` owes to whoever sent `contents`; a text that it leaves out is the standard one of `texts`.
pub fn owed(form: &Form, contents: &Contents, texts: &Texts) -> Option<ConfirmationTarget> {
    let confirmation = form.confirmation.as_ref().filter(|_| contents.consent == Some(true))?;
    let address = recipient(confirmation, contents)?;
    let subject = confirmation.subject.clone().unwrap_or_else(|| subject(form.title.as_deref(), texts));
    let text = confirmation.text.clone().unwrap_or_else(|| text(texts));
    Some(ConfirmationTarget { address: address.to_owned(), subject, text })
}

/// The mailbox behind an address: lower case, the domain in ASCII, no `+tag`, at Gmail no dots. One mailbox has one,
/// however it is written.
pub fn mailbox(address: &str) -> String {
    let lower = address.to_lowercase();
    let (local, domain) = lower.rsplit_once('@').unwrap_or((&lower, ""));
    let domain = email::ascii_domain(domain).unwrap_or_else(|| domain.to_owned());
    let untagged = local.split('+').next().filter(|name| !name.is_empty()).unwrap_or(local);
    if GMAIL.contains(&domain.as_str()) {
        return format!("{}@gmail.com", untagged.replace('.', ""));
    }
    format!("{untagged}@{domain}")
}

/// The one address in the field that the confirmation names, if a mail may go there.
fn recipient<'c>(confirmation: &Confirmation, contents: &'c Contents) -> Option<&'c str> {
    let mut named = contents.fields.iter().filter(|field| field.name == confirmation.to && field.role == Role::Email);
    let (Some(Value::Text(address)), None) = (named.next().map(|field| &field.value), named.next()) else {
        return None;
    };
    let is_own = confirmation.operator.as_ref().is_some_and(|own| mailbox(own) == mailbox(address));
    (is_plain(address) && !is_own).then_some(address)
}

/// Whether an address is one that every mail server takes as it is, and that a person may read. What a form accepts is
/// wider: `a@localhost`, `a..b@x.example`, `a%b@x.example`.
fn is_plain(address: &str) -> bool {
    let Some((local, domain)) = address.rsplit_once('@').filter(|_| email::is_valid(address)) else { return false };
    let Some(domain) = email::ascii_domain(domain) else { return false };
    let ordinary = |b: u8| b.is_ascii_alphanumeric() || b"._+-='&~".contains(&b);
    let (_, top) = domain.rsplit_once('.').unwrap_or_default();
    local.len() <= LONGEST_LOCAL
        && local.len() + 1 + domain.len() <= LONGEST
        && local.bytes().all(ordinary)
        && !local.starts_with('-')
        && local.split('.').all(|atom| !atom.is_empty())
        && top.bytes().any(|b| b.is_ascii_alphabetic())
        && !PROGRAMS.iter().any(|program| local.to_ascii_lowercase().starts_with(program))
}

/// The standard subject, a template.
fn subject(title: Option<&str>, texts: &Texts) -> String {
    let subject = texts.confirmation_subject();
    // A title is no template.
    title.map_or_else(|| subject.to_owned(), |title| format!("{subject} — {}", title.replace("{{", "{ {")))
}

/// The standard text, a template.
fn text(texts: &Texts) -> String {
    let (title, message, receipt) = (texts.thanks_title(), texts.thanks_message(), texts.receipt_line("{{@receipt}}"));
    format!("{title}\n\n{message}\n{receipt}\n\n{}\n", texts.confirmation_reason())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::submission::KeptField;
    use crate::domain::template::Template;
    use crate::domain::text::Language;
    use proptest::prelude::*;

    fn confirmation() -> Confirmation {
        let operator = Some("Forms@acme.example".to_owned());
        Confirmation { to: "email".into(), subject: None, text: None, operator, per_hour: 100 }
    }

    fn field(value: Value) -> KeptField {
        KeptField { name: "email".into(), label: "E-mail".into(), role: Role::Email, value }
    }

    /// Whether a mail may go to what was written.
    fn may_go_to(address: &str) -> bool {
        let contents =
            Contents { fields: vec![field(Value::Text(address.into()))], consent: Some(true), ..Contents::default() };
        recipient(&confirmation(), &contents).is_some()
    }

    #[test]
    fn a_mail_goes_to_one_plain_address_of_a_person() {
        for good in ["anna@home.example", "o'neil+x@sub.home.co.uk", "info@почта.рф", "a_b-c@x1.example", "nora@x.yz"]
        {
            assert!(may_go_to(good), "{good}");
        }
        for bad in [
            "",
            "anna@localhost",
            "anna@10.0.0.1",
            "a..b@home.example",
            ".a@home.example",
            "a.@home.example",
            "-oQ@home.example",
            "a%b.example@home.example",
            "a!b@home.example",
            "a|b@home.example",
            "a`b@home.example",
            "anna@home.example,eve@home.example",
            "anna@home.example\r\nBcc: eve@home.example",
            "MAILER-DAEMON@home.example",
            "postmaster@home.example",
            "NoReply-17@home.example",
            "no-reply@home.example",
            "abuse@home.example",
            "forms@acme.example",
            "FORMS+x@ACME.example",
        ] {
            assert!(!may_go_to(bad), "{bad:?}");
        }
        assert!(!may_go_to(&format!("{}@home.example", "a".repeat(65))));
    }

    #[test]
    fn an_address_that_was_sent_twice_is_none() {
        let twice = vec![field(Value::Text("a@home.example".into())), field(Value::Text("b@home.example".into()))];
        assert_eq!(
            recipient(&confirmation(), &Contents { fields: twice, consent: Some(true), ..Contents::default() }),
            None
        );
        let list = vec![field(Value::List(vec!["a@home.example".into()]))];
        assert_eq!(
            recipient(&confirmation(), &Contents { fields: list, consent: Some(true), ..Contents::default() }),
            None
        );
    }

    #[test]
    fn the_spellings_of_one_mailbox_are_one() {
        for (spelling, one) in [
            ("Anna@Home.Example", "anna@home.example"),
            ("anna+news+x@home.example", "anna@home.example"),
            ("a.nna@home.example", "a.nna@home.example"),
            ("+x@home.example", "+x@home.example"),
            ("A.n.n.a+x@GoogleMail.com", "anna@gmail.com"),
            ("anna@ｇｍａｉｌ.com", "anna@gmail.com"),
            ("info@ПОЧТА.рф", "info@xn--80a1acny.xn--p1ai"),
            ("info@XN--80A1ACNY.xn--p1ai", "info@xn--80a1acny.xn--p1ai"),
        ] {
            assert_eq!(mailbox(spelling), one, "{spelling}");
        }
    }

    #[test]
    fn the_standard_texts_are_templates_in_every_language_whatever_the_title_is() {
        for language in Language::ALL {
            let texts = language.texts();
            for template in [subject(Some("a {{b {{@x}}"), &texts), subject(None, &texts), text(&texts)] {
                assert!(Template::parse(&template).is_ok(), "{template}");
            }
            assert_eq!(Template::parse(&text(&texts)).unwrap().names().count(), 1, "the receipt alone");
        }
    }

    proptest! {
        #[test]
        fn a_mailbox_is_its_own_mailbox(local in "[a-zA-Z0-9.+]{1,12}", domain in "(gmail|home)\\.(com|example)") {
            let once = mailbox(&format!("{local}@{domain}"));
            prop_assert_eq!(mailbox(&once), once);
        }
    }
}
