//! The content hash and the other hashes that stand in a receipt.
//!
//! The content hash is HMAC-SHA256 under the instance key over this encoding, version 1:
//!
//! ```text
//! "fields"  count  then for each entry, ordered by name, the order within a name kept:  name value shape
//! "files"   count  then for each file in that same order by field:                     field name size sha256
//! ```
//!
//! Every text is its length in bytes as 8 big-endian bytes, then the bytes; every number 8 big-endian bytes;
//! a shape one byte (0 plain or array element, also in an object, whose members are named `OBJECT[NAME]`; 1 nested
//! deeper; 2 undecodable). The lengths make the encoding
//! injective: no two different contents have the same one. Control fields do not take part, line breaks are LF
//! already, and nothing of the transport does: the same content sent as multipart, urlencoded or JSON
//! has one hash. It depends on the request alone, never on the form.

use super::control;
use super::digest::InstanceKey;
use super::draft::{Draft, Shape};
use super::ids::{FormId, SiteId, SubmitKey};

/// The version of the encoding, kept in each receipt beside the hash.
pub const VERSION: i64 = 1;

/// The hash of what was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentHash(pub [u8; 32]);

/// The hash under which a submission key is stored: over site, form and key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyHash(pub [u8; 16]);

/// The hash of a client's address, kept for 10 minutes to recognise a double click without a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientHash(pub [u8; 16]);

/// The hash of a mailbox that a form confirms to, kept for a day: over site, form and mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailboxHash(pub [u8; 16]);

/// The content hash of `draft`.
pub fn content(key: &InstanceKey, draft: &Draft) -> ContentHash {
    ContentHash(key.keyed("content-1", &[&encode(draft)]))
}

/// The hash of a submission key of one form.
pub fn submit_key(key: &InstanceKey, site: &SiteId, form: &FormId, submit: &SubmitKey) -> KeyHash {
    let parts: [&[u8]; 5] =
        [site.as_str().as_bytes(), &[0], form.as_str().as_bytes(), &[0], submit.as_str().as_bytes()];
    KeyHash(first_half(key.keyed("submit-key", &parts)))
}

/// The hash of a mailbox of one form, as [`super::confirmation::mailbox`] writes it.
pub fn mailbox(key: &InstanceKey, site: &SiteId, form: &FormId, mailbox: &str) -> MailboxHash {
    let parts: [&[u8]; 5] = [site.as_str().as_bytes(), &[0], form.as_str().as_bytes(), &[0], mailbox.as_bytes()];
    MailboxHash(first_half(key.keyed("confirmation", &parts)))
}

/// The hashes of an imported submission of one form: its `identity` in the export of `source` is its key, so that the
/// same import twice is a repeat; the content stands beside it, so that another content under one identity is seen.
/// The identity is part of both: imports that are alike are no sign of a front-end that renews its key.
pub fn imported(
    key: &InstanceKey,
    source: &str,
    (site, form): (&SiteId, &FormId),
    identity: &[&str],
    draft: &Draft,
) -> (KeyHash, ContentHash) {
    let mut named = Vec::new();
    for part in [source, site.as_str(), form.as_str()].iter().chain(identity) {
        put_text(&mut named, part);
    }
    let content = key.keyed("import-content", &[&named, &encode(draft)]);
    (KeyHash(first_half(key.keyed("import", &[&named]))), ContentHash(content))
}

/// The hash of a client's address.
pub fn client(key: &InstanceKey, address: &str) -> ClientHash {
    ClientHash(first_half(key.keyed("client", &[address.as_bytes()])))
}

/// The first 16 of 32 bytes.
fn first_half(full: [u8; 32]) -> [u8; 16] {
    let (half, _) = full.split_at(16);
    half.try_into().unwrap_or([0; 16])
}

