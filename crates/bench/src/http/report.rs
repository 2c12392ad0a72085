//! Tables and plots of the pack: for each server the two of 002, and all servers side by side.

use super::{
    bodies::BodyKind,
    table::{bodies_table, kilobytes, types_table},
};
use crate::{
    Cell, Results,
    markdown::{Block, Table, maybe, ms},
    plot::{Chart, Lines},
    rounds::Ratio,
};

/// Servers of a run, ours first.
fn servers(results: &Results) -> Vec<String> {
    let mut servers: Vec<String> = Vec::new();
    for cell in results.section("matrix") {
        let name = cell.of("server").to_owned();
        if !servers.contains(&name) {
            servers.push(name);
        }
    }
    servers
}

fn cells_of<'a>(results: &'a Results, server: &'a str) -> Vec<&'a Cell> {
    results
        .section("matrix")
        .filter(move |cell| cell.of("server") == server)
        .collect()
}

/// All tables.
#[must_use]
pub fn blocks(results: &Results) -> Vec<Block> {
    let mut tables = String::new();
    for server in servers(results) {
        let cells = cells_of(results, &server);
        let first = cells.first();
        let socket = first.map_or("", |cell| cell.of("socket"));
        let connections = first.map_or(0, |cell| cell.concurrency);
        let load = first.map_or("", |cell| cell.mode.as_str());
        let rounds = first.map_or(0, |cell| cell.rounds.len());
        tables += &format!("**{server}**\n\n```text\n{}", types_table(&cells));
        if let Some(table) = bodies_table(&cells) {
            tables += &format!("\n{table}");
        }
        tables += &format!(
            "{load}, {connections} connections, bind: {socket}, median of {rounds} rounds in turns\n{server}\n```\n\n"
        );
    }
    let tables = Block {
        id: "http/tables".to_owned(),
        title: "Types and sizes of bodies".to_owned(),
        body: tables,
    };
    vec![
        beside(results).block("http/beside", "Beside each other"),
        tables,
    ]
}

/// A row for each cell: what we answer a second, and how that is to each of the others.
fn beside(results: &Results) -> Table {
    let servers = servers(results);
    let mut head = vec!["kB".to_owned(), "Type".to_owned()];
    head.extend(servers.iter().map(|name| format!("{name}, req/s")));
    head.extend(
        servers
            .iter()
            .skip(1)
            .map(|name| format!("to {name}, median (min to max)")),
    );
    head.extend(servers.iter().map(|name| format!("{name}, CPU a request")));
    head.push("p99 / p50".to_owned());
    head.push("Failures".to_owned());
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = Table::new(&head);
    let Some(ours) = servers.first() else {
        return table;
    };
    for cell in cells_of(results, ours) {
        let of = |server: &String| {
            results.section("matrix").find(|other| {
                other.of("server") == server
                    && other.name == cell.name
                    && other.of("kilobytes") == cell.of("kilobytes")
            })
        };
        let all: Vec<Option<&Cell>> = servers.iter().map(of).collect();
        let mut row = vec![kilobytes(cell).to_string(), cell.name.clone()];
        row.extend(all.iter().map(|cell| {
            maybe(*cell, |cell| match cell.is_void() {
                true => "void".to_owned(),
                false => format!("{:.0}", cell.rps),
            })
        }));
        row.extend(all.iter().skip(1).map(|other| {
            let other = other.filter(|other| !other.is_void() && !cell.is_void());
            let ratio = other.and_then(|other| Ratio::of_rates(cell, other));
            maybe(ratio, |ratio| ratio.to_string())
        }));
        row.extend(
            all.iter()
                .map(|cell| maybe(cell.and_then(Cell::server_cpu_ms), cpu)),
        );
        let times = cell.client.as_ref();
        row.push(maybe(times, |it| {
            format!("{:.1}", it.p99 / it.p50.max(1e-9))
        }));
        let sum = |of: fn(&Cell) -> u64| -> u64 { all.iter().flatten().map(|cell| of(cell)).sum() };
        row.push(format!(
            "{}/{}",
            sum(|cell| cell.failures),
            sum(|cell| cell.requests)
        ));
        table.row(row);
    }
    table
}

/// Processor time is of microseconds here.
fn cpu(milliseconds: f64) -> String {
    match milliseconds {
        it if it < 1.0 => format!("{:.0} µs", it * 1e3),
        it => ms(it),
    }
}

/// All plots: a picture for each type of body.
#[must_use]
pub fn plots(results: &Results) -> Vec<(String, Chart)> {
    let plot = |kind: BodyKind| {
        let series = servers(results).into_iter().map(|server| {
            let cells = cells_of(results, &server).into_iter();
            let cells = cells.filter(|cell| cell.name == kind.name() && !cell.is_void());
            let points = cells.map(|cell| (kilobytes(cell) as f64, cell.rps));
            (server.clone(), points.collect())
        });
        let series: Vec<(String, Vec<(f64, f64)>)> = series.collect();
        let sizes: Vec<f64> = series
            .first()
            .map(|(_, points)| points.iter().map(|point| point.0).collect())
            .unwrap_or_default();
        let chart = Chart::Lines(Lines {
            title: format!("Requests a second by size: {}", kind.name()),
            x: "kilobytes".to_owned(),
            y: "requests a second".to_owned(),
            is_x_logarithmic: true,
            is_y_logarithmic: true,
            marks: sizes.iter().map(|it| (*it, format!("{it}"))).collect(),
            series,
        });
        (format!("throughput-{}", kind.name()), chart)
    };
    BodyKind::ALL
        .into_iter()
        .filter(|kind| {
            results
                .section("matrix")
                .any(|cell| cell.name == kind.name())
        })
        .map(plot)
        .collect()
}
