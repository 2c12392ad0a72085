//! What is done with PDF files that have names: one way for forms, flows and the command line.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
};

use serde::Serialize;

use crate::{
    Error, Limits,
    archive::{Archive, archive},
    attachment::{Attachment, attach, detach},
    bookmark::{Bookmark, write_bookmarks},
    flatten::flatten,
    joined::joined,
    merge::merge,
    metadata::{Metadata, write_metadata},
    numbered::{SetText, Setter},
    open::{open, save},
    optimize::{Optimization, optimize},
    overlay::Balance,
    pages::{Split, page_count, split_between},
    protect::{Protection, protect},
    redact::{Region, redact},
    repair::repair,
    rotate::{Rotation, rotate},
    signature::is_signed,
    stamp::{Stamp, draw},
    write::{SMALLEST, compact},
};

/// A PDF file and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile<B> {
    /// Its name, without a path.
    pub name: String,
    /// Its content.
    pub bytes: B,
}

/// Gives files of the same name different ones, in their order: `a.pdf`, `a-2.pdf`.
pub fn tell_apart<B>(files: &mut [NamedFile<B>]) {
    let mut taken: HashSet<String> = HashSet::new();
    // The next number to try for a name: thousands of files may have the same.
    let mut next: HashMap<String, usize> = HashMap::new();
    for file in files {
        if taken.insert(file.name.clone()) {
            continue;
        }
        let (stem, ending) = match file.name.rsplit_once('.') {
            Some((stem, ending)) if !stem.is_empty() => (stem, format!(".{ending}")),
            _ => (file.name.as_str(), String::new()),
        };
        let number = next.entry(file.name.clone()).or_insert(2);
        let name = loop {
            let name = format!("{stem}-{number}{ending}");
            *number += 1;
            if taken.insert(name.clone()) {
                break name;
            }
        };
        file.name = name;
    }
}

/// What is done with files, in this order.
#[derive(Clone, Debug, Default)]
pub struct Operations {
    /// Makes one file of all; one that stands alone is only looked at.
    pub merge: bool,
    /// Takes each file apart.
    pub split: Option<Split>,
    /// Draws annotations and form fields on the pages.
    pub flatten: bool,
    /// Takes what is in areas out, before pages are turned.
    pub redactions: Vec<Region>,
    /// Turns pages.
    pub rotation: Option<Rotation>,
    /// Draws on pages, below or above their content.
    pub stamps: Vec<Stamp>,
    /// Replaces the bookmarks.
    pub bookmarks: Option<Bookmarks>,
    /// Gives each file that is merged a bookmark, at its first page, with its own below.
    pub file_bookmarks: bool,
    /// Removes the attached file of this name.
    pub detached: Option<String>,
    /// Attaches files.
    pub attachments: Vec<Attachment>,
    /// Changes document properties, where it has some.
    pub metadata: Metadata,
    /// Makes the files archival.
    pub archive: Option<Archive>,
    /// Makes the files smaller.
    pub optimization: Option<Optimization>,
    /// Encrypts the files, last of all.
    pub protection: Option<Protection>,
}

/// New bookmarks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bookmarks {
    /// The same for every file.
    All(Vec<Bookmark>),
    /// By the name of the file; other files keep theirs.
    Of(BTreeMap<String, Vec<Bookmark>>),
}

/// Why nothing was made, and of which file, where that is known.
#[derive(Debug)]
pub struct FileError {
    /// Name of the file.
    pub name: Option<String>,
    /// What is wrong.
    pub error: Error,
}

impl fmt::Display for FileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(formatter, "{name}: ")?;
        }
        write!(formatter, "{}", self.error)
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

/// Under what conditions files are worked on.
pub struct Conditions<'a> {
    /// Bounds of each file.
    pub limits: Limits,
    /// The name of a part, from the stem of its file and its index from 0.
    pub part_name: fn(&str, usize) -> String,
    /// Called before each piece of work; may unwind, to end it all.
    pub checkpoint: &'a dyn Fn(),
    /// Called with what there is to say of a file that was worked on.
    pub note: &'a dyn Fn(Note),
    /// Sets the text of a page: a PDF file of one page that draws nothing else.
    pub set_text: &'a SetText<'a>,
}

/// What there is to say of a file that was worked on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Name of the file.
    pub file: String,
    /// What was done.
    #[serde(flatten)]
    pub what: NoteKind,
}

