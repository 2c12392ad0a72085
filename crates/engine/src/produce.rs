//! The one way to make documents: whatever the template is and wherever it comes from.
//!
//! [`Engine::prepare`] decides what reads the template, [`Engine::produce`] makes its documents. Both
//! block: the caller gives them a thread, and says through [`RenderOptions::stop`] when to end. A page
//! of HTML is only bound there; [`Page::print`] awaits Chromium, which has slots of its own.

use std::{sync::Arc, time::Instant};

use platen_document::html::is_html_template;
use platen_render::{Format, RenderOptions, Rendered, Stage};
use serde_json::Value as Json;

use crate::{Engine, Error, Page, Template};

/// Who wrote a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Whoever runs this process, or somebody whom they let store templates.
    Owner,
    /// A request.
    Stranger,
}

/// A template that documents can be made of.
#[derive(Debug)]
pub enum PreparedTemplate {
    /// Compiled in this process.
    Here(Template),
    /// Its source: sandboxes compile it, each for its own document.
    Isolated(Arc<[u8]>),
}

/// The data of a document.
#[derive(Clone, Debug)]
pub enum Data {
    /// JSON that nobody has parsed.
    Text(Box<str>),
    /// A value.
    Value(Json),
}

/// Documents to make.
#[derive(Debug)]
pub struct Job<'a> {
    /// The template.
    pub template: &'a PreparedTemplate,
    /// What it shows.
    pub data: Data,
    /// Formats, each once; binding and layout are shared.
    pub formats: &'a [Format],
    /// What is made differently than the template says; also when to stop.
    pub options: &'a RenderOptions,
}

/// What came of one format of a job.
#[derive(Debug)]
pub enum Product {
    /// A document.
    Document(Rendered),
    /// A page that Chromium has to print.
    Page(Box<Page>),
}

impl Engine {
    /// Reads and checks the template in `source`, or leaves both to a sandbox: where documents are
    /// made in sandboxes, and for strangers' templates where there are some. Chromium has sandboxes of
    /// its own, so templates of HTML are always read here.
    ///
    /// # Errors
    /// Every mistake in a template that is read here.
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

    /// Makes the documents of `job`, in the order of its formats.
    ///
    /// # Errors
    /// For the first format that fails: mistakes in template and data, options that the template
    /// cannot keep to, [`Error::Data`] for data that is no JSON, and what ends a sandbox.
    pub fn produce(&self, job: Job<'_>) -> Result<Vec<Product>, Error> {
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
    /// The value; the text, which may be large, is not kept beside it.
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
    /// What is not as the template says, as far as it is known.
    #[must_use]
    pub fn warnings(&self) -> &[platen_document::Diagnostic] {
        match self {
            Self::Document(document) => &document.warnings,
            Self::Page(page) => page.warnings(),
        }
    }
}
