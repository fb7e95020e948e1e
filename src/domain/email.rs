//! E-mail addresses as HTML means them (WHATWG HTML, valid e-mail address), plus internationalised domains.

/// Whether `text` is one valid address.
pub fn is_valid(text: &str) -> bool {
    todo!()
}
