//! Hashes and keyed hashes: SHA-256 of files, HMAC-SHA256 of everything that must not be guessable; and how their bytes
//! are written.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// The SHA-256 of a file's bytes; shown as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sha256Sum([u8; 32]);

impl Sha256Sum {
    /// The sum of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// A sum that was computed before.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Sha256Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Sha256Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sha256Sum({self})")
    }
}

/// A SHA-256 over bytes that arrive in pieces.
#[derive(Clone, Debug, Default)]
pub struct RunningSum(Sha256);

impl RunningSum {
    /// Adds the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The sum of all bytes so far.
    pub fn finish(self) -> Sha256Sum {
        Sha256Sum(self.0.finalize().into())
    }
}

/// HMAC-SHA256 of `parts`, one after another (RFC 2104).
pub fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = RunningMac::new(key);
    for part in parts {
        mac.push(part);
    }
    mac.0.finalize().into_bytes().into()
}

/// An HMAC-SHA256 over bytes that arrive in pieces.
#[derive(Clone)]
pub struct RunningMac(Hmac<Sha256>);

impl RunningMac {
    /// Nothing yet, under `key`.
    pub fn new(key: &[u8]) -> Self {
        #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
        Self(<Hmac<Sha256> as KeyInit>::new_from_slice(key).expect("HMAC takes a key of any length"))
    }

    /// Adds the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Whether `claimed` is the code of all bytes so far; the time it takes says nothing about where they differ.
    pub fn matches(self, claimed: &[u8; 32]) -> bool {
        self.0.verify_slice(claimed).is_ok()
    }
}

impl fmt::Debug for RunningMac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunningMac(..)")
    }
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 });
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Base64 of the standard alphabet, padded (RFC 4648, 4).
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes that `text` encodes; `None` where it is not exactly what [`base64`] would write.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// The secret of this installation: 32 random bytes, kept in a file of its own outside the database. It keys
/// the content hash, the stored submission keys and the client hash, so that none of them says anything once
/// the values are erased.
#[derive(Clone)]
pub struct InstanceKey([u8; 32]);

impl InstanceKey {
    /// Wraps the bytes of the file `key`.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// HMAC under this key with a purpose in front, so that no hash of one use can stand for another's.
    pub fn keyed(&self, purpose: &str, parts: &[&[u8]]) -> [u8; 32] {
        let mut all: Vec<&[u8]> = vec![purpose.as_bytes(), &[0]];
        all.extend_from_slice(parts);
        hmac_sha256(&self.0, &all)
    }
}

impl fmt::Debug for InstanceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InstanceKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert_eq!(
            Sha256Sum::of(b"abc").to_string(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        let mut sum = RunningSum::default();
        sum.push(b"a");
        sum.push(b"bc");
        assert_eq!(sum.finish(), Sha256Sum::of(b"abc"));
        // RFC 4231, test case 2.
        assert_eq!(
            hex(&hmac_sha256(b"Jefe", &[b"what do ya want ", b"for nothing?"])),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
