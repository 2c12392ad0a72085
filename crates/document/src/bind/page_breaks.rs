//! Page breaks inside boxes, where no page can end.

use std::sync::Arc;

use super::Binder;
use crate::{
    Diagnostic,
    bound::{Block, BlockKind, CellContent, Section},
    work,
};

impl Binder<'_> {
    /// Warns about page breaks that have no effect.
    pub(super) fn warn_of_page_breaks(&mut self, sections: &[Section]) {
        if !self.has_page_breaks {
            return;
        }
        let mut found = Vec::new();
        for section in sections {
            find(&section.body, false, &mut found);
        }
        for path in found {
            if self.reports.wants("page-break-ignored", &path) {
                let message = "a page break in a column, panel, cell or positioned box is ignored";
                let warning = Diagnostic::warning("page-break-ignored", &*path, message);
                let hint = "put it between the nodes of the body, a list or a `repeat`";
                self.reports.add(warning.with_hint(hint));
            }
        }
    }
}

/// Adds the pointers of the page breaks in boxes.
fn find(blocks: &[Block], boxed: bool, found: &mut Vec<Arc<str>>) {
    for block in blocks {
        work::check();
        match &block.kind {
            BlockKind::PageBreak if boxed => found.push(Arc::clone(&block.path)),
            BlockKind::List(list) => {
                for item in &list.items {
                    find(&item.body, boxed, found);
                }
            }
            BlockKind::Table(table) => {
                for cell in table.rows.iter().flat_map(|row| &row.cells) {
                    if let CellContent::Blocks(blocks) = &cell.content {
                        find(blocks, true, found);
                    }
                }
            }
            BlockKind::Columns(columns) => {
                for column in &columns.columns {
                    find(&column.body, true, found);
                }
            }
            BlockKind::Panel { body, .. } => find(body, true, found),
            BlockKind::Positioned(positioned) => find(&positioned.body, true, found),
            _ => {}
        }
    }
}
