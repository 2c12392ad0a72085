//! Titles, levels of headings, heads of tables, and what nothing refers to.

use std::collections::HashSet;

use serde_json::Value as Json;

use super::Lint;
use crate::{pointer, style_sheet::NAMES};

pub(super) fn check(lint: &mut Lint<'_>, template: &Json) {
    title(lint, template);
    heading_levels(lint);
    table_heads(lint);
    alternative_texts(lint);
    unused(lint, template, "/theme/styles", "unused-style");
    // Data may name any asset.
    let by_data = |node: &super::Node<'_>| {
        let source = node.text("source");
        source.is_some_and(|source| source.contains("{{"))
    };
    if !lint.nodes.iter().any(by_data) {
        unused(lint, template, "/assets", "unused-asset");
    }
}

fn title(lint: &mut Lint<'_>, template: &Json) {
    let given = |place| template.pointer(place).and_then(Json::as_str);
    let title = given("/metadata/title").or(given("/name"));
    if title.is_none_or(|title| title.trim().is_empty()) {
        lint.warn(
            "no-title",
            "/metadata".to_owned(),
            "the document has no title",
            "add `\"metadata\": {\"title\": \"…\"}`: windows, search and screen readers show it",
        );
    }
}

/// The first heading has level 1, and no level is skipped on the way down (PDF/UA-1, 7.4.2).
fn heading_levels(lint: &mut Lint<'_>) {
    let mut last = 0;
    let mut skipped = Vec::new();
    for node in lint.nodes.iter().filter(|node| node.kind() == "heading") {
        let level = node.fields.get("level").and_then(Json::as_u64).unwrap_or(1);
        if level > last + 1 {
            skipped.push((pointer::join(&node.path, "level"), last + 1));
        }
        last = level;
    }
    for (path, expected) in skipped {
        lint.warn(
            "heading-level-skipped",
            path,
            "this heading skips a level",
            &format!("use level {expected}, and a style for the size"),
        );
    }
}

fn table_heads(lint: &mut Lint<'_>) {
    let mut headless = Vec::new();
    for node in lint.nodes.iter().filter(|node| node.kind() == "table") {
        let columns = node.fields.get("columns").and_then(Json::as_array);
        let has_head = columns
            .is_some_and(|columns| columns.iter().any(|column| column.get("header").is_some()))
            || node.fields.contains_key("headerRows");
        let hidden = node.fields.get("showHeader") == Some(&Json::Bool(false));
        if !has_head && !hidden && node.fields.contains_key("rows") {
            headless.push(node.path.clone());
        }
    }
    for path in headless {
        lint.warn(
            "table-without-header",
            path,
            "no column of this table has a header",
            "give columns a `header`: it repeats on each page, and screen readers read it with each cell",
        );
    }
}

/// Alternative texts that say nothing.
fn alternative_texts(lint: &mut Lint<'_>) {
    const EMPTY_WORDS: [&str; 10] = [
        "image", "picture", "photo", "graphic", "chart", "bild", "grafik", "diagramm", "image1",
        "x",
    ];
    let mut found = Vec::new();
    for node in &lint.nodes {
        let Some(alt) = node.text("alt") else {
            continue;
        };
        let alt = alt.trim().to_lowercase();
        let is_file = [".png", ".jpg", ".jpeg", ".svg", ".gif", ".webp"]
            .iter()
            .any(|end| alt.ends_with(end));
        if EMPTY_WORDS.contains(&alt.as_str()) || is_file {
            found.push(pointer::join(&node.path, "alt"));
        }
    }
    for path in found {
        lint.warn(
            "alt-says-nothing",
            path,
            "this alternative text does not say what is to be seen",
            "describe what the reader learns from it, such as “Sales rise from March on”",
        );
    }
}

/// Named things that no other place of the template names.
fn unused(lint: &mut Lint<'_>, template: &Json, place: &str, code: &'static str) {
    let Some(named) = template.pointer(place).and_then(Json::as_object) else {
        return;
    };
    let mut texts = HashSet::new();
    let mut all = String::new();
    strings(template, &mut |text| {
        if text.contains("{{") || text.contains(['\'', '"']) {
            all.push_str(text);
            all.push('\n');
        }
        texts.insert(text);
    });
    for name in named.keys() {
        let quoted = [format!("'{name}'"), format!("\"{name}\"")];
        let is_used = texts.contains(name.as_str())
            || quoted.iter().any(|quoted| all.contains(quoted))
            || NAMES.contains(&name.as_str());
        if !is_used {
            lint.warn(
                code,
                pointer::join(place, name),
                &format!("nothing uses `{name}`"),
                "remove it, or check the spelling where it should be used",
            );
        }
    }
}

/// Calls `see` with every string value below `value`.
fn strings<'t>(value: &'t Json, see: &mut impl FnMut(&'t str)) {
    match value {
        Json::String(text) => see(text),
        Json::Array(items) => items.iter().for_each(|item| strings(item, see)),
        Json::Object(fields) => fields.values().for_each(|value| strings(value, see)),
        _ => {}
    }
}