/// What was done with a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(
    tag = "code",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum NoteKind {
    /// Its table of objects was damaged; it is of the objects that a scan found.
    Repaired {
        /// What was wrong.
        problem: String,
    },
    /// It was made smaller, or stays as it was if it is small already.
    Optimized {
        /// Size before, in bytes.
        size_bytes_before: usize,
        /// Size after, in bytes.
        size_bytes: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            NoteKind::Repaired { problem } => {
                write!(formatter, "{}: repaired: {problem}", self.file)
            }
            NoteKind::Optimized {
                size_bytes_before,
                size_bytes,
            } => write!(
                formatter,
                "{}: {size_bytes_before} bytes before, {size_bytes} bytes now",
                self.file
            ),
        }
    }
}

impl Default for Conditions<'_> {
    /// The usual bounds; parts are `name-1.pdf` and so on; nothing ends the work.
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            part_name: |stem, index| format!("{stem}-{}.pdf", index + 1),
            checkpoint: &|| {},
            note: &|_| {},
            set_text: &|_, _| Err(Error::BadStamp("cannot have page numbers here")),
        }
    }
}

impl Operations {
    /// Whether files stay as they are.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        !self.merge
            && self.split.is_none()
            && !self.flatten
            && self.metadata.is_empty()
            && !self.changes()
    }

    /// Does them all. Takes as long as the files are large, and holds them in memory.
    ///
    /// # Errors
    /// The first file that something is wrong with.
    pub fn apply<B: AsRef<[u8]> + From<Vec<u8>>>(
        &self,
        mut files: Vec<NamedFile<B>>,
        conditions: &Conditions<'_>,
    ) -> Result<Vec<NamedFile<B>>, FileError> {
        let limits = &conditions.limits;
        repair_all(&mut files, conditions)?;
        let mut bookmarks = self.bookmarks.clone();
        if self.merge {
            let lists = match &bookmarks {
                Some(Bookmarks::Of(lists)) => Some(lists.clone()),
                None if self.file_bookmarks && self.split.is_none() => Some(BTreeMap::new()),
                _ => None,
            };
            if let Some(lists) = lists {
                let all = joined(&files, &lists, self.file_bookmarks, conditions)?;
                bookmarks = Some(Bookmarks::All(all));
            }
            files = vec![merge_named(files, conditions)?];
        }
        if let Some(how) = &self.split {
            let mut parts = Vec::new();
            for file in &files {
                (conditions.checkpoint)();
                let made = split_between(file.bytes.as_ref(), how, limits, conditions.checkpoint);
                let made = made.map_err(|error| of(file, error))?;
                let stem = file.name.strip_suffix(".pdf").unwrap_or(&file.name);
                let is_one = matches!(how, Split::Only(_));
                parts.extend(made.into_iter().enumerate().map(|(index, part)| NamedFile {
                    name: match is_one {
                        true => file.name.clone(),
                        false => (conditions.part_name)(stem, index),
                    },
                    bytes: part.into(),
                }));
            }
            files = parts;
        }
        for file in &mut files {
            if self.flatten {
                (conditions.checkpoint)();
                let made = flatten(file.bytes.as_ref(), limits);
                file.bytes = made.map_err(|error| of(file, error))?.into();
            }
            if !self.metadata.is_empty() {
                (conditions.checkpoint)();
                let made = write_metadata(file.bytes.as_ref(), &self.metadata, limits);
                file.bytes = made.map_err(|error| of(file, error))?.into();
            }
            if self.changes() || bookmarks.is_some() {
                (conditions.checkpoint)();
                let made = self.changed(file, bookmarks.as_ref(), conditions);
                file.bytes = made.map_err(|error| of(file, error))?.into();
            }
        }
        Ok(files)
    }

    /// Whether the file is opened once more, for what is done in one go.
    fn changes(&self) -> bool {
        !self.redactions.is_empty()
            || self.rotation.is_some()
            || !self.stamps.is_empty()
            || self.bookmarks.is_some()
            || self.detached.is_some()
            || !self.attachments.is_empty()
            || self.archive.is_some()
            || self.optimization.is_some()
            || self.protection.is_some()
    }

    /// Whether nothing else is done with the open file.
    fn only_optimizes(&self) -> bool {
        self.redactions.is_empty()
            && self.rotation.is_none()
            && self.stamps.is_empty()
            && self.bookmarks.is_none()
            && !self.file_bookmarks
            && self.detached.is_none()
            && self.attachments.is_empty()
            && self.archive.is_none()
    }

    /// Takes the bytes of the file, which would be held beside its objects.
    fn changed<B: AsRef<[u8]> + From<Vec<u8>>>(
        &self,
        file: &mut NamedFile<B>,
        bookmarks: Option<&Bookmarks>,
        conditions: &Conditions<'_>,
    ) -> Result<Vec<u8>, Error> {
        let limits = &conditions.limits;
        let mut document = open(file.bytes.as_ref(), limits)?;
        let before = std::mem::replace(&mut file.bytes, Vec::new().into());
        let size_bytes_before = before.as_ref().len();
        let is_compared = self.optimization.is_some() && self.only_optimizes();
        let before = is_compared.then_some(before);
        if is_signed(&document) {
            return Err(Error::Signed);
        }
        if !self.redactions.is_empty() {
            redact(&mut document, &self.redactions, conditions.checkpoint)?;
        }
        if let Some(rotation) = &self.rotation {
            rotate(&mut document, rotation, limits)?;
        }
        let setter = Setter {
            set: conditions.set_text,
            checkpoint: conditions.checkpoint,
        };
        let mut balance = Balance::new();
        for stamp in &self.stamps {
            draw(&mut document, stamp, limits, &setter, &mut balance)?;
        }
        let bookmarks = match bookmarks {
            Some(Bookmarks::All(list)) => Some(list),
            Some(Bookmarks::Of(lists)) => lists.get(&file.name),
            None => None,
        };
        if let Some(list) = bookmarks {
            write_bookmarks(&mut document, list)?;
        }
        if let Some(name) = &self.detached {
            detach(&mut document, name)?;
        }
        if !self.attachments.is_empty() {
            attach(&mut document, &self.attachments)?;
        }
        if let Some(how) = &self.archive {
            archive(&mut document, how, &file.name, conditions.checkpoint)?;
        }
        if let Some(how) = &self.optimization {
            optimize(&mut document, how, conditions.checkpoint)?;
        }
        if let Some(protection) = &self.protection {
            return protect(&mut document, protection);
        }
        if self.optimization.is_some() {
            let mut made = compact(&mut document, SMALLEST)?;
            if let Some(before) = before
                && made.len() >= size_bytes_before
            {
                made = before.as_ref().to_vec();
            }
            (conditions.note)(Note {
                file: file.name.clone(),
                what: NoteKind::Optimized {
                    size_bytes_before,
                    size_bytes: made.len(),
                },
            });
            return Ok(made);
        }
        save(&mut document, true)
    }
}

