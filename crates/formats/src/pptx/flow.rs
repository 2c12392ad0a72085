//! Blocks flow down a slide and on to the next one.

use platen_document::bound::{
    Align, Block, BlockKind, Border, Columns, Direction, Document, Inline, KeyValue, LineStyle,
    List, Section, StyleId, plain_text,
};

use super::{
    Geometry,
    slide::{Place, Slide},
    table::SlideTable,
    text::{Mark, Typeset, split},
};
use crate::{
    Error,
    metrics::{line_count, solve},
    ooxml::{ChartParts, Media, chart_parts},
    plain::walk,
    report::Report,
};

/// A strip of the slide in which blocks flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strip {
    pub x: f32,
    pub width: f32,
    /// Content may go on at the next slide.
    pub breaks: bool,
}

/// Paragraphs that will be one text box.
#[derive(Default)]
struct Pending {
    body: String,
    top: f32,
    height: f32,
}

pub(super) struct Flow<'a> {
    pub document: &'a Document,
    pub geometry: Geometry,
    pub report: Report,
    pub media: Media,
    pub charts: Vec<ChartParts>,
    pub slides: Vec<Slide>,
    pub typeset: Typeset<'a>,
    pub path: &'a str,
    /// The slide being filled.
    pub slide: Slide,
    /// The next free y.
    pub y: f32,
    chapter: usize,
    footer: String,
    pending: Pending,
    /// Footnotes marked on this slide, and the height that they take.
    notes: Vec<u32>,
    notes_height: f32,
}

impl<'a> Flow<'a> {
    pub fn new(document: &'a Document, geometry: Geometry) -> Self {
        Self {
            document,
            geometry,
            report: Report::default(),
            media: Media::default(),
            charts: Vec::new(),
            slides: Vec::new(),
            typeset: Typeset {
                document,
                scale: geometry.scale,
                rtl: document.direction == Direction::RightToLeft,
            },
            path: "",
            slide: Slide::new("", 0, "", &document.language),
            y: geometry.top,
            chapter: 0,
            footer: String::new(),
            pending: Pending::default(),
            notes: Vec::new(),
            notes_height: 0.0,
        }
    }

    pub fn section(&mut self, section: &'a Section) -> Result<(), Error> {
        self.footer = footer_text(section);
        let mut body = section.body.as_slice();
        let mut title = section.name.clone();
        if title.is_none()
            && let Some((first, rest)) = body.split_first()
            && let BlockKind::Heading { content, .. } = &first.kind
        {
            title = Some(plain_text(content).replace('\n', " "));
            body = rest;
        }
        self.chapter(title.as_deref().unwrap_or(&self.document.metadata.title));
        let strip = Strip {
            x: self.geometry.side,
            width: self.geometry.content_width(),
            breaks: true,
        };
        let mut opening = section.name.is_some();
        for block in body {
            if let BlockKind::Heading { level: 1, content } = &block.kind {
                let text = plain_text(content).replace('\n', " ");
                // A heading that says what the section's name says is on the slide already.
                if opening && section.name.as_deref() == Some(&text) {
                    opening = false;
                    continue;
                }
                if !opening {
                    self.chapter(&text);
                    continue;
                }
            }
            opening = false;
            self.block(block, strip)?;
        }
        Ok(())
    }

    /// Starts a slide with a title of its own.
    fn chapter(&mut self, title: &str) {
        self.end_slide();
        self.chapter += 1;
        self.slide = Slide::new(title, self.chapter, &self.footer, &self.document.language);
        self.y = self.geometry.top;
    }

    /// Goes on at the next slide.
    pub fn next_slide(&mut self) {
        let title = self.slide.title.clone();
        self.end_slide();
        self.slide = Slide::new(&title, self.chapter, &self.footer, &self.document.language);
        self.y = self.geometry.top;
    }

