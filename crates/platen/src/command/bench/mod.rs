//! `platen bench`: how fast this machine renders, in this process and over HTTP.

mod chromium;
mod client;
mod flow;
mod measure;

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use clap::{Args, Subcommand};
use platen_engine::{CompiledTemplate, Engine, Format, RenderOptions};
use serde_json::Value as Json;

use self::measure::{Cell, Sample, closed_loop};
use super::{
    FontArguments, read, read_json,
    render::{IsolationArgument, isolation},
};
use crate::report::{Failure, OutputArguments, print_line, say};

/// Name, template, format and how many samples of a cell stand for one of the others.
const CELLS: [(&str, &str, Format, usize); 8] = [
    ("pdf-1p", "bench-invoice", Format::Pdf, 1),
    ("pdf-10p", "bench-report", Format::Pdf, 1),
    ("pdf-100p", "bench-quarterly", Format::Pdf, 10),
    ("format-docx", "bench-report", Format::Docx, 1),
    ("format-pptx", "bench-report", Format::Pptx, 1),
    ("format-xlsx", "bench-report", Format::Xlsx, 1),
    ("format-csv", "bench-report", Format::Csv, 1),
    ("format-html", "bench-report", Format::Html, 1),
];

/// Arguments of `platen bench`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    pack: Pack,
}

#[derive(Debug, Subcommand)]
enum Pack {
    /// Render the documents of the benchmark pack.
    Render(RenderArguments),
    /// Print the pack's pages of HTML by Chromium.
    Chromium(chromium::ChromiumArguments),
    /// Run a flow again and again, with a fresh sandbox for every code step.
    Flow(flow::FlowArguments),
}

/// Arguments of `platen bench render`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen bench render\n  \
    platen bench render --cells pdf-1p,format-docx --samples 500\n  \
    platen bench render --url http://127.0.0.1:3000 --api-key KEY --concurrency 5")]
pub struct RenderArguments {
    /// Cells to measure; all where absent.
    #[arg(long, value_delimiter = ',')]
    cells: Vec<String>,
    /// Renderings before measuring.
    #[arg(long, default_value_t = 20)]
    warmup: usize,
    /// Renderings measured; a tenth of it for a hundred pages.
    #[arg(long, default_value_t = 200)]
    samples: usize,
    /// Renderings at the same time, over HTTP.
    #[arg(long, default_value_t = 5)]
    concurrency: usize,
    /// Address of a running service; without it, this process renders, one document at a time.
    #[arg(long)]
    url: Option<String>,
    /// API key with the admin scope, for the service: the templates are stored first.
    #[arg(long, env = "PLATEN_API_KEY", hide_env_values = true)]
    api_key: Option<String>,
    /// Where documents are made, without `--url`: in this process, or in a fresh sandbox for each.
    #[arg(long, value_enum, default_value_t)]
    isolation: IsolationArgument,
    /// Folder of the examples.
    #[arg(long, default_value = "examples")]
    examples: PathBuf,
    #[command(flatten)]
    fonts: FontArguments,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let cells = match &arguments.pack {
        Pack::Render(render) => render_cells(render, output)?,
        Pack::Chromium(chromium) => chromium::run(chromium, output)?,
        Pack::Flow(flow) => flow::run(flow)?,
    };
    if output.json {
        let rows: Vec<Json> = cells.iter().map(Cell::to_json).collect();
        print_line(&Json::from(rows).to_string());
    } else {
        print_line(measure::HEADER);
        for cell in &cells {
            print_line(&cell.to_row());
        }
    }
    let failed = cells.iter().any(|cell| cell.failures > 0);
    Ok(if failed {
        ExitCode::from(2)
    } else {
        ExitCode::SUCCESS
    })
}

