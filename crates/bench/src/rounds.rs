//! Comparisons: interleaved rounds, and ratios with their spread.

use std::time::{Duration, Instant};

use crate::{
    Cell, Effort, Error,
    cell::interval,
    cpu::{own_seconds, tree_seconds},
    histogram::median,
    interval::{Basis, Interval},
    load::{Load, Outcome, Run},
    recorder::Recorder,
};

/// Decides after every round of compared cells whether there is another.
pub(crate) struct Rounds {
    effort: Effort,
    cells: usize,
    begun: Instant,
    longest: Duration,
    /// Bound of the least number of rounds.
    longest_of_least: Duration,
    done: usize,
}

/// How much longer cells may take until they have the least number of rounds, as there is no interval of fewer.
const PATIENCE: u32 = 3;

impl Rounds {
    /// Before the first round of this many cells.
    pub(crate) fn new(effort: Effort, cells: usize, recorder: &Recorder) -> Self {
        let cells_time = Duration::from_secs(effort.cell_seconds.saturating_mul(cells as u64));
        let pack = Duration::from_secs(effort.pack_seconds);
        let left = pack.saturating_sub(recorder.begun.elapsed());
        Self {
            effort,
            cells,
            begun: Instant::now(),
            longest: cells_time.min(left),
            longest_of_least: cells_time.saturating_mul(PATIENCE).min(left),
            done: 0,
        }
    }

    /// Number of rounds so far.
    pub(crate) fn done(&self) -> usize {
        self.done
    }

    /// After a round: whether another one follows. `is_narrow` says whether all cells have enough.
    pub(crate) fn go_on(&mut self, is_narrow: impl FnOnce() -> bool) -> bool {
        self.done += 1;
        let least = if self.cells > 1 {
            self.effort.min_rounds
        } else {
            1
        };
        let longest = match self.done < least {
            true => self.longest_of_least,
            false => self.longest,
        };
        if self.done >= self.effort.max_rounds || self.begun.elapsed() >= longest {
            return false;
        }
        self.done < least || !is_narrow()
    }
}

/// A ratio of two cells, computed per round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Median over the rounds.
    pub median: f64,
    /// Smallest ratio of a round.
    pub min: f64,
    /// Largest ratio of a round.
    pub max: f64,
}

impl Ratio {
    /// The ratio of two series of values; `None` if there is no round, or a value is 0.
    #[must_use]
    pub fn of(values: &[f64], to: &[f64]) -> Option<Self> {
        let pairs = values.iter().zip(to);
        let ratios: Option<Vec<f64>> = pairs
            .map(|(one, other)| (*other > 0.0 && *one > 0.0).then(|| one / other))
            .collect();
        let ratios = ratios?;
        Some(Self {
            median: median(&ratios)?,
            min: ratios.iter().copied().fold(f64::MAX, f64::min),
            max: ratios.iter().copied().fold(0.0, f64::max),
        })
    }

    /// The ratio of the rates of two cells.
    #[must_use]
    pub fn of_rates(cell: &Cell, to: &Cell) -> Option<Self> {
        let rates = |cell: &Cell| -> Vec<f64> { cell.rounds.iter().map(|it| it.rps).collect() };
        Self::of(&rates(cell), &rates(to))
    }

    /// The ratio of the median times of two cells.
    #[must_use]
    pub fn of_times(cell: &Cell, to: &Cell) -> Option<Self> {
        let times = |cell: &Cell| -> Vec<f64> { cell.rounds.iter().map(|it| it.p50).collect() };
        Self::of(&times(cell), &times(to))
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = match self.median {
            it if it >= 20.0 => 0,
            it if it >= 3.0 => 1,
            _ => 2,
        };
        write!(
            formatter,
            "{:.digits$} ({:.digits$} to {:.digits$})",
            self.median, self.min, self.max
        )
    }
}

type Client<'a> = Box<dyn FnMut() -> Outcome + 'a>;

/// A candidate of an interleaved measurement.
pub struct Contender<'a> {
    /// Its cell.
    pub cell: Cell,
    /// Load of a round.
    pub load: Load,
    /// Root of its process tree, whose processor time is counted.
    pub pid: Option<u32>,
    /// Roots of other process trees, whose times are added to the value with this name.
    pub others: Vec<(&'static str, u32)>,
    /// Creates a client.
    pub connect: Box<dyn Fn() -> Result<Client<'a>, Error> + Sync + 'a>,
}

