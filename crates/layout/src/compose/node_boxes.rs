//! Where the nodes of a template are on the pages, for editors that show them there.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::page::{Area, NodeBox};

/// Maximum number of boxes of a document. Nodes beyond it have none.
const MAX_BOXES: usize = 200_000;
/// Parts of a node that are no further apart are one box, in points.
const JOINED: f32 = 3.0;

/// The node that a fragment belongs to.
#[derive(Clone, Debug)]
pub(super) struct NodeMark {
    /// JSON pointer of the node.
    pub path: Arc<str>,
    /// Left edge, in points from that of the page or of the first text column.
    pub x: f32,
    /// Width, in points.
    pub width: f32,
    /// Top on the page and height, of content at a fixed position; otherwise those of the fragment
    /// count.
    pub fixed: Option<(f32, f32)>,
}

impl NodeMark {
    /// The mark at a fixed position; one that has such a position keeps it.
    pub fn fixed_at(mut self, y: f32, height: f32) -> Self {
        self.fixed.get_or_insert((y, height));
        self
    }
}

/// The boxes of all nodes so far.
#[derive(Debug, Default)]
pub(super) struct NodeBoxes {
    boxes: Vec<NodeBox>,
    /// The last box of each node on a page at a left edge.
    last: FxHashMap<(u32, Arc<str>, u32), usize>,
}

impl NodeBoxes {
    /// Number of boxes.
    pub fn len(&self) -> usize {
        self.boxes.len()
    }

    /// Forgets the boxes after the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.boxes.truncate(len);
        self.last.retain(|_, index| *index < len);
    }

    /// Adds the part of a node on a page, `dx` to the right of where it was laid out. A part right
    /// below the former one extends its box.
    pub fn add(&mut self, page: u32, mark: NodeMark, dx: f32, y: f32, height: f32) {
        let (dx, y, height) = match mark.fixed {
            Some((y, height)) => (0.0, y, height),
            None => (dx, y, height),
        };
        let area = Area {
            x: mark.x + dx,
            y,
            width: mark.width,
            height,
        };
        let key = (page, Arc::clone(&mark.path), area.x.to_bits());
        if let Some(index) = self.last.get(&key) {
            let known = &mut self.boxes[*index].area;
            let bottom = known.y + known.height;
            if area.y >= known.y && area.y <= bottom + JOINED {
                known.height = known.height.max(area.y + area.height - known.y);
                return;
            }
        }
        if self.boxes.len() < MAX_BOXES {
            self.last.insert(key, self.boxes.len());
            self.boxes.push(NodeBox {
                path: mark.path,
                page,
                area,
            });
        }
    }

    /// The boxes, outer nodes before those inside them.
    pub fn finish(self) -> Vec<NodeBox> {
        self.boxes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(path: &str) -> NodeMark {
        NodeMark {
            path: Arc::from(path),
            x: 10.0,
            width: 100.0,
            fixed: None,
        }
    }

    #[test]
    fn parts_of_a_node_join_where_they_touch() {
        let mut boxes = NodeBoxes::default();
        boxes.add(0, mark("/body/0"), 0.0, 10.0, 12.0);
        boxes.add(0, mark("/body/0"), 0.0, 22.0, 12.0);
        boxes.add(0, mark("/body/0"), 0.0, 80.0, 12.0);
        boxes.add(1, mark("/body/0"), 0.0, 22.0, 12.0);
        let heights: Vec<f32> = boxes.boxes.iter().map(|one| one.area.height).collect();
        assert_eq!(heights, [24.0, 12.0, 12.0]);
        boxes.truncate(1);
        boxes.add(0, mark("/body/0"), 0.0, 80.0, 5.0);
        let heights: Vec<f32> = boxes.finish().iter().map(|one| one.area.height).collect();
        assert_eq!(heights, [24.0, 5.0], "what was forgotten does not grow");
    }

    #[test]
    fn a_fixed_position_is_that_of_the_page() {
        let mut boxes = NodeBoxes::default();
        boxes.add(0, mark("/body/0").fixed_at(5.0, 7.0), 50.0, 90.0, 1.0);
        let area = boxes.finish()[0].area;
        assert_eq!((area.x, area.y, area.height), (10.0, 5.0, 7.0));
    }
}
