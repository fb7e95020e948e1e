//! Ten thousand hostile values in every place that a visitor's or a page's text can reach: what they may change is
//! their own place and nothing else. The values are the same in every run; the seed is printed.

use std::ops::Range;

use mail_parser::{Message, MessageParser, MimeHeaders};

use super::super::super::attempt::attempt;
use super::*;
use crate::clock::Clock;
use crate::domain::filename;
use crate::domain::submission::{Contents, KeptField};
use crate::outbound::Outbound;

/// How many values.
const VALUES: usize = 10_000;
/// What they are made from.
const SEED: u64 = 0x666f_726d_6400_0003;

/// What has broken some mail program once.
const PIECES: &[&str] = &[
    "\r\n",
    "\n",
    "\r",
    "\0",
    "\t",
    "\u{b}",
    "\u{c}",
    "\u{1c}",
    "\u{1e}",
    "\u{7f}",
    "\u{85}",
    "\u{9b}",
    "\u{2028}",
    "\u{2029}",
    "\u{1b}[31m",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{feff}",
    "\u{ad}",
    "\u{e0041}",
    "\u{a0}",
    " ",
    "  ",
    ".",
    "..",
    "\r\n.\r\n",
    "\n.\n",
    "\r\n..\r\n",
    "\r\n.\r\nQUIT\r\n",
    "\r\nRSET\r\nMAIL FROM:<x@evil.example>\r\n",
    "\r\nBcc: victim@evil.example",
    "Bcc: victim@evil.example\r\n\r\n",
    "\nReceipt 0000000000000, page x",
    "\nConsent: given",
    "\nL1: forged",
    "\r\n L1: forged",
    "-oQ/tmp",
    "-X/var/www/x.php",
    "-be ${run{id}}",
    "\"",
    "\\",
    "\\\"",
    "'",
    "`",
    "<",
    ">",
    ",",
    ";",
    ":",
    "@",
    "(",
    ")",
    "[",
    "]",
    "=",
    "=\r\n",
    "=0D=0A",
    "=2E",
    "%0d%0a",
    "&#10;",
    "\\r\\n",
    "--",
    "\r\n--=_formd_0cpew90by0007-d1--\r\n",
    "\r\nContent-Type: text/html\r\n\r\n<script>",
    "=?utf-8?Q?=0D=0ABcc:_v@evil.example?=",
    "=?utf-8?B?DQpCY2M6IHZAZXZpbC5leGFtcGxl?=",
    "=?",
    "?=",
    "{{value}}",
    "{{@receipt}}",
    "{{",
    "}}",
    "${jndi:x}",
    "👩\u{200d}💻",
    "🏳\u{fe0f}\u{200d}🌈",
    "e\u{301}",
    "ж",
    "漢字",
    "שלום",
    "\u{fffd}",
    "\\ud800",
    "\\udfff",
    "\u{d7ff}",
    "\u{e000}",
    "\u{10ffff}",
    "ED\u{a0}\u{80}",
    "anna@home.example",
    "a@b.example, c@d.example",
    "Anna <a@b.example>",
    "\"a b\"@c.example",
    "@",
    "From ",
    "../../etc/passwd",
    "C:\\con",
    ".exe",
    "x.pdf",
];

/// Line lengths around what a mail may have, of letters of one to four bytes.
const LENGTHS: [usize; 8] = [76, 78, 254, 255, 997, 998, 999, 3000];
/// Those letters.
const LETTERS: [char; 4] = ['x', 'é', '漢', '💻'];

/// A sequence that looks random and is the same in every run (`SplitMix64`).
struct Dice(u64);

impl Dice {
    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }

    /// Some piece, sometimes any character at all, rarely something long without a break.
    fn piece(&mut self) -> String {
        match self.below(40) {
            0 => LETTERS[self.below(4)].to_string().repeat(LENGTHS[self.below(8)]),
            1..8 => char::from_u32(u32::try_from(self.below(0x11_0000)).unwrap()).unwrap_or('\u{fffd}').to_string(),
            _ => PIECES[self.below(PIECES.len())].to_owned(),
        }
    }

    /// A value of up to eight pieces.
    fn value(&mut self) -> String {
        (0..=self.below(8)).map(|_| self.piece()).collect()
    }
}

/// All values: each piece by itself, each length of each letter, then mixtures.
fn values() -> Vec<String> {
    println!("{VALUES} hostile values of seed {SEED:#x}");
    let mut dice = Dice(SEED);
    let lengths = LENGTHS.iter().flat_map(|n| LETTERS.iter().map(|letter| letter.to_string().repeat(*n)));
    let plain = PIECES.iter().map(ToString::to_string).chain(lengths);
    plain.chain(std::iter::repeat_with(|| dice.value())).take(VALUES).collect()
}