    fn end_slide(&mut self) {
        self.close_text();
        self.write_notes();
        let empty = Slide::new("", 0, "", "");
        let slide = std::mem::replace(&mut self.slide, empty);
        // A page break at the end of a section leaves a slide with nothing on it.
        let goes_on = self
            .slides
            .last()
            .is_some_and(|last| last.chapter == slide.chapter);
        if slide.chapter > 0 && !(goes_on && slide.is_empty()) {
            self.slides.push(slide);
        }
    }

    /// Ends the last slide and counts the slides of each chapter.
    pub fn end(&mut self) {
        if self.chapter == 0 {
            let title = self.document.metadata.title.clone();
            self.chapter(&title);
        }
        self.end_slide();
        let mut start = 0;
        while start < self.slides.len() {
            let chapter = self.slides[start].chapter;
            let count = self.slides[start..]
                .iter()
                .take_while(|slide| slide.chapter == chapter)
                .count();
            if count > 1 {
                for (index, slide) in self.slides[start..start + count].iter_mut().enumerate() {
                    slide.suffix = format!(" ({}/{count})", index + 1);
                }
            }
            start += count;
        }
    }

    pub fn bottom(&self) -> f32 {
        self.geometry.bottom - self.notes_height
    }

    pub fn room(&self) -> f32 {
        self.bottom() - self.y
    }

    pub fn blocks(&mut self, blocks: &'a [Block], strip: Strip) -> Result<(), Error> {
        for block in blocks {
            self.block(block, strip)?;
        }
        Ok(())
    }

