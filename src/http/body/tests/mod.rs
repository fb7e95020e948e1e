//! What bodies are read into, and what is refused.

mod captures;
mod charsets;
mod hostile;

use std::convert::Infallible;

use futures_util::stream;
use http_body_util::StreamBody;
use hyper::body::Frame;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tempfile::TempDir;

use super::*;
use crate::domain::bounds::{KIB, MIB};
use crate::domain::digest::{InstanceKey, Sha256Sum};
use crate::domain::draft::Shape;
use crate::domain::filekind::{FileKind, Sniffed};
use crate::domain::fingerprint;
use crate::domain::time::Timestamp;
use crate::store::Store;

/// The smallest whole PDF.
const PDF: &[u8] = b"%PDF-1.4\nstartxref\n9\n%%EOF\n";

/// A data directory and a context in it.
pub(super) struct World {
    /// Removed on drop.
    folder: TempDir,
    /// Holds the lock.
    _store: Store,
    /// What the reader needs.
    pub(super) context: Context,
}

impl World {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_daemon(folder.path(), Timestamp::from_millis(0), [7; 32]).unwrap();
        let context = Context {
            bounds: Arc::new(Bounds::default()),
            limit: 11 * MIB,
            directory: store.directory().clone(),
            clock: Clock::system(),
        };
        Self { folder, _store: store, context }
    }

    /// The same with other bounds.
    fn with(mut self, change: impl FnOnce(&mut Bounds)) -> Self {
        change(Arc::make_mut(&mut self.context.bounds));
        self
    }

    /// Names of the `.part` files there are.
    fn parts(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path().join("tmp")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Reads a body that arrives in these pieces.
    fn read(&self, kind: &ContentType, pieces: Vec<Bytes>) -> Result<Received, BodyError> {
        runtime().block_on(read(kind, body(pieces), &self.context))
    }

    /// Reads a body that arrives at once.
    fn read_whole(&self, kind: &ContentType, bytes: impl Into<Vec<u8>>) -> Result<Received, BodyError> {
        self.read(kind, vec![Bytes::from(bytes.into())])
    }
}

pub(super) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

/// A body of these pieces.
fn body(pieces: Vec<Bytes>) -> impl Body<Data = Bytes, Error = Infallible> + Send + Unpin {
    StreamBody::new(stream::iter(pieces.into_iter().map(|piece| Ok(Frame::data(piece)))))
}

/// Urlencoded without a word about its charset.
const URLENCODED: ContentType = ContentType::Urlencoded { charset: None };

fn multipart() -> ContentType {
    ContentType::Multipart { boundary: "X".into(), charset: None }
}

