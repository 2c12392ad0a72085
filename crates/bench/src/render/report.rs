//! Tables and plots of the pack.

use super::{
    cells::{BATCH_ITEMS, Kind, find},
    gotenberg, storage,
};
use crate::{
    Cell, Name, Results,
    markdown::{Block, MISSING, NONE, Table, maybe, ms, percentiles, precision, rate, size},
    name::{Document, Isolation, Packaging, RenderName},
    plot::{Bars, Chart, Lines},
    rounds::Ratio,
};

/// All tables.
#[must_use]
pub fn blocks(results: &Results) -> Vec<Block> {
    let mut blocks = vec![
        cells(results, main(results)).block("render/cells", "Cells"),
        cells(results, serial(results)).block("render/serial", "One at a time"),
    ];
    blocks.push(chromium(results).block("render/chromium", "Compared with headless Chromium"));
    let gotenberg = gotenberg::table(results);
    let name = "Compared with Gotenberg";
    blocks.extend((!gotenberg.is_empty()).then(|| gotenberg.block("render/gotenberg", name)));
    blocks.extend([
        open(results).block("render/open", "At a fixed rate"),
        saturation(results).block("render/saturation", "Saturation"),
        isolation(results).block("render/isolation", "In a sandbox"),
        cold(results).block("render/cold", "Cold start"),
        concurrency(results).block("render/concurrency", "More clients"),
        replicas(results).block("render/replicas", "Replicas"),
    ]);
    let batches = batches(results);
    blocks.extend((!batches.is_empty()).then(|| batches.block("render/batch", "Batches")));
    let storage = storage::table(results);
    let name = "Pictures and stores";
    blocks.extend((!storage.is_empty()).then(|| storage.block("render/storage", name)));
    blocks
}

/// Batches, each of several documents.
fn batches(results: &Results) -> Table {
    let mut table = Table::of_cells(&[
        "Cell",
        "Documents",
        "Packaging",
        "Documents per second",
        "p50 of the batch",
        "Time relative to json, median (min to max)",
        "Output",
        "CPU per document",
    ]);
    let all = || {
        results.pick(|name| match name_of(name)? {
            RenderName::Batch {
                document,
                packaging,
            } => Some((*document, *packaging)),
            _ => None,
        })
    };
    let json = all().find(|((_, packaging), _)| *packaging == Packaging::Json);
    for ((document, packaging), cell) in all() {
        let name = vec![
            document.to_string(),
            BATCH_ITEMS.to_string(),
            packaging.as_str().to_owned(),
        ];
        table.cell(cell, name, || {
            let ratio = json.and_then(|(_, json)| Ratio::of_times(cell, json));
            let items = BATCH_ITEMS as f64;
            vec![
                rate(cell.median_rps() * items),
                maybe(cell.client.as_ref(), |times| ms(times.p50)),
                maybe(ratio, |ratio| ratio.to_string()),
                size(cell.size_bytes),
                maybe(cell.server_cpu_ms(), |batch| ms(batch / items)),
            ]
        });
    }
    table
}

/// The name of a cell of this pack.
pub(super) fn name_of(name: &Name) -> Option<&RenderName> {
    match name {
        Name::Render(name) => Some(name),
        _ => None,
    }
}

fn main(results: &Results) -> impl Iterator<Item = (Document, &Cell)> {
    results.pick(|name| match name_of(name)? {
        RenderName::Cells { document } => Some(*document),
        _ => None,
    })
}

fn serial(results: &Results) -> impl Iterator<Item = (Document, &Cell)> {
    results.pick(|name| match name_of(name)? {
        RenderName::Serial { document } => Some(*document),
        _ => None,
    })
}

