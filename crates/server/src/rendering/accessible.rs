//! What LibreOffice leaves out of accessible PDF files: a title, that viewers show it, and what
//! PDF/A asks the metadata to say of PDF/UA.

use std::{ffi::OsStr, path::Path};

use platen_office::{Document, Job, Source};
use platen_pdf::{Limits, make_accessible};

use crate::{
    intake::{
        Intake,
        content::{Content, full},
        counted,
    },
    problem::Problem,
};

/// What is done with the result of a conversion to an accessible PDF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accessible {
    /// Title of a document without one: the name of its file.
    title: String,
}

impl Accessible {
    /// What is done with the result of `job`; `None` for jobs of other kinds, and for results that
    /// are encrypted, which LibreOffice writes for good.
    #[must_use]
    pub fn of(job: &Job) -> Option<Self> {
        if !job.options.makes_accessible() || job.options.encrypts() {
            return None;
        }
        let path = match &job.source {
            Source::Path(path) => path.file_stem(),
            _ => None,
        };
        let named = job
            .name
            .as_deref()
            .and_then(|name| Path::new(name).file_stem());
        let title = named.or(path).map(OsStr::to_string_lossy);
        Some(Self {
            title: title.unwrap_or_default().into_owned(),
        })
    }

    /// Completes `document`, which it holds in memory. Blocks.
    ///
    /// # Errors
    /// The document lacks what cannot be added, or is too large to be changed.
    pub fn finish(&self, mut document: Document) -> Result<Document, Problem> {
        if !document.format.is_pdf() {
            return Ok(document);
        }
        let bytes = document.body.read().map_err(|error| full(&error))?;
        let made = make_accessible(&bytes, &self.title, &Limits::default());
        let made = made.map_err(|error| Problem::of_error(error.code(), &error))?;
        document.size_bytes = made.len() as u64;
        document.body = Content::Held(made.into());
        Ok(document)
    }
}

/// Completes `document` where its job asks for it, within the memory that `intake` has left.
pub(super) async fn finished(
    accessible: Option<Accessible>,
    document: Document,
    intake: &Intake,
) -> Result<Document, Problem> {
    let Some(accessible) = accessible else {
        return Ok(document);
    };
    let permit = intake.reserve_bytes(document.size_bytes)?;
    let work = move || {
        let mut document = accessible.finish(document)?;
        if let Content::Held(bytes) = document.body {
            document.body = Content::Held(counted(bytes, permit));
        }
        Ok(document)
    };
    let made = tokio::task::spawn_blocking(work).await;
    made.unwrap_or_else(|error| Err(Problem::internal(error.to_string())))
}
