//! What is done with PDF files that have names: one way for forms, flows and the command line.

use std::fmt;

use crate::{
    Error, Limits,
    flatten::flatten,
    merge::merge,
    metadata::{Metadata, read_metadata, write_metadata},
    pages::{Split, page_count, split},
};

/// A PDF file and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile<B> {
    /// Its name, without a path.
    pub name: String,
    /// Its content.
    pub bytes: B,
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
    /// Changes document properties, where it has some.
    pub metadata: Metadata,
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
}

impl Default for Conditions<'_> {
    /// The usual bounds; parts are `name-1.pdf` and so on; nothing ends the work.
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            part_name: |stem, index| format!("{stem}-{}.pdf", index + 1),
            checkpoint: &|| {},
        }
    }
}

impl Operations {
    /// Whether files stay as they are.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        !self.merge && self.split.is_none() && !self.flatten && self.metadata.is_empty()
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
        if self.merge {
            files = vec![merge_named(files, conditions)?];
        }
        if let Some(how) = &self.split {
            let mut parts = Vec::new();
            for file in &files {
                (conditions.checkpoint)();
                let made = split(file.bytes.as_ref(), how, limits);
                let made = made.map_err(|error| of(file, error))?;
                let stem = file.name.strip_suffix(".pdf").unwrap_or(&file.name);
                parts.extend(made.into_iter().enumerate().map(|(index, part)| NamedFile {
                    name: (conditions.part_name)(stem, index),
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
        }
        Ok(files)
    }
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

fn of<B>(file: &NamedFile<B>, error: Error) -> FileError {
    FileError {
        name: Some(file.name.clone()),
        error,
    }
}

/// What a file says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Its document properties.
    pub metadata: Metadata,
    /// The number of its pages.
    pub pages: usize,
}

/// What `file` says of itself.
///
/// # Errors
/// The file is not read.
pub fn describe<B: AsRef<[u8]>>(
    file: &NamedFile<B>,
    limits: &Limits,
) -> Result<Description, FileError> {
    let bytes = file.bytes.as_ref();
    let described = read_metadata(bytes, limits).and_then(|metadata| {
        Ok(Description {
            metadata,
            pages: page_count(bytes, limits)?,
        })
    });
    described.map_err(|error| of(file, error))
}
