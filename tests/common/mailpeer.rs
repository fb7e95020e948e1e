//! A mail server that speaks TLS, asks for a login and misbehaves as told; it keeps every line it heard, and whether
//! that came in plain text.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What the server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    Ok,
    Greylist,
    Rcpt550,
    Rcpt452,
    Data554,
    Final451,
    Final550,
    /// Takes the mail and hangs up instead of saying so.
    DropAfterData,
    DropMidData,
    HangBanner,
    HangEhlo,
    /// Takes the mail and never says so.
    HangFinal,
    Banner421,
    Banner554,
    NoEhlo,
    /// A byte every 200 ms.
    Slow,
    /// 200 kB in one line.
    LongLine,
    Mail552,
    /// Takes the mail and never answers QUIT.
    SilentAtQuit,
    /// Writes more than its reply to STARTTLS before TLS begins.
    InjectBeforeTls,
    /// Refuses every login and repeats what it was sent.
    EchoLogin,
}

/// Where TLS begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    Never,
    OnRequest,
    AtOnce,
}

/// Which certificate it shows.
#[derive(Clone, Copy, Debug)]
pub enum Certificate {
    Good,
    WrongName,
    Expired,
    SelfSigned,
    SelfSignedAuthority,
}

/// How the server is set up.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub does: Does,
    pub tls: Tls,
    pub certificate: Certificate,
    /// The mechanisms of login that it offers.
    pub auth: &'static str,
}

impl Setup {
    /// Without TLS and login.
    pub fn plain(does: Does) -> Self {
        Self { does, tls: Tls::Never, certificate: Certificate::Good, auth: "" }
    }

    /// With TLS.
    pub fn with(tls: Tls, certificate: Certificate, auth: &'static str) -> Self {
        Self { does: Does::Ok, tls, certificate, auth }
    }
}

/// What it heard.
#[derive(Debug, Default)]
struct Heard {
    /// Each command after `plain ` or `tls `.
    lines: Vec<String>,
    /// The mails it took.
    mails: Vec<String>,
}

/// A running server.
#[derive(Debug)]
pub struct MailPeer {
    pub address: SocketAddr,
    heard: Arc<Mutex<Heard>>,
}

impl MailPeer {
    pub fn start(setup: Setup) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(Heard::default()));
        let kept = Arc::clone(&heard);
        thread::spawn(move || {
            for tcp in listener.incoming().flatten() {
                let heard = Arc::clone(&kept);
                thread::spawn(move || {
                    tcp.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
                    drop(Talk { setup, stream: Box::new(tcp.try_clone().unwrap()), tcp, heard, how: "plain" }.run());
                });
            }
        });
        Self { address, heard }
    }

    /// Every command it heard, as `plain EHLO x` or `tls EHLO x`.
    pub fn lines(&self) -> Vec<String> {
        self.heard.lock().unwrap().lines.clone()
    }

    /// The mails it took.
    pub fn mails(&self) -> Vec<String> {
        self.heard.lock().unwrap().mails.clone()
    }
}

trait Stream: Read + Write + Send {}
impl<T: Read + Write + Send> Stream for T {}

/// One connection.
struct Talk {
    setup: Setup,
    stream: Box<dyn Stream>,
    tcp: TcpStream,
    heard: Arc<Mutex<Heard>>,
    how: &'static str,
}

impl Talk {
    fn run(mut self) -> io::Result<()> {
        let does = self.setup.does;
        if self.setup.tls == Tls::AtOnce {
            self.begin_tls()?;
        }
        match does {
            Does::HangBanner => return self.hang(),
            Does::Banner421 => return self.say("421 4.3.2 busy"),
            Does::Banner554 => return self.say("554 5.7.1 go away"),
            _ => self.say("220 peer ESMTP")?,
        }
        while let Some(line) = self.line()? {
            self.heard.lock().unwrap().lines.push(format!("{} {}", self.how, line.trim_end()));
            let upper = line.to_ascii_uppercase();
            match upper.split_whitespace().next().unwrap_or_default() {
                "EHLO" => self.offer()?,
                "STARTTLS" if self.setup.tls == Tls::OnRequest && does == Does::InjectBeforeTls => {
                    // What a man in the middle would put in front of the real server's words.
                    self.raw(b"220 go ahead\r\n250-evil\r\n250 AUTH PLAIN\r\n")?;
                    self.begin_tls()?;
                }
                "STARTTLS" if self.setup.tls == Tls::OnRequest => {
                    self.say("220 go ahead")?;
                    self.begin_tls()?;
                }
                "AUTH" => self.log_in(&line)?,
                "MAIL" if does == Does::Mail552 => self.say("552 5.3.4 too big")?,
                "RCPT" => self.say(match does {
                    Does::Greylist => "451 4.7.1 Greylisted, try again later",
                    Does::Rcpt550 => "550 5.1.1 no such user",
                    Does::Rcpt452 => "452 4.2.2 mailbox full",
                    _ => "250 2.1.5 ok",
                })?,
                "DATA" if does == Does::Data554 => self.say("554 5.7.1 refused")?,
                "DATA" => self.take_mail()?,
                "QUIT" if does == Does::SilentAtQuit => return self.hang(),
                "QUIT" => return self.say("221 bye"),
                "MAIL" | "HELO" | "RSET" | "NOOP" => self.say("250 ok")?,
                _ => self.say("500 5.5.2 what")?,
            }
        }
        Ok(())
    }

