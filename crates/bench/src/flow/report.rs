//! Tables and plots of the pack.

use crate::{
    Cell, Name, Results,
    markdown::{Block, MISSING, NONE, Table, fine, maybe, ms, percentiles, rate},
    name::{Age, FlowName, Runner, Sandbox},
    plot::{Chart, Lines},
    render::distribution,
};

/// All tables.
#[must_use]
pub fn blocks(results: &Results) -> Vec<Block> {
    let mut blocks = vec![
        matrix(results).block("flow/matrix", "Throughput by configuration"),
        anatomy(results).block("flow/anatomy", "Where the milliseconds go"),
    ];
    let steps = steps(results);
    blocks.extend((!steps.is_empty()).then(|| steps.block("flow/steps", "Step by step")));
    let fleets = fleets(results);
    blocks.extend((!fleets.is_empty()).then(|| fleets.block("flow/fleet", "Fleets")));
    blocks
}

/// What ran the flow in a cell.
struct Ran<'a> {
    runner: &'a Runner,
    sandbox: Sandbox,
    is_durable: bool,
}

impl Ran<'_> {
    /// Name of the cell's line in a plot; `None` for cells that plots omit.
    fn line(&self) -> Option<String> {
        let name = self.runner.short_name()?;
        Some(format!("{name}, {} sandbox", self.sandbox.as_str()))
    }
}

fn cells(results: &Results) -> impl Iterator<Item = (Ran<'_>, &Cell)> {
    results.pick(|name| match name {
        Name::Flow(FlowName::Matrix {
            runner,
            sandbox,
            is_durable,
        }) => Some(Ran {
            runner,
            sandbox: *sandbox,
            is_durable: *is_durable,
        }),
        _ => None,
    })
}

/// The valid cell of a runner.
fn find(
    results: &Results,
    is_wanted: impl Fn(&Runner) -> bool,
    sandbox: Sandbox,
    concurrency: usize,
) -> Option<&Cell> {
    let found = cells(results).find(|(ran, cell)| {
        is_wanted(ran.runner)
            && ran.sandbox == sandbox
            && cell.concurrency == concurrency
            && !cell.is_void()
    });
    found.map(|(_, cell)| cell)
}

fn matrix(results: &Results) -> Table {
    let mut table = Table::of_cells(&[
        "Configuration",
        "Sandbox",
        "Durable",
        "At a time",
        "runs/s",
        "p50",
        "p95",
        "p99",
        "Service CPU per run",
        "Worker CPU per run",
    ]);
    for (ran, cell) in cells(results) {
        let name = vec![
            ran.runner.to_string(),
            ran.sandbox.as_str().to_owned(),
            if ran.is_durable { "yes" } else { "no" }.to_owned(),
            cell.concurrency.to_string(),
        ];
        table.cell(cell, name, || {
            let mut figures = vec![rate(cell.median_rps())];
            figures.extend(percentiles(cell.client.as_ref()));
            figures.push(match ran.runner {
                Runner::OneProcess => NONE.to_owned(),
                _ => results.server_cpu(Some(cell), ms),
            });
            let workers = cell.values.get("workerCpuSeconds");
            figures.push(match ran.runner {
                Runner::Workers { .. } => {
                    maybe(workers, |seconds| ms(seconds * 1e3 / cell.requests as f64))
                }
                _ => NONE.to_owned(),
            });
            figures
        });
    }
    table
}

/// Phases of the service, in order.
const PHASES: [(&str, &str); 4] = [
    ("ingress", "until the row of the run is durable"),
    ("queue", "until a slot has the run"),
    ("provision", "flow and pieces, from memory"),
    ("run", "the steps, with the sandbox of the code"),
];