/// The canonical encoding.
fn encode(draft: &Draft) -> Vec<u8> {
    let mut out = Vec::new();
    let mut entries: Vec<_> = draft.entries.iter().filter(|e| !control::is_control(&e.name)).collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    put_text(&mut out, "fields");
    put_number(&mut out, entries.len() as u64);
    for entry in entries {
        put_text(&mut out, &entry.name);
        put_text(&mut out, &entry.value);
        out.push(match entry.shape {
            Shape::Scalar | Shape::Element | Shape::Member | Shape::MemberElement => 0,
            Shape::Nested => 1,
            Shape::Undecodable => 2,
        });
    }
    let mut files: Vec<_> = draft.files.iter().collect();
    files.sort_by(|a, b| a.field.cmp(&b.field));
    put_text(&mut out, "files");
    put_number(&mut out, files.len() as u64);
    for file in files {
        put_text(&mut out, &file.field);
        put_text(&mut out, &file.name);
        put_number(&mut out, file.size);
        out.extend_from_slice(file.sha256.as_bytes());
    }
    out
}

/// A length and the bytes.
fn put_text(out: &mut Vec<u8>, text: &str) {
    put_number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Eight big-endian bytes.
fn put_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::super::digest::{Sha256Sum, hex};
    use super::super::draft::DraftFile;
    use super::super::filekind::{FileKind, Sniffed};
    use super::*;
    use proptest::prelude::*;

    fn draft(entries: &[(&str, &str)]) -> Draft {
        let mut draft = Draft::default();
        for (name, value) in entries {
            draft.push((*name).to_owned(), value, Shape::Scalar);
        }
        draft
    }

    fn hash(draft: &Draft) -> String {
        hex(&content(&InstanceKey::new([7; 32]), draft).0)
    }

    /// Both values were computed apart from this program, with `hmac`, `hashlib` and `struct` of Python, from the
    /// encoding described at the top of this file.
    #[test]
    fn golden_vectors_hold_for_good() {
        let mut with_file = draft(&[("b", "2"), ("a", "1\r\n"), ("_key", "k"), ("b", "3")]);
        with_file.files.push(DraftFile {
            field: "file".into(),
            name: "x.pdf".into(),
            size: 3,
            sha256: Sha256Sum::of(b"abc"),
            sniffed: Sniffed::Known(FileKind::Pdf),
        });
        assert_eq!(hash(&Draft::default()), "1d204d1c60aec3a536a8c1a6fca0b185f15ee5cb985e931478af9343f1a05367");
        assert_eq!(hash(&with_file), "a569f4ffddf784fab245930949f95a3794e0e50a810981de3e58a22dceb46f8f");
    }

    #[test]
    fn the_order_between_names_does_not_count_and_within_a_name_it_does() {
        assert_eq!(hash(&draft(&[("a", "1"), ("b", "2")])), hash(&draft(&[("b", "2"), ("a", "1")])));
        assert_ne!(hash(&draft(&[("a", "1"), ("a", "2")])), hash(&draft(&[("a", "2"), ("a", "1")])));
    }

    #[test]
    fn control_fields_and_line_ends_do_not_count() {
        assert_eq!(hash(&draft(&[("a", "1\r\n2"), ("_key", "x"), ("_next", "/y")])), hash(&draft(&[("a", "1\n2")])));
    }

    #[test]
    fn one_key_in_two_forms_is_two_keys() {
        let key = InstanceKey::new([7; 32]);
        let submit = SubmitKey::parse("k").unwrap().unwrap();
        let of = |site: &str, form: &str| {
            submit_key(&key, &SiteId::parse(site).unwrap(), &FormId::parse(form).unwrap(), &submit)
        };
        assert_ne!(of("a", "b"), of("b", "a"));
        assert_ne!(of("a", "b"), of("a", "c"));
    }

    proptest! {
        #[test]
        fn moving_a_character_across_a_border_changes_the_hash(name in "[a-z]{1,8}", value in "[a-z]{1,8}") {
            let moved = draft(&[(&format!("{name}{}", &value[..1]), &value[1..])]);
            prop_assert_ne!(hash(&draft(&[(&name, &value)])), hash(&moved));
        }
    }
}
