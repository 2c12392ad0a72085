//! The pack of conversions of a letter and of Word documents of 2.5 MB and 14 MB to PDF: how the
//! rate scales with processes; then a comparison of Platen over HTTP, its protocol client alone with
//! every way of transferring bytes, and other products with the same LibreOffice or a newer one.

mod contestants;
pub mod documents;
mod line;
mod report;

use std::path::{Path, PathBuf};

use self::contestants::contestants;
pub use self::report::{blocks, plots};
use crate::{
    Cell, Effort, Error, Outcome, Progress,
    client::{Request, Target},
    load::Load,
    name::{By, OfficeName, Word},
    program::{Platen, folder},
    recorder::Recorder,
    rounds::{Contender, in_turns},
    target::Measured,
};

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The binary to start if no service is given.
    pub platen: Platen,
    /// A service that is already running; then only that is measured.
    pub url: Option<Target>,
    /// Its API key.
    pub key: Option<String>,
    /// Number of clients that it gets.
    pub concurrency: usize,
    /// Names of documents; all if empty.
    pub documents: Vec<String>,
    /// How much is measured: letters per round; larger documents are converted once.
    pub effort: Effort,
    /// Names of sections; all if empty.
    pub sections: Vec<String>,
    /// Folder with unoserver for the system's Python.
    pub unoserver: Option<PathBuf>,
    /// URL of a running Gotenberg.
    pub gotenberg: Option<String>,
    /// Program of a LibreOffice that is newer than the installed one.
    pub newest: Option<PathBuf>,
}

/// A full run.
pub const WHOLE: Effort = Effort {
    samples: 5,
    min_rounds: 6,
    max_rounds: 30,
    cell_seconds: 32,
    pack_seconds: 1_530,
};
/// A quick run.
pub const QUICK: Effort = Effort {
    samples: 3,
    min_rounds: 2,
    max_rounds: 2,
    cell_seconds: 10,
    pack_seconds: 150,
};
/// Names of the sections.
pub const SECTIONS: [&str; 2] = ["compare", "rate"];
/// Numbers of LibreOffice processes whose rates are measured.
const PROCESSES: [usize; 3] = [1, 2, 4];
/// Media type of Word documents.
const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

impl Options {
    /// The URL of the Gotenberg that will be compared.
    #[must_use]
    pub fn compared(&self) -> Option<&str> {
        let is_wanted = self.url.is_none() && self.wants("compare");
        self.gotenberg.as_deref().filter(|_| is_wanted)
    }

    /// Number of documents that will be converted.
    #[must_use]
    pub fn count(&self) -> usize {
        match self.documents.len() {
            0 => documents::NAMES.len(),
            count => count,
        }
    }

    fn wants(&self, section: &str) -> bool {
        self.sections.is_empty() || self.sections.iter().any(|it| it == section)
    }

