//! Typed tricks: numbers, tabs, spaces and underscores that stand for something that a node does.

use serde_json::Value as Json;

use super::Lint;
use crate::pointer;

pub(super) fn check(lint: &mut Lint<'_>) {
    let mut found = Vec::new();
    for node in &lint.nodes {
        let content = node.fields.get("content");
        let path = pointer::join(&node.path, "content");
        let is_text = matches!(node.kind(), "text" | "heading");
        if let Some(Json::String(text)) = content.filter(|_| is_text) {
            typed(node.kind(), text, &path, &mut found);
        }
    }
    for (code, path, message, hint) in found {
        lint.warn(code, path, message, hint);
    }
}

type Finding = (&'static str, String, &'static str, &'static str);

fn typed(kind: &str, text: &str, path: &str, found: &mut Vec<Finding>) {
    let mut add = |code, message, hint| found.push((code, path.to_owned(), message, hint));
    if kind == "text" && text.trim().is_empty() {
        add(
            "empty-paragraph",
            "an empty paragraph makes space",
            "use a `spacer`, or `spaceBefore` and `spaceAfter` of a style",
        );
        return;
    }
    if kind == "heading" && is_numbered(text) {
        add(
            "typed-number",
            "this heading's number is typed",
            "let `numbering` count headings, so that inserted ones renumber the rest",
        );
    }
    if kind == "text"
        && (text.starts_with("• ") || text.starts_with("- ") || text.starts_with("* "))
    {
        add(
            "typed-list",
            "this paragraph is typed as a list item",
            "use a `list`: its items hang, and screen readers announce it",
        );
    }
    if text.contains("   ") {
        add(
            "typed-spaces",
            "several spaces align this text",
            "use `columns`, `keyValue` or a table: spaces have another width in each font",
        );
    }
    if has_single_braces(text) {
        add(
            "single-braces",
            "a name in single braces is printed as it stands",
            "write `{{ name }}`: expressions stand in two braces",
        );
    }
    if text.contains("____") || text.contains("......") {
        add(
            "typed-line",
            "underscores or dots draw a line",
            "use a `signatureField`, a form field or a border",
        );
    }
}

/// Whether a text has a name in single braces, as other template languages write it.
fn has_single_braces(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let after = &rest[at + 1..];
        if let Some(double) = after.strip_prefix('{') {
            rest = double.find("}}").map_or("", |end| &double[end + 2..]);
            continue;
        }
        let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let end = after.find(|c| !name(c)).unwrap_or(after.len());
        let starts = after.starts_with(|c: char| c.is_ascii_alphabetic());
        if starts && after[end..].starts_with('}') {
            return true;
        }
        rest = after;
    }
    false
}

/// Whether a text begins with a typed number, such as `2.`, `1.3` or `§ 4`.
fn is_numbered(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches("§ ");
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &text[digits..];
    let number = (1..=2).contains(&digits);
    let dotted = rest.starts_with(". ")
        || rest.starts_with(") ")
        || rest
            .strip_prefix('.')
            .is_some_and(|rest| rest.starts_with(|symbol: char| symbol.is_ascii_digit()));
    number && dotted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_single_braces_are_found() {
        for text in ["Dear {name},", "{{ a }} {b.c}"] {
            assert!(has_single_braces(text), "{text}");
        }
        for text in [
            "Dear {{ name }}",
            "{{name}}",
            "{ }",
            "{1}",
            "{",
            "{{",
            "{a b}",
            "{{ {'a': 1} }}",
        ] {
            assert!(!has_single_braces(text), "{text}");
        }
    }
}
