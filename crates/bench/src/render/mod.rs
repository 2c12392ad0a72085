//! The pack of renderings: documents of 1, 10 and 100 pages, the other formats, and the same pages
//! by Chromium; predictions from slots, the cost of isolation, cold starts, and scaling.

mod balance;
mod cells;
mod report;
mod sections;

use std::path::PathBuf;

pub(crate) use self::report::distribution;
pub use self::{
    cells::{CELLS, Kind, Spec, seed},
    report::{blocks, plots},
    sections::SECTIONS,
};
use crate::{Error, Progress, client::Target, load::Load, program::Platen, recorder::Recorder};

/// Default number of requests per cell.
pub const SAMPLES: usize = 500;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The binary to start if no service is given.
    pub platen: Platen,
    /// A service that is already running.
    pub url: Option<Target>,
    /// Its admin API key.
    pub key: Option<String>,
    /// Examples folder.
    pub examples: PathBuf,
    /// Names of cells; all if empty.
    pub cells: Vec<String>,
    /// Names of sections; all if empty.
    pub sections: Vec<String>,
    /// Number of requests before measuring.
    pub warmup: usize,
    /// Number of requests measured.
    pub samples: usize,
    /// Number of clients.
    pub concurrency: usize,
    /// Number of rounds in comparisons.
    pub rounds: usize,
}

impl Options {
    /// The load of a cell: heavy cells count as several light ones.
    fn load(&self, spec: &Spec, concurrency: usize) -> Load {
        let share = |count: usize, least: usize| (count / spec.weight).max(least.min(count));
        let warmup = share(self.warmup, 2);
        Load::closed(concurrency, warmup, share(self.samples, 6))
    }

    fn wants(&self, section: &str) -> bool {
        self.sections.is_empty() || self.sections.iter().any(|it| it == section)
    }

    fn check(&self) -> Result<(), Error> {
        let known: Vec<&str> = CELLS.iter().map(|spec| spec.name).collect();
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
    let mut recorder = Recorder::new("render");
    let measure = sections::Measure::new(options, progress)?;
    if options.url.is_some() {
        measure.cells(&mut recorder)?;
        return Ok(recorder);
    }
    measure.all(&mut recorder)?;
    Ok(recorder)
}
