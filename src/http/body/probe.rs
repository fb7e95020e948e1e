//! The readers of bodies for whoever feeds them with noise: bytes in, a text that says all of the outcome.
//!
//! Only the test harness uses it; the binaries do not hold it.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::StreamBody;
use hyper::body::Frame;
use tokio::runtime::{Builder, Runtime};

use super::{BodyError, ContentType, Context, Received, Replayed, read};
use crate::clock::Clock;
use crate::domain::bounds::{Bounds, MIB};
use crate::domain::fingerprint;
use crate::store::{PartFile, Store};

/// A data directory and the readers in front of it.
#[derive(Debug)]
pub struct Reader {
    /// Holds the directory.
    store: Store,
    /// What readers need.
    context: Context,
    /// Where they run.
    runtime: Runtime,
}

impl Reader {
    /// Readers that write their `.part` files below `folder`; the error is a sentence.
    pub fn new(folder: &Path) -> Result<Self, String> {
        let clock = Clock::system();
        let store = Store::open_daemon(folder, clock.now(), clock.random()).map_err(|error| error.to_string())?;
        let runtime = Builder::new_current_thread().enable_time().build().map_err(|error| error.to_string())?;
        let directory = store.directory().clone();
        let context = Context { bounds: Arc::new(Bounds::default()), limit: 11 * MIB, directory, clock };
        Ok(Self { store, context, runtime })
    }

    /// What a body that arrives in these pieces is read into, its content hash included; or the kind of its refusal.
    pub fn read(&self, content_type: &[u8], pieces: &[&[u8]]) -> String {
        match self.received(content_type, pieces) {
            Err(refusal) => refusal,
            Ok(Received { draft, parts, key, size }) => {
                let files: Vec<_> = parts.iter().map(PartFile::sha256).collect();
                let hash = fingerprint::content(self.store.key(), &draft);
                format!("{draft:?} {files:?} {key:?} {size} {hash:?}")
            }
        }
    }

    /// The content hash of a body, where it was read.
    pub fn hash(&self, content_type: &[u8], body: &[u8]) -> Option<[u8; 32]> {
        let received = self.received(content_type, &[body]).ok()?;
        Some(fingerprint::content(self.store.key(), &received.draft).0)
    }

    /// Looks for the key in the beginning of a body, as over the rate limit, and then reads all of it.
    pub fn read_ahead(&self, content_type: &[u8], pieces: &[&[u8]]) -> String {
        let Ok(content_type) = ContentType::parse(content_type) else { return "the type".to_owned() };
        let reading = async {
            let ahead = Replayed::read(body(pieces), &self.context).await.map_err(|error| kind(&error).to_owned())?;
            let key = ahead.early_key(&content_type, &self.context);
            let received = read(&content_type, ahead, &self.context).await.map_err(|error| kind(&error).to_owned())?;
            Ok::<_, String>(format!("{key:?} {:?}", received.key))
        };
        self.runtime.block_on(reading).unwrap_or_else(|refusal| refusal)
    }

    /// Reads a body.
    fn received(&self, content_type: &[u8], pieces: &[&[u8]]) -> Result<Received, String> {
        let content_type = ContentType::parse(content_type).map_err(|error| format!("{error:?}"))?;
        let reading = async { read(&content_type, body(pieces), &self.context).await };
        self.runtime.block_on(reading).map_err(|error| kind(&error).to_owned())
    }
}

/// The outcome of a `Content-Type` header.
pub fn content_type(header: &[u8]) -> String {
    format!("{:?}", ContentType::parse(header))
}

/// A body of these pieces.
fn body(pieces: &[&[u8]]) -> impl hyper::body::Body<Data = Bytes, Error = Infallible> + Send + Unpin + use<> {
    let frames: Vec<_> = pieces.iter().map(|piece| Ok(Frame::data(Bytes::copy_from_slice(piece)))).collect();
    StreamBody::new(futures_util::stream::iter(frames))
}

/// The kind of a refusal, which is what decides its status.
fn kind(error: &BodyError) -> &'static str {
    match error {
        BodyError::Malformed(_) => "malformed",
        BodyError::BadKey => "bad key",
        BodyError::TooLarge => "too large",
        BodyError::TooMuch(_) => "too much",
        BodyError::Unsupported(_) => "unsupported",
        BodyError::TooSlow => "too slow",
        BodyError::Gone => "gone",
        BodyError::Unavailable(_) => "unavailable",
    }
}
