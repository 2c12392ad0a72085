//! Total-fit line breaking: chooses all line ends of a paragraph together, so that the sum of their
//! demerits is smallest. Pure numbers, no text.
//!
//! Source: D. E. Knuth and M. F. Plass, "Breaking paragraphs into lines", Software: Practice and
//! Experience 11 (1981), with a limit on successive hyphens.

#[cfg(test)]
mod tests;

use platen_document::work;

use super::justify::loosen;

/// Overhang that still counts as fitting, in points, since sums of floats are inexact.
pub(super) const TOLERANCE: f32 = 0.01;
/// Maximum number of line ends under consideration at the same time. A line holds fewer words.
const MAX_ACTIVE: usize = 160;
/// Maximum number of successive lines that end with a hyphen.
pub(super) const MAX_HYPHENS: u8 = 2;
/// A ragged line this much shorter than the full width, relative to it, has a ratio of 1.
const RAGGED_STRETCH: f32 = 0.15;
/// Badness does not grow beyond this, so that sums of its squares stay exact.
const MAX_BADNESS: f32 = 1e5;

/// How fast badness grows with ratios above 1, relative to smaller ones: in narrow columns, where
/// many lines are loose, hyphens should not become free.
const LOOSE: f32 = 0.25;
/// Badness that a justified line gains at each of the [`STEPS`]: one loose line more counts more than
/// a loose line that is a little looser.
const GAPING: f32 = 280.0;
/// Ratios around which lines gain it, and how far they go on while they do: where readers begin to
/// see the gaps, and where spaces become twice as wide as the font's.
const STEPS: [(f32, f32); 2] = [(1.0, 0.12), (1.87, 0.2)];

/// Demerits, in the scale of a line's `(LINE + badness + penalty)²`.
const LINE: f32 = 10.0;
const HYPHEN: f32 = 500.0;
/// Ragged lines gain no steps, which a hyphen would spare.
const RAGGED_HYPHEN: f32 = 320.0;
const EXPLICIT_HYPHEN: f32 = 40.0;
const SECOND_HYPHEN: f64 = 3_000.0;
const UNEVEN: f64 = 20_000.0;
const RUNT: f64 = 4_000.0;
/// Ragged lines can give a word away more easily than justified ones.
const RAGGED_RUNT_DEMERITS: f64 = 10_000.0;
/// A last line shorter than this part of the width is a runt.
const RUNT_WIDTH: f32 = 0.1;
/// The same below ragged lines.
pub(super) const RAGGED_RUNT: f32 = 0.15;

/// What a line ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// A space, or nothing.
    Plain,
    /// A hyphen or dash of the text.
    ExplicitHyphen,
    /// A hyphen that is there only if the line ends here.
    Hyphen,
    /// The end of the paragraph, or a mandatory break.
    Last,
}

/// How much wider and narrower spaces may become, in points, from the start of the text on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Glue {
    /// Until they are as wide as is still good.
    pub stretch: f64,
    /// At most.
    pub shrink: f64,
}

impl Glue {
    /// Flexibility of the text behind `start`.
    fn since(self, start: Self) -> Self {
        Self {
            stretch: self.stretch - start.stretch,
            shrink: self.shrink - start.shrink,
        }
    }
}

/// A place where a line may end. Lengths are in points from a common origin, as if the text were
/// one line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// End of a line that ends here, with its hyphen and without trailing spaces.
    pub end: f64,
    /// Flexibility of the text before it.
    pub end_glue: Glue,
    /// Start of a line that starts here.
    pub next: f64,
    /// Flexibility of the text before that.
    pub next_glue: Glue,
    pub ending: Ending,
    /// Index of the atom that ends here, or in which the hyphen stands.
    pub atom: u32,
    /// Byte offset of the hyphen in the atom; 0 behind the atom.
    pub point: u16,
}

/// The line widths, and what counts as an acceptable line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measure {
    /// Widths of the first line and of the others, in points.
    pub limits: [f32; 2],
    pub justified: bool,
    /// Whether the previous line, before the first candidate, ends with a hyphen.
    pub after_hyphen: bool,
    /// Whether letters move apart where spaces alone would gape.
    pub tracking: bool,
}

