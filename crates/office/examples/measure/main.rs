//! Times of conversions to PDF, in turns with others that use the same LibreOffice:
//! `cargo run --release -p platen-office --example measure -- FOLDER ROUNDS [PART]`, where the folder
//! is what `cargo run -p xtask -- office FOLDER` made, and the part `compare`, `rate` or `costs`.
//! `make bench-office` does all. `GOTENBERG_URL` adds a Gotenberg, `UNOSERVER` the folder of an
//! unoserver for `/usr/bin/python3`.

mod contestant;
mod costs;
mod soffice;
mod table;

use std::{
    error::Error,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use platen_office::{
    Config, Demand, Job, Launcher, Office, Plain, Source, Target, choose_launcher,
};
use tokio::task::JoinSet;

use crate::{
    contestant::{Contestant, Sample},
    table::{Row, print},
};

pub(crate) type Failure = Box<dyn Error + Send + Sync>;

const DOCUMENTS: [&str; 3] = ["letter.docx", "small.docx", "large.docx"];

fn main() -> Result<(), Failure> {
    let all: Vec<_> = std::env::args_os().collect();
    if let [_, mark, kind, rest @ ..] = all.as_slice()
        && mark == platen_jail::MARK
        && kind == platen_jail::enclosure::KIND
    {
        std::process::exit(platen_jail::enclosure::serve(rest));
    }
    platen_office::announce_walls();
    tokio::runtime::Runtime::new()?.block_on(measure())
}

async fn measure() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("a folder of documents is wanted")?);
    let folder = folder.canonicalize()?;
    let rounds: usize = arguments.next().unwrap_or_else(|| "5".to_owned()).parse()?;
    let part = arguments.next();
    let wants = |name: &str| part.as_deref().is_none_or(|part| part == name);
    if wants("compare") {
        for name in DOCUMENTS {
            compare(&folder.join(name), rounds).await?;
        }
    }
    if wants("rate") {
        rates(&folder, rounds).await?;
    }
    if part.as_deref() == Some("costs") {
        for name in DOCUMENTS {
            costs::compare(&folder.join(name), rounds).await?;
        }
    }
    Ok(())
}

pub(crate) async fn office(slots: usize, launcher: Arc<dyn Launcher>) -> Result<Office, Failure> {
    let config = Config {
        slots,
        reserved: 0,
        spares: slots,
        ..Config::default()
    };
    let start = Instant::now();
    let office = Office::new(config, launcher, std::env::temp_dir())?;
    if office.warm(Duration::from_secs(60)).await {
        let level = office.status().isolation.name();
        let took = start.elapsed().as_secs_f64() * 1e3;
        eprintln!("started {slots} with isolation {level}, with its profile: {took:.0} ms");
        return Ok(office);
    }
    Err("LibreOffice does not start".into())
}

pub(crate) fn job(path: &Path) -> Job {
    Job::new(Source::Path(path.to_owned()), Target::Pdf)
}

async fn compare(path: &Path, rounds: usize) -> Result<(), Failure> {
    let mut all = Contestant::all().await?;
    let mut rows: Vec<Row> = Vec::new();
    for contestant in &mut all {
        contestant.convert(path).await?;
        rows.push(Row::new(contestant.name()));
    }
    for round in 0..rounds {
        // Nobody always follows the same one.
        for step in 0..all.len() {
            let index = (round + step) % all.len();
            let sample: Sample = all[index].convert(path).await?;
            rows[index].samples.push(sample);
        }
    }
    let bytes = path.metadata()?.len();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    print(&format!("{name}, {bytes} bytes, {rounds} rounds"), &rows);
    for contestant in all {
        contestant.end().await;
    }
    Ok(())
}

async fn rates(folder: &Path, rounds: usize) -> Result<(), Failure> {
    let processes = [1, 2, 4];
    let mut offices = Vec::new();
    for count in processes {
        let chosen = choose_launcher(Demand::Auto).await?;
        offices.push(Arc::new(office(count, chosen.launcher).await?));
    }
    println!("\n| Document | Processes | Conversions/s, median (min to max) | of one process |");
    println!("|---|---|---|---|");
    for (name, count) in [("letter.docx", 60), ("small.docx", 8), ("large.docx", 4)] {
        let path = folder.join(name);
        let mut rates = vec![Vec::new(); processes.len()];
        for office in &offices {
            rate(office, &path, 4).await?;
        }
        for _ in 0..rounds.min(5) {
            for (office, rates) in offices.iter().zip(&mut rates) {
                rates.push(rate(office, &path, count).await?);
            }
        }
        let one = table::median(&rates[0]);
        for (count, rates) in processes.iter().zip(&rates) {
            let median = table::median(rates);
            let least = rates.iter().copied().fold(f64::MAX, f64::min);
            let most = rates.iter().copied().fold(0.0, f64::max);
            let factor = median / one;
            println!("| {name} | {count} | {median:.2} ({least:.2} to {most:.2}) | {factor:.2} |");
        }
    }
    for office in offices {
        office.shutdown(Duration::ZERO).await;
    }
    Ok(())
}

async fn rate(office: &Arc<Office>, path: &Path, count: u32) -> Result<f64, Failure> {
    let start = Instant::now();
    let mut running = JoinSet::new();
    for _ in 0..count {
        let (office, job) = (Arc::clone(office), job(path));
        running.spawn(async move { office.convert(job).await.map(drop) });
    }
    while let Some(done) = running.join_next().await {
        done??;
    }
    Ok(f64::from(count) / start.elapsed().as_secs_f64())
}

/// Without walls.
pub(crate) fn plain() -> Arc<dyn Launcher> {
    Arc::new(Plain)
}
