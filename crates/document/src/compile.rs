//! Compiles templates: parses every text and expression, resolves the style sheet, builds the
//! schema of the data.

use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use crate::{
    Diagnostic, check,
    expression::{CompiledExpression, CompiledText, Failure, HELPERS},
    input::InputSchema,
    locale::{Locale, TimeZone},
    message,
    parse::{json_from_bytes, structure_from_json},
    style_sheet::StyleSheet,
    template::{
        Expression, Node, Template, Text,
        visit::{Site, visit},
    },
};

/// A compiled template, shared by any number of concurrent renderings.
#[derive(Debug)]
pub struct CompiledTemplate {
    template: Template,
    pub(crate) parts: Parts,
    locales: Mutex<FxHashMap<String, Arc<Localised>>>,
}

/// The results of compiling.
#[derive(Debug)]
pub(crate) struct Parts {
    texts: FxHashMap<String, CompiledText>,
    expressions: FxHashMap<String, CompiledExpression>,
    pub(crate) sheet: StyleSheet,
    pub(crate) schema: Option<InputSchema>,
    pub(crate) zone: TimeZone,
    helpers: Vec<HelperUse>,
    /// Whether an expression refers to other nodes, which takes a second pass of binding.
    pub(crate) refers: bool,
}

/// A call to a helper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperUse {
    /// Name of the helper.
    pub name: String,
    /// JSON pointer of the text or expression that calls it.
    pub path: String,
}

/// A locale with the template's messages for it.
#[derive(Debug)]
pub(crate) struct Localised {
    pub(crate) locale: Arc<Locale>,
    pub(crate) messages: Arc<FxHashMap<String, String>>,
}

/// Maximum number of locales that a template keeps; beyond it, all are dropped.
const MAX_LOCALES: usize = 32;

/// Parses and compiles a template.
///
/// # Errors
/// All errors in the template, each with a pointer.
pub fn compile_source(bytes: &[u8]) -> Result<CompiledTemplate, Vec<Diagnostic>> {
    compile(structure_from_json(json_from_bytes(bytes)?)?)
}

/// Compiles a template.
///
/// # Errors
/// All errors in the template.
pub fn compile(template: Template) -> Result<CompiledTemplate, Vec<Diagnostic>> {
    let (parts, found) = analyse(&template);
    let mut mistakes: Vec<Diagnostic> = found.into_iter().filter(Diagnostic::is_error).collect();
    if !mistakes.is_empty() {
        mistakes.truncate(crate::parse::MAX_DIAGNOSTICS);
        return Err(mistakes);
    }
    let compiled = CompiledTemplate {
        template,
        parts,
        locales: Mutex::default(),
    };
    compiled
        .localised(&compiled.template.locale)
        .map_err(|reason| vec![Diagnostic::error("unknown-locale", "/locale", reason)])?;
    Ok(compiled)
}

impl CompiledTemplate {
    /// The template as its author wrote it.
    #[must_use]
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// All calls to helpers. Whether a helper exists is not known here.
    #[must_use]
    pub fn helper_uses(&self) -> &[HelperUse] {
        &self.parts.helpers
    }

    pub(crate) fn text(&self, text: &Text) -> Option<&CompiledText> {
        self.parts.texts.get(&text.0)
    }

    pub(crate) fn expression(&self, expression: &Expression) -> Option<&CompiledExpression> {
        self.parts.expressions.get(&expression.0)
    }

    /// The locale `tag` with its messages, cached for the next rendering.
    pub(crate) fn localised(&self, tag: &str) -> Result<Arc<Localised>, String> {
        let kept = || self.locales.lock();
        if let Some(localised) = kept().get(tag) {
            return Ok(Arc::clone(localised));
        }
        let locale = Locale::new(tag)?;
        let messages = message::merge(&self.template.messages, locale.tag(), &self.template.locale);
        let localised = Arc::new(Localised {
            locale: Arc::new(locale),
            messages: Arc::new(messages),
        });
        let mut locales = kept();
        if locales.len() >= MAX_LOCALES {
            locales.clear();
        }
        locales.insert(tag.to_owned(), Arc::clone(&localised));
        Ok(localised)
    }
}