/// Makes damaged files whole before anything is done with them.
fn repair_all<B: AsRef<[u8]> + From<Vec<u8>>>(
    files: &mut [NamedFile<B>],
    conditions: &Conditions<'_>,
) -> Result<(), FileError> {
    for file in files {
        (conditions.checkpoint)();
        let made = repair(file.bytes.as_ref(), &conditions.limits);
        if let Some((bytes, problem)) = made.map_err(|error| of(file, error))? {
            file.bytes = bytes.into();
            (conditions.note)(Note {
                file: file.name.clone(),
                what: NoteKind::Repaired { problem },
            });
        }
    }
    Ok(())
}

/// One file of all.
fn merge_named<B: AsRef<[u8]> + From<Vec<u8>>>(
    mut files: Vec<NamedFile<B>>,
    conditions: &Conditions<'_>,
) -> Result<NamedFile<B>, FileError> {
    let limits = &conditions.limits;
    if files.len() == 1
        && let Some(file) = files.pop()
    {
        // Nothing to be put together, but what comes back says that it is a PDF.
        return match page_count(file.bytes.as_ref(), limits) {
            Ok(_) => Ok(file),
            Err(error) => Err(of(&file, error)),
        };
    }
    let all = files.iter().map(|file| {
        (conditions.checkpoint)();
        file.bytes.as_ref()
    });
    match merge(all, limits) {
        Ok(merged) => Ok(NamedFile {
            name: "merged.pdf".to_owned(),
            bytes: merged.into(),
        }),
        Err(error) => {
            // Which one it was is looked for only now that there is something to say.
            let mut files = files.iter();
            let found = files.find_map(|file| {
                let error = page_count(file.bytes.as_ref(), limits).err()?;
                Some(of(file, error))
            });
            Err(found.unwrap_or(FileError { name: None, error }))
        }
    }
}

pub(crate) fn of<B>(file: &NamedFile<B>, error: Error) -> FileError {
    FileError {
        name: Some(file.name.clone()),
        error,
    }
}
