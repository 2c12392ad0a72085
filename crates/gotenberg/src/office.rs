//! Conversions by LibreOffice: Gotenberg's fields as its options, and files to PDF.

use std::{
    os::unix::fs::FileExt,
    sync::Arc,
    time::{Duration, Instant},
};

use platen_fault::Code;
use platen_office::{Job, Options, Source, Target};
use platen_pdf::Archive;
use platen_server::{intake::content::Content, problem::Problem};
use tokio::sync::Semaphore;

use crate::{
    api::FormApi,
    archival::archive_of,
    value::{Values, not_parsed, truth},
};

/// The standard that LibreOffice alone makes.
const BY_LIBREOFFICE: &str = "PDF/A-1b";

/// Conversion options of a form.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfficeOptions {
    options: Options,
    /// Page ranges that are none.
    wrong_ranges: Option<String>,
}

impl OfficeOptions {
    /// Sets an option, or says why it cannot have this value.
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        self.options.set(name, value).map_err(|error| match error {
            platen_office::Error::BadOption { problem, .. } => problem.to_string(),
            other => other.to_string(),
        })
    }

    /// Sets which pages are converted. If that is wrong, it is said of a document, and only if nothing
    /// else is wrong with the form.
    pub(crate) fn set_ranges(&mut self, option: &str, ranges: &str) {
        if self.set(option, ranges).is_err() {
            self.wrong_ranges = Some(ranges.to_owned());
        }
    }

    /// Sets the option of a form field; what is wrong with it is recorded in the form.
    pub(crate) fn set_field(
        &mut self,
        values: &mut Values,
        (field, name): (&str, &str),
        value: &str,
    ) {
        if let Err(why) = self.set(name, value) {
            let why = match why.ends_with("is neither true nor false") {
                true => not_parsed("ParseBool", value),
                false => why,
            };
            values.wrong(field, value, &why);
        }
    }

    /// What LibreOffice makes of PDF files if `pdfa` is the standard that it alone makes. The fields
    /// stay.
    pub(crate) fn rewriting(values: &Values) -> Option<Self> {
        if values.given("pdfa") != Some(BY_LIBREOFFICE) {
            return None;
        }
        let mut options = Self::default();
        options.set("pdf_a", BY_LIBREOFFICE).ok()?;
        if values.given("pdfua").and_then(truth) == Some(true) {
            options.set("pdf_ua", "true").ok()?;
        }
        Some(options)
    }

    /// Takes `pdfa` and `pdfua`: whether the form has either, and how files that were changed
    /// become that again.
    /// `unknown` says that a standard is none.
    pub(crate) fn take_archive(
        &mut self,
        values: &mut Values,
        unknown: fn(&str) -> String,
    ) -> (bool, Option<Archive>) {
        let standard = values.text("pdfa");
        if let Some(standard) = &standard
            && self.set("pdf_a", standard).is_err()
        {
            values.refuse(unknown(standard));
        }
        let is_accessible = values.truth("pdfua", false);
        if is_accessible {
            self.set_field(values, ("pdfua", "pdf_ua"), "true");
        }
        let archive = archive_of(standard.as_deref(), is_accessible);
        (standard.is_some() || is_accessible, archive)
    }
}

/// Converts documents concurrently, as many as there are slots, and keeps their order.
pub(crate) async fn convert(
    api: &FormApi,
    files: Vec<(String, Content)>,
    options: &OfficeOptions,
) -> Result<Vec<(String, Content)>, Problem> {
    if let (Some(ranges), Some((name, _))) = (&options.wrong_ranges, files.first()) {
        let ranges: String = ranges.chars().take(200).collect();
        let detail = format!(
            "LibreOffice could not apply the page ranges '{ranges}' to the document '{name}'. Check the \
             'nativePageRanges' form field; valid values look like '1-4', '2' or '1,3,5-7'."
        );
        return Err(Problem::new(Code::InvalidRequest, detail));
    }
    if options.options.password.is_some()
        && let Some((name, _)) = files.iter().find(|(name, content)| is_open(name, content))
    {
        let detail = format!(
            "The document '{name}' is not password-protected. Remove the 'password' form field."
        );
        return Err(Problem::new(Code::InvalidRequest, detail));
    }
    // As many at a time as there are processes: many documents of one form do not fill the queue.
    let slots = api.libreoffice.office().await?.config().slots;
    let turns = Arc::new(Semaphore::new(slots.max(1)));
    let deadline = Instant::now() + api.office_timeout;
    let mut running = Vec::with_capacity(files.len());
    for (name, content) in files {
        let mut job = Job::new(Source::Content(content), Target::Pdf);
        job.name = Some(name.clone());
        job.options = options.options.clone();
        let libreoffice = Arc::clone(&api.libreoffice);
        let turns = Arc::clone(&turns);
        let work = async move {
            let _turn = turns.acquire().await;
            job.timeout = deadline.saturating_duration_since(Instant::now());
            libreoffice.convert(job).await
        };
        running.push((name, Task(tokio::spawn(work))));
    }
    let mut made = Vec::with_capacity(running.len());
    for (name, mut task) in running {
        let document = (&mut task.0).await;
        let document = document.map_err(|error| Problem::internal(error.to_string()))?;
        let outcome = document
            .as_ref()
            .map_or_else(|problem| problem.code.name(), |_| "ok");
        api.metrics.rendered("pdf", outcome);
        let document =
            document.map_err(|problem| in_gotenbergs_words(problem, &name, api.office_timeout))?;
        // A rewritten PDF keeps its name.
        let name = name.strip_suffix(".pdf").map_or(&*name, |stem| stem);
        made.push((format!("{name}.pdf"), document.body));
    }
    Ok(made)
}

/// The problem of a document, which the form's `limit` may have caused.
fn in_gotenbergs_words(mut problem: Problem, name: &str, limit: Duration) -> Problem {
    problem.detail = match problem.code {
        Code::PasswordNeeded => format!(
            "The document '{name}' is password-protected. Provide its password in the \
             'password' form field."
        ),
        Code::PasswordWrong => format!(
            "The password for the document '{name}' is incorrect. Check the 'password' form \
             field."
        ),
        // What is left for the last ones may be nothing.
        Code::Timeout(_) => format!(
            "{name}: conversion timed out; all documents of a form have {} ms",
            limit.as_millis()
        ),
        _ => format!("{name}: {}", problem.detail),
    };
    problem
}

/// Whether a document certainly has no password: Word, Excel and PowerPoint put a package that has one
/// into a file of another kind.
fn is_open(name: &str, content: &Content) -> bool {
    let (_, extension) = name.rsplit_once('.').unwrap_or_default();
    let extension = extension.to_ascii_lowercase();
    let is_package = [
        "docx", "docm", "dotx", "dotm", "xlsx", "xlsm", "xltx", "pptx", "pptm", "ppsx", "potx",
    ]
    .contains(&extension.as_str());
    const ZIP: [u8; 4] = *b"PK\x03\x04";
    is_package
        && match content {
            Content::Held(bytes) => bytes.starts_with(&ZIP),
            Content::Spooled(spooled) => {
                let mut head = [0; ZIP.len()];
                spooled.file().read_exact_at(&mut head, 0).is_ok() && head == ZIP
            }
        }
}

/// A conversion task that aborts when the request is dropped.
struct Task<T>(tokio::task::JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
