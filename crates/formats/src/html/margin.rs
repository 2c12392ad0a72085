//! Headers and footers of printed pages: CSS margin boxes, which hold text only.

use std::fmt::Write as _;

use platen_document::{
    bound::{Block, BlockKind, CellContent, Inline, Row},
    work,
};

use crate::{plain::note_mark, report::Report};

/// The end of a line.
const BREAK: &str = "\"\\A \"";
/// Between what stands side by side.
const GAP: &str = "\"\u{2003}\"";
/// Between a label and its value, and between the lines of a cell.
const SPACE: &str = "\" \"";

/// The value of the property `content` that shows `blocks`; empty if they have no text.
pub(super) fn content_of(blocks: &[Block], report: &mut Report) -> String {
    lines_of(blocks, 0, report).join(BREAK)
}

/// The text of `blocks` in `level` lists: values of CSS `content`, which are strings and page
/// counters. Reports what is no text.
fn lines_of(blocks: &[Block], level: usize, report: &mut Report) -> Vec<String> {
    let mut lines = Vec::new();
    for block in blocks {
        work::check();
        lines.extend(block_lines(block, level, report));
    }
    lines.retain(|line| !line.is_empty());
    lines
}

fn block_lines(block: &Block, level: usize, report: &mut Report) -> Vec<String> {
    match &block.kind {
        BlockKind::Heading { content, .. } | BlockKind::Paragraph(content) => {
            vec![inline_content(content)]
        }
        BlockKind::List(list) => {
            let mut lines = Vec::new();
            for (index, item) in list.items.iter().enumerate() {
                let mut line = string(&format!("{} ", list.label(level, index)));
                line.push_str(&inline_content(&item.content));
                lines.push(line);
                lines.extend(lines_of(&item.body, level + 1, report));
            }
            lines
        }
        BlockKind::Table(table) => {
            let mut lines = optional(table.caption.as_deref());
            for row in table.header.iter().chain(&table.rows) {
                lines.push(row_line(row, level, report));
            }
            lines
        }
        BlockKind::KeyValue(pairs) => {
            let rows = pairs.items.chunks(usize::from(pairs.columns.max(1)));
            rows.map(|row| join(row.iter().map(pair), GAP)).collect()
        }
        BlockKind::Columns(columns) => {
            let mut parts = Vec::new();
            for column in &columns.columns {
                parts.push(lines_of(&column.body, level, report).join(BREAK));
            }
            vec![join(parts, GAP)]
        }
        BlockKind::Panel { title, body } => {
            let mut lines = optional(title.as_deref());
            lines.extend(lines_of(body, level, report));
            lines
        }
        BlockKind::Positioned(positioned) => lines_of(&positioned.body, level, report),
        BlockKind::FormField(field) => vec![string(&field.as_text())],
        BlockKind::Signature(signature) => optional(signature.label.as_deref()),
        BlockKind::Image(image) => {
            lost(block, report);
            optional(image.caption.as_deref())
        }
        BlockKind::Chart(chart) => {
            lost(block, report);
            optional(chart.caption.as_deref())
        }
        BlockKind::Barcode(barcode) => {
            lost(block, report);
            optional(barcode.text.as_deref())
        }
        BlockKind::TableOfContents { title, .. } => {
            lost(block, report);
            optional(title.as_deref())
        }
        BlockKind::Divider { .. } | BlockKind::Spacer(_) | BlockKind::PageBreak => Vec::new(),
    }
}

fn lost(block: &Block, report: &mut Report) {
    report.warn(
        "header-simplified",
        &block.path,
        "headers and footers of printed HTML can hold only text",
    );
}

fn row_line(row: &Row, level: usize, report: &mut Report) -> String {
    work::check();
    let mut cells = Vec::with_capacity(row.cells.len());
    for cell in &row.cells {
        cells.push(match &cell.content {
            CellContent::Text(text) => string(text),
            CellContent::Inlines(content) => inline_content(content),
            CellContent::Blocks(blocks) => join(lines_of(blocks, level, report), SPACE),
        });
    }
    join(cells, GAP)
}

fn pair((key, value): &(Vec<Inline>, Vec<Inline>)) -> String {
    join([inline_content(key), inline_content(value)], SPACE)
}

/// The line of a title or caption, if there is one.
fn optional(content: Option<&[Inline]>) -> Vec<String> {
    content.map(inline_content).into_iter().collect()
}

/// Joins the parts that are not empty.
fn join(parts: impl IntoIterator<Item = String>, between: &str) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(between)
}

fn inline_content(inlines: &[Inline]) -> String {
    let mut content = String::new();
    for inline in inlines {
        match inline {
            Inline::Text { text, .. } => push_string(&mut content, text),
            Inline::Break => content.push_str(BREAK),
            Inline::Number(number) => {
                push_string(&mut content, &format!("{}{}", number.text, number.gap()));
            }
            Inline::PageNumber(_) => content.push_str("counter(page)"),
            Inline::PageCount(_) => content.push_str("counter(pages)"),
            Inline::Footnote { index, .. } => push_string(&mut content, &note_mark(*index)),
            // What HTML lacks of these is reported where the screen shows them.
            Inline::PageField { .. } | Inline::PageOf { .. } => {}
        }
    }
    content
}

/// A CSS string; nothing for an empty text.
fn string(text: &str) -> String {
    let mut content = String::new();
    if !text.is_empty() {
        push_string(&mut content, text);
    }
    content
}

fn push_string(content: &mut String, text: &str) {
    content.push('"');
    for c in text.chars() {
        match c {
            // `<` is escaped too, so that no text can close the style element.
            '"' | '\\' | '<' | '\n' | '\r' => {
                let _ = write!(content, "\\{:x} ", c as u32);
            }
            // Tab stops have no counterpart here.
            '\t' => content.push('\u{2003}'),
            c if c.is_control() => {}
            c => content.push(c),
        }
    }
    content.push('"');
}
