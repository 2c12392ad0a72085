//! Processes existing PDF files (ISO 32000-1): merge, split, flatten, rotate, stamp, bookmarks,
//! attached files, metadata, encryption, PDF/A, and where signatures stand. Section numbers in comments refer to that standard.
//!
//! A new file is created by copying everything that its pages refer to, so that nothing of omitted
//! pages remains in it. All work happens in memory and is bounded by [`Limits`]; the same input
//! gives the same bytes.

mod annotation;
mod archive;
mod attachment;
mod bookmark;
mod catalog;
mod copy;
mod drawn;
mod error;
mod field;
mod flatten;
mod info;
mod merge;
mod metadata;
mod open;
mod operations;
mod overlay;
mod page_form;
mod pages;
mod protect;
mod rotate;
mod signature;
mod stamp;
mod structure;
mod xmp;

pub use self::{
    archive::{Archive, Part, srgb_profile},
    attachment::{Attachment, RELATIONSHIPS, read_attachments},
    bookmark::{Bookmark, read_bookmarks},
    error::Error,
    flatten::flatten,
    info::{Info, read_info},
    merge::merge,
    metadata::{Metadata, read_metadata, write_metadata},
    open::Limits,
    operations::{
        Attached, Bookmarks, Conditions, Description, FileError, NamedFile, Operations, describe,
        tell_apart,
    },
    page_form::{FormObject, PageForm, page_form},
    pages::{Split, page_count, split},
    protect::{Allowed, Printing, Protection, unprotect},
    rotate::Rotation,
    signature::{
        Appearance, Certification, Change, Evidence, NewSignature, Prepared, Signature,
        SignaturePlace, add_evidence, changes_since, prepare_signature, read_evidence,
        read_signatures,
    },
    stamp::{Place, Stamp, Turn},
    xmp::{Extension, extension_schemas},
};
