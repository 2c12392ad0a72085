//! Cell formats derived from styles, created once per combination.

use platen_document::bound::{
    Align, Baseline, Border, Direction, Document, LineStyle, Style, StyleId, VerticalAlign,
};
use rust_xlsxwriter::{Color, Format, FormatAlign, FormatBorder, FormatScript, FormatUnderline};
use rustc_hash::FxHashMap;

/// Everything that determines the format of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub style: StyleId,
    /// Number format code; `None` for text.
    pub number: Option<String>,
    /// Background if the style has none.
    pub fill: Option<platen_document::Color>,
    /// Table lines: top, right, bottom, left.
    pub lines: [bool; 4],
    pub line_color: platen_document::Color,
    pub wrap: bool,
    pub link: bool,
}

#[derive(Default)]
pub(super) struct Formats {
    formats: FxHashMap<Key, Format>,
    right_to_left: bool,
}

impl Formats {
    pub fn new(document: &Document) -> Self {
        Self {
            formats: FxHashMap::default(),
            right_to_left: document.direction == Direction::RightToLeft,
        }
    }

    /// The format for `key`, created on first use.
    pub fn get(&mut self, document: &Document, key: &Key) -> &Format {
        if !self.formats.contains_key(key) {
            let format = cell_format(&document.styles[key.style], key, self.right_to_left);
            self.formats.insert(key.clone(), format);
        }
        &self.formats[key]
    }
}

/// The format of a text run in `style`.
pub(super) fn text_format(style: &Style) -> Format {
    let family = style.font_families.first().map_or("Arial", String::as_str);
    let mut format = Format::new()
        .set_font_name(family)
        .set_font_size(f64::from((style.font_size * 2.0).round() / 2.0))
        .set_font_color(color(style.color));
    if style.bold {
        format = format.set_bold();
    }
    if style.italic {
        format = format.set_italic();
    }
    if style.underline {
        format = format.set_underline(FormatUnderline::Single);
    }
    if style.strike {
        format = format.set_font_strikethrough();
    }
    match style.baseline {
        Baseline::Normal => format,
        Baseline::Superscript => format.set_font_script(FormatScript::Superscript),
        Baseline::Subscript => format.set_font_script(FormatScript::Subscript),
    }
}

fn cell_format(style: &Style, key: &Key, right_to_left: bool) -> Format {
    let mut format = text_format(style);
    if let Some(number) = &key.number {
        format = format.set_num_format(number);
    }
    if let Some(fill) = style.background.or(key.fill) {
        format = format.set_background_color(color(fill));
    }
    // Excel aligns by physical side: right-to-left text starts on the right.
    format = format.set_align(match (style.align, right_to_left) {
        (Align::Start | Align::Left, false) | (Align::Left | Align::End, true) => FormatAlign::Left,
        (Align::Decimal, _)
        | (Align::End | Align::Right, false)
        | (Align::Right | Align::Start, true) => FormatAlign::Right,
        (Align::Center, _) => FormatAlign::Center,
        (Align::Justify, _) => FormatAlign::Justify,
    });
    format = format.set_align(match style.vertical_align {
        VerticalAlign::Top => FormatAlign::Top,
        VerticalAlign::Middle => FormatAlign::VerticalCenter,
        VerticalAlign::Bottom => FormatAlign::Bottom,
    });
    if style.turned {
        format = format.set_rotation(90);
    }
    if key.wrap {
        format = format.set_text_wrap();
    }
    if key.link {
        format = format.set_hyperlink();
    }
    if right_to_left {
        format = format.set_reading_direction(2);
    }
    borders(format, style, key)
}

fn borders(mut format: Format, style: &Style, key: &Key) -> Format {
    let hair = Border {
        width: 0.5,
        color: key.line_color,
        style: LineStyle::Solid,
    };
    let side = |own: Option<Border>, line: bool| own.or(line.then_some(hair));
    let [top, right, bottom, left] = key.lines;
    if let Some(border) = side(style.borders.top, top) {
        format = format
            .set_border_top(line(&border))
            .set_border_top_color(color(border.color));
    }
    if let Some(border) = side(style.borders.right, right) {
        format = format
            .set_border_right(line(&border))
            .set_border_right_color(color(border.color));
    }
    if let Some(border) = side(style.borders.bottom, bottom) {
        format = format
            .set_border_bottom(line(&border))
            .set_border_bottom_color(color(border.color));
    }
    if let Some(border) = side(style.borders.left, left) {
        format = format
            .set_border_left(line(&border))
            .set_border_left_color(color(border.color));
    }
    format
}

fn line(border: &Border) -> FormatBorder {
    match border.style {
        LineStyle::Solid if border.width > 1.9 => FormatBorder::Thick,
        LineStyle::Solid if border.width > 0.9 => FormatBorder::Medium,
        LineStyle::Solid => FormatBorder::Thin,
        LineStyle::Dashed => FormatBorder::Dashed,
        LineStyle::Dotted => FormatBorder::Dotted,
    }
}

pub(super) fn color(color: platen_document::Color) -> Color {
    Color::RGB(u32::from_be_bytes([0, color.red, color.green, color.blue]))
}
