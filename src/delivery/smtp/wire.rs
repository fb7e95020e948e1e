//! A connection that ends when its time is over, with or without TLS.
//!
//! Every read and write waits for what is left of the time, so that no sequence of short waits adds up to more. A
//! host's addresses are tried in the resolver's order, each with its share of the time, so that a dead one (an IPv6
//! address without a route) leaves time for the next. A look-up that hangs in the system's resolver leaves a thread
//! behind until the resolver gives up; there are never more of them than sends.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustls::{ClientConnection, StreamOwned};

use super::trouble::Trouble;
use crate::config::{Security, Server};

/// Addresses of one host that are tried.
const ADDRESSES: usize = 8;

/// What is left of the time until `until`.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// Connects to the first address of `server` that takes the connection.
pub(super) fn connect(server: &Server, until: Instant) -> Result<Wire, Trouble> {
    let mut addresses = look_up(&server.host, server.port, until)?;
    addresses.truncate(ADDRESSES);
    let mut trouble = Trouble::UnknownHost;
    if server.security == Security::None {
        addresses.retain(|address| address.ip().to_canonical().is_loopback());
        trouble = Trouble::Elsewhere;
    }
    for (untried, address) in (1..=addresses.len()).rev().zip(&addresses) {
        let share = left(until)? / u32::try_from(untried).unwrap_or(1);
        match TcpStream::connect_timeout(address, share) {
            Ok(stream) => {
                // A command is one write, which must not wait for the acknowledgement of the last one.
                stream.set_nodelay(true)?;
                return Ok(Wire::Plain(Timed { stream, until }));
            }
            Err(error) => trouble = error.into(),
        }
    }
    Err(trouble)
}

/// The addresses of `host`, from a thread of its own: the system's resolver knows no limit.
fn look_up(host: &str, port: u16, until: Instant) -> Result<Vec<SocketAddr>, Trouble> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let (tell, told) = mpsc::sync_channel(1);
    let host = host.to_owned();
    thread::Builder::new().name("look-up".into()).spawn(move || {
        let found = (host.as_str(), port).to_socket_addrs().map(Iterator::collect);
        // Nobody waits any more when the time was over.
        drop(tell.send(found));
    })?;
    let found = told.recv_timeout(left(until)?).map_err(|_| Trouble::Timeout)?;
    found.map_err(|_| Trouble::UnknownHost)
}

/// A connection to a mail server.
pub(super) enum Wire {
    /// Without TLS.
    Plain(Timed),
    /// With TLS.
    Secure(Box<StreamOwned<ClientConnection, Timed>>),
    /// Its TLS did not come about.
    Broken,
}

impl Wire {
    /// Goes on with TLS. Fails unless the other side has proved who it is.
    pub(super) fn secure(&mut self, session: ClientConnection) -> io::Result<()> {
        let Self::Plain(timed) = std::mem::replace(self, Self::Broken) else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let mut stream = Box::new(StreamOwned::new(session, timed));
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        *self = Self::Secure(stream);
        Ok(())
    }

    /// From now on the time is over at `until`.
    pub(super) fn end_by(&mut self, until: Instant) {
        match self {
            Self::Plain(timed) => timed.until = until,
            Self::Secure(stream) => stream.sock.until = until,
            Self::Broken => {}
        }
    }

    /// What this machine calls itself at the other side (RFC 5321, 4.1.4): its host name when it is a whole one, else
    /// the connection's own address. A server that checks the name can refuse neither as ill-formed or not ours;
    /// `localhost` and the domain of `from` are names that some refuse from a stranger.
    pub(super) fn own_name(&self) -> String {
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let name = name.trim();
        if is_whole(name) {
            return name.to_owned();
        }
        let timed = match self {
            Self::Plain(timed) => Some(timed),
            Self::Secure(stream) => Some(&stream.sock),
            Self::Broken => None,
        };
        match timed.and_then(|timed| timed.stream.local_addr().ok()).map(|address| address.ip().to_canonical()) {
            Some(IpAddr::V6(address)) => format!("[IPv6:{address}]"),
            Some(IpAddr::V4(address)) => format!("[{address}]"),
            None => "[127.0.0.1]".to_owned(),
        }
    }
}

/// Whether a host name has a domain that others may know.
fn is_whole(name: &str) -> bool {
    let label = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let (host, domain) = name.split_once('.').unwrap_or_default();
    label(host) && domain.split('.').all(label) && domain != "localdomain" && name.len() <= 253
}

impl Read for Wire {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(timed) => timed.read(buf),
            Self::Secure(stream) => stream.read(buf),
            Self::Broken => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(timed) => timed.write(bytes),
            Self::Secure(stream) => stream.write(bytes),
            Self::Broken => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(timed) => timed.flush(),
            Self::Secure(stream) => stream.flush(),
            Self::Broken => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

/// A connection without TLS.
pub(super) struct Timed {
    /// The connection.
    stream: TcpStream,
    /// When its time is over.
    until: Instant,
}

/// A socket's own words for a time that is over, and for a signal, in those of everybody else.
fn settled(result: io::Result<usize>) -> Option<io::Result<usize>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => None,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Some(Err(io::ErrorKind::TimedOut.into())),
        other => Some(other),
    }
}

impl Read for Timed {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            self.stream.set_read_timeout(Some(left(self.until)?))?;
            if let Some(result) = settled(self.stream.read(buf)) {
                return result;
            }
        }
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            self.stream.set_write_timeout(Some(left(self.until)?))?;
            if let Some(result) = settled(self.stream.write(bytes)) {
                return result;
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_names_itself_only_by_a_whole_name() {
        for name in ["mail.example.com", "vps-7.provider.net"] {
            assert!(is_whole(name), "{name}");
        }
        for name in ["", "vm", "localhost", "localhost.localdomain", "a..b", ".a", "a.", "a b.example", "a.b\r\nQUIT"] {
            assert!(!is_whole(name), "{name}");
        }
    }
}
