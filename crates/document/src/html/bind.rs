//! Binding: an HTML template and data become a page with its files and sheet.

use std::sync::Arc;

use serde_json::Value as Json;

use super::{CompiledHtml, diagnostic};
use crate::{
    BindOptions, Diagnostic, Host,
    bind::{MAX_DATA_DEPTH, image::decode},
    check::margins,
    compile::helpers_in_data,
    expression::{Evaluation, Markup, Shared},
    locale::{Locale, TimeZone},
    message,
    template::Orientation,
};

/// Maximum length of the page, in bytes.
const MAX_HTML_BYTES: usize = 64 << 20;
/// Maximum length of a header or footer, in bytes.
const MAX_MARGIN_BYTES: usize = 1 << 20;
/// Elements that Chromium fills in by their class.
const PAGE_FIELDS: [(&str, &str); 2] = [
    ("pageNumber", "<span class=\"pageNumber\"></span>"),
    ("pageCount", "<span class=\"totalPages\"></span>"),
];

/// A page ready to print.
#[derive(Clone, Debug)]
pub struct HtmlDocument {
    /// The page, including its style sheet.
    pub html: String,
    /// Header of every sheet; empty for none.
    pub header: String,
    /// Footer of every sheet; empty for none.
    pub footer: String,
    /// Files that the template contains.
    pub files: Vec<HtmlFile>,
    /// The sheet.
    pub sheet: Sheet,
    /// Whether the page's scripts run.
    pub java_script: bool,
    /// Warnings from binding.
    pub warnings: Vec<Diagnostic>,
}

/// A file that the page may load.
#[derive(Clone, Debug)]
pub struct HtmlFile {
    /// Name, relative to the page.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// Its content.
    pub bytes: Arc<[u8]>,
}

/// The sheet of paper. Lengths are in points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sheet {
    /// Width, with the orientation applied.
    pub width: f32,
    /// Height, with the orientation applied.
    pub height: f32,
    /// Margins: top, right, bottom, left.
    pub margins: [f32; 4],
    /// Whether backgrounds are printed.
    pub background: bool,
    /// Scale factor of the content.
    pub scale: f32,
}

/// Binds `compiled` to `data`.
///
/// # Errors
/// All errors in the data, and the first in each of page, header and footer.
pub fn bind_html(
    compiled: &CompiledHtml,
    data: &Json,
    options: &BindOptions,
    host: &dyn Host,
) -> Result<HtmlDocument, Vec<Diagnostic>> {
    if crate::parse::depth_exceeds(data, MAX_DATA_DEPTH) {
        let message = format!("the data is nested deeper than {MAX_DATA_DEPTH} levels");
        return Err(vec![Diagnostic::error("too-deep", "", message).in_data()]);
    }
    if let Some(schema) = &compiled.schema {
        let found = schema.check(data);
        if !found.is_empty() {
            return Err(found);
        }
    }
    let evaluation = evaluation(compiled, options, host).map_err(|mistake| vec![*mistake])?;
    let template = compiled.template();
    let mut found = Vec::new();
    let mut write = |markup: Option<&Markup>, path: &str, fields: &[(&str, &str)], max| {
        let Some(markup) = markup else {
            return String::new();
        };
        let written = markup.write(data, fields, &evaluation, max);
        written.unwrap_or_else(|failure| {
            found.push(diagnostic(failure, path));
            String::new()
        })
    };
    let html = write(Some(&compiled.html), "/html", &[], MAX_HTML_BYTES);
    let header = write(
        compiled.header.as_ref(),
        "/header",
        &PAGE_FIELDS,
        MAX_MARGIN_BYTES,
    );
    let footer = write(
        compiled.footer.as_ref(),
        "/footer",
        &PAGE_FIELDS,
        MAX_MARGIN_BYTES,
    );
    let files = files(template, &mut found);
    let sheet = sheet(template, options, &mut found);
    let clash = helpers_in_data(template.helpers.is_some(), data);
    if !found.is_empty() {
        found.extend(clash);
        return Err(found);
    }
    let mut warnings = Vec::from_iter(clash);
    if evaluation.shared.cleaned().control {
        let message = "control characters in the data were replaced";
        warnings.push(Diagnostic::warning("control-characters", "", message).in_data());
    }
    if evaluation.shared.cleaned().bidi {
        let message = "characters that change the direction of text were removed from the data";
        warnings.push(Diagnostic::warning("bidi-controls", "", message).in_data());
    }
    Ok(HtmlDocument {
        html: with_style(html, template.css.as_deref()),
        header,
        footer,
        files,
        sheet,
        java_script: template.java_script,
        warnings,
    })
}

