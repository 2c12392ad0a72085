//! The style sheet of a document: built-in styles, the theme's changes to them, and the resolution
//! of a node's style from these.

mod builtin;
mod fonts;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    Color, Diagnostic,
    bound::{Baseline, Border, Sides, Style, TabStop, ThemeColors},
    pointer, suggestion,
    template::{self, BorderSpec, Edges, FontFamily, Side, StylePart, StyleRef, StyleSpec, Theme},
};

pub(crate) use self::builtin::NAMES;

/// Styles by name, with `extends` resolved.
#[derive(Debug)]
pub(crate) struct StyleSheet {
    /// Colors of the theme, with defaults.
    pub(crate) colors: ThemeColors,
    mono: Arc<[String]>,
    /// Body text before the `body` style applies.
    base: Style,
    specs: BTreeMap<String, StyleSpec>,
}

impl StyleSheet {
    /// Builds the sheet of `theme`. Also returns the theme's errors.
    pub(crate) fn new(theme: &Theme) -> (Self, Vec<Diagnostic>) {
        let colors = builtin::colors(&theme.colors);
        let body = families(theme.fonts.body.as_ref(), "Liberation Sans");
        let mono = families(theme.fonts.mono.as_ref(), "Liberation Mono");
        let base = Style {
            font_families: Arc::clone(&body),
            font_size: theme.font_size.map_or(10.0, |size| size.to_points()),
            line_height: theme.line_height.unwrap_or(1.35),
            color: colors.text,
            ..Style::default()
        };
        let mut sheet = Self {
            colors,
            mono,
            base,
            specs: BTreeMap::new(),
        };
        let mut found = Vec::new();
        for name in NAMES {
            let spec = builtin::spec(name, &sheet.colors, theme);
            sheet.specs.insert(name.to_owned(), spec);
        }
        let own = sheet.specs.clone();
        for (name, spec) in &theme.styles {
            let path = pointer::join("/theme/styles", name);
            check_numbers(spec, &path, &mut found);
            let mut merged = own.get(name).cloned().unwrap_or_default();
            let mut chain = vec![spec];
            let mut seen = vec![name.as_str()];
            let mut current = spec;
            while let Some(parent) = current.extends.as_deref() {
                if seen.contains(&parent) {
                    found.push(Diagnostic::error(
                        "style-cycle",
                        pointer::join(&path, "extends"),
                        format!("the style `{name}` extends itself by way of `{parent}`"),
                    ));
                    break;
                }
                seen.push(parent);
                if let Some(next) = theme.styles.get(parent) {
                    if let Some(builtin) = own.get(parent) {
                        overlay_spec(&mut merged, builtin);
                    }
                    chain.push(next);
                    current = next;
                } else if let Some(builtin) = own.get(parent) {
                    overlay_spec(&mut merged, builtin);
                    break;
                } else {
                    let path = pointer::join(&path, "extends");
                    found.push(unknown_style(parent, path, theme));
                    break;
                }
            }
            for spec in chain.into_iter().rev() {
                overlay_spec(&mut merged, spec);
            }
            sheet.specs.insert(name.clone(), merged);
        }
        (sheet, found)
    }

