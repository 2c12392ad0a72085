//! A rendering: the engine runs on a slot, Chromium prints HTML pages; measures both.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use platen_engine::{Data, PrintedDocument, Product};
use platen_render::{AttachmentRequest, Format, RenderOptions, Rendered, Stage, attachments};

use super::{
    Renderer,
    slots::{Lane, Ticket},
};
use crate::{problem::Problem, templates::Found};

/// Input of a rendering.
pub(crate) struct Job {
    pub(crate) found: Found,
    /// Unparsed JSON.
    pub(crate) data: Option<Box<str>>,
    pub(crate) format: Format,
    pub(crate) options: RenderOptions,
    pub(crate) attachments: Vec<AttachmentRequest>,
    /// Time spent loading the template.
    pub(crate) load: Duration,
}

/// Durations of stages, by name.
pub(crate) type Stages = Vec<(&'static str, Duration)>;

/// A rendered document.
pub(crate) struct Done {
    pub(crate) rendered: Rendered,
    /// Version of the stored template.
    pub(crate) version: Option<u32>,
    /// Time from the end of the request to the document.
    pub(crate) elapsed: Duration,
    /// `queue`, `load`, `bind`, `layout`, `write`.
    pub(crate) stages: Stages,
}

/// A PDF that Chromium is streaming.
pub(crate) struct Streamed {
    pub(crate) document: PrintedDocument,
    /// Version of the stored template.
    pub(crate) version: Option<u32>,
    /// Time from the end of the request to the first bytes.
    pub(crate) elapsed: Duration,
    /// `queue`, `load`, `bind`, `print`.
    pub(crate) stages: Stages,
}

/// Result of a rendering that may stream a PDF from Chromium.
pub(crate) enum Made {
    Whole(Done),
    Stream(Box<Streamed>),
}

/// Runs a job on a slot of `lane`.
pub(crate) async fn run(renderer: &Arc<Renderer>, lane: Lane, job: Job) -> Result<Done, Problem> {
    let (format, load, start) = (job.format.name(), job.load, Instant::now());
    let mut result = match work(renderer, lane, job, start).await {
        Ok(Made::Whole(done)) => Ok(done),
        Ok(Made::Stream(streamed)) => whole(*streamed).await,
        Err(problem) => Err(problem),
    };
    count(renderer, format, result.as_ref().err());
    if let Ok(done) = &mut result {
        finish(renderer, done, load + start.elapsed());
    }
    result
}

/// As [`run`], but streams a PDF from Chromium.
pub(crate) async fn run_streamed(
    renderer: &Arc<Renderer>,
    lane: Lane,
    job: Job,
) -> Result<Made, Problem> {
    let (format, load, start) = (job.format, job.load, Instant::now());
    let mut result = match work(renderer, lane, job, start).await {
        Ok(Made::Stream(streamed)) if format != Format::Pdf => {
            whole(*streamed).await.map(Made::Whole)
        }
        other => other,
    };
    count(renderer, format.name(), result.as_ref().err());
    match &mut result {
        Ok(Made::Whole(done)) => finish(renderer, done, load + start.elapsed()),
        Ok(Made::Stream(streamed)) => streamed.elapsed = load + start.elapsed(),
        Err(_) => {}
    }
    result
}

fn count(renderer: &Renderer, format: &'static str, problem: Option<&Problem>) {
    let outcome = problem.map_or("ok", |problem| problem.code.name());
    renderer.metrics.rendered(format, outcome);
}

fn finish(renderer: &Renderer, done: &mut Done, elapsed: Duration) {
    done.elapsed = elapsed;
    let rendered = &done.rendered;
    renderer
        .metrics
        .produced(rendered.pages, rendered.bytes.len(), &done.stages);
}

async fn whole(streamed: Streamed) -> Result<Done, Problem> {
    let Streamed {
        document,
        version,
        mut stages,
        ..
    } = streamed;
    let begin = Instant::now();
    let rendered = document.whole().await?;
    if let Some((_, print)) = stages.last_mut() {
        *print += begin.elapsed();
    }
    Ok(Done {
        rendered,
        version,
        elapsed: Duration::ZERO,
        stages,
    })
}

async fn work(
    renderer: &Arc<Renderer>,
    lane: Lane,
    job: Job,
    start: Instant,
) -> Result<Made, Problem> {
    let shared = Arc::clone(renderer);
    let slot = renderer
        .slots
        .run(lane, move |ticket| produce(&shared, job, ticket));
    let (product, version, mut stages) = slot.await?;
    match product {
        Product::Document(rendered) => {
            stages.extend(timed(&rendered.stages));
            Ok(Made::Whole(Done {
                rendered,
                version,
                elapsed: start.elapsed(),
                stages,
            }))
        }
        // Chromium has slots of its own, and the rest of the deadline.
        Product::Page(page) => {
            let lane = match lane {
                Lane::Batch => platen_browser::Lane::Batch,
                Lane::Preview => platen_browser::Lane::Interactive,
            };
            let left = renderer.timeout.saturating_sub(start.elapsed());
            let files = page.files().clone();
            let document = page.print(lane, left, |job| renderer.chromium.print(job));
            let document = document.await;
            files.complete().map_err(platen_engine::Error::from)?;
            let document = document?;
            stages.extend(timed(&document.stages));
            Ok(Made::Stream(Box::new(Streamed {
                document,
                version,
                elapsed: start.elapsed(),
                stages,
            })))
        }
    }
}

fn timed(stages: &[Stage]) -> impl Iterator<Item = (&'static str, Duration)> {
    stages.iter().map(|stage| (stage.name, stage.duration))
}

/// The part on a slot: prepares the template and renders the document.
fn produce(
    renderer: &Renderer,
    job: Job,
    ticket: &Ticket,
) -> Result<(Product, Option<u32>, Stages), Problem> {
    let start = Instant::now();
    let version = job.found.version;
    let template = renderer.templates.prepare(&renderer.engine, job.found)?;
    let options = RenderOptions {
        attachments: attachments(job.attachments)?,
        stop: Some(Arc::clone(&ticket.stop)),
        ..job.options
    };
    let load = job.load + start.elapsed();
    let products = renderer.engine.produce(platen_engine::Job {
        template: &template,
        data: Data::Text(job.data.unwrap_or_else(|| "{}".into())),
        formats: &[job.format],
        options: &options,
    });
    let product = products?.pop();
    let product = product.ok_or_else(|| Problem::internal("no document was made"))?;
    Ok((
        product,
        version,
        vec![("queue", ticket.queued), ("load", load)],
    ))
}
