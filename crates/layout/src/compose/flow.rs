//! Pieces to pages: breaks, kept-together chains, repeated headers, text columns, footnotes.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicBool, Ordering},
};

use platen_document::{Diagnostic, bound::Section, work};

use super::{
    Composer, Output,
    piece::{Body, Mark, Piece, split_piece},
};
use crate::{
    page::{Anchor, Artifact, Item, OutlineEntry, Page},
    text::Sink,
};

/// Space between text and footnotes, with the rule between them.
const FOOTNOTE_GAP: f32 = 12.0;
/// Part of a breakable piece worth starting at a page's end.
const MIN_PART: f32 = 40.0;
/// The most pages of one document.
const MAX_PAGES: usize = 20_000;

/// Where text goes on the pages of a section.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    pub left: f32,
    pub top: f32,
    pub width: f32,
    pub bottom: f32,
}

/// A page's section and place in it, for headers and footers.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageOrigin {
    pub section: usize,
    pub first: bool,
}

/// Fills pages.
#[derive(Default)]
pub(super) struct Flow<'s> {
    pub pages: Vec<Page>,
    pub origins: Vec<PageOrigin>,
    pub outline: Vec<OutlineEntry>,
    pub anchors: Vec<Anchor>,
    section: usize,
    page_size: (f32, f32),
    /// Text area of the section's first page and of the others.
    frames: [Frame; 2],
    columns: u8,
    column_gap: f32,
    column: u8,
    next_number: u32,
    y: f32,
    /// Nothing stands in this column yet but repeated headers.
    fresh: bool,
    chain: VecDeque<Piece>,
    repeat: Vec<(Sink, f32)>,
    footnotes: Vec<(Sink, f32)>,
    footnotes_height: f32,
    /// Pages asked for beyond the bound, or the layout was stopped: nothing more is placed.
    pub refused: bool,
    stop: Option<&'s AtomicBool>,
}

impl<'s> Flow<'s> {
    /// A flow whose first page has the number 1 unless its section says otherwise.
    pub fn new(stop: Option<&'s AtomicBool>) -> Self {
        Self {
            stop,
            next_number: 1,
            ..Self::default()
        }
    }

    /// Goes on with another section, on a new page.
    pub fn start_section(&mut self, index: usize, section: &Section, frames: [Frame; 2]) {
        self.finish_page();
        self.section = index;
        self.page_size = (section.page.width, section.page.height);
        self.columns = section.page.columns.clamp(1, 6);
        self.column_gap = section.page.column_gap;
        self.frames = frames;
        if let Some(number) = section.page.first_page_number {
            self.next_number = number;
        }
        self.start_page(true);
    }

    /// True once the layout shall end early.
    pub fn stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Width of a text column of the section.
    pub fn column_width(&self) -> f32 {
        let gaps = f32::from(self.columns - 1) * self.column_gap;
        ((self.frames[0].width - gaps) / f32::from(self.columns)).max(1.0)
    }

    /// Left edge of the first text column.
    pub fn left(&self) -> f32 {
        self.frames[0].left
    }

    /// Number of the page at hand.
    pub fn page_number(&self) -> u32 {
        self.pages.last().map_or(1, |page| page.number)
    }

    fn start_page(&mut self, first: bool) {
        if self.pages.len() >= MAX_PAGES || self.stopped() {
            self.refused = true;
        }
        self.pages.push(Page {
            width: self.page_size.0,
            height: self.page_size.1,
            number: self.next_number,
            ..Page::default()
        });
        self.next_number = self.next_number.saturating_add(1);
        self.origins.push(PageOrigin {
            section: self.section,
            first,
        });
        self.column = 0;
        self.start_column();
    }

    fn start_column(&mut self) {
        self.y = self.frame().top;
        self.fresh = true;
        for (content, height) in self.repeat.clone() {
            let y = self.y;
            self.draw(Body::Solid(content), y, height, Vec::new());
            self.y += height;
        }
    }

