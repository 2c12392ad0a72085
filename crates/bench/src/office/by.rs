//! Who converts. Cells of results are named here and found again here, and nowhere by a part of their
//! text.

use crate::Cell;

/// Who converts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// A service of Platen.
    Platen,
    /// The same with LibreOffice as any other program.
    NotIsolated,
    /// LibreOffice spoken to directly.
    Protocol(Way),
    /// The client library of unoserver.
    Unoserver,
    /// A Gotenberg.
    Gotenberg,
    /// LibreOffice started for each document.
    OneShot,
}

/// How bytes go to LibreOffice and come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It reads and writes files by the paths it is given.
    Path,
    /// Both as files of its own.
    File,
    /// Both as streams.
    Stream,
    /// In as a file, out as a stream.
    FileToStream,
    /// In as a stream, out as a file.
    StreamToFile,
}

impl Way {
    /// All.
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
    /// Who converted for a cell.
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

    /// False where its processes are no children that stay, whose processor time can be counted.
    pub(super) fn has_processes(self) -> bool {
        !matches!(self, Self::Gotenberg | Self::OneShot)
    }
}
