//! The pack of conversions: a letter and Word documents of 2.5 MB and 14 MB to PDF, by Platen over
//! HTTP, by its protocol client alone with every way of transferring bytes, and by other products
//! with the same LibreOffice; then how the rate scales with processes.

mod by;
mod contestants;
pub mod documents;
mod line;
mod report;

use std::path::{Path, PathBuf};

use self::contestants::contestants;
pub use self::report::{blocks, plots};
use crate::{
    Cell, Error, Outcome, Progress,
    client::Request,
    load::Load,
    program::{Platen, folder},
    recorder::Recorder,
    rounds::{Contender, in_turns},
};

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The binary to start.
    pub platen: Platen,
    /// Names of documents; all if empty.
    pub documents: Vec<String>,
    /// Number of interleaved rounds.
    pub rounds: usize,
    /// Number of letters converted per round; larger documents are converted once.
    pub samples: usize,
    /// Names of sections; all if empty.
    pub sections: Vec<String>,
    /// Folder with unoserver for the system's Python.
    pub unoserver: Option<PathBuf>,
    /// URL of a running Gotenberg.
    pub gotenberg: Option<String>,
}

/// Default number of rounds.
pub const ROUNDS: usize = 5;
/// Names of the sections.
pub const SECTIONS: [&str; 2] = ["compare", "rate"];
/// Numbers of LibreOffice processes whose rates are measured.
const PROCESSES: [usize; 3] = [1, 2, 4];
/// Media type of Word documents.
const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

impl Options {
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
    name: String,
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
    let mut recorder = Recorder::new("office");
    if crate::program::find("soffice").is_none() && std::env::var_os("LIBREOFFICE_PATH").is_none() {
        return Err(Error::Missing {
            program: "LibreOffice".to_owned(),
            hint: "apt-get install libreoffice-writer-nogui".to_owned(),
        });
    }
    let temporary = folder()?;
    progress("office: writing the documents");
    let documents = write(options, temporary.path())?;
    if options.wants("compare") {
        compare(options, &documents, &mut recorder, progress)?;
    }
    if options.wants("rate") {
        rates(options, &documents, &mut recorder, progress)?;
    }
    Ok(recorder)
}

fn write(options: &Options, folder: &Path) -> Result<Vec<Document>, Error> {
    let wanted =
        |name: &&str| options.documents.is_empty() || options.documents.iter().any(|it| it == name);
    let names: Vec<&str> = documents::NAMES.into_iter().filter(wanted).collect();
    let paths = documents::write(folder, &names).map_err(Error::file("write", folder))?;
    let document = |(name, path): (&str, PathBuf)| {
        let metadata = path.metadata().map_err(Error::file("read", &path))?;
        Ok(Document {
            name: name.to_owned(),
            path,
            size_bytes: metadata.len(),
            samples: if name == "letter.docx" {
                options.samples.max(1)
            } else {
                1
            },
        })
    };
    names.into_iter().zip(paths).map(document).collect()
}

fn cell_of(section: &str, document: &Document, load: &Load) -> Cell {
    let mut cell = Cell::new(section, &document.name, load);
    cell.values
        .insert("inputBytes".to_owned(), document.size_bytes as f64);
    cell
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
            let cell = cell_of("compare", document, &load).label("by", contestant.by.name());
            let connect = contestant.connect(&document.path)?;
            contenders.push(Contender::new(cell, load, contestant.pid(), connect));
        }
        in_turns(options.rounds, contenders, recorder)?;
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
        let request = convert_request(&document.name, &content);
        let mut contenders = Vec::new();
        for (processes, service) in &services {
            let count = match document.samples {
                1 => PROCESSES[2],
                samples => samples * PROCESSES[2],
            };
            // As many clients as the largest number of processes, so that all are kept busy.
            let load = Load::closed(PROCESSES[2], PROCESSES[2], count);
            let cell = cell_of("rate", document, &load).label("processes", processes);
            let (target, request) = (service.target(), &request);
            contenders.push(Contender::new(cell, load, Some(service.pid()), move || {
                let mut connection = target.connect()?;
                Ok(move || -> Outcome { connection.send(request) })
            }));
        }
        in_turns(options.rounds, contenders, recorder)?;
    }
    Ok(())
}

/// A conversion by `POST /convert`. Indexes are not updated, as with the other converters.
fn convert_request(name: &str, content: &[u8]) -> Request {
    let path = format!("/convert?filename={name}&update_indexes=false");
    Request::new("POST", &path, &[("Content-Type", WORD)], content)
}
