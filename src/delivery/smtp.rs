//! The dialogue with a mail server, under one time limit.
//!
//! Guarantees. Everything from the look-up to the reply to the message stands under one limit, TLS and a dripping
//! server included; that reply is the verdict. QUIT is a courtesy of less than half a second whose outcome nobody
//! reads: a server that took the mail and falls silent has the mail. With STARTTLS or TLS nothing but EHLO and
//! STARTTLS leaves in plain text: a server that offers no STARTTLS, or has another certificate than it should, gets
//! neither login nor mail. What a peer says before TLS never counts as said within it. Of all replies together
//! 32 KiB are read.
//!
//! What fails how: every failure is a [`Trouble`] whose text is fit for the database: the server's own words where it
//! spoke, with the password taken out should it echo one. The one undecidable moment is between the last byte of the
//! message and its reply. A failure there counts as not delivered, since a mail too many is harmless (same
//! `Message-ID`) and one too few is not.
//!
//! It is written here and not taken from lettre 0.11, which keeps plain-text replies over the start of TLS, panics at
//! some EHLO lines, waits for ever at a reply without text, and does not report what DATA came to before QUIT is
//! answered. The calls block: each send has a thread of its own anyway.
//!
//! Deliberately not done: opportunistic TLS, a second mail over one connection, PIPELINING, CHUNKING, SMTPUTF8 (an
//! envelope's addresses are ASCII by then, and so is all of the message), OAuth.

mod reply;
mod tls;
mod trouble;
mod wire;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lettre::Address;

use crate::config::{Login, Security, Server};
use reply::{Offer, Part, Reply};
use trouble::Trouble;
use wire::Wire;

/// Bytes of all replies of one dialogue together; real ones take a few hundred.
const REPLIES: u64 = 32 * 1024;
/// Time for QUIT.
const QUIT: Duration = Duration::from_millis(400);
/// Bytes of a message that are written at a time, so that it is never copied whole.
const CHUNK: usize = 32 * 1024;

/// The first digit of a reply: done.
const DONE: u16 = 2;
/// The first digit of a reply: go on.
const GO_ON: u16 = 3;

/// Sends `message` (lines ended by CR LF) and returns the server's reply to it, or what went wrong. Takes at most
/// `limit` and QUIT's time.
pub fn send(server: &Server, from: &Address, to: &Address, message: &[u8], limit: Duration) -> Result<String, String> {
    let until = Instant::now() + limit;
    let said = wire::connect(server, until).and_then(|wire| {
        let mut dialogue = Dialogue { wire: BufReader::new(wire), left: REPLIES };
        let said = dialogue.prepare(server).and_then(|offer| dialogue.deliver(&offer, from, to, message));
        if said.as_ref().map_or_else(Trouble::leaves_a_server_that_listens, |_| true) {
            dialogue.quit();
        }
        said
    });
    let login = server.login.as_ref();
    said.map(|reply| without(login, reply.to_string())).map_err(|trouble| without(login, trouble.to_string()))
}

/// `text` without what was sent as the password, should a server have repeated it.
fn without(login: Option<&Login>, text: String) -> String {
    let Some(login) = login else { return text };
    let password = login.password.reveal();
    [plain(login), STANDARD.encode(password), password.to_owned()]
        .iter()
        .fold(text, |text, secret| text.replace(secret.as_str(), "(secret)"))
}

/// The answer of a login by PLAIN.
fn plain(login: &Login) -> String {
    STANDARD.encode(format!("\0{}\0{}", login.username, login.password.reveal()))
}

/// A connection on which commands and replies take turns.
struct Dialogue {
    /// The connection.
    wire: BufReader<Wire>,
    /// Bytes of replies that may still be read.
    left: u64,
}

impl Dialogue {
    /// From the first byte to the moment when mail may be sent; what the server offers then.
    fn prepare(&mut self, server: &Server) -> Result<Offer, Trouble> {
        let hello = format!("EHLO {}", self.wire.get_ref().own_name());
        if server.security == Security::Tls {
            self.wire.get_mut().secure(tls::session(server)?)?;
        }
        self.hear("the connection", DONE).map_err(|trouble| match trouble {
            Trouble::Timeout if server.security == Security::StartTls => Trouble::NoGreeting,
            other => other,
        })?;
        let mut offer = Offer::of(&self.ask(&hello, "EHLO", DONE)?);
        if server.security == Security::StartTls {
            if !offer.starttls {
                return Err(Trouble::NoStartTls);
            }
            self.ask("STARTTLS", "STARTTLS", DONE)?;
            if !self.wire.buffer().is_empty() {
                return Err(Trouble::SpokeBeforeTls);
            }
            self.wire.get_mut().secure(tls::session(server)?)?;
            offer = Offer::of(&self.ask(&hello, "EHLO", DONE)?);
        }
        if let Some(login) = &server.login {
            self.log_in(&offer, login)?;
        }
        Ok(offer)
    }

