//! The runs of all versions, as one plot: how many times as fast as the first run each was.

use crate::{
    Cell, Name, Results,
    compare::speed,
    interval::Interval,
    name::{
        BodyKind, By, Document, FlowName, HttpName, OfficeName, RenderName, Runner, Sandbox,
        Server, Word,
    },
    plot::{Chart, Lines},
};

/// A line: its name, and the cells that it is of.
type Line = (&'static str, fn(&Cell) -> bool);

const LINES: [Line; 8] = [
    ("PDF, 1 page", |cell| is_document(cell, Document::Pdf1p)),
    ("PDF, 10 pages", |cell| is_document(cell, Document::Pdf10p)),
    ("PDF, 100 pages", |cell| {
        is_document(cell, Document::Pdf100p)
    }),
    ("DOCX", |cell| is_document(cell, Document::Docx)),
    ("XLSX", |cell| is_document(cell, Document::Xlsx)),
    ("flow, 16 callers", is_flow),
    ("letter to PDF", is_letter),
    ("100 kB string", is_string),
];

fn is_document(cell: &Cell, wanted: Document) -> bool {
    cell.name == Name::Render(RenderName::Serial { document: wanted })
}

fn is_flow(cell: &Cell) -> bool {
    let name = FlowName::Matrix {
        runner: Runner::Service,
        sandbox: Sandbox::Fresh,
        is_durable: true,
    };
    cell.concurrency == 16 && cell.name == Name::Flow(name)
}

fn is_letter(cell: &Cell) -> bool {
    let name = OfficeName::Compare {
        document: Word::Letter,
        by: By::Platen,
    };
    cell.name == Name::Office(name)
}

fn is_string(cell: &Cell) -> bool {
    matches!(
        &cell.name,
        Name::Http(HttpName::Matrix {
            kind: BodyKind::String,
            kilobytes: 100,
            server: Server::Transport { .. },
            ..
        })
    )
}

/// The plot of these runs, oldest first: a point for each run that has measured a line, relative to
/// the first run that has.
#[must_use]
pub fn chart(runs: &[&[Results]]) -> Chart {
    let mut marks = vec![(0.0, String::new())];
    marks.extend(
        (1..)
            .map(f64::from)
            .zip(runs.iter().map(|packs| label(packs))),
    );
    marks.push((marks.len() as f64, String::new()));
    let series = LINES.iter().map(|(name, is_wanted)| {
        let mut first: Option<Interval> = None;
        let mut points = Vec::new();
        for (place, packs) in (1..).map(f64::from).zip(runs) {
            let mut cells = packs.iter().flat_map(|results| &results.cells);
            let cell = cells.find(|cell| is_wanted(cell) && !cell.is_void());
            let Some(interval) = cell.and_then(|cell| cell.interval) else {
                continue;
            };
            let first = first.get_or_insert(interval);
            points.extend(speed(first, &interval).map(|speed| (place, speed)));
        }
        ((*name).to_owned(), points)
    });
    let series: Vec<_> = series.filter(|(_, points)| !points.is_empty()).collect();
    Chart::Lines(Lines {
        title: "Speed relative to the first run".to_owned(),
        x: "version and day".to_owned(),
        y: "times as fast".to_owned(),
        marks,
        series,
        ..Lines::default()
    })
}

/// Version and day of a run.
fn label(packs: &[Results]) -> String {
    packs.first().map_or_else(String::new, |results| {
        let it = &results.environment;
        format!("{}, {}", it.version, it.date)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{interval::Basis, load::Load};

    fn run(version: &str, ms: f64) -> Vec<Results> {
        let name = RenderName::Serial {
            document: Document::Pdf1p,
        };
        let mut cell = Cell::new(name, &Load::closed(1, 0, 1));
        cell.requests = 9;
        cell.interval = Interval::of(Basis::Requests, &[ms; 9]);
        let mut results = Results {
            cells: vec![cell],
            ..Results::default()
        };
        results.environment.version = version.to_owned();
        vec![results]
    }

    #[test]
    fn points_are_speeds_relative_to_the_first_run() {
        let (old, new) = (run("0.1.0", 2.0), run("0.2.0", 1.0));
        let chart = chart(&[&old, &[], &new]);
        let Chart::Lines(lines) = &chart else {
            panic!("no lines");
        };
        let wanted = [("PDF, 1 page".to_owned(), vec![(1.0, 1.0), (3.0, 2.0)])];
        assert_eq!(lines.series, wanted);
        assert_eq!(lines.marks.len(), 5);
        let svg = chart.to_svg();
        assert!(svg.contains("0.2.0") && !svg.contains("NaN"), "{svg}");
    }
}
