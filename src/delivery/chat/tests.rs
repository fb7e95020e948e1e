//! Messages byte for byte, and the laws that hold for whatever a visitor writes.

use proptest::prelude::*;
use serde_json::Value as Json;

use super::super::{mail_text, sample};
use super::*;
use crate::domain::submission::{KeptField, Role, Value};
use crate::domain::target::Disclosure;

/// A URL that fits every format but Matrix's room.
const URL: &str = "https://chat.example/bot1:s3cret/topic";
/// A room of Matrix.
const ROOM: &str = "https://m.example/_matrix/client/v3/rooms/!r:m.example/send/m.room.message?access_token=s3cret";

/// The message of a format for a claim.
fn made(format: Format, url: &str, claim: &Claim) -> Message {
    let title = Some("Quote <b>*now*</b>".to_owned());
    let target = WebhookTarget { url: url.into(), disclosure: Disclosure::Host, allow_private: false, format, title };
    message(&target, claim).unwrap()
}

/// Its JSON.
fn json(format: Format, url: &str, claim: &Claim) -> Json {
    serde_json::from_slice(&made(format, url, claim).body).unwrap()
}

/// Its JSON as written.
fn written(format: Format, url: &str, claim: &Claim) -> String {
    String::from_utf8(made(format, url, claim).body).unwrap()
}

/// A submission with what services read as markup.
fn claim() -> Claim {
    let mut claim = sample::webhook_claim(URL);
    claim.contents.fields.push(sample::plain("site", "<https://evil.example|x> @channel <!here> `a` **b** [c](d)"));
    claim.attachments.push(sample::attachment(2, "file", "@all *.pdf", b"%PDF"));
    claim
}

fn telegram() -> Format {
    Format::Telegram { chat: "-1001234567890".into() }
}

#[test]
fn slack_byte_for_byte() {
    insta::assert_snapshot!(written(Format::Slack, URL, &claim()));
}

#[test]
fn discord_byte_for_byte() {
    let message = made(Format::Discord, URL, &claim());
    assert_eq!(message.url, format!("{URL}?wait=true"));
    insta::assert_snapshot!(written(Format::Discord, URL, &claim()));
}

#[test]
fn telegram_byte_for_byte() {
    insta::assert_snapshot!(written(telegram(), URL, &claim()));
    let named = Format::Telegram { chat: "@acme".into() };
    assert_eq!(json(named, URL, &claim())["chat_id"], "@acme");
}

#[test]
fn mattermost_byte_for_byte() {
    insta::assert_snapshot!(written(Format::Mattermost, URL, &claim()));
}

#[test]
fn ntfy_byte_for_byte() {
    let message = made(Format::Ntfy, URL, &claim());
    assert_eq!(message.url, "https://chat.example/bot1:s3cret/");
    insta::assert_snapshot!(written(Format::Ntfy, URL, &claim()));
}

#[test]
fn a_room_of_matrix_byte_for_byte() {
    let message = made(Format::Matrix, ROOM, &claim());
    assert_eq!(message.method, Method::Put);
    assert_eq!(message.token.as_deref(), Some("s3cret"));
    let room = "https://m.example/_matrix/client/v3/rooms/!r:m.example/send/m.room.message";
    assert_eq!(message.url, format!("{room}/{}", claim().id));
    insta::assert_snapshot!(written(Format::Matrix, ROOM, &claim()));
}

#[test]
fn a_hook_of_matrix_byte_for_byte() {
    let message = made(Format::Matrix, URL, &claim());
    assert_eq!((message.method, message.token.as_deref(), message.url.as_str()), (Method::Post, None, URL));
    insta::assert_snapshot!(written(Format::Matrix, URL, &claim()));
}

#[test]
fn the_operators_own_json_has_the_values_in_its_texts() {
    let body = r#"{"who": "{{name}} <{{email}}>", "text": "{{message}}", "list": ["{{colours}}", "{{agree}}", 1],
        "file": "{{file}}", "none": "{{nothing}}", "all": "{{@form}} {{@page}} {{@receipt}} {{@received_at}}"}"#;
    let own = |claim: &Claim| json(Format::Own { body: body.into(), signing: None }, URL, claim);
    assert_eq!(
        own(&claim()),
        serde_json::json!({
            "who": "Anna <anna@home.example>", "text": "Hello\n\nBcc: x@evil.example", "list": ["red, blue", "Yes", 1],
            "file": "plan.pdf, @all *.pdf", "none": "", "all": "quote pricing 0cpew90by0007 2026-11-30T16:28:19.007Z",
        })
    );
    let mut hostile = claim();
    hostile.contents.fields = vec![sample::plain("name", "\", \"admin\": true, \"x\": \"{{email}}\\")];
    assert_eq!(own(&hostile)["who"], "\", \"admin\": true, \"x\": \"{{email}}\\ <>");
}

