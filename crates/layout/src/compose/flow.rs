//! Places fragments on pages: breaks, chains that stay together, repeated headers, text columns,
//! footnotes.

mod columns;
mod draw;
mod output;

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use platen_document::{
    Diagnostic,
    bound::{Section, StartOn},
    numbering::Counter,
    work,
};

use self::columns::Band;
use super::{
    composer::Composer,
    fragment::{Fragment, MIN_PART, split_fragment},
    node_boxes::NodeBoxes,
    notes::{MAX_COLUMNS, Notes},
    page_rows::{Active, PageRowsMark, PlacedRows},
    room::Room,
};
use crate::{
    page::{Anchor, OutlineEntry, Page},
    text::Sink,
};

/// Maximum number of pages of a document. More is an error.
const MAX_PAGES: usize = 20_000;

/// The text area of a page, in points.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    pub left: f32,
    pub top: f32,
    pub width: f32,
    pub bottom: f32,
}

/// The section of a page and whether it is its first, which decides the header and footer.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageOrigin {
    pub section: usize,
    pub first: bool,
    /// Whether it is empty, so that the section starts on an odd or even page.
    pub blank: bool,
}

/// Header rows, with their heights, that are repeated at the top of each further column.
type Repeat = Arc<[(Sink, f32)]>;

/// A fragment on the current page, with the gap above it.
#[derive(Clone, Debug)]
struct Placed {
    fragment: Fragment,
    gap: f32,
    column: u8,
    /// What stands above it if a column starts with it.
    repeat: Repeat,
}

/// Fills pages with fragments.
pub(super) struct Flow<'s> {
    pub pages: Vec<Page>,
    pub origins: Vec<PageOrigin>,
    pub outline: Vec<OutlineEntry>,
    pub anchors: Vec<Anchor>,
    pub boxes: NodeBoxes,
    section: usize,
    page_size: (f32, f32),
    /// Text areas of the section's first page and of its other pages.
    frames: [Frame; 2],
    columns: u8,
    column_gap: f32,
    column: u8,
    band: Band,
    /// Number of columns that the current block spans; 0 if it spans none.
    spanned: u8,
    /// Space that must remain below what is placed, in points.
    reserve: f32,
    next_number: u32,
    /// Form of the page numbers; decimal without one.
    form: Counter,
    y: f32,
    /// Whether the current column holds nothing but repeated headers.
    fresh: bool,
    /// Whether a page break stands where the column is: another one leaves the page empty.
    broken: bool,
    chain: VecDeque<Fragment>,
    repeat: Repeat,
    /// The table whose rows depend on where pages end.
    active: Option<Active>,
    /// Where its rows at the ends of pages are.
    pub page_rows: Vec<PlacedRows>,
    notes: Notes,
    /// Whether the page limit is exceeded or the layout was stopped: nothing more is placed.
    pub refused: bool,
    stop: Option<&'s AtomicBool>,
}

impl<'s> Flow<'s> {
    /// A flow whose first page has number 1, unless its section specifies another.
    pub fn new(stop: Option<&'s AtomicBool>) -> Self {
        Self {
            pages: Vec::new(),
            origins: Vec::new(),
            outline: Vec::new(),
            anchors: Vec::new(),
            boxes: NodeBoxes::default(),
            section: 0,
            page_size: (0.0, 0.0),
            frames: [Frame::default(); 2],
            columns: 1,
            column_gap: 0.0,
            column: 0,
            band: Band::default(),
            spanned: 0,
            reserve: 0.0,
            next_number: 1,
            form: Counter::Decimal,
            y: 0.0,
            fresh: false,
            broken: false,
            chain: VecDeque::new(),
            repeat: Repeat::default(),
            active: None,
            page_rows: Vec::new(),
            notes: Notes::default(),
            refused: false,
            stop,
        }
    }

    /// Continues with a section on a new page.
    pub fn start_section(&mut self, index: usize, section: &Section, frames: [Frame; 2]) {
        self.end_section();
        self.section = index;
        self.page_size = (section.page.width, section.page.height);
        self.columns = section.page.columns.clamp(1, MAX_COLUMNS);
        self.column_gap = section.page.column_gap;
        self.frames = frames;
        if let Some(number) = section.page.first_page_number {
            self.next_number = number;
        }
        self.form = section.page.numbers;
        let odd = self.next_number % 2 == 1;
        let wrong = match section.page.start_on {
            StartOn::Any => false,
            StartOn::Odd => !odd,
            StartOn::Even => odd,
        };
        if wrong && section.page.first_page_number.is_none() {
            self.add_page(false, true);
        }
        self.start_page(true);
    }

    /// Whether the layout should end early.
    pub fn stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Width of a column of what is placed now, in points: of the whole text where a block spans
    /// all columns.
    pub fn column_width(&self) -> f32 {
        self.width_of(self.columns)
    }

