//! `multipart/form-data`: multer finds the parts, behind the gate; what a part is, is decided here.
//!
//! * A part is a file or a field by our own reading of its `Content-Disposition`, never by multer's.
//! * Files go to their `.part` as they arrive. Of a file larger than any may be, and of those beyond the most that
//!   any submission may have, the bytes are only counted: validation refuses them at their field.
//! * A file input without a name and without bytes is no file.
//! * Parts in parts and transfer encodings other than the identities are refused (415), as the HTML standard writes
//!   neither; so is a part that says twice what it is (400).
//! * Nothing is decided before the closing delimiter: a body that was cut is malformed.

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _};
use hyper::body::Body;
use hyper::header::HeaderValue;
use multer::{Field, Multipart};

use super::content_type::charset;
use super::fields::{Fields, SentFile, SentText};
use super::gate::{BodyFault, Gate, GateError, Valve};
use super::upload::Upload;
use super::watch::PADDING;
use super::{BodyError, Context};
use crate::domain::bounds::Bounds;
use crate::domain::charset::{Charset, UnknownCharset};
use crate::domain::control;
use crate::domain::digest::Sha256Sum;
use crate::domain::disposition::{self, Disposition, SentName};
use crate::domain::draft::Shape;
use crate::domain::filekind::{Close, Sniffed};
use crate::domain::ids::SubmitKey;
use crate::store::PartFile;

/// Room for the delimiter before a header.
const DELIMITER: u64 = PADDING + 128;

/// Reads a whole body up to its closing delimiter.
pub(super) async fn read<B>(
    gate: &mut Gate<B>,
    boundary: &str,
    charset: Option<Charset>,
    context: &Context,
) -> Result<(Fields, Vec<PartFile>), BodyError>
where
    B: Body<Data = Bytes> + Send + Unpin,
    B::Error: Into<BodyFault>,
{
    let bounds = &context.bounds;
    let hand = gate.valve();
    gate.watch(boundary, bounds.part_header);
    // A preamble, a delimiter and a header, each as long as it may be; which of them is too long, the watch knows.
    let budget = bounds.part_header.saturating_add(DELIMITER).saturating_mul(2);
    let mut form = Multipart::new(gate, boundary);
    let mut fields = Fields::new(bounds.clone(), charset);
    let (mut files, mut parts) = (Vec::new(), 0);
    loop {
        hand.header(budget);
        let next = hand.feed(|task| form.poll_next_field(task)).await;
        if let Some(fault) = hand.fault(parts + 1) {
            return Err(fault.into());
        }
        let Some(mut field) = next.map_err(failure)? else { break };
        hand.data();
        parts += 1;
        if parts > bounds.parts {
            return Err(BodyError::TooMuch("more parts than allowed"));
        }
        match head(&field)? {
            Head { disposition: Disposition::Field { name }, charset } => {
                let value = value(&mut field, bounds, &hand).await?;
                fields.text(SentText { name, value, shape: Shape::Scalar, charset })?;
            }
            Head { disposition: Disposition::File { name, filename }, .. } => {
                let chosen = if fields.files() < bounds.max_files {
                    file(&mut field, name, filename, context, &hand).await?.map(|(file, part)| (file, Some(part)))
                } else {
                    surplus(&mut field, name, filename, &hand).await?.map(|file| (file, None))
                };
                if let Some((file, part)) = chosen {
                    fields.file(file);
                    files.extend(part);
                }
            }
        }
    }
    Ok((fields, files))
}

/// What the header of a part says.
struct Head {
    /// Field or file, and its name.
    disposition: Disposition,
    /// The charset that it names for its value.
    charset: Option<Charset>,
}

/// Reads the header of a part. multer keeps the last of equal lines and has refused what is no header at all.
fn head(field: &Field<'_>) -> Result<Head, BodyError> {
    let headers = field.headers();
    let bytes = |name: &str| headers.get(name).map(HeaderValue::as_bytes).unwrap_or_default();
    let encoding = bytes("content-transfer-encoding").trim_ascii().to_ascii_lowercase();
    if !matches!(encoding.as_slice(), b"" | b"7bit" | b"8bit" | b"binary") {
        return Err(BodyError::Unsupported("a part with a content transfer encoding"));
    }
    // Other parameters may hold a name in any charset.
    let content_type = String::from_utf8_lossy(bytes("content-type"));
    let (essence, parameters) = content_type.split_once(';').unwrap_or((&content_type, ""));
    if essence.trim().get(..10).is_some_and(|start| start.eq_ignore_ascii_case("multipart/")) {
        return Err(BodyError::Unsupported("a part that holds parts"));
    }
    let disposition = disposition::parse(bytes("content-disposition"))
        .map_err(|_| BodyError::Malformed("a part without a readable `Content-Disposition: form-data` header"))?;
    let charset = match (charset(parameters), &disposition) {
        (Ok(charset), _) => charset,
        // A file is kept as its bytes are.
        (Err(UnknownCharset), Disposition::File { .. }) => None,
        (Err(UnknownCharset), Disposition::Field { .. }) => {
            return Err(BodyError::Unsupported("a part in a charset that no form is sent in"));
        }
    };
    Ok(Head { disposition, charset })
}

