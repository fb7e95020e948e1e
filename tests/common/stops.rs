//! A mail server and a webhook receiver that stop at a named point of their first conversation, so that a test can kill
//! the other side just there, and write down what they have seen: the proof of where the kill really hit.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// Longer than any test, shorter than for ever.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of a message that are its middle.
const MIDDLE: usize = 64 * 1024;

/// What a peer can tell of its conversations, and where it can stop: after having seen just that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A connection; nothing was said yet.
    Connection,
    /// The beginning of a message.
    Middle,
    /// A whole message: it has it. A webhook's head is part of it.
    Message(String),
    /// It has said yes to the message.
    Accepted,
    /// The other side has read that: it says QUIT, or closes a connection that was answered.
    Farewell,
    /// The other side left before its message was whole.
    Cut,
}

/// Where to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    AtConnection,
    InTheMiddle,
    WithTheMessage,
    AtFarewell,
}

#[derive(Debug)]
struct State {
    stop: Option<Stop>,
    seen: Vec<Seen>,
    go: bool,
}

type Shared = Arc<(Mutex<State>, Condvar)>;

/// A peer on loopback.
#[derive(Debug)]
pub struct Peer {
    pub address: SocketAddr,
    shared: Shared,
}

impl Peer {
    /// A mail server.
    pub fn mail(stop: Option<Stop>) -> Self {
        Self::start(stop, |talk| drop(talk.mail()))
    }

    /// A webhook receiver.
    pub fn hook(stop: Option<Stop>) -> Self {
        Self::start(stop, |talk| drop(talk.hook()))
    }

    fn start(stop: Option<Stop>, talk: fn(Talk)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared: Shared = Arc::new((Mutex::new(State { stop, seen: Vec::new(), go: false }), Condvar::new()));
        let peer = Self { address, shared: Arc::clone(&shared) };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                let stop = shared.0.lock().unwrap().stop.take();
                let reader = BufReader::new(stream.try_clone().unwrap());
                let conversation = Talk { stream, reader, stop, shared: Arc::clone(&shared) };
                thread::spawn(move || talk(conversation));
            }
        });
        peer
    }

    /// Goes on from where it stopped.
    pub fn go_on(&self) {
        self.shared.0.lock().unwrap().go = true;
        self.shared.1.notify_all();
    }

    /// What it has seen so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.0.lock().unwrap().seen.clone()
    }

    /// The messages that it has.
    pub fn messages(&self) -> Vec<String> {
        let message = |seen| if let Seen::Message(text) = seen { Some(text) } else { None };
        self.seen().into_iter().filter_map(message).collect()
    }

    /// Waits until it has seen so much; the last of it.
    pub fn wait_for(&self, count: usize) -> Seen {
        let state = self.shared.0.lock().unwrap();
        let (state, _) = self.shared.1.wait_timeout_while(state, PATIENCE, |s| s.seen.len() < count).unwrap();
        assert!(state.seen.len() >= count, "the peer has only seen {:?}", state.seen);
        state.seen[count - 1].clone()
    }
}

/// One conversation.
struct Talk {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
    stop: Option<Stop>,
    shared: Shared,
}

impl Talk {
    /// Writes down what was seen, and stops when it is time to.
    fn see(&self, seen: Seen) {
        let here = match seen {
            Seen::Connection => Some(Stop::AtConnection),
            Seen::Middle => Some(Stop::InTheMiddle),
            Seen::Message(_) => Some(Stop::WithTheMessage),
            Seen::Farewell => Some(Stop::AtFarewell),
            Seen::Accepted | Seen::Cut => None,
        };
        let mut state = self.shared.0.lock().unwrap();
        state.seen.push(seen);
        self.shared.1.notify_all();
        if here.is_some() && here == self.stop {
            drop(self.shared.1.wait_timeout_while(state, PATIENCE, |s| !s.go).unwrap());
        }
    }

    fn say(&mut self, text: &str) -> Result<()> {
        self.stream.write_all(format!("{text}\r\n").as_bytes())
    }

    fn mail(mut self) -> Result<()> {
        self.see(Seen::Connection);
        self.say("220 peer ESMTP")?;
        let mut line = String::new();
        while self.reader.read_line(&mut line)? > 0 {
            match line.get(..4).unwrap_or_default() {
                "EHLO" => self.say("250-peer\r\n250 8BITMIME")?,
                "DATA" => {
                    self.say("354 go on")?;
                    let Some(message) = self.message()? else {
                        self.see(Seen::Cut);
                        return Ok(());
                    };
                    self.see(Seen::Message(message));
                    self.say("250 2.0.0 queued as ABC123")?;
                    self.see(Seen::Accepted);
                }
                "QUIT" => {
                    self.see(Seen::Farewell);
                    return self.say("221 bye");
                }
                _ => self.say("250 ok")?,
            }
            line.clear();
        }
        Ok(())
    }

    /// The message up to its last dot; `None` when the connection ended before that.
    fn message(&mut self) -> Result<Option<String>> {
        let mut message = String::new();
        loop {
            let before = message.len();
            if self.reader.read_line(&mut message)? == 0 {
                return Ok(None);
            }
            if &message[before..] == ".\r\n" {
                message.truncate(before);
                return Ok(Some(message));
            }
            if before < MIDDLE && message.len() >= MIDDLE {
                self.see(Seen::Middle);
            }
        }
    }

    fn hook(mut self) -> Result<()> {
        self.see(Seen::Connection);
        let mut request = String::new();
        while !request.ends_with("\r\n\r\n") {
            if self.reader.read_line(&mut request)? == 0 {
                self.see(Seen::Cut);
                return Ok(());
            }
        }
        let length = request.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
        });
        let mut body = vec![0; length.expect("a Content-Length")];
        self.reader.read_exact(&mut body)?;
        request.push_str(std::str::from_utf8(&body).unwrap());
        self.see(Seen::Message(request));
        self.say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n")?;
        self.see(Seen::Accepted);
        // Nothing follows a request; its end says that the answer was read.
        self.reader.read_to_end(&mut body)?;
        self.see(Seen::Farewell);
        Ok(())
    }
}
