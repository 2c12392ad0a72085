//! Stages whose results are no PDF files: texts, and attached files.

use bytes::Bytes;
use platen_document::work;
use platen_pdf::{
    Error, FileError, Limits, NamedFile, TextParts, read_attachments, read_text_parts, tell_apart,
};
use platen_render::plain_name;

/// Maximum size of the results of a stage, in bytes.
const MAX_BYTES: usize = 256 << 20;
/// Names of attached files in a message.
const MAX_NAMED: usize = 20;

/// What is taken out of PDF files.
#[derive(Clone, Debug)]
pub(crate) enum Extraction {
    /// The text of pages.
    Text {
        pages: Option<String>,
        parts: TextParts,
    },
    /// Attached files: that of a name, or all.
    Attachments { name: Option<String> },
}

impl Extraction {
    /// Takes it out of `files`, one after another.
    pub(super) fn run(
        &self,
        files: Vec<NamedFile<Bytes>>,
    ) -> Result<Vec<NamedFile<Bytes>>, FileError> {
        let mut made: Vec<NamedFile<Bytes>> = Vec::new();
        let mut size = 0;
        for file in files {
            work::look();
            let taken = match self {
                Self::Text { pages, parts } => text(&file, pages.as_deref(), *parts),
                Self::Attachments { name } => attached(&file, name.as_deref()),
            };
            let within = taken.and_then(|taken| {
                size += taken.iter().map(|one| one.bytes.len()).sum::<usize>();
                match size > MAX_BYTES {
                    true => Err(Error::TooLarge {
                        what: "bytes of results",
                        count: size,
                        most: MAX_BYTES,
                    }),
                    false => Ok(taken),
                }
            });
            made.extend(within.map_err(|error| FileError {
                name: Some(file.name.clone()),
                error,
            })?);
        }
        if made.is_empty() {
            let error = Error::NotAttached {
                name: "*".to_owned(),
                known: "no files".to_owned(),
            };
            return Err(FileError { name: None, error });
        }
        tell_apart(&mut made);
        Ok(made)
    }
}

/// The text of a file, with a form feed between pages.
fn text(
    file: &NamedFile<Bytes>,
    pages: Option<&str>,
    parts: TextParts,
) -> Result<Vec<NamedFile<Bytes>>, Error> {
    let limits = Limits::default();
    let pages = read_text_parts(&file.bytes, pages, parts, &limits, &work::look)?;
    let pages: Vec<String> = pages.into_iter().map(|page| page.text).collect();
    let stem = file.name.strip_suffix(".pdf").unwrap_or(&file.name);
    Ok(vec![NamedFile {
        name: format!("{stem}.txt"),
        bytes: pages.join("\u{c}").into(),
    }])
}

/// The files attached to a file.
fn attached(file: &NamedFile<Bytes>, name: Option<&str>) -> Result<Vec<NamedFile<Bytes>>, Error> {
    let mut found = read_attachments(&file.bytes, &Limits::default())?;
    if let Some(name) = name {
        let known: Vec<String> = found
            .iter()
            .take(MAX_NAMED)
            .map(|it| short(&it.name))
            .collect();
        found.retain(|one| one.name == name);
        if found.is_empty() {
            return Err(Error::NotAttached {
                name: short(name),
                known: match known.is_empty() {
                    true => "no files".to_owned(),
                    false => known.join(", "),
                },
            });
        }
    }
    let taken = found.into_iter().map(|one| {
        let name = plain_name(&one.name);
        NamedFile {
            name: match name.is_empty() {
                true => "attachment".to_owned(),
                false => name,
            },
            bytes: one.bytes.into(),
        }
    });
    Ok(taken.collect())
}

fn short(name: &str) -> String {
    name.chars().take(100).collect()
}
