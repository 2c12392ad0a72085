//! Figures of the guide on sizing: how much processor time a piece of work takes, and how many of them
//! one core does, rounded to what a plan needs.

use crate::{
    Cell, Name, Results,
    name::{By, Document, FlowName, Isolation, OfficeName, RenderName, Runner, Sandbox, Word},
};

/// The utilization up to which waits stay short.
const UTILIZATION: f64 = 0.7;
/// Callers of a flow.
const CALLERS: usize = 16;

/// The figures of a run by their names: `cpu-WORK`, `rate-WORK` and those of the example.
pub(crate) fn figures(packs: &[Results]) -> Vec<(String, String)> {
    let work = work(packs);
    let mut all = Vec::new();
    for (name, time) in &work {
        all.push((format!("cpu-{name}"), duration(*time)));
        all.push((format!("rate-{name}"), rate(*time)));
    }
    all.extend(example(&work).into_iter().flatten());
    all
}

/// Processor time of each kind of work, in milliseconds.
fn work(packs: &[Results]) -> Vec<(&'static str, f64)> {
    let of = |wanted: &Name, concurrency: Option<usize>| {
        let mut cells = packs.iter().flat_map(|results| &results.cells);
        let is_it = |cell: &&Cell| {
            cell.name == *wanted
                && concurrency.is_none_or(|it| cell.concurrency == it)
                && !cell.is_void()
        };
        cells.find(is_it)
    };
    let render = |name| of(&Name::Render(name), None)?.server_cpu_ms();
    let document = |document| render(RenderName::Cells { document });
    let jail = RenderName::Isolation {
        document: Document::Pdf1p,
        isolation: Isolation::Jail,
    };
    let office = |document| {
        let by = By::Platen;
        of(&Name::Office(OfficeName::Compare { document, by }), None)?.server_cpu_ms()
    };
    let flow = |runner| {
        let name = FlowName::Matrix {
            runner,
            sandbox: Sandbox::Fresh,
            is_durable: true,
        };
        of(&Name::Flow(name), Some(CALLERS))
    };
    let worker = flow(Runner::Workers {
        workers: 1,
        slots: 4,
    });
    let of_worker = |cell: &Cell| {
        let seconds = cell.values.get("workerCpuSeconds")?;
        (cell.requests > 0).then(|| seconds * 1e3 / cell.requests as f64)
    };
    let all = [
        ("pdf-1p", document(Document::Pdf1p)),
        ("pdf-10p", document(Document::Pdf10p)),
        ("pdf-100p", document(Document::Pdf100p)),
        ("docx", document(Document::Docx)),
        ("pptx", document(Document::Pptx)),
        ("xlsx", document(Document::Xlsx)),
        ("jail", render(jail)),
        ("chromium-1p", document(Document::Chromium1p)),
        ("chromium-100p", document(Document::Chromium100p)),
        ("letter", office(Word::Letter)),
        ("word", office(Word::Small)),
        ("run", flow(Runner::Service).and_then(Cell::server_cpu_ms)),
        ("run-service", worker.and_then(Cell::server_cpu_ms)),
        ("run-worker", worker.and_then(of_worker)),
    ];
    let known = all.into_iter();
    known
        .filter_map(|(name, time)| Some((name, time.filter(|time| *time > 0.0)?)))
        .collect()
}

/// Forty pages, five pages by Chromium and a letter in each second: cores, and the share of Chromium.
fn example(work: &[(&'static str, f64)]) -> Option<[(String, String); 2]> {
    let of = |wanted: &str| {
        let found = work.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, time)| two_digits(*time))
    };
    let (page, printed, letter) = (of("pdf-1p")?, of("chromium-1p")?, of("letter")?);
    let chromium = 5.0 * printed;
    let all = 40.0 * page + chromium + letter;
    let cores = two_digits(all / 1e3 / UTILIZATION);
    let unit = if cores == 1.0 { "core" } else { "cores" };
    let sum = format!(
        "(40 × {} + 5 × {} + 1 × {}) / {UTILIZATION} = {cores} {unit}",
        duration(page),
        duration(printed),
        duration(letter),
    );
    let share = format!("{:.0} %", 100.0 * chromium / all);
    Some([
        ("sizing-example".to_owned(), sum),
        ("sizing-share".to_owned(), share),
    ])
}

/// A number with two significant digits.
fn two_digits(number: f64) -> f64 {
    if number <= 0.0 {
        return 0.0;
    }
    let unit = 10_f64.powf(number.log10().floor() - 1.0);
    let digits = (number / unit).round();
    // Not 1.2000000000000002.
    match unit < 1.0 {
        true => digits / (1.0 / unit).round(),
        false => digits * unit.round(),
    }
}

fn duration(ms: f64) -> String {
    match two_digits(ms) {
        ms if ms < 1e3 => format!("{ms} ms"),
        ms => format!("{} s", ms / 1e3),
    }
}

fn rate(ms: f64) -> String {
    let per_second = two_digits(UTILIZATION * 1e3 / ms);
    match per_second < 1.0 {
        true => format!("{}/min", two_digits(UTILIZATION * 60e3 / ms)),
        false => format!("{per_second}/s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Load;

    #[test]
    fn figures_are_rounded_to_two_digits() {
        for (ms, time, pace) in [
            (1.234, "1.2 ms", "570/s"),
            (0.0456, "0.046 ms", "15000/s"),
            (63.5, "64 ms", "11/s"),
            (996.0, "1 s", "42/min"),
            (144.9, "140 ms", "4.8/s"),
            (3_840.0, "3.8 s", "11/min"),
        ] {
            assert_eq!((duration(ms).as_str(), rate(ms).as_str()), (time, pace));
        }
    }

    #[test]
    fn the_example_is_computed_from_what_is_shown() {
        let work = [("pdf-1p", 1.23), ("chromium-1p", 138.0), ("letter", 30.4)];
        let [(_, sum), (_, share)] = example(&work).expect("all is there");
        assert_eq!(
            sum,
            "(40 × 1.2 ms + 5 × 140 ms + 1 × 30 ms) / 0.7 = 1.1 cores"
        );
        assert_eq!(share, "90 %");
        assert!(example(&work[..2]).is_none());
    }

    #[test]
    fn a_cell_gives_its_time_and_its_rate() {
        let name = RenderName::Cells {
            document: Document::Docx,
        };
        let mut cell = Cell::new(name, &Load::closed(1, 0, 1));
        (cell.requests, cell.server_cpu_seconds) = (1_000, Some(2.0));
        let results = Results {
            cells: vec![cell],
            ..Results::default()
        };
        let found = figures(&[results]);
        let expected = [("cpu-docx", "2 ms"), ("rate-docx", "350/s")];
        assert_eq!(
            found,
            expected.map(|(name, it)| (name.to_owned(), it.to_owned()))
        );
    }
}