/// A multipart body of these parts, each a header's parameters and bytes.
fn form(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (parameters, bytes) in parts {
        body.extend_from_slice(format!("--X\r\nContent-Disposition: form-data; {parameters}\r\n\r\n").as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--X--\r\n");
    body
}

/// Entries as `name=value`.
fn entries(draft: &Draft) -> Vec<String> {
    draft.entries.iter().map(|entry| format!("{}={}", entry.name, entry.value)).collect()
}

#[test]
fn a_form_with_a_file_is_read_and_its_file_lies_in_a_part() {
    let world = World::new();
    let sent = form(&[
        ("name=\"_key\"", b"k1"),
        ("name=\"name\"", "Ёж\r\nи".as_bytes()),
        ("name=\"file\"; filename=\"C:\\x\\a.pdf\"", PDF),
        ("name=\"none\"; filename=\"\"", b""),
    ]);
    let received = world.read_whole(&multipart(), sent.clone()).unwrap();
    assert_eq!(entries(&received.draft), ["name=Ёж\nи"]);
    assert_eq!(received.key.as_ref().map(SubmitKey::as_str), Some("k1"));
    assert_eq!(received.size, sent.len() as u64);
    let [file] = received.draft.files.as_slice() else { panic!("one file") };
    assert_eq!((file.name.as_str(), file.size, file.sha256), ("a.pdf", PDF.len() as u64, Sha256Sum::of(PDF)));
    assert_eq!(file.sniffed, Sniffed::Known(FileKind::Pdf));
    assert_eq!((received.parts.len(), received.parts[0].size(), world.parts().len()), (1, PDF.len() as u64, 1));
    drop(received);
    assert_eq!(world.parts(), Vec::<String>::new());
}

#[test]
fn an_office_file_is_known_from_its_finished_part() {
    let world = World::new();
    let sent =
        form(&[("name=\"file\"; filename=\"a.xlsx\"", include_bytes!("../../../../tests/data/files/openpyxl.xlsx"))]);
    let received = world.read_whole(&multipart(), sent).unwrap();
    assert_eq!(received.draft.files[0].sniffed, Sniffed::Known(FileKind::Xlsx));
}

#[test]
fn one_content_has_one_hash_however_it_travelled() {
    let world = World::new();
    let sent = [
        world.read_whole(&multipart(), form(&[("name=\"a\"", b"1\r\n2"), ("name=\"b\"", b"x"), ("name=\"b\"", b"y")])),
        world.read_whole(&URLENCODED, "b=x&_key=k&a=1%0D%0a2&b=y&_next=%2F"),
        world.read_whole(&ContentType::Json, r#"{"b": ["x", "y"], "a": "1\n2", "_key": "k"}"#),
    ];
    let key = InstanceKey::new([7; 32]);
    let hashes = sent.map(|received| fingerprint::content(&key, &received.unwrap().draft));
    assert_eq!(hashes[0], hashes[1]);
    assert_eq!(hashes[0], hashes[2]);
}

#[test]
fn urlencoded_is_decoded_strictly() {
    let world = World::new();
    let read = |text: &str| world.read_whole(&URLENCODED, text);
    let received = read("a=1+2%2b&&b&=x&c=%zz%4&d=%D1%91=%26\n&e=%FF").unwrap();
    assert_eq!(entries(&received.draft), ["a=1 2+", "b=", "=x", "c=%zz%4", "d=ё=&\n", "e="]);
    assert_eq!(received.draft.entries[5].shape, Shape::Undecodable);
    assert!(matches!(read("%FF=1"), Err(BodyError::Malformed(_))));
    assert_eq!(entries(&read("").unwrap().draft), Vec::<String>::new());
}

#[test]
fn two_keys_that_differ_are_none() {
    let world = World::new();
    let read = |text: &str| world.read_whole(&URLENCODED, text).map(|received| received.key.is_some());
    assert!(matches!(read("_key=a&_key=a"), Ok(true)));
    assert!(matches!(read("_key=&a=1"), Ok(false)));
    assert!(matches!(read("_key=a&_key=b"), Err(BodyError::BadKey)));
    assert!(matches!(read("_key=a+b"), Err(BodyError::BadKey)));
    assert!(matches!(read("_key=%FF"), Err(BodyError::BadKey)));
}

#[test]
fn more_than_the_bounds_allow_is_refused_as_too_much() {
    let world = World::new();
    let pairs = |count: usize, length: usize| {
        format!("{}&", "a=").repeat(count).replace('=', &format!("={}", "x".repeat(length)))
    };
    let field = |value: &[u8]| form(&[("name=\"a\"", value)]);
    let cases = [
        (URLENCODED, pairs(201, 1).into_bytes()),
        (URLENCODED, pairs(1, 65537).into_bytes()),
        (URLENCODED, pairs(5, 60000).into_bytes()),
        (URLENCODED, "%41".repeat(200_000).into_bytes()),
        (ContentType::Json, format!("{{\"a\": \"{}\"}}", "\\u0041".repeat(200_000)).into_bytes()),
        (multipart(), field(&vec![b'x'; 65537])),
        (multipart(), form(&vec![("name=\"a\"", &b"1"[..]); 201])),
        (multipart(), form(&vec![("name=\"a\"; filename=\"\"", &b""[..]); 221])),
    ];
    for (number, (kind, bytes)) in cases.into_iter().enumerate() {
        assert!(matches!(world.read_whole(&kind, bytes), Err(BodyError::TooMuch(_))), "case {number}");
    }
    assert!(world.read_whole(&URLENCODED, pairs(200, 1)).is_ok());
    assert!(world.read_whole(&multipart(), field(&vec![b'x'; 65536])).is_ok());
}

#[test]
fn a_file_too_large_is_counted_and_not_kept() {
    let world = World::new().with(|bounds| bounds.max_file = 100 * KIB);
    let received =
        world.read_whole(&multipart(), form(&[("name=\"f\"; filename=\"a.pdf\"", &vec![b'x'; 1 << 20])])).unwrap();
    assert_eq!(received.draft.files[0].size, MIB);
    assert!(received.parts[0].size() <= 100 * KIB);
}

#[test]
fn files_beyond_the_most_are_counted_so_that_validation_can_name_the_field() {
    let world = World::new();
    let six = vec![("name=\"f\"; filename=\"a.pdf\"", PDF); 6];
    let received = world.read_whole(&multipart(), form(&six)).unwrap();
    assert_eq!((received.draft.files.len(), received.parts.len(), world.parts().len()), (6, 5, 5));
}

#[test]
fn a_body_over_its_limit_is_refused_when_the_limit_is_reached() {
    let mut world = World::new();
    world.context.limit = 1000;
    for kind in [multipart(), URLENCODED, ContentType::Json] {
        assert!(matches!(world.read_whole(&kind, vec![b'a'; 1001]), Err(BodyError::TooLarge)));
    }
}

#[test]
fn a_body_read_ahead_gives_its_key_and_is_read_again_as_it_was() {
    let world = World::new();
    let tail = vec![b'x'; 200_000];
    let big = form(&[("name=\"_key\"", b"k1"), ("name=\"f\"; filename=\"a.pdf\"", &tail)]);
    let late = form(&[("name=\"f\"; filename=\"a.pdf\"", &tail), ("name=\"_key\"", b"k1")]);
    let urlencoded = |text: &str| (URLENCODED, text.as_bytes().to_vec());
    for ((kind, bytes), key, extent) in [
        ((multipart(), big), Some("k1"), Extent::Beginning),
        ((multipart(), late), None, Extent::Beginning),
        ((multipart(), form(&[("name=\"a\"", b"1"), ("name=\"_key\"", b"k2")])), Some("k2"), Extent::Whole),
        (urlencoded("a=1&_key=k3"), Some("k3"), Extent::Whole),
        (urlencoded("_key=k4&a=1"), Some("k4"), Extent::Whole),
        ((ContentType::Json, b"{\"_key\": \"k5\", \"a\": \"b\"}".to_vec()), Some("k5"), Extent::Whole),
        (urlencoded("a=1"), None, Extent::Whole),
    ] {
        let pieces: Vec<Bytes> = bytes.chunks(7000).map(Bytes::copy_from_slice).collect();
        let (early, found, again) = runtime().block_on(async {
            let ahead = Replayed::read(body(pieces), &world.context).await.unwrap();
            let early = ahead.early_key(&kind, &world.context).map(|key| key.as_str().to_owned());
            (early, ahead.extent(), read(&kind, ahead, &world.context).await.unwrap())
        });
        assert_eq!((early.as_deref(), found), (key, extent));
        assert_eq!(again.draft, world.read_whole(&kind, bytes).unwrap().draft);
    }
}

/// Checks a law over `cases` random inputs in one world: opening a data directory syncs, which is slow.
fn law<S: Strategy>(cases: u32, strategy: S, holds: impl Fn(&World, S::Value) -> Result<(), TestCaseError>) {
    let world = World::new();
    let mut runner = TestRunner::new(ProptestConfig::with_cases(cases));
    runner.run(&strategy, |input| holds(&world, input)).unwrap();
}

/// However the connection cuts a body, the same is read; delimiters and names come in pieces.
#[test]
fn no_chunking_changes_what_is_read() {
    let byte = prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'-'), Just(b'X'), any::<u8>()];
    let file = proptest::collection::vec(byte, 0..300);
    let cuts = proptest::collection::vec(1usize..40, 1..60);
    law(128, ("[a\r\n-]{0,40}", file, cuts), |world, (value, file, cuts)| {
        let holds_delimiter = |bytes: &[u8]| bytes.windows(5).any(|window| window == b"\r\n--X");
        prop_assume!(!holds_delimiter(&file) && !holds_delimiter(value.as_bytes()));
        let parts =
            [("name=\"a\"", value.as_bytes()), ("name=\"f\"; filename=\"a;b.pdf\"", &file), ("name=\"b\"", b"2")];
        let bytes = Bytes::from(form(&parts));
        let mut pieces = Vec::new();
        let mut rest = bytes.clone();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            pieces.push(rest.split_to((*cut).min(rest.len())));
        }
        let whole = world.read(&multipart(), vec![bytes]).unwrap();
        let cut = world.read(&multipart(), pieces).unwrap();
        prop_assert_eq!(&whole.draft, &cut.draft);
        prop_assert_eq!(whole.draft.files[0].sha256, Sha256Sum::of(&file));
        prop_assert_eq!(whole.parts[0].sha256(), Sha256Sum::of(&file));
        Ok(())
    });
}

#[test]
fn no_bytes_make_a_reader_panic() {
    law(128, proptest::collection::vec(any::<u8>(), 0..400), |world, noise| {
        for kind in [multipart(), URLENCODED, ContentType::Json] {
            drop(world.read_whole(&kind, noise.clone()));
            drop(
                world.read_whole(&kind, [b"--X\r\nContent-Disposition: form-data; name=".as_slice(), &noise].concat()),
            );
            drop(ContentType::parse(&noise));
        }
        Ok(())
    });
}
