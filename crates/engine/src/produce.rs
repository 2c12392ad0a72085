//! The single entry point for rendering, for every kind and origin of template.
//!
//! [`Engine::prepare`] decides where to read the template, [`Engine::produce`] renders its
//! documents. Both block: the caller provides a thread, and stops the job through
//! [`RenderOptions::stop`]. They only bind an HTML page; [`Page::print`] awaits Chromium, which has
//! slots of its own.

use std::{sync::Arc, time::Instant};

use platen_document::html::is_html_template;
use platen_render::{Format, RenderOptions, Rendered, Stage};
use serde_json::Value as Json;

use crate::{Engine, Error, Page, Template};

/// Origin of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The operator, or somebody with permission to store templates.
    Owner,
    /// The request itself: untrusted.
    Stranger,
}

/// A template that is ready to render.
#[derive(Debug)]
pub enum PreparedTemplate {
    /// Compiled in this process.
    Here(Template),
    /// Source only: each sandbox compiles it for its own document.
    Isolated(Arc<[u8]>),
}

/// The data of a document.
#[derive(Clone, Debug)]
pub enum Data {
    /// Unparsed JSON.
    Text(Box<str>),
    /// A parsed value.
    Value(Json),
}

/// Documents to render.
#[derive(Debug)]
pub struct Job<'a> {
    /// The template.
    pub template: &'a PreparedTemplate,
    /// Data to bind.
    pub data: Data,
    /// Formats, each once; they share binding and layout.
    pub formats: &'a [Format],
    /// Settings that override the template's, and the stop flag.
    pub options: &'a RenderOptions,
}

/// Result of a job in one format.
#[derive(Debug)]
pub enum Product {
    /// A document.
    Document(Rendered),
    /// A page for Chromium to print.
    Page(Box<Page>),
}

impl Engine {
    /// Reads and checks the template in `source`, or leaves both to a sandbox: if documents render
    /// in sandboxes, and for untrusted templates if sandboxes are available. Chromium has sandboxes
    /// of its own, so HTML templates are always read in this process.
    ///
    /// # Errors
    /// Every error in a template that is read in this process.
    pub fn prepare(&self, source: &Arc<[u8]>, origin: Origin) -> Result<PreparedTemplate, Error> {
        let is_isolated = || match origin {
            Origin::Owner => self.isolation().is_some(),
            Origin::Stranger => self.isolation_of_strangers().is_some(),
        };
        if !is_html_template(source) && is_isolated() {
            return Ok(PreparedTemplate::Isolated(Arc::clone(source)));
        }
        Ok(PreparedTemplate::Here(self.compile_any(source)?))
    }

    /// Renders the documents of `job`, in the order of its formats.
    ///
    /// # Errors
    /// For the first format that fails: errors in template and data, options that the template does
    /// not support, [`Error::Data`] if the data is not JSON, and the failure of a sandbox.
    pub fn produce(&self, job: Job<'_>) -> Result<Vec<Product>, Error> {
        let span = tracing::info_span!(
            "document",
            platen.formats = ?job.formats,
            platen.sandboxed = matches!(job.template, PreparedTemplate::Isolated(_)),
            error = tracing::field::Empty,
        );
        let _within = span.enter();
        let made = self.produce_within(job);
        if let Err(error) = &made {
            span.record("error", error.code().name());
        }
        made
    }

    fn produce_within(&self, job: Job<'_>) -> Result<Vec<Product>, Error> {
        let Job {
            template,
            data,
            formats,
            options,
        } = job;
        match template {
            PreparedTemplate::Isolated(source) => {
                let isolation = self.isolation_of_strangers();
                let isolation = isolation.ok_or_else(|| Error::bug("there is no sandbox"))?;
                let text = match data {
                    Data::Text(text) => text,
                    Data::Value(value) => value.to_string().into_boxed_str(),
                };
                let made = isolation.render(self, source, text.as_bytes(), formats, options)?;
                Ok(made.into_iter().map(Product::Document).collect())
            }
            PreparedTemplate::Here(Template::Document(template)) => {
                let made = self.render_here(template, data.parse()?, formats, options)?;
                Ok(made.into_iter().map(Product::Document).collect())
            }
            PreparedTemplate::Here(Template::Html(template)) => {
                let data = data.parse()?;
                let bind = |format: &Format| {
                    let start = Instant::now();
                    let mut page = self.bind_html(template, &data, *format, options)?;
                    page.stages.push(Stage {
                        name: "bind",
                        duration: start.elapsed(),
                    });
                    Ok(match format {
                        Format::Html => Product::Document(page.into_html()),
                        _ => Product::Page(Box::new(page)),
                    })
                };
                formats.iter().map(bind).collect()
            }
        }
    }
}

impl Data {
    /// Parses the data, and frees the text, which may be large.
    fn parse(self) -> Result<Json, Error> {
        match self {
            Self::Text(text) => {
                serde_json::from_str(&text).map_err(|error| Error::Data(error.to_string()))
            }
            Self::Value(value) => Ok(value),
        }
    }
}

impl Product {
    /// Deviations from the template known so far.
    #[must_use]
    pub fn warnings(&self) -> &[platen_document::Diagnostic] {
        match self {
            Self::Document(document) => &document.warnings,
            Self::Page(page) => page.warnings(),
        }
    }
}
