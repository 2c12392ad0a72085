//! `platen render`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Instant,
};

use clap::{Args, ValueEnum};
use platen_document::template::{Orientation, PaperSize};
use platen_fault::Code;
use platen_render::{
    Attachment, CsvOptions, CsvValues, Format, Relationship, RenderOptions, Rendered, Standard,
    is_separator,
};
use serde_json::Value as Json;

#[cfg(not(feature = "service"))]
use super::native as documents;
#[cfg(feature = "service")]
use super::service::documents;
use super::{
    files::{read, read_json, write},
    font_arguments::FontArguments,
    imports,
};
use crate::{
    progress::Progress,
    report::{Failure, OutputArguments, print_line, say},
};

/// Arguments of `platen render`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen render invoice.json data.json -o invoice.pdf -o invoice.docx\n  \
    curl -s https://example.org/data | platen render invoice.json - -o - --format pdf > a.pdf\n  \
    platen render invoice.json data.json -o page.png --page 2 --dpi 150\n  \
    platen render page.html data.json -o page.pdf   (by Chromium)\n  \
    platen render invoice.json data.json -o a.pdf --standard pdf-a-3b --attach factur-x.xml")]
pub struct Arguments {
    /// Template: a JSON file or an HTML page.
    template: PathBuf,
    /// Data: a JSON file, or `-` for standard input.
    data: PathBuf,
    /// Output file, or `-` for standard output; the extension selects the format; repeatable.
    #[arg(long = "output", short, value_name = "FILE", required = true)]
    outputs: Vec<PathBuf>,
    /// Format for `-o -` and for files without a known extension.
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Override the template's locale, for example `de-DE`.
    #[arg(long)]
    locale: Option<String>,
    /// Override the template's time zone, for example `Europe/Berlin`.
    #[arg(long)]
    time_zone: Option<String>,
    /// Override the template's paper size: A4, Letter, ...
    #[arg(long)]
    paper_size: Option<String>,
    /// Override the template's orientation.
    #[arg(long, value_enum)]
    orientation: Option<Turn>,
    /// PDF standard to comply with.
    #[arg(long, value_enum, default_value_t)]
    standard: PdfStandard,
    /// Write an untagged PDF: smaller, but not accessible.
    #[arg(long)]
    untagged: bool,
    /// Attach a file to the PDF; repeatable.
    #[arg(long = "attach", value_name = "FILE")]
    attachments: Vec<PathBuf>,
    /// Page to draw as PNG or SVG, from 1; default: 1.
    #[arg(long)]
    page: Option<u32>,
    /// PNG resolution in dots per inch; default: 144.
    #[arg(long)]
    dpi: Option<f32>,
    /// Name of the table to write as CSV.
    #[arg(long)]
    table: Option<String>,
    /// Bring the fonts in an HTML file, reduced to what it uses.
    #[arg(long)]
    embed_fonts: bool,
    /// Character between the fields of a CSV, or `tab`; default: `,`.
    #[arg(long, value_name = "CHARACTER", value_parser = separator)]
    csv_separator: Option<char>,
    /// Start a CSV with a byte order mark, for Excel.
    #[arg(long)]
    csv_bom: bool,
    /// Quote every field of a CSV.
    #[arg(long)]
    csv_quote_all: bool,
    /// Write the values of a CSV as in the other formats, and not for programs.
    #[arg(long)]
    csv_formatted: bool,
    /// Fixed time for `now()` and file dates, in seconds since 1970; makes the output
    /// reproducible.
    #[arg(long, env = "SOURCE_DATE_EPOCH", value_name = "SECONDS")]
    now: Option<i64>,
    /// Asset folder; default: the template's folder.
    #[arg(long, value_name = "DIR")]
    assets: Option<PathBuf>,
    #[command(flatten)]
    backend: documents::BackendArguments,
    #[command(flatten)]
    fonts: FontArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Turn {
    Portrait,
    Landscape,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum PdfStandard {
    /// PDF 1.7, tagged, to PDF/UA-1.
    #[default]
    PdfUa1,
    /// PDF/A-2b, tagged.
    #[value(name = "pdf-a-2b")]
    PdfA2b,
    /// PDF/A-3b, tagged.
    #[value(name = "pdf-a-3b")]
    PdfA3b,
}

/// Documents that are wanted.
pub struct Request<'a> {
    /// The file of the template.
    pub path: &'a Path,
    /// Its content.
    pub source: &'a [u8],
    /// The data.
    pub data: Json,
    /// Formats, each once.
    pub formats: &'a [Format],
    /// Options that override the template.
    pub options: &'a RenderOptions,
    /// Where fonts come from.
    pub fonts: &'a FontArguments,
    /// What makes the documents.
    #[cfg_attr(not(feature = "service"), expect(dead_code))]
    pub backend: &'a documents::BackendArguments,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let formats = formats(arguments)?;
    let options = options(arguments)?;
    let source = imports::resolve(&arguments.template, read(&arguments.template)?)
        .map_err(|found| Failure::mistakes(Code::InvalidTemplate, found))?;
    let data = read_json(&arguments.data)?;
    let start = Instant::now();
    let progress = Progress::start("rendering", formats.len(), output.quiet || output.json);
    let mut all: Vec<Rendered> = Vec::with_capacity(formats.len());
    // Each format once, however many files want it; formats share binding and layout.
    let mut distinct: Vec<Format> = formats.clone();
    distinct.sort();
    distinct.dedup();
    let rendered = documents::render(Request {
        path: &arguments.template,
        source: &source,
        data,
        formats: &distinct,
        options: &options,
        fonts: &arguments.fonts,
        backend: &arguments.backend,
    })?;
    for (path, format) in arguments.outputs.iter().zip(&formats) {
        if let Some(one) = rendered.iter().find(|one| one.format == *format) {
            write(path, &one.bytes)?;
            all.push(one.clone());
        }
        progress.advance();
    }
    drop(progress);
    tell(arguments, &all, start, output);
    Ok(ExitCode::SUCCESS)
}

fn formats(arguments: &Arguments) -> Result<Vec<Format>, Failure> {
    arguments
        .outputs
        .iter()
        .map(|path| {
            let name = path.display().to_string();
            Format::of_file_name(&name).or(arguments.format).ok_or_else(|| {
                Failure::caller(
                    format!("the format of `{name}` is not known"),
                    "end the name with .pdf, .html, .docx, .pptx, .xlsx, .csv, .png or .svg, or give --format",
                )
            })
        })
        .collect()
}

fn options(arguments: &Arguments) -> Result<RenderOptions, Failure> {
    let mut attachments = Vec::new();
    for path in &arguments.attachments {
        attachments.push(attachment(path)?);
    }
    // A bare file name has the empty path as its parent.
    let folder = arguments.template.parent().map(|folder| match folder {
        empty if empty.as_os_str().is_empty() => PathBuf::from("."),
        folder => folder.to_owned(),
    });
    Ok(RenderOptions {
        locale: arguments.locale.clone(),
        time_zone: arguments.time_zone.clone(),
        paper_size: arguments.paper_size.clone().map(PaperSize::Named),
        orientation: arguments.orientation.map(|turn| match turn {
            Turn::Portrait => Orientation::Portrait,
            Turn::Landscape => Orientation::Landscape,
        }),
        standard: match arguments.standard {
            // What is made where nothing is said; pages of Chromium's cannot claim it.
            PdfStandard::PdfUa1 => None,
            PdfStandard::PdfA2b => Some(Standard::PdfA2b),
            PdfStandard::PdfA3b => Some(Standard::PdfA3b),
        },
        untagged: arguments.untagged,
        attachments,
        page: arguments.page,
        dots_per_inch: arguments.dpi,
        preview: None,
        embed_fonts: arguments.embed_fonts,
        csv: CsvOptions {
            table: arguments.table.clone(),
            delimiter: arguments.csv_separator.unwrap_or(','),
            quote_all: arguments.csv_quote_all,
            bom: arguments.csv_bom,
            values: if arguments.csv_formatted {
                CsvValues::Formatted
            } else {
                CsvValues::Raw
            },
            ..CsvOptions::default()
        },
        now_unix_seconds: arguments.now,
        assets: arguments.assets.clone().or(folder),
        stored: None,
        stop: None,
    })
}

/// Reads the separator of a CSV.
fn separator(text: &str) -> Result<char, String> {
    let mut symbols = text.chars();
    match (text, symbols.next(), symbols.next()) {
        ("tab", ..) => Ok('\t'),
        (_, Some(symbol), None) if is_separator(symbol) => Ok(symbol),
        _ => Err("give one character such as `;` or `|`, or `tab`".to_owned()),
    }
}

fn attachment(path: &Path) -> Result<Attachment, Failure> {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let media_type = match path.extension().and_then(|extension| extension.to_str()) {
        Some("xml") => "text/xml",
        Some("json") => "application/json",
        Some("csv") => "text/csv",
        Some("pdf") => "application/pdf",
        Some("txt") => "text/plain",
        _ => "application/octet-stream",
    };
    Ok(Attachment {
        name,
        media_type: media_type.to_owned(),
        description: None,
        relationship: Relationship::Data,
        bytes: Arc::new(read(path)?),
    })
}

fn tell(arguments: &Arguments, all: &[Rendered], start: Instant, output: OutputArguments) {
    let to_stdout = arguments.outputs.iter().any(|path| path.as_os_str() == "-");
    if output.json && !to_stdout {
        let outputs: Vec<serde_json::Value> = arguments
            .outputs
            .iter()
            .zip(all)
            .map(|(path, one)| {
                serde_json::json!({
                    "file": path.display().to_string(),
                    "format": one.format.name(),
                    "sizeBytes": one.bytes.len(),
                    "pages": one.pages,
                    "warnings": one.warnings,
                })
            })
            .collect();
        let report = serde_json::json!({
            "ok": true,
            "durationMs": start.elapsed().as_secs_f64() * 1e3,
            "outputs": outputs,
        });
        print_line(&report.to_string());
        return;
    }
    if output.quiet {
        return;
    }
    for (path, one) in arguments.outputs.iter().zip(all) {
        for warning in &one.warnings {
            say(format_args!("{}: {warning}", one.format));
        }
        let pages = one.pages.map_or(String::new(), |pages| {
            format!(", {pages} page{}", if pages == 1 { "" } else { "s" })
        });
        say(format_args!(
            "{}: {} bytes{pages}",
            path.display(),
            one.bytes.len()
        ));
    }
}
