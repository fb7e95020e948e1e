//! The signature of a submission: asked by the form, claimed by the head, verified before anything is parsed.
//!
//! A request without a signature is refused before its body is read. Whether the secret or the body is wrong, and
//! whether a signature was there at all, is one answer.

use hyper::HeaderMap;

use super::Course;
use crate::domain::secret::Secret;
use crate::domain::signature::Signature;

/// What a form asks and a head claims.
pub(super) enum Signing<'a> {
    /// The form asks for no signature.
    NotAsked,
    /// It asks, and there is none that can be read.
    Missing,
    /// It asks, and this one must hold.
    Claimed(&'a Secret, &'a Signature),
}

impl Course<'_> {
    /// What the form asks and the head claims.
    pub(super) fn signing(&self) -> Signing<'_> {
        let secret = self.target.published.as_ref().and_then(|published| published.form.signature.as_ref());
        match (secret, &self.signature) {
            (None, _) => Signing::NotAsked,
            (Some(_), None) => Signing::Missing,
            (Some(secret), Some(signature)) => Signing::Claimed(secret, signature),
        }
    }
}

/// The one `X-Form-Signature` of a head; two are none.
pub(super) fn claimed(headers: &HeaderMap) -> Option<Signature> {
    let mut values = headers.get_all("x-form-signature").iter();
    match (values.next(), values.next()) {
        (Some(value), None) => Signature::parse(value.as_bytes()),
        _ => None,
    }
}