impl<'a> Contender<'a> {
    /// A candidate whose clients are created by `connect`.
    pub fn new<C: FnMut() -> Outcome + 'a>(
        cell: Cell,
        load: Load,
        pid: Option<u32>,
        connect: impl Fn() -> Result<C, Error> + Sync + 'a,
    ) -> Self {
        Self {
            cell,
            load,
            pid,
            others: Vec::new(),
            connect: Box::new(move || Ok(Box::new(connect()?) as Client<'a>)),
        }
    }

    fn run(&mut self, is_first: bool) -> Result<Run, Error> {
        let mut load = self.load;
        if !is_first {
            // Later rounds find it warm.
            load.warmup = 0;
        }
        let warm = Load { samples: 0, ..load };
        warm.run(&self.connect)?;
        let cpu = || self.pid.map_or(0.0, tree_seconds);
        let others = |all: &[(&'static str, u32)]| -> Vec<f64> {
            all.iter().map(|(_, pid)| tree_seconds(*pid)).collect()
        };
        let before = others(&self.others);
        let (server, own) = (cpu(), own_seconds().0);
        let run = Load { warmup: 0, ..load }.run(&self.connect)?;
        let server = cpu() - server;
        let after = others(&self.others);
        for ((name, _), (after, before)) in self.others.iter().zip(after.iter().zip(before)) {
            *self.cell.values.entry((*name).to_owned()).or_default() += after - before;
        }
        if self.pid.is_some() {
            *self.cell.server_cpu_seconds.get_or_insert(0.0) += server;
            *self.cell.client_cpu_seconds.get_or_insert(0.0) += own_seconds().0 - own;
        }
        self.cell.rounds.push(crate::Round {
            server_cpu_seconds: server,
            ..crate::Round::default()
        });
        Ok(run)
    }
}

/// Measures all candidates interleaved, and records them. Each round starts with another one, so
/// that none always follows the same. Rounds follow until the interval of every candidate is
/// narrow: that of the median over the rounds, or over the requests of a single candidate.
///
/// # Errors
/// A load cannot be run at all. Failed requests void their cells.
pub fn in_turns(
    effort: Effort,
    mut contenders: Vec<Contender<'_>>,
    recorder: &mut Recorder,
) -> Result<(), Error> {
    let count = contenders.len();
    let basis = match count {
        1 => Basis::Requests,
        _ => Basis::RoundTimes,
    };
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); count];
    let mut rounds = Rounds::new(effort, count, recorder);
    loop {
        let round = rounds.done();
        for step in 0..count {
            let index = (round + step) % count;
            runs[index].push(contenders[index].run(round == 0)?);
        }
        let is_narrow = |runs: &Vec<Run>| {
            let interval = interval(runs, basis);
            interval.as_ref().is_some_and(Interval::is_narrow)
        };
        if !rounds.go_on(|| runs.iter().all(is_narrow)) {
            break;
        }
    }
    for (contender, runs) in contenders.into_iter().zip(runs) {
        let mut cell = contender.cell;
        cell.take(&runs, basis);
        recorder.add(cell, &runs);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::{Document, RenderName};

    fn rounds(effort: Effort, cells: usize, is_narrow: bool) -> usize {
        let mut rounds = Rounds::new(effort, cells, &Recorder::new("render"));
        while rounds.go_on(|| is_narrow) {}
        rounds.done()
    }

    #[test]
    fn rounds_end_with_a_narrow_interval_or_at_a_bound() {
        assert_eq!(
            rounds(Effort::SMALL, 2, true),
            3,
            "compared cells have the least"
        );
        assert_eq!(rounds(Effort::SMALL, 1, true), 1);
        assert_eq!(rounds(Effort::SMALL, 2, false), 5);
        let none = |cell_seconds, pack_seconds| Effort {
            cell_seconds,
            pack_seconds,
            ..Effort::SMALL
        };
        assert_eq!(rounds(none(0, 600), 2, false), 1);
        assert_eq!(rounds(none(600, 0), 2, false), 1);
    }

    #[test]
    fn ratios_are_of_rounds() {
        let ratio = Ratio::of(&[2.0, 30.0, 4.0], &[1.0, 10.0, 1.0]).unwrap();
        assert_eq!((ratio.median, ratio.min, ratio.max), (3.0, 2.0, 4.0));
        assert_eq!(ratio.to_string(), "3.0 (2.0 to 4.0)");
        assert_eq!(Ratio::of(&[], &[]), None);
        assert_eq!(Ratio::of(&[1.0], &[0.0]), None);
    }

    #[test]
    fn turns_change_who_is_first() {
        let order = std::sync::Mutex::new(Vec::new());
        let order = &order;
        let contenders = [("a", Document::Pdf1p), ("b", Document::Csv)].map(|(name, document)| {
            let load = Load::closed(1, 0, 1);
            Contender::new(
                Cell::new(RenderName::Serial { document }, &load),
                load,
                None,
                move || {
                    Ok(move || {
                        order.lock().unwrap().push(name);
                        Outcome {
                            is_good: true,
                            ..Outcome::default()
                        }
                    })
                },
            )
        });
        let mut recorder = Recorder::new("test");
        let effort = Effort {
            max_rounds: 2,
            ..Effort::SMALL
        };
        in_turns(effort, Vec::from(contenders), &mut recorder).unwrap();
        assert_eq!(*order.lock().unwrap(), ["a", "b", "b", "a"]);
        assert_eq!(recorder.results().cells[0].rounds.len(), 2);
    }
}
