//! Runs every configuration of `tests/data/configs`: what is valid must load, what is invalid must say exactly what
//! stands in `expected` beside it. How a case is laid out is told in the README there.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::check;
use super::files::Files;
use super::problem::{Problem, Problems};
use super::{Activity, Config, Listen, files_of};
use crate::domain::delivery::Channel;
use crate::domain::target::{Format, Target};

/// Set to write the `expected` files anew; the change is then read in the diff.
const BLESS: &str = "FORMD_BLESS";

/// The hash of what lies on disk, mistakes or not; `None` when `formd.toml` cannot be read.
fn hash_on_disk(file: Option<&Path>) -> Option<String> {
    let files = files_of(file);
    files.daemon.is_some().then(|| check::check(files).config.hash)
}

/// The folder of cases of one sort.
fn corpus(sort: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/configs").join(sort)
}

/// The cases of one sort, by name.
fn cases(sort: &str) -> Vec<PathBuf> {
    let mut cases: Vec<PathBuf> = fs::read_dir(corpus(sort)).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

/// A case in a folder of its own with the modes it asks for: a checkout keeps none.
struct Laid(tempfile::TempDir);

impl Laid {
    /// Copies a case. Every file is 0600 unless `modes` says otherwise; `formd.toml` is empty where there is none.
    fn out(case: &Path) -> Self {
        let laid = Self(tempfile::tempdir().unwrap());
        laid.write("formd.toml", "");
        copy(case, laid.0.path());
        let modes = fs::read_to_string(case.join("modes")).unwrap_or_default();
        for (mode, file) in modes.lines().filter_map(|line| line.split_once(' ')) {
            laid.chmod(file, u32::from_str_radix(mode, 8).unwrap());
        }
        laid
    }

    /// Writes one file, 0600.
    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self.chmod(name, 0o600);
    }

    /// Sets the mode of one file.
    fn chmod(&self, name: &str, mode: u32) {
        fs::set_permissions(self.0.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Its `formd.toml`.
    fn file(&self) -> PathBuf {
        self.0.path().join("formd.toml")
    }

    /// What loading it says, without the folder's name.
    fn said(&self) -> String {
        let folder = format!("{}/", self.0.path().display());
        Config::load(Some(&self.file()))
            .map_or_else(|problems| problems.render(), |config| config.notices.join("\n"))
            .replace(&folder, "")
    }
}

/// Copies the files of a folder and of those in it, 0600.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
            fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
}

#[test]
fn every_mistake_is_told_with_its_place_and_a_remedy() {
    let mut wrong = Vec::new();
    let cases = cases("invalid");
    for case in &cases {
        let laid = Laid::out(case);
        assert!(Config::load(Some(&laid.file())).is_err(), "{} is valid", case.display());
        let said = laid.said() + "\n";
        let expected = case.join("expected");
        if std::env::var_os(BLESS).is_some() {
            fs::write(&expected, &said).unwrap();
        }
        if fs::read_to_string(&expected).unwrap_or_default() != said {
            wrong.push(format!("== {}\n{said}", case.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases.len() >= 45, "the corpus has shrunk to {}", cases.len());
}

#[test]
fn what_is_valid_loads_and_is_described_without_its_secrets() {
    for case in cases("valid") {
        let laid = Laid::out(&case);
        let config = Config::load(Some(&laid.file())).unwrap_or_else(|problems| panic!("{}", problems.render()));
        let said = config.describe().replace(&format!("{}/", laid.0.path().display()), "");
        assert!(!said.contains("s3cret"), "{said}");
        let expected = case.join("expected");
        if std::env::var_os(BLESS).is_some() {
            fs::write(&expected, &said).unwrap();
        }
        assert_eq!(said, fs::read_to_string(&expected).unwrap_or_default(), "{}", case.display());
        assert_eq!(hash_on_disk(Some(&laid.file())), Some(config.hash));
    }
}

#[test]
fn a_form_answers_at_its_address_and_at_its_paths_and_knows_its_destinations() {
    let laid = Laid::out(&corpus("valid").join("acme"));
    let config = Config::load(Some(&laid.file())).unwrap();
    for path in ["/f/acme/quote", "/.netlify/functions/request"] {
        assert_eq!(
            config.form_at(path).map(|(site, form)| format!("{}/{}", site.id, form.id)),
            Some("acme/quote".into())
        );
    }
    for path in ["/f/acme", "/f/acme/none", "/f/none/quote", "/", ""] {
        assert!(config.form_at(path).is_none(), "{path}");
    }
    let (_, form) = config.form_at("/f/acme/quote").unwrap();
    let Target::Email(mail) = &form.destinations[0].target else { panic!("no mail") };
    assert_eq!(mail.title.as_deref(), form.title.as_deref());
    assert_eq!(config.activity("acme", "quote", Channel::Email, "sales"), Activity::Active);
    assert_eq!(config.activity("acme", "quote", Channel::Email, "gone"), Activity::Inactive);
    assert_eq!(config.activity("acme", "gone", Channel::Email, "sales"), Activity::Inactive);
    assert_eq!(config.activity("gone", "quote", Channel::Email, "sales"), Activity::SiteGone);
}

#[test]
fn a_disabled_site_keeps_its_deliveries_waiting_and_a_paused_destination_takes_none() {
    let laid = Laid::out(&corpus("valid").join("minimal"));
    let site = "[[destination]]\nid = \"a\"\nemail = \"a@acme.example\"\npaused = true\n[form.x]\n";
    laid.write("sites/acme.toml", site);
    let config = Config::load(Some(&laid.file())).unwrap();
    assert_eq!(config.activity("acme", "x", Channel::Email, "a"), Activity::Inactive);
    assert_eq!(config.untold_forms(), ["acme/x"]);
    laid.write("sites/acme.toml", &format!("enabled = false\n{site}"));
    let config = Config::load(Some(&laid.file())).unwrap();
    assert_eq!(config.activity("acme", "x", Channel::Email, "a"), Activity::SiteDisabled);
}

#[test]
fn the_notices_name_what_is_valid_but_worth_a_word() {
    let laid = Laid::out(&corpus("valid").join("minimal"));
    assert_eq!(laid.said(), "mail is not set up: e-mail deliveries will fail with `mail not configured`");
    let agreed =
        "consent = \"c\"\nfield = [{ name = \"c\", kind = \"checkbox\" }, { name = \"e\", kind = \"email\" }]\n";
    laid.write("sites/told.toml", &format!("[form.a]\n{agreed}confirmation = {{ to = \"e\" }}\n"));
    let said = laid.said();
    assert!(said.contains("confirmations to visitors of form `told/a` will fail with `mail not configured`"), "{said}");
    assert!(said.contains("nobody is told of submissions to form `told/a`: it has no destination"), "{said}");
    laid.write("formd.toml", "[delivery]\nenabled = false\n[alert]\nemail = \"admin@acme.example\"\n");
    laid.write("sites/quiet.toml", "[form.a]\ndestinations = []\n");
    let said = laid.said();
    assert!(said.contains("the daemon sends nothing"), "{said}");
    assert!(said.contains("the alert of failed deliveries cannot leave"), "{said}");
    assert!(said.contains("nobody is told of submissions to form `quiet/a`: it has no destination"), "{said}");
}

#[test]
fn a_notice_tells_of_a_port_for_the_other_way_of_tls_and_of_an_address_that_will_not_be_called() {
    let laid = Laid::out(&corpus("valid").join("minimal"));
    fs::remove_dir_all(laid.0.path().join("sites")).unwrap();
    let hook = |url: &str, more: &str| {
        format!("[[destination]]\nid = \"crm\"\nwebhook = \"{url}\"\nsecret = \"0123456789abcdef\"\n{more}\n[form.a]\n")
    };
    let says = |server: &str, site: &str| {
        laid.write("formd.toml", &format!("[mail]\nfrom = \"f@acme.example\"\nhost = \"m.example\"\n{server}\n"));
        laid.write("sites/acme.toml", site);
        laid.said()
    };
    let public = hook("https://crm.example/", "");
    for (server, word) in [("port = 465", "tls"), ("tls = \"tls\"\nport = 587", "starttls")] {
        assert!(says(server, &public).contains(&format!("mostly want `tls = \"{word}\"`")), "{server}");
    }
    for server in ["", "port = 2525", "tls = \"tls\"", "port = 25", "tls = \"tls\"\nport = 4650"] {
        assert_eq!(says(server, &public), "", "{server}");
    }
    for url in
        ["https://10.0.0.5/x", "https://localhost/x", "https://127.0.0.1:8443/", "https://[fd00::1]/", "https://[::1]/"]
    {
        assert!(says("", &hook(url, "")).contains("destination `crm` of site `acme` will not be called"), "{url}");
        assert_eq!(says("", &hook(url, "allow_private = true")), "", "{url}");
    }
    assert_eq!(says("", &hook("http://127.0.0.1:9000/x", "")), "");
}

#[test]
fn another_authority_or_password_of_the_mail_server_is_another_configuration() {
    let laid = Laid::out(&corpus("valid").join("mail-tls-with-a-private-authority"));
    let before = hash_on_disk(Some(&laid.file()));
    laid.write("tls/ca.pem", include_str!("../../tests/data/tls/mail-other-ca.pem"));
    let after = hash_on_disk(Some(&laid.file()));
    assert!(before.is_some() && before != after);
    let laid = Laid::out(&corpus("valid").join("mail-starttls-with-a-login"));
    let before = hash_on_disk(Some(&laid.file()));
    laid.write("secrets/smtp", "another-s3cret");
    assert_ne!(before, hash_on_disk(Some(&laid.file())));
}

#[test]
fn a_secret_comes_from_the_credentials_directory_first_and_the_hash_is_the_same_for_all() {
    let laid = Laid::out(&corpus("valid").join("acme"));
    let lent = tempfile::tempdir().unwrap();
    fs::write(lent.path().join("acme-crm"), "another-s3cret-of-systemd\n").unwrap();
    fs::set_permissions(lent.path().join("acme-crm"), fs::Permissions::from_mode(0o400)).unwrap();
    let load = |lent: Option<&Path>| check::check(Files::read(&laid.file(), lent.map(Path::to_path_buf)));
    let secret = |checked: &check::Checked| {
        let (_, form) = checked.config.form_at("/f/acme/quote").unwrap();
        let Target::Webhook(hook) = &form.destinations[1].target else { panic!("no webhook") };
        let Format::Formd(signing) = &hook.format else { panic!("a chat") };
        signing.secret.reveal().to_owned()
    };
    let (own, with) = (load(None), load(Some(lent.path())));
    assert_eq!(secret(&own), "s3cret-of-the-crm-receiver");
    assert_eq!(secret(&with), "another-s3cret-of-systemd");
    fs::remove_file(laid.0.path().join("secrets/acme-crm")).unwrap();
    let (blind, with) = (load(None), load(Some(lent.path())));
    assert!(with.problems.is_empty() && blind.problems.len() == 1);
    assert_eq!(with.config.hash, blind.config.hash);
    assert_ne!(own.config.hash, with.config.hash);
}

#[test]
fn the_hash_changes_with_every_file_and_needs_no_valid_one() {
    let laid = Laid::out(&corpus("valid").join("acme"));
    let hash = || hash_on_disk(Some(&laid.file())).unwrap();
    let mut seen = vec![hash()];
    assert_eq!(hash(), seen[0]);
    for (file, text) in
        [("secrets/acme-crm", "another-s3cret-entirely"), ("sites/b.toml", "x = 1"), ("formd.toml", "[[")]
    {
        laid.write(file, text);
        assert!(!seen.contains(&hash()), "{file}");
        seen.push(hash());
    }
    fs::remove_file(laid.file()).unwrap();
    assert_eq!(hash_on_disk(Some(&laid.file())), None);
}

#[test]
fn a_file_that_cannot_be_read_is_a_mistake_and_the_others_are_read_all_the_same() {
    let laid = Laid::out(&corpus("valid").join("minimal"));
    fs::remove_file(laid.file()).unwrap();
    fs::create_dir(laid.0.path().join("sites/folder.toml")).unwrap();
    laid.write("sites/a b.toml", "");
    laid.write("sites/.hidden.toml", "[[");
    laid.write("sites/old.toml.dpkg-old", "[[");
    fs::write(laid.0.path().join("sites/latin.toml"), b"x = 1\ntitle = \"Gr\xfc\xdfe\"\n").unwrap();
    laid.write("sites/huge.toml", &"#".repeat(1024 * 1024 + 1));
    let Err(Problems(problems)) = Config::load(Some(&laid.file())) else { panic!("valid") };
    let folder = format!("{}/", laid.0.path().display());
    let said: Vec<String> = problems.iter().map(|problem| problem.one_line().replace(&folder, "")).collect();
    assert_eq!(
        said,
        [
            "formd.toml: cannot be read: no such file or directory; name another file with `--config`, or create this one",
            "sites/a b.toml: `a b` is no id for a site; name the file with 1 to 64 letters, digits, `-`, `_` and the \
             ending `.toml`",
            "sites/folder.toml: cannot be read: not a file; let formd read this file, or move it out of `sites/`",
            "sites/huge.toml: cannot be read: it is larger than 1MiB; let formd read this file, or move it out of `sites/`",
            "sites/latin.toml:2:12: this is not UTF-8; save the file in UTF-8",
        ]
    );
}

#[test]
fn relative_folders_start_at_the_file_and_the_defaults_do_not() {
    let laid = Laid::out(&corpus("valid").join("minimal"));
    let config = Config::load(Some(&laid.file())).unwrap();
    assert_eq!(config.daemon.data_dir, Path::new("/var/lib/formd"));
    assert_eq!(config.daemon.limiter_dir, Path::new("/var/lib/formd/limiter"));
    laid.write("formd.toml", "data_dir = \"data\"\nlisten = \"unix:run/formd.sock\"\n");
    let config = Config::load(Some(&laid.file())).unwrap();
    assert_eq!(config.daemon.limiter_dir, laid.0.path().join("data/limiter"));
    assert_eq!(config.daemon.listen, Listen::Unix(laid.0.path().join("run/formd.sock")));
}

#[test]
fn a_file_of_noise_is_told_in_its_first_mistakes_and_the_number_of_the_rest() {
    let laid = Laid::out(&corpus("valid").join("minimal"));
    let noise = [
        ("x = 1\n".to_owned(), 0),
        ("= ".repeat(100_000), 0),
        ("[".repeat(100_000), 0),
        (format!("rate = [{}]", "1 ".repeat(100_000)), 0),
        (format!("origins = [{}]", "1, ".repeat(50_000)), 49_900),
        ((0..5000).fold(String::new(), |all, n| all + &format!("key{n} = {n}\n")), 4900),
        ((0..5000).fold(String::new(), |all, n| all + &format!("[form.x{n}\n")), 4900),
        ("secret".repeat(30_000), 0),
        (format!("{} = 1", "k".repeat(100_000)), 0),
    ];
    for (text, more) in noise {
        laid.write("sites/noise.toml", &text);
        let Err(Problems(problems)) = Config::load(Some(&laid.file())) else { panic!("valid") };
        let last = problems.last().unwrap().one_line();
        assert!(problems.len() <= 101 && last.len() < 1000, "{last}");
        assert!(more == 0 || last.contains(&format!("{more} more mistakes in this file")), "{last}");
    }
}

/// One careless edit of a text.
#[derive(Clone, Debug)]
enum Edit {
    /// Removes bytes.
    Cut(usize, usize),
    /// Puts a text somewhere.
    Put(usize, &'static str),
    /// Puts one part of the text somewhere else.
    Copy(usize, usize, usize),
}

/// What a slip of the hand may put into a text.
const NOISE: &[&str] =
    &["\"", "'", "\"\"\"", "[", "]", "=", "\n", "{", "}", ",", "\u{202e}", "é", "\r", "\t", "\0", "-1", "nan", "[["];

/// Careless edits of any kind.
fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        (any::<usize>(), 0usize..40).prop_map(|(at, count)| Edit::Cut(at, count)),
        (any::<usize>(), proptest::sample::select(NOISE)).prop_map(|(at, text)| Edit::Put(at, text)),
        (any::<usize>(), any::<usize>(), 0usize..40).prop_map(|(from, to, count)| Edit::Copy(from, to, count)),
    ];
    proptest::collection::vec(edit, 1..6)
}

/// The text after the edits, cut at characters.
fn edited(text: &str, edits: &[Edit]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for edit in edits {
        let place = |at: usize| at % (chars.len() + 1);
        let end = |from: usize, count: usize| (from + count).min(chars.len());
        match *edit {
            Edit::Cut(at, count) => drop(chars.drain(place(at)..end(place(at), count))),
            Edit::Put(at, text) => chars.splice(place(at)..place(at), text.chars()).for_each(drop),
            Edit::Copy(from, to, count) => {
                let part: Vec<char> = chars[place(from)..end(place(from), count)].to_vec();
                chars.splice(place(to)..place(to), part).for_each(drop);
            }
        }
    }
    chars.into_iter().collect()
}

#[test]
fn no_slip_of_the_hand_near_a_secret_shows_it() {
    let site = "[[destination]]\nid = 'a'\nwebhook = 'https://a.example/'\nsecret = 'HUNTER-TWO-HUNTER-TWO'\nx = 1\n";
    let cuts = (0..site.len()).flat_map(|at| (1..3).map(move |count| Edit::Cut(at, count)));
    let puts = (0..site.len()).flat_map(|at| NOISE.iter().map(move |text| Edit::Put(at, text)));
    for edit in cuts.chain(puts) {
        let mut files = Files::embedded();
        files.sites[0].1.text = edited(site, std::slice::from_ref(&edit)).into();
        for problem in check::check(files).problems {
            let shown = format!("{}{}", problem.render(), problem.one_line());
            assert!(!shown.contains("HUNTER"), "{edit:?}\n{shown}");
        }
    }
}

/// What every mistake of a file that could be read has: a place, and the same one however it is shown.
fn is_placed(problem: &Problem, text: &str) {
    let (line, column) = (problem.line().unwrap(), problem.column().unwrap());
    assert!(line <= text.matches('\n').count() + 1 && column >= 1, "{}", problem.one_line());
    let shown = problem.render();
    assert!(shown.contains(&format!(":{line}:{column}")), "{} in\n{shown}", problem.one_line());
    assert!(!problem.one_line().contains(char::is_control), "{:?}", problem.one_line());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_edit_of_a_configuration_makes_the_checker_panic_or_lose_the_place(edits in edits(), which in any::<bool>()) {
        let case = corpus("valid").join("everything");
        let mut files = Files::read(&case.join("formd.toml"), None);
        let file = if which { files.daemon.as_mut().unwrap() } else { &mut files.sites[0].1 };
        file.text = edited(&file.text, &edits).into();
        let (name, text) = (file.name.clone(), file.text.clone());
        let checked = check::check(files);
        for problem in checked.problems.iter().filter(|p| p.file() == name && p.line().is_some()) {
            is_placed(problem, &text);
        }
        drop(checked.config.describe());
    }
}
