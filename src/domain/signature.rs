//! The signature of a submission: `X-Form-Signature: sha256=` and 64 hex digits, HMAC-SHA256 over the exact bytes of
//! the body under the form's secret, whose text as written is the key.
//!
//! Verifying has one outcome for a wrong secret and for a changed body: who asks learns nothing of either.

use super::digest::RunningMac;
use super::disposition::hex_pair;
use super::secret::Secret;

/// What a sender claims.
#[derive(Clone, Copy, Debug)]
pub struct Signature([u8; 32]);

/// What verifying came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authenticity {
    /// Whoever wrote the body knows the secret.
    Genuine,
    /// The secret or the body is another one.
    Forged,
}

impl Signature {
    /// Reads the header's value; hex digits in either case.
    pub fn parse(header: &[u8]) -> Option<Self> {
        let mut signature = [0; 32];
        let (pairs, []) = header.strip_prefix(b"sha256=")?.as_chunks::<2>() else { return None };
        if pairs.len() != signature.len() {
            return None;
        }
        for (byte, [high, low]) in signature.iter_mut().zip(pairs) {
            *byte = hex_pair(*high, *low)?;
        }
        Some(Self(signature))
    }
}

/// The verification of a body that arrives in pieces.
#[derive(Clone, Debug)]
pub struct Verifier(RunningMac);

impl Verifier {
    /// Nothing seen yet.
    pub fn new(secret: &Secret) -> Self {
        Self(RunningMac::new(secret.reveal().as_bytes()))
    }

    /// The next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.push(bytes);
    }

    /// Judges all bytes, in constant time.
    pub fn finish(self, claimed: &Signature) -> Authenticity {
        if self.0.matches(&claimed.0) { Authenticity::Genuine } else { Authenticity::Forged }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::digest::{hex, hmac_sha256};

    fn judge(secret: &str, pieces: &[&[u8]], header: &str) -> Authenticity {
        let mut verifier = Verifier::new(&Secret::new(secret.to_owned()));
        for piece in pieces {
            verifier.push(piece);
        }
        verifier.finish(&Signature::parse(header.as_bytes()).unwrap())
    }

    #[test]
    fn a_body_is_genuine_however_it_is_cut_and_forged_when_one_bit_differs() {
        // RFC 4231, test case 2.
        let good = "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        let pieces: [&[u8]; 3] = [b"what do ya ", b"", b"want for nothing?"];
        assert_eq!(judge("Jefe", &pieces, good), Authenticity::Genuine);
        assert_eq!(judge("Jefe", &pieces, &good.replace("5bdc", "5BDC")), Authenticity::Genuine);
        assert_eq!(judge("jefe", &pieces, good), Authenticity::Forged);
        assert_eq!(judge("Jefe", &[b"what do ya want for nothing!"], good), Authenticity::Forged);
        assert_eq!(judge("Jefe", &pieces, &good.replace("5bdc", "5bdd")), Authenticity::Forged);
    }

    #[test]
    fn only_the_one_spelling_is_a_signature() {
        let digits = hex(&hmac_sha256(b"k", &[]));
        assert!(Signature::parse(format!("sha256={digits}").as_bytes()).is_some());
        for bad in [
            String::new(),
            digits.clone(),
            format!("SHA256={digits}"),
            format!("sha1={digits}"),
            format!("sha256={}", &digits[1..]),
            format!("sha256={}", &digits[2..]),
            format!("sha256={digits}00"),
            format!("sha256= {digits}"),
            format!("sha256={}g", &digits[1..]),
            format!("sha256={digits}, sha256={digits}"),
        ] {
            assert!(Signature::parse(bad.as_bytes()).is_none(), "{bad}");
        }
    }
}
