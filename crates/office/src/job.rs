//! A document to convert, and a converted one.

use std::{fs::File, path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use platen_pool::Lane;
use platen_urp::Phases;

use crate::{Detected, Options, format::Target};

/// Where a document comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// An absolute path, which must stay until the job is done.
    Path(PathBuf),
    /// The document.
    Bytes(Bytes),
    /// A file that need not have a name, and that nobody else reads meanwhile.
    File(Arc<File>),
}

/// A document to convert.
#[derive(Clone, Debug)]
pub struct Job {
    /// The document.
    pub source: Source,
    /// Its name, which tells plain texts apart; a path's own if there is none.
    pub name: Option<String>,
    /// What it is to become.
    pub target: Target,
    /// How.
    pub options: Options,
    /// The lane it waits in.
    pub lane: Lane,
    /// The time for all of it, the wait included.
    pub timeout: Duration,
    /// Whether the same document gives the same bytes every time, as far as the format is known: PDF.
    pub deterministic: bool,
}

impl Job {
    /// A job with the usual settings.
    #[must_use]
    pub fn new(source: Source, target: Target) -> Self {
        Self {
            source,
            name: None,
            target,
            options: Options::default(),
            lane: Lane::Batch,
            timeout: Duration::from_secs(120),
            deterministic: true,
        }
    }
}

/// A converted document.
#[derive(Debug)]
pub struct Document {
    /// Its bytes.
    pub body: Body,
    /// Its size. Bytes.
    pub size_bytes: u64,
    /// What it is.
    pub target: Target,
    /// What the input was.
    pub detected: Detected,
    /// How long each part took.
    pub times: Times,
}

/// The bytes of a result.
#[derive(Debug)]
pub enum Body {
    /// In memory.
    Bytes(Bytes),
    /// In a file without a name, which goes when this is dropped.
    File(File),
}

/// How long a conversion took, by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Looking at the input.
    pub detect: Duration,
    /// Waiting for a slot and a process.
    pub wait: Duration,
    /// LibreOffice, by phase.
    pub phases: Phases,
    /// Making the result deterministic.
    pub finish: Duration,
    /// All together, our own cost included.
    pub total: Duration,
}