/// Compiles and checks everything in `template`.
pub(crate) fn analyse(template: &Template) -> (Parts, Vec<Diagnostic>) {
    let (sheet, mut found) = StyleSheet::new(&template.theme);
    let schema = match template.input_schema.as_ref().map(InputSchema::new) {
        None => None,
        Some(Ok(schema)) => Some(schema),
        Some(Err(mistake)) => {
            found.push(*mistake);
            None
        }
    };
    let mut parts = Parts {
        texts: FxHashMap::default(),
        expressions: FxHashMap::default(),
        sheet,
        schema,
        zone: TimeZone::named(&template.time_zone).unwrap_or(TimeZone::UTC),
        helpers: Vec::new(),
        refers: false,
    };
    let mut used = Vec::new();
    visit(template, &mut |path, site| match site {
        Site::Text(text) => match CompiledText::new(&text.0) {
            Ok(compiled) => {
                for expression in compiled.expressions() {
                    used.extend(messages_of(expression, path));
                    parts.helpers.extend(uses(&expression.helpers, path));
                    parts.refers |= expression.refers;
                }
                parts.texts.insert(text.0.clone(), compiled);
            }
            Err(failures) => {
                found.extend(
                    failures
                        .into_iter()
                        .map(|failure| diagnostic(failure, path)),
                );
            }
        },
        Site::Expression(expression) => match CompiledExpression::new(&expression.0) {
            Ok(compiled) => {
                used.extend(messages_of(&compiled, path));
                parts.helpers.extend(uses(&compiled.helpers, path));
                parts.refers |= compiled.refers;
                parts.expressions.insert(expression.0.clone(), compiled);
            }
            Err(failure) => found.push(braces_hint(diagnostic(failure, path), &expression.0)),
        },
        Site::Style(style) => parts.sheet.check(style, path, &mut found),
        Site::Node(node) => {
            let items = match node {
                Node::Repeat(repeat) => repeat.as_name.as_deref(),
                Node::Table(table) => table.as_name.as_deref(),
                _ => None,
            };
            if items == Some(HELPERS) && template.helpers.is_some() {
                found.push(hidden_by_helpers("the items", &format!("{path}/as")));
            }
        }
        Site::Format(_) | Site::Page(_) => {}
    });
    check::template(template, &used, &mut found);
    check_helpers(
        template.helpers.as_deref(),
        &parts.helpers,
        template.input_schema.as_ref(),
        &mut found,
    );
    (parts, found)
}

/// Pairs each of `names` with `path`.
pub(crate) fn uses<'n>(names: &'n [Box<str>], path: &'n str) -> impl Iterator<Item = HelperUse> {
    names.iter().map(move |name| HelperUse {
        name: name.to_string(),
        path: path.to_owned(),
    })
}

/// Reports every helper call if the template has no helpers; otherwise, a field of the data that
/// they hide.
pub(crate) fn check_helpers(
    helpers: Option<&str>,
    uses: &[HelperUse],
    schema: Option<&Json>,
    found: &mut Vec<Diagnostic>,
) {
    if helpers.is_none() {
        found.extend(uses.iter().map(|one| {
            let message = format!("unknown helper `{}`", one.name);
            Diagnostic::error("unknown-helper", &one.path, message)
                .with_hint("export a function of this name from the template's `helpers`")
        }));
    } else if schema.is_some_and(|schema| !schema["properties"][HELPERS].is_null()) {
        found.push(hidden_by_helpers(FIELD, "/inputSchema/properties/helpers"));
    }
}

/// What the template's helpers may hide.
const FIELD: &str = "the field of the data";

/// Warns about a field of the data that the template's helpers hide.
pub(crate) fn helpers_in_data(has_helpers: bool, data: &Json) -> Option<Diagnostic> {
    let clash = has_helpers && data.get(HELPERS).is_some();
    clash.then(|| hidden_by_helpers(FIELD, "/helpers").in_data())
}

fn hidden_by_helpers(what: &str, path: &str) -> Diagnostic {
    let message = format!(
        "expressions cannot access {what} named `helpers`: the name belongs to the template's module"
    );
    Diagnostic::warning("hidden-by-helpers", path, message).with_hint("choose another name")
}

fn messages_of(expression: &CompiledExpression, path: &str) -> Vec<(String, String)> {
    let names = expression.messages.iter();
    names
        .map(|name| (name.to_string(), path.to_owned()))
        .collect()
}

fn diagnostic(failure: Failure, path: &str) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(failure.code, path, failure.message);
    diagnostic.hint = failure.hint;
    diagnostic
}

fn braces_hint(diagnostic: Diagnostic, source: &str) -> Diagnostic {
    if source.contains("{{") {
        return diagnostic.with_hint("this is already an expression: omit the braces");
    }
    diagnostic
}