    /// Left edge of the first text column.
    pub fn left(&self) -> f32 {
        self.frames[0].left
    }

    /// Printed number of the current page.
    pub fn page_number(&self) -> u32 {
        self.pages.last().map_or(1, |page| page.number)
    }

    fn start_page(&mut self, first: bool) {
        self.add_page(first, false);
        self.column = 0;
        self.start_band(self.frame().top);
        self.start_column();
    }

    fn add_page(&mut self, first: bool, blank: bool) {
        if self.pages.len() >= MAX_PAGES || self.stopped() {
            self.refused = true;
        }
        self.pages.push(Page {
            width: self.page_size.0,
            height: self.page_size.1,
            number: self.next_number,
            form: self.form,
            ..Page::default()
        });
        self.next_number = self.next_number.saturating_add(1);
        self.origins.push(PageOrigin {
            section: self.section,
            first,
            blank,
        });
    }

    /// Number of pages of each section, without the empty ones before it.
    pub fn section_counts(&self, sections: usize) -> Vec<u32> {
        let mut counts = vec![0; sections];
        for origin in self.origins.iter().filter(|origin| !origin.blank) {
            counts[origin.section] += 1;
        }
        counts
    }

    fn start_column(&mut self) {
        self.y = self.band.top;
        self.fresh = true;
        self.broken = false;
        self.draw_repeated();
        let (page, dx) = (self.pages.len() - 1, self.column_offset());
        if let Some((placed, height)) =
            (self.active.as_mut()).and_then(|active| active.enter(page, dx, self.y))
        {
            self.page_rows.push(placed);
            self.y += height;
        }
        self.continue_notes();
    }

    fn frame(&self) -> Frame {
        let first = self.origins.last().is_none_or(|origin| origin.first);
        self.frames[usize::from(!first)]
    }

    /// Height that a full column offers below repeated headers.
    fn full_height(&self) -> f32 {
        let repeat: f32 = self.repeat.iter().map(|(_, height)| height).sum();
        let rows = self
            .active
            .map_or(0.0, |active| active.heights.top + active.foot());
        self.frames[1].bottom - self.frames[1].top - repeat - rows
    }

    /// Height left in the current column.
    fn room(&self) -> f32 {
        let foot = self.active.map_or(0.0, |active| active.foot());
        self.frame().bottom - self.notes_height() - self.y - foot
    }

    /// Whether the column holds nothing of its own yet, so that moving on would leave it empty.
    fn is_blank(&self) -> bool {
        self.fresh && self.notes_height() == 0.0 && self.band.top <= self.frame().top
    }

    fn next_column(&mut self) {
        self.leave_column();
        if self.column + 1 < self.columns {
            self.column += 1;
            self.start_column();
        } else {
            self.finish_page();
            self.start_page(false);
        }
    }

    /// Completes the current page.
    fn finish_page(&mut self) {
        self.draw_notes();
        if let Some(page) = self.pages.last_mut() {
            page.items.shrink_to_fit();
            page.words.shrink_to_fit();
        }
    }

    /// Adds pages until the last footnote is complete.
    fn finish_notes(&mut self) {
        while self.notes.wait() && !self.refused {
            self.next_column();
        }
    }

    /// Places the pending fragments and completes the last page.
    pub fn finish(&mut self, composer: &mut Composer<'_>) {
        self.flush(composer);
        self.end_section();
    }

    /// Completes the last page of a section.
    fn end_section(&mut self) {
        self.balance();
        self.finish_notes();
        self.finish_page();
    }

    /// Places the pending chain of fragments that stay together.
    pub(super) fn flush(&mut self, composer: &mut Composer<'_>) {
        let mut chain = std::mem::take(&mut self.chain);
        if chain.is_empty() || self.refused {
            return;
        }
        // The end of a table, which waits with what follows: if that starts a page, the table's header
        // must not stand there alone.
        while chain
            .front()
            .and_then(|fragment| fragment.repeat.as_ref())
            .is_some_and(Vec::is_empty)
        {
            self.repeat_rows(Vec::new());
            chain.pop_front();
            // The end of a table needs no space, so that no page begins for it.
            if chain.is_empty() {
                return;
            }
        }
        let ends = |fragment: &Fragment| matches!(fragment.page_rows, Some(PageRowsMark::End));
        if let (Some(active), true) = (&mut self.active, chain.iter().any(ends)) {
            active.ends = true;
        }
        // What a column offers in which the rows of a table may end.
        let full = self.full_height();
        self.weigh_end(chain.iter());
        let mut height = 0.0;
        let mut notes = Vec::new();
        let breaks = chain.front().is_some_and(|fragment| fragment.page_break);
        let mut starts = self.fresh || breaks;
        for fragment in &chain {
            let gap = if starts { 0.0 } else { fragment.gap };
            starts &= fragment.repeat.is_some() || fragment.is_break();
            height += gap + fragment.lead(full, &mut notes);
        }
        let heights = |note| self.notes.height_of(note);
        height += Room::new(full, self.notes_height() > 0.0, &heights).least(&notes);
        height += self.foot_begun(&chain);
        if breaks && (self.broken || !self.fresh) {
            self.leave_column();
            self.finish_page();
            self.start_page(false);
        } else if height + self.reserve > self.room() + 0.01 && height <= full && !self.is_blank() {
            self.next_column();
        }
        while let Some(fragment) = chain.pop_front() {
            self.place(composer, fragment, &chain);
        }
    }

