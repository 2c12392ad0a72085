//! The properties of a style that choose a font: families, weight, features and axes.

use std::sync::Arc;

use super::families;
use crate::{
    Diagnostic,
    bound::Style,
    font::{FontAxis, feature_names, font_features, tag_of},
    pointer, suggestion,
    template::StyleSpec,
};

/// Maximum number of features, and of axes, of a style.
const MAX_SETTINGS: usize = 20;

/// Applies the font properties of `spec` on top of `style`.
pub(super) fn overlay(style: &mut Style, spec: &StyleSpec) {
    if let Some(family) = &spec.font_family {
        style.font_families = families(Some(family), "Liberation Sans");
    }
    if let Some(bold) = spec.bold {
        style.set_bold(bold);
    }
    if let Some(weight) = spec.font_weight {
        style.font_weight = Some(weight);
        // What formats without weights show.
        style.bold = weight >= 600;
    }
    if let Some(names) = &spec.font_features {
        let features = names.iter().filter_map(|name| font_features(name));
        let mut features: Vec<_> = features.flatten().collect();
        features.truncate(2 * MAX_SETTINGS);
        style.font_features = features.into();
    }
    if let Some(axes) = &spec.font_axes {
        let axis = |(tag, value): (&String, &f32)| {
            Some(FontAxis {
                tag: tag_of(tag)?,
                value: *value,
            })
        };
        style.font_axes = axes
            .iter()
            .take(MAX_SETTINGS)
            .filter_map(axis)
            .collect::<Arc<[_]>>();
    }
}

/// Checks the names of features and axes.
pub(super) fn check(spec: &StyleSpec, path: &str, found: &mut Vec<Diagnostic>) {
    let features = spec.font_features.as_deref().unwrap_or_default();
    let axes = spec.font_axes.as_ref();
    if features.len() > MAX_SETTINGS || axes.is_some_and(|axes| axes.len() > MAX_SETTINGS) {
        let message = format!("a style has at most {MAX_SETTINGS} features, and as many axes");
        found.push(Diagnostic::error("out-of-range", path, message));
    }
    for (index, name) in features.iter().enumerate() {
        if font_features(name).is_none() {
            let path = pointer::join(&pointer::join(path, "fontFeatures"), index);
            let message = format!("unknown font feature `{name}`");
            let hint = suggestion::hint(name, feature_names());
            let mistake = Diagnostic::error("unknown-font-feature", path, message);
            found.push(mistake.with_hint(hint));
        }
    }
    for (tag, value) in axes.into_iter().flatten() {
        let path = || pointer::join(&pointer::join(path, "fontAxes"), tag);
        if tag_of(tag).is_none() {
            let message = format!("`{tag}` cannot be an axis: its tag has four letters");
            found.push(Diagnostic::error("unknown-font-feature", path(), message));
        }
        if !(-100_000.0..=100_000.0).contains(value) {
            let message = "a position on an axis is -100000 to 100000";
            found.push(Diagnostic::error("out-of-range", path(), message));
        }
    }
}
