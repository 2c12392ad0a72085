//! Tables and plots of the pack: for each server the two tables of Puma's script, and all servers
//! side by side.

use super::table::{bodies_table, body_of, types_table};
use crate::{
    Cell, Name, Results,
    markdown::{Block, NONE, Table, fine, maybe, ms, precision},
    name::{BodyKind, HttpName, PageCache, Server, SocketKind},
    plot::{Chart, Lines},
    rounds::Ratio,
};

/// What a cell of the matrix is of.
type Of<'a> = (&'a Server, SocketKind);

fn matrix(results: &Results) -> impl Iterator<Item = (Of<'_>, &Cell)> {
    results.pick(|name| match name {
        Name::Http(HttpName::Matrix { server, socket, .. }) => Some((server, *socket)),
        _ => None,
    })
}

/// Servers of a run, Platen's first.
fn servers(results: &Results) -> Vec<Of<'_>> {
    let mut servers = Vec::new();
    for (of, _) in matrix(results) {
        if !servers.contains(&of) {
            servers.push(of);
        }
    }
    servers
}

fn cells_of<'a>(results: &'a Results, wanted: Of<'a>) -> Vec<&'a Cell> {
    let cells = matrix(results).filter(|(of, _)| *of == wanted);
    cells.map(|(_, cell)| cell).collect()
}