/// How far lines may be from the ideal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Looseness {
    /// No line looser than this ratio.
    Most(f32),
    /// Whatever it takes.
    Any,
}

/// The chosen line ends, as indices of candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// Down to the last candidate.
    Whole(Vec<usize>),
    /// The content behind the last of them, if any, is wider than a line.
    Stuck(Vec<usize>),
    /// There are no lines with the requested looseness.
    Impossible,
}

/// Tightness of a line; neighbors should not differ by more than one class.
type Class = u8;

/// A line end, with the best way to it.
#[derive(Clone, Copy, Debug)]
struct Node {
    next: f64,
    glue: Glue,
    demerits: f64,
    /// Index of the candidate; `usize::MAX` for the start of the text.
    candidate: usize,
    previous: u32,
    class: Class,
    /// Successive lines up to here that end with a hyphen.
    hyphens: u8,
}

const START: usize = usize::MAX;

struct Search<'c> {
    candidates: &'c [Candidate],
    measure: Measure,
    looseness: Looseness,
    nodes: Vec<Node>,
    active: Vec<u32>,
}

/// The best line ends among `candidates`, whose last is where the text ends, or where it is cut
/// because it goes on for long.
pub(super) fn total_fit(candidates: &[Candidate], measure: Measure, looseness: Looseness) -> Fit {
    let start = Node {
        next: 0.0,
        glue: Glue::default(),
        demerits: 0.0,
        candidate: START,
        previous: 0,
        class: 1,
        hyphens: u8::from(measure.after_hyphen),
    };
    let mut search = Search {
        candidates,
        measure,
        looseness,
        nodes: vec![start],
        active: vec![0],
    };
    for index in 0..candidates.len() {
        work::check();
        if let Err(stuck) = search.step(index) {
            return match looseness {
                Looseness::Most(_) => Fit::Impossible,
                Looseness::Any => Fit::Stuck(search.path(stuck)),
            };
        }
    }
    // Where the text is cut, the lines may end anywhere before.
    let cut = candidates
        .last()
        .is_some_and(|last| last.ending != Ending::Last);
    let last = candidates.len().wrapping_sub(1);
    let ends = search.active.iter().copied();
    let ended = ends.filter(|node| cut || search.nodes[*node as usize].candidate == last);
    match ended.min_by(|a, b| search.demerits(*a).total_cmp(&search.demerits(*b))) {
        Some(node) => Fit::Whole(search.path(node)),
        None => Fit::Impossible,
    }
}

