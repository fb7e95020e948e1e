//! The dialogue with a mail server, under one time limit.
//!
//! lettre's own transports keep no limit over the whole dialogue, wait for the answer to QUIT before they report
//! what DATA came to, and read a line without end into memory. Here the commands are sent one by one over lettre's
//! connection, around a stream that stops reading after 32 KiB; everything from the look-up to the reply to the
//! message stands under one limit; that reply is the verdict. QUIT is a courtesy of less than a second whose
//! outcome nobody reads: a server that took the mail and falls silent has the mail.
//!
//! Only loopback servers are spoken to: nothing here encrypts.
//!
//! The one undecidable moment is between the last byte of the message and its reply. A failure there counts as
//! not delivered, since a mail too many is harmless (same `Message-ID`) and one too few is not.

use std::error::Error as _;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use lettre::Address;
use lettre::transport::smtp::Error as SmtpError;
use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::response::{Response, Severity};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Bytes of all replies of one dialogue together; real ones take a few hundred.
const REPLIES: usize = 32 * 1024;
/// Time for QUIT.
const QUIT: Duration = Duration::from_millis(900);
/// Bytes of a message handed to the connection at a time, so that it is never copied whole.
const CHUNK: usize = 64 * 1024;

/// Sends `message` and returns the server's reply to it, or what went wrong. Takes at most `limit` and QUIT's time.
pub fn send(
    host: &str,
    port: u16,
    from: Address,
    to: Address,
    message: &[u8],
    limit: Duration,
) -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| format!("no runtime: {}", error.kind()))?;
    let outcome = runtime.block_on(async {
        let (mut connection, said) =
            timeout(limit, dialogue(host, port, from, to, message)).await.map_err(|_| "timeout")??;
        // The mail is taken; nothing that happens now can change that.
        drop(timeout(QUIT, connection.quit()).await);
        Ok(said)
    });
    // A look-up that hangs in the system's resolver must not hold this thread.
    runtime.shutdown_background();
    outcome
}

/// From the look-up to the reply to the message.
async fn dialogue(
    host: &str,
    port: u16,
    from: Address,
    to: Address,
    message: &[u8],
) -> Result<(AsyncSmtpConnection, String), String> {
    let stream = connect(host, port).await?;
    let mut connection = AsyncSmtpConnection::connect_with_transport(Box::new(stream), &ClientId::default())
        .await
        .map_err(|error| told(&error))?;
    let reply = connection.command(Mail::new(Some(from), Vec::new())).await;
    expect(reply, Severity::PositiveCompletion, "MAIL")?;
    let reply = connection.command(Rcpt::new(to, Vec::new())).await;
    expect(reply, Severity::PositiveCompletion, "RCPT")?;
    let reply = connection.command(Data).await;
    expect(reply, Severity::PositiveIntermediate, "DATA")?;
    let reply = connection.message_iter(message.chunks(CHUNK)).await;
    let said = expect(reply, Severity::PositiveCompletion, "the message")?;
    Ok((connection, said))
}

/// The first loopback address of `host` that takes the connection.
async fn connect(host: &str, port: u16) -> Result<Bounded, String> {
    let found = tokio::net::lookup_host((host, port)).await.map_err(|_| "the mail server's name is not known")?;
    let addresses: Vec<SocketAddr> = found.filter(|address| address.ip().to_canonical().is_loopback()).collect();
    if addresses.is_empty() {
        return Err("the mail server is not on this machine".to_owned());
    }
    let stream =
        TcpStream::connect(addresses.as_slice()).await.map_err(|error| format!("mail server: {}", error.kind()))?;
    // The end of a message is a write of its own, which would wait 40 ms for a delayed acknowledgement.
    stream.set_nodelay(true).map_err(|error| format!("mail server: {}", error.kind()))?;
    Ok(Bounded { inner: stream, left: REPLIES })
}

/// The reply's text when it is of the kind that `step` must answer with. A 250 to DATA taken for "go ahead" would
/// make commands of the message's lines.
fn expect(reply: Result<Response, SmtpError>, wanted: Severity, step: &str) -> Result<String, String> {
    let reply = reply.map_err(|error| told(&error))?;
    if reply.code().severity != wanted {
        return Err(format!("unexpected reply {} to {step}", reply.code()));
    }
    let text: Vec<&str> = reply.message().collect();
    Ok(format!("{} {}", reply.code(), text.join(" ")))
}

/// A refusal as the server put it (code, enhanced code, text), or the kind of trouble.
fn told(error: &SmtpError) -> String {
    let said = error.source().map(ToString::to_string).unwrap_or_default();
    match error.status() {
        Some(code) => format!("{code} {said}"),
        None => match error.source().and_then(|source| source.downcast_ref::<io::Error>()) {
            Some(io) => format!("mail server: {}", io.kind()),
            None if said == "incomplete response" => "the mail server closed the connection".to_owned(),
            None => "the mail server's answer is not readable SMTP".to_owned(),
        },
    }
}

/// A connection that reads no more than a dialogue needs, give or take one buffer.
#[derive(Debug)]
struct Bounded {
    /// The connection.
    inner: TcpStream,
    /// Bytes that may still be read.
    left: usize,
}

impl AsyncRead for Bounded {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.left == 0 {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buf);
        self.left = self.left.saturating_sub(buf.filled().len() - before);
        polled
    }
}

impl AsyncWrite for Bounded {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

impl AsyncTokioStream for Bounded {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.inner.peer_addr()
    }
}

#[cfg(test)]
mod tests;
