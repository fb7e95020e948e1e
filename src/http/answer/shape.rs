//! The bodies that programs get: the usual shape, those of the presets, and the operator's own.
//!
//! A preset gives what the front-ends of a service look at, and beside it nothing they would trip over: an `errors`
//! member in a success, even an empty one, is a failure to some. The statuses stay formd's own, since most front-ends
//! look at nothing else; none answers 200 for a refusal.

use hyper::StatusCode;
use serde_json::{Map, Value, json};

use super::{Accepted, Problem, ProblemKind, reply};
use crate::domain::response::{JsonTemplate, Place, Preset, Response};
use crate::domain::text::{Notice, Texts};
use crate::domain::validate::RenderedError;
use crate::http::server::Reply;

/// The type of a problem answer.
const PROBLEM: &str = "application/problem+json";
/// The type of everything else.
const JSON: &str = "application/json";

/// A success.
pub(super) fn accepted(accepted: &Accepted, texts: &Texts, response: &Response) -> Reply {
    let receipt = accepted.receipt.to_string();
    let (message, next) = (texts.thanks_message(), accepted.next.as_deref().unwrap_or_default());
    let body = match response {
        Response::Own(own) if own.success.is_some() => {
            let fill = |place| match place {
                Place::Receipt => receipt.clone().into(),
                Place::Message => message.into(),
                Place::Next => next.into(),
                Place::Code => "ok".into(),
                Place::Status => 200.into(),
                Place::Errors => json!([]),
            };
            own.success.as_ref().map(|template| template.render(fill)).unwrap_or_default()
        }
        Response::Preset(Preset::Formsubmit) => {
            json!({"success": "true", "message": message, "receipt": receipt, "next": next}).to_string()
        }
        Response::Preset(Preset::Web3forms) => {
            json!({"success": true, "message": message, "body": {"message": message}, "receipt": receipt, "next": next})
                .to_string()
        }
        Response::Preset(Preset::Formcarry) => json!({
            "code": 200, "status": "success", "title": texts.thanks_title(), "message": message,
            "receipt": receipt, "next": next,
        })
        .to_string(),
        // Some front-ends look at `ok`, some at `success`, some at the absence of `errors`, and some call methods on
        // `next`, which therefore is always a string.
        Response::Usual | Response::Own(_) | Response::Preset(Preset::Netlify | Preset::Formspree | Preset::Basin) => {
            json!({"ok": true, "success": true, "receipt": receipt, "message": message, "next": next}).to_string()
        }
    };
    reply(StatusCode::OK, JSON, body)
}

/// A refusal.
pub(super) fn refused(problem: &Problem, texts: &Texts, response: &Response) -> Reply {
    let status = problem.kind.status();
    let refusal = Refusal { problem, notice: problem.kind.notice(texts), status };
    match response {
        Response::Own(own) => {
            let status = own.error_status.and_then(|status| StatusCode::from_u16(status).ok());
            let status = status.filter(|_| is_mendable(refusal.status)).unwrap_or(refusal.status);
            let refusal = Refusal { status, ..refusal };
            match &own.error {
                Some(template) => reply(status, JSON, refusal.own(template)),
                None => reply(status, PROBLEM, refusal.usual()),
            }
        }
        Response::Usual => reply(status, PROBLEM, refusal.usual()),
        Response::Preset(preset) => reply(status, JSON, refusal.preset(*preset)),
    }
}

/// Whether a refusal is one of what was sent: what a form's own `error_status` stands for. Others keep their status,
/// since clients and proxies act on it (`Retry-After`).
fn is_mendable(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 403 | 409 | 413 | 415 | 422)
}

/// A refusal and what every shape needs of it.
struct Refusal<'a> {
    /// The refusal.
    problem: &'a Problem,
    /// Its words.
    notice: Notice<'a>,
    /// Its status.
    status: StatusCode,
}

impl Refusal<'_> {
    /// The sentences for the visitor.
    fn said(&self) -> String {
        [&[self.notice.detail.to_owned()], self.problem.more.as_slice()].concat().join(" ")
    }

    /// The sentences for a front-end that shows one text and no more: the faults themselves, where there are some.
    fn told(&self) -> String {
        if self.problem.messages.is_empty() {
            return self.said();
        }
        self.problem.messages.iter().map(whole).collect::<Vec<_>>().join(" ")
    }

    /// RFC 9457, and beside it the strings `error` and `message` that existing front-ends read.
    fn usual(&self) -> String {
        let said = self.said();
        let mut body = Map::new();
        let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
        put("type", format!("urn:formd:problem:{}", self.problem.kind.code()).into());
        put("title", self.notice.title.into());
        put("status", self.status.as_u16().into());
        put("detail", self.problem.detail.map_or_else(|| said.clone(), str::to_owned).into());
        put("code", self.problem.kind.code().into());
        if !self.problem.messages.is_empty() {
            put("errors", json!(self.problem.messages));
        }
        put("error", said.clone().into());
        put("message", said.into());
        Value::Object(body).to_string()
    }

    /// The shape of a service.
    fn preset(&self, preset: Preset) -> String {
        let (told, code, status) = (self.told(), self.problem.kind.code(), self.status.as_u16());
        match preset {
            Preset::Formspree => json!({"error": told, "errors": self.formspree(), "code": code}),
            Preset::Formsubmit => json!({"success": "false", "message": told, "code": code}),
            Preset::Web3forms => {
                json!({"success": false, "message": told, "body": {"message": told}, "code": code})
            }
            Preset::Formcarry => {
                json!({"code": status, "status": "error", "title": self.notice.title, "message": told})
            }
            Preset::Netlify | Preset::Basin => json!({
                "ok": false, "success": false, "error": told, "message": told, "code": code,
                "errors": self.problem.messages,
            }),
        }
        .to_string()
    }

    /// The list that Formspree's own library reads: its words where it has one.
    fn formspree(&self) -> Vec<Value> {
        if self.problem.messages.is_empty() {
            let code = match self.problem.kind {
                ProblemKind::NotFound => "FORM_NOT_FOUND",
                ProblemKind::Closed => "INACTIVE",
                ProblemKind::OriginRefused => "BLOCKED",
                ProblemKind::TooLarge => "FILES_TOO_BIG",
                other => other.code(),
            };
            return vec![json!({"code": code, "message": self.said()})];
        }
        let fault = |error: &RenderedError| {
            let code = match error.code {
                "required" => "REQUIRED_FIELD_MISSING",
                "email" => "TYPE_EMAIL",
                "number" | "number_min" | "number_max" => "TYPE_NUMERIC",
                "not_text" | "nested" | "text_expected" => "TYPE_TEXT",
                "file_too_large" | "files_total" => "FILES_TOO_BIG",
                "files_too_many" => "TOO_MANY_FILES",
                "unknown_file" => "NO_FILE_UPLOADS",
                other => other,
            };
            json!({"code": code, "field": error.field, "message": whole(error)})
        };
        self.problem.messages.iter().map(fault).collect()
    }

    /// The operator's own shape.
    fn own(&self, template: &JsonTemplate) -> String {
        template.render(|place| match place {
            Place::Receipt => Value::Null,
            Place::Message => self.said().into(),
            Place::Next => "".into(),
            Place::Code => self.problem.kind.code().into(),
            Place::Status => self.status.as_u16().into(),
            Place::Errors => json!(self.problem.messages),
        })
    }
}

/// A message with its hint.
fn whole(error: &RenderedError) -> String {
    [Some(error.message.as_str()), error.hint.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ")
}