    /// Names of all styles.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.specs.keys().map(String::as_str)
    }

    /// Adds the errors of a style reference to `found`.
    pub(crate) fn check(&self, style: &StyleRef, path: &str, found: &mut Vec<Diagnostic>) {
        let mut known = |name: &str, path: String| {
            if !self.specs.contains_key(name) {
                found.push(
                    Diagnostic::error("unknown-style", path, format!("unknown style `{name}`"))
                        .with_hint(suggestion::hint(name, self.names())),
                );
            }
        };
        let mut specs = Vec::new();
        match style {
            StyleRef::Name(name) => known(name, path.to_owned()),
            StyleRef::Several(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    let path = pointer::join(path, index);
                    match part {
                        StylePart::Name(name) => known(name, path),
                        StylePart::Inline(spec) => specs.push((path, spec)),
                    }
                }
            }
            StyleRef::Inline(spec) => specs.push((path.to_owned(), spec)),
        }
        for (path, spec) in &specs {
            if let Some(name) = &spec.extends {
                known(name, pointer::join(path, "extends"));
            }
        }
        for (path, spec) in specs {
            check_numbers(spec, &path, found);
        }
    }

    /// The style `name` applied to body text; `None` if it does not exist.
    pub(crate) fn named(&self, name: &str) -> Option<Style> {
        let mut style = self.base.clone();
        self.overlay_named(&mut style, name);
        style.name = Some(Arc::from(name));
        self.specs.contains_key(name).then_some(style)
    }

    /// Applies the style `name` on top of `style`.
    pub(crate) fn overlay_named(&self, style: &mut Style, name: &str) {
        if let Some(spec) = self.specs.get(name) {
            self.overlay(style, spec);
            if name == "code" {
                style.code = true;
                if spec.font_family.is_none() {
                    style.font_families = Arc::clone(&self.mono);
                }
            }
        }
    }

    /// Applies `reference` on top of `style`.
    pub(crate) fn overlay_ref(&self, style: &mut Style, reference: &StyleRef) {
        match reference {
            StyleRef::Name(name) => self.overlay_named(style, name),
            StyleRef::Several(parts) => {
                for part in parts {
                    match part {
                        StylePart::Name(name) => self.overlay_named(style, name),
                        StylePart::Inline(spec) => self.overlay_extended(style, spec),
                    }
                }
            }
            StyleRef::Inline(spec) => self.overlay_extended(style, spec),
        }
    }

    /// Applies the style that `spec` extends, and then `spec`, on top of `style`.
    fn overlay_extended(&self, style: &mut Style, spec: &StyleSpec) {
        if let Some(name) = &spec.extends {
            self.overlay_named(style, name);
        }
        self.overlay(style, spec);
    }

    fn overlay(&self, style: &mut Style, spec: &StyleSpec) {
        macro_rules! set {
            ($($field:ident),*) => { $( if let Some(value) = spec.$field { style.$field = value; } )* };
        }
        macro_rules! set_length {
            ($($field:ident),*) => {
                $( if let Some(value) = spec.$field { style.$field = value.to_points(); } )*
            };
        }
        style.name = None;
        set!(
            italic,
            underline,
            strike,
            color,
            align,
            vertical_align,
            turned,
            line_height
        );
        set!(hyphenate, keep_with_next, keep_together, widows, orphans);
        set!(hanging_punctuation, kashida, font_width);
        fonts::overlay(style, spec);
        set_length!(font_size, letter_spacing, space_before, space_after);
        set_length!(indent_start, indent_end, indent_first_line);
        if let Some(lang) = &spec.lang {
            style.lang = Some(Arc::from(lang.as_str()));
        }
        if let Some(span) = spec.column_span {
            style.column_span = span == template::ColumnSpan::All;
        }
        if let Some(stops) = &spec.tabs {
            style.tabs = tab_stops(stops);
        }
        if spec.background.is_some() {
            style.background = spec.background;
        }
        if let Some(padding) = &spec.padding {
            style.padding = sides(padding);
        }
        if let Some(border) = &spec.border {
            for border in border.as_slice() {
                self.overlay_border(style, border);
            }
        }
    }

    fn overlay_border(&self, style: &mut Style, spec: &BorderSpec) {
        let width = spec.width.map_or(0.75, |width| width.to_points());
        let border = (width > 0.0).then(|| Border {
            width,
            color: spec.color.unwrap_or(self.colors.border),
            style: spec.style.unwrap_or_default(),
        });
        const ALL: [Side; 4] = [Side::Top, Side::Right, Side::Bottom, Side::Left];
        for side in spec.sides.as_deref().unwrap_or(&ALL) {
            match side {
                Side::Top => style.borders.top = border,
                Side::Right => style.borders.right = border,
                Side::Bottom => style.borders.bottom = border,
                Side::Left => style.borders.left = border,
            }
        }
    }
}

/// What content inside a box inherits from the box's style: text properties, but no box properties.
pub(crate) fn inherited(style: &Style) -> Style {
    Style {
        name: None,
        background: None,
        space_before: 0.0,
        space_after: 0.0,
        indent_start: 0.0,
        indent_end: 0.0,
        indent_first_line: 0.0,
        tabs: Arc::default(),
        padding: Sides::all(0.0),
        borders: Sides::all(None),
        column_span: false,
        turned: false,
        keep_with_next: false,
        keep_together: false,
        baseline: Baseline::Normal,
        ..style.clone()
    }
}

fn families(family: Option<&FontFamily>, default: &str) -> Arc<[String]> {
    match family {
        Some(FontFamily::One(name)) => Arc::from([name.clone()]),
        Some(FontFamily::Several(names)) if !names.is_empty() => Arc::from(names.as_slice()),
        _ => Arc::from([default.to_owned()]),
    }
}

fn sides(edges: &Edges) -> Sides<f32> {
    match edges {
        Edges::All(length) => Sides::all(length.to_points()),
        Edges::Sides {
            top,
            right,
            bottom,
            left,
        } => Sides {
            top: top.to_points(),
            right: right.to_points(),
            bottom: bottom.to_points(),
            left: left.to_points(),
        },
    }
}

/// Maximum number of tab stops of a style.
const MAX_TABS: usize = 50;

