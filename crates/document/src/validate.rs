//! Implements `platen validate`: all diagnostics of a template, with or without data, without
//! rendering.

use serde_json::Value as Json;

use crate::{
    BindOptions, Diagnostic, bind, compile,
    compile::analyse,
    expression::{CompiledExpression, CompiledText},
    host::FixedHost,
    parse::{json_from_bytes, structure_from_json},
    suggestion,
    template::{
        Node, Template,
        visit::{Site, visit},
    },
};

/// All errors and warnings about the template in `bytes`; with `data`, also those of binding it.
#[must_use]
pub fn validate(bytes: &[u8], data: Option<&Json>) -> Vec<Diagnostic> {
    if crate::html::is_html_template(bytes) {
        return crate::html::validate_html(bytes, data);
    }
    let template = match json_from_bytes(bytes).and_then(structure_from_json) {
        Ok(template) => template,
        Err(found) => return found,
    };
    validate_template(template, data)
}

/// Like [`validate`], for a parsed template.
#[must_use]
pub fn validate_template(template: Template, data: Option<&Json>) -> Vec<Diagnostic> {
    let (_, mut found) = analyse(&template);
    if found.iter().any(Diagnostic::is_error) {
        return found;
    }
    let Some(data) = data else {
        unknown_paths(&template, &mut found);
        return found;
    };
    match compile(template) {
        Err(mistakes) => found.extend(mistakes),
        Ok(compiled) => {
            match bind(
                &compiled,
                data,
                &BindOptions::default(),
                &FixedHost::default(),
            ) {
                Ok(document) => found.extend(document.warnings),
                Err(mistakes) => found.extend(mistakes.into_iter().filter(is_certain)),
            }
        }
    }
    found
}

/// Whether a diagnostic holds for any host. The real host may have assets, and runs helpers.
pub(crate) fn is_certain(diagnostic: &Diagnostic) -> bool {
    !matches!(diagnostic.code.as_str(), "unknown-asset" | "helper-failed")
}

/// Warns about paths that start with a name unknown to the schema of the data. Applies only where
/// the schema lists properties; loop variables are known.
fn unknown_paths(template: &Template, found: &mut Vec<Diagnostic>) {
    let Some(schema) = &template.input_schema else {
        return;
    };
    let mut names: Vec<&str> = vec![
        "item",
        "loop",
        "index",
        "group",
        "rows",
        "pageNumber",
        "pageCount",
        "sectionPageNumber",
        "sectionPageCount",
        "column",
        "value",
        "data",
    ];
    names.extend(template.invoice.is_some().then_some("eInvoice"));
    for used in template.macros.values() {
        names.extend(used.parameters.iter().map(String::as_str));
    }
    visit(template, &mut |_, site| {
        if let Site::Node(Node::Repeat(node)) = site {
            names.extend(node.as_name.as_deref());
        }
        if let Site::Node(Node::Table(node)) = site {
            names.extend(node.as_name.as_deref());
            names.extend(
                node.columns
                    .iter()
                    .filter_map(|column| column.as_name.as_deref()),
            );
        }
    });
    let mut check = |path: &str, expression: &CompiledExpression| {
        for used in &expression.paths {
            let first: &str = &used[0];
            if names.contains(&first) {
                continue;
            }
            if let Some((known, wrong)) = unknown_field(schema, used) {
                let message = format!(
                    "the schema of the data has no `{wrong}`, which `{}` uses",
                    used.join(".")
                );
                found.push(
                    Diagnostic::warning("unknown-path", path, message)
                        .with_hint(suggestion::hint(wrong, known)),
                );
            }
        }
    };
    visit(template, &mut |path, site| match site {
        Site::Text(text) => {
            for expression in CompiledText::new(&text.0)
                .iter()
                .flat_map(CompiledText::expressions)
            {
                check(path, expression);
            }
        }
        Site::Expression(expression) => {
            if let Ok(expression) = CompiledExpression::new(&expression.0) {
                check(path, &expression);
            }
        }
        _ => {}
    });
}

/// The properties that the schema lists at the first segment of `path` that it does not know, and
/// that segment.
fn unknown_field<'s, 'p>(
    schema: &'s Json,
    path: &'p [Box<str>],
) -> Option<(Vec<&'s str>, &'p str)> {
    let mut schema = schema;
    for segment in path {
        // A missing property is meaningful only if the schema lists properties at all.
        let properties = schema.get("properties")?.as_object()?;
        match properties.get(segment.as_ref()) {
            Some(next) => schema = next,
            None => return Some((properties.keys().map(String::as_str).collect(), segment)),
        }
    }
    None
}