/// The sample submission with `value` wherever a text of somebody else's can stand: values, labels, options, the
/// address for answers, the page, the title, a file's name.
fn claim_of(value: &str, subject: Option<&str>, text: Option<&str>) -> Claim {
    let field = |name: &str, label: String, role, value| KeptField { name: name.into(), label, role, value };
    let list = vec![value.to_owned(), "red".to_owned(), value.to_owned()];
    let fields = vec![
        field("value", "L0".into(), Role::Plain, Value::Text(value.into())),
        field("label", format!("L1{value}"), Role::Plain, Value::Text("v".into())),
        field("list", "L2".into(), Role::Plain, Value::List(list)),
        field("email", "L3".into(), Role::Email, Value::Text(value.into())),
    ];
    let mut claim = claim_with(|target| {
        target.title = Some(value.to_owned());
        (target.subject, target.text) = (subject.map(str::to_owned), text.map(str::to_owned));
    });
    claim.contents = Contents { fields, ..Contents::default() };
    claim.page = Some(value.to_owned());
    claim.attachments[0].name = name_of(value);
    claim
}

/// What intake keeps of a file's name.
fn name_of(value: &str) -> String {
    Some(filename::clean(value)).filter(|name| !name.is_empty()).unwrap_or_else(|| "file.pdf".to_owned())
}

/// The header names of a message, read off the text alone.
fn header_names(wire: &str) -> Vec<&str> {
    let (head, _) = wire.split_once("\r\n\r\n").unwrap();
    let begins = head.split("\r\n").filter(|line| !line.starts_with([' ', '\t']));
    begins.map(|line| line.split_once(':').unwrap_or_else(|| panic!("{line:?}")).0).collect()
}

/// The headers of each mail without files, in order.
const HEADERS: [&str; 9] = [
    "From",
    "To",
    "Subject",
    "Date",
    "Message-ID",
    "Auto-Submitted",
    "MIME-Version",
    "Content-Type",
    "Content-Transfer-Encoding",
];

/// What holds for every mail, whatever is in it; `headers` are those without `Reply-To`.
fn check_frame<'m>(bytes: &'m [u8], claim: &Claim, value: &str, headers: &[&str]) -> Message<'m> {
    assert!(bytes.is_ascii(), "{value:?}");
    let wire = std::str::from_utf8(bytes).unwrap();
    let pairs = wire.matches("\r\n").count();
    assert_eq!((wire.matches('\r').count(), wire.matches('\n').count()), (pairs, pairs), "{value:?}");
    assert!(wire.split("\r\n").all(|line| line.len() <= 998), "{value:?}");
    assert!(!wire.bytes().any(|b| b.is_ascii_control() && !b"\r\n\t".contains(&b)), "{value:?}");
    let names = header_names(wire);
    let plain: Vec<&str> = names.iter().copied().filter(|name| *name != "Reply-To").collect();
    assert_eq!(plain, headers, "{value:?}");
    let parsed = MessageParser::default().parse(bytes).unwrap();
    assert_eq!(parsed.headers().iter().map(|header| header.name.as_str()).collect::<Vec<_>>(), names, "{value:?}");
    assert_eq!(parsed.from().unwrap().first().unwrap().address(), Some("forms@acme.example"));
    assert_eq!(parsed.to().unwrap().first().unwrap().address(), Some("sales@acme.example"));
    check_subject(&parsed, claim);
    check_reply_to(&parsed, value);
    parsed
}

/// An answer goes to the one address that the value is, or nowhere.
fn check_reply_to(parsed: &Message<'_>, value: &str) {
    let text = value.trim();
    let Some(Parsed::List(list)) = parsed.reply_to() else {
        assert!(parsed.reply_to().is_none() && text != "anna@home.example", "{value:?}");
        return;
    };
    assert!(email::is_valid(text) && list.len() == 1 && list[0].name.is_none(), "{value:?}");
    let (local, domain) = list[0].address.as_deref().unwrap().split_once('@').unwrap();
    let (sent, host) = text.split_once('@').unwrap();
    let host = email::ascii_domain(host).unwrap();
    assert!(local == sent && domain.eq_ignore_ascii_case(&host), "{value:?}");
}

/// A reader sees the subject that was composed, one line without anything hidden in it.
fn check_subject(parsed: &Message<'_>, claim: &Claim) {
    let Target::Email(target) = &claim.target else { unreachable!() };
    let subject = mail_text::subject(target, claim).unwrap();
    assert!(
        !subject.contains(|c: char| c.is_control() || "\u{2028}\u{2029}\u{202e}\u{2066}".contains(c)),
        "{subject:?}"
    );
    assert_eq!(parsed.subject().unwrap_or_default(), subject);
}

