//! Names of things. A value of one of these types cannot be anything but well formed: the fields are
//! private and only `parse` and `from_*` build one.

use std::fmt;

use super::time::Timestamp;

/// Why a text is not a valid id of a site, form or destination.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id is 1 to 64 letters, digits, `-` or `_`")]
pub struct IdError;

/// Declares a text id of 1..64 letters, digits, `-`, `_`.
macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Box<str>);

        impl $name {
            /// Reads an id; anything but 1..64 letters, digits, `-`, `_` is refused.
            pub fn parse(text: &str) -> Result<Self, IdError> {
                let fits = (1..=64).contains(&text.len())
                    && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
                if fits { Ok(Self(text.into())) } else { Err(IdError) }
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

text_id! {
    /// A site: the name of its configuration file.
    SiteId
}
text_id! {
    /// A form of a site.
    FormId
}
text_id! {
    /// A destination of a site.
    DestinationId
}

/// Crockford's base 32 in lower case: no `i`, `l`, `o`, `u`.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Characters of a receipt.
const RECEIPT_LENGTH: usize = 13;
/// Random bits of a receipt.
const RANDOM_BITS: u32 = 21;
/// 2020-01-01T00:00:00Z, where the milliseconds of a receipt begin.
const EPOCH: i64 = 1_577_836_800_000;

/// The number of a receipt: 42 bits of milliseconds since 2020 and 21 random bits, so that it sorts by
/// arrival and is the row id. Shown as 13 lower-case Crockford base 32 characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceiptId(i64);

impl ReceiptId {
    /// The receipt of a submission that arrived at `at`; only the low 21 bits of `random` count.
    pub fn new(at: Timestamp, random: u32) -> Self {
        let millis = (at.as_millis() - EPOCH).clamp(0, (1 << 42) - 1);
        let random = i64::from(random & ((1 << RANDOM_BITS) - 1));
        Self((millis << RANDOM_BITS) | random)
    }

    /// A row id; `None` for a negative one, which is no receipt.
    pub fn from_row(row: i64) -> Option<Self> {
        (row >= 0).then_some(Self(row))
    }

    /// The row id.
    pub fn as_row(self) -> i64 {
        self.0
    }

    /// When the submission arrived.
    pub fn arrived_at(self) -> Timestamp {
        Timestamp::from_millis((self.0 >> RANDOM_BITS) + EPOCH)
    }

    /// Reads all 13 characters.
    pub fn parse(text: &str) -> Option<Self> {
        ReceiptPrefix::parse(text).and_then(|p| (p.low == p.high).then_some(Self(p.low)))
    }
}

impl fmt::Display for ReceiptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(RECEIPT_LENGTH);
        for place in (0..RECEIPT_LENGTH).rev() {
            let digit = usize::try_from((self.0 >> (5 * place)) & 31).unwrap_or(0);
            text.push(char::from(ALPHABET.get(digit).copied().unwrap_or(b'0')));
        }
        f.pad(&text)
    }
}

impl fmt::Debug for ReceiptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReceiptId({self})")
    }
}

/// The first characters of a receipt: the range of receipts that begin with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptPrefix {
    /// The lowest row id with this prefix.
    low: i64,
    /// The highest row id with this prefix.
    high: i64,
}

impl ReceiptPrefix {
    /// Reads 1..13 characters as Crockford means them: upper case is lower case, `o` is 0, `i` and `l` are 1.
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() || text.len() > RECEIPT_LENGTH {
            return None;
        }
        let mut value: i128 = 0;
        for byte in text.bytes() {
            let byte = match byte.to_ascii_lowercase() {
                b'o' => b'0',
                b'i' | b'l' => b'1',
                other => other,
            };
            let digit = ALPHABET.iter().position(|&a| a == byte)?;
            value = value << 5 | i128::try_from(digit).ok()?;
        }
        let missing = 5 * (RECEIPT_LENGTH - text.len());
        let low = i64::try_from(value << missing).ok()?;
        let high = i64::try_from(((value + 1) << missing) - 1).ok()?;
        Some(Self { low, high })
    }

    /// The lowest row id with this prefix.
    pub fn low(self) -> i64 {
        self.low
    }

    /// The highest row id with this prefix.
    pub fn high(self) -> i64 {
        self.high
    }
}

/// One submission on its way to one destination, written `RECEIPT-dN`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryId {
    /// The submission.
    pub receipt: ReceiptId,
    /// Its place among the submission's deliveries, from 1.
    pub n: u8,
}

/// One file of a submission, written `RECEIPT-aN`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttachmentId {
    /// The submission.
    pub receipt: ReceiptId,
    /// Its place among the submission's files, from 1.
    pub position: u8,
}

impl DeliveryId {
    /// Reads `RECEIPT-dN` with the whole receipt.
    pub fn parse(text: &str) -> Option<Self> {
        let (receipt, n) = numbered(text, "-d")?;
        Some(Self { receipt, n })
    }
}

impl AttachmentId {
    /// Reads `RECEIPT-aN` with the whole receipt.
    pub fn parse(text: &str) -> Option<Self> {
        let (receipt, position) = numbered(text, "-a")?;
        Some(Self { receipt, position })
    }
}

