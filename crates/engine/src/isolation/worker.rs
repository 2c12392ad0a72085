//! The worker that runs inside the zygote and its cells.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::Arc,
};

use parking_lot::Mutex;
use platen_document::{CompiledTemplate, Diagnostic, Helpers, Host};
use platen_fonts::FontSettings;
use platen_jail::{Channel, Worker};
use platen_render::{Format, RenderOptions, Rendered, Renderer};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::wire::{self, Failure, Head, Task, decode_job, encode_job};
use crate::{
    Error,
    helpers::{HelperModules, validate_with},
};

/// Prefix of the worker kind; the fonts follow as JSON.
const KIND: &str = "render:";

/// Exercises the code of most renderings before the fork, so that cells inherit warm caches: font
/// faces, shaping plans, number words, locale data.
const WARM_TEMPLATE: &str = include_str!("warm.json");

#[derive(Debug, Default, Serialize, Deserialize)]
struct Fonts {
    folders: Vec<PathBuf>,
    system: bool,
}

/// The worker kind for the fonts of `settings`.
pub(super) fn kind(settings: &FontSettings) -> String {
    let fonts = Fonts {
        folders: settings.folders.clone(),
        system: settings.system,
    };
    format!(
        "{KIND}{}",
        serde_json::to_string(&fonts).unwrap_or_default()
    )
}

/// Renders one document in a cell.
pub struct RenderWorker {
    fonts: FontSettings,
    renderer: Option<Renderer>,
}

impl RenderWorker {
    /// The worker for a kind that [`super::Isolation`] requested; `None` for other kinds.
    #[must_use]
    pub fn of_kind(kind: &str) -> Option<Self> {
        let fonts: Fonts = serde_json::from_str(kind.strip_prefix(KIND)?).ok()?;
        Some(Self {
            fonts: FontSettings {
                folders: fonts.folders,
                system: fonts.system,
            },
            renderer: None,
        })
    }
}

impl Worker for RenderWorker {
    fn prepare(&mut self) {
        let renderer = Renderer::resident(&self.fonts, platen_jail::map_file);
        // The XLSX writer starts threads, and a process must be single-threaded to enter its
        // sandbox.
        let formats = Format::ALL.into_iter();
        let formats: Vec<Format> = formats.filter(|format| *format != Format::Xlsx).collect();
        warm(&renderer, &formats);
        self.renderer = Some(renderer);
    }

    fn rehearsal(&self) -> Vec<Vec<u8>> {
        let data = warm_data().to_string();
        let options = RenderOptions::default();
        let job = encode_job(Task::Render, data.as_bytes(), &[Format::Pdf], &options, 0);
        vec![WARM_TEMPLATE.as_bytes().to_vec(), job]
    }

    fn run(&mut self, source: Vec<u8>, mut channel: Channel) {
        // Panic messages go to the client: standard error of a cell leads nowhere.
        std::panic::set_hook(Box::new(|_| {}));
        let no_job = || Error::bug("the sandbox could not read its job");
        let compile = || {
            let renderer = self.renderer.as_ref().ok_or_else(no_job)?;
            let template = platen_render::compile(&source)?;
            HelperModules::in_cell().check(&template)?;
            Ok((renderer, template))
        };
        let compiled = catch_unwind(AssertUnwindSafe(compile))
            .unwrap_or_else(|_| Err(Error::bug("compiling the template panicked")));
        // The cell may have compiled the template long before its data arrives.
        let Ok(Some(job)) = channel.receive() else {
            return;
        };
        let channel = Arc::new(Mutex::new(channel));
        let work = || {
            let job = decode_job(&job).ok_or_else(no_job)?;
            if job.task != Task::Render {
                return Ok(Answer::Report(validate(&source, &job)?));
            }
            let (renderer, template) = compiled?;
            render(renderer, &template, &job, &channel).map(Answer::Documents)
        };
        let result = catch_unwind(AssertUnwindSafe(work))
            .unwrap_or_else(|_| Err(Error::bug("the rendering panicked")));
        let mut channel = channel.lock();
        // If the client has exited, nothing receives the response.
        let _ = match result {
            Ok(Answer::Documents(documents)) => send(&mut channel, &documents),
            Ok(Answer::Report(found)) => {
                let found = serde_json::to_vec(&found).unwrap_or_default();
                message(&mut channel, wire::REPORT, &found)
            }
            Err(error) => {
                let failure = serde_json::to_vec(&Failure::from(error)).unwrap_or_default();
                message(&mut channel, wire::FAILURE, &failure)
            }
        };
        // No destructors: the process exits here.
        std::mem::forget(self.renderer.take());
    }
}

