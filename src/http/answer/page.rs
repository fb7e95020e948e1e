//! Answers for a browser's window.

use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderValue};

use super::{Accepted, FormAgain, Problem, page_reply, see_other};
use crate::domain::form::Form;
use crate::domain::text::Language;
use crate::http::server::Reply;
use crate::pages::{Again, FormPage, Note, Pages, Said};

/// Sends the visitor on, or says thank you.
pub(super) fn accepted(accepted: &Accepted, language: Language, pages: &Pages) -> Reply {
    if let Some(reply) = accepted.next.as_deref().and_then(see_other) {
        return reply;
    }
    let texts = language.texts();
    let receipt = (texts.receipt_line)(&accepted.receipt.to_string());
    let note = Note {
        language,
        title: texts.thanks_title,
        lines: &[texts.thanks_message],
        receipt: Some(&receipt),
        back: None,
    };
    page_reply(StatusCode::OK, pages.note(&note))
}

/// Says what is wrong: with the form below where there is one to mend.
pub(super) fn refused(problem: &Problem, language: Language, pages: &Pages) -> Reply {
    let notice = problem.kind.notice(language);
    let lines: Vec<&str> = std::iter::once(notice.detail).chain(problem.more.iter().map(String::as_str)).collect();
    let page = match &problem.again {
        None => pages.note(&Note { language, title: notice.title, lines: &lines, receipt: None, back: None }),
        Some(again) => pages.form(&form_page(again, Said { title: notice.title, lines }, problem, language)),
    };
    page_reply(problem.kind.status(), page)
}

/// The form again.
fn form_page<'a>(again: &'a FormAgain, said: Said<'a>, problem: &'a Problem, language: Language) -> FormPage<'a> {
    FormPage {
        form: &again.form,
        action: None,
        key: &again.key,
        language,
        next: again.next.as_deref(),
        again: Some(Again { said, draft: &again.draft, messages: &problem.messages, button: again.button }),
    }
}

/// The hosted page of a form. A browser may keep it for its back button, so that a text half written is not lost;
/// nobody else may, since it carries a key.
pub(in crate::http) fn hosted_form(form: &Form, key: &str, language: Language, pages: &Pages) -> Reply {
    let page = FormPage { form, action: None, key, language, next: None, again: None };
    let mut reply = page_reply(StatusCode::OK, pages.form(&page));
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    reply
}