fn cells<'a>(results: &Results, cells: impl Iterator<Item = (Document, &'a Cell)>) -> Table {
    let mut table = Table::of_cells(&[
        "Cell",
        "What",
        "At a time",
        "RPS",
        "Client p50",
        "Client p95",
        "Client p99",
        "Server p50",
        "Server p95",
        "Server p99",
        "Pages",
        "Output",
        "CPU per request, server / client",
    ]);
    for (document, cell) in cells {
        let spec = find(document);
        let name = vec![
            document.to_string(),
            spec.about.to_owned(),
            cell.concurrency.to_string(),
        ];
        table.cell(cell, name, || {
            let mut figures = vec![rate(cell.rps)];
            figures.extend(percentiles(cell.client.as_ref()));
            figures.extend(percentiles(cell.server.as_ref()));
            figures.push(match spec.kind {
                Kind::Native("pdf") => maybe(cell.pages, |pages| pages.to_string()),
                _ => NONE.to_owned(),
            });
            figures.push(size(cell.size_bytes));
            figures.push(processor(results, cell));
            figures
        });
    }
    table
}

/// Processor time per request: of the service, and of the client.
fn processor(results: &Results, cell: &Cell) -> String {
    let server = results.server_cpu(Some(cell), ms);
    match cell.client_cpu_ms() {
        Some(client) => format!("{server} / {}", ms(client)),
        None => server,
    }
}

fn chromium(results: &Results) -> Table {
    let mut table = Table::of_cells(&[
        "Document",
        "Platen p50",
        "Chromium p50",
        "Ratio, median (min to max)",
        "Platen CPU",
        "Chromium CPU",
        "Platen size",
        "Chromium size",
    ]);
    let of = |wanted: Document| {
        let mut found = results.pick(move |name| match name_of(name)? {
            RenderName::Chromium { document } if *document == wanted => Some(()),
            _ => None,
        });
        found.next().map(|((), cell)| cell)
    };
    for (ours, theirs) in Document::PAIRS {
        let pages = ours.as_str().trim_start_matches("pdf-");
        let (ours, theirs) = (of(ours), of(theirs));
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            continue;
        };
        let p50 = |cell: &Cell| maybe(cell.client.as_ref(), |times| ms(times.p50));
        table.row(vec![
            pages.to_owned(),
            p50(ours),
            p50(theirs),
            maybe(Ratio::of_times(theirs, ours), |ratio| ratio.to_string()),
            maybe(ours.server_cpu_ms(), ms),
            maybe(theirs.server_cpu_ms(), ms),
            size(ours.size_bytes),
            size(theirs.size_bytes),
            format!("{}; {}", precision(ours), precision(theirs)),
            format!(
                "{}/{}",
                ours.failures + theirs.failures,
                ours.requests + theirs.requests
            ),
        ]);
    }
    table
}

fn open(results: &Results) -> Table {
    let mut table = Table::of_cells(&[
        "Cell",
        "Share of the closed loop's rate",
        "Sent per second",
        "Answered per second",
        "p50",
        "p95",
        "p99",
        "Longest",
    ]);
    let open = results.pick(|name| match name_of(name)? {
        RenderName::Open {
            document,
            share_percent,
        } => Some((document, share_percent)),
        _ => None,
    });
    for ((document, share), cell) in open {
        let name = vec![document.to_string(), format!("{share} %")];
        table.cell(cell, name, || {
            let mut figures = vec![maybe(cell.rate, rate), rate(cell.rps)];
            figures.extend(percentiles(cell.client.as_ref()));
            figures.push(maybe(cell.client.as_ref(), |times| ms(times.max)));
            figures
        });
    }
    table
}

fn saturation(results: &Results) -> Table {
    let mut table = Table::of_cells(&[
        "Batches of five",
        "Slots",
        "p50 alone",
        "RPS predicted by slots",
        "by slots and cores",
        "RPS",
        "Client p50",
        "Client p95",
    ]);
    let saturation = results.pick(|name| match name_of(name)? {
        RenderName::Saturation {
            document,
            slots,
            wait_ms,
        } => Some((document, slots, *wait_ms)),
        _ => None,
    });
    for ((document, slots, wait_ms), cell) in saturation {
        let value = |name: &str| cell.values.get(name).copied();
        let waits = match wait_ms {
            0 => String::new(),
            wait_ms => format!(", waits {wait_ms} ms"),
        };
        let name = vec![format!("{document}{waits}"), slots.to_string()];
        table.cell(cell, name, || {
            let times = cell.client.as_ref();
            vec![
                maybe(value("serialP50"), ms),
                maybe(value("predictedRps"), rate),
                maybe(value("predictedByCoresRps"), rate),
                rate(cell.rps),
                maybe(times, |times| ms(times.p50)),
                maybe(times, |times| ms(times.p95)),
            ]
        });
    }
    table
}