fn render_cells(render: &RenderArguments, output: OutputArguments) -> Result<Vec<Cell>, Failure> {
    let known = |name: &String| CELLS.iter().any(|(cell, ..)| cell == name);
    if let Some(unknown) = render.cells.iter().find(|name| !known(name)) {
        let names: Vec<&str> = CELLS.iter().map(|(name, ..)| *name).collect();
        return Err(Failure::caller(
            format!("there is no cell `{unknown}`"),
            format!("the cells are {}", names.join(", ")),
        ));
    }
    let mut cells = Vec::new();
    let engine = Engine::new(&render.fonts.settings());
    for (name, key, format, share) in CELLS {
        if !render.cells.is_empty() && !render.cells.iter().any(|wanted| wanted == name) {
            continue;
        }
        if !output.quiet {
            say(format_args!("{name} ..."));
        }
        let counts = (render.warmup / share, (render.samples / share).max(5));
        let samples = match &render.url {
            Some(url) => over_http(render, url, key, format, counts)?,
            None if render.isolation == IsolationArgument::Jail => {
                in_jail(render, key, format, counts)?
            }
            None => in_process(render, &engine, key, format, counts)?,
        };
        cells.push(Cell::new(name, samples));
    }
    Ok(cells)
}

fn load(arguments: &RenderArguments, key: &str) -> Result<(Vec<u8>, Vec<u8>), Failure> {
    let folder = arguments.examples.join(key);
    Ok((
        read(&folder.join("template.json"))?,
        read(&folder.join("data.json"))?,
    ))
}

/// One rendering after the other, the data parsed each time as a service would.
fn in_process(
    arguments: &RenderArguments,
    engine: &Engine,
    key: &str,
    format: Format,
    (warmup, samples): (usize, usize),
) -> Result<measure::Run, Failure> {
    let (template, data) = load(arguments, key)?;
    let template: CompiledTemplate = engine.compile(&template)?;
    let options = RenderOptions::default();
    let render = || -> Result<Sample, Failure> {
        let data: Json =
            serde_json::from_slice(&data).map_err(|error| Failure::Internal(error.to_string()))?;
        let rendered = engine.render(&template, data, format, &options)?;
        Ok(Sample {
            size_bytes: rendered.bytes.len(),
            pages: rendered.pages,
            server_ms: None,
        })
    };
    render()?;
    Ok(closed_loop(1, warmup, samples, || Ok(|| render().ok())).unwrap_or_default())
}

/// The same, each in a sandbox of its own, which is sent the template and the data.
fn in_jail(
    arguments: &RenderArguments,
    key: &str,
    format: Format,
    (warmup, samples): (usize, usize),
) -> Result<measure::Run, Failure> {
    let (template, data) = load(arguments, key)?;
    let isolation = isolation(&arguments.fonts)?;
    let engine = arguments.fonts.engine();
    let options = RenderOptions::default();
    let render = || -> Result<Sample, Failure> {
        let rendered = isolation.render(&engine, &template, &data, &[format], &options)?;
        let rendered = rendered
            .first()
            .ok_or_else(|| Failure::Internal("no document was made".to_owned()))?;
        Ok(Sample {
            size_bytes: rendered.bytes.len(),
            pages: rendered.pages,
            server_ms: None,
        })
    };
    render()?;
    Ok(closed_loop(1, warmup, samples, || Ok(|| render().ok())).unwrap_or_default())
}

/// `concurrency` connections, each with one request at a time.
fn over_http(
    arguments: &RenderArguments,
    url: &str,
    key: &str,
    format: Format,
    (warmup, samples): (usize, usize),
) -> Result<measure::Run, Failure> {
    let address = client::address(url)?;
    let (template, data) = load(arguments, key)?;
    let api_key = arguments.api_key.as_deref();
    client::store(&address, api_key, "/templates", &template)?;
    read_json(&arguments.examples.join(key).join("data.json"))?;
    let body: Arc<[u8]> = client::render_body(key, &data).into();
    let path = format!("/render/{format}");
    let connect = || {
        let mut connection = client::Connection::open(&address, api_key)?;
        let (body, path) = (Arc::clone(&body), path.clone());
        Ok(move || connection.render(&path, &body))
    };
    closed_loop(
        arguments.concurrency.clamp(1, 256),
        warmup,
        samples,
        connect,
    )
}
