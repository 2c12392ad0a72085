//! Draws placed fragments on their pages.

use super::Flow;
use crate::{
    compose::fragment::{Body, Mark},
    page::{Anchor, Artifact, Item, OutlineEntry},
    text::Sink,
};

impl Flow<'_> {
    /// Redraws the line below a repeated header at `y`: the background of the row below has covered
    /// half of it.
    pub(super) fn redraw_header_rule(&mut self, y: f32) {
        let Some((content, height)) = self.repeat.last() else {
            return;
        };
        let at_foot = |item: &&Item| match item {
            Item::Line { from, to, .. } => {
                (from.1 - height).abs() < 0.01 && (to.1 - height).abs() < 0.01
            }
            _ => false,
        };
        let mut rule = Sink::default();
        rule.items.push(Item::Artifact(Artifact::Decoration));
        rule.items
            .extend(content.items.iter().filter(at_foot).cloned());
        let (dx, height) = (self.column_offset(), *height);
        if let Some(page) = self.pages.last_mut() {
            rule.append_to(page, dx, y - height);
        }
    }

    /// Draws the repeated header rows at the top of the current column.
    pub(super) fn draw_repeated(&mut self) {
        for (content, height) in self.repeat.clone().iter() {
            let y = self.y;
            self.draw(Body::Solid(content.clone()), y, *height, Vec::new());
            self.y += height;
        }
    }

    /// Horizontal distance of the current column from the first.
    pub(super) fn column_offset(&self) -> f32 {
        f32::from(self.column) * (self.column_width() + self.column_gap)
    }

    pub(super) fn draw(&mut self, body: Body, y: f32, height: f32, marks: Vec<Mark>) {
        let dx = self.column_offset();
        let index = (self.pages.len() - 1) as u32;
        let Some(page) = self.pages.last_mut() else {
            return;
        };
        let (outline, anchors) = (&mut self.outline, &mut self.anchors);
        let boxes = &mut self.boxes;
        let mut overlays = Vec::new();
        let mut placed = |marks: Vec<Mark>, y: f32, height: f32| {
            for mark in marks {
                match mark {
                    Mark::Heading { level, title } => outline.push(OutlineEntry {
                        level,
                        title,
                        page: index,
                        y,
                    }),
                    Mark::Anchor(id) => anchors.push(Anchor { id, page: index, y }),
                    Mark::Overlay(sink) => overlays.push(sink),
                    Mark::Node(node) => boxes.add(index, node, dx, y, height),
                }
            }
        };
        placed(marks, y, height);
        match body {
            Body::Solid(content) => content.append_to(page, dx, y),
            body => {
                let mut sink = Sink::default();
                body.draw(y, height, &mut sink, &mut placed);
                sink.append_to(page, dx, 0.0);
            }
        }
        for sink in overlays {
            sink.append_to(page, 0.0, 0.0);
        }
    }
}
