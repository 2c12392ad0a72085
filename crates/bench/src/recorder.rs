//! Collects the measurements of a pack while it runs.

use std::fmt::Write as _;

use crate::{
    Cell, Effort,
    load::{Run, Sample},
    results::Results,
    target::Measured,
};

/// Maximum number of requests of a cell in `requests.csv.gz`.
pub const MAX_RAW_ROWS: usize = 2_000;
const CSV_HEAD: &str = "cell,round,start_us,client_us,server_us,status,good,bytes,pages\n";

/// Collects the measurements of a pack.
#[derive(Debug)]
pub struct Recorder {
    pub(crate) results: Results,
    /// The requests, as `requests.csv.gz` has them.
    pub(crate) rows: String,
    pub(crate) begun: std::time::Instant,
}

impl Recorder {
    /// Starts recording a pack that is measured with this effort.
    #[must_use]
    pub fn of(pack: &str, effort: Effort) -> Self {
        let mut recorder = Self::new(pack);
        recorder.results.effort = Some(effort);
        recorder
    }

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

    /// Notes the service that was already running.
    pub fn target(&mut self, measured: Measured) {
        self.results.target = Some(measured);
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
}
