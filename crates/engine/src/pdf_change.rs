//! What is done with PDF files, one thing after another: the same list for HTTP, the command line
//! and flows.

use std::{collections::BTreeMap, fmt};

use platen_document::{Color, work};
use platen_fault::Code;
use platen_pdf::{
    Allowed, Attachment, Bookmark, Bookmarks, Conditions, FileError, Limits, Metadata, NamedFile,
    Operations, Printing, Protection, Rotation, Split, Turn, tell_apart, unprotect,
};
use platen_render::RenderOptions;
use serde::Deserialize;

use crate::{Engine, Error, StampLook, StampSource, media_type_of};

/// Maximum number of changes of a list.
const MAX_CHANGES: usize = 100;

/// Something to do with PDF files.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    tag = "do",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum PdfChange {
    /// Makes one file of all, in their order.
    Merge {},
    /// Takes each file apart: every so many pages, or one file for each page of `pages`.
    Split {
        /// Pages of a part.
        every: Option<usize>,
        /// Pages, as in `1-3,7`.
        pages: Option<String>,
    },
    /// Keeps some pages of each file, in the order in which they are named.
    Select {
        /// Pages, as in `1-3,7`.
        pages: String,
    },
    /// Turns pages clockwise.
    Rotate {
        /// 90, 180 or 270.
        degrees: u16,
        /// Pages, as in `1-3,7`; all without it.
        pages: Option<String>,
    },
    /// Draws annotations and form fields on the pages.
    Flatten {},
    /// Draws a text, a picture or a PDF on pages.
    Stamp(Box<StampChange>),
    /// Replaces the bookmarks.
    Bookmarks {
        /// The bookmarks; none removes them.
        bookmarks: Vec<Bookmark>,
    },
    /// Attaches a file.
    Attach {
        /// Name of the file, which comes beside the PDF files.
        file: String,
        /// Media type; by the name of the file without it.
        media_type: Option<String>,
        /// What it is to the document: `Source`, `Data`, `Alternative` and others.
        relationship: Option<String>,
        /// What it is, for people.
        description: Option<String>,
    },
    /// Changes document properties; an empty text removes one.
    Metadata {
        /// The properties by name.
        metadata: Metadata,
    },
    /// Encrypts with AES-256.
    Encrypt {
        /// Opens the file.
        #[serde(default)]
        user_password: String,
        /// Lifts the restrictions; the user password without it.
        #[serde(default)]
        owner_password: String,
        /// What readers allow; all without it.
        #[serde(default)]
        allow: Allow,
    },
    /// Opens encrypted files, and writes them without encryption.
    Decrypt {
        /// The user or the owner password.
        password: String,
    },
}

/// A text, a picture or a PDF that is drawn on pages. It is a text, or comes beside the files.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StampChange {
    /// A line of text.
    pub text: Option<String>,
    /// Name of a picture or PDF.
    pub file: Option<String>,
    /// The page of a PDF that is drawn, from 1; the first without it.
    pub page: Option<u32>,
    /// Whether it is below the content of pages, and not above.
    pub below: bool,
    /// Pages, as in `1-3,7`; all without it.
    pub pages: Option<String>,
    /// Font family of a text.
    pub font: Option<String>,
    /// Font size of a text, in points.
    pub font_size: Option<f32>,
    /// Color of a text; gray without it.
    pub color: Option<Color>,
    /// From 0, which is invisible, to 1, the default.
    pub opacity: Option<f32>,
    /// Counter-clockwise, in degrees.
    pub rotation: Option<f32>,
    /// Turned along the diagonal of the page, upwards.
    pub diagonal: bool,
    /// `top-left`, `top`, `top-right`, `left`, `center` (the default), `right`, `bottom-left`,
    /// `bottom`, `bottom-right`.
    pub position: Option<String>,
    /// Moved to the right and upwards, in points.
    pub offset: (f32, f32),
    /// A multiple of its own size.
    pub scale: Option<f32>,
    /// Width as a part of the page's, above 0 and at most 1.
    pub width: Option<f32>,
}

/// What readers allow those who open a file with its user password.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Allow {
    /// Printing.
    pub printing: bool,
    /// Printing in high quality.
    pub high_quality: bool,
    /// Changing the content.
    pub modifying: bool,
    /// Copying text and pictures.
    pub copying: bool,
    /// Adding comments.
    pub annotating: bool,
    /// Filling in forms.
    pub filling: bool,
    /// Inserting, deleting and turning pages.
    pub assembling: bool,
}

