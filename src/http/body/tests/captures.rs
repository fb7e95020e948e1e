//! Bodies made by hand for the edges of multipart, urlencoded and JSON, each with what it holds or why not.

use super::*;
use crate::domain::filename;

/// One body.
#[derive(serde::Deserialize)]
struct Capture {
    id: String,
    content_type: String,
    /// `accept`, `reject` or `open` with an advice.
    outcome: String,
    advice: Option<String>,
    status: String,
    /// One character a byte.
    body: String,
    entries: Option<Vec<Sent>>,
}

/// One entry of it.
#[derive(serde::Deserialize)]
struct Sent {
    name: String,
    value: Option<String>,
    filename: Option<String>,
    size: Option<u64>,
    sha256: Option<String>,
}

/// The status that the reader alone would answer; 200 also where only validation would refuse.
fn status(world: &World, capture: &Capture) -> (u16, Option<Received>) {
    let kind = match ContentType::parse(capture.content_type.as_bytes()) {
        Ok(kind) => kind,
        Err(ContentTypeError::Unsupported) => return (415, None),
        Err(ContentTypeError::BadBoundary) => return (400, None),
    };
    let bytes: Vec<u8> = capture.body.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    match world.read_whole(&kind, bytes) {
        Ok(received) => (200, Some(received)),
        Err(BodyError::Malformed(_) | BodyError::BadKey) => (400, None),
        Err(BodyError::TooLarge | BodyError::TooMuch(_)) => (413, None),
        Err(BodyError::Unsupported(_)) => (415, None),
        Err(error) => panic!("{}: {error:?}", capture.id),
    }
}

/// Entries of a draft as text: `name=value`, then `name=display name/size/sha256`.
fn found(received: &Received) -> Vec<String> {
    let files = received.draft.files.iter().map(|f| format!("{}={}/{}/{}", f.field, f.name, f.size, f.sha256));
    entries(&received.draft).into_iter().chain(files).collect()
}

/// What should have been found, in the same form.
fn expected(sent: &[Sent]) -> Vec<String> {
    let texts = sent
        .iter()
        .filter_map(|s| Some(format!("{}={}", s.name, s.value.as_ref()?.replace("\r\n", "\n").replace('\r', "\n"))));
    let files = sent.iter().filter(|s| s.filename.as_deref() != Some("") || s.size != Some(0)).filter_map(|s| {
        let name = filename::clean(s.filename.as_ref()?);
        Some(format!("{}={name}/{}/{}", s.name, s.size?, s.sha256.as_ref()?))
    });
    texts.chain(files).collect()
}

#[test]
fn bodies_made_for_the_edges_are_read_or_refused_as_they_should_be() {
    let captures: Vec<Capture> = serde_json::from_str(include_str!("../../../../tests/data/bodies.json")).unwrap();
    let world = World::new();
    assert!(captures.len() > 60);
    for capture in &captures {
        let refusal =
            if capture.outcome == "accept" || capture.advice.as_deref().is_some_and(|a| a.starts_with("accept")) {
                200
            } else {
                // Validation answers 422.
                capture.status.parse().ok().filter(|status| *status != 422).unwrap_or(200)
            };
        let (status, received) = status(&world, capture);
        assert_eq!(status, refusal, "{}", capture.id);
        if let (Some(received), Some(sent), "accept") = (received, &capture.entries, capture.outcome.as_str()) {
            assert_eq!(found(&received), expected(sent), "{}", capture.id);
        }
    }
}
