//! How large a whole body may be.

use crate::domain::bounds::{Bounds, KIB};
use crate::domain::form::{FieldKind, Form};

/// What a body has beside values and files: names, boundaries, part headers.
const FRAMING: u64 = 64 * KIB;

/// The files the form takes together, all values, and 64 KiB. Never one field's `max_size`: a file too large for its
/// field is an error at the field, which the visitor can see. `None`: a form that the configuration lost.
pub(super) fn body_limit(form: Option<&Form>, bounds: &Bounds) -> u64 {
    let any = bounds.max_files.saturating_mul(bounds.max_file);
    let files = match form {
        None => any,
        Some(form) if form.takes_any_field() => {
            if form.accept_files {
                any
            } else {
                0
            }
        }
        Some(form) => form.fields.iter().map(|field| most(&field.kind)).fold(0, u64::saturating_add),
    };
    files.min(bounds.max_files_total).saturating_add(bounds.values).saturating_add(FRAMING)
}

/// Most bytes of files in one field.
fn most(kind: &FieldKind) -> u64 {
    match kind {
        FieldKind::File(rules) => u64::from(rules.max_files).saturating_mul(rules.max_size),
        FieldKind::Text(_)
        | FieldKind::Textarea(_)
        | FieldKind::Email(_)
        | FieldKind::Tel(_)
        | FieldKind::Url(_)
        | FieldKind::Number(_)
        | FieldKind::Date(_)
        | FieldKind::Select(_)
        | FieldKind::Radio(_)
        | FieldKind::Checkbox
        | FieldKind::Checkboxes(_)
        | FieldKind::Hidden(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::bounds::MIB;
    use crate::http::fixture::form;

    #[test]
    fn the_limit_is_all_files_of_the_form_all_values_and_the_framing() {
        let bounds = Bounds::default();
        let rest = 256 * KIB + 64 * KIB;
        let mut form = form();
        assert_eq!(body_limit(Some(&form), &bounds), 2 * MIB + rest);
        if let FieldKind::File(rules) = &mut form.fields[1].kind {
            (rules.max_files, rules.max_size) = (5, 5 * MIB);
        }
        assert_eq!(body_limit(Some(&form), &bounds), 10 * MIB + rest);
        form.fields.clear();
        assert_eq!(body_limit(Some(&form), &bounds), rest);
        form.accept_files = true;
        assert_eq!(body_limit(Some(&form), &bounds), 10 * MIB + rest);
        assert_eq!(body_limit(None, &bounds), 10 * MIB + rest);
    }
}
