//! `platen bench chromium`: how fast this machine prints the pack's pages of HTML by the pool of
//! Chromium's pages: from a cold start, warm, and with more requests than slots.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Args;
use platen_engine::{
    Engine, Format, RenderOptions,
    browser::{
        Browser, Config, Job, Lane, Launcher, Output, PageOptions, PdfOptions, Source, Wait,
    },
};
use tokio::{runtime::Runtime, task::JoinSet};

use super::{
    super::{FontArguments, isolation, read, read_json},
    measure::{Cell, Sample, closed_loop, percentile},
};
use crate::report::{Failure, OutputArguments, print_line, say};

/// Name at one and at five at a time, template, and how many samples of a cell stand for one.
const CELLS: [(&str, &str, &str, usize); 3] = [
    ("html-1p c1", "html-1p c5", "bench-invoice", 1),
    ("html-10p c1", "html-10p c5", "bench-report", 2),
    ("html-100p c1", "html-100p c5", "bench-quarterly", 10),
];
/// Requests of one batch.
const BATCH: usize = 5;
/// How long a page of the second saturation table waits: longer than its processor time.
const WAIT: Duration = Duration::from_millis(250);
const TIMEOUT: Duration = Duration::from_secs(120);

/// Arguments of `platen bench chromium`.
#[derive(Debug, Args)]
pub struct ChromiumArguments {
    /// Pages measured a cell; a tenth of it for a hundred sheets.
    #[arg(long, default_value_t = 100)]
    samples: usize,
    /// Cold starts.
    #[arg(long, default_value_t = 5)]
    starts: usize,
    /// Folder of the examples.
    #[arg(long, default_value = "examples")]
    examples: PathBuf,
    #[command(flatten)]
    fonts: FontArguments,
}

struct Bench {
    runtime: Runtime,
    launcher: Arc<dyn Launcher>,
}

/// Runs it; the cells are those of a warm browser.
pub(super) fn run(
    arguments: &ChromiumArguments,
    output: OutputArguments,
) -> Result<Vec<Cell>, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Internal(error.to_string());
    let runtime = Runtime::new().map_err(|error| failed(&error))?;
    let chosen = runtime.block_on(isolation::launcher());
    let launcher = chosen.map_err(|error| failed(&error))?.launcher;
    let bench = Bench { runtime, launcher };
    let engine = Engine::new(&arguments.fonts.settings());
    let mut pages = Vec::new();
    for (.., key, _) in CELLS {
        let folder = arguments.examples.join(key);
        let template = engine.compile(&read(&folder.join("template.json"))?)?;
        let data = read_json(&folder.join("data.json"))?;
        let options = RenderOptions::default();
        let made = engine.render(&template, data, Format::Html, &options)?;
        let text = String::from_utf8(made.bytes).map_err(|error| failed(&error))?;
        pages.push(Arc::<str>::from(text));
    }
    bench.cold(&pages[0], arguments.starts)?;
    let mut cells = Vec::new();
    for ((one, five, _, share), page) in CELLS.into_iter().zip(&pages) {
        for (name, concurrency) in [(one, 1), (five, 5)] {
            if !output.quiet {
                say(format_args!("{name} ..."));
            }
            let samples = (arguments.samples / share).max(10);
            cells.push(bench.warm(name, page, concurrency, samples)?);
        }
    }
    bench.saturation(&pages[0], arguments.samples)?;
    Ok(cells)
}

fn job(page: &str, wait: Option<Duration>) -> Job {
    Job {
        source: Source::Document {
            html: page.to_owned(),
            files: Arc::new(BTreeMap::new()),
        },
        page: PageOptions {
            wait: wait.map(Wait::Delay).into_iter().collect(),
            ..PageOptions::default()
        },
        output: Output::Pdf(PdfOptions {
            tagged: true,
            ..PdfOptions::default()
        }),
        lane: Lane::Batch,
        timeout: TIMEOUT,
        key: None,
    }
}

/// A whole PDF.
async fn print(browser: &Browser, job: Job) -> Option<Sample> {
    let bytes = browser.print(job).await.ok()?.bytes().await.ok()?;
    Some(Sample {
        size_bytes: bytes.len(),
        pages: None,
        server_ms: None,
    })
}

impl Bench {
    fn browser(&self, slots: usize, spares: usize) -> Result<Browser, Failure> {
        let config = Config {
            program: std::env::var_os("CHROMIUM_PATH").map(Into::into),
            slots,
            reserved: 0,
            spares,
            ..Config::default()
        };
        let _entered = self.runtime.enter();
        Browser::new(config, Arc::clone(&self.launcher), std::env::temp_dir())
            .map_err(|error| Failure::file("use", "the temporary folder", &error))
    }