fn isolation(results: &Results) -> Table {
    let mut table = Table::of_cells(&[
        "Cell",
        "At a time",
        "Where",
        "RPS",
        "p50",
        "p95",
        "p99",
        "Time relative to inline, median (min to max)",
        "CPU per request",
    ]);
    let all = || {
        results.pick(|name| match name_of(name)? {
            RenderName::Isolation {
                document,
                isolation,
            } => Some((*document, *isolation)),
            _ => None,
        })
    };
    for ((document, isolation), cell) in all() {
        let inline = all().find(|((other, isolation), inline)| {
            *isolation == Isolation::Inline
                && *other == document
                && inline.concurrency == cell.concurrency
        });
        let name = vec![
            document.to_string(),
            cell.concurrency.to_string(),
            isolation.as_str().to_owned(),
        ];
        table.cell(cell, name, || {
            let mut figures = vec![rate(cell.rps)];
            figures.extend(percentiles(cell.client.as_ref()));
            let ratio = inline.and_then(|(_, inline)| Ratio::of_times(cell, inline));
            figures.push(maybe(ratio, |ratio| ratio.to_string()));
            figures.push(maybe(cell.server_cpu_ms(), ms));
            figures
        });
    }
    table
}

fn cold(results: &Results) -> Table {
    let mut table = Table::of_cells(&["Document", "Until", "Starts", "min", "median", "max"]);
    let cold = results.pick(|name| match name_of(name)? {
        RenderName::Cold { document, until } => Some((document, until)),
        _ => None,
    });
    for ((document, until), cell) in cold {
        let name = vec![
            document.to_string(),
            until.as_str().to_owned(),
            cell.requests.to_string(),
        ];
        table.cell(cell, name, || match &cell.client {
            Some(times) => vec![ms(times.min), ms(times.p50), ms(times.max)],
            None => vec![MISSING.to_owned(); 3],
        });
    }
    table
}

fn sweep(results: &Results) -> impl Iterator<Item = (Document, &Cell)> {
    results.pick(|name| match name_of(name)? {
        RenderName::Concurrency { document } => Some(*document),
        _ => None,
    })
}

/// The rate if every rendering took as long as one alone, and each core were a slot:
/// `clients / (ceil(clients / cores) * p50)`.
fn ceiling(results: &Results, wanted: Document, clients: usize) -> Option<f64> {
    let (_, alone) = serial(results).find(|(document, _)| *document == wanted)?;
    let cores = results.environment.cores;
    let p50 = alone.client.as_ref()?.p50;
    let is_known = cores > 0 && p50 > 0.0 && !alone.is_void();
    is_known.then(|| clients as f64 * 1e3 / (clients.div_ceil(cores) as f64 * p50))
}

fn concurrency(results: &Results) -> Table {
    let mut table = Table::of_cells(&[
        "Cell",
        "At a time",
        "RPS",
        "Naive ceiling RPS",
        "RPS relative to 5 clients, median (min to max)",
        "p50",
        "p95",
        "p99",
        "p99 / p50",
        "CPU per request",
    ]);
    for (document, cell) in sweep(results) {
        let first = sweep(results).find(|(other, _)| *other == document);
        let name = vec![document.to_string(), cell.concurrency.to_string()];
        table.cell(cell, name, || {
            let ratio = first.and_then(|(_, first)| Ratio::of_rates(cell, first));
            let mut figures = vec![
                rate(cell.median_rps()),
                ceiling(results, document, cell.concurrency).map_or_else(|| NONE.to_owned(), rate),
                maybe(ratio, |ratio| ratio.to_string()),
            ];
            figures.extend(percentiles(cell.client.as_ref()));
            let spread = cell.client.as_ref();
            figures.push(maybe(spread, |it| {
                format!("{:.1}", it.p99 / it.p50.max(1e-9))
            }));
            figures.push(maybe(cell.server_cpu_ms(), ms));
            figures
        });
    }
    table
}

