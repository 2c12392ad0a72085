//! Room at the foot of a page, which content and the footnotes that it brings share.

/// Space between text and footnotes, with the rule between them.
pub(super) const FOOTNOTE_GAP: f32 = 12.0;
/// Footnotes of fewer lines are not broken over pages.
const UNBROKEN_LINES: usize = 4;
/// Lines of a footnote that stand on the page of its mark, at least.
const FIRST_LINES: usize = 2;

/// How high a footnote is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NoteHeight {
    /// All of it.
    pub full: f32,
    /// What must stand on the page of its mark.
    pub least: f32,
}

impl NoteHeight {
    /// Of a footnote with lines of these heights.
    pub fn of(lines: impl Iterator<Item = f32> + Clone) -> Self {
        let full = lines.clone().sum();
        let least = match lines.clone().count() {
            count if count < UNBROKEN_LINES => full,
            _ => lines.take(FIRST_LINES).sum(),
        };
        Self { full, least }
    }
}

/// What is left of a page, or of a box on it.
pub(super) struct Room<'a> {
    /// For content and footnotes.
    pub height: f32,
    /// Taken by footnotes.
    notes: f32,
    /// How far down content reaches.
    depth: f32,
    /// Footnotes stand on the page already.
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

    /// Room for content whose footnotes have been admitted.
    pub fn without_notes(height: f32) -> Self {
        Self::new(height, true, &|_| NoteHeight::default())
    }

    /// What is left for content.
    pub fn free(&self) -> f32 {
        self.height - self.notes
    }

    /// Least height of `notes` together: the last may go on at the next page.
    pub fn least(&self, notes: &[u32]) -> f32 {
        let Some((last, others)) = notes.split_last() else {
            return 0.0;
        };
        let gap = if self.has_notes { 0.0 } else { FOOTNOTE_GAP };
        let others: f32 = others.iter().map(|note| (self.heights)(*note).full).sum();
        gap + others + (self.heights)(*last).least
    }

    /// True where content down to `depth` fits with `notes` below it; their room is taken then.
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

    /// The room below `depth`, for content that is broken there.
    pub fn below(&self, depth: f32) -> Self {
        Self {
            height: self.height - self.notes - depth,
            notes: 0.0,
            depth: (self.depth - depth).max(0.0),
            has_notes: self.has_notes,
            heights: self.heights,
        }
    }

    /// Takes over what content in `inner` has taken, down to `depth`.
    pub fn absorb(&mut self, inner: &Self, depth: f32) {
        self.notes += inner.notes;
        self.has_notes |= inner.has_notes;
        self.depth = self.depth.max(depth);
    }
}
