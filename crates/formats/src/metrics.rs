//! Estimated text and column widths, for formats whose reader does the layout.

use platen_document::{
    bound::{Cell, CellContent, ColumnWidth, Document, Row, Style, StyleId, Table, plain_text},
    work,
};

use crate::grid::{Grid, Slot};

/// Advance widths of the characters 0x20 to 0x7E in thousandths of the font size: those of
/// Helvetica, which Arial and Liberation Sans share.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// Estimated width of `text`, in points.
pub(crate) fn text_width(text: &str, size: f32, bold: bool) -> f32 {
    let thousandths: u32 = text.chars().map(char_width).sum();
    let weight = if bold { 1.07 } else { 1.0 };
    thousandths as f32 * size * weight / 1000.0
}

fn char_width(c: char) -> u32 {
    match c as u32 {
        code @ 0x20..=0x7E => u32::from(WIDTHS[code as usize - 0x20]),
        0..=0x1F | 0x0300..=0x036F | 0x064B..=0x065F | 0x200B..=0x200F => 0,
        0x0590..=0x08FF | 0xFB1D..=0xFEFC => 480,
        0x1100..=0x11FF
        | 0x2E80..=0xD7FF
        | 0xF900..=0xFAFF
        | 0xFF00..=0xFF60
        | 0x1F300..=0x3FFFF => 1000,
        _ => 560,
    }
}

/// Estimated number of lines of `text` within `width` points, broken at spaces; at least 1.
pub(crate) fn line_count(text: &str, size: f32, bold: bool, width: f32) -> usize {
    let width = width.max(size);
    let space = text_width(" ", size, bold);
    let mut lines = 0;
    for paragraph in text.split('\n') {
        lines += 1;
        let mut x = 0.0;
        for word in paragraph.split(' ') {
            let mut needed = text_width(word, size, bold);
            if x > 0.0 && x + needed > width {
                lines += 1;
                x = 0.0;
            }
            // Long words, and scripts without spaces, may break anywhere.
            while needed > width {
                lines += 1;
                needed -= width;
            }
            x += needed + space;
        }
    }
    lines
}

/// Words longer than this may be split between two slides.
const MAX_WHOLE_BYTES: usize = 100;

/// Byte offset in `text` of the line that follows the first `lines`, counted as in [`line_count`];
/// the end of the text if there is none.
pub(crate) fn lines_end(text: &str, size: f32, bold: bool, width: f32, lines: usize) -> usize {
    let width = width.max(size);
    let space = text_width(" ", size, bold);
    let mut count = 0;
    let mut start = 0;
    for paragraph in text.split('\n') {
        count += 1;
        if count > lines {
            return start;
        }
        let mut x = 0.0;
        let mut at = start;
        for word in paragraph.split(' ') {
            let needed = text_width(word, size, bold);
            if x > 0.0 && x + needed > width {
                count += 1;
                x = 0.0;
            }
            if count > lines {
                return at;
            }
            for (offset, character) in word.char_indices() {
                let advance = text_width(character.encode_utf8(&mut [0; 4]), size, bold);
                if x > 0.0 && x + advance > width {
                    count += 1;
                    x = 0.0;
                }
                if count > lines {
                    // A word is cut only if it is alone on its line and too long to be a real word.
                    return match at {
                        0 if word.len() > MAX_WHOLE_BYTES => offset,
                        // What follows does not begin with the space.
                        0 => (word.len() + 1).min(text.len()),
                        _ => at,
                    };
                }
                x += advance;
            }
            x += space;
            at += word.len() + 1;
        }
        start += paragraph.len() + 1;
    }
    text.len()
}

/// Number of rows measured to size an automatic column; a longer table is sampled.
const MEASURED_ROWS: usize = 300;
/// Fraction of the width reserved for columns with shares, if their words need that much.
const LEAST_SHARE: f32 = 0.15;

/// Column widths in points. They fill `available`, unless every column is fixed and together they
/// are narrower.
pub(crate) fn column_widths(table: &Table, document: &Document, available: f32) -> Vec<f32> {
    let available = table.width.map_or(available, |width| width.min(available));
    let mut natural = vec![(12.0f32, 8.0f32); table.columns.len()];
    let widths = table.columns.iter().map(|column| &column.width);
    let fixed: f32 = widths.map(fixed_width).sum();
    // Content matters to shares only if the fixed columns leave them little space.
    let crowded = fixed > available * (1.0 - LEAST_SHARE);
    let automatic = |index: usize| match table.columns[index].width {
        ColumnWidth::Auto => true,
        ColumnWidth::Fraction(_) => crowded,
        ColumnWidth::Fixed(_) => false,
    };
    if (0..natural.len()).any(automatic) {
        measured_cells(table, |column, cell| {
            if automatic(column) {
                let (longest, word) = cell_widths(&cell.content, cell.style, document);
                let entry = &mut natural[column];
                *entry = (entry.0.max(longest), entry.1.max(word));
            }
        });
    }
    let specs: Vec<_> = table.columns.iter().map(|column| column.width).collect();
    solve(&specs, &natural, available)
}

