//! Answers for programs.

use hyper::StatusCode;
use serde_json::{Map, Value, json};

use super::{Accepted, Problem, reply};
use crate::domain::text::Language;
use crate::http::server::Reply;

/// The success that existing clients read: some look at `ok`, some at `success`, some at the absence of `errors`,
/// and some call methods on `next`, which therefore is always a string.
pub(super) fn accepted(accepted: &Accepted, language: Language) -> Reply {
    let body = json!({
        "ok": true,
        "success": true,
        "receipt": accepted.receipt.to_string(),
        "message": language.texts().thanks_message,
        "next": accepted.next.as_deref().unwrap_or_default(),
    });
    reply(StatusCode::OK, "application/json", body.to_string())
}

/// RFC 9457, and beside it the strings `error` and `message`.
pub(super) fn refused(problem: &Problem, language: Language) -> Reply {
    let notice = problem.kind.notice(language);
    let said = [&[notice.detail.to_owned()], problem.more.as_slice()].concat().join(" ");
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    put("type", format!("urn:formd:problem:{}", problem.kind.code()).into());
    put("title", notice.title.into());
    put("status", problem.kind.status().as_u16().into());
    put("detail", problem.detail.map_or_else(|| said.clone(), str::to_owned).into());
    put("code", problem.kind.code().into());
    if !problem.messages.is_empty() {
        put("errors", json!(problem.messages));
    }
    put("error", said.clone().into());
    put("message", said.into());
    reply(problem.kind.status(), "application/problem+json", Value::Object(body).to_string())
}
