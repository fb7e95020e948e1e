//! The real `formd` binary as a process: for what only a process can show (signals, memory, system calls).

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running `formd`.
#[derive(Debug)]
pub struct Process {
    child: Child,
    pub address: SocketAddr,
    pub pid: u32,
}

/// A configuration for a process: one form with the usual fields, a mail file transport, no rate limit.
pub fn write_config(folder: &Path, extra: &str) -> PathBuf {
    let file = folder.join("formd.toml");
    fs::create_dir_all(folder.join("sites")).unwrap();
    super::write_private(
        &file,
        &format!(
            "listen = \"127.0.0.1:0\"\ndata_dir = \"data\"\n[mail]\nfrom = \"forms@example.com\"\ntransport = \"file\"\n{extra}"
        ),
    );
    let site = format!(
        "rate = []\n[[destination]]\nid = \"sales\"\nemail = \"sales@acme.example\"\n[form.quote]\n{}",
        super::FIELDS
    );
    super::write_private(&folder.join("sites/acme.toml"), &site);
    file
}

impl Process {
    /// Starts the binary and waits until it says where it listens.
    pub fn start(config: &Path) -> Self {
        Self::start_under(&[], config)
    }

    /// The same with a program in front, such as strace.
    pub fn start_under(front: &[&str], config: &Path) -> Self {
        let binary = env!("CARGO_BIN_EXE_formd");
        let mut words = front.to_vec();
        words.extend(["--config", config.to_str().unwrap()]);
        if !front.is_empty() {
            words.insert(front.len(), binary);
        }
        let program = if front.is_empty() { binary } else { words.remove(0) };
        let mut child = Command::new(program)
            .args(&words)
            .stdout(Stdio::piped())
            .stderr(Stdio::from(fs::File::create(config.with_extension("log")).unwrap()))
            .spawn()
            .expect("formd starts");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("listening on ").and_then(|a| a.trim().parse().ok()))
            .unwrap_or_else(|| {
                panic!("formd did not start: {}", fs::read_to_string(config.with_extension("log")).unwrap())
            });
        // The rest of its output must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let pid = daemon_pid(&config.with_file_name("data")).unwrap_or_else(|| child.id());
        Self { child, address, pid }
    }

    /// SIGKILL: what a power cut is to a process.
    pub fn kill(&mut self) {
        signal(self.pid, "KILL");
        self.child.wait().unwrap();
    }

    /// SIGTERM, then the exit code.
    pub fn stop(&mut self) -> Option<i32> {
        signal(self.pid, "TERM");
        self.wait()
    }

    /// The exit code of a process that was told to end.
    pub fn wait(&mut self) -> Option<i32> {
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(40) {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("formd did not end after SIGTERM");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        signal(self.pid, "KILL");
        drop(self.child.wait());
    }
}

/// The pid that the daemon wrote into its lock file.
pub fn daemon_pid(data: &Path) -> Option<u32> {
    fs::read_to_string(data.join("lock")).ok()?.trim().parse().ok()
}

pub fn signal(pid: u32, name: &str) {
    drop(Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).stderr(Stdio::null()).status());
}
