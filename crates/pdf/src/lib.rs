//! Processes existing PDF files (ISO 32000-1): merge, split, flatten, rotate, stamp, redact, bookmarks,
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
mod compose;
mod copy;
mod describe;
mod drawn;
mod encrypt;
mod error;
mod field;
mod fill;
mod flate;
mod flatten;
mod imported_page;
mod info;
mod joined;
mod large;
mod merge;
mod metadata;
mod numbered;
mod open;
mod operations;
mod optimize;
mod overlay;
mod page_form;
mod pages;
mod picture;
mod pictures;
mod protect;
mod redact;
mod repair;
mod rotate;
mod selection;
mod signature;
mod stamp;
mod stamp_text;
mod structure;
mod table;
mod text;
mod unmarked;
mod words;
mod write;
mod xmp;

pub use self::{
    archive::{Archive, Part, Validation, make_accessible, srgb_profile, validate},
    attachment::{Attachment, RELATIONSHIPS, read_attachments},
    bookmark::{Bookmark, read_bookmarks},
    compose::{Composition, Placement, compose},
    describe::{Attached, Description, describe},
    error::Error,
    fill::{
        DrawText, FieldKind, FieldText, FieldValues, FormField, fill_form, read_fields,
        read_fields_on,
    },
    flatten::flatten,
    imported_page::Extent,
    info::{Info, read_info},
    merge::merge,
    metadata::{Metadata, read_metadata, write_metadata},
    numbered::{NumberedText, Piece, SetText, TextLook},
    open::Limits,
    operations::{
        Bookmarks, Conditions, FileError, NamedFile, Note, NoteKind, Operations, tell_apart,
    },
    optimize::{Optimization, PictureQuality},
    page_form::{FormObject, PageForm, page_form},
    pages::{Split, page_count, page_numbers, split},
    pictures::{Pictures, read_pictures},
    protect::{Allowed, Printing, Protection, unprotect},
    redact::Region,
    repair::repair,
    rotate::Rotation,
    selection::Selection,
    signature::{
        Appearance, Certification, Change, Evidence, FieldLock, NewSignature, Prepared, Signature,
        SignaturePlace, add_evidence, changes_since, prepare_signature, read_evidence,
        read_signatures,
    },
    stamp::{Anchored, Place, Stamp, StampPage, Turn},
    text::{PageText, TextParts, read_text, read_text_parts},
    xmp::{Extension, extension_schemas},
};
