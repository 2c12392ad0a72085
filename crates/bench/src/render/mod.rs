//! The pack of renderings: documents of 1, 10 and 100 pages, the other formats, and the same pages
//! by Chromium; predictions from slots, the cost of isolation and of stores, cold starts, and scaling.

mod balance;
mod cells;
mod gotenberg;
mod report;
mod sections;
mod storage;

use std::path::PathBuf;

pub(crate) use self::report::distribution;
pub use self::{
    cells::{CELLS, Kind, Spec, seed},
    gotenberg::COMPARED,
    report::{blocks, plots},
    sections::{BATCH, SECTIONS},
};
use crate::{
    Effort, Error, Progress, client::Target, load::Load, program::Platen, recorder::Recorder,
    target::Measured,
};

/// A full run. A round has this many requests of a light document that is measured alone, and a
/// part of them where documents are compared.
pub const WHOLE: Effort = Effort {
    samples: 500,
    min_rounds: 6,
    max_rounds: 60,
    cell_seconds: 20,
    pack_seconds: 1_020,
};
/// A quick run.
pub const QUICK: Effort = Effort {
    samples: 120,
    min_rounds: 2,
    max_rounds: 3,
    cell_seconds: 4,
    pack_seconds: 165,
};

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The binary to start if no service is given.
    pub platen: Platen,
    /// A service that is already running.
    pub url: Option<Target>,
    /// Its admin API key, which stores the templates.
    pub key: Option<String>,
    /// Its API key for renderings; the admin key if there is none.
    pub render_key: Option<String>,
    /// URL of a Gotenberg that is compared.
    pub gotenberg: Option<String>,
    /// Examples folder.
    pub examples: PathBuf,
    /// Names of cells; all if empty.
    pub cells: Vec<String>,
    /// Names of sections; all if empty.
    pub sections: Vec<String>,
    /// Number of requests before measuring.
    pub warmup: usize,
    /// How much is measured.
    pub effort: Effort,
    /// Number of clients.
    pub concurrency: usize,
    /// Whether the main cells are measured in strict batches instead of a closed loop.
    pub is_strict: bool,
}

impl Options {
    /// The load of a cell: heavy cells count as several light ones.
    fn load(&self, spec: &Spec, concurrency: usize) -> Load {
        let share = |count: usize, least: usize| (count / spec.weight).max(least.min(count));
        let warmup = share(self.warmup, 2);
        Load::closed(concurrency, warmup, share(self.effort.samples, 6))
    }

    /// The load of a round where documents are compared.
    fn round(&self, spec: &Spec, concurrency: usize) -> Load {
        let mut load = self.load(spec, concurrency);
        // The noise of a machine lasts for longer than a few light documents take.
        let share = if spec.weight == 1 { 2 } else { 5 };
        load.samples = (self.effort.samples / spec.weight / share).max(concurrency);
        load
    }

    /// The URL of the Gotenberg that will be compared.
    #[must_use]
    pub fn compared(&self) -> Option<&str> {
        let is_wanted = self.url.is_none() && self.wants("gotenberg");
        self.gotenberg.as_deref().filter(|_| is_wanted)
    }

    fn wants(&self, section: &str) -> bool {
        self.sections.is_empty() || self.sections.iter().any(|it| it == section)
    }

    fn check(&self) -> Result<(), Error> {
        let known: Vec<&str> = CELLS.iter().map(|spec| spec.document.as_str()).collect();
        for (given, known, what) in [
            (&self.cells, known, "cell"),
            (&self.sections, SECTIONS.to_vec(), "section"),
        ] {
            if let Some(wrong) = given.iter().find(|name| !known.contains(&name.as_str())) {
                return Err(Error::argument(
                    format!("unknown {what} `{wrong}`"),
                    format!("the {what}s are {}", known.join(", ")),
                ));
            }
        }
        Ok(())
    }
}

/// Measures the pack.
///
/// # Errors
/// A service does not start or rejects the templates. Failed renderings void their cells.
pub fn run(options: &Options, progress: Progress<'_>) -> Result<Recorder, Error> {
    options.check()?;
    let mut recorder = Recorder::of("render", options.effort);
    let measure = sections::Measure::new(options, progress)?;
    if let Some(target) = &options.url {
        recorder.target(Measured::ask(target, options.key.as_deref()));
        measure.cells(&mut recorder)?;
        return Ok(recorder);
    }
    measure.all(&mut recorder)?;
    Ok(recorder)
}
