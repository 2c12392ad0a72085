//! Legends: a colored key and a name for each series or slice.

use platen_document::Color;

use super::{
    Anchor, Shape,
    pen::{CAP_HEIGHT, Pen, ellipsize},
};

/// Names with their colors.
pub(super) type Entries<'a> = [(&'a str, Color)];

/// Rows of a legend below the plot. Each entry has its x, name and color.
pub(super) struct Below {
    rows: Vec<Vec<(f32, String, Color)>>,
}

impl Below {
    /// Breaks `entries` into centered rows of `width` points, together at most `height` points
    /// high. If there are too many, the last entry states how many are missing.
    pub fn new(pen: &Pen<'_>, entries: &Entries<'_>, width: f32, height: f32) -> Self {
        let (key, gap) = (pen.size * 1.3, pen.size * 1.4);
        let mut rows: Vec<Vec<(f32, String, Color)>> = Vec::new();
        let mut row = Vec::new();
        let mut x = 0.0;
        let centre = |row: &mut Vec<(f32, String, Color)>, end: f32| {
            let shift = ((width - (end - gap)) / 2.0).max(0.0);
            for entry in row {
                entry.0 += shift;
            }
        };
        for (name, color) in entries {
            let name = ellipsize(name, width - key, &|text| pen.width(text));
            let needed = key + pen.width(&name);
            if x > 0.0 && x + needed > width {
                centre(&mut row, x);
                rows.push(std::mem::take(&mut row));
                x = 0.0;
            }
            row.push((x, name, *color));
            x += needed + gap;
        }
        if !row.is_empty() {
            centre(&mut row, x);
            rows.push(row);
        }
        let most = ((height / pen.size - 0.5) / 1.5).max(1.0) as usize;
        if rows.len() > most {
            let missing: usize = rows.drain(most..).map(|row| row.len()).sum();
            if let Some((_, name, _)) = rows.last_mut().and_then(|row| row.last_mut()) {
                let more = format!("… +{}", missing + 1);
                *name = ellipsize(&more, pen.width(name).max(key), &|text| pen.width(text));
            }
        }
        Self { rows }
    }

    /// Height in points, including the space above; 0 without entries.
    pub fn height(&self, pen: &Pen<'_>) -> f32 {
        if self.rows.is_empty() {
            return 0.0;
        }
        self.rows.len() as f32 * pen.size * 1.5 + pen.size * 0.5
    }

    /// Draws the legend with its top at `top`.
    pub fn draw(self, pen: &mut Pen<'_>, top: f32) {
        let mut y = top + pen.size * 1.5;
        for row in self.rows {
            for (x, name, color) in row {
                entry(pen, x, y, name, color);
            }
            y += pen.size * 1.5;
        }
    }
}

/// Draws a single-column legend whose first entry has its top at `top`.
pub(super) fn draw_column(pen: &mut Pen<'_>, entries: &Entries<'_>, x: f32, top: f32, width: f32) {
    let mut y = top + pen.size;
    for (name, color) in entries {
        let name = ellipsize(name, width - pen.size * 1.3, &|text| pen.width(text));
        entry(pen, x, y, name, *color);
        y += pen.size * 1.5;
    }
}

fn entry(pen: &mut Pen<'_>, x: f32, baseline: f32, name: String, color: Color) {
    let side = pen.size * 0.8;
    let middle = baseline - pen.size * CAP_HEIGHT / 2.0;
    pen.shapes.push(Shape::Rect {
        x,
        y: middle - side / 2.0,
        width: side,
        height: side,
        fill: color,
    });
    let text = pen.text;
    pen.label(x + pen.size * 1.3, baseline, name, text, Anchor::Start);
}
