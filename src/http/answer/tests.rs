//! What each outcome looks like in both shapes.

use http_body_util::BodyExt;
use serde_json::{Value, json};

use super::*;
use crate::domain::draft::Shape;
use crate::domain::text::Language;
use crate::domain::time::Timestamp;
use crate::http::fixture::form;

fn ask(format: Format) -> Ask {
    Ask { format, texts: Language::Ru.texts(), response: Response::Usual, page: None, cors: Cors::Any }
}

fn receipt() -> ReceiptId {
    ReceiptId::new(Timestamp::from_millis(1_796_056_099_007), 1)
}

fn accepted(novelty: Novelty, next: Option<&str>) -> Answer {
    Answer::Accepted(Accepted { receipt: receipt(), novelty, next: next.map(str::to_owned) })
}

/// Writes an answer and reads it back.
async fn write(answer: &Answer, format: Format) -> (Reply, String) {
    let mut reply = answer.render(&ask(format), &Pages::new().unwrap());
    let body = std::mem::take(reply.body_mut()).collect().await.unwrap().to_bytes();
    (reply, String::from_utf8(body.to_vec()).unwrap())
}

/// Every kind of refusal.
const KINDS: [ProblemKind; 18] = [
    ProblemKind::BadRequest,
    ProblemKind::Malformed,
    ProblemKind::BadKey,
    ProblemKind::OriginRefused,
    ProblemKind::Closed,
    ProblemKind::NotFound,
    ProblemKind::MethodNotAllowed,
    ProblemKind::TooSlow,
    ProblemKind::KeyConflict,
    ProblemKind::TooLarge,
    ProblemKind::TooMuch,
    ProblemKind::FilesTooLarge,
    ProblemKind::UnsupportedType,
    ProblemKind::Invalid,
    ProblemKind::RateLimited,
    ProblemKind::HeadTooLarge,
    ProblemKind::Internal,
    ProblemKind::Unavailable,
];

#[tokio::test]
async fn a_success_says_ok_in_both_ways_and_next_is_always_a_string() {
    let (reply, body) = write(&accepted(Novelty::New, None), Format::Json).await;
    assert_eq!((reply.status(), reply.headers()[CONTENT_TYPE].as_bytes()), (StatusCode::OK, &b"application/json"[..]));
    let expected = json!({
        "ok": true, "success": true, "receipt": receipt().to_string(),
        "message": Language::Ru.texts().thanks_message(), "next": "",
    });
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
    assert!(reply.headers().get("idempotent-replayed").is_none());
    let (reply, body) = write(&accepted(Novelty::Replayed, Some("https://acme.example/")), Format::Json).await;
    assert_eq!(reply.headers()["idempotent-replayed"], "true");
    assert!(body.contains("\"next\":\"https://acme.example/\""));
}

#[tokio::test]
async fn a_browser_is_sent_on_or_thanked_with_its_receipt() {
    let (reply, _) = write(&accepted(Novelty::New, Some("https://acme.example/\u{441}")), Format::Page).await;
    assert_eq!(reply.status(), StatusCode::SEE_OTHER);
    assert_eq!(reply.headers()[LOCATION], "https://acme.example/%D1%81");
    let (reply, body) = write(&accepted(Novelty::Replayed, None), Format::Page).await;
    assert_eq!(reply.status(), StatusCode::OK);
    assert!(body.contains(&receipt().to_string()) && body.contains("lang=\"ru\""));
    assert_eq!(reply.headers()["idempotent-replayed"], "true");
}

