//! `platen doctor`: what is installed and whether it works.

mod libreoffice;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

use clap::Args;
use platen_browser::{Image, Mode, find_chromium_in};
use platen_jail::{Jail, Level, Options};
use platen_render::{FolderHost, Format, RenderOptions, Renderer};

use super::{FontArguments, configuration::ConfigurationArguments, isolation};
use crate::report::{Failure, OutputArguments, print_line};

/// Families that documents from elsewhere often name, and Debian's package of each or of a font of
/// the same widths.
const COMMON_FAMILIES: [(&str, &str); 6] = [
    ("Arial", "fonts-liberation"),
    ("Times New Roman", "fonts-liberation"),
    ("Courier New", "fonts-liberation"),
    ("Calibri", "fonts-crosextra-carlito"),
    ("Cambria", "fonts-crosextra-caladea"),
    ("Noto Sans CJK JP", "fonts-noto-cjk"),
];

/// Programs that only the tests and benchmarks of Platen use, and their packages.
const PROGRAMS: [(&str, &str); 2] = [("qpdf", "qpdf"), ("pdftoppm", "poppler-utils")];

/// Arguments of `platen doctor`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    configuration: ConfigurationArguments,
    #[command(flatten)]
    fonts: FontArguments,
}

pub(super) struct Finding {
    name: String,
    good: bool,
    detail: String,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let renderer = Renderer::new(&arguments.fonts.settings());
    let configured = arguments.configuration.load();
    let mut findings = vec![
        finding("version", true, env!("CARGO_PKG_VERSION")),
        render_check(&renderer),
        match &configured {
            Ok(config) => data_dir_check(&config.data_dir),
            Err(failure) => finding("settings", false, failure.message()),
        },
        finding("fonts", true, format!("{} faces", renderer.fonts().count())),
    ];
    for (family, package) in COMMON_FAMILIES {
        let there = renderer.has_family(family);
        let detail = match there {
            true => "found".to_owned(),
            false => format!("not installed, another font is used (Debian: {package})"),
        };
        findings.push(finding(format!("font {family}"), there, detail));
    }
    findings.push(sandbox_check());
    findings.extend(isolation::controller_check());
    findings.extend(isolation::remote_checks());
    findings.push(isolation::isolation_check());
    findings.push(chromium_check());
    findings.push(libreoffice::libreoffice_check());
    for (program, package) in PROGRAMS {
        let found = find_program(program);
        let detail = match &found {
            Some(path) => path.display().to_string(),
            None => format!("not installed, only tests and benchmarks use it (Debian: {package})"),
        };
        findings.push(finding(program, found.is_some(), detail));
    }
    let advice = configured.map_or_else(|_| Vec::new(), |config| config.weaknesses());
    if output.json {
        let advice = advice.iter().map(|one| {
            let name = format!("production {}", one.subject);
            serde_json::json!({"check": name, "good": false, "detail": one.advice})
        });
        let report: Vec<serde_json::Value> = findings
            .iter()
            .map(|one| serde_json::json!({"check": one.name, "good": one.good, "detail": one.detail}))
            .chain(advice)
            .collect();
        print_line(&serde_json::Value::from(report).to_string());
    } else {
        for one in &findings {
            let mark = if one.good { "ok" } else { "--" };
            print_line(&format!("{mark:<3} {:<24} {}", one.name, one.detail));
        }
    }
    let sound = findings.iter().take(3).all(|one| one.good);
    if !output.json {
        print_line(&format!("\n{}", verdict(&findings, sound)));
        if !advice.is_empty() {
            print_line("\nBefore strangers connect, change what HARDEN_PRODUCTION=1 refuses:");
        }
        for one in &advice {
            print_line(&format!("    {:<24} {}", one.subject, one.advice));
        }
    }
    Ok(if sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(2)
    })
}

/// What the findings come to, and what to do next.
fn verdict(findings: &[Finding], sound: bool) -> String {
    if !sound {
        return "This machine cannot make documents: the first lines with -- say why.".to_owned();
    }
    let missing = findings.iter().filter(|one| !one.good);
    let missing: Vec<&str> = missing.map(|one| one.name.as_str()).collect();
    let without = match missing.is_empty() {
        true => String::new(),
        false => format!(" Missing: {}.", missing.join(", ")),
    };
    format!("This machine can make documents.{without} Next: `platen demo`, or `platen serve`.")
}

