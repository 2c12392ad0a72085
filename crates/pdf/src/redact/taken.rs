//! What was taken out, and why something cannot be.

use std::collections::BTreeSet;

use crate::Error;

/// What was taken out of a page.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Numbers of the marked content that lost something (14.7.4.3).
    pub(super) marked: BTreeSet<i64>,
    /// Whether forms lost something, whose marked content has numbers of its own.
    pub(super) of_forms: bool,
    /// How much was taken out.
    pub(super) count: usize,
}

/// Something cannot be taken out for certain.
pub(super) fn impossible(why: impl Into<String>) -> Error {
    Error::NotRedacted(why.into())
}
