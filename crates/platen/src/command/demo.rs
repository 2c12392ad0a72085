//! `platen demo`: one invoice in six formats.

use std::{path::PathBuf, process::ExitCode, time::Instant};

use clap::Args;
use platen_render::{FolderHost, Format, RenderOptions, Renderer};

use super::font_arguments::FontArguments;
use crate::report::{Failure, OutputArguments, say};

const TEMPLATE: &str = include_str!("../../../../examples/bench-invoice/template.json");
const DATA: &str = include_str!("../../../../examples/bench-invoice/data.json");
const FORMATS: [Format; 6] = [
    Format::Pdf,
    Format::Html,
    Format::Docx,
    Format::Pptx,
    Format::Xlsx,
    Format::Csv,
];

/// What to type next.
#[cfg(feature = "service")]
const NEXT: &str = "\
    One template made all six. Next:\n  \
    platen render TEMPLATE DATA -o a.pdf   your own document; examples/ has templates\n  \
    platen serve                           the HTTP service, with an API explorer at /docs";
#[cfg(not(feature = "service"))]
const NEXT: &str = "\
    One template made all six. Next:\n  \
    make run    builds everything and starts the HTTP service, with an API explorer at /docs\n\
    README.md shows how to make a document of your own.";

/// Arguments of `platen demo`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Folder to write to.
    #[arg(long, default_value = "out")]
    out: PathBuf,
    #[command(flatten)]
    fonts: FontArguments,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let folder = arguments.out.display().to_string();
    std::fs::create_dir_all(&arguments.out)
        .map_err(|error| Failure::file("make the folder", &folder, &error))?;
    let renderer = Renderer::new(&arguments.fonts.settings());
    let template = platen_render::compile(TEMPLATE.as_bytes())?;
    let options = RenderOptions::default();
    let host = FolderHost::of(&options);
    let data = serde_json::from_str(DATA).map_err(|error| Failure::internal(&error))?;
    for format in FORMATS {
        let start = Instant::now();
        let rendered = renderer.render(
            &template,
            serde_json::Value::clone(&data),
            format,
            &options,
            &host,
        )?;
        let elapsed = start.elapsed();
        let path = arguments.out.join(format!("invoice.{format}"));
        std::fs::write(&path, &rendered.bytes)
            .map_err(|error| Failure::file("write", &path.display().to_string(), &error))?;
        if !output.quiet {
            say(format_args!(
                "{:<18} {:>7} bytes {:>7.1} ms",
                path.display(),
                rendered.bytes.len(),
                elapsed.as_secs_f64() * 1e3
            ));
            for warning in &rendered.warnings {
                say(format_args!("  {warning}"));
            }
        }
    }
    if !output.quiet {
        say(format_args!("\n{NEXT}"));
    }
    Ok(ExitCode::SUCCESS)
}
