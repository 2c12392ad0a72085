//! What is done with PDF files, one thing after another: the same list for HTTP, the command line
//! and flows.

mod compose;
mod error;
mod fill;
mod invoice;
mod sign;
mod stamp;
mod validate;

use std::{cell::RefCell, collections::BTreeMap};

use bytes::Bytes;
use platen_document::work;
use platen_pdf::{
    Allowed, Archive, Attachment, Bookmark, Bookmarks, Conditions, FieldValues, FileError, Limits,
    Metadata, NamedFile, Note, Operations, Optimization, Part, PictureQuality, Printing,
    Protection, Region, Rotation, Split, Stamp, tell_apart, unprotect,
};
use platen_render::RenderOptions;
use serde::Deserialize;

use self::{
    compose::PlacementChange, error::wrong, invoice::embedded_invoice, sign::SignChange,
    stamp::StampChange,
};
pub use self::{error::PdfChangeError, sign::OwnKey, validate::validate_pdf};
use crate::{Engine, media_type_of};

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
    Merge {
        /// Whether each file has a bookmark, with its own below.
        #[serde(default)]
        file_bookmarks: bool,
    },
    /// Takes each file apart: every so many pages, one file for each page of `pages`, or one for each
    /// of `ranges`.
    Split {
        /// Pages of a part.
        every: Option<usize>,
        /// Pages, as in `1-3,7`.
        pages: Option<String>,
        /// Pages of each part, as in `1-3,7`.
        ranges: Option<Vec<String>>,
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
        /// Whether `degrees`, which may be 0 then, replaces how pages are turned already.
        #[serde(default)]
        replace: bool,
    },
    /// Takes what areas of pages show out of the file.
    Redact {
        /// The areas.
        regions: Vec<Region>,
    },
    /// Draws annotations and form fields on the pages.
    Flatten {},
    /// Fills in form fields.
    Fill {
        /// Values by the names of fields: texts, true or false, lists, or null for nothing.
        values: FieldValues,
        /// Whether the fields are drawn on the pages afterwards.
        #[serde(default)]
        flatten: bool,
    },
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
    /// Removes an attached file.
    Detach {
        /// Its name.
        file: String,
    },
    /// Makes one file of new pages, on which pages of the files are drawn.
    Compose {
        /// Width and height of the new pages, in points.
        size: (f32, f32),
        /// Pages of the files, the lower ones first.
        placements: Vec<PlacementChange>,
    },
    /// Changes document properties; an empty text removes one.
    Metadata {
        /// The properties by name.
        metadata: Metadata,
    },
    /// Makes the files PDF/A, PDF/UA or both.
    Archive {
        /// `pdf-a-2b` or `pdf-a-3b`; neither without it.
        standard: Option<ArchiveStandard>,
        /// Whether they are to be PDF/UA-1.
        #[serde(default)]
        accessible: bool,
    },
    /// Embeds the XML of an e-invoice, and makes the files PDF/A-3b.
    Invoice {
        /// Name of the XML file, which comes beside the PDF files.
        file: String,
    },
    /// Makes files smaller.
    Optimize {
        /// Quality of pictures as JPEG, from 1 to 100; they stay as they are without it and
        /// `maxDpi`.
        image_quality: Option<u8>,
        /// Dots per inch that pictures have at most where they are shown largest.
        max_dpi: Option<f32>,
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
    /// Signs, behind what the file has.
    Sign(Box<SignChange>),
    /// Adds a timestamp of the whole document.
    Timestamp {},
    /// Opens encrypted files, and writes them without encryption.
    Decrypt {
        /// The user or the owner password.
        password: String,
    },
}

/// A standard that files can be made to satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum ArchiveStandard {
    /// PDF/A-2b.
    #[serde(rename = "pdf-a-2b")]
    PdfA2b,
    /// PDF/A-3b.
    #[serde(rename = "pdf-a-3b")]
    PdfA3b,
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