impl Default for Allow {
    fn default() -> Self {
        Self {
            printing: true,
            high_quality: true,
            modifying: true,
            copying: true,
            annotating: true,
            filling: true,
            assembling: true,
        }
    }
}

/// Why files were not changed.
#[derive(Debug)]
pub enum PdfChangeError {
    /// A file is no PDF, or cannot be changed in this way.
    Pdf(FileError),
    /// A stamp cannot be drawn.
    Stamp(Error),
    /// The list of changes is wrong.
    Wrong(String),
}

impl fmt::Display for PdfChangeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pdf(error) => error.fmt(formatter),
            Self::Stamp(error) => write!(formatter, "the stamp: {error}"),
            Self::Wrong(message) => formatter.write_str(message),
        }
    }
}

impl std::error::Error for PdfChangeError {}

impl PdfChangeError {
    /// The error's code, which does not change.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Pdf(error) => error.error.code(),
            Self::Stamp(error) => error.code(),
            Self::Wrong(_) => Code::InvalidOption,
        }
    }
}

impl From<FileError> for PdfChangeError {
    fn from(error: FileError) -> Self {
        Self::Pdf(error)
    }
}

/// Changes of PDF files, one after another.
#[derive(Debug)]
pub struct PdfChanges<'a> {
    /// The changes.
    pub changes: Vec<PdfChange>,
    /// Files beside the PDF files, by name: to be attached or drawn on pages.
    pub aside: BTreeMap<String, Vec<u8>>,
    /// The stop flag, and other options of the documents that stamps are.
    pub options: &'a RenderOptions,
}

impl Engine {
    /// Changes PDF files. Blocks; may unwind where [`work::look`] ends it.
    ///
    /// # Errors
    /// The first change that cannot be made.
    pub fn change_pdfs(
        &self,
        mut files: Vec<NamedFile<Vec<u8>>>,
        changes: &PdfChanges<'_>,
    ) -> Result<Vec<NamedFile<Vec<u8>>>, PdfChangeError> {
        if changes.changes.len() > MAX_CHANGES {
            let message = format!("at most {MAX_CHANGES} operations are made at once");
            return Err(PdfChangeError::Wrong(message));
        }
        let conditions = Conditions {
            checkpoint: &work::look,
            ..Conditions::default()
        };
        tell_apart(&mut files);
        for change in &changes.changes {
            if let PdfChange::Decrypt { password } = change {
                for file in &mut files {
                    work::look();
                    let opened = unprotect(&file.bytes, password, &Limits::default());
                    file.bytes = opened.map_err(|error| FileError {
                        name: Some(file.name.clone()),
                        error,
                    })?;
                }
                continue;
            }
            files = self
                .operations(change, changes)?
                .apply(files, &conditions)?;
            // Parts of a file may be named like another file.
            tell_apart(&mut files);
        }
        Ok(files)
    }

    fn operations(
        &self,
        change: &PdfChange,
        changes: &PdfChanges<'_>,
    ) -> Result<Operations, PdfChangeError> {
        let beside = |name: &str| {
            let known = changes.aside.get(name).cloned();
            known.ok_or_else(|| wrong(format!("there is no file `{name}` beside the PDF files")))
        };
        let mut operations = Operations::default();
        match change.clone() {
            PdfChange::Merge {} => operations.merge = true,
            PdfChange::Split { every, pages } => {
                operations.split = Some(match (every, pages) {
                    (Some(every), None) if every > 0 => Split::Every(every),
                    (None, Some(pages)) => Split::Pages(pages),
                    _ => return Err(wrong("`split` takes either `every`, above 0, or `pages`")),
                });
            }
            PdfChange::Select { pages } => operations.split = Some(Split::Only(pages)),
            PdfChange::Rotate { degrees, pages } => {
                operations.rotation = Some(Rotation { degrees, pages });
            }
            PdfChange::Flatten {} => operations.flatten = true,
            PdfChange::Stamp(stamp) => {
                let (source, look) = stamp.read(&beside)?;
                let made = self.stamp(source, look, changes.options);
                operations.stamps.push(made.map_err(PdfChangeError::Stamp)?);
            }
            PdfChange::Bookmarks { bookmarks } => {
                operations.bookmarks = Some(Bookmarks::All(bookmarks));
            }
            PdfChange::Attach {
                file,
                media_type,
                relationship,
                description,
            } => operations.attachments.push(Attachment {
                bytes: beside(&file)?,
                media_type: Some(media_type.unwrap_or_else(|| media_type_of(&file).to_owned())),
                name: file,
                relationship,
                description,
            }),
            PdfChange::Metadata { metadata } => operations.metadata = metadata,
            PdfChange::Encrypt {
                user_password,
                owner_password,
                allow,
            } => {
                operations.protection = Some(Protection {
                    user_password,
                    owner_password,
                    allowed: allow.into(),
                });
            }
            // Done before, file by file.
            PdfChange::Decrypt { .. } => {}
        }
        Ok(operations)
    }
}

