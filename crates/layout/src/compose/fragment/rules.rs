//! Backgrounds and rules of table rows.

use platen_document::{
    Color,
    bound::{Border, Borders, LineStyle, TableBorders},
};

use crate::{
    page::{Area, Artifact, Item},
    text::Sink,
};

/// Thickness of rules between rows, in points.
pub(super) const RULE: f32 = 0.5;
/// Edges closer than this are the same, in points.
const NEAR: f32 = 0.01;

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
#[derive(Clone, Debug, Default)]
pub(crate) struct Edges {
    pub header: bool,
    /// Whether nothing of the table is above.
    pub first: bool,
    /// Whether nothing of the table is below.
    pub last: bool,
    /// Whether a header row is directly above.
    pub below_header: bool,
    /// Borders below the cells above that their styles ask for.
    pub above: Vec<Foot>,
}

/// Area, background and borders of a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellBox {
    pub area: Area,
    pub background: Option<Color>,
    pub borders: Borders,
}

/// A border below a cell that the cell's style asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Foot {
    pub x: f32,
    pub width: f32,
    pub border: Border,
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

/// Draws the rules around and between rows, except where a style has put a border. `painted`
/// backgrounds, and rules beside cells, cover half of what the row above has drawn at its foot, so it
/// is drawn again.
pub(crate) fn draw_rules(
    look: Look,
    edges: &Edges,
    tops: &[f32],
    cells: &[CellBox],
    painted: bool,
    sink: &mut Sink,
) {
    let beside = look.borders == TableBorders::All;
    let again = (painted || beside) && !edges.first;
    if look.borders == TableBorders::None && (!again || edges.above.is_empty()) {
        return;
    }
    if look.tagged {
        sink.items.push(Item::Artifact(Artifact::Decoration));
    }
    let mut pen = Pen { look, sink };
    let heads = heads(tops, cells);
    if beside {
        pen.sides(tops, cells);
    }
    if again {
        pen.feet_above(edges, tops[0], &heads);
    }
    let above = edges.above.iter().map(|foot| (foot.x, foot.x + foot.width));
    let heads: Vec<(f32, f32)> = heads.into_iter().chain(above).collect();
    let feet = feet(tops, cells);
    let (top, bottom) = (tops[0], tops[tops.len() - 1]);
    match look.borders {
        TableBorders::None => {}
        TableBorders::Horizontal => {
            let thick = |header: bool| if header { RULE * 2.0 } else { RULE };
            if again {
                pen.across(top, &heads, thick(edges.below_header));
            }
            pen.inner_rules(tops, cells);
            pen.across(bottom, &feet, thick(edges.header));
        }
        TableBorders::All => {
            pen.across(top, &heads, RULE);
            pen.inner_rules(tops, cells);
            pen.across(bottom, &feet, RULE);
        }
        TableBorders::Outer => {
            let (left, right) = (look.x, look.x + look.width);
            let at = |x: f32| move |cell: &CellBox| (cell.area.x - x).abs() < NEAR;
            let starts = |cell: &&CellBox| at(left)(cell) && cell.borders.left.is_some();
            let ends =
                |cell: &&CellBox| at(right - cell.area.width)(cell) && cell.borders.right.is_some();
            pen.down(left, (top, bottom), cells.iter().filter(starts));
            pen.down(right, (top, bottom), cells.iter().filter(ends));
            if edges.first {
                pen.across(top, &heads, RULE);
            }
            if edges.last {
                pen.across(bottom, &feet, RULE);
            }
        }
    }
}

/// Where styles have put borders above the first row.
fn heads(tops: &[f32], cells: &[CellBox]) -> Vec<(f32, f32)> {
    let begins = |cell: &&CellBox| cell.area.y <= tops[0] + NEAR && cell.borders.top.is_some();
    let cells = cells.iter().filter(begins);
    cells
        .map(|cell| (cell.area.x, cell.area.x + cell.area.width))
        .collect()
}

