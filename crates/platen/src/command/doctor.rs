//! `platen doctor`: what is installed and whether it works.

use std::{path::PathBuf, process::ExitCode, time::Instant};

use clap::Args;
use platen_engine::{Engine, Format, RenderOptions};

use super::FontArguments;
use crate::report::{Failure, OutputArguments, print_line};

/// Families that documents from elsewhere often name.
const COMMON_FAMILIES: [&str; 6] = [
    "Arial",
    "Times New Roman",
    "Courier New",
    "Calibri",
    "Cambria",
    "Noto Sans CJK JP",
];

/// Programs that checks and later features use; none is needed to render.
const PROGRAMS: [(&str, &str); 4] = [
    ("soffice", "Office files to PDF"),
    ("chromium", "HTML to PDF"),
    ("qpdf", "checks of PDF files"),
    ("pdftoppm", "pictures of PDF files"),
];

/// Arguments of `platen doctor`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Folder that the service would keep its data in.
    #[arg(long, env = "PLATEN_DATA_DIR", default_value = "platen-data")]
    data_dir: PathBuf,
    #[command(flatten)]
    fonts: FontArguments,
}

struct Finding {
    name: String,
    good: bool,
    detail: String,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let engine = arguments.fonts.engine();
    let mut findings = vec![
        finding("version", true, env!("CARGO_PKG_VERSION")),
        render_check(&engine),
        data_dir_check(arguments),
        finding("fonts", true, format!("{} faces", engine.fonts().count())),
    ];
    for family in COMMON_FAMILIES {
        let there = engine.has_family(family);
        let detail = if there {
            "found"
        } else {
            "not installed; another font stands in"
        };
        findings.push(finding(format!("font {family}"), there, detail));
    }
    for (program, purpose) in PROGRAMS {
        let found = find_program(program);
        let detail = match &found {
            Some(path) => format!("{} ({purpose})", path.display()),
            None => format!("not installed ({purpose})"),
        };
        findings.push(finding(program, found.is_some(), detail));
    }
    if output.json {
        let report: Vec<serde_json::Value> = findings
            .iter()
            .map(|one| serde_json::json!({"check": one.name, "good": one.good, "detail": one.detail}))
            .collect();
        print_line(&serde_json::Value::from(report).to_string());
    } else {
        for one in &findings {
            let mark = if one.good { "ok" } else { "--" };
            print_line(&format!("{mark:<3} {:<24} {}", one.name, one.detail));
        }
    }
    let sound = findings.iter().take(3).all(|one| one.good);
    Ok(if sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(2)
    })
}

fn finding(name: impl Into<String>, good: bool, detail: impl Into<String>) -> Finding {
    Finding {
        name: name.into(),
        good,
        detail: detail.into(),
    }
}

fn render_check(engine: &Engine) -> Finding {
    let template =
        br#"{"key":"doctor","name":"Doctor","body":[{"type":"text","content":"Hello"}]}"#;
    let start = Instant::now();
    let result = engine.compile(template).and_then(|template| {
        let data = serde_json::json!({});
        engine.render(&template, data, Format::Pdf, &RenderOptions::default())
    });
    match result {
        Ok(_) => {
            let elapsed = start.elapsed().as_secs_f64() * 1e3;
            finding("render a PDF", true, format!("{elapsed:.1} ms"))
        }
        Err(error) => finding("render a PDF", false, error.to_string()),
    }
}

fn data_dir_check(arguments: &Arguments) -> Finding {
    let folder = &arguments.data_dir;
    let nearest = folder.ancestors().find(|path| path.is_dir());
    let here = PathBuf::from(".");
    let probe = nearest
        .filter(|path| !path.as_os_str().is_empty())
        .unwrap_or(&here)
        .join(format!(".platen-doctor-{}", std::process::id()));
    let result = std::fs::write(&probe, b"x").and_then(|()| std::fs::remove_file(&probe));
    match result {
        Ok(()) => finding(
            "data folder",
            true,
            format!("{} can be written", folder.display()),
        ),
        Err(error) => finding(
            "data folder",
            false,
            format!("{}: {error}", folder.display()),
        ),
    }
}

fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}