/// Splits `RECEIPT<mark>N`; N is 1..255 without leading zeros.
fn numbered(text: &str, mark: &str) -> Option<(ReceiptId, u8)> {
    let (receipt, n) = text.rsplit_once(mark)?;
    if n.starts_with(['0', '+']) {
        return None;
    }
    Some((ReceiptId::parse(receipt)?, n.parse().ok()?))
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}-d{}", self.receipt, self.n))
    }
}

impl fmt::Display for AttachmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}-a{}", self.receipt, self.position))
    }
}

/// The random string a browser keeps across the clicks of one form filling: 1..200 visible ASCII
/// characters. It is never stored as it is (a client may choose its own mail address for one), so `Debug`
/// hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct SubmitKey(Box<str>);

/// Why a text is no submission key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a submission key is 1 to 200 visible ASCII characters, bare or as one quoted string")]
pub struct SubmitKeyError;

impl SubmitKey {
    /// Reads a key, bare or as a quoted structured-field string (RFC 8941, 3.3.3). An empty one is none.
    pub fn parse(text: &str) -> Result<Option<Self>, SubmitKeyError> {
        let text = text.trim_matches([' ', '\t']);
        let bare = match text.strip_prefix('"') {
            Some(rest) if text.len() > 1 => unquote(rest)?,
            _ => text.to_owned(),
        };
        match bare.len() {
            0 => Ok(None),
            1..=200 if bare.bytes().all(|b| b.is_ascii_graphic()) => Ok(Some(Self(bare.into()))),
            _ => Err(SubmitKeyError),
        }
    }

    /// The key itself, to be hashed at once.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The inside of a quoted string whose opening quote is gone: `\"` and `\\` are the only escapes.
fn unquote(rest: &str) -> Result<String, SubmitKeyError> {
    let mut inner = String::new();
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' if chars.as_str().is_empty() => return Ok(inner),
            '"' => return Err(SubmitKeyError),
            '\\' => inner.push(chars.next().filter(|c| matches!(c, '"' | '\\')).ok_or(SubmitKeyError)?),
            other => inner.push(other),
        }
    }
    Err(SubmitKeyError)
}

impl fmt::Debug for SubmitKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SubmitKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_are_letters_digits_dash_and_underscore() {
        for good in ["a", "acme", "A-1_b", &"x".repeat(64)] {
            assert!(SiteId::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "a b", "ä", "a/b", "a.b", &"x".repeat(65)] {
            assert_eq!(FormId::parse(bad), Err(IdError), "{bad}");
        }
    }

    #[test]
    fn a_receipt_is_thirteen_characters_that_sort_by_arrival() {
        let early = ReceiptId::new(Timestamp::from_millis(EPOCH + 1), u32::MAX);
        let late = ReceiptId::new(Timestamp::from_millis(EPOCH + 2), 0);
        assert!(early < late);
        assert!(early.to_string() < late.to_string());
        assert_eq!(late.to_string(), "0000000040000");
        assert_eq!(late.arrived_at(), Timestamp::from_millis(EPOCH + 2));
    }

    #[test]
    fn a_prefix_is_read_as_crockford_means_it() {
        assert_eq!(ReceiptPrefix::parse("0OiLl"), ReceiptPrefix::parse("00111"));
        assert_eq!(ReceiptPrefix::parse("ABC"), ReceiptPrefix::parse("abc"));
        for bad in ["", "u", "0-1", "é", "00000000000000", "zzzzzzzzzzzzz"] {
            assert_eq!(ReceiptPrefix::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_key_is_bare_or_quoted_and_an_empty_one_is_none() {
        let key = |t: &str| SubmitKey::parse(t).map(|k| k.map(|k| k.as_str().to_owned()));
        assert_eq!(key("abc"), Ok(Some("abc".into())));
        assert_eq!(key("\"abc\""), Ok(Some("abc".into())));
        assert_eq!(key(r#""a\"b\\c""#), Ok(Some(r#"a"b\c"#.into())));
        assert_eq!(key(""), Ok(None));
        assert_eq!(key("\"\""), Ok(None));
        assert_eq!(key(&"k".repeat(200)), Ok(Some("k".repeat(200))));
        for bad in ["a b", "ключ", "\"a", "\"a\"b", r#""a\x""#, &"k".repeat(201)] {
            assert_eq!(key(bad), Err(SubmitKeyError), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_receipt_is_read_back_from_its_text_and_lies_in_each_of_its_prefixes(row in 0..i64::MAX, cut in 1usize..=13) {
            let id = ReceiptId::from_row(row).unwrap();
            let text = id.to_string();
            prop_assert_eq!(ReceiptId::parse(&text), Some(id));
            let prefix = ReceiptPrefix::parse(&text[..cut]).unwrap();
            prop_assert!(prefix.low() <= row && row <= prefix.high());
            let delivery = DeliveryId { receipt: id, n: 7 };
            prop_assert_eq!(DeliveryId::parse(&delivery.to_string()), Some(delivery));
        }

        #[test]
        fn no_text_makes_the_parsers_panic(text in ".*") {
            drop((ReceiptPrefix::parse(&text), DeliveryId::parse(&text), SubmitKey::parse(&text), AttachmentId::parse(&text)));
        }
    }
}
