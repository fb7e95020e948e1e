//! Over the rate limit: an exact repeat is still answered, everything else is 429.
//!
//! A visitor who clicks again because the answer was lost must learn that the message arrived, even when the limit is
//! spent. So that this is no way around the limit, it costs one look at the database, and the body is read on only
//! for a key that is known. Without a header at most 64 KiB are read for the field `_key`.

use hyper::body::Body;
use tokio::task::spawn_blocking;

use super::{Connection, Course, Novelty, Problem, ProblemKind, Signing, Stream, accepted, agree};
use crate::domain::draft::Draft;
use crate::domain::ids::{FormId, SubmitKey};
use crate::domain::time::Span;
use crate::http::answer::{Answer, Format};
use crate::http::body::{ContentType, Extent, Received, Replayed};
use crate::intake;
use crate::pages::Button;
use crate::store::{KnownKey, StoreError};

/// A text that came whole, and its key.
struct Kept {
    /// The text.
    draft: Draft,
    /// Its key.
    key: Option<SubmitKey>,
}

/// A key that was used before.
struct Known {
    /// The key.
    key: SubmitKey,
    /// What became of it, by the forms it was used in.
    receipts: Vec<(FormId, KnownKey)>,
}

impl Course<'_> {
    /// Answers a repeat; anything else is refused until `retry_after`.
    pub(super) async fn repeat(
        &mut self,
        content_type: &ContentType,
        body: Stream,
        header: Option<SubmitKey>,
        retry_after: Span,
    ) -> Result<Answer, Problem> {
        if let Some(key) = header {
            if let Some(known) = self.find_known(key).await? {
                return self.settle(content_type, body, known, retry_after).await;
            }
            self.connection = Connection::Ends;
            return Err(self.too_many(retry_after, None));
        }
        if !matches!(self.signing(), Signing::NotAsked) {
            // Nothing of a body may be read before its signature is verified.
            self.connection = Connection::Ends;
            return Err(self.too_many(retry_after, None));
        }
        let context = self.context();
        let ahead = match Replayed::read(body, &context).await {
            Ok(ahead) => ahead,
            Err(error) => {
                self.connection = Connection::Ends;
                return Err(self.refuse_body(error));
            }
        };
        if let Some(key) = ahead.early_key(content_type, &context)
            && let Some(known) = self.find_known(key).await?
        {
            return self.settle(content_type, ahead, known, retry_after).await;
        }
        let kept = match ahead.extent() {
            Extent::Whole => self.text_of(content_type, ahead).await,
            Extent::Beginning => {
                self.connection = Connection::Ends;
                None
            }
        };
        Err(self.too_many(retry_after, kept))
    }

    /// The receipts that this key has in this form, or in those that share the address.
    async fn find_known(&self, key: SubmitKey) -> Result<Option<Known>, Problem> {
        let (store, site, forms) = (self.inner.store.clone(), self.target.site.clone(), self.target.candidates());
        let find = move || {
            let mut receipts = Vec::new();
            for form in forms {
                let found = intake::find_known(&store, &site, &form, &key)?;
                receipts.extend(found.map(|receipt| (form, receipt)));
            }
            Ok((!receipts.is_empty()).then_some(Known { key, receipts }))
        };
        self.ask_store(find).await
    }

    /// Reads the body of a known key; answers when it repeats exactly what was accepted.
    async fn settle<B>(
        &mut self,
        content_type: &ContentType,
        body: B,
        known: Known,
        retry_after: Span,
    ) -> Result<Answer, Problem>
    where
        B: Body<Data = bytes::Bytes> + Send + Unpin,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let Received { draft, parts, key: field, size: _ } = self.read(content_type, body).await?;
        agree(Some(known.key), field)?;
        self.find_form(&draft)?;
        let its = |(form, _): &(FormId, KnownKey)| self.target.form.as_ref() == Some(form);
        let Some((_, receipt)) = known.receipts.into_iter().find(its) else {
            return Err(self.too_many(retry_after, None));
        };
        let next = self.next(&draft);
        let store = self.inner.store.clone();
        let find = move || {
            let found = intake::find_repeat(&store, receipt, &draft);
            // Removing the `.part` files touches the disk, so it belongs on this thread.
            drop(parts);
            Ok(found)
        };
        match self.ask_store(find).await? {
            Some(receipt) => Ok(accepted(receipt, Novelty::Replayed, next)),
            None => Err(self.too_many(retry_after, None)),
        }
    }

    /// Asks the store on a thread that may block.
    async fn ask_store<T, F>(&self, question: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, StoreError> + Send + 'static,
    {
        match spawn_blocking(question).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                tracing::error!(%error, "a key could not be looked up");
                Err(self.refuse_whole(ProblemKind::Unavailable))
            }
            Err(_) => Err(self.refuse_whole(ProblemKind::Unavailable)),
        }
    }

    /// The visitor's text, where a browser sent it whole and urlencoded.
    async fn text_of(&mut self, content_type: &ContentType, whole: Replayed<Stream>) -> Option<Kept> {
        if !matches!(content_type, ContentType::Urlencoded { .. }) || self.visit.ask.format == Format::Json {
            return None;
        }
        let Received { draft, key, .. } = self.read(content_type, whole).await.ok()?;
        // A text that names no form cannot be shown in one.
        self.find_form(&draft).ok()?;
        Some(Kept { draft, key })
    }

    /// 429, with the text where it is there.
    fn too_many(&self, retry_after: Span, kept: Option<Kept>) -> Problem {
        let texts = &self.visit.ask.texts;
        let problem = Problem::new(ProblemKind::RateLimited)
            .retry_after(retry_after)
            .say(texts.again_in(u64::try_from(retry_after.as_secs_ceil()).unwrap_or_default()));
        match kept.and_then(|kept| self.form_again(kept.draft, kept.key, Button::Send)) {
            Some(again) => Problem { again: Some(again), ..problem },
            None if self.visit.ask.format == Format::Page => problem.say(texts.go_back().to_owned()),
            None => problem,
        }
    }
}