    fn check(&self) -> Result<(), Error> {
        let wrong = |given: &[String], known: &[&str]| {
            let wrong = given.iter().find(|it| !known.contains(&it.as_str()));
            wrong.map(|it| {
                Error::argument(
                    format!("there is no `{it}`"),
                    format!("there are {}", known.join(", ")),
                )
            })
        };
        let found = wrong(&self.sections, &SECTIONS);
        match found.or_else(|| wrong(&self.documents, &documents::NAMES)) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// A document to convert.
struct Document {
    name: Word,
    path: PathBuf,
    size_bytes: u64,
    /// Conversions per round.
    samples: usize,
}

/// Measures the pack.
///
/// # Errors
/// The service does not start. Failed conversions void their cells.
pub fn run(options: &Options, progress: Progress<'_>) -> Result<Recorder, Error> {
    options.check()?;
    let mut recorder = Recorder::of("office", options.effort);
    if let Some(target) = &options.url {
        recorder.target(Measured::ask(target, options.key.as_deref()));
        deployed(options, target, &mut recorder, progress)?;
        return Ok(recorder);
    }
    if crate::program::find("soffice").is_none() && std::env::var_os("LIBREOFFICE_PATH").is_none() {
        return Err(Error::Missing {
            program: "LibreOffice".to_owned(),
            hint: "apt-get install libreoffice-writer-nogui".to_owned(),
        });
    }
    let temporary = folder()?;
    progress("office: writing the documents");
    let documents = write(options, temporary.path())?;
    // The comparison comes last: it takes whatever time the pack has left.
    if options.wants("rate") {
        rates(options, &documents, &mut recorder, progress)?;
    }
    if options.wants("compare") {
        compare(options, &documents, &mut recorder, progress)?;
    }
    Ok(recorder)
}

fn write(options: &Options, folder: &Path) -> Result<Vec<Document>, Error> {
    let wanted = |word: &Word| {
        options.documents.is_empty() || options.documents.iter().any(|it| it == word.as_str())
    };
    let words: Vec<Word> = Word::ALL.into_iter().filter(wanted).collect();
    let names: Vec<&str> = words.iter().map(|word| word.as_str()).collect();
    let paths = documents::write(folder, &names).map_err(Error::file("write", folder))?;
    let document = |(name, path): (Word, PathBuf)| {
        let metadata = path.metadata().map_err(Error::file("read", &path))?;
        Ok(Document {
            name,
            path,
            size_bytes: metadata.len(),
            samples: if name == Word::Letter {
                options.effort.samples.max(1)
            } else {
                1
            },
        })
    };
    words.into_iter().zip(paths).map(document).collect()
}

fn cell_of(name: OfficeName, document: &Document, load: &Load) -> Cell {
    let mut cell = Cell::new(name, load);
    cell.values
        .insert("inputBytes".to_owned(), document.size_bytes as f64);
    cell
}

/// A service that is already running converts every document.
fn deployed(
    options: &Options,
    target: &Target,
    recorder: &mut Recorder,
    progress: Progress<'_>,
) -> Result<(), Error> {
    let temporary = folder()?;
    progress("office: writing the documents");
    for document in write(options, temporary.path())? {
        progress(&format!("office: {} at {target}", document.name));
        let content = std::fs::read(&document.path).map_err(Error::file("read", &document.path))?;
        let request = convert_request(document.name.as_str(), &content, options.key.as_deref());
        let clients = options.concurrency.max(1);
        let load = Load::closed(clients, clients, document.samples.saturating_mul(clients));
        let name = OfficeName::Compare {
            document: document.name,
            by: By::Platen,
        };
        let cell = cell_of(name, &document, &load);
        let contender = Contender::new(cell, load, None, || {
            let (mut connection, request) = (target.connect()?, &request);
            Ok(move || -> Outcome { connection.send(request) })
        });
        in_turns(options.effort, vec![contender], recorder)?;
    }
    Ok(())
}

/// Every converter converts every document, interleaved.
fn compare(
    options: &Options,
    documents: &[Document],
    recorder: &mut Recorder,
    progress: Progress<'_>,
) -> Result<(), Error> {
    progress("office: starting everybody");
    let all = contestants(options, recorder)?;
    for document in documents {
        progress(&format!(
            "office: {}, {} interleaved",
            document.name,
            all.len()
        ));
        let mut contenders = Vec::new();
        for contestant in &all {
            let load = Load::closed(1, 1, document.samples);
            let name = OfficeName::Compare {
                document: document.name,
                by: contestant.by,
            };
            let cell = cell_of(name, document, &load);
            let connect = contestant.connect(&document.path)?;
            contenders.push(Contender::new(cell, load, contestant.pid(), connect));
        }
        in_turns(options.effort, contenders, recorder)?;
    }
    Ok(())
}

/// Conversions per second with one, two and four processes.
fn rates(
    options: &Options,
    documents: &[Document],
    recorder: &mut Recorder,
    progress: Progress<'_>,
) -> Result<(), Error> {
    let mut services = Vec::new();
    for processes in PROCESSES {
        let slots = processes.to_string();
        let settings = [
            ("OFFICE_SLOTS", slots.as_str()),
            ("LIBREOFFICE_WARM", "true"),
        ];
        services.push((processes, options.platen.serve(&settings, &[])?));
    }
    for document in documents {
        progress(&format!("office: rates of {}", document.name));
        let content = std::fs::read(&document.path).map_err(Error::file("read", &document.path))?;
        let request = convert_request(document.name.as_str(), &content, None);
        let mut contenders = Vec::new();
        for (processes, service) in &services {
            let count = match document.samples {
                1 => PROCESSES[2],
                samples => samples * PROCESSES[2],
            };
            // As many clients as the largest number of processes, so that all are kept busy.
            let load = Load::closed(PROCESSES[2], PROCESSES[2], count);
            let name = OfficeName::Rate {
                document: document.name,
                processes: *processes,
            };
            let cell = cell_of(name, document, &load);
            let (target, request) = (service.target(), &request);
            contenders.push(Contender::new(cell, load, Some(service.pid()), move || {
                let mut connection = target.connect()?;
                Ok(move || -> Outcome { connection.send(request) })
            }));
        }
        in_turns(options.effort, contenders, recorder)?;
    }
    Ok(())
}

/// A conversion by `POST /convert`. Indexes are not updated, as with the other converters.
fn convert_request(name: &str, content: &[u8], key: Option<&str>) -> Request {
    let path = format!("/convert?filename={name}&update_indexes=false");
    let mut headers = vec![("Content-Type", WORD)];
    headers.extend(key.map(|key| ("X-Api-Key", key)));
    Request::new("POST", &path, &headers, content)
}
