//! Bodies that want memory, time or disk. That no file lies in memory, `tests/memory.rs` shows with a process of its own.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context as Task, Poll};
use std::time::{Duration, Instant};

use super::*;

/// A body that repeats a piece after a beginning, counts what it gave, and then hangs or ends.
struct Endless {
    beginning: Bytes,
    piece: Bytes,
    left: u64,
    given: Arc<AtomicU64>,
    /// What comes after the last piece.
    end: End,
}

/// How a body ends.
#[derive(Clone, Copy)]
enum End {
    Regular,
    Silence,
}

impl Endless {
    fn new(beginning: &str, piece: &str, bytes: u64, end: End) -> (Self, Arc<AtomicU64>) {
        let given = Arc::new(AtomicU64::new(0));
        let (beginning, piece) = (Bytes::from(beginning.to_owned()), Bytes::from(piece.to_owned()));
        (Self { beginning, left: bytes / piece.len() as u64, piece, given: given.clone(), end }, given)
    }
}

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Task<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = match std::mem::take(&mut self.beginning) {
            empty if empty.is_empty() => {
                if self.left == 0 {
                    return match self.end {
                        End::Regular => Poll::Ready(None),
                        End::Silence => Poll::Pending,
                    };
                }
                self.left -= 1;
                self.piece.clone()
            }
            beginning => beginning,
        };
        self.given.fetch_add(piece.len() as u64, Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}

/// The start of a file part.
const FILE: &str = "--X\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.pdf\"\r\n\r\n";

#[test]
fn a_header_a_preamble_or_parts_without_end_are_refused_after_a_few_kilobytes() {
    let world = World::new();
    let line = "y".repeat(16 * 1024);
    for (name, beginning, piece, most) in [
        ("a header that never ends", "--X\r\nContent-Disposition: form-data; a=\"", line.as_str(), 64 * KIB),
        ("the same in single bytes", "--X\r\nContent-Disposition: form-data; a=\"", "y", 64 * KIB),
        ("a preamble that never ends", "", line.as_str(), 64 * KIB),
        ("200,000 empty parts", "", "--X\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n", 64 * KIB),
        (
            "200,000 empty inputs",
            "",
            "--X\r\nContent-Disposition: form-data; name=a; filename=\"\"\r\n\r\n\r\n",
            64 * KIB,
        ),
        ("a delimiter with endless padding", "--X", "                ", 64 * KIB),
    ] {
        let (body, given) = Endless::new(beginning, piece, 10 * MIB, End::Regular);
        let start = Instant::now();
        let refused = runtime().block_on(read(&multipart(), body, &world.context));
        assert!(matches!(refused, Err(BodyError::Malformed(_) | BodyError::TooMuch(_))), "{name}: {refused:?}");
        let given = given.load(Ordering::Relaxed);
        assert!(given <= most, "{name}: {given} bytes were read");
        assert!(start.elapsed() < Duration::from_secs(5), "{name}: {:?}", start.elapsed());
    }
}

#[test]
fn a_header_of_64_kilobytes_that_arrives_at_once_is_refused_as_well() {
    let world = World::new();
    let header = format!(
        "--X\r\nContent-Disposition: form-data; name=\"a\"\r\nX-Y: {}\r\n\r\n\r\n--X--\r\n",
        "y".repeat(60_000)
    );
    assert!(matches!(world.read_whole(&multipart(), header), Err(BodyError::Malformed(_))));
}

#[test]
fn a_body_without_its_closing_delimiter_is_malformed_and_leaves_nothing() {
    let world = World::new();
    let whole = form(&[("name=\"f\"; filename=\"a.pdf\"", &vec![b'x'; 100_000])]);
    for cut in [5, 40, 70, 50_000, whole.len() - 8, whole.len() - 4] {
        let refused = world.read_whole(&multipart(), &whole[..cut]);
        assert!(matches!(refused, Err(BodyError::Malformed(_))), "cut at {cut}: {refused:?}");
        assert_eq!(world.parts(), Vec::<String>::new());
    }
}

#[test]
fn a_reading_that_is_dropped_at_any_point_leaves_no_part() {
    let world = World::new();
    for kilobytes in [1, 63, 64, 65, 500, 3000] {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
        let (body, _) = Endless::new(FILE, &"y".repeat(1024), kilobytes * KIB, End::Silence);
        let kind = multipart();
        runtime.block_on(async {
            let reading = read(&kind, body, &world.context);
            let cut = tokio::time::timeout(Duration::from_millis(kilobytes % 7 * 5), reading).await;
            assert!(cut.is_err());
        });
        // Waits for what still runs where blocking is allowed.
        drop(runtime);
        assert_eq!(world.parts(), Vec::<String>::new(), "after {kilobytes} KiB");
    }
}

#[test]
fn a_reading_can_move_between_threads() {
    fn movable<T: Send>(reading: T) -> T {
        reading
    }
    let world = World::new();
    let kind = URLENCODED;
    let (body, _) = Endless::new("a=1", "b", 1, End::Regular);
    let received = runtime().block_on(movable(read(&kind, body, &world.context))).unwrap();
    assert_eq!(entries(&received.draft), ["a=1b"]);
}

#[test]
fn a_body_that_does_not_go_on_is_too_slow() {
    let world = World::new().with(|bounds| bounds.body_time = crate::domain::time::Span::from_millis(60));
    for kind in [multipart(), URLENCODED, ContentType::Json] {
        let (body, _) = Endless::new("", "a", 1, End::Silence);
        assert!(matches!(runtime().block_on(read(&kind, body, &world.context)), Err(BodyError::TooSlow)));
    }
}

#[test]
fn what_follows_the_closing_delimiter_is_read_and_dropped_within_the_limit() {
    let world = World::new();
    let whole = form(&[("name=\"a\"", b"1")]);
    let beginning = String::from_utf8(whole).unwrap();
    let (body, given) = Endless::new(&beginning, &"y".repeat(1000), 200_000, End::Regular);
    let received = runtime().block_on(read(&multipart(), body, &world.context)).unwrap();
    assert_eq!(entries(&received.draft), ["a=1"]);
    assert_eq!(received.size, given.load(Ordering::Relaxed));
    let (body, _) = Endless::new(&beginning, &"y".repeat(1000), 20 * MIB, End::Regular);
    assert!(matches!(runtime().block_on(read(&multipart(), body, &world.context)), Err(BodyError::TooLarge)));
}
