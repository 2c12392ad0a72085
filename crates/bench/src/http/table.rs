//! The two tables of Puma's `response_time_wrk.sh`, in its layout.

use std::fmt::Write as _;

use crate::{
    Cell, Name, Times,
    name::{BodyKind, HttpName},
};

const COLUMNS: &str = " req/sec    50%     75%     90%     99%    100%  Resp Size";
/// Width of the rules in both tables.
const RULE: usize = 65;
const LAST_RULE: usize = 69;

fn rule(width: usize) -> String {
    "─".repeat(width)
}

/// Kind and kilobytes of a cell of the matrix.
pub(super) fn body_of(cell: &Cell) -> Option<(BodyKind, usize)> {
    match &cell.name {
        Name::Http(HttpName::Matrix {
            kind, kilobytes, ..
        }) => Some((*kind, *kilobytes)),
        _ => None,
    }
}

/// The first table: kinds of bodies grouped by size; with a single kind, a row per size.
#[must_use]
pub fn types_table(cells: &[&Cell]) -> String {
    let bodies = || cells.iter().filter_map(|cell| body_of(cell));
    let mut kinds: Vec<BodyKind> = bodies().map(|(kind, _)| kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let has_errors = cells.iter().any(|cell| cell.failures > 0);
    let errors = if has_errors { "  Errors" } else { "" };
    let first = if kinds.len() > 1 { "Type  " } else { "Size  " };
    let mut text = format!("{first}{COLUMNS}{errors}\n");
    if kinds.len() == 1 {
        let _ = writeln!(text, "{} {}", rule(RULE), kinds[0].as_str());
    }
    let mut size = 0;
    for cell in cells {
        let Some((kind, kilobytes)) = body_of(cell) else {
            continue;
        };
        if kinds.len() > 1 && kilobytes != size {
            let _ = writeln!(text, "{}{:>7}", rule(RULE), format!("{kilobytes}kB"));
            size = kilobytes;
        }
        let name = match kinds.len() {
            1 => kilobytes.to_string(),
            _ => kind.as_str().to_owned(),
        };
        text += &type_row(&name, cell, has_errors);
    }
    text
}

fn type_row(name: &str, cell: &Cell, has_errors: bool) -> String {
    let nothing = Times::default();
    let times = cell.client.as_ref().unwrap_or(&nothing);
    let mut row = format!("{name:<6} {:>6.0}", cell.rps);
    for time in [times.p50, times.p75, times.p90, times.p99, times.max] {
        let _ = write!(row, "{time:>8.2}");
    }
    let _ = write!(row, "{:>10}", cell.size_bytes.unwrap_or_default());
    if has_errors {
        let _ = write!(row, "{:>8}", cell.failures);
    }
    row + "\n"
}

/// The second table: sizes in rows, kinds in columns. Only with more than one of both.
#[must_use]
pub fn bodies_table(cells: &[&Cell]) -> Option<String> {
    let bodies = || cells.iter().filter_map(|cell| body_of(cell));
    let mut sizes: Vec<usize> = bodies().map(|(_, kilobytes)| kilobytes).collect();
    sizes.dedup();
    let kinds: Vec<BodyKind> = BodyKind::ALL
        .into_iter()
        .filter(|kind| bodies().any(|(other, _)| other == *kind))
        .collect();
    if sizes.len() < 2 || kinds.len() < 2 {
        return None;
    }
    let width = kinds.len() * 8 - 3;
    let mut text = format!(
        "Body    {}   {}\n KB  ",
        centred(" req/sec ", width),
        centred(" req 50% times ", width)
    );
    for _ in 0..2 {
        for kind in &kinds {
            let _ = write!(text, "{:>8}", kind.as_str());
        }
    }
    text.push('\n');
    for size in sizes {
        let of = |kind: &BodyKind| {
            let mut all = cells.iter();
            all.find(|cell| body_of(cell) == Some((*kind, size)))
        };
        let _ = write!(text, "{size:<5}");
        for kind in &kinds {
            let _ = write!(text, "{:>8.0}", of(kind).map_or(0.0, |cell| cell.rps));
        }
        for kind in &kinds {
            let times = of(kind).and_then(|cell| cell.client.as_ref());
            let _ = write!(text, "{:>8.3}", times.map_or(0.0, |times| times.p50));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "{}", rule(LAST_RULE.max(kinds.len() * 16 + 5)));
    Some(text)
}

/// Centers text in a rule.
fn centred(text: &str, width: usize) -> String {
    let room = width.saturating_sub(text.chars().count());
    let left = room.div_ceil(2);
    format!("{}{text}{}", rule(left), rule(room - left))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        load::Load,
        name::{Route, Server, SocketKind},
    };

    /// A cell of the published run of 2022.
    fn cell(kilobytes: usize, kind: &str, rps: f64, times: [f64; 5], size: u64) -> Cell {
        let mut kinds = BodyKind::ALL.into_iter();
        let name = HttpName::Matrix {
            route: Route::Fixture,
            kind: kinds.find(|it| it.as_str() == kind).unwrap(),
            kilobytes,
            server: Server::Puma {
                version: "6".to_owned(),
                ruby: "3.2".to_owned(),
            },
            socket: SocketKind::Tcp6,
            cache: None,
        };
        let mut cell = Cell::new(name, &Load::closed(16, 0, 0));
        cell.requests = 1;
        cell.rps = rps;
        cell.size_bytes = Some(size);
        let [p50, p75, p90, p99, max] = times;
        cell.client = Some(Times {
            p50,
            p75,
            p90,
            p99,
            max,
            ..Times::default()
        });
        cell
    }

    fn published() -> Vec<Cell> {
        let one = [
            ("array", 13_710.0, [0.745, 2.52, 5.23, 7.76, 37.45], 1_024),
            ("chunk", 13_502.0, [0.757, 2.55, 5.28, 7.84, 11.23], 1_042),
            ("string", 13_794.0, [0.741, 2.51, 5.20, 7.75, 14.07], 1_024),
            ("io", 9_615.0, [1.16, 3.45, 7.13, 10.57, 15.75], 1_024),
        ];
        let two = [
            (
                "array",
                2_454.0,
                [4.12, 14.02, 27.70, 43.48, 88.89],
                2_097_415,
            ),
            (
                "chunk",
                1_743.0,
                [6.26, 17.65, 36.98, 55.78, 92.10],
                2_111_358,
            ),
            (
                "string",
                2_479.0,
                [4.38, 12.52, 25.65, 38.44, 95.62],
                2_097_502,
            ),
            ("io", 8_264.0, [1.25, 3.83, 7.76, 11.73, 65.69], 2_097_090),
        ];
        let of = |kilobytes: usize| {
            move |(name, rps, times, size): (&str, f64, [f64; 5], u64)| {
                cell(kilobytes, name, rps, times, size)
            }
        };
        let small = one.into_iter().map(of(1));
        small.chain(two.into_iter().map(of(2_048))).collect()
    }

    #[test]
    fn the_first_table_is_laid_out_as_published() {
        let cells = published();
        let cells: Vec<&Cell> = cells.iter().collect();
        let wanted = "\
Type   req/sec    50%     75%     90%     99%    100%  Resp Size
─────────────────────────────────────────────────────────────────    1kB
array   13710    0.74    2.52    5.23    7.76   37.45      1024
chunk   13502    0.76    2.55    5.28    7.84   11.23      1042
string  13794    0.74    2.51    5.20    7.75   14.07      1024
io       9615    1.16    3.45    7.13   10.57   15.75      1024
───────────────────────────────────────────────────────────────── 2048kB
array    2454    4.12   14.02   27.70   43.48   88.89   2097415
chunk    1743    6.26   17.65   36.98   55.78   92.10   2111358
string   2479    4.38   12.52   25.65   38.44   95.62   2097502
io       8264    1.25    3.83    7.76   11.73   65.69   2097090
";
        assert_eq!(types_table(&cells), wanted);
    }

    #[test]
    fn the_second_table_is_laid_out_as_published() {
        let cells = published();
        let cells: Vec<&Cell> = cells.iter().collect();
        let wanted = "\
Body    ────────── req/sec ──────────   ─────── req 50% times ───────
 KB     array   chunk  string      io   array   chunk  string      io
1       13710   13502   13794    9615   0.745   0.757   0.741   1.160
2048     2454    1743    2479    8264   4.120   6.260   4.380   1.250
─────────────────────────────────────────────────────────────────────
";
        assert_eq!(bodies_table(&cells).unwrap(), wanted);
    }

    #[test]
    fn one_type_has_rows_of_sizes_and_no_second_table() {
        let cells = published();
        let strings: Vec<&Cell> = cells
            .iter()
            .filter(|it| body_of(it).unwrap().0 == BodyKind::String)
            .collect();
        let text = types_table(&strings);
        assert!(text.starts_with("Size   req/sec"), "{text}");
        assert!(text.contains("\n2048     2479"), "{text}");
        assert_eq!(bodies_table(&strings), None);
    }

    #[test]
    fn errors_get_a_column() {
        let mut cells = published();
        cells[0].failures = 7;
        let cells: Vec<&Cell> = cells.iter().collect();
        let text = types_table(&cells);
        assert!(text.lines().next().unwrap().ends_with("Errors"));
        assert!(text.lines().nth(2).unwrap().ends_with("      7"), "{text}");
    }
}
