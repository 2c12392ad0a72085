//! Pages of PDF files as PNG, drawn in a cell for each file.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use platen_fault::{Code, What};
use platen_jail::{Cell, Channel, Ending, Jail, Limits, Options, Worker};
use platen_raster::{PageImage, draw};
use serde::{Deserialize, Serialize};

use crate::{Engine, IsolationError, IsolationSettings};

/// The resolution of pages without another one, in dots per inch.
pub const DEFAULT_DPI: f32 = 150.0;
/// The worker kind.
const KIND: &str = "pages";
/// A message's content: a part of a page.
const PIECE: u8 = b'p';
/// A message's content: the rest of a page, whose number is before it.
const PAGE: u8 = b'P';
/// All pages are drawn.
const END: u8 = b'e';
/// A message's content: why pages cannot be drawn.
const FAILURE: u8 = b'f';
/// Maximum size of a part of a page, in bytes.
const PIECE_BYTES: usize = 1 << 20;
/// Maximum size of a file, in bytes; that of `platen_pdf`.
const MAX_FILE_BYTES: u32 = 256 << 20;
/// Maximum size of the head of a job, in bytes: the numbers of 50,000 pages.
const MAX_HEAD_BYTES: u32 = 1 << 20;

/// Why pages cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum PageImagesError {
    /// The file cannot be read, or does not have the pages.
    #[error(transparent)]
    Pdf(#[from] platen_pdf::Error),
    /// The resolution is out of range.
    #[error("pages are drawn with 10 to 1200 dots per inch, not with {0}")]
    Resolution(f32),
    /// A page is damaged or too large.
    #[error("{reason}")]
    Page {
        /// Its code.
        code: Code,
        /// Why.
        reason: String,
    },
    /// The sandbox failed, or reached a limit.
    #[error(transparent)]
    Isolation(#[from] IsolationError),
    /// Nobody waits for the pages anymore.
    #[error("drawing pages was stopped")]
    Stopped,
    /// A defect of the sandbox.
    #[error("protocol violation by a sandbox that draws pages")]
    Bug,
}

impl PageImagesError {
    /// The error's code, which does not change.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Pdf(error) => error.code(),
            Self::Resolution(_) => Code::InvalidOption,
            Self::Page { code, .. } => *code,
            Self::Isolation(error) => error.code(),
            Self::Stopped => platen_render::Error::Stopped.code(),
            Self::Bug => Code::InternalError,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    pages: Vec<u32>,
    dots_per_inch: f32,
}

#[derive(Debug, Serialize, Deserialize)]
enum Failure {
    Damaged(String),
    TooLarge(String),
    Bug,
}

/// Draws the pages of one file in a cell.
pub struct PageWorker;

impl PageWorker {
    /// The worker for a kind that [`Engine::draw_pages`] requested; `None` for other kinds.
    #[must_use]
    pub fn of_kind(kind: &str) -> Option<Self> {
        (kind == KIND).then_some(Self)
    }
}

impl Worker for PageWorker {
    fn run(&mut self, job: Vec<u8>, mut channel: Channel) {
        // Panics are failures of a page: standard error of a cell leads nowhere.
        std::panic::set_hook(Box::new(|_| {}));
        let answer = match drawn(job, &mut channel) {
            Ok(()) => vec![END],
            Err(failure) => {
                let mut answer = vec![FAILURE];
                answer.extend(serde_json::to_vec(&failure).unwrap_or_default());
                answer
            }
        };
        // If the client has exited, nothing receives the answer.
        let _ = channel.send(&answer);
    }
}

/// Draws the pages of `job` and sends each of them.
fn drawn(mut job: Vec<u8>, channel: &mut Channel) -> Result<(), Failure> {
    let head = (job.split_first_chunk::<4>()).and_then(|(length, rest)| {
        let end = u32::from_le_bytes(*length) as usize;
        let head: Head = serde_json::from_slice(rest.get(..end)?).ok()?;
        Some((head, 4 + end))
    });
    let (head, start) = head.ok_or(Failure::Bug)?;
    let file = job.split_off(start);
    let mut take = |page: PageImage| {
        let (rest, pieces) = {
            let whole = page.png.len() / PIECE_BYTES * PIECE_BYTES;
            let (pieces, rest) = page.png.split_at(whole);
            (rest, pieces.chunks(PIECE_BYTES))
        };
        let sent = pieces.map(|piece| channel.send(&[&[PIECE], piece].concat()));
        sent.collect::<Result<(), _>>().is_ok()
            && channel
                .send(&[&[PAGE], &page.page.to_le_bytes()[..], rest].concat())
                .is_ok()
    };
    draw(file, &head.pages, head.dots_per_inch, &mut take).map_err(|error| match error {
        platen_raster::Error::TooLarge { .. } => Failure::TooLarge(error.to_string()),
        _ => Failure::Damaged(error.to_string()),
    })
}

/// The cells that draw pages; the first file starts their zygote.
#[derive(Debug, Default)]
pub(crate) struct PageCells {
    settings: IsolationSettings,
    jail: Mutex<Option<Arc<Jail>>>,
}

impl PageCells {
    pub(crate) fn new(settings: IsolationSettings) -> Self {
        Self {
            settings,
            jail: Mutex::default(),
        }
    }

    fn jail(&self) -> Result<Arc<Jail>, IsolationError> {
        let mut started = self.jail.lock();
        if let Some(jail) = &*started {
            return Ok(Arc::clone(jail));
        }
        let settings = &self.settings;
        let jail = Arc::new(Jail::start(Options {
            program: settings.program.clone(),
            limits: Limits {
                cpu_ms: settings.cpu_ms,
                memory_bytes: settings.memory_bytes,
                message_bytes: MAX_FILE_BYTES + MAX_HEAD_BYTES,
                output_bytes: settings.output_bytes,
            },
            spares: 1,
            least: settings.least,
            most: settings.most,
            ..Options::new(KIND)
        })?);
        *started = Some(Arc::clone(&jail));
        Ok(jail)
    }

    fn named(&self, ending: Ending) -> PageImagesError {
        match ending {
            Ending::Stopped => PageImagesError::Stopped,
            // A file that names itself at every level of a tree ends the stack of the library.
            Ending::Crashed(_) | Ending::Finished => PageImagesError::Page {
                code: Code::DocumentDamaged,
                reason: "drawing the pages crashed: the file may be damaged".to_owned(),
            },
            other => self.settings.exceeded(other).into(),
        }
    }
}

impl Engine {
    /// Draws pages of a PDF file, such as `1-3,7`; all without `pages`. Annotations and form fields are
    /// drawn as they look. Blocks the calling thread until it is done or `stop` is set.
    ///
    /// # Errors
    /// See [`PageImagesError`].
    pub fn draw_pages(
        &self,
        file: &[u8],
        pages: Option<&str>,
        dots_per_inch: f32,
        stop: Option<&Arc<AtomicBool>>,
    ) -> Result<Vec<PageImage>, PageImagesError> {
        if !platen_raster::DOTS_PER_INCH.contains(&dots_per_inch) {
            return Err(PageImagesError::Resolution(dots_per_inch));
        }
        let pages = platen_pdf::page_numbers(file, pages, &platen_pdf::Limits::default())?;
        let head = Head {
            pages,
            dots_per_inch,
        };
        let head = serde_json::to_vec(&head).unwrap_or_default();
        let job = [&(head.len() as u32).to_le_bytes()[..], &head, file].concat();
        let cells = self.page_cells();
        let wall = Duration::from_millis(cells.settings.wall_ms);
        let deadline = Instant::now() + wall;
        let jail = cells.jail()?;
        let mut cell = jail.cell(wall).map_err(IsolationError::from)?;
        if let Some(stop) = stop {
            cell.stop_when(Arc::clone(stop));
        }
        if cell.start(&job, &jail.limits(), deadline).is_err() {
            return Err(cells.named(cell.end()));
        }
        drop(job);
        receive(&mut cell, deadline, cells)
    }
}

/// Receives the pages of `cell`.
fn receive(
    cell: &mut Cell,
    deadline: Instant,
    cells: &PageCells,
) -> Result<Vec<PageImage>, PageImagesError> {
    let (mut all, mut png) = (Vec::new(), Vec::new());
    loop {
        let message = cell
            .receive(deadline)
            .map_err(|ending| cells.named(ending))?;
        let broken = |cell: &mut Cell| {
            cell.kill();
            Err(PageImagesError::Bug)
        };
        match message.split_first() {
            Some((&PIECE, piece)) => png.extend_from_slice(piece),
            Some((&PAGE, content)) => {
                let Some((page, rest)) = content.split_first_chunk::<4>() else {
                    return broken(cell);
                };
                png.extend_from_slice(rest);
                all.push(PageImage {
                    page: u32::from_le_bytes(*page),
                    png: std::mem::take(&mut png),
                });
            }
            Some((&END, _)) => return Ok(all),
            Some((&FAILURE, content)) => {
                return match serde_json::from_slice(content) {
                    Ok(Failure::Damaged(reason)) => Err(PageImagesError::Page {
                        code: Code::DocumentDamaged,
                        reason,
                    }),
                    Ok(Failure::TooLarge(reason)) => Err(PageImagesError::Page {
                        code: Code::TooLarge(What::Picture, platen_raster::MAX_PIXELS),
                        reason,
                    }),
                    Ok(Failure::Bug) | Err(_) => broken(cell),
                };
            }
            _ => return broken(cell),
        }
    }
}
