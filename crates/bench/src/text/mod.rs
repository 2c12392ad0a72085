//! The pack of typeset text: the same paragraphs, justified and hyphenated, in columns of three
//! widths; what the lines look like, read back from the PDF files, and how long they took.

mod figures;

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde::Serialize;

pub use self::figures::Figures;
use crate::{Error, Progress};

/// Widths of the text, in millimetres.
pub const WIDTHS_MM: [u32; 3] = [160, 85, 58];
/// Languages of the text; each has a file.
pub const LANGUAGES: [&str; 2] = ["en", "de"];
/// The font of the text, whose word space is a quarter of an em.
pub const FONT: &str = "Liberation Serif";
/// Font size, in points.
pub const SIZE: f64 = 10.5;
/// Margins of the pages around the text, in millimetres.
pub const MARGIN_MM: u32 = 20;
/// Default number of renderings, of which the fastest counts.
pub const ROUNDS: usize = 9;

/// A document to set.
#[derive(Clone, Copy, Debug)]
pub struct Job<'t> {
    /// Paragraphs between empty lines.
    pub text: &'t str,
    /// BCP 47 tag of its language.
    pub language: &'static str,
    /// Width of the lines, in millimetres.
    pub width_mm: u32,
}

/// Sets a document `rounds` times: the PDF file, and the shortest time.
pub type Typesetter<'a> = &'a dyn Fn(Job<'_>, usize) -> Result<(Vec<u8>, Duration), String>;

/// What to measure.
pub struct Options<'a> {
    /// Folder with a text for each language.
    pub texts: PathBuf,
    /// Sets text with Platen.
    pub platen: Typesetter<'a>,
    /// The script that sets text with typst, and the Python that has it.
    pub typst: Option<(PathBuf, PathBuf)>,
    /// Folder of the shipped fonts, for typst.
    pub fonts: PathBuf,
    /// Renderings of each document.
    pub rounds: usize,
}

/// A row of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Language of the text.
    pub language: &'static str,
    /// Width of the lines, in millimetres.
    pub width_mm: u32,
    /// `platen` or `typst`.
    pub candidate: &'static str,
    /// The lines.
    pub figures: Figures,
    /// Shortest time from source to PDF, in milliseconds.
    pub time_ms: f64,
}

/// Measures each text at each width.
///
/// # Errors
/// A text cannot be read, typst or pdftotext is missing, a rendering fails.
pub fn run(options: &Options<'_>, progress: Progress<'_>) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for language in LANGUAGES {
        let path = options.texts.join(format!("{language}.txt"));
        let text = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
        for width_mm in WIDTHS_MM {
            progress(&format!("text in {language}, {width_mm} mm wide"));
            let job = Job {
                text: &text,
                language,
                width_mm,
            };
            rows.push(row(job, "platen", options.platen, options.rounds)?);
            if let Some((python, script)) = &options.typst {
                let typst = |job: Job<'_>, rounds| {
                    set_with_typst(python, script, &options.fonts, job, rounds)
                };
                rows.push(row(job, "typst", &typst, options.rounds)?);
            }
        }
    }
    Ok(rows)
}

fn row(
    job: Job<'_>,
    candidate: &'static str,
    typesetter: Typesetter<'_>,
    rounds: usize,
) -> Result<Row, Error> {
    let set = typesetter(job, rounds.max(1));
    let (pdf, time) = set.map_err(|detail| Error::program(candidate, detail))?;
    Ok(Row {
        language: job.language,
        width_mm: job.width_mm,
        candidate,
        figures: Figures::read(&pdf, job.width_mm)?,
        time_ms: time.as_secs_f64() * 1e3,
    })
}

/// Runs the script with the text in a file; it prints the shortest time in milliseconds.
fn set_with_typst(
    python: &Path,
    script: &Path,
    fonts: &Path,
    job: Job<'_>,
    rounds: usize,
) -> Result<(Vec<u8>, Duration), String> {
    let said = |error: std::io::Error| error.to_string();
    let folder = tempfile::tempdir().map_err(said)?;
    let (text, pdf) = (
        folder.path().join("text.txt"),
        folder.path().join("text.pdf"),
    );
    fs::write(&text, job.text).map_err(said)?;
    let mut command = Command::new(python);
    command.arg(script).arg(&text).arg(&pdf).arg(fonts);
    command.args([job.language, FONT]);
    for number in [
        f64::from(job.width_mm),
        f64::from(MARGIN_MM),
        SIZE,
        rounds as f64,
    ] {
        command.arg(number.to_string());
    }
    let output = command.output().map_err(said)?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let time = String::from_utf8_lossy(&output.stdout);
    let time: f64 = (time.trim().parse()).map_err(|_| format!("printed `{}`", time.trim()))?;
    let pdf = fs::read(&pdf).map_err(said)?;
    Ok((pdf, Duration::from_secs_f64(time.max(0.0) / 1e3)))
}

/// The table, in Markdown.
#[must_use]
pub fn to_markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "| text, width | | lines | hyphens | in a row | mean | loosest | lines > 1.5 | > 2 | > 3 | ms |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut previous = None;
    for row in rows {
        let place = (row.language, row.width_mm);
        let name = match previous.replace(place) == Some(place) {
            true => String::new(),
            false => format!("{} {} mm", row.language, row.width_mm),
        };
        let Figures {
            lines,
            hyphens,
            hyphens_in_a_row,
            mean,
            loosest,
            looser,
        } = &row.figures;
        let [half, double, triple] = looser;
        let _ = writeln!(
            text,
            "| {name} | {} | {lines} | {hyphens} | {hyphens_in_a_row} | {mean:.2} | {loosest:.2} | {half} | {double} | {triple} | {:.2} |",
            row.candidate, row.time_ms
        );
    }
    text
}
