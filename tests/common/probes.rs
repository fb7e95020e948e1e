//! Thirty-two requests that two programs could read in two ways, and what comes back: directly from formd, and
//! through nginx, which refuses some itself and repairs others.

/// One raw request and the statuses it gets when [`CANARY`] follows on the same connection.
#[derive(Debug)]
pub struct Probe {
    pub name: &'static str,
    pub bytes: String,
    /// From formd itself.
    pub direct: &'static [u16],
    /// Through nginx.
    pub proxied: &'static [u16],
}

/// What stands behind each probe: after an ambiguous request an answer to it would be the second answer to one.
pub const CANARY: &str = "GET /healthz HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n";

/// A correct small body.
const BODY: &str = "name=A&email=a%40b.example";
/// The same as one chunk.
const CHUNKS: &str = "1a\r\nname=A&email=a%40b.example\r\n0\r\n\r\n";
/// Taken, and the canary too.
const BOTH: &[u16] = &[200, 200];
/// Taken, and the connection closed.
const TAKEN: &[u16] = &[200];
/// Refused once, and the connection closed.
const BAD: &[u16] = &[400];
/// Nothing: nginx gives up without a word.
const SILENCE: &[u16] = &[];
/// The head is too large.
const LARGE: &[u16] = &[431];

/// All probes.
pub fn all() -> Vec<Probe> {
    [framing(), chunks(), heads(), oddities()].into_iter().flatten().collect()
}

fn probe(name: &'static str, bytes: String, direct: &'static [u16], proxied: &'static [u16]) -> Probe {
    Probe { name, bytes, direct, proxied }
}

/// The start of a correct small post without its framing, under a key of its own.
fn post(name: &str) -> String {
    let key: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    format!(
        "POST /f/acme/quote.json HTTP/1.1\r\nHost: a.test\r\nIdempotency-Key: probe-{key}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n"
    )
}

/// A post with these header lines and this body.
fn with(name: &'static str, lines: &str, body: &str, direct: &'static [u16], proxied: &'static [u16]) -> Probe {
    probe(name, format!("{}{lines}\r\n\r\n{body}", post(name)), direct, proxied)
}

/// Where a body ends.
fn framing() -> Vec<Probe> {
    let both = "Content-Length: 4\r\nTransfer-Encoding: chunked";
    let end = "0\r\n\r\n";
    vec![
        with("plain length", "Content-Length: 26", BODY, BOTH, BOTH),
        with("two equal lengths", "Content-Length: 26\r\nContent-Length: 26", BODY, BAD, BAD),
        with("two lengths", "Content-Length: 26\r\nContent-Length: 27", BODY, BAD, BAD),
        with("a list of lengths", "Content-Length: 26, 26", BODY, BAD, BAD),
        with("a signed length", "Content-Length: +26", BODY, BAD, BAD),
        with("a negative length", "Content-Length: -1", BODY, BAD, BAD),
        with("an enormous length", "Content-Length: 99999999999999999999999", BODY, BAD, BAD),
        with("length and encoding", both, end, BAD, BAD),
        with("an unknown encoding", "Transfer-Encoding: xchunked", end, BAD, &[501]),
        with("two encodings in a line", "Transfer-Encoding: chunked, identity", end, BAD, &[501]),
        with("two encodings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", end, BAD, BAD),
        with("a blank before the colon", "Transfer-Encoding : chunked", end, BAD, BAD),
        probe(
            "chunked in 1.0",
            post("chunked in 1.0").replace("HTTP/1.1", "HTTP/1.0") + "Transfer-Encoding: chunked\r\n\r\n" + CHUNKS,
            BAD,
            BAD,
        ),
    ]
}

/// How a body is cut into chunks.
fn chunks() -> Vec<Probe> {
    let chunked = "Transfer-Encoding: chunked";
    vec![
        with("chunked", chunked, CHUNKS, TAKEN, BOTH),
        with("a line feed in a chunk extension", chunked, &CHUNKS.replacen("1a", "1a;a\nb", 1), BAD, BAD),
        with("a bare line feed after the size", chunked, &CHUNKS.replacen("1a\r\n", "1a\n", 1), BAD, BOTH),
        with("a size of 0x1a", chunked, &format!("0x{CHUNKS}"), BAD, BAD),
        with("an overflowing size", chunked, &format!("fffffffffffffffff{CHUNKS}"), BAD, BAD),
    ]
}

/// Heads with one fault. Where nginx frames the request without doubt it passes formd's refusal on and reads the next.
fn heads() -> Vec<Probe> {
    let many = (0..200).fold(String::new(), |all, i| all + &format!("X-{i}: a\r\n"));
    let long = format!("X: {}\r\n", "a".repeat(102_400));
    let lines = |more: &str| format!("{more}Content-Length: 26");
    let sound = |name: &str| format!("{}Content-Length: 26\r\n\r\n{BODY}", post(name));
    vec![
        probe("bare line feeds", sound("bare line feeds").replace("\r\n", "\n"), BAD, BOTH),
        with("a folded header", &lines("X: a\r\n b\r\n"), BODY, BAD, BAD),
        with("a nul", &lines("X: a\0b\r\n"), BODY, BAD, BAD),
        with("a bare carriage return", &lines("X: a\rb\r\n"), BODY, BAD, BAD),
        probe("no host", sound("no host").replace("Host: a.test\r\n", ""), BAD, BAD),
        with("two hosts", &lines("Host: b.test\r\n"), BODY, BAD, BAD),
        with("two keys", &lines("Idempotency-Key: other\r\n"), BODY, BAD, &[400, 200]),
        with("200 headers", &lines(&many), BODY, LARGE, &[431, 200]),
        with("100 KiB of header", &lines(&long), BODY, LARGE, BAD),
    ]
}

/// What is unusual but has one meaning, or none at all.
fn oddities() -> Vec<Probe> {
    let sound = |name: &str| format!("{}Content-Length: 26\r\n\r\n{BODY}", post(name));
    vec![
        probe("another authority", sound("another authority").replace("POST /f", "POST http://b.test/f"), BAD, BOTH),
        probe("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), BAD, BAD),
        with("an expected 100", "Expect: 100-continue\r\nContent-Length: 26", BODY, BOTH, BOTH),
        with("an upgrade", "Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 26", BODY, BOTH, BOTH),
        with("a body cut short", "Content-Length: 100", BODY, BAD, SILENCE),
    ]
}
