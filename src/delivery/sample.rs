//! What the tests of this room send, and peers on loopback that misbehave.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::config::{Mail, Security, Server, Transport};
use crate::domain::digest::Sha256Sum;
use crate::domain::ids::{AttachmentId, DeliveryId, ReceiptId};
use crate::domain::secret::Secret;
use crate::domain::submission::{Contents, KeptField, Role, Value};
use crate::domain::target::{Disclosure, EmailTarget, Format, Signing, Target, WebhookTarget};
use crate::domain::time::Timestamp;
use crate::store::{AttachmentRow, Claim};

/// 2026-11-30T16:28:19.007Z.
pub const ARRIVED: i64 = 1_796_056_099_007;

/// A field.
pub fn field(name: &str, label: &str, role: Role, value: Value) -> KeptField {
    KeptField { name: name.into(), label: label.into(), role, value }
}

/// A text field.
pub fn plain(name: &str, value: &str) -> KeptField {
    field(name, name, Role::Plain, Value::Text(value.into()))
}

/// An e-mail destination of the standard kind.
pub fn email_target() -> EmailTarget {
    EmailTarget {
        address: "sales@acme.example".into(),
        subject: None,
        text: None,
        reply_to: None,
        attach_files: false,
        max_attach: 7 * 1024 * 1024,
        title: Some("Quote".into()),
    }
}

/// The mail set-up.
pub fn mail(transport: Transport) -> Mail {
    Mail { from_name: "Forms".into(), from_address: "forms@acme.example".into(), transport }
}

/// A mail server without TLS and login.
pub fn server(host: &str, port: u16) -> Server {
    Server { host: host.into(), port, security: Security::None, ca: None, login: None }
}

/// A claim of a submission with one field of each kind and one file.
pub fn email_claim() -> Claim {
    let receipt = ReceiptId::new(Timestamp::from_millis(ARRIVED), 7);
    Claim {
        id: DeliveryId { receipt, n: 1 },
        token: 42,
        attempt: 1,
        site: "acme".into(),
        form: "quote".into(),
        destination: "sales".into(),
        target: Target::Email(email_target()),
        page: Some("pricing".into()),
        locale: "en".into(),
        received_at: Timestamp::from_millis(ARRIVED),
        contents: Contents {
            fields: vec![
                field("name", "Name", Role::Plain, Value::Text("Anna".into())),
                field("email", "E-mail", Role::Email, Value::Text("anna@home.example".into())),
                field("message", "Message", Role::Plain, Value::Text("Hello\n\nBcc: x@evil.example".into())),
                field("phone", "Phone", Role::Plain, Value::Text(String::new())),
                field("colours", "Colours", Role::Plain, Value::List(vec!["red".into(), "blue".into()])),
                field("agree", "I agree", Role::Plain, Value::Bool(true)),
            ],
            consent: Some(true),
            ..Contents::default()
        },
        attachments: vec![attachment(1, "file", "plan.pdf", b"%PDF-1.7 plan")],
    }
}

/// A webhook claim of the same submission.
pub fn webhook_claim(url: &str) -> Claim {
    Claim { target: Target::Webhook(webhook_target(url)), destination: "crm".into(), ..email_claim() }
}

/// A webhook destination.
pub fn webhook_target(url: &str) -> WebhookTarget {
    let signing = Signing { secret: Secret::new("0123456789abcdef".into()), previous: None };
    let format = Format::Formd(signing);
    WebhookTarget {
        url: url.into(),
        disclosure: Disclosure::Path,
        allow_private: false,
        format,
        title: Some("Quote".into()),
    }
}

/// The row of a file that is nowhere on disk.
pub fn attachment(position: u8, field: &str, name: &str, bytes: &[u8]) -> AttachmentRow {
    AttachmentRow {
        id: AttachmentId { receipt: ReceiptId::new(Timestamp::from_millis(ARRIVED), 7), position },
        field: field.into(),
        name: name.into(),
        mime: "application/pdf".into(),
        size: bytes.len() as u64,
        sha256: Sha256Sum::of(bytes),
        path: "/nowhere/plan.pdf".into(),
    }
}

/// A server on loopback; each connection is served by a thread of its own.
pub struct Peer {
    /// Where it listens.
    pub address: SocketAddr,
    /// All that each connection read, sent when the connection ends.
    pub heard: Receiver<String>,
}

impl Peer {
    /// A server that serves every connection with `serve`, which returns what it read.
    pub fn new(serve: impl Fn(TcpStream) -> String + Clone + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, heard) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (serve, tell) = (serve.clone(), tell.clone());
                std::thread::spawn(move || {
                    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
                    drop(tell.send(serve(stream)));
                });
            }
        });
        Self { address, heard }
    }

    /// A mail server: the first answer is its greeting (word ""), then each line whose beginning is the next word of
    /// the script is answered; the word "." waits for the end of a message. At the end of the script it falls silent
    /// until the client leaves; the answer "drop" closes the connection.
    pub fn smtp(script: &[(&'static str, &'static str)]) -> Self {
        let script = script.to_vec();
        Self::new(move |mut stream| {
            let mut heard = String::new();
            for (word, answer) in &script {
                if !word.is_empty() && !heard_line(&mut stream, &mut heard, word) {
                    return heard;
                }
                if *answer == "drop" {
                    return heard;
                }
                drop(stream.write_all(answer.as_bytes()));
            }
            let mut rest = Vec::new();
            drop(stream.read_to_end(&mut rest));
            heard + &String::from_utf8_lossy(&rest)
        })
    }

    /// A web server that answers every request with `answer`, byte for byte, and closes.
    pub fn http(answer: &str) -> Self {
        let answer = answer.to_owned();
        Self::new(move |mut stream| {
            let request = read_request(&mut stream);
            drop(stream.write_all(answer.as_bytes()));
            request
        })
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// The mail server that it is.
    pub fn server(&self) -> Server {
        server(&self.address.ip().to_string(), self.address.port())
    }

    /// The mail transport that leads to it.
    pub fn transport(&self) -> Transport {
        Transport::Smtp(self.server())
    }
}

/// Reads lines until one begins with `word`; `false` when the client has left.
fn heard_line(stream: &mut TcpStream, heard: &mut String, word: &str) -> bool {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        match stream.read(&mut byte) {
            Ok(1) => line.push(byte[0]),
            _ => return false,
        }
        if byte[0] == b'\n' {
            let text = String::from_utf8_lossy(&line).into_owned();
            heard.push_str(&text);
            if if word == "." { text == ".\r\n" } else { text.starts_with(word) } {
                return true;
            }
            line.clear();
        }
    }
}

/// Reads a request with its body.
pub fn read_request(stream: &mut TcpStream) -> String {
    let (mut bytes, mut buf) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length:").map(|n| n.trim().parse::<usize>().unwrap())
            });
            if length.is_none_or(|length| body.len() >= length) {
                return text;
            }
        }
        match stream.read(&mut buf) {
            Ok(n) if n > 0 => bytes.extend_from_slice(&buf[..n]),
            _ => return text,
        }
    }
}
