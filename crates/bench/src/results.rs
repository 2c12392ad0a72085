//! A results folder: what was measured, on which machine, and the requests.
//!
//! `summary.json` has the cells, `environment.json` the machine, `requests.csv.gz` the requests of
//! the harness's client (evenly thinned if a cell has more than [`MAX_RAW_ROWS`]), `summary.md` the
//! tables, and the `.svg` files the plots. Tables and plots are generated from `summary.json`
//! alone.

use std::{
    fmt::Write as _,
    fs,
    io::{Read, Write},
    path::Path,
};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    Cell, Error, Times,
    environment::Environment,
    flow, http,
    load::{Run, Sample},
    office, render, report,
};

/// Maximum number of requests of a cell in `requests.csv.gz`.
pub const MAX_RAW_ROWS: usize = 2_000;
/// Maximum size of a results file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;
const CSV_HEAD: &str = "cell,round,start_us,client_us,server_us,status,good,bytes,pages\n";

/// The measurements of a pack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Results {
    /// `render`, `flow`, `office` or `http`.
    pub pack: String,
    /// The command that created them.
    pub command: String,
    /// Duration, in seconds.
    pub seconds: f64,
    /// What was omitted, and why.
    pub notes: Vec<String>,
    /// The cells.
    pub cells: Vec<Cell>,
    /// The machine; stored in a file of its own.
    #[serde(skip)]
    pub environment: Environment,
}

impl Results {
    /// The cells of a section.
    pub fn section<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Cell> {
        self.cells.iter().filter(move |cell| cell.section == name)
    }

    /// Reads a folder.
    ///
    /// # Errors
    /// The folder has no results.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let mut results: Self = read_json(&folder.join("summary.json"))?;
        results.environment = read_json(&folder.join("environment.json"))?;
        Ok(results)
    }

    /// Whether a request of any cell failed.
    #[must_use]
    pub fn is_void(&self) -> bool {
        self.cells.iter().any(Cell::is_void)
    }

    /// How much smaller the run is than a full run of the pack; `None` for a full run.
    #[must_use]
    pub fn how_quick(&self) -> Option<String> {
        let (section, unit, whole, extent): (_, _, _, fn(&Cell) -> f64) = match &*self.pack {
            "render" => ("cells", "requests a cell", render::SAMPLES, requests),
            "flow" => ("matrix", "runs a cell and round", flow::SAMPLES, requests),
            "office" => ("compare", "rounds", office::ROUNDS, rounds),
            "http" => (
                "matrix",
                "s a cell and round",
                http::SECONDS as usize,
                seconds,
            ),
            _ => return None,
        };
        let most = self.section(section).map(extent).reduce(f64::max)?;
        // A run of wrk takes some hundredths of a second longer than requested.
        let is_less = (most.round() as usize) < whole;
        is_less.then(|| format!("{most:.0} {unit} at most and not {whole}"))
    }

    /// The report of the pack in Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# `{}`\n\n", self.command);
        for block in report::blocks(self) {
            let _ = writeln!(text, "## {}\n\n{}", block.title, block.body);
        }
        for note in &self.notes {
            let _ = writeln!(text, "- {note}");
        }
        text
    }
}

/// Number of rounds of a cell.
fn rounds(cell: &Cell) -> f64 {
    cell.rounds.len().max(1) as f64
}

/// Number of requests per round.
fn requests(cell: &Cell) -> f64 {
    cell.requests as f64 / rounds(cell)
}

/// Seconds per round.
fn seconds(cell: &Cell) -> f64 {
    cell.seconds / rounds(cell)
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let bytes = read_file(path)?;
    serde_json::from_slice(&bytes).map_err(|error| Error::Results {
        path: path.to_owned(),
        detail: error.to_string(),
    })
}

fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(Error::file("read", path))?;
    let read = file.take(MAX_FILE_BYTES).read_to_end(&mut bytes);
    read.map_err(Error::file("read", path))?;
    Ok(bytes)
}

/// Collects the measurements of a pack.
#[derive(Debug)]
pub struct Recorder {
    results: Results,
    rows: String,
    begun: std::time::Instant,
}

impl Recorder {
    /// Starts recording a pack.
    #[must_use]
    pub fn new(pack: &str) -> Self {
        let results = Results {
            pack: pack.to_owned(),
            command: format!("platen bench {pack}"),
            ..Results::default()
        };
        Self {
            results,
            rows: CSV_HEAD.to_owned(),
            begun: std::time::Instant::now(),
        }
    }

    /// Adds a cell with the requests of its rounds.
    pub fn add(&mut self, cell: Cell, runs: &[Run]) {
        let index = self.results.cells.len();
        let count: usize = runs.iter().map(|run| run.samples.len()).sum();
        let step = count.div_ceil(MAX_RAW_ROWS).max(1);
        for (round, run) in runs.iter().enumerate() {
            for sample in run.samples.iter().step_by(step) {
                self.row(index, round, sample);
            }
        }
        self.results.cells.push(cell);
    }

    fn row(&mut self, cell: usize, round: usize, sample: &Sample) {
        let outcome = &sample.outcome;
        let server = outcome.server_us.map(|it| it.to_string());
        let pages = outcome.pages.map(|it| it.to_string());
        let _ = writeln!(
            self.rows,
            "{cell},{round},{},{},{},{},{},{},{}",
            sample.start_us,
            sample.client_us,
            server.unwrap_or_default(),
            outcome.status,
            u8::from(outcome.is_good),
            outcome.size_bytes,
            pages.unwrap_or_default(),
        );
    }

    /// Notes what was omitted.
    pub fn note(&mut self, text: impl Into<String>) {
        self.results.notes.push(text.into());
    }