    fn frame(&self) -> Frame {
        let first = self.origins.last().is_none_or(|origin| origin.first);
        self.frames[usize::from(!first)]
    }

    /// Height that one column of a page has below repeated headers.
    fn full_height(&self) -> f32 {
        let repeat: f32 = self.repeat.iter().map(|(_, height)| height).sum();
        self.frames[1].bottom - self.frames[1].top - repeat
    }

    fn room(&self) -> f32 {
        self.frame().bottom - self.footnotes_height - self.y
    }

    fn next_column(&mut self) {
        if self.column + 1 < self.columns {
            self.column += 1;
            self.start_column();
        } else {
            self.finish_page();
            self.start_page(false);
        }
    }

    /// Draws what waits for the page's end.
    fn finish_page(&mut self) {
        if let Some(page) = self.pages.last_mut() {
            page.items.shrink_to_fit();
            page.words.shrink_to_fit();
        }
        let notes = std::mem::take(&mut self.footnotes);
        if notes.is_empty() {
            return;
        }
        let frame = self.frame();
        let mut y = frame.bottom - self.footnotes_height + FOOTNOTE_GAP;
        self.footnotes_height = 0.0;
        let Some(page) = self.pages.last_mut() else {
            return;
        };
        page.items.push(Item::Artifact(Artifact::Decoration));
        page.items.push(Item::Line {
            from: (frame.left, y - FOOTNOTE_GAP / 2.0),
            to: (frame.left + frame.width / 3.0, y - FOOTNOTE_GAP / 2.0),
            width: 0.5,
            color: platen_document::Color::from_rgb(0x80_8080),
            style: platen_document::bound::LineStyle::Solid,
        });
        for (content, height) in notes {
            append(page, content, 0.0, y);
            y += height;
        }
    }

    /// Places the waiting pieces and ends the last page.
    pub fn finish(&mut self, composer: &mut Composer<'_>) {
        self.flush(composer);
        self.finish_page();
    }

    /// Places the chain of pieces that stay together.
    pub(super) fn flush(&mut self, composer: &mut Composer<'_>) {
        let chain = std::mem::take(&mut self.chain);
        if chain.is_empty() || self.refused {
            return;
        }
        let mut height = 0.0;
        for (index, piece) in chain.iter().enumerate() {
            let gap = if index == 0 && self.fresh {
                0.0
            } else {
                piece.gap
            };
            let breakable = matches!(&piece.body, Body::Lanes(lanes) if !lanes.whole);
            let needed = if breakable {
                piece.height.min(MIN_PART)
            } else {
                piece.height
            };
            height += gap + needed;
        }
        if chain.front().is_some_and(|piece| piece.page_break) && !self.fresh {
            self.finish_page();
            self.start_page(false);
        } else if height > self.room() && height <= self.full_height() && !self.fresh {
            self.next_column();
        }
        for piece in chain {
            self.place(composer, piece);
        }
    }

