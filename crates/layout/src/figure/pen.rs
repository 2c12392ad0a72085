//! Sizes, colors and text fitting shared by all parts of a chart.

use platen_document::{
    Color,
    bound::{Chart, Document},
};

use super::{Anchor, Measure, Shape};

/// Height of capital letters as a fraction of the font size.
pub(super) const CAP_HEIGHT: f32 = 0.72;

pub(super) struct Pen<'a> {
    pub shapes: Vec<Shape>,
    pub measure: &'a Measure<'a>,
    /// Font size of labels, in points.
    pub size: f32,
    /// Font size of the title, in points.
    pub title_size: f32,
    /// Where the title ends, in points from the top.
    pub title_end: f32,
    pub text: Color,
    pub muted: Color,
    pub grid: Color,
    pub axis: Color,
}

impl<'a> Pen<'a> {
    pub fn new(chart: &Chart, document: &Document, measure: &'a Measure<'a>) -> Self {
        let theme = &document.theme;
        let size = document.styles[chart.text].font_size.clamp(4.0, 36.0);
        Self {
            shapes: Vec::new(),
            measure,
            size,
            title_size: size * 1.3,
            title_end: 0.0,
            text: chart.text_color,
            muted: theme.muted,
            grid: mix(theme.border, Color::WHITE, 0.45),
            axis: mix(theme.border, theme.muted, 0.5),
        }
    }

    /// Distance between the baselines of two lines of a label.
    pub fn line(&self) -> f32 {
        self.size * 1.25
    }

    pub fn width(&self, text: &str) -> f32 {
        (self.measure)(text, self.size, false)
    }

    /// Adds a label.
    pub fn label(&mut self, x: f32, y: f32, text: impl Into<String>, color: Color, anchor: Anchor) {
        self.shapes.push(Shape::Text {
            x,
            y,
            text: text.into(),
            size: self.size,
            bold: false,
            color,
            anchor,
            rotated: false,
        });
    }

    /// Adds a label that reads upwards, with its baseline at `x`.
    pub fn rotated(
        &mut self,
        x: f32,
        y: f32,
        text: impl Into<String>,
        color: Color,
        anchor: Anchor,
    ) {
        self.label(x, y, text, color, anchor);
        if let Some(Shape::Text { rotated, .. }) = self.shapes.last_mut() {
            *rotated = true;
        }
    }

    pub fn line_between(&mut self, from: (f32, f32), to: (f32, f32), width: f32, color: Color) {
        self.shapes.push(Shape::Line {
            points: vec![from, to],
            width,
            color,
            dash: None,
        });
    }

    /// Adds the title in at most two lines. Returns the height that it takes.
    pub fn title(&mut self, title: Option<&str>, width: f32) -> f32 {
        let Some(title) = title.filter(|title| !title.trim().is_empty()) else {
            return self.size * 0.5;
        };
        let size = self.title_size;
        let lines = wrap(title, width, 2, &|text| (self.measure)(text, size, true));
        let mut y = size;
        for text in lines {
            self.shapes.push(Shape::Text {
                x: 0.0,
                y,
                text,
                size,
                bold: true,
                color: self.text,
                anchor: Anchor::Start,
                rotated: false,
            });
            y += size * 1.25;
        }
        self.title_end = y - size;
        y - size * 0.25 + self.size * 0.5
    }
}

/// Mixes two colors; `share` is the fraction of `b`.
pub(super) fn mix(a: Color, b: Color, share: f32) -> Color {
    let channel = |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * share) as u8;
    Color {
        red: channel(a.red, b.red),
        green: channel(a.green, b.green),
        blue: channel(a.blue, b.blue),
    }
}

/// White or `dark`, whichever is more readable on `background` (relative luminance as in WCAG 2.2).
#[must_use]
pub fn text_on(background: Color, dark: Color) -> Color {
    let linear = |channel: u8| (f32::from(channel) / 255.0).powf(2.2);
    let luminance = 0.2126 * linear(background.red)
        + 0.7152 * linear(background.green)
        + 0.0722 * linear(background.blue);
    if luminance < 0.32 { Color::WHITE } else { dark }
}

/// Breaks `text` at spaces into at most `most` lines of `width` points. The rest is cut off with an
/// ellipsis.
pub(super) fn wrap(
    text: &str,
    width: f32,
    most: usize,
    measure: &dyn Fn(&str) -> f32,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let longer = if line.is_empty() {
            word.to_owned()
        } else {
            format!("{line} {word}")
        };
        if line.is_empty() || measure(&longer) <= width {
            line = longer;
            continue;
        }
        if lines.len() + 1 == most {
            line = longer;
            for word in words.by_ref() {
                line.push(' ');
                line.push_str(word);
            }
            break;
        }
        lines.push(std::mem::replace(&mut line, word.to_owned()));
    }
    lines.push(line);
    for line in &mut lines {
        *line = ellipsize(line, width, measure);
    }
    lines
}

/// Cuts `text` with an ellipsis if it is wider than `width` points.
pub(super) fn ellipsize(text: &str, width: f32, measure: &dyn Fn(&str) -> f32) -> String {
    if measure(text) <= width {
        return text.to_owned();
    }
    let ends: Vec<usize> = text.char_indices().map(|(start, _)| start).collect();
    let fits = |count: usize| measure(&format!("{}…", text[..ends[count]].trim_end())) <= width;
    // Binary search: the width grows with the length.
    let (mut low, mut high) = (0, ends.len().saturating_sub(1));
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    match ends.get(low) {
        Some(end) => format!("{}…", text[..*end].trim_end()),
        None => String::new(),
    }
}