    fn block(&mut self, block: &'a Block, strip: Strip) -> Result<(), Error> {
        self.path = &block.path;
        let style = block.style;
        match &block.kind {
            BlockKind::Heading { content, .. } => {
                // A heading does not stand alone at the foot of a slide.
                let height =
                    self.typeset
                        .height(&plain_text(content), style, strip.width, Mark::None);
                if strip.breaks && self.room() < height + 40.0 && self.y > self.geometry.top {
                    self.next_slide();
                }
                self.paragraph(content, style, Mark::None, strip);
            }
            BlockKind::Paragraph(content) => self.paragraph(content, style, Mark::None, strip),
            BlockKind::List(list) => self.list(list, style, 0, strip)?,
            BlockKind::Table(table) => self.table(table, style, strip)?,
            BlockKind::Columns(columns) => self.columns(columns, strip)?,
            BlockKind::Panel { title, body } => {
                self.panel(title.as_deref(), body, style, strip)?;
            }
            BlockKind::KeyValue(pairs) => self.key_value(pairs, style, strip),
            BlockKind::Image(image) => {
                let caption = image.caption.as_deref();
                match self.media.image(&image.data)? {
                    Some(file) => {
                        let link = image.link.as_deref().filter(|link| !link.starts_with('#'));
                        let size = (image.width, image.height);
                        let place = self.picture(&file, size, &image.alt, link, image.align, strip);
                        if let Some(caption) = caption {
                            self.caption(caption, place);
                        }
                    }
                    None => {
                        let path = self.path;
                        self.report
                            .warn("image-omitted", path, "this picture cannot be decoded");
                        let text = [Inline::text(format!("[{}]", image.alt), style)];
                        self.paragraph(&text, style, Mark::None, strip);
                        if let Some(caption) = caption {
                            self.paragraph(caption, style, Mark::None, strip);
                        }
                    }
                }
            }
            BlockKind::Barcode(barcode) => {
                let file = self.media.barcode(barcode)?;
                let alt = if barcode.alt.is_empty() {
                    &barcode.value
                } else {
                    &barcode.alt
                };
                let size = (barcode.width, barcode.height);
                let place = self.picture(&file, size, alt, None, barcode.align, strip);
                if let Some(text) = &barcode.text {
                    self.caption(text, place);
                }
            }
            BlockKind::Chart(chart) => {
                let scale = self.geometry.scale;
                let width = chart
                    .width
                    .map_or(strip.width, |width| (width * scale).min(strip.width));
                let place = self.place(width, chart.height * scale, Align::Start, strip);
                self.charts.push(chart_parts(chart, self.document)?);
                let alt = if chart.alt.is_empty() {
                    chart.title.as_deref().unwrap_or_default()
                } else {
                    &chart.alt
                };
                self.slide.chart(place, self.charts.len(), alt);
            }
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
                let place = self.place(strip.width, 8.0, Align::Start, strip);
                let place = Place {
                    y: place.y + 4.0,
                    height: 0.0,
                    ..place
                };
                self.slide.line(place, &border);
            }
            BlockKind::Spacer(height) => {
                self.close_text_in(strip);
                self.y = (self.y + height * self.geometry.scale).min(self.bottom());
            }
            BlockKind::PageBreak if strip.breaks => self.next_slide(),
            BlockKind::PageBreak => {}
            BlockKind::TableOfContents { title, depth } => {
                self.contents(title.as_deref(), *depth, style, strip);
            }
            BlockKind::Signature(signature) => {
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
                    "slides have no signature field: a line to sign on is drawn",
                );
            }
        }
        self.path = &block.path;
        Ok(())
    }

    /// Adds a paragraph to the running text box; a long one is cut at the slides' ends.
    pub fn paragraph(&mut self, content: &[Inline], id: StyleId, mark: Mark, strip: Strip) {
        self.mark_notes(content);
        let text = plain_text(content);
        let height = self.typeset.height(&text, id, strip.width, mark);
        if strip.breaks && height > self.room() {
            let full = self.bottom() - self.geometry.top;
            if height > full {
                self.long_paragraph(content, &text, id, mark, strip);
                return;
            }
            self.next_slide();
        }
        self.push_paragraph(content, id, mark, height);
    }

    fn long_paragraph(
        &mut self,
        content: &[Inline],
        text: &str,
        id: StyleId,
        mark: Mark,
        strip: Strip,
    ) {
        let style = &self.document.styles[id];
        let full = self.bottom() - self.geometry.top;
        let size = style.font_size * self.geometry.scale;
        let width = strip.width * 0.98 - self.typeset.indent(mark);
        let total = line_count(text, size, style.bold, width);
        // Two lines of reserve for words that break earlier than estimated.
        let lines = ((full / self.typeset.line_height(style)) as usize)
            .saturating_sub(2)
            .max(1);
        if self.y > self.geometry.top {
            self.next_slide();
        }
        for (index, piece) in split(content, total, lines).iter().enumerate() {
            if index > 0 {
                self.next_slide();
            }
            let mark = if index == 0 { mark } else { Mark::None };
            let height = self
                .typeset
                .height(&plain_text(piece), id, strip.width, mark);
            self.push_paragraph(piece, id, mark, height);
        }
    }

    fn push_paragraph(&mut self, content: &[Inline], id: StyleId, mark: Mark, height: f32) {
        if self.pending.body.is_empty() {
            self.pending.top = self.y;
        }
        let mut lost_links = false;
        let relationships = &mut self.slide.relationships;
        let body = self
            .typeset
            .paragraph(content, id, mark, relationships, &mut lost_links);
        self.pending.body.push_str(&body);
        self.pending.height += height;
        self.y += height;
        let path = self.path;
        if lost_links {
            self.report.warn(
                "links-omitted",
                path,
                "links within the document are plain text on slides",
            );
        }
        if content
            .iter()
            .any(|inline| matches!(inline, Inline::PageCount(_)))
        {
            self.report.warn(
                "page-count-omitted",
                path,
                "slides have no field for the number of slides",
            );
        }
    }

    fn close_text(&mut self) {
        let strip = Strip {
            x: self.geometry.side,
            width: self.geometry.content_width(),
            breaks: true,
        };
        self.close_text_in(strip);
    }

    pub fn close_text_in(&mut self, strip: Strip) {
        let pending = std::mem::take(&mut self.pending);
        if !pending.body.is_empty() {
            let place = Place {
                x: strip.x,
                y: pending.top,
                width: strip.width,
                height: pending.height,
            };
            self.slide.text_box(place, &pending.body, "t");
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
            let number = list.start.saturating_add(index as u32);
            let mark = if list.ordered {
                Mark::Number(level, number)
            } else {
                Mark::Bullet(level)
            };
            self.paragraph(&item.content, id, mark, strip);
            for block in &item.body {
                match &block.kind {
                    BlockKind::List(inner) => self.list(inner, block.style, level + 1, strip)?,
                    _ => self.block(block, strip)?,
                }
            }
        }
        Ok(())
    }

    fn columns(&mut self, columns: &'a Columns, strip: Strip) -> Result<(), Error> {
        use platen_document::bound::ColumnWidth;
        self.close_text_in(strip);
        let scale = self.geometry.scale;
        let count = columns.columns.len();
        let gap = columns.gap * scale;
        let specs: Vec<_> = columns
            .columns
            .iter()
            .map(|column| match column.width {
                ColumnWidth::Auto => ColumnWidth::Fraction(1.0),
                ColumnWidth::Fixed(width) => ColumnWidth::Fixed(width * scale),
                share => share,
            })
            .collect();
        let available = (strip.width - gap * count.saturating_sub(1) as f32).max(20.0);
        let widths = solve(&specs, &vec![(0.0, 0.0); count], available, false);
        let heights = columns
            .columns
            .iter()
            .zip(&widths)
            .map(|(column, width)| self.height(&column.body, *width));
        let height = heights.fold(0.0, f32::max);
        if strip.breaks && height > self.bottom() - self.geometry.top {
            let path = self.path;
            self.report.warn(
                "columns-flattened",
                path,
                "these columns are higher than a slide and stand below each other",
            );
            for column in &columns.columns {
                self.blocks(&column.body, strip)?;
            }
            return Ok(());
        }
        if strip.breaks && height > self.room() {
            self.next_slide();
        }
        let top = self.y;
        let mut lowest = top;
        let mut across = 0.0;
        for (column, width) in columns.columns.iter().zip(&widths) {
            let x = if self.typeset.rtl {
                strip.x + strip.width - across - width
            } else {
                strip.x + across
            };
            self.y = top;
            let inner = Strip {
                x,
                width: *width,
                breaks: false,
            };
            self.blocks(&column.body, inner)?;
            self.close_text_in(inner);
            lowest = lowest.max(self.y);
            across += width + gap;
        }
        self.y = lowest + 4.0;
        Ok(())
    }

    fn panel(
        &mut self,
        title: Option<&'a [Inline]>,
        body: &'a [Block],
        id: StyleId,
        strip: Strip,
    ) -> Result<(), Error> {
        self.close_text_in(strip);
        let style = &self.document.styles[id];
        let scale = self.geometry.scale;
        let (left, right) = (style.padding.left * scale, style.padding.right * scale);
        let (above, below) = (style.padding.top * scale, style.padding.bottom * scale);
        let inner = Strip {
            x: strip.x + left,
            width: (strip.width - left - right).max(20.0),
            breaks: false,
        };
        let plain = StyleId::default();
        let title_style = title.map_or(plain, |title| first_style(title).unwrap_or(plain));
        let title_height = title.map_or(0.0, |title| {
            self.typeset
                .height(&plain_text(title), title_style, inner.width, Mark::None)
        });
        let height = self.height(body, inner.width) + title_height + above + below;
        let fits = height <= self.bottom() - self.geometry.top;
        if strip.breaks && fits && height > self.room() {
            self.next_slide();
        }
        if !fits && strip.breaks {
            let path = self.path;
            self.report.warn(
                "panel-flattened",
                path,
                "this panel is higher than a slide; its box is left out",
            );
            if let Some(title) = title {
                self.paragraph(title, title_style, Mark::None, strip);
            }
            return self.blocks(body, strip);
        }
        let place = Place {
            x: strip.x,
            y: self.y,
            width: strip.width,
            height,
        };
        let sides = &style.borders;
        let all = [sides.top, sides.right, sides.bottom, sides.left];
        let outline = if all.iter().all(|side| *side == all[0]) {
            all[0]
        } else {
            None
        };
        self.slide
            .rectangle(place, style.background, outline.as_ref());
        if outline.is_none() {
            self.side_lines(place, &all);
        }
        self.y += above;
        if let Some(title) = title {
            self.paragraph(title, title_style, Mark::None, inner);
        }
        self.blocks(body, inner)?;
        self.close_text_in(inner);
        self.y = self.y.max(place.y + height) + style.space_after * scale;
        Ok(())
    }

    /// Borders that only some sides have: top, right, bottom, left.
    fn side_lines(&mut self, place: Place, sides: &[Option<Border>; 4]) {
        let Place {
            x,
            y,
            width,
            height,
        } = place;
        let lines = [
            Place {
                height: 0.0,
                ..place
            },
            Place {
                x: x + width,
                y,
                width: 0.0,
                height,
            },
            Place {
                x,
                y: y + height,
                width,
                height: 0.0,
            },
            Place {
                x,
                y,
                width: 0.0,
                height,
            },
        ];
        for (side, place) in sides.iter().zip(lines) {
            if let Some(border) = side {
                self.slide.line(place, border);
            }
        }
    }

    fn key_value(&mut self, pairs: &'a KeyValue, id: StyleId, strip: Strip) {
        self.close_text_in(strip);
        let table = SlideTable::pairs(self, pairs, id, strip);
        self.place_table(table, strip);
    }

    fn picture(
        &mut self,
        file: &str,
        (width, height): (f32, f32),
        alt: &str,
        link: Option<&str>,
        align: Align,
        strip: Strip,
    ) -> Place {
        let full = self.bottom() - self.geometry.top;
        let (width, height) = (width * self.geometry.scale, height * self.geometry.scale);
        let shrink = (strip.width / width.max(0.1))
            .min(full / height.max(0.1))
            .min(1.0);
        let place = self.place(width * shrink, height * shrink, align, strip);
        self.slide.picture(place, file, alt, link);
        place
    }

    /// A caption below the picture at `place`, as wide as it or a little wider.
    fn caption(&mut self, content: &[Inline], place: Place) {
        let spare = (place.width.max(160.0) - place.width) / 2.0;
        let strip = Strip {
            x: (place.x - spare).max(self.geometry.side),
            width: place.width + spare * 2.0,
            breaks: false,
        };
        let strip = if spare > 0.0 && place.x <= self.geometry.side + 1.0 {
            Strip {
                x: place.x,
                ..strip
            }
        } else {
            strip
        };
        self.paragraph(content, self.document.named.caption, Mark::None, strip);
        self.close_text_in(strip);
    }

    /// Takes room for a box, on the next slide where this one is full.
    pub fn place(&mut self, width: f32, height: f32, align: Align, strip: Strip) -> Place {
        self.close_text_in(strip);
        let height = height.min(self.bottom() - self.geometry.top);
        if strip.breaks && height > self.room() && self.y > self.geometry.top {
            self.next_slide();
        }
        let free = (strip.width - width).max(0.0);
        let x = match super::text::align(align, self.typeset.rtl) {
            "r" => strip.x + free,
            "ctr" => strip.x + free / 2.0,
            _ => strip.x,
        };
        let place = Place {
            x,
            y: self.y,
            width,
            height,
        };
        self.y += height + 6.0;
        place
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

    /// Height of `blocks` in a strip of `width`, estimated.
    fn height(&self, blocks: &[Block], width: f32) -> f32 {
        blocks
            .iter()
            .map(|block| self.block_height(block, width))
            .sum()
    }

    fn block_height(&self, block: &Block, width: f32) -> f32 {
        let scale = self.geometry.scale;
        let text = |content: &[Inline], id, mark| {
            self.typeset.height(&plain_text(content), id, width, mark)
        };
        match &block.kind {
            BlockKind::Heading { content, .. } | BlockKind::Paragraph(content) => {
                text(content, block.style, Mark::None)
            }
            BlockKind::List(list) => list
                .items
                .iter()
                .map(|item| {
                    text(&item.content, block.style, Mark::Bullet(0))
                        + self.height(&item.body, width - 16.0)
                })
                .sum(),
            BlockKind::Table(table) => {
                SlideTable::new(
                    self,
                    table,
                    Strip {
                        x: 0.0,
                        width,
                        breaks: false,
                    },
                )
                .height()
                    + 10.0
            }
            BlockKind::KeyValue(pairs) => {
                SlideTable::pairs(
                    self,
                    pairs,
                    block.style,
                    Strip {
                        x: 0.0,
                        width,
                        breaks: false,
                    },
                )
                .height()
                    + 10.0
            }
            BlockKind::Columns(columns) => {
                let each = width / columns.columns.len().max(1) as f32;
                columns
                    .columns
                    .iter()
                    .map(|column| self.height(&column.body, each))
                    .fold(0.0, f32::max)
                    + 4.0
            }
            BlockKind::Panel { title, body } => {
                let padding = &self.document.styles[block.style].padding;
                let inner = width - (padding.left + padding.right) * scale;
                title
                    .as_ref()
                    .map_or(0.0, |title| text(title, block.style, Mark::None))
                    + self.height(body, inner)
                    + (padding.top + padding.bottom) * scale
            }
            BlockKind::Image(image) => {
                let shrink = (width / (image.width * scale).max(0.1)).min(1.0);
                let caption = image.caption.as_ref();
                image.height * scale * shrink
                    + 6.0
                    + caption.map_or(0.0, |caption| {
                        text(caption, self.document.named.caption, Mark::None)
                    })
            }
            BlockKind::Barcode(barcode) => {
                barcode.height * scale + 6.0 + if barcode.text.is_some() { 16.0 } else { 0.0 }
            }
            BlockKind::Chart(chart) => chart.height * scale + 6.0,
            BlockKind::Divider { .. } => 14.0,
            BlockKind::Spacer(height) => height * scale,
            BlockKind::PageBreak | BlockKind::TableOfContents { .. } => 0.0,
            BlockKind::Signature(signature) => signature.height * scale + 30.0,
        }
    }

    /// Makes room at the foot of the slide for the footnotes that `content` marks.
    pub fn mark_notes(&mut self, content: &[Inline]) {
        for inline in content {
            let Inline::Footnote { index, .. } = inline else {
                continue;
            };
            let Some(footnote) = self.document.footnotes.get(*index as usize) else {
                continue;
            };
            if !self.notes.contains(index) {
                self.notes.push(*index);
                let width = self.geometry.content_width();
                let text = plain_text(&footnote.content);
                let style = self.document.named.footnote;
                self.notes_height += self.typeset.height(&text, style, width, Mark::None);
            }
        }
    }

    fn write_notes(&mut self) {
        let notes = std::mem::take(&mut self.notes);
        let height = std::mem::take(&mut self.notes_height);
        if notes.is_empty() {
            return;
        }
        let document = self.document;
        let style = document.named.footnote;
        let mut body = String::new();
        let mut lost_links = false;
        for index in notes {
            let mut content = vec![Inline::text(format!("{} ", u64::from(index) + 1), style)];
            content.extend(document.footnotes[index as usize].content.iter().cloned());
            let relationships = &mut self.slide.relationships;
            body += &self.typeset.paragraph(
                &content,
                style,
                Mark::None,
                relationships,
                &mut lost_links,
            );
        }
        let place = Place {
            x: self.geometry.side,
            y: self.geometry.bottom - height,
            width: self.geometry.content_width(),
            height,
        };
        self.slide.text_box(place, &body, "b");
    }
}

pub(super) fn first_style(content: &[Inline]) -> Option<StyleId> {
    content.iter().find_map(|inline| match inline {
        Inline::Text { style, .. } => Some(*style),
        _ => None,
    })
}

/// The section's footer without page numbers, which slides have a place of their own for.
fn footer_text(section: &Section) -> String {
    let mut lines: Vec<String> = Vec::new();
    walk(&section.footer, &mut |block| {
        if let BlockKind::Paragraph(content) = &block.kind
            && !content
                .iter()
                .any(|inline| matches!(inline, Inline::PageNumber(_) | Inline::PageCount(_)))
        {
            lines.push(plain_text(content).replace('\n', " "));
        }
    });
    lines.join(" · ")
}