    /// The results so far.
    #[must_use]
    pub fn results(&self) -> &Results {
        &self.results
    }

    /// The cells so far, to add values that are known only later.
    pub fn cells_mut(&mut self) -> &mut [Cell] {
        &mut self.results.cells
    }

    /// Ends the recording, and writes it if a folder is given.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn finish(
        mut self,
        command: &str,
        environment: Environment,
        folder: Option<&Path>,
    ) -> Result<Results, Error> {
        self.results.command = command.to_owned();
        self.results.environment = environment;
        self.results.seconds = (self.begun.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        if let Some(folder) = folder {
            self.write(folder)?;
        }
        Ok(self.results)
    }

    fn write(&self, folder: &Path) -> Result<(), Error> {
        fs::create_dir_all(folder).map_err(Error::file("make", folder))?;
        let put = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            fs::write(&path, bytes).map_err(Error::file("write", path))
        };
        let json = |value: Result<String, serde_json::Error>| value.unwrap_or_default() + "\n";
        let summary = json(serde_json::to_string_pretty(&Rounded(&self.results)));
        put("summary.json", summary.as_bytes())?;
        let environment = json(serde_json::to_string_pretty(&self.results.environment));
        put("environment.json", environment.as_bytes())?;
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        let packed = gzip
            .write_all(self.rows.as_bytes())
            .and_then(|()| gzip.finish());
        let path = folder.join("requests.csv.gz");
        put(
            "requests.csv.gz",
            &packed.map_err(Error::file("pack", path))?,
        )?;
        // Tables and plots are generated from what was written, as they will be when they are
        // generated again.
        let written = Results::read(folder)?;
        put("summary.md", written.to_markdown().as_bytes())?;
        for (name, chart) in report::plots(&written) {
            put(&format!("{name}.svg"), chart.to_svg().as_bytes())?;
        }
        Ok(())
    }
}

/// Results whose numbers are rounded to six decimals.
struct Rounded<'a>(&'a Results);

impl Serialize for Rounded<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value = serde_json::to_value(self.0).map_err(serde::ser::Error::custom)?;
        round(&mut value);
        value.serialize(serializer)
    }
}

fn round(value: &mut serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::Array(items) => items.iter_mut().for_each(round),
        Value::Object(fields) => fields.values_mut().for_each(round),
        Value::Number(number) if number.is_f64() => {
            let rounded = number.as_f64().map(|it| (it * 1e6).round() / 1e6);
            if let Some(rounded) = rounded.and_then(serde_json::Number::from_f64) {
                *number = rounded;
            }
        }
        _ => {}
    }
}

/// The client times of a cell, from the raw requests of a folder. They must match the summary if no
/// request was omitted.
///
/// # Errors
/// The folder has no such file, or it is damaged.
pub fn client_times_of_requests(folder: &Path, cell: usize) -> Result<Option<Times>, Error> {
    let path = folder.join("requests.csv.gz");
    let packed = read_file(&path)?;
    let mut text = String::new();
    GzDecoder::new(packed.as_slice())
        .take(MAX_FILE_BYTES)
        .read_to_string(&mut text)
        .map_err(Error::file("unpack", &path))?;
    let time = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let is_this = fields.first()?.parse::<usize>().ok()? == cell;
        let is_good = *fields.get(6)? == "1";
        (is_this && is_good).then(|| fields.get(3)?.parse::<u64>().ok())?
    };
    Ok(Times::of(text.lines().skip(1).filter_map(time)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outcome, load::Load};

    #[test]
    fn what_is_written_is_read_and_the_requests_agree_with_it() {
        let load = Load::closed(2, 0, 100);
        let mut recorder = Recorder::new("render");
        for name in ["pdf-1p", "pdf-10p"] {
            let run = load
                .run(|| {
                    Ok(|| Outcome {
                        is_good: true,
                        status: 200,
                        size_bytes: 7,
                        pages: Some(1),
                        ..Outcome::default()
                    })
                })
                .unwrap();
            let mut cell = Cell::new("cells", name, &load);
            cell.take(std::slice::from_ref(&run));
            recorder.add(cell, &[run]);
        }
        recorder.note("chromium was left out");
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment {
            date: "2026-11-21".to_owned(),
            ..Environment::default()
        };
        let results = recorder
            .finish("platen bench render", environment, Some(folder.path()))
            .unwrap();
        let read = Results::read(folder.path()).unwrap();
        assert_eq!(read.environment, results.environment);
        assert_eq!(read.to_markdown(), results.to_markdown());
        assert!(read.to_markdown().contains("chromium was left out"));
        for index in 0..2 {
            let times = client_times_of_requests(folder.path(), index).unwrap();
            assert_eq!(
                times.unwrap().shares,
                read.cells[index].client.as_ref().unwrap().shares
            );
        }
        assert_eq!(client_times_of_requests(folder.path(), 2).unwrap(), None);
    }

    #[test]
    fn a_run_of_fewer_samples_is_a_quick_one() {
        let mut results = Results {
            pack: "render".to_owned(),
            ..Results::default()
        };
        assert_eq!(results.how_quick(), None, "nothing was measured");
        let mut cell = Cell::new("cells", "pdf-1p", &Load::closed(5, 0, 120));
        cell.requests = 120;
        results.cells = vec![cell];
        let why = results.how_quick().unwrap();
        assert_eq!(why, "120 requests a cell at most and not 500");
        results.cells[0].requests = 500;
        assert_eq!(results.how_quick(), None);
    }

    #[test]
    fn a_folder_that_is_none_is_said_to_be_none() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Results::read(folder.path()).is_err());
        fs::write(folder.path().join("summary.json"), "{").unwrap();
        let error = Results::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("summary.json"), "{error}");
    }
}
