//! Tables and plots of the pack: for each server the two tables of Puma's script, and all servers
//! side by side.

use super::{
    bodies::BodyKind,
    files::PageCache,
    table::{bodies_table, kilobytes, types_table},
};
use crate::{
    Cell, Results,
    markdown::{Block, NONE, Table, maybe, ms},
    plot::{Chart, Lines},
    rounds::Ratio,
};

/// Servers of a run, Platen's first.
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
            "{load}, {connections} connections, bind: {socket}, median of {rounds} interleaved rounds\n{server}\n```\n\n"
        );
    }
    let tables = Block {
        id: "http/tables".to_owned(),
        title: "Types and sizes of bodies".to_owned(),
        body: tables,
    };
    let mut beside = beside(results).block("http/beside", "Comparison");
    if results.section("matrix").any(is_of_old_io) {
        beside.body += "\nThis build answered Platen's own `io` rows from memory: they say nothing \
            about files.\n";
    }
    let mut blocks = vec![beside, tables];
    if results.section("files").next().is_some() {
        blocks.push(files(results).block("http/files", "Files, hot and cold"));
    }
    blocks
}

/// Whether the cell is from a time when `io` rows did not record where the files were.
fn is_of_old_io(cell: &Cell) -> bool {
    cell.name == BodyKind::Io.name() && cell.of("cache").is_empty()
}

/// A row for each size and server: one request at a time, from the page cache and from disk.
fn files(results: &Results) -> Table {
    let mut table = Table::new(&[
        "kB",
        "Server",
        "From the page cache, p50",
        "From the disk, p50",
        "p99",
        "Time relative to the page cache, median (min to max)",
        "Failures",
    ]);
    let is_of = |cell: &Cell, cache: PageCache| cell.of("cache") == cache.name();
    let all = || results.section("files");
    for cold in all().filter(|cell| is_of(cell, PageCache::Cold)) {
        let hot = all().find(|hot| {
            is_of(hot, PageCache::Hot)
                && hot.of("server") == cold.of("server")
                && hot.of("kilobytes") == cold.of("kilobytes")
        });
        let p50 = |cell: &Cell| cell.client.as_ref().map(|times| times.p50);
        let name = vec![kilobytes(cold).to_string(), cold.of("server").to_owned()];
        table.cell(cold, name, || {
            let ratio = hot.and_then(|hot| Ratio::of_times(cold, hot));
            vec![
                maybe(hot.and_then(p50), ms),
                maybe(p50(cold), ms),
                maybe(cold.client.as_ref(), |times| ms(times.p99)),
                maybe(ratio, |ratio| ratio.to_string()),
            ]
        });
    }
    table
}

/// Titles of the columns: one per server for each figure.
fn head_of(servers: &[String]) -> Vec<String> {
    let mut head = vec!["kB".to_owned(), "Type".to_owned()];
    head.extend(servers.iter().map(|name| format!("{name}, req/s")));
    head.extend(
        servers
            .iter()
            .skip(1)
            .map(|name| format!("relative to {name}, median (min to max)")),
    );
    head.extend(
        servers
            .iter()
            .map(|name| format!("{name}, CPU per request")),
    );
    head.push("p99 / p50".to_owned());
    head.push("Failures".to_owned());
    head
}

/// A row for each cell: Platen's requests per second, and their ratio to each of the other servers.
fn beside(results: &Results) -> Table {
    let servers = servers(results);
    let head = head_of(&servers);
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
        // A service has no arrays and no chunks.
        let has: Vec<bool> = servers
            .iter()
            .map(|server| {
                let of_server = cells_of(results, server);
                of_server.iter().any(|other| other.name == cell.name)
            })
            .collect();
        let every = |show: &dyn Fn(Option<&Cell>) -> String| -> Vec<String> {
            let each = all.iter().zip(&has);
            each.map(|(cell, has)| if *has { show(*cell) } else { NONE.to_owned() })
                .collect()
        };
        let mut row = vec![kilobytes(cell).to_string(), cell.name.clone()];
        row.extend(every(&|cell| {
            maybe(cell, |cell| match cell.is_void() {
                true => "void".to_owned(),
                false => format!("{:.0}", cell.rps),
            })
        }));
        let ratios = every(&|other| {
            let other = other.filter(|other| !other.is_void() && !cell.is_void());
            let ratio = other.and_then(|other| Ratio::of_rates(cell, other));
            maybe(ratio, |ratio| ratio.to_string())
        });
        row.extend(ratios.into_iter().skip(1));
        row.extend(every(&|cell| {
            maybe(cell.and_then(Cell::server_cpu_ms), cpu)
        }));
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

/// Processor times here are in microseconds.
fn cpu(milliseconds: f64) -> String {
    match milliseconds {
        it if it < 1.0 => format!("{:.0} µs", it * 1e3),
        it => ms(it),
    }
}

/// All plots: one for each kind of body.
#[must_use]
pub fn plots(results: &Results) -> Vec<(String, Chart)> {
    let plot = |kind: BodyKind| {
        let series = servers(results).into_iter().map(|server| {
            let cells = cells_of(results, &server).into_iter();
            let cells = cells.filter(|cell| cell.name == kind.name() && !cell.is_void());
            let points = cells.map(|cell| (kilobytes(cell) as f64, cell.rps));
            (server.clone(), points.collect())
        });
        let mut series: Vec<(String, Vec<(f64, f64)>)> = series.collect();
        series.retain(|(_, points)| !points.is_empty());
        let sizes: Vec<f64> = series
            .first()
            .map(|(_, points)| points.iter().map(|point| point.0).collect())
            .unwrap_or_default();
        let chart = Chart::Lines(Lines {
            title: format!("Requests per second by size: {}", kind.name()),
            x: "kilobytes".to_owned(),
            y: "requests per second".to_owned(),
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
