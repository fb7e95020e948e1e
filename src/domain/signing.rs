//! How a body is signed, so that a receiver knows who wrote it (contract 11.3).
//!
//! Two ways, side by side. `X-Formd-Signature` covers the body alone and is keyed by the current secret's text as it was
//! written: a few lines check it. The three headers of [Standard Webhooks](https://www.standardwebhooks.com) cover the
//! delivery's id and the moment of the attempt as well, and carry one signature a secret, so that receivers can change
//! over; libraries check them.
//!
//! Guarantees. The same delivery, moment, body and secrets give the same headers: nothing here draws chance or reads a
//! clock. A secret of any text has a key. It deliberately does not verify: that is the receivers' part.

use std::borrow::Cow;

use super::digest::{base64, from_base64, hex, hmac_sha256};
use super::secret::Secret;
use super::target::Signing;
use super::time::Timestamp;

/// What begins a secret whose rest is a key in base64.
pub const PREFIX: &str = "whsec_";

/// A secret that begins with `whsec_` and goes on with something else than base64: libraries refuse it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoBase64;

/// The headers that prove where a body comes from.
pub fn headers(signing: &Signing, id: &str, attempt: Timestamp, body: &[u8]) -> [(&'static str, String); 4] {
    let seconds = attempt.as_millis().div_euclid(1000).to_string();
    let secrets = std::iter::once(&signing.secret).chain(&signing.previous);
    let entries: Vec<String> = secrets.map(|secret| standard(secret, id, &seconds, body)).collect();
    [
        ("X-Formd-Signature", own(&signing.secret, body)),
        ("webhook-id", id.to_owned()),
        ("webhook-timestamp", seconds),
        ("webhook-signature", entries.join(" ")),
    ]
}

/// `X-Formd-Signature`: over the exact body, keyed by the secret's text.
fn own(secret: &Secret, body: &[u8]) -> String {
    format!("sha256={}", hex(&hmac_sha256(secret.reveal().as_bytes(), &[body])))
}

/// One entry of `webhook-signature`: over `ID.SECONDS.BODY`.
fn standard(secret: &Secret, id: &str, seconds: &str, body: &[u8]) -> String {
    let text = secret.reveal();
    // A snapshot from before this was checked may hold what is no base64: its text is a key like any other.
    let key = key(text).unwrap_or(Cow::Borrowed(text.as_bytes()));
    let parts = [id.as_bytes(), b".", seconds.as_bytes(), b".", body];
    format!("v1,{}", base64(&hmac_sha256(&key, &parts)))
}

/// The key of Standard Webhooks in a secret: what `whsec_...` encodes, or the bytes of any other text.
pub fn key(secret: &str) -> Result<Cow<'_, [u8]>, NoBase64> {
    match secret.strip_prefix(PREFIX) {
        Some(encoded) => from_base64(encoded).map(Cow::Owned).ok_or(NoBase64),
        None => Ok(Cow::Borrowed(secret.as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of the headers for two secrets.
    fn values(secret: &str, previous: Option<&str>) -> [String; 4] {
        let secret_of = |text: &str| Secret::new(text.to_owned());
        let signing = Signing { secret: secret_of(secret), previous: previous.map(secret_of) };
        let body = br#"{"test": 2432232314}"#;
        let at = Timestamp::from_millis(1_614_265_330_999);
        headers(&signing, "msg_p5jXN8AQM9LWM0D4loKWxJek", at, body).map(|(_, value)| value)
    }

    #[test]
    fn the_example_of_standard_webhooks() {
        // From the tests of the official libraries: secret, id, time, body and signature.
        let [_, id, seconds, signature] = values("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", None);
        assert_eq!((id.as_str(), seconds.as_str()), ("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330"));
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_rotation_signs_with_both_and_our_own_header_with_the_current_one() {
        let (new, old) = ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "schlüssel-0123456789");
        let both = values(new, Some(old));
        assert_eq!(both[3], format!("{} {}", values(new, None)[3], values(old, None)[3]));
        assert_eq!(both[0], values(new, None)[0]);
    }

    #[test]
    fn our_own_header_is_keyed_by_the_text_as_written() {
        // python3 -c 'import hmac; print(hmac.new("schlüssel-0123456789".encode(), "{\"a\":\"ж\"}".encode(), "sha256").hexdigest())'
        assert_eq!(
            own(&Secret::new("schlüssel-0123456789".into()), "{\"a\":\"ж\"}".as_bytes()),
            "sha256=6f67ffc0411c5bc5c6a981fd20d16b282e843f7ec1a910397f1fcba785cc926d"
        );
    }

    #[test]
    fn a_key_is_what_whsec_encodes_or_the_text() {
        assert_eq!(key("whsec_AAECAw==").as_deref(), Ok([0, 1, 2, 3].as_slice()));
        assert_eq!(key("plain").as_deref(), Ok(b"plain".as_slice()));
        // Without its padding, of the other alphabet, with a line break: libraries disagree about these.
        for text in ["whsec_AAECAw", "whsec_AA-_", "whsec_AAEC\n", "whsec_AAECAx==", "whsec_no base64"] {
            assert_eq!(key(text), Err(NoBase64), "{text}");
        }
    }
}
