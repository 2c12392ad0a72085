//! Dispatches each block node to a shape of the slide.

use platen_document::{
    bound::{
        Align, Block, BlockKind, Border, FormField, Inline, KeyValue, LineStyle, List, Signature,
        StyleId, plain_text,
    },
    work,
};

use super::{
    flow::{Flow, Strip},
    slide::Place,
    table::SlideTable,
    text::{Mark, scheme},
};
use crate::{Error, plain::walk};

/// How far the space below a block may extend past the end of the content area, in points.
const OVERHANG: f32 = 16.0;

impl<'a> Flow<'a> {
    pub fn blocks(&mut self, blocks: &'a [Block], strip: Strip) -> Result<(), Error> {
        let mut rest = blocks;
        while !rest.is_empty() {
            self.keep_heading(rest, strip);
            rest = self.next(rest, strip, false)?;
        }
        Ok(())
    }

    /// Writes the first of `blocks`, or the charts that they begin with, and returns the others.
    /// `ends` is whether a slide ends behind the last block.
    pub(super) fn next(
        &mut self,
        blocks: &'a [Block],
        strip: Strip,
        ends: bool,
    ) -> Result<&'a [Block], Error> {
        let charts = self.charts(blocks, strip, ends)?;
        if let (0, Some(block)) = (charts, blocks.first()) {
            self.block(block, strip)?;
        }
        Ok(&blocks[charts.max(1).min(blocks.len())..])
    }

    pub(super) fn block(&mut self, block: &'a Block, strip: Strip) -> Result<(), Error> {
        work::check();
        self.path = &block.path;
        let style = block.style;
        match &block.kind {
            BlockKind::Heading { content, .. } | BlockKind::Paragraph(content) => {
                // Text on a ground of its own is a box.
                match self.document.styles[style].background {
                    Some(_) => self.panel(Some(content), &[], style, strip)?,
                    None => self.paragraph(content, style, Mark::None, strip),
                }
            }
            BlockKind::List(list) => self.list(list, style, 0, strip)?,
            BlockKind::Table(table) => self.table(table, style, strip)?,
            BlockKind::Columns(columns) => self.columns(columns, strip)?,
            BlockKind::Positioned(positioned) => {
                let path = self.path;
                self.report.warn(
                    "position-ignored",
                    path,
                    "content at a fixed position is part of the flow on slides",
                );
                self.blocks(&positioned.body, strip)?;
            }
            BlockKind::Panel { title, body } => {
                self.panel(title.as_deref(), body, style, strip)?;
            }
            BlockKind::KeyValue(pairs) => self.key_value(pairs, style, strip),
            BlockKind::Image(image) => self.image(image, style, strip)?,
            BlockKind::Barcode(barcode) => self.barcode(barcode, strip)?,
            BlockKind::Chart(chart) => self.chart(chart, strip)?,
            BlockKind::Divider {
                thickness,
                color,
                line,
            } => {
                let border = Border {
                    width: *thickness,
                    color: *color,
                    style: *line,
                };
                self.divider(&border, strip);
            }
            BlockKind::Spacer(height) => {
                self.close_text_in(strip);
                self.y = (self.y + height * self.geometry.scale).min(self.bottom());
            }
            BlockKind::PageBreak if strip.breaks => self.next_slide(),
            BlockKind::PageBreak => {}
            BlockKind::TableOfContents { title, depth, .. } => {
                self.contents(title.as_deref(), *depth, style, strip);
            }
            BlockKind::Signature(signature) => self.signature(signature, style, strip),
            BlockKind::FormField(field) => self.form_field(field, style, strip),
        }
        self.path = &block.path;
        self.report_overhang();
        Ok(())
    }

    /// Reports what extends beyond the end of the slide.
    pub(super) fn report_overhang(&mut self) {
        if self.y > self.geometry.bottom + OVERHANG {
            let path = self.path;
            self.report.warn(
                "off-slide",
                path,
                "part of it is taller than a slide and extends beyond its edge",
            );
        }
    }

    fn list(
        &mut self,
        list: &'a List,
        id: StyleId,
        level: usize,
        strip: Strip,
    ) -> Result<(), Error> {
        for (index, item) in list.items.iter().enumerate() {
            let number = list.number(index);
            let own = item.mark.is_some();
            let scheme = list.mark.as_ref().filter(|_| !own).and_then(scheme);
            let mark = match (&list.mark, scheme) {
                (_, Some(scheme)) => Mark::Scheme(level, scheme, number),
                (None, None) if !own && list.ordered => Mark::Number(level, number),
                (None, None) if !own => Mark::Bullet(level),
                _ => Mark::Text(level),
            };
            if mark == Mark::Text(level) {
                let label = list.label(level, index) + "\u{a0}";
                let mut content = vec![Inline::text(label, id)];
                content.extend_from_slice(&item.content);
                self.paragraph(&content, id, mark, strip);
            } else {
                self.paragraph(&item.content, id, mark, strip);
            }
            for block in &item.body {
                match &block.kind {
                    BlockKind::List(inner) => self.list(inner, block.style, level + 1, strip)?,
                    _ => self.block(block, strip)?,
                }
            }
        }
        Ok(())
    }

    fn form_field(&mut self, field: &FormField, style: StyleId, strip: Strip) {
        let text = [Inline::text(field.as_text(), style)];
        self.paragraph(&text, style, Mark::None, strip);
        let path = self.path;
        self.report.warn(
            "form-field-as-text",
            path,
            "slides have no form fields: it is written as text",
        );
    }

    fn divider(&mut self, border: &Border, strip: Strip) {
        let place = self.place(strip.width, 8.0, Align::Start, strip);
        let place = Place {
            y: place.y + 4.0,
            height: 0.0,
            ..place
        };
        self.slide.line(place, border);
    }

    fn key_value(&mut self, pairs: &'a KeyValue, id: StyleId, strip: Strip) {
        self.close_text_in(strip);
        let table = SlideTable::pairs(self, pairs, id, strip);
        self.place_table(table, strip);
    }

    fn signature(&mut self, signature: &'a Signature, style: StyleId, strip: Strip) {
        let scale = self.geometry.scale;
        let width = (signature.width * scale).min(strip.width);
        let place = self.place(width, signature.height * scale, Align::Start, strip);
        let line = Place {
            y: place.y + place.height,
            height: 0.0,
            ..place
        };
        let color = self.document.theme.text;
        self.slide.line(
            line,
            &Border {
                width: 0.75,
                color,
                style: LineStyle::Solid,
            },
        );
        let label = signature.label.as_deref().unwrap_or_default();
        self.paragraph(label, style, Mark::None, strip);
        let path = self.path;
        self.report.warn(
            "signature-as-line",
            path,
            "slides have no signature fields: a line to sign on is drawn instead",
        );
    }

    fn contents(&mut self, title: Option<&'a [Inline]>, depth: u8, id: StyleId, strip: Strip) {
        if let Some(title) = title {
            self.paragraph(title, id, Mark::None, strip);
        }
        let document = self.document;
        let style = document.named.toc_entry;
        let mut entries = Vec::new();
        for section in &document.sections {
            walk(&section.body, &mut |block| {
                if let BlockKind::Heading { level, content } = &block.kind
                    && *level <= depth
                {
                    let text = plain_text(content).replace('\n', " ");
                    entries.push((usize::from(level.saturating_sub(1)), text));
                }
            });
        }
        for (level, text) in entries {
            let content = [Inline::text(text, style)];
            self.paragraph(&content, style, Mark::Bullet(level), strip);
        }
        let path = self.path;
        self.report.warn(
            "contents-unlinked",
            path,
            "the table of contents lists headings without page numbers",
        );
    }
}
