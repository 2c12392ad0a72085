//! The runs of all versions, as one plot: how many times as fast as the first run each was, beside another
//! program that the same run has measured. Machines are shared and differ by a factor of two from day to
//! day; what the other program takes tells how fast the machine was.

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

type Is = fn(&Cell) -> bool;

/// A line: its name, the cells that it is of, and those of the other program.
type Line = (&'static str, Is, Is);

const LINES: [Line; 8] = [
    (
        "PDF, 1 page",
        |cell| is_document(cell, Document::Pdf1p),
        is_page_of_chromium,
    ),
    (
        "PDF, 10 pages",
        |cell| is_document(cell, Document::Pdf10p),
        is_page_of_chromium,
    ),
    (
        "PDF, 100 pages",
        |cell| is_document(cell, Document::Pdf100p),
        is_page_of_chromium,
    ),
    (
        "DOCX",
        |cell| is_document(cell, Document::Docx),
        is_page_of_chromium,
    ),
    (
        "XLSX",
        |cell| is_document(cell, Document::Xlsx),
        is_page_of_chromium,
    ),
    ("flow, 16 callers", is_flow, is_flow_of_node),
    (
        "letter to PDF",
        |cell| is_letter(cell, By::Platen),
        |cell| is_letter(cell, By::OneShot),
    ),
    ("100 kB string", is_string, is_string_of_nginx),
];

fn is_document(cell: &Cell, wanted: Document) -> bool {
    cell.name == Name::Render(RenderName::Serial { document: wanted })
}

/// One page by Chromium, which takes its time in the browser.
fn is_page_of_chromium(cell: &Cell) -> bool {
    cell.concurrency == 5
        && cell.name
            == Name::Render(RenderName::Cells {
                document: Document::Chromium1p,
            })
}

fn is_flow(cell: &Cell) -> bool {
    is_flow_of(cell, Runner::Service, true)
}

fn is_flow_of_node(cell: &Cell) -> bool {
    is_flow_of(cell, Runner::Node, false)
}

fn is_flow_of(cell: &Cell, runner: Runner, is_durable: bool) -> bool {
    let name = FlowName::Matrix {
        runner,
        sandbox: Sandbox::Fresh,
        is_durable,
    };
    cell.concurrency == 16 && cell.name == Name::Flow(name)
}

fn is_letter(cell: &Cell, by: By) -> bool {
    let document = Word::Letter;
    cell.name == Name::Office(OfficeName::Compare { document, by })
}

fn is_string(cell: &Cell) -> bool {
    is_string_of(cell, |server| matches!(server, Server::Transport { .. }))
}

fn is_string_of_nginx(cell: &Cell) -> bool {
    is_string_of(cell, |server| matches!(server, Server::Nginx { .. }))
}

fn is_string_of(cell: &Cell, is_wanted: fn(&Server) -> bool) -> bool {
    matches!(
        &cell.name,
        Name::Http(HttpName::Matrix {
            kind: BodyKind::String,
            kilobytes: 100,
            server,
            ..
        }) if is_wanted(server)
    )
}

/// The plot of these runs, oldest first: a point for each run that has measured a line and its other
/// program, relative to the first run that has.
#[must_use]
pub fn chart(runs: &[&[Results]]) -> Chart {
    let mut marks = vec![(0.0, String::new())];
    marks.extend(
        (1..)
            .map(f64::from)
            .zip(runs.iter().map(|packs| label(packs))),
    );
    marks.push((marks.len() as f64, String::new()));
    let series = LINES.iter().map(|(name, is_wanted, is_other)| {
        let mut first: Option<(Interval, Interval)> = None;
        let mut points = Vec::new();
        for (place, packs) in (1..).map(f64::from).zip(runs) {
            let find = |is_wanted: &Is| {
                let mut cells = packs.iter().flat_map(|results| &results.cells);
                let cell = cells.find(|cell| is_wanted(cell) && !cell.is_void());
                cell.and_then(|cell| cell.interval)
            };
            let (Some(own), Some(other)) = (find(is_wanted), find(is_other)) else {
                continue;
            };
            let (first_own, first_other) = first.get_or_insert((own, other));
            let speeds = speed(first_own, &own).zip(speed(first_other, &other));
            points.extend(speeds.map(|(own, other)| (place, own / other)));
        }
        ((*name).to_owned(), points)
    });
    let series: Vec<_> = series.filter(|(_, points)| !points.is_empty()).collect();
    Chart::Lines(Lines {
        title: "Speed beside another program, relative to the first run".to_owned(),
        x: "version and day".to_owned(),
        y: "times as fast".to_owned(),
        marks,
        series,
        ..Lines::default()
    })
}

/// Version and day of a run, and whether a pack of it is quick.
fn label(packs: &[Results]) -> String {
    let is_quick = packs.iter().any(Results::was_quick);
    packs.first().map_or_else(String::new, |results| {
        let it = &results.environment;
        let kind = if is_quick { ", quick" } else { "" };
        format!("{}, {}{kind}", it.version, it.date)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{interval::Basis, load::Load};

    fn run(version: &str, ms: f64, of_chromium: f64) -> Vec<Results> {
        let cell = |name, concurrency, ms: f64| {
            let mut cell = Cell::new(name, &Load::closed(concurrency, 0, 1));
            cell.requests = 9;
            cell.interval = Interval::of(Basis::Requests, &[ms; 9]);
            cell
        };
        let own = RenderName::Serial {
            document: Document::Pdf1p,
        };
        let other = RenderName::Cells {
            document: Document::Chromium1p,
        };
        let mut results = Results {
            cells: vec![cell(own, 1, ms), cell(other, 5, of_chromium)],
            ..Results::default()
        };
        results.environment.version = version.to_owned();
        results.pack = "render".to_owned();
        results.effort = (version != "0.1.0").then_some(crate::render::WHOLE);
        vec![results]
    }

    #[test]
    fn points_are_speeds_relative_to_the_first_run_and_to_the_machine() {
        // The machine of the third run is half as fast; that of the fourth is not known.
        let (old, new) = (run("0.1.0", 2.0, 100.0), run("0.2.0", 2.0, 200.0));
        let mut alone = run("0.3.0", 1.0, 100.0);
        alone[0].cells.truncate(1);
        let chart = chart(&[&old, &[], &new, &alone]);
        let Chart::Lines(lines) = &chart else {
            panic!("no lines");
        };
        let wanted = [("PDF, 1 page".to_owned(), vec![(1.0, 1.0), (3.0, 2.0)])];
        assert_eq!(lines.series, wanted);
        assert_eq!(lines.marks.len(), 6);
        let quick: Vec<bool> = (lines.marks.iter())
            .map(|(_, text)| text.ends_with(", quick"))
            .collect();
        assert_eq!(quick, [false, true, false, false, false, false]);
        let svg = chart.to_svg();
        assert!(svg.contains("0.2.0") && !svg.contains("NaN"), "{svg}");
    }
}
