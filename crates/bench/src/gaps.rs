//! Finds gaps in tables and plots of results: missing figures, empty tables, missing lines. A test
//! ensures that published reports have none.

use crate::{
    Results, flow,
    markdown::MISSING,
    packs::{blocks, plots},
    plot::Chart,
};

/// All gaps, one sentence each; empty if the report is complete.
#[must_use]
pub fn gaps(results: &Results) -> Vec<String> {
    let mut found = Vec::new();
    for block in blocks(results) {
        for gap in of_markdown(&block.body) {
            found.push(format!("{}: {gap}", block.id));
        }
    }
    for (name, chart) in plots(results) {
        for gap in of_chart(&chart) {
            found.push(format!("{}/{name}.svg: {gap}", results.pack));
        }
        if let ("flow", Chart::Lines(lines)) = (results.pack.as_str(), &chart) {
            let has = |wanted: &String| lines.series.iter().any(|(name, _)| name == wanted);
            let missing = flow::series().into_iter().filter(|wanted| !has(wanted));
            found.extend(missing.map(|wanted| format!("flow/{name}.svg has no line `{wanted}`")));
        }
    }
    found
}

fn of_markdown(body: &str) -> Vec<String> {
    let mut found = Vec::new();
    if body.trim().is_empty() {
        found.push("it is empty".to_owned());
    }
    let lines: Vec<&str> = body.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let is_row = |line: &&&str| line.starts_with("| ");
        if line.starts_with("|---") && lines.get(index + 1).filter(is_row).is_none() {
            found.push("a table has no row".to_owned());
        }
        let is_empty = line.starts_with("| ") && line.split('|').any(|cell| cell == "  ");
        if is_empty || line.contains(MISSING) {
            found.push(format!("a figure is missing in `{line}`"));
        }
    }
    found
}

fn of_chart(chart: &Chart) -> Vec<String> {
    let is_figure = |value: f64| value.is_finite() && value > 0.0;
    match chart {
        Chart::Lines(lines) => {
            let is_whole = |points: &[(f64, f64)]| {
                !points.is_empty() && points.iter().all(|point| is_figure(point.1))
            };
            let broken = lines.series.iter().filter(|(_, points)| !is_whole(points));
            let mut found: Vec<String> = broken
                .map(|(name, _)| format!("the line `{name}` lacks points"))
                .collect();
            if lines.series.is_empty() {
                found.push("it has no line".to_owned());
            }
            found
        }
        Chart::Bars(bars) => {
            let broken = bars.bars.iter().filter(|(_, value)| !is_figure(*value));
            let mut found: Vec<String> = broken
                .map(|(name, _)| format!("the bar `{name}` is missing"))
                .collect();
            if bars.bars.is_empty() {
                found.push("it has no bar".to_owned());
            }
            found
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{
        Cell, Outcome,
        interval::Basis,
        load::Load,
        name::{Age, FlowName, Part, Ratio, Runner, Sandbox},
    };

    /// A cell of the flow pack that was measured.
    fn measured(name: FlowName, concurrency: usize) -> Cell {
        let load = Load::closed(concurrency, 0, 40);
        let phases = ["ingress", "queue", "provision", "run", "total"];
        let run = load
            .run(|| {
                Ok(|| {
                    // Models a request, which takes some time.
                    std::thread::sleep(std::time::Duration::from_micros(20));
                    Outcome {
                        is_good: true,
                        phases: phases.map(|it| (it.to_owned(), 1.0)).to_vec(),
                        ..Outcome::default()
                    }
                })
            })
            .unwrap();
        let mut cell = Cell::new(name, &load);
        cell.take(std::slice::from_ref(&run), Basis::Requests);
        cell.server_cpu_seconds = Some(0.01);
        cell.values.insert("workerCpuSeconds".to_owned(), 0.01);
        cell
    }

    /// Results of the flow pack with these cells, all of them measured.
    fn flow_of(names: &[(Runner, Sandbox, &[usize])]) -> Results {
        let mut results = Results {
            pack: "flow".to_owned(),
            ..Results::default()
        };
        for (runner, sandbox, concurrencies) in names {
            for concurrency in *concurrencies {
                let name = FlowName::Matrix {
                    runner: runner.clone(),
                    sandbox: *sandbox,
                    is_durable: false,
                };
                results.cells.push(measured(name, *concurrency));
            }
        }
        results
    }

    const WHOLE: [(Runner, Sandbox, &[usize]); 5] = [
        (Runner::OneProcess, Sandbox::Fresh, &[1, 16]),
        (Runner::OneProcess, Sandbox::Reused, &[1, 16]),
        (Runner::Service, Sandbox::Fresh, &[1, 16]),
        (Runner::Node, Sandbox::Fresh, &[1]),
        (Runner::Node, Sandbox::Reused, &[1]),
    ];

    /// Results of the flow pack without gaps.
    pub(crate) fn whole_flow() -> Results {
        let with_workers = Runner::WITH_WORKERS.map(|it| (it, Sandbox::Fresh, &[1][..]));
        let all: Vec<_> = WHOLE.into_iter().chain(with_workers).collect();
        let mut results = flow_of(&all);
        for part in [Part::Whole, Part::Sandbox] {
            let step = "code".to_owned();
            results
                .cells
                .push(measured(FlowName::Step { step, part }, 1));
        }
        for ratio in Ratio::ALL {
            for age in [Age::Cold, Age::Warm] {
                let mut cell = measured(FlowName::Fleet { ratio, age }, 32);
                cell.client_cpu_seconds = Some(0.01);
                for of in ["ready", "first"] {
                    for part in ["Median", "Least", "Most"] {
                        cell.values.insert(format!("{of}{part}"), 2.0);
                    }
                }
                results.cells.push(cell);
            }
        }
        results
    }

    #[test]
    fn a_whole_run_has_no_gaps() {
        assert_eq!(gaps(&whole_flow()), Vec::<String>::new());
    }

    #[test]
    fn a_service_that_is_not_found_leaves_gaps() {
        let mut cells = WHOLE;
        cells[2].0 = Runner::Workers {
            workers: 1,
            slots: 1,
        };
        let found = gaps(&flow_of(&cells)).join("\n");
        for part in ["no line `service, fresh sandbox`", "throughput", "latency"] {
            assert!(found.contains(part), "{found}");
        }
        let mut without_phases = flow_of(&WHOLE);
        for cell in &mut without_phases.cells {
            cell.phases.clear();
        }
        let found = gaps(&without_phases).join("\n");
        assert!(
            found.contains("flow/anatomy") && found.contains("| ingress |"),
            "{found}"
        );
        let empty = gaps(&flow_of(&[])).join("\n");
        assert!(empty.contains("flow/matrix: a table has no row"), "{empty}");
    }
}