fn replicas(results: &Results) -> Table {
    let mut table = Table::of_cells(&[
        "Replicas",
        "Cell",
        "At a time",
        "RPS",
        "Client p50",
        "Client p95",
        "Client p99",
        "Server p50",
    ]);
    let replicas = results.pick(|name| match name_of(name)? {
        RenderName::Replicas {
            document,
            topology,
            count,
        } => Some((document, topology.text(*count))),
        _ => None,
    });
    for ((document, replicas), cell) in replicas {
        let name = vec![replicas, document.to_string(), cell.concurrency.to_string()];
        table.cell(cell, name, || {
            let mut figures = vec![rate(cell.rps)];
            figures.extend(percentiles(cell.client.as_ref()));
            figures.push(maybe(cell.server.as_ref(), |times| ms(times.p50)));
            figures
        });
    }
    table
}

/// All plots.
#[must_use]
pub fn plots(results: &Results) -> Vec<(String, Chart)> {
    let mut plots = vec![(
        "latency".to_owned(),
        distribution(
            "Latency by share of requests, five clients",
            main(results).map(|(document, cell)| (document.to_string(), cell)),
        ),
    )];
    let mut clients = Lines {
        title: "Throughput by clients".to_owned(),
        x: "clients".to_owned(),
        y: "requests per second".to_owned(),
        is_y_logarithmic: true,
        ..Lines::default()
    };
    for (document, cell) in sweep(results).filter(|(_, cell)| !cell.is_void()) {
        let point = (cell.concurrency as f64, cell.median_rps());
        let name = document.to_string();
        match clients.series.iter_mut().find(|it| it.0 == name) {
            Some((_, points)) => points.push(point),
            None => clients.series.push((name, vec![point])),
        }
    }
    plots.push(("throughput".to_owned(), Chart::Lines(clients)));
    let cells = main(results).filter(|(_, cell)| !cell.is_void());
    let bars = Bars {
        title: "Documents per second, five clients".to_owned(),
        unit: "per second".to_owned(),
        bars: cells
            .map(|(document, cell)| (document.to_string(), cell.rps))
            .collect(),
    };
    plots.push(("documents".to_owned(), Chart::Bars(bars)));
    plots
}

/// The distribution of times: which share of the requests took how long.
pub(crate) fn distribution<'a>(
    title: &str,
    cells: impl Iterator<Item = (String, &'a Cell)>,
) -> Chart {
    // The axis shows "one in n": 1 is the fastest request, 1,000 is p99.9.
    let place = |share: f64| (1.0 / (1.0 - share).max(1e-3)).max(1.0);
    let marks = [
        (1.0, "0"),
        (2.0, "50 %"),
        (10.0, "90 %"),
        (100.0, "99 %"),
        (1_000.0, "99.9 %"),
    ];
    let valid = cells.filter(|(_, cell)| !cell.is_void());
    let series = valid.filter_map(|(name, cell)| {
        let shares = &cell.client.as_ref()?.shares;
        let shares = shares.iter().filter(|(share, _)| *share <= 0.999);
        let points = shares.map(|(share, ms)| (place(*share), *ms));
        Some((name, points.collect()))
    });
    Chart::Lines(Lines {
        title: title.to_owned(),
        x: "share of requests that took no longer".to_owned(),
        y: "milliseconds".to_owned(),
        is_x_logarithmic: true,
        is_y_logarithmic: true,
        marks: marks.map(|(place, name)| (place, name.to_owned())).to_vec(),
        series: series.collect(),
    })
}