    fn place(&mut self, composer: &mut Composer<'_>, mut piece: Piece) {
        loop {
            let notes = self.lay_out_footnotes(composer, &mut piece);
            let notes_height: f32 = notes.iter().map(|(_, height)| height).sum();
            let notes_height = match (notes.is_empty(), self.footnotes.is_empty()) {
                (false, true) => notes_height + FOOTNOTE_GAP,
                _ => notes_height,
            };
            let gap = if self.fresh { 0.0 } else { piece.gap };
            let room = self.room() - gap - notes_height;
            if piece.height <= room + 0.01 {
                self.footnotes.extend(notes);
                self.footnotes_height += notes_height;
                self.y += gap;
                self.put(piece);
                return;
            }
            let splittable = match &piece.body {
                Body::Solid(_) => false,
                Body::Lanes(lanes) => !lanes.whole || piece.height > self.full_height(),
            };
            if splittable && (self.fresh || room >= MIN_PART) {
                let (part, rest) = split_piece(piece, room, self.fresh);
                if let Some(part) = part {
                    self.footnotes.extend(notes);
                    self.footnotes_height += notes_height;
                    self.y += gap;
                    self.put(part);
                }
                match rest {
                    Some(rest) => piece = rest,
                    None => return,
                }
                self.next_column();
            } else if self.fresh {
                // Higher than a page and unbreakable: it is drawn and runs off, with a warning.
                composer.warn_once(
                    Diagnostic::warning(
                        "content-too-tall",
                        "",
                        "a part of the document is higher than a page and runs off its end",
                    )
                    .with_hint(
                        "make it smaller, or let its rows break with `\"rowBreak\": \"allow\"`",
                    ),
                );
                self.footnotes.extend(notes);
                self.footnotes_height += notes_height;
                self.put(piece);
                return;
            } else {
                self.next_column();
            }
            if self.refused {
                return;
            }
        }
    }

    fn lay_out_footnotes(
        &self,
        composer: &mut Composer<'_>,
        piece: &mut Piece,
    ) -> Vec<(Sink, f32)> {
        let indices = std::mem::take(&mut piece.footnotes);
        let frame = self.frames[0];
        let notes = indices
            .iter()
            .map(|index| composer.footnote(*index, frame.left, frame.width))
            .collect();
        piece.footnotes = indices;
        notes
    }

    fn put(&mut self, piece: Piece) {
        work::check();
        let y = self.y;
        self.fresh = false;
        self.y += piece.height;
        self.draw(piece.body, y, piece.height, piece.marks);
    }

    fn draw(&mut self, body: Body, y: f32, height: f32, marks: Vec<Mark>) {
        let dx = f32::from(self.column) * (self.column_width() + self.column_gap);
        let index = (self.pages.len() - 1) as u32;
        let Some(page) = self.pages.last_mut() else {
            return;
        };
        let (outline, anchors) = (&mut self.outline, &mut self.anchors);
        let mut placed = |marks: Vec<Mark>, y: f32| {
            for mark in marks {
                match mark {
                    Mark::Heading { level, title } => outline.push(OutlineEntry {
                        level,
                        title,
                        page: index,
                        y,
                    }),
                    Mark::Anchor(id) => anchors.push(Anchor { id, page: index, y }),
                }
            }
        };
        placed(marks, y);
        match body {
            Body::Solid(content) => append(page, content, dx, y),
            lanes @ Body::Lanes(_) => {
                let mut sink = Sink::default();
                lanes.draw(y, height, &mut sink, &mut placed);
                append(page, sink, dx, 0.0);
            }
        }
    }
}

/// Appends `content` moved by (`x`, `y`) to a page.
pub(super) fn append(page: &mut Page, content: Sink, x: f32, y: f32) {
    let mut sink = Sink {
        items: std::mem::take(&mut page.items),
        words: std::mem::take(&mut page.words),
    };
    sink.append(content, x, y);
    page.items = sink.items;
    page.words = sink.words;
}

impl Output for Flow<'_> {
    fn push(&mut self, composer: &mut Composer<'_>, piece: Piece) {
        if piece.page_break && !self.chain.is_empty() {
            self.flush(composer);
        }
        let keep = piece.keep;
        self.chain.push_back(piece);
        if !keep {
            self.flush(composer);
        }
    }

    fn set_repeat(&mut self, composer: &mut Composer<'_>, rows: Vec<(Sink, f32)>) {
        self.flush(composer);
        let height: f32 = rows.iter().map(|(_, height)| height).sum();
        // A header that leaves no room for rows is not repeated.
        let full = self.frames[1].bottom - self.frames[1].top;
        self.repeat = if height < full * 0.5 {
            rows
        } else {
            Vec::new()
        };
    }

    fn page_number(&self) -> u32 {
        Flow::page_number(self)
    }
}
