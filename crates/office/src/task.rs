//! A conversion on one process: the document goes in, the result comes out.

use std::{
    fs::File,
    io::{Read, Write},
    path::Path,
    time::{Duration, Instant},
};

use bytes::BytesMut;
use platen_content::Content;
use platen_pool::Attempt;
use platen_urp::{Authors, Client, Conversion, Files, Input, Output, Phases};

use crate::{
    Detected,
    crash_report::Work,
    format::{Family, Format},
    job_folder::JobFolder,
    options::Io,
    outcome::{Failed, is_crash},
    soffice::{Elsewhere, Place, Worker},
    staged_input::{self, StagedInput},
};

/// Larger results stay in a file instead of memory. In bytes.
const MAX_HELD_BYTES: u64 = 8 << 20;

/// Time reserved for the steps after LibreOffice.
const MARGIN: Duration = Duration::from_millis(100);

/// A task for a process.
#[derive(Clone)]
pub(crate) struct Task {
    pub(crate) conversion: Conversion,
    pub(crate) source: StagedInput,
    pub(crate) name: Option<String>,
    pub(crate) work: Work,
    pub(crate) limit_bytes: u64,
    pub(crate) io: Io,
}

/// The folder of a job, the same for each, because documents can show where they are.
const JOB: &str = "job-current";

/// The result of a task.
pub(crate) struct Done {
    pub(crate) body: Content,
    pub(crate) phases: Phases,
    pub(crate) waited: Duration,
}

/// Runs a task on a process. `None` if the process is unsuitable for the document.
pub(crate) async fn run(
    worker: &mut Worker,
    attempt: Attempt,
    task: Task,
) -> Result<Option<Done>, Failed> {
    let Task {
        mut conversion,
        source,
        name,
        work,
        limit_bytes,
        io,
    } = task;
    let left = attempt.deadline.saturating_duration_since(Instant::now());
    conversion.timeout = Some(left.saturating_sub(MARGIN));
    let is_text = work.family == Family::Text;
    conversion.authors = match worker.knows_authors {
        _ if !is_text => Authors::Any,
        // A process of others may have seen any authors, and there is no other.
        _ if worker.process.is_none() => Authors::Any,
        true => Authors::NoChanges,
        false => Authors::Tell,
    };
    if let Some(process) = &worker.process {
        work.begins(process.clone(), attempt.number);
    }
    let exchange = Exchange {
        client: &worker.client,
        conversion,
        source,
        name,
        limit_bytes,
    };
    let converted = match &worker.place {
        Place::Folder { path, seen } => exchange.by_folder(path, seen, &work.format, io).await,
        Place::Elsewhere(elsewhere) => exchange.by_streams(elsewhere).await,
    };
    worker.knows_authors |= work.stage.has_authors();
    match converted {
        Err(Failed::Urp(platen_urp::Error::HasChanges)) => {
            worker.is_spent = true;
            Ok(None)
        }
        Err(Failed::Urp(error)) if is_crash(&error) => {
            work.process_ended().await;
            Err(Failed::Urp(error))
        }
        Err(failed) => Err(failed),
        Ok((body, phases)) => Ok(Some(Done {
            body,
            phases,
            waited: attempt.waited,
        })),
    }
}

/// A conversion, and what goes in.
struct Exchange<'a> {
    client: &'a Client,
    conversion: Conversion,
    source: StagedInput,
    name: Option<String>,
    limit_bytes: u64,
}

type Exchanged = Result<(Content, Phases), Failed>;

