//! What went wrong, in the words of an answer.

use std::borrow::Cow;

use super::{Course, Problem, ProblemKind, SOON, fresh_key};
use crate::domain::draft::Draft;
use crate::domain::ids::SubmitKey;
use crate::domain::validate::{FieldError, Verdict, only_too_large};
use crate::http::answer::{FormAgain, Format, allowed};
use crate::http::body::BodyError;
use crate::intake::{Published, Refusal};
use crate::pages::{Button, Words};

impl Course<'_> {
    /// A refusal of the whole request, of which nothing can be shown again: the browser still has the form.
    pub(super) fn refuse_whole(&self, kind: ProblemKind) -> Problem {
        let problem = Problem::new(kind);
        let problem = if kind == ProblemKind::Unavailable { problem.retry_after(SOON) } else { problem };
        match self.visit.ask.format {
            Format::Page => problem.say(Words::of(self.visit.ask.language).go_back.to_owned()),
            Format::Json => problem,
        }
    }

    /// A body that could not be read.
    pub(super) fn refuse_body(&self, error: BodyError) -> Problem {
        if self.hold.is_exhausted() {
            tracing::warn!("the memory for values is spent");
            return self.refuse_whole(ProblemKind::Unavailable);
        }
        match error {
            BodyError::Malformed(what) => self.refuse_whole(ProblemKind::Malformed).detail(what),
            BodyError::BadKey => self.refuse_whole(ProblemKind::BadKey),
            BodyError::TooLarge => self.refuse_whole(ProblemKind::TooLarge),
            BodyError::TooMuch(what) => self.refuse_whole(ProblemKind::TooMuch).detail(what),
            BodyError::Unsupported(what) => Problem::new(ProblemKind::UnsupportedType).detail(what),
            BodyError::TooSlow => self.refuse_whole(ProblemKind::TooSlow),
            // A client that closed its side for sending may still read.
            BodyError::Gone => self.refuse_whole(ProblemKind::Malformed).detail("the body ended early"),
            BodyError::Unavailable(error) => {
                tracing::error!(%error, "a body could not be written");
                self.refuse_whole(ProblemKind::Unavailable)
            }
        }
    }

    /// The key belongs to another content: the text stays, and a fresh key is one click away.
    pub(super) fn conflict(&self, shown: Option<Draft>) -> Problem {
        let again = shown.and_then(|draft| self.form_again(draft, None, Button::SendAsNew));
        Problem { again, ..Problem::new(ProblemKind::KeyConflict) }
    }

    /// What intake refused. A refused request does not use up its key, so the form keeps it.
    pub(super) fn refuse(&self, refusal: Refusal, shown: Option<Draft>, key: Option<SubmitKey>) -> Problem {
        match refusal {
            Refusal::Unknown => Problem::new(ProblemKind::NotFound),
            Refusal::Closed => Problem::new(ProblemKind::Closed),
            Refusal::Invalid(errors) => self.invalid(&errors, shown, key),
            Refusal::Unavailable(error) => {
                tracing::error!(%error, "a submission could not be recorded");
                // The same key settles it, so the form that is shown again carries it.
                match shown.and_then(|draft| self.form_again(draft, key, Button::Send)) {
                    Some(again) => {
                        Problem { again: Some(again), ..Problem::new(ProblemKind::Unavailable) }.retry_after(SOON)
                    }
                    None => self.refuse_whole(ProblemKind::Unavailable),
                }
            }
        }
    }

    /// Fields are at fault.
    fn invalid(&self, errors: &[FieldError], shown: Option<Draft>, key: Option<SubmitKey>) -> Problem {
        let kind = match only_too_large(errors) {
            Verdict::OnlyTooLarge => ProblemKind::FilesTooLarge,
            Verdict::Invalid => ProblemKind::Invalid,
        };
        let form = self.target.published.as_ref().map(|published| published.form.as_ref());
        let texts = self.visit.ask.language.texts();
        let messages = errors.iter().map(|error| error.render(form, texts)).collect();
        let again = shown.and_then(|draft| self.form_again(draft, key, Button::Send));
        Problem { messages, again, ..Problem::new(kind) }
    }

    /// The form with what was sent, under its key or a fresh one. `None` where there is no form any more, or where a
    /// browser could not send it.
    pub(super) fn form_again(&self, draft: Draft, key: Option<SubmitKey>, button: Button) -> Option<Box<FormAgain>> {
        let Published { site, form } = self.target.published.clone().filter(|to| to.form.signature.is_none())?;
        let plain = match draft.unwrapped(form.unwrap.as_deref()) {
            Cow::Owned(plain) => Some(plain),
            Cow::Borrowed(_) => None,
        };
        let draft = plain.unwrap_or(draft);
        Some(Box::new(FormAgain {
            form,
            key: key.map_or_else(|| fresh_key(&self.inner.clock), |key| key.as_str().to_owned()),
            next: allowed(&draft, &site, &self.visit.own),
            draft,
            button,
        }))
    }
}
