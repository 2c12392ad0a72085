//! Documents of `platen render`, by whatever backend they need.

use std::{path::Path, time::Duration};

use clap::{Args, ValueEnum};
use platen_browser::{Browser, Config, Lane};
use platen_document::{
    CompiledHtml, Diagnostic,
    html::{HtmlKind, HtmlPage, HtmlTemplate, is_html_template},
};
use platen_engine::{Engine, Error, Isolation, IsolationSettings, Template};
use platen_fonts::FontSettings;
use platen_render::{Format, RenderOptions, Rendered, chain};
use serde_json::Value as Json;

use super::{
    super::{FontArguments, render::Request},
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
    /// In a fresh sandbox for each.
    Jail,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Render(error) => error.into(),
            Error::Browser(platen_browser::Error::NotInstalled(_)) => {
                Self::caller("Chromium is not installed", platen_browser::INSTALL_HINT)
            }
            Error::Browser(error @ platen_browser::Error::CannotStart { .. }) => {
                Self::caller(chain(&error), "`platen doctor` shows what is installed")
            }
            other => Self::of_fault(other.fault(), chain(&other)),
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
    match compile_page(&engine, request.path, source)? {
        Some(page) => {
            let fonts = request.fonts.settings();
            print_pages(&engine, fonts, &page, &data, formats, options)
        }
        None => Ok(engine.render_source(source, data, formats, options)?),
    }
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
    Isolation::start(settings).map_err(|error| Failure::Internal(error.to_string()))
}

/// The template, where the file is one of HTML.
///
/// # Errors
/// Every mistake in it.
fn compile_page(
    engine: &Engine,
    path: &Path,
    source: &[u8],
) -> Result<Option<CompiledHtml>, Failure> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    if matches!(extension, Some("html" | "htm")) {
        let html = String::from_utf8(source.to_vec())
            .map_err(|_| Failure::caller("the page is not UTF-8", "save it as UTF-8"))?;
        let compiled = platen_document::compile_html(template_of(path, html));
        return compiled.map(Some).map_err(Failure::Mistakes);
    }
    if !is_html_template(source) {
        return Ok(None);
    }
    match engine.compile_any(source)? {
        Template::Html(compiled) => Ok(Some(*compiled)),
        Template::Document(_) => Ok(None),
    }
}

fn template_of(path: &Path, html: String) -> HtmlTemplate {
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
    }
}

/// Prints `data` in each format.
///
/// # Errors
/// Mistakes in the data; a page that cannot be printed; Chromium missing.
fn print_pages(
    engine: &Engine,
    fonts: FontSettings,
    template: &CompiledHtml,
    data: &Json,
    formats: &[Format],
    options: &RenderOptions,
) -> Result<Vec<Rendered>, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::Internal(error.to_string()))?;
    runtime.block_on(async {
        let mut browser: Option<Browser> = None;
        let mut all = Vec::with_capacity(formats.len());
        let mut result = Ok(());
        for format in formats {
            match one(
                engine,
                &fonts,
                template,
                data,
                *format,
                options,
                &mut browser,
            )
            .await
            {
                Ok(rendered) => all.push(rendered),
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        if let Some(browser) = browser {
            browser.shutdown(Duration::ZERO).await;
        }
        result.map(|()| all)
    })
}

async fn one(
    engine: &Engine,
    fonts: &FontSettings,
    template: &CompiledHtml,
    data: &Json,
    format: Format,
    options: &RenderOptions,
    browser: &mut Option<Browser>,
) -> Result<Rendered, Failure> {
    let page = engine.bind_html(template, data, format, options)?;
    let mut warnings = page.warnings().to_vec();
    let bytes = if format == Format::Html {
        page.into_html().into_bytes()
    } else {
        let browser = match browser {
            Some(browser) => browser,
            None => browser.insert(start(fonts.clone()).await?),
        };
        let printed = browser
            .print(page.into_job(Lane::Interactive, TIMEOUT))
            .await;
        let printed = printed.map_err(Error::from)?;
        warnings.extend(platen_engine::page_warnings(&printed.report));
        printed.bytes().await.map_err(Error::from)?
    };
    Ok(Rendered {
        bytes,
        format,
        pages: None,
        warnings,
        stages: Vec::new(),
    })
}

async fn start(fonts: FontSettings) -> Result<Browser, Failure> {
    let refused = |message| Failure::Caller(message, None);
    let config = Config {
        slots: 1,
        fonts,
        ..chromium::config().map_err(refused)?
    };
    chromium::start(config).await.map_err(refused)
}
