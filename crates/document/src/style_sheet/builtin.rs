//! The built-in styles and colors, which a theme can override.

use crate::{
    Color, Length,
    bound::{self, Align},
    template::{BorderSpec, BorderSpecs, Edges, Side, StyleSpec, Theme, ThemeColors},
};

/// Names of the styles that every document has.
pub(crate) const NAMES: [&str; 24] = [
    "body",
    "title",
    "heading1",
    "heading2",
    "heading3",
    "heading4",
    "heading5",
    "heading6",
    "caption",
    "code",
    "link",
    "tableHeader",
    "tableCell",
    "tableTotal",
    "groupHeader",
    "subtotal",
    "footnote",
    "tocEntry",
    "label",
    "small",
    "panel",
    "header",
    "footer",
    "muted",
];

/// The colors of a theme, with defaults.
pub(super) fn colors(theme: &ThemeColors) -> bound::ThemeColors {
    let rgb = Color::from_rgb;
    let primary = theme.primary.unwrap_or(rgb(0x1F_4E79));
    let chart = if theme.chart.is_empty() {
        let mut chart = vec![primary];
        chart.extend(
            [
                0xE0_7B39, 0x4C_9F70, 0xB5_3F52, 0x7A_5EA8, 0x2F_9BB3, 0xC9_A227,
            ]
            .map(rgb),
        );
        chart
    } else {
        theme.chart.clone()
    };
    bound::ThemeColors {
        text: theme.text.unwrap_or(rgb(0x1F_2933)),
        primary,
        muted: theme.muted.unwrap_or(rgb(0x61_6E7C)),
        border: theme.border.unwrap_or(rgb(0xC5_CDD6)),
        surface: theme.surface.unwrap_or(rgb(0xF3_F6F9)),
        chart,
    }
}

fn points(points: f32) -> Option<Length> {
    Some(Length::points(points))
}

fn edges(vertical: f32, horizontal: f32) -> Option<Edges> {
    let (vertical, horizontal) = (Length::points(vertical), Length::points(horizontal));
    Some(Edges::Sides {
        top: vertical,
        right: horizontal,
        bottom: vertical,
        left: horizontal,
    })
}

fn line(side: Side, width: f32, color: Color) -> Option<BorderSpecs> {
    Some(BorderSpecs::One(BorderSpec {
        width: points(width),
        color: Some(color),
        style: None,
        sides: Some(vec![side]),
    }))
}

fn heading(theme: &Theme, colors: &bound::ThemeColors, level: usize) -> StyleSpec {
    const SIZES: [f32; 6] = [20.0, 14.0, 12.0, 11.0, 10.0, 10.0];
    const BEFORE: [f32; 6] = [18.0, 14.0, 10.0, 8.0, 8.0, 8.0];
    const AFTER: [f32; 6] = [8.0, 6.0, 4.0, 4.0, 3.0, 3.0];
    StyleSpec {
        font_family: theme.fonts.heading.clone(),
        font_size: points(SIZES[level]),
        bold: Some(true),
        italic: (level == 5).then_some(true),
        color: Some(match level {
            0 | 1 => colors.primary,
            5 => colors.muted,
            _ => colors.text,
        }),
        line_height: Some(1.2),
        space_before: points(BEFORE[level]),
        space_after: points(AFTER[level]),
        keep_with_next: Some(true),
        ..StyleSpec::default()
    }
}

/// Built-in properties of the style `name`.
pub(super) fn spec(name: &str, colors: &bound::ThemeColors, theme: &Theme) -> StyleSpec {
    let none = StyleSpec::default();
    match name {
        "body" => StyleSpec {
            space_after: points(6.0),
            ..none
        },
        "title" => StyleSpec {
            font_family: theme.fonts.heading.clone(),
            font_size: points(26.0),
            bold: Some(true),
            color: Some(colors.primary),
            line_height: Some(1.15),
            space_after: points(10.0),
            keep_with_next: Some(true),
            ..none
        },
        "caption" => StyleSpec {
            font_size: points(8.5),
            color: Some(colors.muted),
            space_before: points(3.0),
            space_after: points(6.0),
            ..none
        },
        "code" => StyleSpec {
            font_family: theme.fonts.mono.clone(),
            font_size: points(9.0),
            ..none
        },
        "link" => StyleSpec {
            color: Some(colors.primary),
            underline: Some(true),
            ..none
        },
        "footnote" | "small" => StyleSpec {
            font_size: points(8.0),
            line_height: Some(1.25),
            space_after: points(2.0),
            ..none
        },
        "tocEntry" => StyleSpec {
            space_after: points(3.0),
            ..none
        },
        "label" | "muted" => StyleSpec {
            color: Some(colors.muted),
            ..none
        },
        "panel" => StyleSpec {
            background: Some(colors.surface),
            padding: edges(10.0, 10.0),
            space_before: points(4.0),
            space_after: points(10.0),
            ..none
        },
        "header" | "footer" => StyleSpec {
            font_size: points(8.5),
            color: Some(colors.muted),
            ..none
        },
        heading_name if heading_name.starts_with("heading") => {
            let level = heading_name.bytes().last().unwrap_or(b'1');
            heading(theme, colors, usize::from(level.clamp(b'1', b'6') - b'1'))
        }
        other => table(other, colors),
    }
}

fn table(name: &str, colors: &bound::ThemeColors) -> StyleSpec {
    let none = StyleSpec {
        line_height: Some(1.25),
        padding: edges(3.5, 6.0),
        space_after: points(0.0),
        align: Some(Align::Start),
        ..StyleSpec::default()
    };
    match name {
        "tableHeader" => StyleSpec {
            bold: Some(true),
            color: Some(colors.primary),
            background: Some(colors.surface),
            padding: edges(4.0, 6.0),
            ..none
        },
        "tableTotal" => StyleSpec {
            bold: Some(true),
            padding: edges(4.0, 6.0),
            border: line(Side::Top, 1.0, colors.primary),
            ..none
        },
        "groupHeader" => StyleSpec {
            bold: Some(true),
            padding: edges(5.0, 6.0),
            ..none
        },
        "subtotal" => StyleSpec {
            bold: Some(true),
            border: line(Side::Top, 0.5, colors.border),
            ..none
        },
        _ => none,
    }
}
