//! Backgrounds and rules of table rows.

use platen_document::{
    Color,
    bound::{LineStyle, TableBorders},
};

use crate::{
    page::{Area, Artifact, Item},
    text::Sink,
};

/// Thickness of rules between rows, in points.
pub(super) const RULE: f32 = 0.5;

/// The look of a table, the same for all of its rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub x: f32,
    pub width: f32,
    pub borders: TableBorders,
    pub border_color: Color,
    /// Background of alternate rows.
    pub zebra: Option<Color>,
    /// Whether the table is in the logical structure; decoration must then be marked as an
    /// artifact.
    pub tagged: bool,
}

/// Position of rows in their table.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Edges {
    pub header: bool,
    /// Whether nothing of the table is above.
    pub first: bool,
    /// Whether nothing of the table is below.
    pub last: bool,
    /// Whether a header row is directly above.
    pub below_header: bool,
}

/// Area and background of a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellBox {
    pub area: Area,
    pub background: Option<Color>,
}

/// Draws the backgrounds of rows and cells. Returns whether there are any.
pub(crate) fn draw_backgrounds(
    look: Look,
    tops: &[f32],
    shaded: &[bool],
    cells: &[CellBox],
    sink: &mut Sink,
) -> bool {
    let start = sink.items.len();
    if let Some(color) = look.zebra {
        for index in (0..shaded.len()).filter(|index| shaded[*index]) {
            let area = Area {
                x: look.x,
                y: tops[index],
                width: look.width,
                height: tops[index + 1] - tops[index],
            };
            sink.items.push(Item::Rect { area, color });
        }
    }
    for cell in cells {
        let Some(color) = cell.background else {
            continue;
        };
        let area = cell.area;
        // Adjacent cells of one color become one rectangle, so that no hairline shows between
        // them.
        if let Some(Item::Rect {
            area: last,
            color: same,
        }) = sink.items.get_mut(start..).and_then(<[Item]>::last_mut)
        {
            let touches = (last.x + last.width - area.x).abs() < 0.01;
            if *same == color && touches && last.y == area.y && last.height == area.height {
                last.width += area.width;
                continue;
            }
        }
        sink.items.push(Item::Rect { area, color });
    }
    let painted = sink.items.len() > start;
    if painted && look.tagged {
        sink.items
            .insert(start, Item::Artifact(Artifact::Decoration));
    }
    painted
}

/// Draws the rules around and between rows. `painted` backgrounds cover half of the rule that the
/// row above has drawn, so it is drawn again.
pub(crate) fn draw_rules(
    look: Look,
    edges: Edges,
    tops: &[f32],
    cells: &[CellBox],
    painted: bool,
    sink: &mut Sink,
) {
    if look.borders == TableBorders::None {
        return;
    }
    if look.tagged {
        sink.items.push(Item::Artifact(Artifact::Decoration));
    }
    let mut pen = Pen { look, sink };
    let (left, right) = (look.x, look.x + look.width);
    let (top, bottom) = (tops[0], tops[tops.len() - 1]);
    match look.borders {
        TableBorders::None => {}
        TableBorders::Horizontal => {
            let thick = |header: bool| if header { RULE * 2.0 } else { RULE };
            if painted && !edges.first {
                pen.line((left, top), (right, top), thick(edges.below_header));
            }
            pen.inner_rules(tops, cells);
            pen.line((left, bottom), (right, bottom), thick(edges.header));
        }
        TableBorders::All => pen.all(tops, cells),
        TableBorders::Outer => {
            pen.line((left, top), (left, bottom), RULE);
            pen.line((right, top), (right, bottom), RULE);
            if edges.first {
                pen.line((left, top), (right, top), RULE);
            }
            if edges.last {
                pen.line((left, bottom), (right, bottom), RULE);
            }
        }
    }
}

struct Pen<'s> {
    look: Look,
    sink: &'s mut Sink,
}

impl Pen<'_> {
    fn line(&mut self, from: (f32, f32), to: (f32, f32), width: f32) {
        self.sink.items.push(Item::Line {
            from,
            to,
            width,
            color: self.look.border_color,
            style: LineStyle::Solid,
        });
    }

    /// Draws rules between joined rows, except where a cell covers both sides.
    fn inner_rules(&mut self, tops: &[f32], cells: &[CellBox]) {
        if tops.len() < 3 {
            return;
        }
        let bottom = tops[tops.len() - 1];
        for CellBox { area, .. } in cells {
            let foot = area.y + area.height;
            if foot < bottom - 0.01 {
                self.line((area.x, foot), (area.x + area.width, foot), RULE);
            }
        }
    }

    /// Draws rules around every cell; a shared edge is drawn once.
    fn all(&mut self, tops: &[f32], cells: &[CellBox]) {
        let (left, right) = (self.look.x, self.look.x + self.look.width);
        let (top, bottom) = (tops[0], tops[tops.len() - 1]);
        let single = tops.len() == 2;
        self.line((left, top), (right, top), RULE);
        for (index, CellBox { area, .. }) in cells.iter().enumerate() {
            let (end, foot) = (area.x + area.width, area.y + area.height);
            self.line((area.x, area.y), (area.x, foot), RULE);
            let next = cells.get(index + 1).filter(|_| single);
            if next.is_none_or(|next| (next.area.x - end).abs() > 0.01) {
                self.line((end, area.y), (end, foot), RULE);
            }
        }
        self.inner_rules(tops, cells);
        self.line((left, bottom), (right, bottom), RULE);
    }
}
