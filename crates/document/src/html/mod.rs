//! Templates of kind `html`: HTML and CSS with the same expressions, filters, message catalogs
//! and data checks as documents, printed by Chromium.

mod bind;
mod template;
#[cfg(test)]
mod tests;

pub use self::{
    bind::{HtmlDocument, HtmlFile, Sheet, bind_html, with_style},
    template::{HtmlKind, HtmlPage, HtmlTemplate, json_schema},
};
use crate::{
    Diagnostic, check,
    compile::{HelperUse, check_helpers, uses},
    expression::{Failure, Markup},
    input::InputSchema,
    locale::TimeZone,
    parse::{MAX_DIAGNOSTICS, html_from_json, json_from_bytes},
    validate::is_certain,
};

/// A compiled HTML template.
#[derive(Debug)]
pub struct CompiledHtml {
    template: HtmlTemplate,
    html: Markup,
    header: Option<Markup>,
    footer: Option<Markup>,
    schema: Option<InputSchema>,
    zone: TimeZone,
    helpers: Vec<HelperUse>,
}

impl CompiledHtml {
    /// The template as its author wrote it.
    #[must_use]
    pub fn template(&self) -> &HtmlTemplate {
        &self.template
    }

    /// All calls to helpers. Whether a helper exists is not known here.
    #[must_use]
    pub fn helper_uses(&self) -> &[HelperUse] {
        &self.helpers
    }
}

/// Whether the JSON in `bytes` is a template of kind `html`.
#[must_use]
pub fn is_html_template(bytes: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Head {
        kind: Option<String>,
    }
    let head = serde_json::from_slice::<Head>(bytes);
    head.is_ok_and(|head| head.kind.as_deref() == Some("html"))
}

/// Parses and compiles a template.
///
/// # Errors
/// All errors, each with a pointer.
pub fn parse_html_template(bytes: &[u8]) -> Result<CompiledHtml, Vec<Diagnostic>> {
    compile_html(json_from_bytes(bytes).and_then(html_from_json)?)
}

/// Compiles a template.
///
/// # Errors
/// All errors in the template.
pub fn compile_html(template: HtmlTemplate) -> Result<CompiledHtml, Vec<Diagnostic>> {
    let (compiled, mut found) = analyse_html(template);
    found.retain(Diagnostic::is_error);
    found.truncate(MAX_DIAGNOSTICS);
    match compiled {
        Some(compiled) if found.is_empty() => Ok(compiled),
        _ => Err(found),
    }
}

/// All errors and warnings about the template in `bytes`; with `data`, also those of binding it.
#[must_use]
pub fn validate_html(bytes: &[u8], data: Option<&serde_json::Value>) -> Vec<Diagnostic> {
    let template = match json_from_bytes(bytes).and_then(html_from_json) {
        Ok(template) => template,
        Err(found) => return found,
    };
    let (compiled, mut found) = analyse_html(template);
    if let (Some(compiled), Some(data)) = (&compiled, data) {
        let host = crate::host::FixedHost::default();
        match bind_html(compiled, data, &crate::BindOptions::default(), &host) {
            Ok(document) => found.extend(document.warnings),
            Err(mistakes) => found.extend(mistakes.into_iter().filter(is_certain)),
        }
    }
    found
}

fn analyse_html(template: HtmlTemplate) -> (Option<CompiledHtml>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let mut used = Vec::new();
    let mut helpers = Vec::new();
    let mut markup = |source: &str, path: &str| match Markup::new(source) {
        Ok(markup) => {
            let names = markup.messages.iter();
            used.extend(names.map(|name| (name.to_string(), path.to_owned())));
            helpers.extend(uses(&markup.helpers, path));
            Some(markup)
        }
        Err(failures) => {
            found.extend(
                failures
                    .into_iter()
                    .map(|failure| diagnostic(failure, path)),
            );
            None
        }
    };
    let html = markup(&template.html, "/html");
    let header = template
        .header
        .as_deref()
        .map(|text| markup(text, "/header"));
    let footer = template
        .footer
        .as_deref()
        .map(|text| markup(text, "/footer"));
    let schema = match template.input_schema.as_ref().map(InputSchema::new) {
        Some(Err(mistake)) => {
            found.push(*mistake);
            None
        }
        Some(Ok(schema)) => Some(schema),
        None => None,
    };
    let currency = template.currency.as_deref();
    check::heads(
        &template.key,
        &template.locale,
        &template.time_zone,
        currency,
        &mut found,
    );
    check::messages(&template.messages, &template.locale, &used, &mut found);
    check::assets(&template.assets, &mut found);
    let input = template.input_schema.as_ref();
    check_helpers(template.helpers.as_deref(), &helpers, input, &mut found);
    let is_closed = |css: &String| css.to_ascii_lowercase().contains("</style");
    if template.css.as_ref().is_some_and(is_closed) {
        let message = "a style sheet cannot hold `</style`";
        found.push(Diagnostic::error("invalid-css", "/css", message));
    }
    if found.iter().any(Diagnostic::is_error) {
        return (None, found);
    }
    let compiled = html.map(|html| CompiledHtml {
        html,
        header: header.flatten(),
        footer: footer.flatten(),
        schema,
        zone: TimeZone::named(&template.time_zone).unwrap_or(TimeZone::UTC),
        helpers,
        template,
    });
    (compiled, found)
}

/// Converts a failure, mentioning its line.
fn diagnostic((line, failure): (u32, Failure), path: &str) -> Diagnostic {
    let message = format!("line {line}: {}", failure.message);
    let mut diagnostic = Diagnostic::error(failure.code, path, message);
    diagnostic.hint = failure.hint;
    diagnostic
}
