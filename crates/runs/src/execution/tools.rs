//! What some steps need beyond the engine, each there or not.

use std::{path::PathBuf, pin::Pin, sync::Arc, time::Duration};

use platen_fault::Code;
use platen_flow::StepError;
use platen_office::{Document, Error as OfficeError, Job, Options, Source, Target};
use platen_render::{StoredAssets, chain};
use serde_json::Value as Json;
use tokio::runtime::Handle;

use super::{File, Limit, Mail, Pieces, Print, step_error::timed_out};

/// LibreOffice keeps to its time by itself, and says more of it.
const GRACE: Duration = Duration::from_millis(500);

/// What some steps need.
#[derive(Clone, Default)]
pub struct Tools {
    /// Converts Office files.
    pub convert: Option<Arc<dyn Convert>>,
    /// Prints pages of HTML.
    pub print: Option<Arc<dyn Print>>,
    /// Sends mail.
    pub mail: Option<Arc<dyn Mail>>,
    /// Finds pieces that users made.
    pub pieces: Option<Arc<dyn Pieces>>,
    /// Executes requests that the service deferred.
    pub replay: Option<Arc<dyn Replay>>,
    /// Folder of the assets that templates name.
    pub assets: Option<PathBuf>,
    /// Assets that the service stores.
    pub stored: Option<Arc<dyn StoredAssets>>,
}

/// Converts files. Blocks the thread that calls it.
pub trait Convert: Send + Sync {
    /// `file` as a `to`, by its extension, as long as `limit` allows.
    ///
    /// # Errors
    /// Why not.
    fn convert(
        &self,
        file: File,
        to: &str,
        options: &Json,
        limit: &Limit,
    ) -> Result<File, StepError>;
}

/// Executes a request that was stored to be executed later. Blocks the thread that calls it.
pub trait Replay: Send + Sync {
    /// Executes the request stored as `name`. Its output describes the response.
    ///
    /// # Errors
    /// The problem of the request.
    fn replay(&self, name: &str, limit: &Limit) -> Result<Json, StepError>;
}

type Converting = Pin<Box<dyn Future<Output = Result<Document, StepError>> + Send>>;

/// Converts by LibreOffice, on a runtime that is somewhere else.
pub struct OfficeConvert {
    runtime: Handle,
    work: Box<dyn Fn(Job) -> Converting + Send + Sync>,
}

impl OfficeConvert {
    /// Conversions that `work` does on `runtime`.
    #[must_use]
    pub fn new(runtime: Handle, work: impl Fn(Job) -> Converting + Send + Sync + 'static) -> Self {
        let work = Box::new(work);
        Self { runtime, work }
    }

    /// What a step says of an error of LibreOffice.
    #[must_use]
    pub fn failure(error: &OfficeError) -> StepError {
        StepError::new(error.code(), chain(error))
    }
}

impl Convert for OfficeConvert {
    fn convert(
        &self,
        file: File,
        to: &str,
        options: &Json,
        limit: &Limit,
    ) -> Result<File, StepError> {
        let target = Target::from_extension(to.trim_start_matches('.')).ok_or_else(|| {
            let known: Vec<&str> = Target::all().map(Target::extension).collect();
            wrong(format!("`{to}` is none of {}", known.join(", ")))
        })?;
        let stem = file.name.rsplit_once('.');
        let stem = stem.map_or(&*file.name, |(stem, _)| stem).to_owned();
        let mut job = Job::new(Source::Content(file.bytes.into()), target);
        job.options = options_of(options)?;
        job.name = Some(file.name).filter(|name| !name.is_empty());
        job.timeout = limit.left();
        // The process of a conversion that is dropped is interrupted or replaced.
        let document = self.runtime.block_on(async {
            tokio::select! {
                document = (self.work)(job) => document,
                cancelled = limit.cancelled() => Err(cancelled),
                () = tokio::time::sleep(limit.left() + GRACE) => Err(timed_out()),
            }
        });
        let document = document?;
        let bytes = document.body.read().map_err(|error| {
            let message = format!("the converted file cannot be read: {error}");
            StepError::new(Code::InternalError, message)
        })?;
        let format = document.format;
        Ok(File {
            name: format!("{stem}.{}", format.extension),
            media_type: format.media_type.into_owned(),
            bytes: bytes.into(),
        })
    }
}

fn options_of(given: &Json) -> Result<Options, StepError> {
    let mut options = Options::default();
    for (name, value) in given.as_object().into_iter().flatten() {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let set = options.set(name, &value);
        set.map_err(|error| wrong(error.to_string()))?;
    }
    Ok(options)
}

fn wrong(message: String) -> StepError {
    StepError::new(Code::InvalidInput, message)
}
