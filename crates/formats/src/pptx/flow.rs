//! Flows blocks down a slide and on to the next one.

use platen_document::bound::{
    Align, Block, BlockKind, Direction, Document, Inline, Section, StyleId, plain_text,
};

use super::{
    footer::Footer,
    geometry::Geometry,
    notes::{NOTES_PART, Notes, footnotes},
    slide::{Place, Slide},
    text::{Mark, Typeset},
};
use crate::{
    Error,
    ooxml::{ChartParts, Media},
    report::Report,
};

/// A paragraph taller than a slide starts at the foot of the current one only if this many lines
/// fit.
const LONG_START: usize = 6;

/// A slide filled less than this takes the first heading of its section as its title.
const SLIGHT: f32 = 0.4;

/// A column of the slide in which blocks flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strip {
    pub x: f32,
    pub width: f32,
    /// Whether content may continue on the next slide.
    pub breaks: bool,
}

/// Paragraphs collected for one text box.
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
    /// The next free y, in points.
    pub y: f32,
    /// Height of the next panel at least, in points.
    pub least_panel: f32,
    chapter: usize,
    /// Color of the section's slides.
    ground: Option<platen_document::Color>,
    footer: Footer,
    pending: Pending,
    pub notes: Notes,
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
            slide: Slide::new("", 0, &Footer::default(), &document.language),
            y: geometry.top,
            least_panel: 0.0,
            chapter: 0,
            footer: Footer::default(),
            ground: None,
            pending: Pending::default(),
            notes: Notes::default(),
        }
    }

    pub fn section(&mut self, section: &'a Section) -> Result<(), Error> {
        self.ground = section.background.color;
        let first = section.first_footer.as_deref();
        let (other, lost) = Footer::of(&section.footer, self.document);
        self.footer = other.clone();
        let mut lost_any = lost;
        if let Some(first) = first {
            let (first, lost) = Footer::of(first, self.document);
            self.footer = first;
            lost_any |= lost;
        }
        if lost_any {
            self.report.warn(
                "footer-simplified",
                "/page/footer",
                "slide footers are one line of text: pictures and charts are omitted",
            );
        }
        let mut body = section.body.as_slice();
        let mut title = section.name.clone();
        let mut marked: &[Inline] = &[];
        if title.is_none()
            && let Some((first, rest)) = body.split_first()
            && let BlockKind::Heading { content, .. } = &first.kind
        {
            title = Some(plain_text(content).replace('\n', " "));
            marked = content;
            body = rest;
        }
        let has_title = title.is_some();
        self.chapter(title.as_deref().unwrap_or(&self.document.metadata.title));
        self.footer = other;
        self.mark_title(marked);
        let strip = Strip {
            x: self.geometry.side,
            width: self.geometry.content_width(),
            breaks: true,
        };
        self.chapters(section, body, has_title, strip)
    }

    /// Writes the body of a section: headings of level 1 become titles of slides.
    fn chapters(
        &mut self,
        section: &Section,
        body: &'a [Block],
        mut has_title: bool,
        strip: Strip,
    ) -> Result<(), Error> {
        let mut opening = section.name.is_some();
        let mut rest = body;
        while let Some((block, after)) = rest.split_first() {
            if let BlockKind::Heading { level: 1, content } = &block.kind {
                let text = plain_text(content).replace('\n', " ");
                // A heading that repeats the name of the section or document is the slide's title
                // already.
                let repeats = opening && section.name.as_deref() == Some(&text)
                    || !has_title && self.slide.title == text;
                let is_first = !has_title && self.is_slight();
                if repeats || is_first || !opening {
                    if is_first && !repeats {
                        self.slide.title = text;
                    } else if !repeats {
                        self.chapter(&text);
                    }
                    self.mark_title(content);
                    (opening, has_title, rest) = (false, true, after);
                    continue;
                }
            }
            opening = false;
            self.keep_heading(rest, strip);
            rest = self.next(rest, strip, true)?;
        }
        Ok(())
    }

    /// Whether so little is on the first slide of its chapter that what follows belongs to it.
    fn is_slight(&self) -> bool {
        let used = (self.y - self.geometry.top) / (self.geometry.bottom - self.geometry.top);
        let before = self.slides.last().map(|slide| slide.chapter);
        used < SLIGHT && before != Some(self.chapter)
    }

    /// Continues on the next slide if a heading would otherwise stay behind at the foot of this
    /// one, without the content that it introduces.
    pub fn keep_heading(&mut self, blocks: &'a [Block], strip: Strip) {
        let has_heading = blocks.first().is_some_and(is_heading);
        if !has_heading || !strip.breaks || self.y <= self.geometry.top {
            return;
        }
        let needed = self.lead(blocks, strip);
        let full = self.geometry.bottom - self.geometry.top;
        if needed > self.room() && needed <= full {
            self.next_slide();
        }
    }

    /// Height of what stays together at the start of `blocks`: headings and the block that they
    /// introduce.
    pub fn lead(&self, blocks: &[Block], strip: Strip) -> f32 {
        let headings = blocks.iter().take_while(|block| is_heading(block)).count();
        let kept = blocks.iter().take(headings + 1);
        kept.map(|block| self.lead_height(block, strip)).sum()
    }

    /// Registers the footnotes of a heading that became the slide's title.
    fn mark_title(&mut self, content: &[Inline]) {
        self.mark_notes(content);
        let marks = content.iter().filter_map(|inline| match inline {
            Inline::Footnote { index, .. } => Some(index + 1),
            _ => None,
        });
        self.slide.title_marks.extend(marks);
    }

    /// Starts a slide with a new title.
    fn chapter(&mut self, title: &str) {
        while self.notes.go_on() {
            self.next_slide();
        }
        self.end_slide();
        self.chapter += 1;
        self.slide = Slide::new(title, self.chapter, &self.footer, &self.document.language);
        self.slide.background = self.ground;
        self.y = self.geometry.top;
    }

    /// Continues on another slide with the same title.
    pub fn next_slide(&mut self) {
        let title = self.slide.title.clone();
        self.end_slide();
        self.slide = Slide::new(&title, self.chapter, &self.footer, &self.document.language);
        self.slide.background = self.ground;
        self.y = self.geometry.top;
    }

    fn end_slide(&mut self) {
        self.close_text();
        self.write_notes();
        let empty = Slide::new("", 0, &Footer::default(), "");
        let mut slide = std::mem::replace(&mut self.slide, empty);
        slide.muted = self.document.theme.muted;
        // A page break at the end of a section would leave an empty slide.
        let goes_on = self
            .slides
            .last()
            .is_some_and(|last| last.chapter == slide.chapter);
        if slide.chapter > 0 && !(goes_on && slide.is_empty()) {
            self.slides.push(slide);
        }
    }

    /// Completes the last slide and numbers the slides of each chapter.
    pub fn end(&mut self) {
        if self.chapter == 0 {
            let title = self.document.metadata.title.clone();
            self.chapter(&title);
        }
        while self.notes.go_on() {
            self.next_slide();
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
        self.bottom_with(&[])
    }

    pub fn room(&self) -> f32 {
        self.bottom() - self.y
    }

    /// Lower end of the content if this slide also holds the footnotes `notes`.
    pub fn bottom_with(&self, notes: &[u32]) -> f32 {
        let most = (self.geometry.bottom - self.geometry.top) * NOTES_PART;
        let more: f32 = notes.iter().map(|note| self.note_height(*note)).sum();
        self.geometry.bottom - (self.notes.height + more).min(most)
    }

    /// What is left of the slide if it also holds the footnotes `notes`.
    pub fn room_with(&self, notes: &[u32]) -> f32 {
        self.bottom_with(notes) - self.y
    }

    /// Adds a paragraph to the current text box. A paragraph taller than a slide is split across
    /// several.
    pub fn paragraph(&mut self, content: &[Inline], id: StyleId, mark: Mark, strip: Strip) {
        let notes = footnotes(content);
        let text = plain_text(content);
        let height = self.typeset.height(&text, id, strip.width, mark);
        if strip.breaks && height > self.room_with(&notes) {
            let full = self.bottom_with(&notes) - self.geometry.top;
            if height > full {
                self.long_paragraph(content, id, mark, strip);
                return;
            }
            self.next_slide();
        }
        self.push_paragraph(content, id, mark, height);
    }

    /// Writes a paragraph taller than a slide: as many of its lines on each slide as fit.
    fn long_paragraph(&mut self, content: &[Inline], id: StyleId, mark: Mark, strip: Strip) {
        let document = self.document;
        let style = &document.styles[id];
        let width = strip.width * 0.98 - self.typeset.indent(mark);
        let line_height = self.typeset.line_height(style);
        let mut rest = content.to_vec();
        let mut mark = mark;
        let (start, _) = self.typeset.cut_lines(&rest, style, width, LONG_START);
        let room = self.room_with(&footnotes(&start));
        if self.y > self.geometry.top && room < line_height * LONG_START as f32 {
            self.next_slide();
        }
        loop {
            let cut = |notes: &[u32]| {
                // Two lines in reserve, for words that break earlier than estimated.
                let lines = ((self.room_with(notes) / line_height) as usize).saturating_sub(2);
                self.typeset.cut_lines(&rest, style, width, lines)
            };
            let (mut first, mut after) = cut(&[]);
            let notes = footnotes(&first);
            if !notes.is_empty() {
                // They take room on this slide, so fewer lines fit.
                (first, after) = cut(&notes);
            }
            let height = self
                .typeset
                .height(&plain_text(&first), id, strip.width, mark);
            self.push_paragraph(&first, id, mark, height);
            if after.is_empty() {
                return;
            }
            rest = after;
            mark = Mark::None;
            self.next_slide();
        }
    }

    fn push_paragraph(&mut self, content: &[Inline], id: StyleId, mark: Mark, height: f32) {
        // Not before: a footnote belongs on the slide of its mark.
        self.mark_notes(content);
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
            .any(|inline| matches!(inline, Inline::PageOf { .. }))
        {
            self.report.warn(
                "page-reference-omitted",
                path,
                "slides have no references to pages: an ellipsis is shown",
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

    /// Reserves space for a box, on the next slide if this one is full.
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
}

fn is_heading(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Heading { .. })
}

pub(super) fn first_style(content: &[Inline]) -> Option<StyleId> {
    content.iter().find_map(|inline| match inline {
        Inline::Text { style, .. } => Some(*style),
        _ => None,
    })
}
