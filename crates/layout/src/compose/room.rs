//! Space at the end of a page, shared by content and the footnotes that it references.

/// Space between text and footnotes, including the rule, in points.
pub(super) const FOOTNOTE_GAP: f32 = 12.0;
/// Footnotes with fewer lines than this are not split over pages.
const UNBROKEN_LINES: usize = 4;
/// Minimum number of lines of a footnote on the page of its reference.
const FIRST_LINES: usize = 2;

/// Height of a footnote, in points.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NoteHeight {
    /// The whole footnote.
    pub full: f32,
    /// The part that must be on the page of its reference.
    pub least: f32,
}

impl NoteHeight {
    /// Height of a footnote whose lines have these heights.
    pub fn of(lines: impl Iterator<Item = f32> + Clone) -> Self {
        let full = lines.clone().sum();
        let least = match lines.clone().count() {
            count if count < UNBROKEN_LINES => full,
            _ => lines.take(FIRST_LINES).sum(),
        };
        Self { full, least }
    }
}

/// The space left on a page, or in a box on it.
pub(super) struct Room<'a> {
    /// Total for content and footnotes, in points.
    pub height: f32,
    /// Taken by footnotes.
    notes: f32,
    /// Lower end of the content so far.
    depth: f32,
    /// Whether the page has footnotes already, so that their gap is accounted for.
    has_notes: bool,
    heights: &'a dyn Fn(u32) -> NoteHeight,
}

impl<'a> Room<'a> {
    pub fn new(height: f32, has_notes: bool, heights: &'a dyn Fn(u32) -> NoteHeight) -> Self {
        Self {
            height,
            notes: 0.0,
            depth: 0.0,
            has_notes,
            heights,
        }
    }

    /// Space for content whose footnotes have been admitted already.
    pub fn without_notes(height: f32) -> Self {
        Self::new(height, true, &|_| NoteHeight::default())
    }

    /// Space left for content.
    pub fn free(&self) -> f32 {
        self.height - self.notes
    }

    /// Minimum height of `notes` together: the last may continue on the next page.
    pub fn least(&self, notes: &[u32]) -> f32 {
        let Some((last, others)) = notes.split_last() else {
            return 0.0;
        };
        let gap = if self.has_notes { 0.0 } else { FOOTNOTE_GAP };
        let others: f32 = others.iter().map(|note| (self.heights)(*note).full).sum();
        gap + others + (self.heights)(*last).least
    }

    /// Whether content down to `depth` fits with `notes` below it. If so, reserves their space.
    pub fn admit(&mut self, depth: f32, notes: &[u32]) -> bool {
        let depth = self.depth.max(depth);
        let least = self.least(notes);
        if depth + self.notes + least > self.height + 0.01 {
            return false;
        }
        self.depth = depth;
        if !notes.is_empty() {
            let gap = if self.has_notes { 0.0 } else { FOOTNOTE_GAP };
            let full: f32 = notes.iter().map(|note| (self.heights)(*note).full).sum();
            self.has_notes = true;
            self.notes += (gap + full).min(self.height - depth - self.notes);
        }
        true
    }

    /// The space below `depth`, for content that is split there.
    pub fn below(&self, depth: f32) -> Self {
        Self {
            height: self.height - self.notes - depth,
            notes: 0.0,
            depth: (self.depth - depth).max(0.0),
            has_notes: self.has_notes,
            heights: self.heights,
        }
    }

    /// Adopts the space that content inside `inner` has taken, down to `depth`.
    pub fn absorb(&mut self, inner: &Self, depth: f32) {
        self.notes += inner.notes;
        self.has_notes |= inner.has_notes;
        self.depth = self.depth.max(depth);
    }
}