/// Where styles have put borders below the last row.
fn feet(tops: &[f32], cells: &[CellBox]) -> Vec<(f32, f32)> {
    let bottom = tops[tops.len() - 1] - NEAR;
    let ends =
        |cell: &&CellBox| cell.area.y + cell.area.height >= bottom && cell.borders.bottom.is_some();
    let cells = cells.iter().filter(ends);
    cells
        .map(|cell| (cell.area.x, cell.area.x + cell.area.width))
        .collect()
}

/// What `taken` leaves of a range.
fn left_over(range: (f32, f32), taken: &[(f32, f32)]) -> Vec<(f32, f32)> {
    let mut taken = taken.to_vec();
    taken.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free = Vec::new();
    let mut start = range.0;
    for (from, to) in taken {
        if from > start + NEAR {
            free.push((start, from.min(range.1)));
        }
        start = start.max(to);
    }
    if range.1 > start + NEAR {
        free.push((start, range.1));
    }
    free
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

    /// Draws a rule from side to side, except where something else is.
    fn across(&mut self, y: f32, taken: &[(f32, f32)], width: f32) {
        let range = (self.look.x, self.look.x + self.look.width);
        for (left, right) in left_over(range, taken) {
            self.line((left, y), (right, y), width);
        }
    }

    /// Draws a rule from top to bottom, except beside `cells`.
    fn down<'c>(&mut self, x: f32, range: (f32, f32), cells: impl Iterator<Item = &'c CellBox>) {
        let extent = |cell: &CellBox| (cell.area.y, cell.area.y + cell.area.height);
        let taken: Vec<_> = cells.map(extent).collect();
        for (top, bottom) in left_over(range, &taken) {
            self.line((x, top), (x, bottom), RULE);
        }
    }

    /// Draws the borders below the row above, except where the style of a cell has one of its own.
    fn feet_above(&mut self, edges: &Edges, y: f32, heads: &[(f32, f32)]) {
        for foot in &edges.above {
            for (left, right) in left_over((foot.x, foot.x + foot.width), heads) {
                self.sink.items.push(Item::Line {
                    from: (left, y),
                    to: (right, y),
                    width: foot.border.width,
                    color: foot.border.color,
                    style: foot.border.style,
                });
            }
        }
    }

    /// Draws rules between joined rows, except where a cell covers both sides.
    fn inner_rules(&mut self, tops: &[f32], cells: &[CellBox]) {
        if tops.len() < 3 {
            return;
        }
        let bottom = tops[tops.len() - 1];
        for CellBox { area, borders, .. } in cells {
            let foot = area.y + area.height;
            if foot < bottom - NEAR && borders.bottom.is_none() {
                self.line((area.x, foot), (area.x + area.width, foot), RULE);
            }
        }
    }

    /// Draws rules beside every cell; a shared edge is drawn once.
    fn sides(&mut self, tops: &[f32], cells: &[CellBox]) {
        let single = tops.len() == 2;
        let mut bordered = false;
        for (index, CellBox { area, borders, .. }) in cells.iter().enumerate() {
            let (end, foot) = (area.x + area.width, area.y + area.height);
            if borders.left.is_none() && !bordered {
                self.line((area.x, area.y), (area.x, foot), RULE);
            }
            let next = cells.get(index + 1).filter(|_| single);
            let shared = next.is_some_and(|next| (next.area.x - end).abs() <= NEAR);
            if !shared && borders.right.is_none() {
                self.line((end, area.y), (end, foot), RULE);
            }
            bordered = shared && borders.right.is_some();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_leave_the_borders_of_cells_out() {
        assert_eq!(left_over((0.0, 9.0), &[]), [(0.0, 9.0)]);
        assert_eq!(
            left_over((0.0, 9.0), &[(6.0, 9.0), (0.0, 2.0)]),
            [(2.0, 6.0)]
        );
        assert_eq!(left_over((0.0, 9.0), &[(0.0, 5.0), (3.0, 9.0)]), []);
    }
}
