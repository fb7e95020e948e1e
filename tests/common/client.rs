//! A client that sends just the bytes it is told to, and reads whole answers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    /// The first header of this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("no JSON ({e}): {} {}", self.status, self.body))
    }

    /// The receipt of a success, whatever came before it.
    pub fn receipt(&self) -> String {
        assert_eq!(self.status, 200, "{}", self.body);
        self.json()["receipt"].as_str().expect("a receipt").to_owned()
    }

    /// The codes of the field errors as `field:code`.
    pub fn faults(&self) -> Vec<String> {
        let errors = self.json()["errors"].as_array().cloned().unwrap_or_default();
        errors
            .iter()
            .map(|e| format!("{}:{}", e["field"].as_str().unwrap_or("?"), e["code"].as_str().unwrap_or("?")))
            .collect()
    }
}

/// A request in the making.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: &'static str,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn new(method: &'static str, path: &str) -> Self {
        Self { method, path: path.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("Content-Type", content_type)
    }

    /// The bytes on the wire.
    pub fn bytes(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nHost: forms.test\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        let sized = self.headers.iter().any(|(n, _)| n.eq_ignore_ascii_case("content-length"));
        if self.method == "POST" && !sized {
            head.extend(["Content-Length: ", &self.body.len().to_string(), "\r\n"]);
        }
        [head.as_bytes(), b"Connection: close\r\n\r\n", &self.body].concat()
    }

    pub fn send(&self, to: SocketAddr) -> Answer {
        let raw = send_raw(to, &self.bytes());
        parse_answers(&raw).into_iter().next().unwrap_or_else(|| panic!("no answer: {}", String::from_utf8_lossy(&raw)))
    }
}

/// Sends bytes and reads until the server closes (or 15 s passed). A reset after an answer keeps the answer.
pub fn send_raw(to: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(to).expect("connect");
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    // The server may answer and close before all is written.
    drop(stream.write_all(bytes));
    read_all(&mut stream)
}

/// Reads until the end, a reset or the read time-out.
pub fn read_all(stream: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    let mut buffer = vec![0; 65536];
    while let Ok(n) = stream.read(&mut buffer) {
        if n == 0 {
            break;
        }
        all.extend_from_slice(&buffer[..n]);
    }
    all
}

/// Splits what a server sent into answers; interim 1xx answers are left out.
pub fn parse_answers(mut raw: &[u8]) -> Vec<Answer> {
    let mut answers = Vec::new();
    while let Some(end) = raw.windows(4).position(|w| w == b"\r\n\r\n") {
        let head = String::from_utf8_lossy(&raw[..end]).into_owned();
        raw = &raw[end + 4..];
        let mut lines = head.split("\r\n");
        let status: u16 = lines.next().and_then(|l| l.split(' ').nth(1)).and_then(|s| s.parse().ok()).unwrap_or(0);
        let headers: Vec<_> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(n, v)| (n.trim().to_ascii_lowercase(), v.trim().to_owned()))
            .collect();
        if (100..200).contains(&status) {
            continue;
        }
        let length = headers.iter().find(|(n, _)| n == "content-length").and_then(|(_, v)| v.parse().ok());
        let length: usize = length.unwrap_or(raw.len()).min(raw.len());
        let body = String::from_utf8_lossy(&raw[..length]).into_owned();
        raw = &raw[length..];
        answers.push(Answer { status, headers, body });
    }
    answers
}

/// Builds a multipart body.
#[derive(Clone, Debug, Default)]
pub struct Multipart(Vec<u8>);

/// The boundary of every [`Multipart`].
pub const BOUNDARY: &str = "----formd-test-boundary";

impl Multipart {
    pub fn field(mut self, name: &str, value: &str) -> Self {
        self.0.extend_from_slice(
            format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").as_bytes(),
        );
        self
    }

    pub fn file(mut self, name: &str, filename: &str, content_type: &str, bytes: &[u8]) -> Self {
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{filename}\"\r\n\
             Content-Type: {content_type}\r\n\r\n"
        );
        self.0.extend_from_slice(head.as_bytes());
        self.0.extend_from_slice(bytes);
        self.0.extend_from_slice(b"\r\n");
        self
    }

    pub fn pdf(self, filename: &str, bytes: &[u8]) -> Self {
        self.file("file", filename, "application/pdf", bytes)
    }

    pub fn bytes(&self) -> Vec<u8> {
        [self.0.as_slice(), format!("--{BOUNDARY}--\r\n").as_bytes()].concat()
    }

    pub fn post(&self, path: &str) -> Request {
        Request::new("POST", path).body(&format!("multipart/form-data; boundary={BOUNDARY}"), self.bytes())
    }
}

/// Percent-encodes pairs as a browser does.
pub fn urlencode(pairs: &[(&str, &str)]) -> String {
    let encode = |text: &str| {
        text.bytes()
            .map(|b| match b {
                b' ' => "+".to_owned(),
                b if b.is_ascii_alphanumeric() || b"*-._".contains(&b) => char::from(b).to_string(),
                b => format!("%{b:02X}"),
            })
            .collect::<String>()
    };
    pairs.iter().map(|(n, v)| format!("{}={}", encode(n), encode(v))).collect::<Vec<_>>().join("&")
}

/// A small valid PDF whose bytes carry `marker`, padded to about `size` bytes.
pub fn pdf(marker: &str, size: usize) -> Vec<u8> {
    let mut bytes = format!("%PDF-1.4\n% {marker}\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n").into_bytes();
    let tail = b"2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF\n";
    while bytes.len() + tail.len() < size {
        let line = format!("% {:060}\n", bytes.len());
        let room = size - bytes.len() - tail.len();
        if room < 3 {
            bytes.push(b'\n');
            continue;
        }
        bytes.extend_from_slice(&line.as_bytes()[..line.len().min(room - 1)]);
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(tail);
    bytes
}
