//! What a file is: its version, what it has, and its document properties as they are stored.

use std::collections::BTreeMap;

use lopdf::{Document, Object};

use crate::{
    Error, Limits,
    metadata::newest_version,
    open::{array, value, with_password},
};

/// A linearized file says so in its first object, which is at its start (ISO 32000-1, annex F.3.3).
const LINEARIZED_BYTES: usize = 1_024;
/// Document properties, by their keys (14.3.3, table 317).
const PROPERTIES: [&str; 8] = [
    "Title",
    "Author",
    "Subject",
    "Keywords",
    "Creator",
    "Producer",
    "CreationDate",
    "ModDate",
];

/// What a file is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// The number of its pages.
    pub pages: usize,
    /// Its PDF version, such as `1.7`.
    pub version: String,
    /// Whether it is encrypted.
    pub is_encrypted: bool,
    /// Whether it has a structure, which screen readers follow.
    pub is_tagged: bool,
    /// Whether it can be shown before all of it has arrived.
    pub is_linearized: bool,
    /// Whether it has form fields.
    pub has_fields: bool,
    /// Its document properties by their keys, as they are stored.
    pub properties: BTreeMap<&'static str, String>,
}

/// Says what a file is. `password` opens it if it is encrypted; the empty one opens a file that
/// needs none.
///
/// # Errors
/// The file cannot be read, or the password is wrong.
pub fn read_info(file: &[u8], password: &str, limits: &Limits) -> Result<Info, Error> {
    let (document, is_encrypted) = with_password(file, limits, password)?;
    let catalog = document.catalog()?;
    let form = value(&document, catalog, b"AcroForm").and_then(|it| it.as_dict().ok());
    let fields = form.and_then(|form| form.get(b"Fields").ok());
    Ok(Info {
        pages: document.page_iter().count(),
        version: newest_version(&document),
        is_encrypted,
        is_tagged: value(&document, catalog, b"StructTreeRoot").is_some(),
        is_linearized: is_linearized(file),
        has_fields: !array(&document, fields).is_empty(),
        properties: properties(&document),
    })
}

/// Whether a file says that its first page can be shown before the rest is there.
pub(crate) fn is_linearized(file: &[u8]) -> bool {
    let head = &file[..file.len().min(LINEARIZED_BYTES)];
    head.windows(11).any(|it| it == b"/Linearized")
}

fn properties(document: &Document) -> BTreeMap<&'static str, String> {
    let Some(Object::Dictionary(info)) = value(document, &document.trailer, b"Info") else {
        return BTreeMap::new();
    };
    let known = PROPERTIES.into_iter().filter_map(|key| {
        let object = value(document, info, key.as_bytes())?;
        let text = lopdf::decode_text_string(object).ok()?;
        (!text.is_empty()).then_some((key, text))
    });
    known.collect()
}