/// All tables.
#[must_use]
pub fn blocks(results: &Results) -> Vec<Block> {
    let mut tables = String::new();
    for of @ (server, socket) in servers(results) {
        let cells = cells_of(results, of);
        let first = cells.first();
        let socket = socket.as_str();
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
    let mut beside = Block {
        id: "http/beside".to_owned(),
        title: "Comparison".to_owned(),
        body: String::new(),
    };
    for socket in sockets(results) {
        beside.body += &format!(
            "**{}**\n\n{}\n",
            socket.as_str(),
            of_socket(results, socket)
        );
    }
    if matrix(results).any(|(_, cell)| is_of_old_io(cell)) {
        beside.body += "\nThis build answered Platen's own `io` rows from memory: they say nothing \
            about files.\n";
    }
    let mut blocks = vec![beside, tables];
    if read_files(results).next().is_some() {
        blocks.push(files(results).block("http/files", "Files, hot and cold"));
    }
    let experiment = connections(results);
    if !experiment.is_empty() {
        blocks.push(experiment.block("http/connections", "More connections"));
    }
    blocks
}

/// Whether the cell is from a time when `io` rows did not record where the files were.
fn is_of_old_io(cell: &Cell) -> bool {
    matches!(
        cell.name,
        Name::Http(HttpName::Matrix {
            kind: BodyKind::Io,
            cache: None,
            ..
        })
    )
}

fn read_files(results: &Results) -> impl Iterator<Item = ((usize, &Server, PageCache), &Cell)> {
    results.pick(|name| match name {
        Name::Http(HttpName::Files {
            kilobytes,
            server,
            cache,
            ..
        }) => Some((*kilobytes, server, *cache)),
        _ => None,
    })
}

/// A row for each size and server: one request at a time, from the page cache and from disk.
fn files(results: &Results) -> Table {
    let mut table = Table::of_cells(&[
        "kB",
        "Server",
        "From the page cache, p50",
        "From the disk, p50",
        "p99",
        "Time relative to the page cache, median (min to max)",
    ]);
    let all = || read_files(results);
    let colds = all().filter(|((.., cache), _)| *cache == PageCache::Cold);
    for ((kilobytes, server, _), cold) in colds {
        let wanted = (kilobytes, server, PageCache::Hot);
        let hot = all().find(|(name, _)| *name == wanted);
        let hot = hot.map(|(_, cell)| cell);
        let p50 = |cell: &Cell| cell.client.as_ref().map(|times| times.p50);
        let name = vec![kilobytes.to_string(), server.to_string()];
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
fn head_of(servers: &[Of<'_>]) -> Vec<String> {
    let mut head = vec!["kB".to_owned(), "Type".to_owned()];
    head.extend(servers.iter().map(|(name, _)| format!("{name}, req/s")));
    head.extend(
        servers
            .iter()
            .skip(1)
            .map(|(name, _)| format!("relative to {name}, median (min to max)")),
    );
    head.extend(
        servers
            .iter()
            .map(|(name, _)| format!("{name}, CPU per request, server / client")),
    );
    head.push("p99 / p50".to_owned());
    head.push("n, 95 % interval of the median rate".to_owned());
    head.push("Failures".to_owned());
    head
}

/// The kinds of sockets of a run.
fn sockets(results: &Results) -> Vec<SocketKind> {
    let mut sockets: Vec<SocketKind> = Vec::new();
    for (_, socket) in servers(results) {
        if !sockets.contains(&socket) {
            sockets.push(socket);
        }
    }
    sockets
}

/// The same rate on more connections.
fn connections(results: &Results) -> Table {
    let mut table = Table::new(&[
        "Server",
        "req/sec",
        "50%",
        "75%",
        "90%",
        "99%",
        "100%",
        "wrk",
        "n, 95 % interval of the median rate",
        "Failures",
    ]);
    let cells = results.pick(|name| match name {
        Name::Http(HttpName::Connections { server, threads }) => Some((server, *threads)),
        _ => None,
    });
    for ((server, threads), cell) in cells {
        let mut row = vec![server.to_string(), format!("{:.0}", cell.rps)];
        let times = cell.client.as_ref();
        row.extend(
            times
                .map_or_else(Default::default, |it| {
                    [it.p50, it.p75, it.p90, it.p99, it.max]
                })
                .map(ms),
        );
        let connections = cell.concurrency;
        row.push(format!("-t{threads} -c{connections}"));
        row.push(precision(cell));
        row.push(cell.failures_of_requests());
        table.row(row);
    }
    table
}

/// A row for each cell: Platen's requests per second, and their ratio to each of the other servers.
fn of_socket(results: &Results, socket: SocketKind) -> Table {
    let mut servers = servers(results);
    servers.retain(|(_, other)| *other == socket);
    let head = head_of(&servers);
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = Table::new(&head);
    let Some(ours) = servers.first() else {
        return table;
    };
    for cell in cells_of(results, *ours) {
        let Some((kind, kilobytes)) = body_of(cell) else {
            continue;
        };
        let of = |server: &Of<'_>| {
            let mut cells = matrix(results).filter(|(of, _)| of == server);
            let found = cells.find(|(_, other)| body_of(other) == Some((kind, kilobytes)));
            found.map(|(_, cell)| cell)
        };
        let all: Vec<Option<&Cell>> = servers.iter().map(of).collect();
        // nginx and a service may lack some kinds.
        let has: Vec<bool> = servers
            .iter()
            .map(|server| {
                let cells = cells_of(results, *server);
                let mut kinds = cells.iter().filter_map(|cell| body_of(cell));
                kinds.any(|(other, _)| other == kind)
            })
            .collect();
        let every = |show: &dyn Fn(Option<&Cell>) -> String| -> Vec<String> {
            let each = all.iter().zip(&has);
            each.map(|(cell, has)| if *has { show(*cell) } else { NONE.to_owned() })
                .collect()
        };
        let mut row = vec![kilobytes.to_string(), kind.as_str().to_owned()];
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
            let server = results.server_cpu(cell, fine);
            match cell.and_then(Cell::client_cpu_ms) {
                None if results.target.is_some() => server,
                client => format!("{server} / {}", maybe(client, fine)),
            }
        }));
        let times = cell.client.as_ref();
        row.push(maybe(times, |it| {
            format!("{:.1}", it.p99 / it.p50.max(1e-9))
        }));
        let every = all.iter().flatten().map(|cell| precision(cell));
        row.push(every.collect::<Vec<_>>().join("; "));
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

/// All plots: one for each kind of body.
#[must_use]
pub fn plots(results: &Results) -> Vec<(String, Chart)> {
    let plot = |kind: BodyKind| {
        // The first kind of socket has all sizes.
        let first = sockets(results).first().copied();
        let servers = servers(results).into_iter();
        let servers = servers.filter(|(_, socket)| Some(*socket) == first);
        let series = servers.map(|of| {
            let cells = cells_of(results, of).into_iter();
            let cells = cells.filter(|cell| !cell.is_void());
            let points = cells.filter_map(|cell| {
                let (other, kilobytes) = body_of(cell)?;
                (other == kind).then_some((kilobytes as f64, cell.rps))
            });
            (of.0.to_string(), points.collect())
        });
        let mut series: Vec<(String, Vec<(f64, f64)>)> = series.collect();
        series.retain(|(_, points)| !points.is_empty());
        let sizes: Vec<f64> = series
            .first()
            .map(|(_, points)| points.iter().map(|point| point.0).collect())
            .unwrap_or_default();
        let chart = Chart::Lines(Lines {
            title: format!("Requests per second by size: {}", kind.as_str()),
            x: "kilobytes".to_owned(),
            y: "requests per second".to_owned(),
            is_x_logarithmic: true,
            is_y_logarithmic: true,
            marks: sizes.iter().map(|it| (*it, format!("{it}"))).collect(),
            series,
        });
        (format!("throughput-{}", kind.as_str()), chart)
    };
    BodyKind::ALL
        .into_iter()
        .filter(|kind| {
            matrix(results)
                .filter_map(|(_, cell)| body_of(cell))
                .any(|(other, _)| other == *kind)
        })
        .map(plot)
        .collect()
}
