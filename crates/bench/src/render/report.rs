//! Tables and plots of the pack.

use super::cells::{CELLS, Kind};
use crate::{
    Cell, Results,
    markdown::{Block, MISSING, NONE, Table, maybe, ms, percentiles, rate, size},
    plot::{Bars, Chart, Lines},
    rounds::Ratio,
};

/// All tables.
#[must_use]
pub fn blocks(results: &Results) -> Vec<Block> {
    let mut blocks = vec![
        cells(results, "cells").block("render/cells", "Cells"),
        cells(results, "serial").block("render/serial", "One at a time"),
    ];
    blocks.extend([
        chromium(results).block("render/chromium", "Compared with headless Chromium"),
        open(results).block("render/open", "At a fixed rate"),
        saturation(results).block("render/saturation", "Saturation"),
        isolation(results).block("render/isolation", "In a sandbox"),
        cold(results).block("render/cold", "Cold start"),
        concurrency(results).block("render/concurrency", "More clients"),
        replicas(results).block("render/replicas", "Replicas"),
    ]);
    blocks
}

fn cells(results: &Results, section: &str) -> Table {
    let mut table = Table::new(&[
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
        "Failures",
    ]);
    for cell in results.section(section) {
        let about = CELLS.iter().find(|spec| spec.name == cell.name);
        let name = vec![
            cell.name.clone(),
            about.map_or("", |spec| spec.about).to_owned(),
            cell.concurrency.to_string(),
        ];
        table.cell(cell, name, || {
            let mut figures = vec![rate(cell.rps)];
            figures.extend(percentiles(cell.client.as_ref()));
            figures.extend(percentiles(cell.server.as_ref()));
            figures.push(match about.map(|spec| spec.kind) {
                Some(Kind::Native("pdf")) => maybe(cell.pages, |pages| pages.to_string()),
                _ => NONE.to_owned(),
            });
            figures.push(size(cell.size_bytes));
            figures.push(processor(cell));
            figures
        });
    }
    table
}

/// Processor time per request: of the service, and of the client.
fn processor(cell: &Cell) -> String {
    let client = cell.client_cpu_seconds;
    let client = client.map(|seconds| seconds * 1e3 / cell.requests.max(1) as f64);
    match cell.server_cpu_ms() {
        Some(server) => format!("{} / {}", ms(server), maybe(client, ms)),
        None => MISSING.to_owned(),
    }
}

