//! Running heads: the current heading of each level on every page.

use std::sync::Arc;

use crate::page::OutlineEntry;

/// The headings of a document, read page by page.
pub(super) struct RunningHeads<'o> {
    left: std::slice::Iter<'o, OutlineEntry>,
    /// The last heading of each level so far.
    last: [Arc<str>; 6],
}

impl<'o> RunningHeads<'o> {
    pub fn new(outline: &'o [OutlineEntry]) -> Self {
        Self {
            left: outline.iter(),
            last: Default::default(),
        }
    }

    /// For each level, the first heading on `page`, or else the last before it, unless a heading
    /// of a level above has ended its part. Pages are asked for in order.
    pub fn on(&mut self, page: u32) -> [Arc<str>; 6] {
        let mut heads = None;
        while let Some(entry) = self
            .left
            .as_slice()
            .first()
            .filter(|entry| entry.page <= page)
        {
            self.left.next();
            let level = usize::from(entry.level.clamp(1, 6)) - 1;
            let title: Arc<str> = Arc::from(entry.title.replace('\n', " "));
            if entry.page == page {
                let (heads, set) = heads.get_or_insert_with(|| (self.last.clone(), [false; 6]));
                if !set[level] {
                    set[level] = true;
                    heads[level] = Arc::clone(&title);
                    for below in (level + 1..6).filter(|below| !set[*below]) {
                        heads[below] = Arc::default();
                    }
                }
            }
            self.last[level] = title;
            self.last[level + 1..].fill_with(Arc::default);
        }
        heads.map_or_else(|| self.last.clone(), |(heads, _)| heads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_heading_of_a_page_counts() {
        let entry = |level, page, title: &str| OutlineEntry {
            level,
            title: title.to_owned(),
            page,
            y: 0.0,
        };
        let outline = [
            entry(1, 0, "One"),
            entry(2, 0, "One a"),
            entry(2, 2, "One b"),
            entry(1, 3, "Two"),
            entry(1, 3, "Three"),
        ];
        let mut heads = RunningHeads::new(&outline);
        let mut on = |page| {
            let [first, second, ..] = heads.on(page);
            (first.to_string(), second.to_string())
        };
        assert_eq!(on(0), ("One".to_owned(), "One a".to_owned()));
        assert_eq!(on(1), ("One".to_owned(), "One a".to_owned()));
        assert_eq!(on(2), ("One".to_owned(), "One b".to_owned()));
        assert_eq!(on(3), ("Two".to_owned(), String::new()));
        assert_eq!(on(4), ("Three".to_owned(), String::new()));
    }
}
