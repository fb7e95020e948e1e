//! Control fields steer a request and are never stored, delivered or hashed. The list is fixed: the content
//! hash must depend on the request alone.

/// The hidden field that carries the submission key.
pub const KEY: &str = "_key";
/// The page that formd.js says the form stands on.
pub const PAGE: &str = "_page";
/// The charset a browser used for an urlencoded or multipart body.
pub const CHARSET: &str = "_charset_";

/// Wishes for an address to go to after success, in order of preference.
pub const NEXT: &[&str] = &[
    "_next",
    "_redirect",
    "redirect",
    "_after",
    "_success",
    "redirect_to",
    "_redirectTo",
    "redirectUrl",
    "_success_url",
    "options[redirect]",
];

/// Wishes that would let a visitor steer mail or calls: dropped, never obeyed, and reported to the operator.
pub const STEERING: &[&str] = &[
    "_to",
    "_cc",
    "_bcc",
    "_webhook",
    "_template",
    "_autoresponse",
    "_captcha",
    "_subject",
    "_replyto",
    "_url",
    "_blacklist",
    "_format",
];

/// Form selectors of hosted services, which a site may choose for its `[[shared_path]]`.
pub const SELECTORS: &[&str] = &["form-name", "access_key"];

/// Everything else that is fixed by name: captcha tokens, honeypots.
const OTHERS: &[&str] = &[
    "cf-turnstile-response",
    "h-captcha-response",
    "g-recaptcha-response",
    "altcha",
    "_gotcha",
    "_honey",
    "botcheck",
    "bot-field",
    "_honeypot",
    "_error",
    "_language",
];

/// Whether `name` is a control field.
pub fn is_control(name: &str) -> bool {
    let lists = [NEXT, STEERING, SELECTORS, OTHERS];
    matches!(name, KEY | PAGE | CHARSET) || lists.iter().any(|list| list.contains(&name))
}
