//! A throw-away copy of this machine with a mail server of Debian's in it, made by `tests/mta/box.sh`: its own processes,
//! mounts and loopback, nothing of it left when it is dropped or when the test is killed.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::clients::said;
use super::{skip, write_private};

/// The machine, standing as long as this lives.
#[derive(Debug)]
pub struct Machine {
    child: Child,
    pid: String,
}

impl Machine {
    /// A copy in which `server` (`postfix`, `exim4`, `opensmtpd`) is installed and answers. `None`, said loudly, where
    /// that cannot be done.
    pub fn with_mail_server(server: &str) -> Option<Self> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR"));
        let packages = source.join("tests/mta/debs").join(server);
        if !super::files_below(&packages).iter().any(|name| Path::new(name).extension() == Some("deb".as_ref())) {
            skip(&format!("the packages of {server} are not in tests/mta/debs"));
            return None;
        }
        match Self::start(source) {
            Ok(machine) => {
                said(&machine.run(&["/formd/source/tests/mta/serve.sh", server]));
                Some(machine)
            }
            Err(why) => {
                skip(&format!("no machine for {server}: {why} (it takes root, `unshare` and overlayfs)"));
                None
            }
        }
    }

    fn start(source: &Path) -> Result<Self, String> {
        let binaries = Path::new(env!("CARGO_BIN_EXE_formd")).parent().unwrap();
        // Whatever becomes of this process, the machine's standard input closes with it, and the machine ends.
        let mut child = Command::new(source.join("tests/mta/box.sh"))
            .args([source, binaries])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let pid = line.trim().to_owned();
        if pid.is_empty() {
            let mut why = String::new();
            child.stderr.take().unwrap().read_to_string(&mut why).unwrap();
            child.wait().unwrap();
            return Err(why.trim().to_owned());
        }
        Ok(Self { child, pid })
    }

    /// Runs a command in the machine, two minutes at most.
    pub fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new("timeout");
        command.args(["-k", "5", "120", "nsenter", "-t", &self.pid, "-m", "-p", "-n", "-r", "-w"]);
        command.args(words).stdin(Stdio::null()).output().expect("timeout of coreutils")
    }

    /// Where one of its files is seen from here.
    pub fn path(&self, inside: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{inside}", self.pid))
    }

    pub fn write(&self, inside: &str, text: &str) {
        write_private(&self.path(inside), text);
    }

    /// Starts the real `formd` with `/srv/formd/formd.toml` and waits until it answers on port 8787.
    pub fn start_formd(&self) {
        let command = "exec /formd/bin/formd --config /srv/formd/formd.toml >/srv/formd/log 2>&1 </dev/null &";
        said(&self.run(&["sh", "-c", command]));
        self.eventually("formd answers", || {
            self.run(&["curl", "-sf", "http://127.0.0.1:8787/healthz"]).status.success()
        });
    }

    /// What formctl printed, which must succeed.
    pub fn formctl(&self, words: &[&str]) -> String {
        said(&self.run(&[&["/formd/bin/formctl", "--config", "/srv/formd/formd.toml"], words].concat()))
    }

    /// Waits until something holds, half a minute at most.
    pub fn eventually(&self, what: &str, holds: impl Fn() -> bool) {
        let started = Instant::now();
        while !holds() {
            let log = fs::read_to_string(self.path("/srv/formd/log")).unwrap_or_default();
            assert!(started.elapsed() < Duration::from_secs(30), "never: {what}\n{log}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        drop(self.child.wait());
    }
}
