//! Sizes and colors that are hard to read.

use serde_json::{Map, Value as Json};

use super::{
    Lint,
    ground::{Ground, Grounds},
};
use crate::{Color, pointer};

/// Smallest font size that prints well, in points.
const SMALLEST: f32 = 6.0;
/// Least contrast of text with its ground, and that of large text (WCAG 2.2, 1.4.3).
const LEAST_CONTRAST: f32 = 4.5;
const LEAST_OF_LARGE: f32 = 3.0;
/// Size from which text is large, and from which bold text is, in points.
const LARGE: f32 = 18.0;
const LARGE_BOLD: f32 = 14.0;

pub(super) fn check(lint: &mut Lint<'_>, template: &Json) {
    let grounds = Grounds::of(template);
    let named = template.pointer("/theme/styles").and_then(Json::as_object);
    for (name, style) in named.into_iter().flatten() {
        if let Some(style) = style.as_object() {
            let path = pointer::join("/theme/styles", name);
            size(lint, style, &path);
            contrast(lint, style, &path, &grounds.below_name(name));
        }
    }
    let own: Vec<(String, &Map<String, Json>)> = lint
        .nodes
        .iter()
        .filter_map(|node| {
            let style = node.fields.get("style")?.as_object()?;
            Some((pointer::join(&node.path, "style"), style))
        })
        .collect();
    for (path, style) in own {
        size(lint, style, &path);
        contrast(lint, style, &path, &[grounds.at(&path)]);
    }
    justified_without_hyphens(lint, template);
}

/// The font size that a style gives, in points.
fn font_size(style: &Map<String, Json>) -> Option<f32> {
    match style.get("fontSize")? {
        Json::String(text) => text.parse::<crate::Length>().ok().map(|it| it.to_points()),
        Json::Number(number) => number.as_f64().map(|points| points as f32),
        _ => None,
    }
}

fn size(lint: &mut Lint<'_>, style: &Map<String, Json>, path: &str) {
    let size = font_size(style);
    if size.is_some_and(|size| size > 0.0 && size < SMALLEST) {
        lint.warn(
            "text-too-small",
            pointer::join(path, "fontSize"),
            "text below 6 pt is hard to read, and hardly prints",
            "use 6 pt or more",
        );
    }
}

/// Warns if the text is hard to read on one of the `grounds` on which it stands.
fn contrast(lint: &mut Lint<'_>, style: &Map<String, Json>, path: &str, grounds: &[Ground]) {
    let color = |field: &str| -> Option<Color> { style.get(field)?.as_str()?.parse().ok() };
    let Some(text) = color("color") else {
        return;
    };
    let own = style
        .contains_key("background")
        .then(|| color("background"));
    // White text belongs on a ground that something else gives.
    if text == Color::WHITE && own.is_none() {
        return;
    }
    let grounds = own.as_ref().map_or(grounds, std::slice::from_ref);
    let ratios = grounds.iter().flatten();
    let worst = ratios
        .map(|ground| contrast_ratio(text, *ground))
        .fold(f32::INFINITY, f32::min);
    let bold = style.get("bold") == Some(&Json::Bool(true));
    let from = if bold { LARGE_BOLD } else { LARGE };
    let least = match font_size(style) {
        Some(size) if size >= from => LEAST_OF_LARGE,
        _ => LEAST_CONTRAST,
    };
    if worst < least {
        lint.warn(
            "low-contrast",
            pointer::join(path, "color"),
            &format!("the text has a contrast of {worst:.1} with its ground"),
            &format!("use a darker or lighter color: {least} is the least that WCAG asks for"),
        );
    }
}

/// Contrast of two colors, 1 to 21 (WCAG 2.2).
fn contrast_ratio(a: Color, b: Color) -> f32 {
    let luminance = |color: Color| {
        let linear = |channel: u8| {
            let share = f32::from(channel) / 255.0;
            if share <= 0.040_45 {
                share / 12.92
            } else {
                ((share + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue)
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Languages that have no hyphens: their lines break between any letters or at spaces only, or
/// are stretched within words.
const WITHOUT_HYPHENS: [&str; 12] = [
    "ar", "fa", "he", "ja", "km", "ko", "lo", "my", "th", "ur", "yi", "zh",
];

/// Justified text without hyphens has wide gaps.
fn justified_without_hyphens(lint: &mut Lint<'_>, template: &Json) {
    let locale = template.get("locale").and_then(Json::as_str);
    let language = locale.and_then(|locale| locale.split('-').next());
    if language.is_some_and(|language| WITHOUT_HYPHENS.contains(&language)) {
        return;
    }
    let body = template
        .pointer("/theme/styles/body")
        .and_then(Json::as_object);
    let field = |name: &str| body.and_then(|style| style.get(name));
    if field("align").and_then(Json::as_str) == Some("justify")
        && field("hyphenate").and_then(Json::as_bool) != Some(true)
    {
        lint.warn(
            "justified-without-hyphens",
            "/theme/styles/body/align".to_owned(),
            "justified text without hyphens has wide gaps",
            "set `\"hyphenate\": true`, or align to the start",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_is_that_of_wcag() {
        assert!((contrast_ratio(Color::BLACK, Color::WHITE) - 21.0).abs() < 0.01);
        let grey = Color::from_rgb(0x76_76_76);
        assert!((contrast_ratio(grey, Color::WHITE) - 4.54).abs() < 0.01);
    }
}
