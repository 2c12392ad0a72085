//! Tables and plots of the pack.

use crate::{
    Cell, Name, Results,
    markdown::{Block, MISSING, NONE, Table, maybe, ms, size},
    name::{By, OfficeName, Way, Word},
    plot::{Bars, Chart},
    rounds::Ratio,
};

/// The phases of a conversion, in order.
const PHASES: [&str; 5] = ["put", "load", "store", "get", "close"];

/// All tables.
#[must_use]
pub fn blocks(results: &Results) -> Vec<Block> {
    let mut body = String::new();
    for name in Word::ALL {
        let cells = compared(results, name);
        if let Some((_, first)) = cells.first() {
            let bytes = first.values.get("inputBytes").map(|it| *it as u64);
            body += &format!(
                "**{name}, {}**\n\n{}\n",
                size(bytes),
                compare(results, &cells)
            );
        }
    }
    let compare = Block {
        id: "office/compare".to_owned(),
        title: "Conversions, interleaved".to_owned(),
        body,
    };
    let mut blocks = vec![compare];
    if results.target.is_some() {
        // The other sections start processes of their own.
        return blocks;
    }
    blocks.push(io(results).block("office/io", "How bytes travel"));
    blocks.push(rate(results).block("office/rate", "By processes"));
    blocks
}

/// The converters of a document.
fn compared(results: &Results, wanted: Word) -> Vec<(By, &Cell)> {
    let cells = results.pick(move |name| match name {
        Name::Office(OfficeName::Compare { document, by }) if *document == wanted => Some(*by),
        _ => None,
    });
    cells.collect()
}

/// Statistics per converter, with the ratio to the first row and the processor time.
fn compare(results: &Results, cells: &[(By, &Cell)]) -> Table {
    let mut table = Table::of_cells(&[
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
    ]);
    let first = cells.first();
    for (by, cell) in cells {
        table.cell(cell, vec![by.as_str().to_owned()], || {
            let Some(times) = &cell.client else {
                return vec![MISSING.to_owned(); 9];
            };
            let ratio = first.and_then(|(_, first)| Ratio::of_times(cell, first));
            let mean = times.mean.max(1e-9);
            vec![
                format!("{:.3}", 1e3 / mean),
                ms(times.mean),
                format!("±{:.2}%", times.deviation / mean * 100.0),
                ms(times.p50),
                ms(times.p99),
                ms(times.min),
                maybe(ratio, |ratio| ratio.to_string()),
                match by.has_processes() {
                    true => results.server_cpu(Some(*cell), ms),
                    false => NONE.to_owned(),
                },
                maybe(cell.size_bytes.filter(|it| *it > 0), |it| size(Some(it))),
            ]
        });
    }
    table
}

/// The ways of transferring bytes, with the phases of a conversion.
fn io(results: &Results) -> Table {
    let mut table = Table::of_cells(&[
        "Document",
        "Way",
        "median",
        "put",
        "load",
        "store",
        "get",
        "close",
        "Time relative to io: file, median (min to max)",
    ]);
    for name in Word::ALL {
        let cells = compared(results, name);
        let file = cells.iter().find(|(by, _)| *by == By::Protocol(Way::File));
        for (by, cell) in &cells {
            if !matches!(by, By::Protocol(_)) {
                continue;
            }
            let label = vec![name.to_string(), by.as_str().to_owned()];
            table.cell(cell, label, || {
                let mut row = vec![maybe(cell.client.as_ref(), |times| ms(times.p50))];
                row.extend(PHASES.map(|phase| maybe(cell.phases.get(phase).copied(), ms)));
                let ratio = file.and_then(|(_, file)| Ratio::of_times(cell, file));
                row.push(maybe(ratio, |ratio| ratio.to_string()));
                row
            });
        }
    }
    table
}

fn rate(results: &Results) -> Table {
    let mut table = Table::of_cells(&[
        "Document",
        "Processes",
        "Conversions/s",
        "Relative to one process, median (min to max)",
        "p50",
        "p95",
        "CPU per document",
    ]);
    for name in Word::ALL {
        let cells = results.pick(move |cell| match cell {
            Name::Office(OfficeName::Rate {
                document,
                processes,
            }) if *document == name => Some(*processes),
            _ => None,
        });
        let cells: Vec<(usize, &Cell)> = cells.collect();
        for (processes, cell) in &cells {
            let label = vec![name.to_string(), processes.to_string()];
            table.cell(cell, label, || {
                let ratio = cells
                    .first()
                    .and_then(|(_, one)| Ratio::of_rates(cell, one));
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
    let plot = |name: Word| {
        let cells = compared(results, name).into_iter();
        let cells = cells.filter(|(_, cell)| !cell.is_void());
        let bars: Vec<(String, f64)> = cells
            .filter_map(|(by, cell)| Some((by.as_str().to_owned(), cell.client.as_ref()?.p50)))
            .collect();
        let chart = Chart::Bars(Bars {
            title: format!("{name} to PDF, median"),
            unit: "ms".to_owned(),
            bars,
        });
        let stem = name.as_str().trim_end_matches(".docx");
        (format!("median-{stem}"), chart)
    };
    let has = |name: &Word| !compared(results, *name).is_empty();
    Word::ALL.into_iter().filter(has).map(plot).collect()
}