#[test]
fn what_is_too_long_is_cut_from_its_end_and_says_where_the_rest_is() {
    let mut long = claim();
    long.contents.fields.insert(1, sample::plain("story", &"😀 ".repeat(20_000)));
    for (format, url, at) in [
        (Format::Slack, URL, "/text"),
        (Format::Discord, URL, "/embeds/0/description"),
        (telegram(), URL, "/text"),
        (Format::Mattermost, URL, "/text"),
        (Format::Ntfy, URL, "/message"),
        (Format::Matrix, ROOM, "/body"),
        (Format::Matrix, URL, "/text"),
    ] {
        let word = format.word();
        let body = json(format, url, &long);
        let text = body.pointer(at).unwrap().as_str().unwrap().replace('\\', "");
        let lines: Vec<&str> = text.trim_end_matches("\n```").lines().collect();
        assert!(text.contains("Name: Anna"), "{word}: what stands first is kept");
        assert!(!text.contains("E-mail") && !text.contains("plan.pdf"), "{word}: what stands last is cut");
        assert_eq!(
            lines[lines.len() - 2..],
            [
                "... the rest: formctl show 0cpew90by0007",
                "Receipt 0cpew90by0007, page pricing, received 2026-11-30T16:28:19.007Z"
            ],
            "{word}"
        );
        assert!(text.ends_with('Z') || text.ends_with("Z\n```"), "{word}");
    }
}

