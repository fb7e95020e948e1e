//! A mail server and a webhook receiver on loopback that do as they are told, one behaviour a connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// What the mail server does in one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Smtp {
    /// Takes the mail.
    Accept,
    /// 451 at RCPT.
    Greylist,
    /// 550 at RCPT.
    Unknown,
    /// Takes the mail and never answers QUIT.
    SilentAtQuit,
    /// Takes the mail and never says so.
    SilentAfterData,
    /// Holds the reply to DATA until [`MailServer::let_go`].
    HoldData,
}

/// What is shared with the threads of a peer.
#[derive(Debug)]
struct State<B, T> {
    script: Vec<B>,
    connections: usize,
    taken: Vec<T>,
    go: bool,
}

type Shared<B, T> = Arc<(Mutex<State<B, T>>, Condvar)>;

fn shared<B, T>(script: Vec<B>) -> Shared<B, T> {
    Arc::new((Mutex::new(State { script, connections: 0, taken: Vec::new(), go: false }), Condvar::new()))
}

/// The behaviour of the next connection; the last one repeats.
fn next_behaviour<B: Clone, T>(state: &Shared<B, T>) -> B {
    let mut state = state.0.lock().unwrap();
    let at = state.connections.min(state.script.len() - 1);
    state.connections += 1;
    state.script[at].clone()
}

fn wait_for_go<B, T>(state: &Shared<B, T>) {
    let guard = state.0.lock().unwrap();
    drop(state.1.wait_timeout_while(guard, Duration::from_secs(20), |s| !s.go).unwrap());
}

/// A scripted mail server.
#[derive(Debug)]
pub struct MailServer {
    pub address: SocketAddr,
    state: Shared<Smtp, String>,
}

impl MailServer {
    pub fn start(script: &[Smtp]) -> Self {
        let state = shared(script.to_vec());
        let address = listen(Arc::clone(&state), |stream, state| drop(talk_smtp(stream, state)));
        Self { address, state }
    }

    /// Does this from the next connection on.
    pub fn script(&self, script: &[Smtp]) {
        let mut state = self.state.0.lock().unwrap();
        state.script = script.to_vec();
        state.connections = 0;
    }

    /// The mails it took, as sent.
    pub fn mails(&self) -> Vec<String> {
        self.state.0.lock().unwrap().taken.clone()
    }

    pub fn let_go(&self) {
        self.state.0.lock().unwrap().go = true;
        self.state.1.notify_all();
    }
}

/// Accepts connections for ever, a thread each.
fn listen<B: Send + 'static, T: Send + 'static>(state: Shared<B, T>, talk: fn(TcpStream, &Shared<B, T>)) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let state = Arc::clone(&state);
            thread::spawn(move || talk(stream, &state));
        }
    });
    address
}

fn talk_smtp(stream: TcpStream, state: &Shared<Smtp, String>) -> std::io::Result<()> {
    let behaviour = next_behaviour(state);
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    let mut say = |text: &str| stream.write_all(format!("{text}\r\n").as_bytes());
    say("220 peer ESMTP")?;
    let mut line = String::new();
    while {
        line.clear();
        reader.read_line(&mut line)?
    } > 0
    {
        let command = line.to_ascii_uppercase();
        if command.starts_with("EHLO") {
            say("250-peer\r\n250-8BITMIME\r\n250 SMTPUTF8")?;
        } else if command.starts_with("RCPT") {
            say(match behaviour {
                Smtp::Greylist => "451 4.7.1 Greylisted, try again later",
                Smtp::Unknown => "550 5.1.1 <nobody@example.com> no such user",
                _ => "250 2.1.5 ok",
            })?;
        } else if command.starts_with("DATA") {
            say("354 go on")?;
            let mail = read_mail(&mut reader)?;
            state.0.lock().unwrap().taken.push(mail);
            match behaviour {
                Smtp::SilentAfterData => thread::sleep(Duration::from_secs(20)),
                Smtp::HoldData => wait_for_go(state),
                _ => {}
            }
            say("250 2.0.0 queued as ABC123")?;
        } else if command.starts_with("QUIT") {
            if behaviour == Smtp::SilentAtQuit {
                thread::sleep(Duration::from_secs(20));
            }
            return say("221 bye");
        } else {
            say("250 ok")?;
        }
    }
    Ok(())
}

fn read_mail(reader: &mut impl BufRead) -> std::io::Result<String> {
    let mut mail = Vec::new();
    loop {
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line)? == 0 || line == b".\r\n" {
            return Ok(String::from_utf8_lossy(&mail).into_owned());
        }
        mail.extend_from_slice(line.strip_prefix(b".").unwrap_or(&line));
    }
}

/// What the webhook receiver took.
#[derive(Clone, Debug)]
pub struct Call {
    /// The first line, without the version.
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Call {
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map_or_else(|| panic!("no {name} in {:?}", self.headers), |(_, v)| v.as_str())
    }
}

/// A scripted webhook receiver: each entry is the status line and headers of one answer, or with a blank line in it a
/// whole answer.
#[derive(Debug)]
pub struct HookServer {
    pub address: SocketAddr,
    state: Shared<&'static str, Call>,
}

/// A behaviour: answer only after [`HookServer::let_go`]; `hold 500 Oops` answers that then.
pub const HOLD: &str = "hold";

impl HookServer {
    pub fn start(script: &[&'static str]) -> Self {
        let state = shared(script.to_vec());
        let address = listen(Arc::clone(&state), |stream, state| drop(talk_http(stream, state)));
        Self { address, state }
    }

    pub fn script(&self, script: &[&'static str]) {
        let mut state = self.state.0.lock().unwrap();
        state.script = script.to_vec();
        state.connections = 0;
    }

    pub fn calls(&self) -> Vec<Call> {
        self.state.0.lock().unwrap().taken.clone()
    }

    pub fn let_go(&self) {
        self.state.0.lock().unwrap().go = true;
        self.state.1.notify_all();
    }
}

fn talk_http(mut stream: TcpStream, state: &Shared<&'static str, Call>) -> std::io::Result<()> {
    let behaviour = next_behaviour(state);
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.trim().to_owned(), value.trim().to_owned()));
        }
    }
    let length = headers.iter().find(|(n, _)| n.eq_ignore_ascii_case("content-length"));
    let mut body = vec![0; length.and_then(|(_, v)| v.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body)?;
    state.0.lock().unwrap().taken.push(Call {
        line: first.trim_end().trim_end_matches(" HTTP/1.1").to_owned(),
        headers,
        body,
    });
    let after_go = behaviour.strip_prefix(HOLD).map(str::trim_start);
    if after_go.is_some() {
        wait_for_go(state);
    }
    let head = after_go.map_or(behaviour, |said| if said.is_empty() { "200 OK" } else { said });
    if head.contains("\r\n\r\n") {
        return stream.write_all(format!("HTTP/1.1 {head}").as_bytes());
    }
    stream.write_all(format!("HTTP/1.1 {head}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").as_bytes())
}