impl Exchange<'_> {
    /// Document and result are files in a folder that LibreOffice sees, too. Even if they go over
    /// the connection, LibreOffice has them in files there: it trusts a document without a path.
    async fn by_folder(self, path: &Path, seen: &Path, format: &Format, io: Io) -> Exchanged {
        // No staged document has a name that starts with a dot.
        let name_of_result = format!(".result.{}", format.extension);
        let folder = JobFolder::create(path.join(JOB)).map_err(Failed::Output)?;
        // The same place by the name that LibreOffice knows it by.
        let seen = seen.join(JOB);
        let files = match io {
            Io::File => None,
            _ => Some(self.client.files().await.map_err(Failed::Urp)?),
        };
        let input = match &files {
            Some(files) if io.streams_document() => {
                let input = seen.join(self.name.as_deref().unwrap_or(staged_input::NAMELESS));
                send(files, self.source, &input, path).await?;
                input
            }
            _ => {
                let input = self.source.place(&folder, self.name.as_deref()).await;
                let input = input.map_err(Failed::Output)?;
                match input.strip_prefix(folder.path()) {
                    Ok(name) => seen.join(name),
                    Err(_) => input,
                }
            }
        };
        let seen_result = seen.join(&name_of_result);
        let (from, to) = (Input::Path(input), Output::Path(seen_result.clone()));
        let converted = self.client.convert(from, to, &self.conversion).await;
        let converted = converted.map_err(Failed::Urp)?;
        let body = match &files {
            Some(files) if io.streams_result() => {
                fetch(files, &seen_result, path, self.limit_bytes).await?
            }
            _ => {
                let result = folder.open_file(&name_of_result);
                take(result.map_err(Failed::Output)?, self.limit_bytes)?
            }
        };
        drop(folder);
        Ok((body, converted.phases))
    }

    /// Document and result go over the connection, to files and from files that only LibreOffice
    /// sees: not every filter reads or writes a stream.
    async fn by_streams(self, elsewhere: &Elsewhere) -> Exchanged {
        let folder = elsewhere
            .folder
            .join(elsewhere.job.as_deref().unwrap_or(JOB));
        let files = &elsewhere.files;
        // An earlier job may have left what could not be removed then.
        files.remove(&folder).await.map_err(Failed::Urp)?;
        files.create_folder(&folder).await.map_err(Failed::Urp)?;
        let exchanged = self.in_folder(elsewhere, &folder).await;
        match exchanged {
            // Nothing can be removed over a broken connection.
            Err(Failed::Urp(error)) if is_crash(&error) => Err(Failed::Urp(error)),
            exchanged => {
                files.remove(&folder).await.map_err(Failed::Urp)?;
                exchanged
            }
        }
    }

    async fn in_folder(self, elsewhere: &Elsewhere, folder: &Path) -> Exchanged {
        let name = self.name.as_deref().unwrap_or(staged_input::NAMELESS);
        let (input, output) = (folder.join(name), folder.join(".result"));
        let files = &elsewhere.files;
        send(files, self.source, &input, &elsewhere.spool).await?;
        let (from, to) = (Input::Path(input), Output::Path(output.clone()));
        let converted = self.client.convert(from, to, &self.conversion).await;
        let converted = converted.map_err(Failed::Urp)?;
        let body = fetch(files, &output, &elsewhere.spool, self.limit_bytes).await?;
        Ok((body, converted.phases))
    }
}

/// Sends a document to a file where LibreOffice is.
async fn send(files: &Files, source: StagedInput, to: &Path, spool: &Path) -> Result<(), Failed> {
    let document = source.send(spool).await.map_err(Failed::Output)?;
    files.write(to, document).await.map_err(Failed::Urp)
}

/// Fetches a result from a file where LibreOffice is. A large one goes to a file in `spool`.
async fn fetch(
    files: &Files,
    from: &Path,
    spool: &Path,
    limit_bytes: u64,
) -> Result<Content, Failed> {
    let mut reading = files.open(from).await.map_err(Failed::Urp)?;
    let size = reading.left();
    if size > limit_bytes {
        return Err(Failed::TooLarge(limit_bytes));
    }
    let mut held = BytesMut::new();
    let mut spooled = match size > MAX_HELD_BYTES {
        true => Some(staged_input::spool(spool).map_err(Failed::Output)?),
        false => None,
    };
    while let Some(piece) = reading.next_piece().await.map_err(Failed::Urp)? {
        match &mut spooled {
            Some(file) => file.write_all(&piece).map_err(Failed::Output)?,
            None => held.extend_from_slice(&piece),
        }
    }
    match spooled {
        Some(file) => Content::of_file(file).map_err(Failed::Output),
        None => Ok(held.freeze().into()),
    }
}

/// A safe version of the document's name. LibreOffice shows it in fields and uses it for the sheet
/// of a CSV file.
pub(crate) fn harmless(name: &str, detected: &Detected) -> String {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let kept = |text: &str, most: usize| -> String {
        let known = |it: &char| it.is_alphanumeric() || " -_".contains(*it);
        text.chars().filter(known).take(most).collect()
    };
    let (stem, extension) = (kept(stem, 60), kept(extension, 10));
    let stem = match stem.trim() {
        "" => staged_input::NAMELESS,
        stem => stem,
    };
    match extension.trim() {
        "" => stem.to_owned(),
        // LibreOffice asks whether to open a text with the name of a workbook.
        _ if detected.is_plain_sheet() => stem.to_owned(),
        extension => format!("{stem}.{extension}"),
    }
}

/// Reads a result. A large one stays in its file, whose name is removed afterwards, so that nothing is
/// left behind whatever happens.
fn take(file: File, limit_bytes: u64) -> Result<Content, Failed> {
    let size = file.metadata().map_err(Failed::Output)?.len();
    if size > limit_bytes {
        return Err(Failed::TooLarge(limit_bytes));
    }
    if size > MAX_HELD_BYTES {
        return Content::of_file(file).map_err(Failed::Output);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    let read = file.take(MAX_HELD_BYTES).read_to_end(&mut bytes);
    read.map_err(Failed::Output)?;
    Ok(bytes.into())
}
