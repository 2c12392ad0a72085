//! Lists: items and their marks.

use super::{Binder, Place};
use crate::{
    bound::{self, StyleId},
    expression::{Entry, Scope},
    numbering::Pattern,
    template::{FullListItem, List, ListItem},
};

impl<'b> Binder<'b> {
    pub(super) fn list(
        &mut self,
        node: &'b List,
        style: StyleId,
        place: Place,
        scope: &Scope<'_>,
    ) -> bound::List {
        let mut items = Vec::new();
        let bound = match (&node.each, &node.item) {
            (Some(each), Some(item)) => self.rows("each", each, scope).map(|rows| (rows, item)),
            _ => None,
        };
        if let Some((rows, item)) = &bound {
            let rows = rows.as_refs();
            for (index, row) in rows.iter().enumerate() {
                if self.stopped() {
                    break;
                }
                let scope = scope.with("item", Entry::Json(row)).at(index, rows.len());
                let made = self.below("item", |binder| {
                    binder.list_item(item, style, place, &scope)
                });
                items.extend(made);
            }
        }
        for (index, item) in node.items.iter().enumerate() {
            let made = self.item("items", index, |binder| {
                binder.list_item(item, style, place, scope)
            });
            items.extend(made);
        }
        let mark = node.mark.as_deref().map(mark_pattern);
        let counts = mark.as_ref().map(|mark| mark.counters().next().is_some());
        bound::List {
            ordered: counts.unwrap_or(node.ordered),
            start: node.start.unwrap_or(1),
            mark,
            items,
        }
    }

    fn list_item(
        &mut self,
        item: &'b ListItem,
        style: StyleId,
        place: Place,
        scope: &Scope<'_>,
    ) -> Option<bound::ListItem> {
        self.blocks += 1;
        match item {
            ListItem::Content(content) => Some(bound::ListItem {
                content: self.content(content, style, scope),
                body: Vec::new(),
                mark: None,
            }),
            ListItem::Full(item) => {
                let FullListItem {
                    content,
                    body,
                    mark,
                    when,
                } = &**item;
                if !self.holds("when", when.as_ref(), scope) {
                    return None;
                }
                let inside = Place {
                    style,
                    width: (place.width - 18.0).max(1.0),
                    root: false,
                    ..place
                };
                let mark = mark.as_ref().map(|mark| self.line_at("mark", mark, scope));
                Some(bound::ListItem {
                    mark: mark.map(|mark| literal_mark(&mark).into()),
                    content: self.content_at("content", content, style, scope),
                    body: self.nodes_at("body", body, inside, scope),
                })
            }
        }
    }
}

/// The pattern of a list's marks.
fn mark_pattern(mark: &str) -> Pattern {
    Pattern::new(literal_mark(mark))
}

/// The mark that a name stands for, or `mark` itself.
fn literal_mark(mark: &str) -> &str {
    match mark {
        "checkBox" => bound::CHECK_BOX,
        "checkedBox" => bound::CHECKED_BOX,
        mark => mark,
    }
}
