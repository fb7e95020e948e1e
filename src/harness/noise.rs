//! The readers of what visitors send, one call each, for those who feed them with noise (`fuzz/`).

use std::io::Cursor;

pub use crate::http::probe::{Reader, content_type};

use crate::domain::charset::Charset;
use crate::domain::disposition::{self, Disposition};
use crate::domain::filekind::{Sniffer, resolve};
use crate::domain::filename;

/// The outcome of a `Content-Disposition` header, the display name included.
pub fn disposition(header: &[u8]) -> String {
    let read = disposition::parse(header);
    let shown = match &read {
        Ok(Disposition::File { filename, .. }) => filename::clean(&filename.lossy(Charset::UTF_8)),
        Ok(Disposition::Field { .. }) | Err(_) => String::new(),
    };
    format!("{read:?} {shown}")
}

/// The text of bytes in the charset of a label.
pub fn charset(label: &str, bytes: &[u8]) -> Option<String> {
    Charset::parse(label).ok()?.decode(bytes).ok()
}

/// What a file is whose name ends so and whose bytes arrive in these pieces.
pub fn file_kind(extension: &str, pieces: &[&[u8]]) -> String {
    let mut sniffer = Sniffer::default();
    for piece in pieces {
        sniffer.push(piece);
    }
    let whole = pieces.concat();
    let size = whole.len() as u64;
    match sniffer.finish(&mut Cursor::new(whole), size) {
        Ok(kind) => format!("{kind:?} {:?}", resolve(kind, extension)),
        Err(error) => format!("{:?}", error.kind()),
    }
}