/// The bytes of a text field.
async fn value(field: &mut Field<'_>, bounds: &Bounds, hand: &Valve) -> Result<Vec<u8>, BodyError> {
    let mut value = Vec::new();
    while let Some(piece) = chunk(field, hand).await? {
        if (value.len() + piece.len()) as u64 > bounds.value {
            return Err(BodyError::TooMuch("a value is longer than allowed"));
        }
        value.extend_from_slice(&piece);
    }
    Ok(value)
}

/// Receives a file; `None` for an input in which none was chosen.
async fn file(
    field: &mut Field<'_>,
    name: Vec<u8>,
    filename: SentName,
    context: &Context,
    hand: &Valve,
) -> Result<Option<(SentFile, PartFile)>, BodyError> {
    let mut upload = Upload::new(context);
    while let Some(piece) = chunk(field, hand).await? {
        upload.write(&piece).await?;
    }
    let size = upload.size();
    if filename.is_empty() && size == 0 {
        return Ok(None);
    }
    let (part, sniffed) = upload.finish().await?;
    let file = SentFile { field: name, filename, size, sha256: part.sha256(), sniffed };
    Ok(Some((file, part)))
}

/// Counts a file beyond the most that a submission may have.
async fn surplus(
    field: &mut Field<'_>,
    name: Vec<u8>,
    filename: SentName,
    hand: &Valve,
) -> Result<Option<SentFile>, BodyError> {
    let mut size = 0;
    while let Some(piece) = chunk(field, hand).await? {
        size += piece.len() as u64;
    }
    let is_chosen = size > 0 || !filename.is_empty();
    let (sha256, sniffed) = (Sha256Sum::of(b""), Sniffed::Refused(Close::Unknown));
    Ok(is_chosen.then_some(SentFile { field: name, filename, size, sha256, sniffed }))
}

/// The next bytes of a part; `None` at its end.
async fn chunk(field: &mut Field<'_>, hand: &Valve) -> Result<Option<Bytes>, BodyError> {
    hand.feed(|task| field.poll_next_unpin(task)).await.transpose().map_err(failure)
}

/// What an error of multer means: the gate's own, or a body that is not what it says.
fn failure(error: multer::Error) -> BodyError {
    match error {
        multer::Error::StreamReadFailed(cause) => match cause.downcast_ref::<GateError>() {
            Some(&gate) => gate.into(),
            None => BodyError::Gone,
        },
        multer::Error::IncompleteStream | multer::Error::IncompleteFieldData { .. } => {
            BodyError::Malformed("the multipart body has no closing delimiter, or breaks off before it")
        }
        _ => BodyError::Malformed("a part of the multipart body has no readable header"),
    }
}

/// The key of a body of which only the beginning is known: `None` when it does not stand there, whole.
pub(super) fn early_key(boundary: &str, prefix: Bytes, bounds: &Bounds) -> Option<SubmitKey> {
    // Nothing is waited for here: all bytes are there and then the stream ends.
    let stream = futures_util::stream::iter([Ok::<_, GateError>(prefix)]);
    let mut form = Multipart::new(stream, boundary);
    let hand = Valve::new();
    let look = async {
        for _ in 0..bounds.parts {
            let mut field = form.next_field().await.ok()??;
            match head(&field).ok()?.disposition {
                Disposition::Field { name } if name == control::KEY.as_bytes() => {
                    let value = value(&mut field, bounds, &hand).await.ok()?;
                    return SubmitKey::parse(std::str::from_utf8(&value).ok()?).ok()?;
                }
                Disposition::Field { .. } | Disposition::File { .. } => {
                    while chunk(&mut field, &hand).await.ok()?.is_some() {}
                }
            }
        }
        None
    };
    look.now_or_never()?
}