/// Estimated height of a row with turned cells, in points; `None` without them.
pub(crate) fn turned_height(document: &Document, row: &Row) -> Option<f32> {
    let turned = |cell: &&Cell| document.styles[cell.style].turned;
    let cells = row.cells.iter().filter(turned);
    cells
        .map(|cell| {
            let padding = document.styles[cell.style].padding;
            let (longest, _) = text_widths(&cell.content, cell.style, document);
            longest + padding.top + padding.bottom
        })
        .reduce(f32::max)
}

/// Visits single-column cells with their column index: those of the header, and of rows sampled
/// across the table. Tables with row spans are not sampled, because a span can only be resolved row
/// by row.
pub(crate) fn measured_cells<'a>(table: &'a Table, mut visit: impl FnMut(usize, &'a Cell)) {
    let spans = |row: &Row| row.cells.iter().any(|cell| cell.row_span > 1);
    let every = if table.rows.iter().any(spans) {
        1
    } else {
        (table.rows.len() / MEASURED_ROWS).max(1)
    };
    for rows in [&table.header, &table.rows] {
        let step = if rows.len() == table.header.len() {
            1
        } else {
            every
        };
        let mut grid = Grid::new(table.columns.len());
        for (index, row) in rows.iter().enumerate().step_by(step) {
            for slot in grid.place(row, rows.len() - index) {
                if let Slot::Cell {
                    column,
                    span: 1,
                    cell,
                } = *slot
                    && column < table.columns.len()
                {
                    visit(column, cell);
                }
            }
        }
    }
}

/// Width of the content on one line, and of its longest word, in points.
fn cell_widths(content: &CellContent, id: StyleId, document: &Document) -> (f32, f32) {
    let style = &document.styles[id];
    if style.turned {
        let width = style.font_size * style.line_height + style.padding.left + style.padding.right;
        return (width + 2.0, width + 2.0);
    }
    text_widths(content, id, document)
}

/// Like [`cell_widths`], along the lines of the text even if it is turned.
fn text_widths(content: &CellContent, id: StyleId, document: &Document) -> (f32, f32) {
    work::check();
    let style = &document.styles[id];
    let frame = style.padding.left + style.padding.right + 2.0;
    let measure = |text: &str, style: &Style| {
        let longest = text
            .split('\n')
            .map(|line| text_width(line, style.font_size, style.bold))
            .fold(0.0, f32::max);
        let word = text
            .split_whitespace()
            .map(|word| text_width(word, style.font_size, style.bold))
            .fold(0.0, f32::max);
        // Allowance for fonts that are slightly wider than the one measured here.
        let slack = 1.04;
        (longest * slack + frame, word.min(longest) * slack + frame)
    };
    match content {
        CellContent::Text(text) => measure(text, style),
        CellContent::Inlines(content) => measure(&plain_text(content), style),
        CellContent::Blocks(blocks) => {
            let (longest, word) = measure(&crate::plain::blocks_text(blocks, document), style);
            (longest.max(60.0), word.max(40.0))
        }
    }
}