fn tab_stops(stops: &[template::TabStop]) -> Arc<[TabStop]> {
    let stop = |stop: &template::TabStop| TabStop {
        position: stop.position.to_points(),
        align: stop.align,
        leader: stop.leader,
    };
    let mut stops: Vec<TabStop> = stops.iter().map(stop).collect();
    stops.sort_by(|a, b| a.position.total_cmp(&b.position));
    stops.into()
}

/// Copies the properties that `over` sets to `spec`.
fn overlay_spec(spec: &mut StyleSpec, over: &StyleSpec) {
    macro_rules! set {
        ($($field:ident),*) => { $( if over.$field.is_some() { spec.$field = over.$field.clone(); } )* };
    }
    set!(
        font_family,
        font_size,
        bold,
        italic,
        underline,
        strike,
        color,
        background,
        align
    );
    set!(
        vertical_align,
        line_height,
        letter_spacing,
        space_before,
        space_after,
        indent_start
    );
    set!(
        indent_end,
        indent_first_line,
        tabs,
        padding,
        border,
        hyphenate,
        keep_with_next
    );
    set!(column_span, keep_together, widows, orphans, turned, lang);
    set!(
        font_weight,
        font_width,
        font_features,
        font_axes,
        hanging_punctuation,
        kashida
    );
}

fn check_numbers(spec: &StyleSpec, path: &str, found: &mut Vec<Diagnostic>) {
    fonts::check(spec, path, found);
    if spec.lang.as_deref().is_some_and(|tag| !is_tag(tag)) {
        let message = "`lang` must be a BCP 47 tag, such as `fr` or `pt-BR`";
        let path = pointer::join(path, "lang");
        found.push(Diagnostic::error("unknown-locale", path, message));
    }
    if spec
        .tabs
        .as_ref()
        .is_some_and(|stops| stops.len() > MAX_TABS)
    {
        let message = format!("`tabs` must have at most {MAX_TABS} positions");
        found.push(Diagnostic::error(
            "out-of-range",
            pointer::join(path, "tabs"),
            message,
        ));
    }
    let mut range = |field: &str, value: Option<f32>, least: f32, most: f32| {
        if let Some(value) = value
            && !(least..=most).contains(&value)
        {
            found.push(Diagnostic::error(
                "out-of-range",
                pointer::join(path, field),
                format!("`{field}` must be {least} to {most}"),
            ));
        }
    };
    range(
        "fontSize",
        spec.font_size.map(|size| size.to_points()),
        1.0,
        1000.0,
    );
    range("lineHeight", spec.line_height, 0.5, 10.0);
    range("fontWeight", spec.font_weight.map(f32::from), 1.0, 1000.0);
    range("fontWidth", spec.font_width.map(f32::from), 50.0, 200.0);
    for (field, length) in [
        ("letterSpacing", spec.letter_spacing),
        ("spaceBefore", spec.space_before),
        ("spaceAfter", spec.space_after),
        ("indentStart", spec.indent_start),
        ("indentEnd", spec.indent_end),
        ("indentFirstLine", spec.indent_first_line),
    ] {
        range(
            field,
            length.map(|length| length.to_points()),
            -2000.0,
            2000.0,
        );
    }
    for stop in spec.tabs.iter().flatten() {
        range("tabs", Some(stop.position.to_points()), 0.0, 20_000.0);
    }
    if let Some(padding) = &spec.padding {
        let sides = sides(padding);
        for side in [sides.top, sides.right, sides.bottom, sides.left] {
            range("padding", Some(side), 0.0, 1000.0);
        }
    }
    let borders = spec.border.iter().flat_map(|border| border.as_slice());
    for width in borders.filter_map(|border| border.width) {
        range("border", Some(width.to_points()), 0.0, 100.0);
    }
}

/// Whether a text has the form of a BCP 47 tag.
fn is_tag(text: &str) -> bool {
    let mut parts = text.split('-');
    let first = parts.next().unwrap_or_default();
    let letters = first.bytes().all(|byte| byte.is_ascii_alphabetic());
    let part = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    letters && (2..=8).contains(&first.len()) && text.len() <= 35 && parts.all(part)
}

fn unknown_style(name: &str, path: String, theme: &Theme) -> Diagnostic {
    let known = NAMES
        .into_iter()
        .chain(theme.styles.keys().map(String::as_str));
    Diagnostic::error("unknown-style", path, format!("unknown style `{name}`"))
        .with_hint(suggestion::hint(name, known))
}

/// Color of the chart series `index`.
pub(crate) fn chart_color(colors: &ThemeColors, index: usize) -> Color {
    match colors.chart.len() {
        0 => colors.primary,
        length => colors.chart[index % length],
    }
}