#[test]
fn a_test_says_that_it_is_one() {
    let mut claim = claim();
    claim.contents.sent_by = crate::domain::submission::SentBy::Test;
    let text = json(telegram(), URL, &claim)["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with(mail_text::TEST_SUBJECT), "{text}");
}

#[test]
fn the_limit_itself_is_not_cut_and_one_character_more_is() {
    let empty = sample::webhook_claim(URL);
    let sized = |letters: usize| {
        let mut claim = empty.clone();
        claim.contents.fields = vec![sample::plain("a", &"x".repeat(letters))];
        json(telegram(), URL, &claim)["text"].as_str().unwrap().to_owned()
    };
    let fixed = sized(0).chars().count() - 1;
    let room = 4096 - fixed;
    assert_eq!(sized(room).chars().count(), 4096);
    assert!(!sized(room).contains("... the rest"));
    assert!(sized(room + 1).contains("... the rest") && sized(room + 1).chars().count() <= 4096);
}

/// What services read as calls, markup, links or control, or count in their own way.
#[rustfmt::skip]
const HOSTILE: &[&str] = &[
    "@everyone", "@here", "@channel", "@all", "@room", "<!channel>", "<!here|here>", "<@U024BE7LH>", "<@&1234>", "<#C1>",
    "<!subteam^S1>", "**b**", "__u__", "~~s~~", "||x||", "`", "```", "````", "~~~", "[x](https://e.example)",
    "<https://e.example|x>", "![i](https://e.example/i.png)", "<b>", "</pre>", "<img src=x onerror=a()>", "&amp;", "&lt;",
    "# h", "> q", "-# s", "1. l", "\n", "\r\n", "\n\n", "\u{2028}", "\0", "\u{1b}[31m", "\u{202e}", "\u{200b}",
    "@\u{200b}all", "\\", "\\*", "\"", "😀", "👩‍👩‍👧", "e\u{301}", "ж", "𝕏", ":smile:", "/cmd", "#tag",
    "https://e.example/a_b_c", "{{name}}", "$$x$$", "| a | b |", "@", "a@", "anna@home.example", " ", "\t", "\u{ff20}all",
];

/// What a value is made of.
fn piece() -> impl Strategy<Value = String> {
    let times = prop_oneof![9 => 1usize..3, 1 => 1usize..3000];
    prop_oneof![(prop::sample::select(HOSTILE), times).prop_map(|(text, times)| text.repeat(times)), ".{0,8}"]
}

/// A hostile submission within the bounds of a submission.
fn submission() -> impl Strategy<Value = Claim> {
    let value = prop::collection::vec(piece(), 0..12).prop_map(|pieces| pieces.concat());
    let field = (piece(), piece(), value).prop_map(|(name, label, value)| KeptField {
        name: name.chars().take(50).collect(),
        label: label.chars().take(2000).collect(),
        role: Role::Plain,
        value: Value::Text(value),
    });
    let list = prop::collection::vec(piece(), 0..4).prop_map(Value::List);
    (prop::collection::vec(field, 0..8), list, piece(), piece()).prop_map(|(mut fields, list, page, file)| {
        fields.push(sample::field("list", "List", Role::Plain, list));
        let mut claim = sample::webhook_claim(URL);
        claim.contents.fields = fields;
        claim.page = Some(page);
        claim.attachments = vec![sample::attachment(1, "file", &file, b"%PDF")];
        claim
    })
}

/// UTF-16 units of the text at a place.
fn units(body: &Json, at: &str) -> usize {
    body.pointer(at).unwrap().as_str().unwrap().encode_utf16().count()
}

/// Whether a text calls anybody by an `@`: at its beginning or behind anything but a letter or digit of an address.
fn calls(text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    text.windows(2).enumerate().any(|(at, pair)| {
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        pair[0] == '@' && pair[1].is_alphanumeric() && before.is_none_or(|c| !c.is_ascii_alphanumeric())
    })
}

/// Whether every one of `signs` has an odd number of backslashes before it.
fn escapes(text: &str, signs: &str) -> bool {
    let mut backslashes = 0;
    text.chars().all(|c| {
        let good = !signs.contains(c) || c == '\\' || backslashes % 2 == 1;
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        good
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 64 } else { 2000 }))]

    #[test]
    fn whatever_is_sent_slack_and_discord_are_neither_flooded_nor_fooled_nor_called(claim in submission()) {
        let slack = json(Format::Slack, URL, &claim);
        prop_assert!(units(&slack, "/text") <= 4000);
        let text = slack["text"].as_str().unwrap();
        prop_assert!(!text.contains(['<', '>']) && !calls(text));
        let entities = ["&amp;", "&lt;", "&gt;"];
        prop_assert!(text.match_indices('&').all(|(at, _)| entities.iter().any(|e| text[at..].starts_with(e))));

        let discord = json(Format::Discord, URL, &claim);
        prop_assert!(units(&discord, "/embeds/0/title") <= 256 && units(&discord, "/embeds/0/description") <= 4096);
        prop_assert_eq!(&discord["allowed_mentions"], &serde_json::json!({"parse": []}));
        let text = discord["embeds"][0]["description"].as_str().unwrap();
        prop_assert!(escapes(text, "`*_~|<>[]()#") && !calls(text), "{}", text);
    }

    #[test]
    fn whatever_is_sent_plain_chats_are_neither_flooded_nor_called(claim in submission()) {
        let telegram = json(telegram(), URL, &claim);
        prop_assert!(units(&telegram, "/text") <= 4096 && telegram.get("parse_mode").is_none());
        prop_assert!(!calls(telegram["text"].as_str().unwrap()));

        let mattermost = json(Format::Mattermost, URL, &claim);
        let text = mattermost["text"].as_str().unwrap();
        prop_assert!(text.chars().count() <= 16_383);
        let inner = text.strip_prefix("```\n").and_then(|text| text.strip_suffix("\n```")).unwrap();
        prop_assert!(!inner.contains("``") && !calls(inner));

        let made = made(Format::Ntfy, URL, &claim);
        let ntfy: Json = serde_json::from_slice(&made.body).unwrap();
        prop_assert!(made.body.len() <= 8192 && ntfy["message"].as_str().unwrap().len() <= 4096);
        prop_assert!(!calls(ntfy["message"].as_str().unwrap()));
    }

    #[test]
    fn whatever_is_sent_rooms_are_neither_flooded_nor_fooled_nor_called(claim in submission()) {
        let room = made(Format::Matrix, ROOM, &claim);
        prop_assert!(room.body.len() <= 60_100);
        let event: Json = serde_json::from_slice(&room.body).unwrap();
        prop_assert_eq!(&event["m.mentions"], &serde_json::json!({}));
        prop_assert!(event.get("formatted_body").is_none() && !calls(event["body"].as_str().unwrap()));

        let hook = made(Format::Matrix, URL, &claim);
        prop_assert!(hook.body.len() <= 28_100, "{}", hook.body.len());
        let hook: Json = serde_json::from_slice(&hook.body).unwrap();
        let html = hook["html"].as_str().unwrap();
        prop_assert!(!html.replace("<br>", "").contains(['<', '>', '"', '\n']) && !calls(html));
        let text = html.replace("<br>", "\n").replace("&nbsp;", " ").replace("&lt;", "<").replace("&gt;", ">");
        let text = text.replace("&quot;", "\"").replace("&#39;", "'").replace("&amp;", "&");
        prop_assert_eq!(text.as_str(), hook["text"].as_str().unwrap());
    }

    #[test]
    fn no_value_makes_a_line_of_its_own(claim in submission()) {
        // Every line is one of the fixed ones, a field's or a file's, or further text of a value, which is indented.
        let text = json(telegram(), URL, &claim)["text"].as_str().unwrap().to_owned();
        let whole = claim.contents.fields.len() + 2 + claim.attachments.len() + 1;
        let lines = text.split('\n').filter(|line| !line.starts_with("  ")).count();
        prop_assert!(lines <= whole + 1, "{}", text);
        prop_assert!(text.lines().last().unwrap().starts_with("Receipt 0cpew90by0007, "));
    }
}