    /// Places a fragment, with which those of `after` stay.
    fn place(
        &mut self,
        composer: &mut Composer<'_>,
        mut fragment: Fragment,
        after: &VecDeque<Fragment>,
    ) {
        if let Some(rows) = fragment.repeat {
            self.repeat_rows(rows);
            return;
        }
        if let Some(mark) = fragment.page_rows {
            self.change_page_rows(mark);
            return;
        }
        if fragment.is_break() {
            self.broken = true;
            return;
        }
        let mut notes = Vec::new();
        while !self.refused {
            notes.clear();
            fragment.notes(&mut notes);
            let gap = if self.fresh { 0.0 } else { fragment.gap };
            self.weigh_end(std::iter::once(&fragment).chain(after));
            let height = self.room() - gap;
            let blank = self.is_blank();
            let heights = |note| self.notes.height_of(note);
            let mut room = Room::new(height, self.notes_height() > 0.0, &heights);
            let fits = room.admit(fragment.height, &notes);
            let full = self.full_height();
            let whole = fragment.stays_whole(full);
            // On a blank page, footnotes that do not fit continue on the next one.
            if fits || (blank && whole && fragment.height <= height + 0.01) {
                self.put(fragment, gap, &notes);
                return;
            }
            if blank && whole && fragment.height <= full && height + 0.01 < full {
                // The section's first page offers less space than the others.
                self.next_column();
                continue;
            }
            if !whole && (blank || height >= MIN_PART) {
                let mut room = Room::new(height, self.notes_height() > 0.0, &heights);
                let (part, rest) = split_fragment(fragment, &mut room, blank);
                if let Some(part) = part {
                    notes.clear();
                    part.notes(&mut notes);
                    self.warn_too_tall(composer, &part, height);
                    self.put(part, gap, &notes);
                }
                match rest {
                    Some(rest) => fragment = rest,
                    None => return,
                }
                self.next_column();
            } else if blank {
                self.warn_too_tall(composer, &fragment, height);
                self.put(fragment, gap, &notes);
                return;
            } else {
                self.next_column();
            }
        }
    }

    /// Repeats `rows` at the top of each further column.
    fn repeat_rows(&mut self, rows: Vec<(Sink, f32)>) {
        let height: f32 = rows.iter().map(|(_, height)| height).sum();
        // A header that leaves too little space for rows is not repeated.
        let full = self.frames[1].bottom - self.frames[1].top;
        self.repeat = if height < full * 0.5 {
            rows.into()
        } else {
            Repeat::default()
        };
    }

    /// Warns about unbreakable content taller than a page. It is drawn over the margin.
    fn warn_too_tall(&self, composer: &mut Composer<'_>, fragment: &Fragment, room: f32) {
        if fragment.height <= room + 0.5 {
            return;
        }
        let path = fragment.first_tag().and_then(|tag| composer.tags.node(tag));
        let path = path.unwrap_or_default().to_owned();
        composer.warn_once(
            Diagnostic::warning(
                "content-too-tall",
                path,
                "part of the document is taller than a page and extends into its margin",
            )
            .with_hint("make it smaller, or the page larger"),
        );
    }

    fn put(&mut self, fragment: Fragment, gap: f32, notes: &[u32]) {
        work::check();
        self.y += gap;
        let y = self.y;
        // Content at a fixed position takes no space.
        let first = self.fresh && !fragment.is_overlay();
        self.fresh &= fragment.is_overlay();
        self.broken = false;
        // Rows carried over stand between the repeated header and this fragment.
        let carried = self.active.is_some_and(|active| active.rows_end > 0);
        if let (Some(active), true) = (&mut self.active, fragment.rows_end > 0) {
            active.rows_end = fragment.rows_end;
        }
        self.y += fragment.height;
        if self.columns > 1 {
            self.band.is_fixed |= !notes.is_empty() || self.active.is_some();
            self.band.placed.push(Placed {
                fragment: fragment.clone(),
                gap: fragment.gap,
                column: self.column,
                repeat: Arc::clone(&self.repeat),
            });
        }
        self.draw(fragment.body, y, fragment.height, fragment.marks);
        if first && !carried {
            self.redraw_header_rule(y);
        }
        let foot = self.active.map_or(0.0, |active| active.foot());
        let room = self.frame().bottom - self.y - foot;
        self.notes.begin(notes, self.column, room);
    }
}