fn wrong(message: impl Into<String>) -> PdfChangeError {
    PdfChangeError::Wrong(message.into())
}

impl From<Allow> for Allowed {
    fn from(allow: Allow) -> Self {
        Self {
            printing: match (allow.printing, allow.high_quality) {
                (false, _) => Printing::None,
                (true, false) => Printing::Low,
                (true, true) => Printing::Full,
            },
            modifying: allow.modifying,
            copying: allow.copying,
            annotating: allow.annotating,
            filling: allow.filling,
            assembling: allow.assembling,
        }
    }
}

impl StampChange {
    fn read(
        self,
        beside: &dyn Fn(&str) -> Result<Vec<u8>, PdfChangeError>,
    ) -> Result<(StampSource, StampLook), PdfChangeError> {
        let position = self.position.as_deref().unwrap_or("center");
        let position = place(position)
            .ok_or_else(|| wrong(format!("`{position}` is no `position` of a stamp")))?;
        let scale = match (self.scale, self.width) {
            (None, None) => None,
            (Some(scale), None) if scale > 0.0 && scale <= 100.0 => Some(scale),
            (None, Some(width)) if width > 0.0 && width <= 1.0 => Some(-width),
            _ => {
                let message = "a stamp takes either `scale`, above 0 and at most 100, or `width`, \
                               above 0 and at most 1";
                return Err(wrong(message));
            }
        };
        let source = match (self.text, self.file) {
            (Some(text), None) => StampSource::Text(text),
            (None, Some(name)) => {
                let bytes = beside(&name)?;
                match bytes.starts_with(b"%PDF-") {
                    true => StampSource::Pdf(bytes, self.page.unwrap_or(1)),
                    false => StampSource::Picture(bytes),
                }
            }
            _ => return Err(wrong("a stamp takes either `text` or `file`")),
        };
        let look = StampLook {
            pages: self.pages,
            above: !self.below,
            font: self.font,
            font_size: self.font_size,
            color: self.color.unwrap_or(StampLook::default().color),
            opacity: self.opacity.unwrap_or(1.0),
            turn: match (self.diagonal, self.rotation) {
                (true, _) => Turn::Upwards,
                (false, degrees) => Turn::Degrees(degrees.unwrap_or(0.0)),
            },
            position,
            offset: self.offset,
            scale,
        };
        Ok((source, look))
    }
}

/// Across and upwards, from 0 to 1.
fn place(name: &str) -> Option<(f32, f32)> {
    Some(match name {
        "top-left" => (0.0, 1.0),
        "top" => (0.5, 1.0),
        "top-right" => (1.0, 1.0),
        "left" => (0.0, 0.5),
        "center" => (0.5, 0.5),
        "right" => (1.0, 0.5),
        "bottom-left" => (0.0, 0.0),
        "bottom" => (0.5, 0.0),
        "bottom-right" => (1.0, 0.0),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_read_from_json() {
        let list = serde_json::json!([
            {"do": "merge"},
            {"do": "rotate", "degrees": 90, "pages": "1"},
            {"do": "stamp", "text": "Paid", "position": "top-right", "color": "#ff0000"},
            {"do": "encrypt", "userPassword": "u", "allow": {"copying": false}},
        ]);
        let list: Vec<PdfChange> = serde_json::from_value(list).expect("operations");
        assert!(matches!(list[0], PdfChange::Merge {}));
        let PdfChange::Encrypt { allow, .. } = &list[3] else {
            panic!("{:?}", list[3]);
        };
        assert!(!allow.copying && allow.printing);
        for wrong in [
            serde_json::json!({"do": "burn"}),
            serde_json::json!({"do": "rotate"}),
            serde_json::json!({"do": "merge", "all": true}),
            serde_json::json!({"do": "stamp", "txt": "a"}),
        ] {
            let read = serde_json::from_value::<PdfChange>(wrong.clone());
            assert!(read.is_err(), "{wrong}");
        }
    }
}