/// The standard text has its lines and no other: four fields, a file, the receipt.
fn check_lines(parsed: &Message<'_>, value: &str) {
    let text = parsed.body_text(0).unwrap().replace("\r\n", "\n");
    let breaks = |c: char| "\n\r\u{b}\u{c}\u{1c}\u{1d}\u{1e}\u{85}\u{2028}\u{2029}".contains(c);
    let lines: Vec<&str> = text.split(breaks).filter(|line| !line.starts_with("  ") && !line.is_empty()).collect();
    let begins = ["L0: ", "L1", "L2: ", "L3: ", "Attachment: ", "Receipt 0cpew90by0007, page "];
    assert_eq!(lines.len(), begins.len(), "{value:?}: {text:?}");
    assert!(lines.iter().zip(begins).all(|(line, begin)| line.starts_with(begin)), "{value:?}: {text:?}");
    assert!(!text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{value:?}");
}

/// A mail of each value: in turn the standard one, one of the operator's templates, one with its file.
fn check(values: &[String]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    std::fs::write(&path, b"%PDF-1.7 plan").unwrap();
    for (n, value) in values.iter().enumerate() {
        match n % 3 {
            0 => {
                let claim = claim_of(value, None, None);
                check_lines(&check_frame(&composed(&claim), &claim, value, &HEADERS), value);
            }
            1 => {
                let claim = claim_of(value, Some("{{value}} {{@page}} {{list}}"), Some("{{value}}\n{{label}}{{list}}"));
                check_frame(&composed(&claim), &claim, value, &HEADERS);
            }
            _ => check_file(value, &path),
        }
    }
}

/// The mail with its file: three parts, three headers, the name and the bytes that were stored.
fn check_file(value: &str, path: &std::path::Path) {
    let mut claim = claim_of(value, None, None);
    let Target::Email(target) = &mut claim.target else { unreachable!() };
    target.attach_files = true;
    claim.attachments[0].path = path.to_owned();
    let bytes = composed(&claim);
    let parsed = check_frame(&bytes, &claim, value, &HEADERS[..8]);
    check_lines(&parsed, value);
    assert_eq!((parsed.parts.len(), parsed.attachment_count()), (3, 1), "{value:?}");
    let part = parsed.attachment(0).unwrap();
    assert_eq!((part.headers().len(), part.contents()), (3, b"%PDF-1.7 plan".as_slice()), "{value:?}");
    let shown = mail_text::header_line(&name_of(value));
    assert_eq!(part.attachment_name(), Some(shown.as_str()), "{value:?}");
}

#[test]
fn ten_thousand_hostile_values_make_no_header_forge_no_line_and_end_no_part() {
    let values = values();
    std::thread::scope(|scope| {
        values.chunks(VALUES / 4).for_each(|some| drop(scope.spawn(|| check(some))));
    });
}

/// What goes over the wire: each piece by itself, each length, and mixtures.
const SAMPLE: Range<usize> = 0..400;

#[test]
fn a_server_hears_five_commands_and_one_message_whatever_is_in_it() {
    let script = [
        ("", "220 mx ESMTP\r\n"),
        ("EHLO", "250-mx\r\n250 8BITMIME\r\n"),
        ("MAIL", "250 ok\r\n"),
        ("RCPT", "250 ok\r\n"),
        ("DATA", "354 go\r\n"),
        (".", "250 ok\r\n"),
        ("QUIT", "221 bye\r\n"),
    ];
    let peer = sample::Peer::smtp(&script);
    let mail = sample::mail(peer.transport());
    let outbound = Outbound::new(LIMIT);
    let values = values();
    let mut dots = 0;
    for value in &values[SAMPLE] {
        // The operator's own layout: the value's lines stand at the left edge.
        let claim = claim_of(value, Some("{{value}}"), Some("{{value}}\r\n{{list}}\r\n.\r\n{{value}}"));
        let ended = attempt(&claim, Some(&mail), &outbound, &Clock::system(), |_, _| panic!("no file"));
        assert_eq!(ended, Ended::new(Verdict::Accepted, "250 ok"), "{value:?}");
        let heard = peer.heard.recv_timeout(LIMIT).unwrap();
        let (commands, rest) = heard.split_once("DATA\r\n").unwrap();
        let commands: Vec<&str> = commands.split_terminator("\r\n").collect();
        assert!(commands.len() == 3 && commands[0].starts_with("EHLO "), "{value:?}: {commands:?}");
        assert_eq!(commands[1..], ["MAIL FROM:<forms@acme.example>", "RCPT TO:<sales@acme.example>"]);
        let (message, after) = rest.split_once("\r\n.\r\n").unwrap();
        assert_eq!(after, "QUIT\r\n", "{value:?}");
        let lines: Vec<&str> = message.split("\r\n").map(|line| line.strip_prefix('.').unwrap_or(line)).collect();
        let composed = String::from_utf8(composed(&claim)).unwrap();
        // Empty lines at the end are nobody's.
        assert_eq!(lines.join("\r\n").trim_end(), composed.trim_end(), "{value:?}");
        dots += message.matches("\r\n..").count();
    }
    assert!(dots > 100, "lines that begin with a dot were sent: {dots}");
}
