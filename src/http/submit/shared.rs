//! An address that forms share: which form is meant shows only when the body is read.
//!
//! So the body is read within the bounds of the largest of these forms; then the form's own rules hold. A value that
//! names no form is answered as an address without one. A form that the configuration lost is still read for its key.

use super::{Course, Problem, ProblemKind, Shared, Target};
use crate::domain::draft::Draft;
use crate::domain::form::Form;
use crate::domain::ids::FormId;
use crate::intake::Published;

impl Shared {
    /// The forms that can be meant.
    pub(super) fn forms(&self) -> impl Iterator<Item = &Form> {
        self.site.forms.values().map(AsRef::as_ref).filter(|form| self.path.leads_to(&form.id))
    }
}

impl Target {
    /// The forms whose receipts a key may belong to.
    pub(super) fn candidates(&self) -> Vec<FormId> {
        match (&self.form, &self.shared) {
            (Some(form), _) => vec![form.clone()],
            (None, Some(shared)) => shared.forms().map(|form| form.id.clone()).collect(),
            (None, None) => Vec::new(),
        }
    }
}

impl Course<'_> {
    /// Finds the form that a submission to a shared address means.
    pub(super) fn find_form(&mut self, draft: &Draft) -> Result<(), Problem> {
        let Some(shared) = &self.target.shared else { return Ok(()) };
        let id = shared.path.form_of(draft).ok_or_else(|| Problem::new(ProblemKind::NotFound))?;
        self.target.address = format!("/f/{}/{id}", shared.site.id);
        self.target.published = shared.site.forms.get(&id).map(|form| {
            self.visit.ask.texts = shared.site.texts(form.locale.unwrap_or(shared.visitor));
            self.visit.ask.response = form.response.clone();
            Published { site: shared.site.clone(), form: form.clone() }
        });
        self.target.form = Some(id);
        Ok(())
    }
}
