//! Content as plain text, for formats and places that hold nothing else.

use std::borrow::Cow;

use platen_document::{
    bound::{Block, BlockKind, Cell, CellContent, Document, Inline, plain_text},
    work,
};

/// The text of a cell.
pub(crate) fn cell_text<'a>(cell: &'a Cell, document: &Document) -> Cow<'a, str> {
    match &cell.content {
        CellContent::Text(text) => Cow::Borrowed(text),
        CellContent::Inlines(content) => match content.as_ref() {
            [Inline::Text { text, .. }] if !text.contains('\t') => Cow::Borrowed(text),
            content => Cow::Owned(plain_text(content)),
        },
        CellContent::Blocks(blocks) => Cow::Owned(blocks_text(blocks, document)),
    }
}

/// The text of blocks, a line per block.
pub(crate) fn blocks_text(blocks: &[Block], document: &Document) -> String {
    let mut lines = Vec::new();
    for block in blocks {
        block_lines(block, document, &mut lines);
    }
    lines.join("\n")
}

fn block_lines(block: &Block, document: &Document, lines: &mut Vec<String>) {
    work::check();
    let mut add = |content: &[Inline]| {
        let text = plain_text(content);
        if !text.is_empty() {
            lines.push(text);
        }
    };
    match &block.kind {
        BlockKind::Heading { content, .. } | BlockKind::Paragraph(content) => add(content),
        BlockKind::List(list) => {
            for (index, item) in list.items.iter().enumerate() {
                let mark = list.label(0, index) + " ";
                lines.push(mark + &plain_text(&item.content));
                for block in &item.body {
                    block_lines(block, document, lines);
                }
            }
        }
        BlockKind::Table(table) => {
            for row in table.header.iter().chain(&table.rows) {
                let texts: Vec<_> = row.cells.iter().map(|c| cell_text(c, document)).collect();
                lines.push(texts.join("\t"));
            }
        }
        BlockKind::Columns(columns) => {
            for block in columns.columns.iter().flat_map(|column| &column.body) {
                block_lines(block, document, lines);
            }
        }
        BlockKind::Positioned(positioned) => {
            for block in &positioned.body {
                block_lines(block, document, lines);
            }
        }
        BlockKind::Panel { title, body } => {
            add(title.as_deref().unwrap_or_default());
            for block in body {
                block_lines(block, document, lines);
            }
        }
        BlockKind::KeyValue(pairs) => {
            for (key, value) in &pairs.items {
                lines.push(format!("{}: {}", plain_text(key), plain_text(value)));
            }
        }
        BlockKind::Image(image) => {
            lines.extend((!image.alt.is_empty()).then(|| format!("[{}]", image.alt)));
        }
        BlockKind::Barcode(barcode) => lines.push(barcode.value.clone()),
        BlockKind::Chart(chart) => {
            lines.push(format!("[{}]", chart.title.as_ref().unwrap_or(&chart.alt)));
        }
        BlockKind::Signature(signature) => add(signature.label.as_deref().unwrap_or_default()),
        BlockKind::FormField(field) => lines.push(field.as_text()),
        BlockKind::TableOfContents { title, .. } => add(title.as_deref().unwrap_or_default()),
        BlockKind::Divider { .. } | BlockKind::Spacer(_) | BlockKind::PageBreak => {}
    }
}

/// Visits every block, containers before their contents.
pub(crate) fn walk<'a>(blocks: &'a [Block], visit: &mut dyn FnMut(&'a Block)) {
    for block in blocks {
        visit(block);
        match &block.kind {
            BlockKind::List(list) => {
                for item in &list.items {
                    walk(&item.body, visit);
                }
            }
            BlockKind::Table(table) => {
                for cell in table
                    .header
                    .iter()
                    .chain(&table.rows)
                    .flat_map(|row| &row.cells)
                {
                    if let CellContent::Blocks(blocks) = &cell.content {
                        walk(blocks, visit);
                    }
                }
            }
            BlockKind::Columns(columns) => {
                for column in &columns.columns {
                    walk(&column.body, visit);
                }
            }
            BlockKind::Positioned(positioned) => walk(&positioned.body, visit),
            BlockKind::Panel { body, .. } => walk(body, visit),
            _ => {}
        }
    }
}

/// Whether a document may link to this address: only schemes that cannot run code.
pub(crate) fn safe_link(link: &str) -> bool {
    ["https:", "http:", "mailto:", "tel:"].iter().any(|scheme| {
        link.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}
