//! The footer of slides: the page footer flattened to one line, with slide numbers.

use platen_document::bound::{Block, BlockKind, Document, Inline};

use crate::plain::blocks_text;

/// A line of text with placeholders for slide numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Footer {
    pub parts: Vec<FooterPart>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum FooterPart {
    Text(String),
    /// Number of the slide.
    Number,
    /// Total number of slides.
    Count,
}

impl Footer {
    /// Flattens `blocks` to a line. The flag is true if something could not be expressed as text.
    pub fn of(blocks: &[Block], document: &Document) -> (Self, bool) {
        let mut footer = Self::default();
        let lost = footer.add(blocks, document);
        (footer, lost)
    }

    /// Whether it shows the slide number.
    pub fn has_number(&self) -> bool {
        self.parts.contains(&FooterPart::Number)
    }

    fn add(&mut self, blocks: &[Block], document: &Document) -> bool {
        let mut lost = false;
        for block in blocks {
            match &block.kind {
                BlockKind::Heading { content, .. } | BlockKind::Paragraph(content) => {
                    self.line(content);
                }
                BlockKind::Columns(columns) => {
                    for column in &columns.columns {
                        lost |= self.add(&column.body, document);
                    }
                }
                BlockKind::Positioned(positioned) => lost |= self.add(&positioned.body, document),
                BlockKind::Panel { title, body } => {
                    self.line(title.as_deref().unwrap_or_default());
                    lost |= self.add(body, document);
                }
                BlockKind::Divider { .. } | BlockKind::Spacer(_) | BlockKind::PageBreak => {}
                BlockKind::Image(_) | BlockKind::Chart(_) | BlockKind::Barcode(_) => lost = true,
                _ => {
                    let text = blocks_text(std::slice::from_ref(block), document);
                    self.text(&text.replace(['\n', '\t'], " "));
                }
            }
        }
        lost
    }

    fn line(&mut self, content: &[Inline]) {
        let mut parts = Vec::new();
        for inline in content {
            let text = match inline {
                Inline::Text { text, .. } => text,
                Inline::Break => " ",
                _ => "",
            };
            match inline {
                Inline::Text { .. } | Inline::Break => match parts.last_mut() {
                    Some(FooterPart::Text(before)) => before.push_str(text),
                    _ => parts.push(FooterPart::Text(text.to_owned())),
                },
                Inline::PageNumber(_) => parts.push(FooterPart::Number),
                Inline::PageCount(_) => parts.push(FooterPart::Count),
                Inline::Number(_)
                | Inline::PageField { .. }
                | Inline::PageOf { .. }
                | Inline::Footnote { .. } => {}
            }
        }
        let blank =
            |part: &FooterPart| matches!(part, FooterPart::Text(text) if text.trim().is_empty());
        if !parts.iter().all(blank) {
            self.separate();
            for part in parts {
                match part {
                    FooterPart::Text(text) => self.push(&text),
                    number => self.parts.push(number),
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.separate();
            self.push(text);
        }
    }

    fn separate(&mut self) {
        if !self.parts.is_empty() {
            self.push(" · ");
        }
    }

    fn push(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(FooterPart::Text(before)) => before.push_str(text),
            _ => self.parts.push(FooterPart::Text(text.to_owned())),
        }
    }
}
