//! Blocks flow down a slide and on to the next one.

use platen_document::bound::{
    Align, BlockKind, Direction, Document, Inline, Section, StyleId, plain_text,
};

use super::{
    Geometry,
    slide::{Place, Slide},
    text::{Mark, Typeset, split},
};
use crate::{
    Error,
    metrics::line_count,
    ooxml::{ChartParts, Media},
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
        let mut slide = std::mem::replace(&mut self.slide, empty);
        slide.muted = self.document.theme.muted;
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
