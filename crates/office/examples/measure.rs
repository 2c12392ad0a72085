//! Times of conversions to PDF, by phase, in turns with `soffice --convert-to`:
//! `cargo run --release -p platen-office --example measure -- FOLDER ROUNDS`, where the folder is what
//! `cargo run -p xtask -- office FOLDER` made. `make bench-office` does both.

use std::{
    error::Error,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use platen_office::{
    Config, Job, Office, Source, Target, Times, detect_launcher, find_libreoffice,
};
use tokio::task::JoinSet;

const DOCUMENTS: [&str; 3] = ["letter.docx", "small.docx", "large.docx"];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("a folder of documents is wanted")?);
    let folder = folder.canonicalize()?;
    let rounds: usize = arguments.next().unwrap_or_else(|| "5".to_owned()).parse()?;
    for name in DOCUMENTS {
        compare(&folder.join(name), rounds).await?;
    }
    for processes in [1, 2] {
        for (name, count) in [("letter.docx", 60), ("small.docx", 6)] {
            let rate = rate(&folder.join(name), processes, count).await?;
            println!("{name}: {rate:.2} conversions/s with {processes} processes");
        }
    }
    Ok(())
}

async fn office(slots: usize) -> Result<Office, Box<dyn Error>> {
    let config = Config {
        slots,
        reserved: 0,
        spares: slots,
        ..Config::default()
    };
    let office = Office::new(config, detect_launcher().await, std::env::temp_dir())?;
    if office.warm(Duration::from_secs(60)).await {
        return Ok(office);
    }
    Err("LibreOffice does not start".into())
}

fn job(path: &Path) -> Job {
    Job::new(Source::Path(path.to_owned()), Target::Pdf)
}

async fn compare(path: &Path, rounds: usize) -> Result<(), Box<dyn Error>> {
    let office = office(1).await?;
    office.convert(job(path)).await?;
    let (mut ours, mut alone) = (Vec::new(), Vec::new());
    let mut size = 0;
    for _ in 0..rounds {
        let document = office.convert(job(path)).await?;
        size = document.size_bytes;
        ours.push(document.times);
        alone.push(one_shot(path)?);
    }
    office.shutdown(Duration::ZERO).await;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let of = |part: fn(&Times) -> Duration| middle(ours.iter().map(part).collect());
    println!("{name}: {size} bytes of PDF, median of {rounds}, ms");
    println!(
        "  total {:.1}: detect {:.2} wait {:.2} put {:.2} load {:.1} store {:.1} get {:.2} close {:.1} finish {:.1}; outside LibreOffice {:.2}",
        of(|it| it.total),
        of(|it| it.detect),
        of(|it| it.wait),
        of(|it| it.phases.put),
        of(|it| it.phases.load),
        of(|it| it.phases.store),
        of(|it| it.phases.get),
        of(|it| it.phases.close),
        of(|it| it.finish),
        of(|it| it.total - it.phases.total()),
    );
    println!("  soffice --convert-to {:.1}", middle(alone));
    Ok(())
}

/// Milliseconds.
fn middle(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times
        .get(times.len() / 2)
        .map_or(0.0, |it| it.as_secs_f64() * 1e3)
}

/// One start of LibreOffice for one document, with a profile that is ready.
fn one_shot(path: &Path) -> Result<Duration, Box<dyn Error>> {
    let installation = find_libreoffice(None)?;
    let folder = std::env::temp_dir().join("platen-measure");
    let start = Instant::now();
    let status = std::process::Command::new(&installation.program)
        .arg(format!(
            "-env:UserInstallation=file://{}/profile",
            folder.display()
        ))
        .args(["--headless", "--convert-to", "pdf", "--outdir"])
        .arg(&folder)
        .arg(path)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()?;
    match status.code() {
        // A new profile wants to be started again.
        Some(81) => one_shot(path),
        _ => Ok(start.elapsed()),
    }
}

async fn rate(path: &Path, processes: usize, count: usize) -> Result<f64, Box<dyn Error>> {
    let office = Arc::new(office(processes).await?);
    for _ in 0..processes {
        office.convert(job(path)).await?;
    }
    let start = Instant::now();
    let mut running = JoinSet::new();
    for _ in 0..count {
        let (office, job) = (Arc::clone(&office), job(path));
        running.spawn(async move { office.convert(job).await.map(drop) });
    }
    while let Some(done) = running.join_next().await {
        done??;
    }
    let elapsed = start.elapsed().as_secs_f64();
    office.shutdown(Duration::ZERO).await;
    Ok(f64::from(u32::try_from(count)?) / elapsed)
}
