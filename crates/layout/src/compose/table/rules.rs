//! Backgrounds and lines of table rows.

use platen_document::{
    Color,
    bound::{LineStyle, TableBorders},
};

use crate::{
    page::{Area, Artifact, Item},
    text::Sink,
};

/// Thickness of the lines between rows.
pub(super) const RULE: f32 = 0.5;

/// How a table is drawn, the same for all of its rows.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Look {
    pub x: f32,
    pub width: f32,
    pub borders: TableBorders,
    pub border_color: Color,
    /// Background of every other row.
    pub zebra: Option<Color>,
    /// The table stands in the logical structure: what is drawn around its text is marked.
    pub tagged: bool,
}

/// Where rows stand in their table.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Edges {
    pub header: bool,
    /// Nothing of the table stands above.
    pub first: bool,
    /// Nothing of the table stands below.
    pub last: bool,
    /// A header row stands right above.
    pub below_header: bool,
}

/// Where a cell is drawn, and on what.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellBox {
    pub area: Area,
    pub background: Option<Color>,
}

/// Draws the backgrounds of rows and cells; true where there are any.
pub(super) fn draw_backgrounds(
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
        // Neighbours of one colour are one rectangle: no hairline shows between them.
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

/// Draws the lines of the table around and between rows. Where backgrounds are `painted`, they
/// cover half of the line that the row above has drawn: it is drawn again.
pub(super) fn draw_rules(
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

    /// Lines between joined rows, where no cell covers both sides.
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

    /// Lines around every cell: each only once where cells touch.
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