fn chromium(results: &Results) -> Table {
    let mut table = Table::new(&[
        "Document",
        "Platen p50",
        "Chromium p50",
        "Ratio, median (min to max)",
        "Platen CPU",
        "Chromium CPU",
        "Platen size",
        "Chromium size",
        "Failures",
    ]);
    let by = |size: &str, is_wanted: fn(Kind) -> bool| {
        results.section("chromium").find(|cell| {
            let spec = CELLS.iter().find(|spec| spec.name == cell.of("by"));
            cell.name == size && spec.is_some_and(|spec| is_wanted(spec.kind))
        })
    };
    for pages in ["1p", "10p", "100p"] {
        let ours = by(pages, |kind| matches!(kind, Kind::Native(_)));
        let theirs = by(pages, |kind| kind == Kind::Chromium);
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
    let mut table = Table::new(&[
        "Cell",
        "Share of the closed loop's rate",
        "Sent per second",
        "Answered per second",
        "p50",
        "p95",
        "p99",
        "Longest",
        "Failures",
    ]);
    for cell in results.section("open") {
        let name = vec![cell.name.clone(), cell.of("share").to_owned()];
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
    let mut table = Table::new(&[
        "Batches of five",
        "Slots",
        "p50 alone",
        "RPS predicted by slots",
        "by slots and cores",
        "RPS",
        "Client p50",
        "Client p95",
        "Failures",
    ]);
    for cell in results.section("saturation") {
        let value = |name: &str| cell.values.get(name).copied();
        let name = vec![cell.name.clone(), cell.of("slots").to_owned()];
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
    let mut table = Table::new(&[
        "Cell",
        "At a time",
        "Where",
        "RPS",
        "p50",
        "p95",
        "p99",
        "Time relative to inline, median (min to max)",
        "CPU per request",
        "Failures",
    ]);
    for cell in results.section("isolation") {
        let inline = results.section("isolation").find(|other| {
            other.of("isolation") == "inline"
                && other.name == cell.name
                && other.concurrency == cell.concurrency
        });
        let name = vec![
            cell.name.clone(),
            cell.concurrency.to_string(),
            cell.of("isolation").to_owned(),
        ];
        table.cell(cell, name, || {
            let mut figures = vec![rate(cell.rps)];
            figures.extend(percentiles(cell.client.as_ref()));
            let ratio = inline.and_then(|inline| Ratio::of_times(cell, inline));
            figures.push(maybe(ratio, |ratio| ratio.to_string()));
            figures.push(maybe(cell.server_cpu_ms(), ms));
            figures
        });
    }
    table
}

fn cold(results: &Results) -> Table {
    let mut table = Table::new(&[
        "Document", "Until", "Starts", "min", "median", "max", "Failures",
    ]);
    for cell in results.section("cold") {
        let name = vec![
            cell.name.clone(),
            cell.of("until").to_owned(),
            cell.requests.to_string(),
        ];
        table.cell(cell, name, || match &cell.client {
            Some(times) => vec![ms(times.min), ms(times.p50), ms(times.max)],
            None => vec![MISSING.to_owned(); 3],
        });
    }
    table
}

fn concurrency(results: &Results) -> Table {
    let mut table = Table::new(&[
        "Cell",
        "At a time",
        "RPS",
        "RPS relative to 5 clients, median (min to max)",
        "p50",
        "p95",
        "p99",
        "p99 / p50",
        "CPU per request",
        "Failures",
    ]);
    for cell in results.section("concurrency") {
        let first = results
            .section("concurrency")
            .find(|other| other.name == cell.name);
        let name = vec![cell.name.clone(), cell.concurrency.to_string()];
        table.cell(cell, name, || {
            let ratio = first.and_then(|first| Ratio::of_rates(cell, first));
            let mut figures = vec![
                rate(cell.median_rps()),
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
    let mut table = Table::new(&[
        "Replicas",
        "Cell",
        "At a time",
        "RPS",
        "Client p50",
        "Client p95",
        "Client p99",
        "Server p50",
        "Failures",
    ]);
    for cell in results.section("replicas") {
        let name = vec![
            cell.of("replicas").to_owned(),
            cell.name.clone(),
            cell.concurrency.to_string(),
        ];
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
            results.section("cells"),
            |cell| cell.name.clone(),
        ),
    )];
    let mut sweep = Lines {
        title: "Throughput by clients".to_owned(),
        x: "clients".to_owned(),
        y: "requests per second".to_owned(),
        is_y_logarithmic: true,
        ..Lines::default()
    };
    for cell in results.section("concurrency").filter(|it| !it.is_void()) {
        let point = (cell.concurrency as f64, cell.median_rps());
        match sweep.series.iter_mut().find(|it| it.0 == cell.name) {
            Some((_, points)) => points.push(point),
            None => sweep.series.push((cell.name.clone(), vec![point])),
        }
    }
    plots.push(("throughput".to_owned(), Chart::Lines(sweep)));
    let cells = results.section("cells").filter(|cell| !cell.is_void());
    let bars = Bars {
        title: "Documents per second, five clients".to_owned(),
        unit: "per second".to_owned(),
        bars: cells.map(|cell| (cell.name.clone(), cell.rps)).collect(),
    };
    plots.push(("documents".to_owned(), Chart::Bars(bars)));
    plots
}

/// The distribution of times: which share of the requests took how long.
pub(crate) fn distribution<'a>(
    title: &str,
    cells: impl Iterator<Item = &'a Cell>,
    name: impl Fn(&Cell) -> String,
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
    let series = cells.filter(|cell| !cell.is_void()).filter_map(|cell| {
        let shares = &cell.client.as_ref()?.shares;
        let shares = shares.iter().filter(|(share, _)| *share <= 0.999);
        let points = shares.map(|(share, ms)| (place(*share), *ms));
        Some((name(cell), points.collect()))
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
