//! Tables and plots of the pack.

use super::{
    by::{By, Way},
    documents::NAMES,
};
use crate::{
    Cell, Results,
    markdown::{Block, MISSING, NONE, Table, maybe, ms, size},
    plot::{Bars, Chart},
    rounds::Ratio,
};

/// The phases of a conversion, in order.
const PHASES: [&str; 5] = ["put", "load", "store", "get", "close"];

/// All tables.
#[must_use]
pub fn blocks(results: &Results) -> Vec<Block> {
    let mut body = String::new();
    for name in NAMES {
        let cells: Vec<&Cell> = of_document(results, "compare", name);
        if let Some(first) = cells.first() {
            let bytes = first.values.get("inputBytes").map(|it| *it as u64);
            body += &format!("**{name}, {}**\n\n{}\n", size(bytes), compare(&cells));
        }
    }
    let compare = Block {
        id: "office/compare".to_owned(),
        title: "Conversions, interleaved".to_owned(),
        body,
    };
    vec![
        compare,
        io(results).block("office/io", "How bytes travel"),
        rate(results).block("office/rate", "By processes"),
    ]
}

fn of_document<'a>(results: &'a Results, section: &'a str, name: &str) -> Vec<&'a Cell> {
    let cells = results.section(section);
    cells.filter(|cell| cell.name == name).collect()
}

/// Statistics per converter, with the ratio to the first row and the processor time.
fn compare(cells: &[&Cell]) -> Table {
    let mut table = Table::new(&[
        "Name",
        "ips",
        "average",
        "deviation",
        "median",
        "99th %",
        "min",
        "Time relative to Platen, median (min to max)",
        "CPU per document",
        "Output",
        "Failures",
    ]);
    let first = cells.first();
    for cell in cells {
        table.cell(cell, vec![cell.of("by").to_owned()], || {
            let Some(times) = &cell.client else {
                return vec![MISSING.to_owned(); 9];
            };
            let ratio = first.and_then(|first| Ratio::of_times(cell, first));
            let mean = times.mean.max(1e-9);
            vec![
                format!("{:.3}", 1e3 / mean),
                ms(times.mean),
                format!("±{:.2}%", times.deviation / mean * 100.0),
                ms(times.p50),
                ms(times.p99),
                ms(times.min),
                maybe(ratio, |ratio| ratio.to_string()),
                match By::of(cell) {
                    Some(by) if !by.has_processes() => NONE.to_owned(),
                    _ => maybe(cell.server_cpu_ms(), ms),
                },
                maybe(cell.size_bytes.filter(|it| *it > 0), |it| size(Some(it))),
            ]
        });
    }
    table
}

/// The ways of transferring bytes, with the phases of a conversion.
fn io(results: &Results) -> Table {
    let mut table = Table::new(&[
        "Document",
        "Way",
        "median",
        "put",
        "load",
        "store",
        "get",
        "close",
        "Time relative to io: file, median (min to max)",
        "Failures",
    ]);
    for name in NAMES {
        let cells = of_document(results, "compare", name);
        let is_file = |cell: &&&Cell| By::of(cell) == Some(By::Protocol(Way::File));
        let file = cells.iter().find(is_file);
        for cell in &cells {
            let Some(by @ By::Protocol(_)) = By::of(cell) else {
                continue;
            };
            let way = by.name();
            table.cell(cell, vec![name.to_owned(), way.to_owned()], || {
                let mut row = vec![maybe(cell.client.as_ref(), |times| ms(times.p50))];
                row.extend(PHASES.map(|phase| maybe(cell.phases.get(phase).copied(), ms)));
                let ratio = file.and_then(|file| Ratio::of_times(cell, file));
                row.push(maybe(ratio, |ratio| ratio.to_string()));
                row
            });
        }
    }
    table
}

fn rate(results: &Results) -> Table {
    let mut table = Table::new(&[
        "Document",
        "Processes",
        "Conversions/s",
        "Relative to one process, median (min to max)",
        "p50",
        "p95",
        "CPU per document",
        "Failures",
    ]);
    for name in NAMES {
        let cells = of_document(results, "rate", name);
        for cell in &cells {
            let label = vec![name.to_owned(), cell.of("processes").to_owned()];
            table.cell(cell, label, || {
                let ratio = cells.first().and_then(|one| Ratio::of_rates(cell, one));
                let times = cell.client.as_ref();
                vec![
                    format!("{:.2}", cell.median_rps()),
                    maybe(ratio, |ratio| ratio.to_string()),
                    maybe(times, |times| ms(times.p50)),
                    maybe(times, |times| ms(times.p95)),
                    maybe(cell.server_cpu_ms(), ms),
                ]
            });
        }
    }
    table
}

/// All plots: one for each document.
#[must_use]
pub fn plots(results: &Results) -> Vec<(String, Chart)> {
    let plot = |name: &str| {
        let cells = of_document(results, "compare", name);
        let cells = cells.into_iter().filter(|cell| !cell.is_void());
        let bars: Vec<(String, f64)> = cells
            .filter_map(|cell| Some((cell.of("by").to_owned(), cell.client.as_ref()?.p50)))
            .collect();
        let chart = Chart::Bars(Bars {
            title: format!("{name} to PDF, median"),
            unit: "ms".to_owned(),
            bars,
        });
        let stem = name.trim_end_matches(".docx");
        (format!("median-{stem}"), chart)
    };
    let has = |name: &&str| !of_document(results, "compare", name).is_empty();
    NAMES.into_iter().filter(has).map(plot).collect()
}