fn evaluation(
    compiled: &CompiledHtml,
    options: &BindOptions,
    host: &dyn Host,
) -> Result<Evaluation, Box<Diagnostic>> {
    let template = compiled.template();
    let tag = options.locale.as_deref().unwrap_or(&template.locale);
    let locale =
        Locale::new(tag).map_err(|reason| Diagnostic::error("unknown-locale", "", reason))?;
    let messages = message::merge(&template.messages, locale.tag(), &template.locale);
    let zone = match &options.time_zone {
        None => compiled.zone.clone(),
        Some(name) => TimeZone::named(name).ok_or_else(|| {
            let message = format!("unknown time zone `{name}`");
            Diagnostic::error("unknown-time-zone", "", message)
                .with_hint("use an IANA name such as `Europe/Berlin`")
        })?,
    };
    let shared = Shared::new(
        Arc::new(locale),
        Arc::new(messages),
        zone,
        template.currency.clone(),
        host.now_unix_seconds(),
        options.limits.work,
    );
    Ok(Evaluation::new(
        shared.with_helpers(template.helpers.is_some(), host.helpers()),
    ))
}

fn files(template: &super::HtmlTemplate, found: &mut Vec<Diagnostic>) -> Vec<HtmlFile> {
    let mut files = Vec::new();
    for (name, address) in &template.assets {
        match decode(address) {
            Ok(bytes) => {
                let head = address.trim_start_matches("data:").split([';', ',']).next();
                files.push(HtmlFile {
                    name: name.clone(),
                    media_type: head.unwrap_or_default().to_owned(),
                    bytes,
                });
            }
            Err(failure) => {
                let path = crate::pointer::join("/assets", name);
                found.push(Diagnostic::error("invalid-asset", path, failure.message));
            }
        }
    }
    files
}

fn sheet(
    template: &super::HtmlTemplate,
    options: &BindOptions,
    found: &mut Vec<Diagnostic>,
) -> Sheet {
    let page = &template.page;
    let size = options.paper_size.as_ref().or(page.size.as_ref());
    let size = match size.map(|size| size.dimensions()) {
        None => (595.276, 841.89),
        Some(Some(size)) => size,
        Some(None) => {
            let message = "unknown paper size";
            found.push(Diagnostic::error("unknown-value", "/page/size", message));
            (595.276, 841.89)
        }
    };
    let orientation = options.orientation.or(page.orientation).unwrap_or_default();
    let (width, height) = match orientation {
        Orientation::Portrait => size,
        Orientation::Landscape => (size.1, size.0),
    };
    let margins = margins(page.margins.as_ref());
    if margins[0] + margins[2] >= height || margins[1] + margins[3] >= width {
        let message = "the margins leave no room on the page";
        found.push(Diagnostic::error("out-of-range", "/page/margins", message));
    }
    Sheet {
        width,
        height,
        margins,
        background: page.background.unwrap_or(true),
        scale: page.scale.unwrap_or(1.0),
    }
}

/// Inserts the style sheet into the head of the page, or at its start if there is none.
#[must_use]
pub fn with_style(html: String, css: Option<&str>) -> String {
    let Some(css) = css else { return html };
    let style = format!("<style>{css}</style>");
    let lower = html.to_ascii_lowercase();
    let at = lower.find("</head>").or_else(|| {
        let doctype = lower.trim_start().starts_with("<!doctype");
        let end = lower.find('>').filter(|_| doctype)?;
        Some(end + 1)
    });
    let at = at.unwrap_or(0);
    format!("{}{style}{}", &html[..at], &html[at..])
}
