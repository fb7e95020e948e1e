//! Where connections come from: a TCP address or a Unix socket.

use std::io;
use std::net::IpAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use crate::config::Listen;

/// A bound socket.
#[derive(Debug)]
pub struct Listener(Kind);

/// The two kinds.
#[derive(Debug)]
enum Kind {
    /// TCP.
    Tcp(TcpListener),
    /// Unix.
    Unix(UnixListener),
}

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    /// A host.
    Ip(IpAddr),
    /// A process of this machine, over the Unix socket.
    Local,
}

/// An accepted connection.
#[derive(Debug)]
pub(super) enum Socket {
    /// TCP.
    Tcp(TcpStream),
    /// Unix.
    Unix(UnixStream),
}

impl Listener {
    /// Binds. A Unix socket that a killed daemon left is replaced (the lock on the data directory already says that
    /// no other daemon lives); any user of the machine may connect to it, as to a loopback address: the folder it
    /// stands in says who reaches it.
    pub async fn bind(listen: &Listen) -> io::Result<Self> {
        match listen {
            Listen::Tcp(address) => Ok(Self(Kind::Tcp(TcpListener::bind(address).await?))),
            Listen::Unix(path) => Self::bind_unix(path),
        }
    }

    /// Binds a Unix socket.
    fn bind_unix(path: &Path) -> io::Result<Self> {
        match std::fs::symlink_metadata(path) {
            Ok(found) if found.file_type().is_socket() => std::fs::remove_file(path)?,
            Ok(_) | Err(_) => {}
        }
        let listener = UnixListener::bind(path)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666))?;
        Ok(Self(Kind::Unix(listener)))
    }

    /// The address it is bound to, with the port that was chosen for port 0; the path of a Unix socket after `unix:`.
    pub fn address(&self) -> String {
        match &self.0 {
            Kind::Tcp(listener) => listener.local_addr().map(|address| address.to_string()).unwrap_or_default(),
            Kind::Unix(listener) => {
                let address = listener.local_addr().ok();
                let path = address.as_ref().and_then(|address| address.as_pathname());
                format!("unix:{}", path.map(Path::display).map(|path| path.to_string()).unwrap_or_default())
            }
        }
    }

    /// The next connection.
    pub(super) async fn accept(&self) -> io::Result<(Socket, Peer)> {
        match &self.0 {
            Kind::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                // Answers are written whole; waiting for more to send only delays them.
                stream.set_nodelay(true)?;
                Ok((Socket::Tcp(stream), Peer::Ip(address.ip().to_canonical())))
            }
            Kind::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok((Socket::Unix(stream), Peer::Local))
            }
        }
    }
}

/// Calls the same method of whichever socket it is.
macro_rules! either {
    ($self:ident, $socket:ident => $call:expr) => {
        match $self.get_mut() {
            Socket::Tcp($socket) => $call,
            Socket::Unix($socket) => $call,
        }
    };
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        either!(self, socket => Pin::new(socket).poll_read(cx, out))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        either!(self, socket => Pin::new(socket).poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        either!(self, socket => Pin::new(socket).poll_write_vectored(cx, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, socket => Pin::new(socket).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, socket => Pin::new(socket).poll_shutdown(cx))
    }
}