/// Files that were changed.
#[derive(Debug)]
pub struct ChangedPdfs {
    /// The files.
    pub files: Vec<NamedFile<Bytes>>,
    /// What there is to say of them, in the order of the changes.
    pub notes: Vec<Note>,
}

impl PdfChanges<'_> {
    fn beside(&self, name: &str) -> Result<Vec<u8>, PdfChangeError> {
        let known = self.aside.get(name).cloned();
        known.ok_or_else(|| wrong(format!("there is no file `{name}` beside the PDF files")))
    }
}

fn decrypt(files: &mut [NamedFile<Bytes>], password: &str) -> Result<(), FileError> {
    for file in files {
        work::look();
        let opened = unprotect(&file.bytes, password, &Limits::default());
        file.bytes = Bytes::from(opened.map_err(|error| FileError {
            name: Some(file.name.clone()),
            error,
        })?);
    }
    Ok(())
}

impl Engine {
    /// Changes PDF files. Blocks; may unwind where [`work::look`] ends it.
    ///
    /// # Errors
    /// The first change that cannot be made.
    pub fn change_pdfs(
        &self,
        mut files: Vec<NamedFile<Bytes>>,
        changes: &PdfChanges<'_>,
    ) -> Result<ChangedPdfs, PdfChangeError> {
        if changes.changes.len() > MAX_CHANGES {
            let message = format!("at most {MAX_CHANGES} operations are made at once");
            return Err(PdfChangeError::Wrong(message));
        }
        let notes = RefCell::new(Vec::new());
        let conditions = Conditions {
            checkpoint: &work::look,
            note: &|note| notes.borrow_mut().push(note),
            set_text: &|text, line| self.set_text(text, line, changes.options),
            ..Conditions::default()
        };
        tell_apart(&mut files);
        for change in &changes.changes {
            match change {
                PdfChange::Decrypt { password } => decrypt(&mut files, password)?,
                PdfChange::Sign(sign) => {
                    let beside = |name: &str| changes.beside(name);
                    self.sign_files(&mut files, sign, &beside, changes.options)?;
                }
                PdfChange::Fill { values, flatten } => {
                    self.fill_files(&mut files, values, changes.options)?;
                    let operations = Operations {
                        flatten: *flatten,
                        ..Operations::default()
                    };
                    files = operations.apply(files, &conditions)?;
                }
                PdfChange::Compose { size, placements } => {
                    files = vec![compose::composed(&files, *size, placements)?];
                }
                PdfChange::Timestamp {} => self.stamp_files(&mut files, changes.options)?,
                _ => {
                    let operations = self.operations(change, changes)?;
                    files = operations.apply(files, &conditions)?;
                }
            }
            // Parts of a file may be named like another file.
            tell_apart(&mut files);
        }
        let notes = notes.into_inner();
        Ok(ChangedPdfs { files, notes })
    }

