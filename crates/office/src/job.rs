//! Input and output of a conversion.

use std::{path::PathBuf, time::Duration};

use platen_content::Content;
use platen_pool::Lane;
use platen_urp::Phases;

use crate::{
    Detected, Options,
    format::{Format, Target},
};

/// Source of a document.
#[derive(Clone, Debug)]
pub enum Source {
    /// An absolute path, which must exist until the job is done.
    Path(PathBuf),
    /// The content.
    Content(Content),
}

/// A conversion.
#[derive(Clone, Debug)]
pub struct Job {
    /// The document.
    pub source: Source,
    /// Name of the document, which matters for plain text; by default that of the path.
    pub name: Option<String>,
    /// Target format, unless the options name a filter.
    pub target: Target,
    /// Options of the conversion.
    pub options: Options,
    /// Lane of the queue.
    pub lane: Lane,
    /// Timeout of the whole job, including the wait for a slot.
    pub timeout: Duration,
    /// Whether the same document must give the same bytes. Only PDF output supports it.
    pub deterministic: bool,
}

impl Job {
    /// A job with default settings.
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

/// The result of a conversion.
#[derive(Debug)]
pub struct Document {
    /// The content.
    pub body: Content,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Format of the result.
    pub format: Format,
    /// Detected format of the input.
    pub detected: Detected,
    /// Duration of each part.
    pub times: Times,
}

/// Durations of the parts of a conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Examining the input.
    pub detect: Duration,
    /// Waiting for a slot and a process.
    pub wait: Duration,
    /// Phases in LibreOffice.
    pub phases: Phases,
    /// Making the result deterministic.
    pub finish: Duration,
    /// Total, including the overhead of this program.
    pub total: Duration,
}
