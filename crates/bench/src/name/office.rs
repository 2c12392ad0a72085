//! Names of cells of the pack of conversions.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A Word document that is converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Word {
    /// A letter of one page.
    #[serde(rename = "letter.docx")]
    Letter,
    /// About 220 pages and 2.6 MB.
    #[serde(rename = "small.docx")]
    Small,
    /// The same with 15 MB.
    #[serde(rename = "large.docx")]
    Large,
}

impl Word {
    /// All documents, in the order of the tables.
    pub const ALL: [Self; 3] = [Self::Letter, Self::Small, Self::Large];

    /// The name of its file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Letter => "letter.docx",
            Self::Small => "small.docx",
            Self::Large => "large.docx",
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// What converts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum By {
    /// A Platen service.
    Platen,
    /// A Platen service without isolation of LibreOffice.
    NotIsolated,
    /// LibreOffice, called directly.
    Protocol(Way),
    /// unoserver's client library.
    Unoserver,
    /// A Gotenberg service.
    Gotenberg,
    /// LibreOffice, started for each document.
    OneShot,
    /// A Platen service with the newest LibreOffice; the others have the installed one.
    NewestPlaten,
    /// The newest LibreOffice, started for each document.
    NewestOneShot,
}

/// How bytes are transferred to and from LibreOffice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Way {
    /// LibreOffice reads and writes files by path.
    Path,
    /// Both through temporary files on LibreOffice's side.
    File,
    /// Both as streams.
    Stream,
    /// Input as a file, output as a stream.
    FileToStream,
    /// Input as a stream, output as a file.
    StreamToFile,
}

impl Way {
    /// All ways.
    pub(crate) const ALL: [Self; 5] = [
        Self::Path,
        Self::File,
        Self::Stream,
        Self::FileToStream,
        Self::StreamToFile,
    ];

    /// The argument of the driver.
    pub(crate) fn argument(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::File => "file",
            Self::Stream => "stream",
            Self::FileToStream => "file,stream",
            Self::StreamToFile => "stream,file",
        }
    }
}

impl By {
    /// Text of tables.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Platen => "Platen",
            Self::NotIsolated => "Platen, not isolated",
            Self::Protocol(Way::Path) => "the protocol alone: path",
            Self::Protocol(Way::File) => "io: file",
            Self::Protocol(Way::Stream) => "io: stream",
            Self::Protocol(Way::FileToStream) => "io: {file, stream}",
            Self::Protocol(Way::StreamToFile) => "io: {stream, file}",
            Self::Unoserver => "unoserver, its client library",
            Self::Gotenberg => "Gotenberg",
            Self::OneShot => "soffice --convert-to",
            Self::NewestPlaten => "Platen, newest LibreOffice",
            Self::NewestOneShot => "soffice --convert-to, newest",
        }
    }

    /// Whether it has long-lived child processes, whose processor time can be measured.
    pub(crate) fn has_processes(self) -> bool {
        !matches!(self, Self::Gotenberg | Self::OneShot | Self::NewestOneShot)
    }
}

/// The name of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(
    tag = "section",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum OfficeName {
    /// A converter among the others, interleaved.
    Compare {
        /// What is converted.
        document: Word,
        /// What converts.
        by: By,
    },
    /// The rate of a number of LibreOffice processes.
    Rate {
        /// What is converted.
        document: Word,
        /// The number of processes.
        processes: usize,
    },
}

impl fmt::Display for OfficeName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compare { document, by } => {
                write!(formatter, "compare/{document} by {}", by.as_str())
            }
            Self::Rate {
                document,
                processes,
            } => write!(formatter, "rate/{document} processes={processes}"),
        }
    }
}
