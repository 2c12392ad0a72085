//! PDF files that exist already (ISO 32000-1): put together, taken apart, made flat, and what they say of themselves.
//!
//! A new file is made by copying what its pages reach, so that nothing of pages that were left out stays in it. All
//! work is in memory and bounded by [`Limits`]; the same input gives the same bytes.

mod annotation;
mod catalog;
mod copy;
mod error;
mod field;
mod flatten;
mod merge;
mod metadata;
mod open;
mod operations;
mod pages;
mod structure;
mod xmp;

pub use self::{
    error::Error,
    flatten::flatten,
    merge::merge,
    metadata::{Metadata, read_metadata, write_metadata},
    open::Limits,
    operations::{Conditions, Description, FileError, NamedFile, Operations, describe},
    pages::{Split, page_count, split},
};