    fn end(&self, browser: &Browser) {
        self.runtime.block_on(browser.shutdown(Duration::ZERO));
    }

    /// From nothing to a whole PDF.
    fn cold(&self, page: &str, starts: usize) -> Result<(), Failure> {
        let mut times = Vec::new();
        let mut level = "none";
        for _ in 0..starts.max(1) {
            let start = Instant::now();
            let browser = self.browser(1, 0)?;
            let printed = self.runtime.block_on(print(&browser, job(page, None)));
            if printed.is_none() {
                return Err(Failure::Internal("Chromium does not print".to_owned()));
            }
            times.push(start.elapsed().as_secs_f64() * 1e3);
            level = browser.status().isolation.name();
            self.end(&browser);
        }
        times.sort_by(f64::total_cmp);
        print_line("| Cold start to a whole PDF | min | median | max | Isolation |");
        print_line("|---|---|---|---|---|");
        let (least, most) = (times[0], times[times.len() - 1]);
        let median = percentile(&times, 0.5);
        print_line(&format!(
            "| {} starts | {least:.0} ms | {median:.0} ms | {most:.0} ms | {level} |\n",
            times.len()
        ));
        Ok(())
    }

    fn warm(
        &self,
        name: &'static str,
        page: &Arc<str>,
        concurrency: usize,
        samples: usize,
    ) -> Result<Cell, Failure> {
        let browser = self.browser(concurrency, concurrency)?;
        self.runtime.block_on(browser.warm(TIMEOUT));
        let handle = self.runtime.handle();
        let (browser, page) = (&browser, &**page);
        let connect = || Ok(move || handle.block_on(print(browser, job(page, None))));
        let run = closed_loop(concurrency, samples.div_ceil(10), samples, connect)?;
        self.end(browser);
        Ok(Cell::new(name, run))
    }

    /// Strict batches of five on four and on five slots, in turns: what the arithmetic of
    /// `batch / (ceil(batch / slots) * p50)` predicts, and what is measured.
    fn saturation(&self, page: &str, samples: usize) -> Result<(), Failure> {
        print_line(
            "| Batches of five | Slots | p50, one at a time | Predicted RPS | RPS | Client p50 | Client p95 |",
        );
        print_line("|---|---|---|---|---|---|---|");
        for (name, wait) in [("html-1p", None), ("html-1p, waits 250 ms", Some(WAIT))] {
            let alone = self.browser(1, 1)?;
            self.runtime.block_on(alone.warm(TIMEOUT));
            let mut serial = Vec::new();
            for _ in 0..20 {
                let start = Instant::now();
                self.runtime.block_on(print(&alone, job(page, wait)));
                serial.push(start.elapsed().as_secs_f64());
            }
            self.end(&alone);
            serial.sort_by(f64::total_cmp);
            let p50 = percentile(&serial, 0.5);
            for slots in [4, 5] {
                let (rps, mut times) = self.batches(page, wait, slots, samples / BATCH)?;
                times.sort_by(f64::total_cmp);
                let waves = BATCH.div_ceil(slots) as f64;
                let predicted = BATCH as f64 / (waves * p50);
                let [half, most] = [0.5, 0.95].map(|share| percentile(&times, share) * 1e3);
                let p50 = p50 * 1e3;
                print_line(&format!(
                    "| {name} | {slots} | {p50:.1} ms | {predicted:.1} | {rps:.1} | {half:.1} ms | {most:.1} ms |"
                ));
            }
        }
        print_line("");
        Ok(())
    }

    fn batches(
        &self,
        page: &str,
        wait: Option<Duration>,
        slots: usize,
        count: usize,
    ) -> Result<(f64, Vec<f64>), Failure> {
        let browser = Arc::new(self.browser(slots, slots)?);
        self.runtime.block_on(browser.warm(TIMEOUT));
        let count = count.max(4);
        let (elapsed, times) = self.runtime.block_on(async {
            let mut times = Vec::new();
            let start = Instant::now();
            for _ in 0..count {
                let mut batch = JoinSet::new();
                for _ in 0..BATCH {
                    let (browser, job) = (Arc::clone(&browser), job(page, wait));
                    batch.spawn(async move {
                        let start = Instant::now();
                        print(&browser, job).await;
                        start.elapsed().as_secs_f64()
                    });
                }
                times.extend(batch.join_all().await);
            }
            (start.elapsed(), times)
        });
        self.end(&browser);
        Ok(((count * BATCH) as f64 / elapsed.as_secs_f64(), times))
    }
}
