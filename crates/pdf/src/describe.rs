//! What files say of themselves, all at once.

use serde::Serialize;

use crate::{
    Error, Limits,
    attachment::attached_sizes,
    bookmark::{Bookmark, bookmarks_of},
    fill::{FormField, fields_of},
    metadata::{Metadata, metadata_of},
    open::open,
    operations::{FileError, NamedFile, of},
    repair::damage,
};

/// What a file says of itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// The number of its pages.
    pub pages: usize,
    /// What is wrong with its table of objects, if it was read without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<&'static str>,
    /// Its document properties.
    pub metadata: Metadata,
    /// Its bookmarks.
    pub bookmarks: Vec<Bookmark>,
    /// The files attached to it.
    pub attachments: Vec<Attached>,
    /// The fields of its form.
    pub fields: Vec<FormField>,
}

/// A file attached to a PDF file, without its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attached {
    /// Its name.
    pub name: String,
    /// Its size, in bytes.
    pub size_bytes: usize,
    /// Its media type.
    pub media_type: Option<String>,
    /// What it is to the document.
    pub relationship: Option<String>,
    /// What it is, for people.
    pub description: Option<String>,
}

/// What `file` says of itself.
///
/// # Errors
/// The file is not read.
pub fn describe<B: AsRef<[u8]>>(
    file: &NamedFile<B>,
    limits: &Limits,
) -> Result<Description, FileError> {
    described(file.bytes.as_ref(), limits).map_err(|error| of(file, error))
}

fn described(bytes: &[u8], limits: &Limits) -> Result<Description, Error> {
    let document = open(bytes, limits)?;
    let attached = attached_sizes(&document)?.into_iter();
    let attached = attached.map(|(about, size_bytes)| Attached {
        name: about.name,
        size_bytes,
        media_type: about.media_type,
        relationship: about.relationship,
        description: about.description,
    });
    Ok(Description {
        pages: document.page_iter().count(),
        damage: damage(bytes),
        metadata: metadata_of(&document),
        bookmarks: bookmarks_of(&document),
        fields: fields_of(&document)?,
        attachments: attached.collect(),
    })
}
