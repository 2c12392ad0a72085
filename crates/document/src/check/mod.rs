//! Checks of a template beyond its structure: names, limits, references between parts.

mod form;
mod invoice;
mod layout;
mod macros;

pub(crate) use self::layout::{MAX_COLUMNS, margins, page};
use std::collections::{BTreeMap, HashMap};

use crate::{
    Diagnostic,
    locale::{Locale, TimeZone, is_currency_code},
    message::Catalogues,
    numbering::Pattern,
    pointer, suggestion,
    template::{
        FormatSpec, Node, Numbering, RichText, Template, Text,
        visit::{Site, visit},
    },
};

/// Maximum length of a template key, in bytes.
const MAX_KEY_BYTES: usize = 128;
/// Names with a fixed meaning in expressions.
const RESERVED: [&str; 12] = [
    "loop",
    "index",
    "group",
    "rows",
    "pageNumber",
    "pageCount",
    "sectionPageNumber",
    "sectionPageCount",
    "runningHead",
    "t",
    "now",
    "ref",
];

/// Adds the errors of `template` to `found`. `used` lists the messages that expressions refer to,
/// with their pointers.
pub(crate) fn template(
    template: &Template,
    used: &[(String, String)],
    found: &mut Vec<Diagnostic>,
) {
    settings(template, found);
    invoice::invoice(template, found);
    numbering(&template.numbering, "", found);
    macros::macros(template, found);
    messages(&template.messages, &template.locale, used, found);
    assets(&template.assets, found);
    let mut ids: HashMap<&str, String> = HashMap::new();
    let mut fields: HashMap<&str, String> = HashMap::new();
    visit(template, &mut |path, site| match site {
        Site::Node(node) => {
            // An id with expressions is known only with the data.
            if let Some(Text(id)) = node.id()
                && !id.contains("{{")
            {
                unique(&mut ids, id, pointer::join(path, "id"), "id", found);
            }
            if let Node::SignatureField(field) = node {
                let path = pointer::join(path, "name");
                unique(&mut fields, &field.name, path, "name", found);
            }
            if let Node::FormField(field) = node
                && !field.name.0.contains("{{")
            {
                let path = pointer::join(path, "name");
                unique(&mut fields, &field.name.0, path, "name", found);
            }
            node_rules(node, path, found);
        }
        Site::Page(page) => layout::page(&template.page, page, path, found),
        Site::Format(format) => format_rules(format, template, path, found),
        Site::Text(_) | Site::Expression(_) | Site::Style(_) => {}
    });
}

fn numbering(numbering: &Numbering, path: &str, found: &mut Vec<Diagnostic>) {
    let path = pointer::join(path, "numbering");
    let mut mistake = |field: &str, message: &str| {
        let path = pointer::join(&path, field);
        found.push(Diagnostic::error("out-of-range", path, message));
    };
    if numbering.headings.len() > Numbering::MAX_LEVELS {
        mistake("headings", "there are at most 9 levels of numbers");
    }
    for (field, pattern) in [
        ("figures", &numbering.figures),
        ("tables", &numbering.tables),
    ] {
        let counters = pattern
            .as_deref()
            .map(|it| Pattern::new(it).counters().count());
        if counters.is_some_and(|counters| counters != 1) {
            mistake(
                field,
                "a caption has one counter: write for example `Figure 1`",
            );
        }
    }
}

fn settings(template: &Template, found: &mut Vec<Diagnostic>) {
    let currency = template.currency.as_deref();
    heads(
        &template.key,
        &template.locale,
        &template.time_zone,
        currency,
        found,
    );
}

/// Checks the settings common to all kinds of template.
pub(crate) fn heads(
    key: &str,
    locale: &str,
    time_zone: &str,
    currency: Option<&str>,
    found: &mut Vec<Diagnostic>,
) {
    if !is_key(key) {
        found.push(
            Diagnostic::error("invalid-key", "/key", "this is not a key for a template")
                .with_hint("use lower-case letters, digits, `-`, `_` and single `.`, up to 128"),
        );
    }
    if let Err(reason) = Locale::new(locale) {
        found.push(Diagnostic::error("unknown-locale", "/locale", reason));
    }
    if TimeZone::named(time_zone).is_none() {
        let message = format!("unknown time zone `{time_zone}`");
        found.push(
            Diagnostic::error("unknown-time-zone", "/timeZone", message)
                .with_hint("use an IANA name such as `Europe/Berlin`"),
        );
    }
    if let Some(code) = currency
        && !is_currency_code(code)
    {
        found.push(currency_mistake(code, "/currency".to_owned()));
    }
}

/// Whether `key` matches `[a-z0-9][a-z0-9._-]{0,127}` and does not contain `..`.
#[must_use]
pub fn is_key(key: &str) -> bool {
    let bytes = key.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    bytes.first().is_some_and(plain)
        && bytes.len() <= MAX_KEY_BYTES
        && bytes
            .iter()
            .all(|byte| plain(byte) || matches!(byte, b'.' | b'_' | b'-'))
        && !key.contains("..")
}

fn currency_mistake(code: &str, path: String) -> Diagnostic {
    let shown: String = code.chars().take(12).collect();
    let message = format!("`{shown}` is not a currency");
    Diagnostic::error("unknown-currency", path, message)
        .with_hint("write three capital letters such as `EUR` (ISO 4217)")
}