    fn operations(
        &self,
        change: &PdfChange,
        changes: &PdfChanges<'_>,
    ) -> Result<Operations, PdfChangeError> {
        let mut operations = Operations::default();
        match change.clone() {
            PdfChange::Merge { file_bookmarks } => {
                (operations.merge, operations.file_bookmarks) = (true, file_bookmarks);
            }
            PdfChange::Detach { file } => operations.detached = Some(file),
            PdfChange::Split {
                every,
                pages,
                ranges,
            } => operations.split = Some(split(every, pages, ranges)?),
            PdfChange::Select { pages } => operations.split = Some(Split::Only(pages.into())),
            PdfChange::Rotate {
                degrees,
                pages,
                replace,
            } => operations.rotation = Some(rotation(degrees, pages, replace)),
            PdfChange::Redact { regions } => operations.redactions = redactions(regions)?,
            PdfChange::Flatten {} => operations.flatten = true,
            PdfChange::Stamp(stamp) => operations.stamps.push(self.drawn(*stamp, changes)?),
            PdfChange::Bookmarks { bookmarks } => {
                operations.bookmarks = Some(Bookmarks::All(bookmarks));
            }
            PdfChange::Attach {
                file: name,
                media_type,
                relationship,
                description,
            } => operations.attachments.push(Attachment {
                bytes: changes.beside(&name)?,
                media_type: media_type.or_else(|| Some(media_type_of(&name).to_owned())),
                name,
                relationship,
                description,
            }),
            PdfChange::Metadata { metadata } => operations.metadata = metadata,
            PdfChange::Archive {
                standard,
                accessible,
            } => operations.archive = Some(archive(standard, accessible)?),
            PdfChange::Invoice { file } => {
                let (attachment, archive) = embedded_invoice(&file, changes.beside(&file)?)?;
                operations.attachments.push(attachment);
                operations.archive = Some(archive);
            }
            PdfChange::Optimize {
                image_quality,
                max_dpi,
            } => operations.optimization = Some(optimization(image_quality, max_dpi)),
            PdfChange::Encrypt {
                user_password,
                owner_password,
                allow,
            } => operations.protection = Some(protection(user_password, owner_password, allow)),
            // Done before, file by file.
            PdfChange::Decrypt { .. }
            | PdfChange::Compose { .. }
            | PdfChange::Fill { .. }
            | PdfChange::Sign(_)
            | PdfChange::Timestamp {} => {}
        }
        Ok(operations)
    }

    fn drawn(&self, stamp: StampChange, changes: &PdfChanges<'_>) -> Result<Stamp, PdfChangeError> {
        let (source, look) = stamp.read(&|name| changes.beside(name))?;
        let made = self.stamp(source, look, changes.options);
        made.map_err(PdfChangeError::Stamp)
    }
}

fn redactions(regions: Vec<Region>) -> Result<Vec<Region>, PdfChangeError> {
    match regions.is_empty() {
        true => Err(wrong("`regions` of `redact` names no area")),
        false => Ok(regions),
    }
}

fn rotation(degrees: u16, pages: Option<String>, replaces: bool) -> Rotation {
    Rotation {
        degrees,
        pages: pages.map(Into::into),
        replaces,
    }
}

fn split(
    every: Option<usize>,
    pages: Option<String>,
    ranges: Option<Vec<String>>,
) -> Result<Split, PdfChangeError> {
    match (every, pages, ranges) {
        (Some(every), None, None) if every > 0 => Ok(Split::Every(every)),
        (None, Some(pages), None) => Ok(Split::Pages(pages.into())),
        (None, None, Some(ranges)) => Ok(Split::Ranges(ranges)),
        _ => Err(wrong(
            "`split` takes one of `every`, above 0, `pages` and `ranges`",
        )),
    }
}

fn protection(user_password: String, owner_password: String, allow: Allow) -> Protection {
    Protection {
        user_password,
        owner_password,
        allowed: allow.into(),
    }
}

fn optimization(image_quality: Option<u8>, max_dpi: Option<f32>) -> Optimization {
    let is_about_pictures = image_quality.is_some() || max_dpi.is_some();
    Optimization {
        pictures: is_about_pictures.then_some(PictureQuality {
            quality: image_quality.unwrap_or(PictureQuality::USUAL),
            max_dpi,
            again: image_quality.is_some(),
        }),
    }
}

fn archive(standard: Option<ArchiveStandard>, accessible: bool) -> Result<Archive, PdfChangeError> {
    if standard.is_none() && !accessible {
        return Err(wrong("`archive` takes `standard`, `accessible` or both"));
    }
    Ok(Archive {
        part: match standard {
            Some(ArchiveStandard::PdfA2b) => Part::Two,
            Some(ArchiveStandard::PdfA3b) => Part::Three,
            None => Part::None,
        },
        accessible,
        ..Archive::default()
    })
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
        assert!(matches!(list[0], PdfChange::Merge { .. }));
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