    /// Logs in by what the server offers, PLAIN before LOGIN.
    fn log_in(&mut self, offer: &Offer, login: &Login) -> Result<(), Trouble> {
        if offer.plain {
            self.ask(&format!("AUTH PLAIN {}", plain(login)), "AUTH", DONE)?;
        } else if offer.login {
            self.ask("AUTH LOGIN", "AUTH", GO_ON)?;
            self.ask(&STANDARD.encode(&login.username), "AUTH", GO_ON)?;
            self.ask(&STANDARD.encode(login.password.reveal()), "AUTH", DONE)?;
        } else {
            return Err(Trouble::NoLogin);
        }
        Ok(())
    }

    /// One mail; the reply to its message.
    fn deliver(&mut self, offer: &Offer, from: &Address, to: &Address, message: &[u8]) -> Result<Reply, Trouble> {
        let size = if offer.size { format!(" SIZE={}", message.len()) } else { String::new() };
        self.ask(&format!("MAIL FROM:<{from}>{size}"), "MAIL", DONE)?;
        self.ask(&format!("RCPT TO:<{to}>"), "RCPT", DONE)?;
        // A 250 here, taken for "go ahead", would make commands of the message's lines.
        self.ask("DATA", "DATA", GO_ON)?;
        let written = self.write_message(message);
        let reply = self.hear("the message", DONE);
        match (written, reply) {
            // A server that hangs up in the middle may have said why.
            (Err(_), Err(refused @ Trouble::Refused(_))) => Err(refused),
            (Err(trouble), _) => Err(trouble),
            (Ok(()), reply) => reply,
        }
    }

    /// Writes the message and its end. A line that begins with a dot gets a second one.
    fn write_message(&mut self, message: &[u8]) -> Result<(), Trouble> {
        let mut chunk = Vec::with_capacity(CHUNK * 2);
        for line in message.split_inclusive(|&byte| byte == b'\n') {
            if line.starts_with(b".") {
                chunk.push(b'.');
            }
            chunk.extend_from_slice(line);
            if chunk.len() >= CHUNK {
                self.write(&chunk)?;
                chunk.clear();
            }
        }
        if !message.ends_with(b"\r\n") {
            chunk.extend_from_slice(b"\r\n");
        }
        chunk.extend_from_slice(b".\r\n");
        self.write(&chunk)
    }

    /// Takes leave, in little time and whatever the server makes of it.
    fn quit(&mut self) {
        self.wire.get_mut().end_by(Instant::now() + QUIT);
        drop(self.ask("QUIT", "QUIT", DONE));
    }

    /// Sends a command and reads its reply, whose code must begin with `wanted`.
    fn ask(&mut self, command: &str, step: &'static str, wanted: u16) -> Result<Reply, Trouble> {
        self.write(format!("{command}\r\n").as_bytes())?;
        self.hear(step, wanted)
    }

    /// Writes and flushes.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let wire = self.wire.get_mut();
        wire.write_all(bytes)?;
        Ok(wire.flush()?)
    }

    /// Reads the reply to `step`.
    fn hear(&mut self, step: &'static str, wanted: u16) -> Result<Reply, Trouble> {
        let mut reply = Reply::default();
        loop {
            match reply.add(&self.line()?) {
                Some(Part::Begun) => {}
                Some(Part::Whole) => break,
                None => return Err(Trouble::Unreadable),
            }
        }
        match reply.code / 100 {
            kind if kind == wanted => Ok(reply),
            4 | 5 => Err(Trouble::Refused(reply)),
            _ => Err(Trouble::Unexpected { code: reply.code, step }),
        }
    }

    /// Reads one line, without its end.
    fn line(&mut self) -> Result<String, Trouble> {
        let mut line = Vec::new();
        let read = self.wire.by_ref().take(self.left).read_until(b'\n', &mut line)?;
        self.left = self.left.saturating_sub(u64::try_from(read).unwrap_or(u64::MAX));
        match (line.pop(), self.left) {
            (Some(b'\n'), _) => Ok(String::from_utf8_lossy(line.trim_ascii_end()).into_owned()),
            (_, 0) => Err(Trouble::Endless),
            _ => Err(Trouble::Closed),
        }
    }
}

#[cfg(test)]
mod tests;
