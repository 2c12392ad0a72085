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
    blocks_text_by(blocks, document, &mut plain_text)
}

/// The text of blocks, a line per block; `text_of` gives that of their content.
pub(crate) fn blocks_text_by(
    blocks: &[Block],
    document: &Document,
    text_of: &mut dyn FnMut(&[Inline]) -> String,
) -> String {
    let mut lines = Lines {
        document,
        text_of,
        lines: Vec::new(),
    };
    lines.blocks(blocks);
    lines.lines.join("\n")
}

/// Blocks as lines of text.
struct Lines<'a> {
    document: &'a Document,
    text_of: &'a mut dyn FnMut(&[Inline]) -> String,
    lines: Vec<String>,
}

impl Lines<'_> {
    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn add(&mut self, content: &[Inline]) {
        let text = (self.text_of)(content);
        if !text.is_empty() {
            self.lines.push(text);
        }
    }

    /// Adds a caption or a title, if there is one.
    fn add_some(&mut self, content: &Option<Vec<Inline>>) {
        self.add(content.as_deref().unwrap_or_default());
    }

    fn block(&mut self, block: &Block) {
        work::check();
        match &block.kind {
            BlockKind::Heading { content, .. } | BlockKind::Paragraph(content) => self.add(content),
            BlockKind::List(list) => {
                for (index, item) in list.items.iter().enumerate() {
                    let mark = list.label(0, index) + " ";
                    let line = mark + &(self.text_of)(&item.content);
                    self.lines.push(line);
                    self.blocks(&item.body);
                }
            }
            BlockKind::Table(table) => {
                self.add_some(&table.caption);
                for row in table.header.iter().chain(&table.rows) {
                    let texts: Vec<_> = row.cells.iter().map(|cell| self.cell(cell)).collect();
                    self.lines.push(texts.join("\t"));
                }
            }
            BlockKind::Columns(columns) => {
                for column in &columns.columns {
                    self.blocks(&column.body);
                }
            }
            BlockKind::Positioned(positioned) => self.blocks(&positioned.body),
            BlockKind::Panel { title, body } => {
                self.add_some(title);
                self.blocks(body);
            }
            BlockKind::KeyValue(pairs) => {
                for (key, value) in &pairs.items {
                    let (key, value) = ((self.text_of)(key), (self.text_of)(value));
                    self.lines.push(format!("{key}: {value}"));
                }
            }
            BlockKind::Image(image) => {
                let alt = (!image.alt.is_empty()).then(|| format!("[{}]", image.alt));
                self.lines.extend(alt);
                self.add_some(&image.caption);
            }
            BlockKind::Barcode(barcode) => self.lines.push(barcode.value.clone()),
            BlockKind::Chart(chart) => {
                let title = chart.title.as_ref().unwrap_or(&chart.alt);
                self.lines.push(format!("[{title}]"));
                self.add_some(&chart.caption);
            }
            BlockKind::Signature(signature) => self.add_some(&signature.label),
            BlockKind::FormField(field) => self.lines.push(field.as_text()),
            BlockKind::TableOfContents { title, .. } => self.add_some(title),
            BlockKind::Divider { .. } | BlockKind::Spacer(_) | BlockKind::PageBreak => {}
        }
    }

    fn cell(&mut self, cell: &Cell) -> String {
        match &cell.content {
            CellContent::Text(text) => text.to_string(),
            CellContent::Inlines(content) => (self.text_of)(content),
            CellContent::Blocks(blocks) => {
                blocks_text_by(blocks, self.document, &mut *self.text_of)
            }
        }
    }
}

/// `content` as text with the marks of its footnotes.
pub(crate) fn marked_text(content: &[Inline]) -> String {
    let texts = content.iter().map(|inline| match inline {
        Inline::Footnote { index, .. } => note_mark(*index),
        other => plain_text(std::slice::from_ref(other)),
    });
    texts.collect()
}

/// The mark of the footnote `index` in plain text.
pub(crate) fn note_mark(index: u32) -> String {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = |c: char| c.to_digit(10).map(|digit| digits[digit as usize]);
    let number = u64::from(index) + 1;
    number.to_string().chars().filter_map(digit).collect()
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