/// Adds the errors of message catalogs to `found`.
pub(crate) fn messages(
    catalogues: &Catalogues,
    locale: &str,
    used: &[(String, String)],
    found: &mut Vec<Diagnostic>,
) {
    for tag in catalogues.keys() {
        if let Err(reason) = Locale::new(tag) {
            let path = pointer::join("/messages", tag);
            found.push(Diagnostic::error("unknown-locale", path, reason));
        }
    }
    let known = crate::message::merge(catalogues, locale, locale);
    for (name, path) in used {
        if !known.contains_key(name) {
            let message = format!("unknown message `{name}` in the template's locale `{locale}`");
            found.push(
                Diagnostic::error("unknown-message", path, message)
                    .with_hint(suggestion::hint(name, known.keys().map(String::as_str))),
            );
        }
    }
    for (tag, strings) in catalogues {
        for name in strings.keys() {
            // A warning only, since an expression may compute the name.
            if !used.iter().any(|(used, _)| used == name) {
                let path = pointer::join(&pointer::join("/messages", tag), name);
                let message = format!("no expression uses the message `{name}`");
                found.push(Diagnostic::warning("unused-message", path, message));
            }
        }
    }
}

pub(crate) fn assets(assets: &BTreeMap<String, String>, found: &mut Vec<Diagnostic>) {
    for (name, address) in assets {
        if !address.starts_with("data:") {
            let path = pointer::join("/assets", name);
            found.push(
                Diagnostic::error("invalid-asset", path, "an asset is a `data:` URL")
                    .with_hint("write `data:image/png;base64,…`"),
            );
        }
    }
}

fn unique<'t>(
    seen: &mut HashMap<&'t str, String>,
    name: &'t str,
    path: String,
    what: &str,
    found: &mut Vec<Diagnostic>,
) {
    if let Some(first) = seen.get(name) {
        let message = format!("the {what} `{name}` is already used by {first}");
        found.push(Diagnostic::error(
            &format!("duplicate-{what}"),
            path,
            message,
        ));
    } else {
        seen.insert(name, path);
    }
}

fn format_rules(format: &FormatSpec, template: &Template, path: &str, found: &mut Vec<Diagnostic>) {
    let (name, currency) = match format {
        FormatSpec::Name(name) => (name, None),
        FormatSpec::Options {
            name,
            decimals,
            currency,
            ..
        } => {
            if decimals.is_some_and(|decimals| decimals > 20) {
                let path = pointer::join(path, "decimals");
                let message = "`decimals` must be 0 to 20";
                found.push(Diagnostic::error("out-of-range", path, message));
            }
            (name, currency.as_ref())
        }
    };
    let money = *name == crate::template::FormatName::Currency;
    match currency {
        Some(Text(code)) if !code.contains("{{") && !is_currency_code(code) => {
            found.push(currency_mistake(code, pointer::join(path, "currency")));
        }
        None if money && template.currency.is_none() => found.push(
            Diagnostic::error(
                "unknown-currency",
                path,
                "no currency is given for this amount",
            )
            .with_hint("set `currency` in the template, or in the format"),
        ),
        _ => {}
    }
}

/// Adds the errors of a node's own properties to `found`.
pub(crate) fn node_rules(node: &Node, path: &str, found: &mut Vec<Diagnostic>) {
    let mut mistake = |code: &str, field: &str, message: String| {
        found.push(Diagnostic::error(code, pointer::join(path, field), message));
    };
    match node {
        Node::Table(table) => layout::table(table, path, found),
        Node::Columns(node) if node.columns.is_empty() || node.columns.len() > 12 => mistake(
            "out-of-range",
            "columns",
            "there must be 1 to 12 columns side by side".to_owned(),
        ),
        Node::List(list) if list.each.is_some() && list.item.is_none() => mistake(
            "missing-field",
            "each",
            "a list with `each` needs `item`, the content for each element".to_owned(),
        ),
        Node::List(list) if list.each.is_none() && list.item.is_some() => mistake(
            "missing-field",
            "item",
            "a list with `item` needs `each`, the array that it repeats over".to_owned(),
        ),
        Node::Chart(chart) if chart.series.is_empty() || chart.series.len() > 50 => mistake(
            "out-of-range",
            "series",
            "a chart needs 1 to 50 series".to_owned(),
        ),
        Node::RichText(text) => {
            for name in text.styles.keys() {
                if !RichText::ELEMENTS.contains(&name.as_str()) {
                    let hint = suggestion::hint(name, RichText::ELEMENTS);
                    let path = pointer::join(&pointer::join(path, "styles"), name);
                    let message = format!("rich text has no elements `{name}`");
                    let mistake = Diagnostic::error("unknown-field", path, message);
                    found.push(mistake.with_hint(hint));
                }
            }
        }
        Node::FormField(field) => {
            form::field(field, path, found);
            layout::sizes(node, path, found);
        }
        Node::Section(section) => {
            if let Some(own) = &section.numbering {
                numbering(own, path, found);
            }
        }
        Node::Repeat(repeat) => {
            if let Some(name) = &repeat.as_name {
                variable_name(name, pointer::join(path, "as"), found);
            }
        }
        _ => layout::sizes(node, path, found),
    }
}

/// Checks the name of a loop variable.
fn variable_name(name: &str, path: String, found: &mut Vec<Diagnostic>) {
    let plain = |symbol: char| symbol.is_ascii_alphanumeric() || symbol == '_';
    let sound = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.len() <= 64
        && name.chars().all(plain);
    if !sound || RESERVED.contains(&name) {
        let message = "this cannot name an element in expressions";
        found.push(Diagnostic::error("invalid-name", path, message).with_hint(
            "use letters, digits and `_`, begin with a letter, and avoid reserved words",
        ));
    }
}
