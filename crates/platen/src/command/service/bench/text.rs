//! `platen bench text`.

use std::{
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::{Args, ValueEnum};
use platen_bench::text::{self, Job, Options};
use platen_document::host::FixedHost;
use platen_fonts::FontSettings;
use platen_render::{Format, RenderOptions, Renderer};
use serde_json::{Value, json};

use super::progress;
use crate::report::{Failure, OutputArguments, print_line};

/// Arguments of `platen bench text`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen bench text\n  \
    platen bench text --peer typst --python venv/bin/python3\n\n\
    Run it in a source checkout. It needs pdftotext, and for typst a Python with the package typst.")]
pub struct Arguments {
    /// Set the same text with another typesetter, too.
    #[arg(long, value_enum)]
    peer: Option<Peer>,
    /// Python that has the package typst.
    #[arg(long, value_name = "FILE", default_value = "python3")]
    python: PathBuf,
    /// Folder with the texts, and the script that sets them with typst.
    #[arg(long, value_name = "DIR", default_value = "bench/text")]
    texts: PathBuf,
    /// Folder with the shipped fonts, for typst.
    #[arg(long, value_name = "DIR", default_value = "assets/fonts")]
    fonts: PathBuf,
    /// Renderings of each document, of which the fastest counts.
    #[arg(long, default_value_t = text::ROUNDS)]
    rounds: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Peer {
    /// typst, by its package on PyPI.
    Typst,
}

/// Runs the pack.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let renderer = Renderer::new(&FontSettings::default());
    let platen = |job: Job<'_>, rounds| set(&renderer, job, rounds);
    let script = arguments.texts.join("set_with_typst.py");
    let options = Options {
        texts: arguments.texts.clone(),
        platen: &platen,
        typst: (arguments.peer == Some(Peer::Typst)).then(|| (arguments.python.clone(), script)),
        fonts: arguments.fonts.clone(),
        rounds: arguments.rounds,
    };
    let rows = text::run(&options, &progress(output))?;
    if output.json {
        let json = serde_json::to_string(&rows);
        print_line(&json.map_err(|error| Failure::internal(&error))?);
    } else {
        print_line(text::to_markdown(&rows).trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

/// Sets a text from its template to the PDF file. As in a service, fonts and shaped words are kept
/// from round to round.
fn set(renderer: &Renderer, job: Job<'_>, rounds: usize) -> Result<(Vec<u8>, Duration), String> {
    let template = template(job);
    let source = template.to_string();
    let mut fastest = Duration::MAX;
    let mut pdf = Vec::new();
    for _ in 0..rounds {
        let begun = Instant::now();
        let compiled = platen_render::compile(source.as_bytes());
        let compiled = compiled.map_err(|error| error.to_string())?;
        let rendered = renderer.render(
            &compiled,
            json!({}),
            Format::Pdf,
            &RenderOptions::default(),
            &FixedHost::default(),
        );
        pdf = rendered.map_err(|error| error.to_string())?.bytes;
        fastest = fastest.min(begun.elapsed());
    }
    Ok((pdf, fastest))
}

fn template(job: Job<'_>) -> Value {
    let paragraphs = job.text.split("\n\n").map(str::trim);
    let body: Vec<Value> = paragraphs
        .filter(|paragraph| !paragraph.is_empty())
        .map(|paragraph| {
            json!({"type": "text", "content": paragraph, "style": {
                "align": "justify", "hyphenate": true, "fontSize": format!("{}pt", text::SIZE),
            }})
        })
        .collect();
    let margin = text::MARGIN_MM;
    json!({
        "key": "text", "name": "Text", "locale": job.language,
        "theme": {"fonts": {"body": text::FONT}},
        "page": {
            "size": {"width": format!("{}mm", job.width_mm + 2 * margin), "height": "297mm"},
            "margins": format!("{margin}mm"),
        },
        "body": body,
    })
}
