//! Answers for a browser's window.

use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderValue};

use super::{Accepted, Ask, FormAgain, Problem, page_reply, see_other};
use crate::domain::form::Form;
use crate::domain::text::Texts;
use crate::http::server::Reply;
use crate::pages::{Again, FormPage, Note, Pages, Said};

/// Sends the visitor on, or says thank you.
pub(super) fn accepted(accepted: &Accepted, ask: &Ask, pages: &Pages) -> Reply {
    if let Some(reply) = accepted.next.as_deref().and_then(see_other) {
        return reply;
    }
    let texts = &ask.texts;
    let receipt = texts.receipt_line(&accepted.receipt.to_string());
    let note = Note {
        texts,
        title: texts.thanks_title(),
        lines: &[texts.thanks_message()],
        receipt: Some(&receipt),
        back: ask.page.as_deref(),
    };
    page_reply(StatusCode::OK, pages.note(&note))
}

/// Says what is wrong: with the form below where there is one to mend.
pub(super) fn refused(problem: &Problem, texts: &Texts, pages: &Pages) -> Reply {
    let notice = problem.kind.notice(texts);
    let lines: Vec<&str> = std::iter::once(notice.detail).chain(problem.more.iter().map(String::as_str)).collect();
    let page = match &problem.again {
        None => pages.note(&Note { texts, title: notice.title, lines: &lines, receipt: None, back: None }),
        Some(again) => pages.form(&form_page(again, Said { title: notice.title, lines }, problem, texts)),
    };
    page_reply(problem.kind.status(), page)
}

/// The form again.
fn form_page<'a>(again: &'a FormAgain, said: Said<'a>, problem: &'a Problem, texts: &'a Texts) -> FormPage<'a> {
    FormPage {
        form: &again.form,
        action: None,
        key: &again.key,
        texts,
        next: again.next.as_deref(),
        again: Some(Again { said, draft: &again.draft, messages: &problem.messages, button: again.button }),
    }
}

/// The hosted page of a form. A browser may keep it for its back button, so that a text half written is not lost;
/// nobody else may, since it carries a key.
pub(in crate::http) fn hosted_form(form: &Form, key: &str, texts: &Texts, pages: &Pages) -> Reply {
    let page = FormPage { form, action: None, key, texts, next: None, again: None };
    let mut reply = page_reply(StatusCode::OK, pages.form(&page));
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    reply
}