#[tokio::test]
async fn a_refusal_is_a_problem_with_the_strings_that_front_ends_read() {
    let message = RenderedError {
        field: "name".to_owned(),
        code: "required",
        message: "fill".to_owned(),
        hint: None,
        rows: Vec::new(),
    };
    let problem = Problem { messages: vec![message], ..Problem::new(ProblemKind::Invalid) };
    let (reply, body) = write(&problem.into(), Format::Json).await;
    assert_eq!(reply.headers()[CONTENT_TYPE], "application/problem+json");
    let texts = Language::Ru.texts();
    let notice = ProblemKind::Invalid.notice(&texts);
    let expected = json!({
        "type": "urn:formd:problem:invalid", "title": notice.title, "status": 422, "detail": notice.detail,
        "code": "invalid", "errors": [{"field": "name", "code": "required", "message": "fill"}],
        "error": notice.detail, "message": notice.detail,
    });
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
    let (_, body) = write(&Problem::new(ProblemKind::BadKey).detail("two keys").into(), Format::Json).await;
    let body: Value = serde_json::from_str(&body).unwrap();
    assert!(body.get("errors").is_none(), "existing clients take `errors` for faults at fields");
    assert_eq!(body["detail"], "two keys");
    assert_eq!(body["message"], ProblemKind::BadKey.notice(&texts).detail);
}

#[tokio::test]
async fn every_refusal_is_complete_in_both_shapes() {
    for kind in KINDS {
        for format in [Format::Json, Format::Page] {
            let (reply, body) = write(&Problem::new(kind).into(), format).await;
            assert_eq!(reply.status(), kind.status());
            assert!(body.len() > 100, "{kind:?}");
            let headers = reply.headers();
            assert_eq!(headers[CACHE_CONTROL], "no-store");
            assert_eq!(headers[X_CONTENT_TYPE_OPTIONS], "nosniff");
            assert_eq!(headers["access-control-allow-origin"], "*");
            assert!(headers.contains_key(REFERRER_POLICY) && !headers.contains_key("set-cookie"));
            let vary: Vec<&str> = headers.get_all(VARY).iter().map(|value| value.to_str().unwrap()).collect();
            assert!(vary.contains(&"Origin"));
            assert_eq!(headers.contains_key(CONTENT_SECURITY_POLICY), format == Format::Page);
        }
    }
    let codes: std::collections::BTreeSet<&str> = KINDS.iter().map(|kind| kind.code()).collect();
    assert_eq!(codes.len(), KINDS.len(), "each has a code of its own");
}

#[tokio::test]
async fn come_again_is_said_in_whole_seconds_and_the_right_methods_are_named() {
    let late = Problem::new(ProblemKind::RateLimited).retry_after(Span::from_millis(1200));
    let (reply, _) = write(&late.into(), Format::Json).await;
    assert_eq!(reply.headers()[RETRY_AFTER], "2");
    let now = Problem::new(ProblemKind::Unavailable).retry_after(Span::ZERO);
    assert_eq!(write(&now.into(), Format::Json).await.0.headers()[RETRY_AFTER], "1");
    let wrong = Problem::new(ProblemKind::MethodNotAllowed).allow("POST, OPTIONS");
    let (reply, body) = write(&wrong.into(), Format::Page).await;
    assert_eq!(reply.headers()[ALLOW], "POST, OPTIONS");
    assert!(body.contains("method="), "the owner reads what the form lacks");
}

#[tokio::test]
async fn a_conflict_shows_the_text_under_a_fresh_key() {
    let mut draft = Draft::default();
    draft.push("name".to_owned(), "Ada", Shape::Scalar);
    draft.push("_key".to_owned(), "old", Shape::Scalar);
    let again =
        FormAgain { form: Arc::new(form()), key: "fresh".to_owned(), draft, next: None, button: Button::SendAsNew };
    let problem = Problem { again: Some(Box::new(again)), ..Problem::new(ProblemKind::KeyConflict) };
    let (reply, body) = write(&problem.into(), Format::Page).await;
    assert_eq!(reply.status(), StatusCode::CONFLICT);
    assert!(
        body.contains("value=\"Ada\"") && body.contains("name=\"_key\" value=\"fresh\"") && !body.contains("old\"")
    );
}