/// The layers of a run: the service alone and under load, one process with fresh and reused
/// sandboxes, and Node.
fn anatomy(results: &Results) -> Table {
    let service = [1, 16].map(|at| find(results, Runner::is_service, Sandbox::Fresh, at));
    let of = |wanted: Runner| move |runner: &Runner| *runner == wanted;
    let alone = [Sandbox::Fresh, Sandbox::Reused]
        .map(|sandbox| find(results, of(Runner::OneProcess), sandbox, 1));
    let node = [Sandbox::Reused, Sandbox::Fresh]
        .map(|sandbox| find(results, of(Runner::Node), sandbox, 1));
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
    let mut row = vec!["delivery".to_owned()];
    row.extend(service.map(|cell| maybe(cell.and_then(delivery), ms)));
    row.extend(nothing());
    row.push("the way of the request to the service, and of the answer to the client".to_owned());
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

/// The time of the client that is not the service's: difference of the medians.
fn delivery(cell: &Cell) -> Option<f64> {
    let client = cell.client.as_ref()?.p50;
    Some((client - cell.phases.get("total")?).max(0.0))
}

/// The steps of runs, one at a time.
fn steps(results: &Results) -> Table {
    let mut table = Table::of_cells(&["Step", "Part", "p50", "p95", "p99"]);
    let steps = results.pick(|name| match name {
        Name::Flow(FlowName::Step { step, part }) => Some((step, *part)),
        _ => None,
    });
    for ((step, part), cell) in steps {
        let name = vec![step.clone(), part.as_str().to_owned()];
        table.cell(cell, name, || match &cell.client {
            Some(times) => [times.p50, times.p95, times.p99].map(fine).to_vec(),
            None => vec![MISSING.to_owned(); 3],
        });
    }
    table
}

/// Fleets by services and workers: their start, their first runs, and those that follow.
fn fleets(results: &Results) -> Table {
    let mut table = Table::of_cells(&[
        "Services / workers",
        "Runs",
        "At a time",
        "Ready after",
        "First answer after",
        "runs/s",
        "p50",
        "p95",
        "p99",
        "CPU per run, fleet / client",
    ]);
    let fleets = results.pick(|name| match name {
        Name::Flow(FlowName::Fleet { ratio, age }) => Some((*ratio, *age)),
        _ => None,
    });
    for ((ratio, age), cell) in fleets {
        let age_name = age.as_str().to_owned();
        let name = vec![ratio.to_string(), age_name, cell.concurrency.to_string()];
        table.cell(cell, name, || {
            let mut figures = match age {
                Age::Cold => ["ready", "first"].map(|of| start(cell, of)).to_vec(),
                Age::Warm => vec![NONE.to_owned(); 2],
            };
            figures.push(rate(cell.median_rps()));
            figures.extend(percentiles(cell.client.as_ref()));
            let both = [cell.server_cpu_ms(), cell.client_cpu_ms()].map(|it| maybe(it, ms));
            figures.push(both.join(" / "));
            figures
        });
    }
    table
}

/// Seconds of a start: the median over the rounds, the least and the most.
fn start(cell: &Cell, of: &str) -> String {
    let value = |part: &str| cell.values.get(&format!("{of}{part}")).copied();
    let all = || Some((value("Median")?, value("Least")?, value("Most")?));
    maybe(all(), |(median, least, most)| {
        format!("{median:.1} s ({least:.1} to {most:.1})")
    })
}

/// The part of the service's time that is in no phase.
fn rest(cell: &Cell) -> Option<f64> {
    let known: f64 = PHASES
        .iter()
        .filter_map(|(phase, _)| cell.phases.get(*phase))
        .sum();
    Some((cell.phases.get("total")? - known).max(0.0))
}

/// The lines that both plots of a full run have.
pub(crate) fn series() -> Vec<String> {
    let whole = [
        (Runner::OneProcess, Sandbox::Fresh),
        (Runner::OneProcess, Sandbox::Reused),
        (Runner::Service, Sandbox::Fresh),
        (Runner::Node, Sandbox::Fresh),
        (Runner::Node, Sandbox::Reused),
    ];
    let name = |(runner, sandbox): (Runner, Sandbox)| {
        let ran = Ran {
            runner: &runner,
            sandbox,
            is_durable: false,
        };
        ran.line()
    };
    whole.into_iter().filter_map(name).collect()
}

/// All plots.
#[must_use]
pub fn plots(results: &Results) -> Vec<(String, Chart)> {
    let mut lines = Lines {
        title: "Runs per second by clients".to_owned(),
        x: "clients".to_owned(),
        y: "runs per second".to_owned(),
        is_y_logarithmic: true,
        ..Lines::default()
    };
    for (ran, cell) in cells(results).filter(|(_, cell)| !cell.is_void()) {
        let Some(name) = ran.line() else {
            continue;
        };
        let point = (cell.concurrency as f64, cell.median_rps());
        match lines.series.iter_mut().find(|it| it.0 == name) {
            Some((_, points)) => points.push(point),
            None => lines.series.push((name, vec![point])),
        }
    }
    for (_, points) in &mut lines.series {
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    let alone = cells(results)
        .filter(|(_, cell)| cell.concurrency == 1)
        .filter_map(|(ran, cell)| Some((ran.line()?, cell)));
    vec![
        ("throughput".to_owned(), Chart::Lines(lines)),
        (
            "latency".to_owned(),
            distribution("Latency by share of runs, one at a time", alone),
        ),
    ]
}
