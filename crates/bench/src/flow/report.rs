//! Tables and plots of the pack.

use crate::{
    Cell, Results,
    markdown::{Block, NONE, Table, maybe, ms, percentiles, rate},
    plot::{Chart, Lines},
    render::distribution,
};

/// All tables.
#[must_use]
pub fn blocks(results: &Results) -> Vec<Block> {
    vec![
        matrix(results).block("flow/matrix", "Throughput by configuration"),
        anatomy(results).block("flow/anatomy", "Where the milliseconds go"),
    ]
}

fn matrix(results: &Results) -> Table {
    let mut table = Table::new(&[
        "Configuration",
        "Sandbox",
        "Durable",
        "At a time",
        "runs/s",
        "p50",
        "p95",
        "p99",
        "Service CPU a run",
        "Workers' CPU a run",
        "Failures",
    ]);
    for cell in results.section("matrix") {
        let name = vec![
            cell.name.clone(),
            cell.of("sandbox").to_owned(),
            cell.of("durable").to_owned(),
            cell.concurrency.to_string(),
        ];
        table.cell(cell, name, || {
            let mut figures = vec![rate(cell.median_rps())];
            figures.extend(percentiles(cell.client.as_ref()));
            figures.push(maybe(cell.server_cpu_ms(), ms));
            let workers = cell.values.get("workerCpuSeconds");
            figures.push(maybe(workers, |seconds| {
                ms(seconds * 1e3 / cell.requests as f64)
            }));
            figures
        });
    }
    table
}

/// A cell that counts.
fn cell<'a>(
    results: &'a Results,
    name: &str,
    sandbox: &str,
    concurrency: usize,
) -> Option<&'a Cell> {
    results.cells.iter().find(|cell| {
        cell.name.starts_with(name)
            && cell.of("sandbox") == sandbox
            && cell.concurrency == concurrency
            && !cell.is_void()
    })
}

/// Phases of the service in the order in which they come.
const PHASES: [(&str, &str); 4] = [
    ("ingress", "until the row of the run is durable"),
    ("queue", "until a slot has the run"),
    ("provision", "flow and pieces, from memory"),
    ("run", "the steps, with the sandbox of the code"),
];

/// The layers of a run, alone and in a crowd: ours fresh and reused, and Node's.
fn anatomy(results: &Results) -> Table {
    let service = [1, 16].map(|at| cell(results, "service, 4", "fresh", at));
    let alone = ["fresh", "reused"].map(|sandbox| cell(results, "one process", sandbox, 1));
    let node = ["reused", "fresh"].map(|sandbox| cell(results, "Node", sandbox, 1));
    let mut table = Table::new(&[
        "Layer",
        "Service, alone",
        "Service, 16 at a time",
        "One process, fresh",
        "One process, reused",
        "Node, reused",
        "Node, fresh",
        "What it is",
    ]);
    let nothing = || vec![NONE.to_owned(); 4];
    for (phase, about) in PHASES {
        let mut row = vec![phase.to_owned()];
        let of = |cell: &Cell| cell.phases.get(phase).copied();
        row.extend(service.map(|cell| maybe(cell.and_then(of), ms)));
        row.extend(nothing());
        row.push(about.to_owned());
        table.row(row);
    }
    let mut row = vec!["rest".to_owned()];
    row.extend(service.map(|cell| maybe(cell.and_then(rest), ms)));
    row.extend(nothing());
    row.push("the second flush, and the way to the waiting request".to_owned());
    table.row(row);
    let p50 = |cell: Option<&Cell>| Some(cell?.client.as_ref()?.p50);
    let boot = |fresh: Option<&Cell>, reused: Option<&Cell>| Some(p50(fresh)? - p50(reused)?);
    let mut row = vec!["sandbox".to_owned(), NONE.to_owned(), NONE.to_owned()];
    row.push(maybe(boot(alone[0], alone[1]), ms));
    row.extend([NONE.to_owned(), NONE.to_owned()]);
    row.push(maybe(boot(node[1], node[0]), ms));
    row.push("a fresh one beside one that is used again: difference of the medians".to_owned());
    table.row(row);
    let all = [service[0], service[1], alone[0], alone[1], node[0], node[1]];
    for name in ["mean", "p50", "p95", "p99"] {
        let mut row = vec![format!("whole, {name}")];
        row.extend(all.map(|cell| {
            let times = cell.and_then(|cell| cell.client.as_ref());
            maybe(times, |times| {
                ms(match name {
                    "mean" => times.mean,
                    "p50" => times.p50,
                    "p95" => times.p95,
                    _ => times.p99,
                })
            })
        }));
        row.push("as the client sees it".to_owned());
        table.row(row);
    }
    table
}

/// What of the service's time is in no phase.
fn rest(cell: &Cell) -> Option<f64> {
    let known: f64 = PHASES
        .iter()
        .filter_map(|(phase, _)| cell.phases.get(*phase))
        .sum();
    Some((cell.phases.get("total")? - known).max(0.0))
}

/// The first word of a configuration, and its sandbox.
fn short_name(cell: &Cell) -> String {
    let first = cell.name.split([',', ' ']).next().unwrap_or_default();
    format!("{first}, {} sandbox", cell.of("sandbox"))
}

/// All plots.
#[must_use]
pub fn plots(results: &Results) -> Vec<(String, Chart)> {
    let mut lines = Lines {
        title: "Runs a second by clients".to_owned(),
        x: "clients".to_owned(),
        y: "runs a second".to_owned(),
        is_y_logarithmic: true,
        ..Lines::default()
    };
    let shown = |cell: &&Cell| {
        !cell.is_void()
            && ["one process", "service, 4", "Node"]
                .iter()
                .any(|name| cell.name.starts_with(name))
    };
    for cell in results.section("matrix").filter(shown) {
        let name = short_name(cell);
        let point = (cell.concurrency as f64, cell.median_rps());
        match lines.series.iter_mut().find(|it| it.0 == name) {
            Some((_, points)) => points.push(point),
            None => lines.series.push((name, vec![point])),
        }
    }
    for (_, points) in &mut lines.series {
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    let alone = results
        .section("matrix")
        .filter(|cell| cell.concurrency == 1 && shown(cell));
    vec![
        ("throughput".to_owned(), Chart::Lines(lines)),
        (
            "latency".to_owned(),
            distribution("Latency by share of runs, one at a time", alone, short_name),
        ),
    ]
}
