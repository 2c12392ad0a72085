//! The converters. Cells of results get their names here and are found by them here, never by a
//! part of their text.

use crate::Cell;

/// What converts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
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
}

/// How bytes are transferred to and from LibreOffice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
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
    pub(super) const ALL: [Self; 5] = [
        Self::Path,
        Self::File,
        Self::Stream,
        Self::FileToStream,
        Self::StreamToFile,
    ];

    /// The argument of the driver.
    pub(super) fn argument(self) -> &'static str {
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
    /// The converter of a cell.
    pub(super) fn of(cell: &Cell) -> Option<Self> {
        let fixed = [
            Self::Platen,
            Self::NotIsolated,
            Self::Unoserver,
            Self::Gotenberg,
            Self::OneShot,
        ];
        let ways = Way::ALL.map(Self::Protocol);
        let mut known = fixed.into_iter().chain(ways);
        known.find(|by| by.name() == cell.of("by"))
    }

    /// Name in results and tables.
    pub(super) fn name(self) -> &'static str {
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
        }
    }

    /// Whether it has long-lived child processes, whose processor time can be measured.
    pub(super) fn has_processes(self) -> bool {
        !matches!(self, Self::Gotenberg | Self::OneShot)
    }
}