impl Search<'_> {
    fn demerits(&self, node: u32) -> f64 {
        self.nodes[node as usize].demerits
    }

    /// Candidates on the way to `node`.
    fn path(&self, mut node: u32) -> Vec<usize> {
        let mut path = Vec::new();
        while self.nodes[node as usize].candidate != START {
            path.push(self.nodes[node as usize].candidate);
            node = self.nodes[node as usize].previous;
        }
        path.reverse();
        path
    }

    /// Considers all lines that end at a candidate. Fails if no line can go on; the error is the
    /// last line end that can be reached.
    fn step(&mut self, index: usize) -> Result<(), u32> {
        let dead = self.retire(index);
        if self.active.is_empty() {
            let rescued = self.rescue(index, dead.ok_or(0_u32)?)?;
            self.active.push(rescued);
            if let (Some(_), true) = (self.retire(index), self.active.is_empty()) {
                return Err(rescued);
            }
        }
        // The best line for each class of tightness and number of hyphens.
        let mut best: [Option<Node>; 4 * (MAX_HYPHENS as usize + 1)] = [None; 12];
        for &active in &self.active {
            let node = &self.nodes[active as usize];
            let Some(line) = self.line(active, node, index) else {
                continue;
            };
            let place = usize::from(line.class) * (usize::from(MAX_HYPHENS) + 1)
                + usize::from(line.hyphens.min(MAX_HYPHENS));
            if best[place].is_none_or(|other| line.demerits < other.demerits) {
                best[place] = Some(line);
            }
        }
        let least = (best.iter().flatten())
            .map(|node| node.demerits)
            .fold(f64::INFINITY, f64::min);
        for node in best.into_iter().flatten() {
            // Others cannot become better, whatever follows.
            if node.demerits <= least + UNEVEN + SECOND_HYPHEN {
                self.active.push(self.nodes.len() as u32);
                self.nodes.push(node);
            }
        }
        self.prune();
        Ok(())
    }

    /// Removes the line starts from which the candidate cannot be reached on one line. Returns the
    /// best of them.
    fn retire(&mut self, index: usize) -> Option<u32> {
        let candidate = &self.candidates[index];
        let (nodes, measure) = (&self.nodes, &self.measure);
        let mut dead: Option<u32> = None;
        let better = |node: u32, dead: Option<u32>| {
            let key = |node: u32| {
                let node = &nodes[node as usize];
                (node.candidate.wrapping_add(1), -node.demerits)
            };
            dead.is_none_or(|dead| key(node) > key(dead))
        };
        self.active.retain(|active| {
            let node = &nodes[*active as usize];
            // Without the hyphen, since a longer line may end behind a whole word.
            let end = candidate.end.min(candidate.next);
            let glue = candidate.end_glue.since(node.glue);
            let width = (end - node.next) as f32;
            let fits = width <= measure.most(node, glue);
            if !fits && better(*active, dead) {
                dead = Some(*active);
            }
            fits
        });
        dead
    }

    /// Makes a line end at the candidate before `index`, although its line is too loose. Fails if
    /// there is none behind `dead`.
    fn rescue(&mut self, index: usize, dead: u32) -> Result<u32, u32> {
        let node = self.nodes[dead as usize];
        let first = node.candidate.wrapping_add(1);
        if self.looseness != Looseness::Any || first >= index {
            return Err(dead);
        }
        let plain = |index: &usize| self.candidates[*index].ending == Ending::Plain;
        let fits = |index: &usize| self.natural(&node, *index).is_some();
        let mut fitting = (first..index).rev().filter(fits);
        let Some(chosen) = fitting.clone().find(plain).or_else(|| fitting.next()) else {
            return Err(dead);
        };
        let candidate = &self.candidates[chosen];
        let hyphens = match candidate.ending {
            Ending::Plain | Ending::Last => 0,
            _ => (node.hyphens + 1).min(MAX_HYPHENS),
        };
        self.nodes.push(Node {
            next: candidate.next,
            glue: candidate.next_glue,
            demerits: node.demerits + f64::from(MAX_BADNESS).powi(2),
            candidate: chosen,
            previous: dead,
            class: 3,
            hyphens,
        });
        Ok((self.nodes.len() - 1) as u32)
    }

    /// Natural width and flexibility of the line from `node` to a candidate. `None` if it does not
    /// fit.
    fn natural(&self, node: &Node, index: usize) -> Option<(f32, Glue)> {
        let candidate = &self.candidates[index];
        let width = (candidate.end - node.next) as f32;
        let glue = candidate.end_glue.since(node.glue);
        (width <= self.measure.most(node, glue)).then_some((width, glue))
    }

    /// The line from `node` to a candidate, as a node. `None` if it is not acceptable.
    fn line(&self, from: u32, node: &Node, index: usize) -> Option<Node> {
        let candidate = &self.candidates[index];
        let (width, glue) = self.natural(node, index)?;
        let limit = self.measure.limit(node);
        let last = candidate.ending == Ending::Last;
        let mut ratio = self.measure.ratio(width, glue, limit);
        if last {
            ratio = ratio.min(0.0);
        }
        match self.looseness {
            Looseness::Most(most) if ratio > most => return None,
            Looseness::Any if !last && width < limit * 0.4 => return None,
            _ if last && self.ends_with_inserted_hyphen(node) => return None,
            _ => {}
        }
        let hyphens = match candidate.ending {
            Ending::Plain | Ending::Last => 0,
            Ending::Hyphen | Ending::ExplicitHyphen if node.hyphens >= MAX_HYPHENS => return None,
            Ending::Hyphen | Ending::ExplicitHyphen => node.hyphens + 1,
        };
        let penalty = match candidate.ending {
            Ending::Plain | Ending::Last => 0.0,
            Ending::Hyphen if self.measure.justified => HYPHEN,
            Ending::Hyphen => RAGGED_HYPHEN,
            Ending::ExplicitHyphen => EXPLICIT_HYPHEN,
        };
        let eased = ratio.abs().min(1.0 + (ratio.abs() - 1.0) * LOOSE);
        let badness = (100.0 * eased.powi(3) + self.measure.gaping(ratio)).min(MAX_BADNESS);
        let class = class(ratio);
        let mut demerits = f64::from(LINE + badness + penalty).powi(2);
        if class.abs_diff(node.class) > 1 && node.candidate != START {
            demerits += UNEVEN;
        }
        if hyphens > 1 {
            demerits += SECOND_HYPHEN;
        }
        if last {
            demerits += self.measure.runt(width, limit);
        }
        Some(Node {
            next: candidate.next,
            glue: candidate.next_glue,
            demerits: node.demerits + demerits,
            candidate: index,
            previous: from,
            class,
            hyphens,
        })
    }

    /// Whether the line up to `node` ends with a hyphen that a longer line would not need.
    fn ends_with_inserted_hyphen(&self, node: &Node) -> bool {
        let candidate = self.candidates.get(node.candidate);
        candidate.is_some_and(|end| end.ending == Ending::Hyphen)
    }

    /// Bounds the work for each candidate, by forgetting the line ends with the most demerits.
    fn prune(&mut self) {
        if self.active.len() > MAX_ACTIVE {
            let nodes = &self.nodes;
            let demerits = |node: &u32| nodes[*node as usize].demerits;
            self.active
                .sort_by(|a, b| demerits(a).total_cmp(&demerits(b)));
            self.active.truncate(MAX_ACTIVE / 2);
            self.active.sort_unstable();
        }
    }
}