    fn offer(&mut self) -> io::Result<()> {
        match self.setup.does {
            Does::HangEhlo => return self.hang(),
            Does::NoEhlo => return self.say("502 5.5.1 no"),
            Does::LongLine => self.raw(&[b"250-".as_slice(), &vec![b'x'; 200_000], b"\r\n"].concat())?,
            _ => {}
        }
        let starttls = self.setup.tls == Tls::OnRequest && self.how == "plain";
        let (tls, auth) = (if starttls { "250-STARTTLS\r\n" } else { "" }, self.setup.auth);
        let auth = if auth.is_empty() || starttls { String::new() } else { format!("250-AUTH {auth}\r\n") };
        self.say(&format!("250-peer\r\n250-SIZE 1000000\r\n{tls}{auth}250 8BITMIME"))
    }

    /// The one login that is right is `forms@example.com` with `pass word 4711`.
    fn log_in(&mut self, line: &str) -> io::Result<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let given = if words[1] == "LOGIN" {
            let mut given = String::new();
            for prompt in ["334 VXNlcm5hbWU6", "334 UGFzc3dvcmQ6"] {
                self.say(prompt)?;
                let answer = self.line()?.unwrap_or_default();
                self.heard.lock().unwrap().lines.push(format!("{} {}", self.how, answer.trim_end()));
                given = format!("{given} {}", answer.trim_end());
            }
            given
        } else {
            words[2].to_owned()
        };
        let right = ["AGZvcm1zQGV4YW1wbGUuY29tAHBhc3Mgd29yZCA0NzEx", " Zm9ybXNAZXhhbXBsZS5jb20= cGFzcyB3b3JkIDQ3MTE="];
        match self.setup.does {
            Does::EchoLogin => self.say(&format!("535 5.7.8 no: {given} that is pass word 4711")),
            _ if right.contains(&given.as_str()) => self.say("235 2.7.0 welcome"),
            _ => self.say("535 5.7.8 authentication failed"),
        }
    }

    fn take_mail(&mut self) -> io::Result<()> {
        let does = self.setup.does;
        self.say("354 go")?;
        let mut mail = String::new();
        loop {
            let line = self.line()?.ok_or(io::ErrorKind::UnexpectedEof)?;
            if line == ".\r\n" {
                break;
            }
            mail.push_str(line.strip_prefix('.').unwrap_or(&line));
            if does == Does::DropMidData && mail.len() > 200 {
                return self.hang_up();
            }
        }
        if !matches!(does, Does::Final451 | Does::Final550) {
            self.heard.lock().unwrap().mails.push(mail);
        }
        match does {
            Does::HangFinal => self.hang(),
            Does::DropAfterData => self.hang_up(),
            Does::Final451 => self.say("451 4.3.0 try later"),
            Does::Final550 => self.say("550 5.7.1 spam"),
            _ => self.say("250 2.0.0 queued as ABC123"),
        }
    }

    fn begin_tls(&mut self) -> io::Result<()> {
        let session = ServerConnection::new(tls_config(self.setup.certificate)).unwrap();
        let mut stream = StreamOwned::new(session, self.tcp.try_clone()?);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        (self.stream, self.how) = (Box::new(stream), "tls");
        Ok(())
    }

    /// Silence, until the client leaves or gives up.
    fn hang(&mut self) -> io::Result<()> {
        self.stream.read_to_end(&mut Vec::new()).map(|_| ())
    }

    fn hang_up(&mut self) -> io::Result<()> {
        self.tcp.shutdown(Shutdown::Both)?;
        Err(io::ErrorKind::ConnectionAborted.into())
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        let bytes = format!("{text}\r\n").into_bytes();
        if self.setup.does != Does::Slow {
            return self.raw(&bytes);
        }
        for byte in bytes {
            self.raw(&[byte])?;
            thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }

    fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)?;
        self.stream.flush()
    }

    /// Reads a line byte by byte, so that nothing of a handshake is swallowed.
    fn line(&mut self) -> io::Result<Option<String>> {
        let (mut line, mut byte) = (Vec::new(), [0]);
        while !line.ends_with(b"\n") {
            if self.stream.read(&mut byte)? == 0 {
                return Ok(None);
            }
            line.push(byte[0]);
        }
        Ok(Some(String::from_utf8_lossy(&line).into_owned()))
    }
}

fn tls_config(certificate: Certificate) -> Arc<ServerConfig> {
    let chain: &[u8] = match certificate {
        Certificate::Good => include_bytes!("../data/tls/mail-server.cert.der"),
        Certificate::WrongName => include_bytes!("../data/tls/mail-wrong-name.cert.der"),
        Certificate::Expired => include_bytes!("../data/tls/mail-expired.cert.der"),
        Certificate::SelfSigned => include_bytes!("../data/tls/mail-self-signed.cert.der"),
        Certificate::SelfSignedAuthority => include_bytes!("../data/tls/mail-self-signed-authority.cert.der"),
    };
    let key = PrivatePkcs8KeyDer::from(include_bytes!("../data/tls/mail-server.key.der").as_slice());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(chain)], PrivateKeyDer::Pkcs8(key))
        .unwrap();
    Arc::new(config)
}
