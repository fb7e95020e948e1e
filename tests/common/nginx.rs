//! Debian's nginx with the example configuration of `packaging/nginx.conf`, in a folder and on a port of its own.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running nginx. Ending it ends its worker too.
#[derive(Debug)]
pub struct Nginx {
    child: Child,
    folder: tempfile::TempDir,
    pub address: SocketAddr,
}

/// Where Debian puts it; `/usr/sbin` is not in everybody's path.
pub const NGINX: &str = "/usr/sbin/nginx";

/// The differences of an operator's file to the example: what stands there, what shall.
pub type Changes<'a> = &'a [(&'a str, &'a str)];

impl Nginx {
    /// Starts nginx in front of `formd`, with changes to the example.
    pub fn start(formd: SocketAddr, changes: Changes) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = free_address();
        let mut site = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/nginx.conf")).unwrap();
        let places = [("127.0.0.1:8787", formd.to_string()), ("listen 80;", format!("listen {address};"))];
        let places = places.iter().map(|(from, to)| (*from, to.as_str()));
        for (from, to) in places.chain(changes.iter().copied()) {
            assert!(site.contains(from), "the example has no `{from}`");
            site = site.replace(from, to);
        }
        let own =
            "client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;";
        // As root the worker would be nobody, who may not enter the folder.
        let user = if is_root() { "user root;" } else { "" };
        let main = format!(
            "daemon off; pid nginx.pid; worker_processes 2; {user}\nevents {{ worker_connections 256; }}\n\
             http {{ access_log access.log; {own}\n{site} }}\n"
        );
        fs::write(folder.path().join("nginx.conf"), main).unwrap();
        let log = fs::File::create(folder.path().join("stderr")).unwrap();
        let child = Command::new(NGINX)
            .args(["-p", folder.path().to_str().unwrap(), "-c", "nginx.conf", "-e", "error.log"])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("nginx starts");
        let nginx = Self { child, folder, address };
        nginx.wait_until_up();
        nginx
    }

    fn wait_until_up(&self) {
        let started = Instant::now();
        while TcpStream::connect(self.address).is_err() {
            assert!(started.elapsed() < Duration::from_secs(10), "nginx did not start: {}", self.errors());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What nginx complained of.
    pub fn errors(&self) -> String {
        ["stderr", "error.log"]
            .map(|name| fs::read_to_string(self.folder.path().join(name)).unwrap_or_default())
            .concat()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // TERM, not KILL: the master ends its workers.
        super::process::signal(self.child.id(), "TERM");
        drop(self.child.wait());
    }
}

/// An address of this machine that nobody listens on.
pub fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|out| out.stdout == b"0\n")
}