impl Measure {
    fn limit(&self, node: &Node) -> f32 {
        self.limits[usize::from(node.candidate != START)]
    }

    /// Demerits of a last line of that `width`.
    fn runt(&self, width: f32, limit: f32) -> f64 {
        let (least, demerits) = match self.justified {
            true => (RUNT_WIDTH, RUNT),
            false => (RAGGED_RUNT, RAGGED_RUNT_DEMERITS),
        };
        if width < limit * least { demerits } else { 0.0 }
    }

    /// Badness of gaps that readers see, for a line of that stretch ratio.
    fn gaping(&self, ratio: f32) -> f32 {
        if !self.justified {
            return 0.0;
        }
        let steps = STEPS.map(|(at, range)| (0.5 + (ratio - at) / range).clamp(0.0, 1.0));
        GAPING * steps.iter().sum::<f32>()
    }

    /// Maximum natural width of a line of that flexibility.
    fn most(&self, node: &Node, glue: Glue) -> f32 {
        let shrink = if self.justified {
            glue.shrink as f32
        } else {
            0.0
        };
        self.limit(node) + shrink + TOLERANCE
    }

    /// Stretch ratio of a line: 0 as it is, 1 if its spaces are as wide as is still good, -1 if
    /// they are as narrow as possible.
    fn ratio(&self, width: f32, glue: Glue, limit: f32) -> f32 {
        let free = limit - width;
        match (self.justified, free < 0.0) {
            (true, true) => free / (glue.shrink as f32).max(TOLERANCE),
            (true, false) if self.tracking => loosen(free, (glue.stretch as f32).max(0.5), width).1,
            (true, false) => free / (glue.stretch as f32).max(0.5),
            (false, _) => (free / (limit * RAGGED_STRETCH)).max(0.0),
        }
    }
}

fn class(ratio: f32) -> Class {
    match ratio {
        ratio if ratio < -0.5 => 0,
        ratio if ratio <= 0.5 => 1,
        ratio if ratio <= 1.0 => 2,
        _ => 3,
    }
}