/// Distributes `available` among columns: fixed widths first, then automatic ones by content;
/// shares get the rest. `natural` holds the width on one line and of the longest word.
pub(crate) fn solve(specs: &[ColumnWidth], natural: &[(f32, f32)], available: f32) -> Vec<f32> {
    let words_of_shares: f32 = specs
        .iter()
        .zip(natural)
        .filter(|(spec, _)| matches!(spec, ColumnWidth::Fraction(_)))
        .map(|(_, natural)| natural.1)
        .sum();
    let full: f32 = specs.iter().map(fixed_width).sum();
    // Fixed columns shrink if they leave no room for a word in the others.
    let room = available - words_of_shares.min(available * LEAST_SHARE);
    let shrink = if full > room { room / full } else { 1.0 };
    let fixed = full * shrink;
    let shares: f32 = specs
        .iter()
        .map(|spec| {
            if let ColumnWidth::Fraction(share) = spec {
                *share
            } else {
                0.0
            }
        })
        .sum();
    let automatic = |pick: fn(&(f32, f32)) -> f32| -> f32 {
        let of = |(spec, natural)| {
            if spec == &ColumnWidth::Auto {
                pick(natural)
            } else {
                0.0
            }
        };
        specs.iter().zip(natural).map(of).sum()
    };
    let (longest, words) = (automatic(|n| n.0), automatic(|n| n.1));
    let reserved = if shares > 0.0 {
        available * LEAST_SHARE
    } else {
        0.0
    };
    let rest = (available - fixed - reserved).max(0.0);
    // Interpolate between the longest word and the whole text, depending on the available width.
    let blend = if longest <= rest {
        1.0
    } else {
        ((rest - words) / (longest - words).max(0.01)).clamp(0.0, 1.0)
    };
    let mut widths: Vec<f32> = specs
        .iter()
        .zip(natural)
        .map(|(spec, natural)| match spec {
            ColumnWidth::Fixed(width) => width * shrink,
            ColumnWidth::Auto => natural.1 + (natural.0 - natural.1) * blend,
            ColumnWidth::Fraction(_) => 0.0,
        })
        .collect();
    distribute(&mut widths, specs, available, shares, fixed);
    // Whatever is still too wide shrinks in proportion, so that nothing leaves the page.
    let total: f32 = widths.iter().sum();
    if total > available + 0.01 {
        for width in &mut widths {
            *width *= available / total;
        }
    }
    for width in &mut widths {
        *width = width.max(1.0);
    }
    widths
}

fn fixed_width(spec: &ColumnWidth) -> f32 {
    match spec {
        ColumnWidth::Fixed(width) => *width,
        ColumnWidth::Auto | ColumnWidth::Fraction(_) => 0.0,
    }
}

/// Distributes the rest of `available` among the shares or, without any, among the automatic
/// columns.
fn distribute(widths: &mut [f32], specs: &[ColumnWidth], available: f32, shares: f32, fixed: f32) {
    let used: f32 = widths.iter().sum();
    for (width, spec) in widths.iter_mut().zip(specs) {
        match spec {
            ColumnWidth::Fraction(share) => {
                *width = ((available - used) * share / shares).max(available * 0.02);
            }
            ColumnWidth::Auto if shares == 0.0 => {
                *width += (available - used).max(0.0) * natural_share(*width, used - fixed);
            }
            _ => {}
        }
    }
}

fn natural_share(width: f32, all: f32) -> f32 {
    if all > 0.0 { width / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_take_the_rest() {
        let specs = [
            ColumnWidth::Fixed(50.0),
            ColumnWidth::Auto,
            ColumnWidth::Fraction(1.0),
        ];
        let widths = solve(&specs, &[(0.0, 0.0), (40.0, 20.0), (0.0, 0.0)], 300.0);
        assert_eq!(widths, [50.0, 40.0, 210.0]);
    }

    #[test]
    fn fixed_columns_leave_room_for_a_word() {
        let specs = [ColumnWidth::Fixed(290.0), ColumnWidth::Fraction(1.0)];
        let widths = solve(&specs, &[(0.0, 0.0), (80.0, 40.0)], 300.0);
        assert_eq!(widths, [260.0, 40.0]);
    }

    #[test]
    fn too_much_shrinks() {
        let specs = [ColumnWidth::Fixed(300.0), ColumnWidth::Fixed(100.0)];
        let widths = solve(&specs, &[(0.0, 0.0); 2], 200.0);
        assert_eq!(widths, [150.0, 50.0]);
    }

    #[test]
    fn lines_break_at_spaces_and_in_long_words() {
        assert_eq!(line_count("a b", 10.0, false, 500.0), 1);
        assert_eq!(line_count("aaaa bbbb", 10.0, false, 25.0), 2);
        assert_eq!(line_count("日本語日本語", 10.0, false, 20.0), 3);
        assert_eq!(line_count("a\nb", 10.0, false, 500.0), 2);
    }

    #[test]
    fn text_is_cut_behind_a_space() {
        let end = |text: &str| lines_end(text, 10.0, false, 25.0, 1);
        assert_eq!(end("aaaa bbbb"), 5);
        let word = "a".repeat(90);
        assert_eq!(end(&format!("{word} b")), 91);
        assert_eq!(end(&word), 90);
        // Not a word: its first line.
        let end = end(&"a".repeat(200));
        assert!((1..10).contains(&end), "{end}");
    }
}