fn warm(renderer: &Renderer, formats: &[Format]) {
    let Ok(template) = platen_render::compile(WARM_TEMPLATE.as_bytes()) else {
        return;
    };
    let options = RenderOptions {
        now_unix_seconds: Some(0),
        ..RenderOptions::default()
    };
    let host = Asking(None, 0);
    let data = warm_data();
    // If warming fails, cells are slower and report the error themselves. The second document of a
    // process is the first that has fonts without instructions at hand.
    for formats in [formats, &[Format::Pdf]] {
        let _ = renderer.render_all(&template, data.clone(), formats, &options, &host);
    }
}

/// Data of [`WARM_TEMPLATE`].
fn warm_data() -> Json {
    let row = serde_json::json!({"date": "2026-01-31", "quantity": 2, "amount": 1234.5});
    serde_json::json!({"amount": 1, "rows": [row]})
}

/// Result of a job.
enum Answer {
    Documents(Vec<Rendered>),
    Report(Vec<Diagnostic>),
}

fn validate(source: &[u8], job: &wire::Job<'_>) -> Result<Vec<Diagnostic>, Error> {
    let data = (job.task == Task::ValidateData).then(|| serde_json::from_slice(job.data));
    let data: Option<Json> = data
        .transpose()
        .map_err(|error| Error::Data(error.to_string()))?;
    Ok(validate_with(
        &HelperModules::in_cell(),
        source,
        data.as_ref(),
    ))
}

fn render(
    renderer: &Renderer,
    template: &CompiledTemplate,
    job: &wire::Job<'_>,
    channel: &Arc<Mutex<Channel>>,
) -> Result<Vec<Rendered>, Error> {
    let data = serde_json::from_slice(job.data).map_err(|error| Error::Data(error.to_string()))?;
    let now = job.options.now_unix_seconds.unwrap_or_default();
    let host = Asking(Some(Arc::clone(channel)), now);
    Ok(renderer.render_all(template, data, &job.formats, &job.options, &host)?)
}

fn send(channel: &mut Channel, documents: &[Rendered]) -> std::io::Result<()> {
    for document in documents {
        let head = serde_json::to_vec(&Head::of(document)).unwrap_or_default();
        message(channel, wire::HEAD, &head)?;
        for piece in document.bytes.chunks(wire::PIECE_BYTES) {
            message(channel, wire::PIECE, piece)?;
        }
    }
    message(channel, wire::END, &[])
}

fn message(channel: &mut Channel, letter: u8, content: &[u8]) -> std::io::Result<()> {
    let mut bytes = Vec::with_capacity(1 + content.len());
    bytes.push(letter);
    bytes.extend_from_slice(content);
    channel.send(&bytes)
}

/// The client's assets, helpers and clock; assets and helpers are requested over the channel.
#[derive(Clone)]
struct Asking(Option<Arc<Mutex<Channel>>>, i64);

impl std::fmt::Debug for Asking {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Asking").finish_non_exhaustive()
    }
}

impl Asking {
    /// The client's response: whether there is a value, and its bytes.
    fn ask(&self, letter: u8, question: &[u8]) -> Option<(bool, Vec<u8>)> {
        let mut channel = self.0.as_ref()?.lock();
        message(&mut channel, letter, question).ok()?;
        let mut answer = channel.receive().ok()??;
        (!answer.is_empty()).then(|| (answer.remove(0) == wire::FOUND, answer))
    }
}

impl Helpers for Asking {
    fn call(&self, name: &str, arguments: Vec<Json>) -> Result<Json, String> {
        let call = serde_json::to_vec(&(name, arguments)).map_err(|error| error.to_string())?;
        match self.ask(wire::HELPER, &call) {
            Some((true, value)) => {
                serde_json::from_slice(&value).map_err(|error| error.to_string())
            }
            Some((false, reason)) => Err(String::from_utf8_lossy(&reason).into_owned()),
            None => Err("helpers are not available here".to_owned()),
        }
    }
}

impl Host for Asking {
    fn asset(&self, name: &str) -> Option<Arc<[u8]>> {
        let (found, bytes) = self.ask(wire::ASSET, name.as_bytes())?;
        found.then(|| Arc::from(bytes))
    }

    fn fonts(&self, family: &str) -> Vec<String> {
        let answer = self.ask(wire::FONTS, family.as_bytes());
        let names = answer.and_then(|(_, names)| serde_json::from_slice(&names).ok());
        names.unwrap_or_default()
    }

    fn helpers(&self) -> Option<Arc<dyn Helpers>> {
        Some(Arc::new(self.clone()))
    }

    fn now_unix_seconds(&self) -> i64 {
        self.1
    }
}
