//! The wake-up: a datagram socket in the data directory. Whoever makes a delivery due (the daemon's own writer, or
//! formctl in its own process) sends one byte; the deliverer waits for it with the next due time as its time-out.
//!
//! A lost wake-up costs at most the deliverer's own round of a minute, so nothing here is an error to anyone: no
//! daemon, a full socket buffer and a stale socket are all the same silence.

use std::fs::{File, Permissions};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

use super::disk::failed;
use super::{DataDirectory, StoreError};

/// Bytes of a path that every system takes in a socket address (108 with the final NUL on Linux).
const LONGEST: usize = 100;

impl DataDirectory {
    /// Wakes a running daemon's deliverer; silently does nothing when none listens.
    pub fn wake(&self) {
        let sent = self.wake_address().and_then(|(address, _root)| {
            let socket = UnixDatagram::unbound()?;
            socket.set_nonblocking(true)?;
            socket.send_to(&[1], address)
        });
        if let Err(error) = sent {
            tracing::trace!(kind = ?error.kind(), "nobody was woken");
        }
    }

    /// Binds the wake-up socket, mode 0600 (daemon only, which holds the lock: an older socket is a leftover).
    pub fn listen(&self) -> Result<UnixDatagram, StoreError> {
        let path = self.root().join("wake");
        if std::fs::symlink_metadata(&path).is_ok_and(|facts| facts.file_type().is_socket()) {
            std::fs::remove_file(&path).map_err(failed("remove", &path))?;
        }
        let (address, _root) = self.wake_address().map_err(failed("open", self.root()))?;
        let socket = UnixDatagram::bind(address).map_err(failed("bind", &path))?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(failed("set the mode of", &path))?;
        Ok(socket)
    }

    /// The socket's address: its path, or the way over an open handle of the root where the path is too long for
    /// a socket address. The handle has to live as long as the address is used.
    fn wake_address(&self) -> std::io::Result<(PathBuf, Option<File>)> {
        let path = self.root().join("wake");
        if path.as_os_str().len() <= LONGEST {
            return Ok((path, None));
        }
        let root = File::open(self.root())?;
        Ok((PathBuf::from(format!("/proc/self/fd/{}/wake", root.as_raw_fd())), Some(root)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_up_arrives_even_below_a_very_long_path_and_without_a_listener_it_is_silent() {
        let temp = tempfile::tempdir().unwrap();
        for name in ["short".to_owned(), "long-".repeat(30)] {
            let root = temp.path().join(name);
            std::fs::create_dir(&root).unwrap();
            let directory = DataDirectory::new(root);
            directory.wake();
            drop(directory.listen().unwrap());
            directory.wake();
            let socket = directory.listen().unwrap();
            socket.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
            directory.wake();
            assert_eq!(socket.recv(&mut [0; 8]).unwrap(), 1);
            let mode = std::fs::metadata(directory.root().join("wake")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
