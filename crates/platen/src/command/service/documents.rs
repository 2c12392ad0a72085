//! Documents of `platen render`, by whatever backend they need.

use std::{path::Path, sync::Arc, time::Duration};

use clap::{Args, ValueEnum};
use platen_browser::{Browser, Config, Lane};
use platen_document::{
    Diagnostic,
    html::{HtmlKind, HtmlPage, HtmlTemplate},
};
use platen_engine::{
    Data, Engine, Error, Isolation, IsolationSettings, Job, Origin, Page, PreparedTemplate,
    Product, Template,
};
use platen_fault::{Backend, Code};
use platen_fonts::FontSettings;
use platen_render::{Rendered, chain};
use serde_json::Value as Json;

use super::{
    super::render::Request,
    FontArguments,
    chromium::{self, TIMEOUT},
    engine,
};
use crate::report::Failure;

/// What makes the documents.
#[derive(Debug, Args)]
pub struct BackendArguments {
    /// Render in this process or in a fresh sandbox.
    #[arg(long, value_enum, default_value_t)]
    isolation: IsolationArgument,
}

/// Where documents are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum IsolationArgument {
    /// In this process.
    #[default]
    Inline,
    /// In a fresh sandbox.
    Jail,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::new(error.code(), chain(&error));
        match error {
            Error::Render(error) => error.into(),
            Error::Browser(platen_browser::Error::NotInstalled(_)) => Self::new(
                Code::BackendMissing(Backend::Chromium),
                "Chromium is not installed",
            )
            .with_hint(platen_browser::INSTALL_HINT),
            _ => failure,
        }
    }
}

/// Makes the documents that `request` asks for.
///
/// # Errors
/// Mistakes in template and data; a page that cannot be printed; Chromium missing.
pub fn render(request: Request<'_>) -> Result<Vec<Rendered>, Failure> {
    let mut engine = engine(request.fonts);
    if request.backend.isolation == IsolationArgument::Jail {
        engine = engine.with_isolation(isolation(request.fonts)?);
    }
    let Request {
        source,
        data,
        formats,
        options,
        ..
    } = request;
    let template = template_of(&engine, request.path, source)?;
    let products = engine.produce(Job {
        template: &template,
        data: Data::Value(data),
        formats,
        options,
    })?;
    let (mut made, mut pages) = (Vec::new(), Vec::new());
    for product in products {
        match product {
            Product::Document(document) => made.push(document),
            Product::Page(page) => pages.push(*page),
        }
    }
    if !pages.is_empty() {
        made.extend(print(pages, request.fonts.settings())?);
    }
    Ok(made)
}

/// Everything about a template and, where it is given, its data.
pub fn validate(source: &[u8], data: Option<&Json>) -> Vec<Diagnostic> {
    platen_engine::validate(source, data)
}

/// A sandbox for renderings.
fn isolation(fonts: &FontArguments) -> Result<Isolation, Failure> {
    let settings = IsolationSettings {
        fonts: fonts.settings(),
        spares: 1,
        ..IsolationSettings::default()
    };
    Isolation::start(settings).map_err(|error| Failure::internal(&error))
}

/// The template in a file: JSON, or a page of HTML.
fn template_of(engine: &Engine, path: &Path, source: &[u8]) -> Result<PreparedTemplate, Failure> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    if !matches!(extension, Some("html" | "htm")) {
        return Ok(engine.prepare(&Arc::from(source), Origin::Owner)?);
    }
    let html = String::from_utf8(source.to_vec())
        .map_err(|_| Failure::caller("the page is not UTF-8", "save it as UTF-8"))?;
    let compiled = platen_document::compile_html(page_template(path, html));
    let compiled = compiled.map_err(|found| Failure::mistakes(Code::InvalidTemplate, found))?;
    Ok(PreparedTemplate::Here(Template::Html(Box::new(compiled))))
}

fn page_template(path: &Path, html: String) -> HtmlTemplate {
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().to_lowercase());
    let key = stem.filter(|stem| platen_document::is_key(stem));
    HtmlTemplate {
        schema: None,
        kind: HtmlKind::Html,
        key: key.unwrap_or_else(|| "page".to_owned()),
        name: String::new(),
        description: None,
        input_schema: None,
        locale: "en-US".to_owned(),
        time_zone: "UTC".to_owned(),
        currency: None,
        messages: std::collections::BTreeMap::new(),
        helpers: None,
        html,
        css: None,
        header: None,
        footer: None,
        assets: std::collections::BTreeMap::new(),
        page: HtmlPage::default(),
        java_script: false,
        pins: platen_document::pins::Pins::default(),
    }
}

/// Prints pages with a Chromium process that is stopped afterwards.
fn print(pages: Vec<Page>, fonts: FontSettings) -> Result<Vec<Rendered>, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::internal(&error))?;
    runtime.block_on(async {
        let browser = start(fonts).await?;
        let printed = print_all(pages, &browser).await;
        browser.shutdown(Duration::ZERO).await;
        Ok(printed?)
    })
}

async fn print_all(pages: Vec<Page>, browser: &Browser) -> Result<Vec<Rendered>, Error> {
    let mut all = Vec::with_capacity(pages.len());
    for page in pages {
        let printed = page
            .print(Lane::Interactive, TIMEOUT, |job| browser.print(job))
            .await?;
        all.push(printed.whole().await?);
    }
    Ok(all)
}

async fn start(fonts: FontSettings) -> Result<Browser, Failure> {
    let config = chromium::config();
    let config = Config {
        slots: 1,
        fonts,
        ..config.map_err(|message| Failure::new(Code::InvalidOption, message))?
    };
    let browser = chromium::start(config).await;
    browser.map_err(|message| Failure::new(Code::BackendUnavailable(Backend::Chromium), message))
}