pub(super) fn finding(name: impl Into<String>, good: bool, detail: impl Into<String>) -> Finding {
    Finding {
        name: name.into(),
        good,
        detail: detail.into(),
    }
}

fn render_check(renderer: &Renderer) -> Finding {
    let template =
        br#"{"key":"doctor","name":"Doctor","body":[{"type":"text","content":"Hello"}]}"#;
    let start = Instant::now();
    let result = platen_render::compile(template).and_then(|template| {
        let (data, options) = (serde_json::json!({}), RenderOptions::default());
        let host = FolderHost::of(&options);
        renderer.render(&template, data, Format::Pdf, &options, &host)
    });
    match result {
        Ok(_) => {
            let elapsed = start.elapsed().as_secs_f64() * 1e3;
            finding("render a PDF", true, format!("{elapsed:.1} ms"))
        }
        Err(error) => finding("render a PDF", false, error.to_string()),
    }
}

fn data_dir_check(folder: &Path) -> Finding {
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

/// Attempts every takeover in a cell of the sandbox for code.
fn sandbox_check() -> Finding {
    let name = "sandbox for code";
    match Jail::start(Options::new(platen_script::KIND)) {
        Ok(jail) => {
            let detail = match jail.level() {
                Level::Full => "full: namespaces, empty root, seccomp; all escape probes failed",
                Level::NoNamespaces => {
                    "no-namespaces: seccomp and limits; the host forbids user namespaces"
                }
                Level::ProcessOnly => "process-only: for trusted code only",
            };
            finding(name, jail.level() >= Level::NoNamespaces, detail)
        }
        Err(error) => finding(name, false, error.to_string()),
    }
}

/// Prints a page, where Chromium is installed.
fn chromium_check() -> Finding {
    let named = std::env::var_os("CHROMIUM_PATH").map(PathBuf::from);
    let program = match isolation::mode() {
        _ if !isolation::remote("CHROMIUM_REMOTE")
            .unwrap_or_default()
            .is_empty() =>
        {
            "remote".to_owned()
        }
        Ok(Mode::Socket(_)) => "by the controller".to_owned(),
        _ => match find_chromium_in(
            &isolation::image().unwrap_or_else(Image::host),
            named.as_deref(),
        ) {
            Ok(program) => program.display().to_string(),
            Err(error) => return finding("chromium", false, format!("HTML to PDF: {error}")),
        },
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let printed = runtime
        .map_err(|error| error.to_string())
        .and_then(|runtime| {
            let printed = runtime.block_on(print_page());
            printed.map_err(|error| platen_render::chain(&*error))
        });
    match printed {
        Ok(detail) => finding("chromium", true, format!("{program}: {detail}")),
        Err(error) => finding("chromium", false, format!("{program}: {error}")),
    }
}

async fn print_page() -> Result<String, Box<dyn std::error::Error>> {
    let config = platen_browser::Config {
        program: std::env::var_os("CHROMIUM_PATH").map(Into::into),
        remote: isolation::remote("CHROMIUM_REMOTE")?,
        slots: 1,
        reserved: 0,
        spares: 1,
        ..platen_browser::Config::default()
    };
    let origin = isolation::origin().await?.origin;
    let start = Instant::now();
    let browser = platen_browser::Browser::new(config, origin, std::env::temp_dir())?;
    let job = || platen_browser::Job {
        source: platen_browser::Source::Document {
            html: "<p>Hello".to_owned(),
            files: std::sync::Arc::new(std::collections::BTreeMap::new()),
        },
        page: platen_browser::PageOptions::default(),
        output: platen_browser::Output::Pdf(platen_browser::PdfOptions::default()),
        lane: platen_browser::Lane::Interactive,
        timeout: std::time::Duration::from_secs(30),
        key: None,
    };
    let first = browser.print(job()).await;
    let elapsed = start.elapsed().as_secs_f64() * 1e3;
    let status = browser.status();
    let result = match first {
        Ok(printed) => printed.bytes().await.map(drop),
        Err(error) => Err(error),
    };
    browser.shutdown(std::time::Duration::ZERO).await;
    result?;
    let version = status.version.unwrap_or_default();
    let network = if status.isolation.network {
        "no network"
    } else {
        "network denied by command-line switches only"
    };
    let sandbox = match status.sandbox {
        Some(true) => ", own sandbox",
        Some(false) => ", without its own sandbox",
        None => "",
    };
    Ok(format!(
        "{version}, {elapsed:.0} ms to start and print, {network}{sandbox}"
    ))
}

fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}
