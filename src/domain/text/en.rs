//! STUB

use super::Texts;

/// The texts.
pub(super) const TEXTS: Texts = Texts { thanks_title: "" };
