//! A rendering on a slot: compile where needed, parse the data, render, measure.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use platen_browser::Printed;
use platen_engine::{Page, Template, page_warnings};
use platen_render::{AttachmentRequest, Format, RenderOptions, Rendered, attachments};

use serde_json::Value as Json;

use super::{
    Renderer,
    slots::{Lane, Ticket},
};
use crate::{
    intake::body,
    problem::Problem,
    templates::{Found, Loaded},
};

/// What a slot needs to render.
pub(crate) struct Job {
    pub(crate) found: Found,
    /// JSON, not parsed yet.
    pub(crate) data: Option<Box<str>>,
    pub(crate) format: Format,
    pub(crate) options: RenderOptions,
    pub(crate) attachments: Vec<AttachmentRequest>,
    /// Time to find the template.
    pub(crate) load: Duration,
}

/// What came of it.
pub(crate) struct Done {
    pub(crate) rendered: Rendered,
    /// Version of the stored template.
    pub(crate) version: Option<u32>,
    /// Time from the request being read to the document.
    pub(crate) elapsed: Duration,
    /// `queue`, `load`, `bind`, `layout`, `write`.
    pub(crate) stages: Vec<(&'static str, Duration)>,
}

/// What came of it, where a PDF of Chromium need not be whole.
pub(crate) enum Made {
    Whole(Done),
    /// All but the bytes, which are on their way.
    Stream(Done, Printed),
}

/// Runs a job on a slot of `lane`.
pub(crate) async fn run(renderer: &Arc<Renderer>, lane: Lane, job: Job) -> Result<Done, Problem> {
    let (format, load, start) = (job.format.name(), job.load, Instant::now());
    let mut result = match work(renderer, lane, job, start).await {
        Ok(Made::Whole(done)) => Ok(done),
        Ok(Made::Stream(done, printed)) => whole(done, printed).await,
        Err(problem) => Err(problem),
    };
    count(renderer, format, result.as_ref().err());
    if let Ok(done) = &mut result {
        finish(renderer, done, load + start.elapsed());
    }
    result
}

/// As [`run`]; a PDF of Chromium is given as it comes.
pub(crate) async fn run_streamed(
    renderer: &Arc<Renderer>,
    lane: Lane,
    job: Job,
) -> Result<Made, Problem> {
    let (format, load, start) = (job.format, job.load, Instant::now());
    let mut result = match work(renderer, lane, job, start).await {
        Ok(Made::Stream(done, printed)) if format != Format::Pdf => {
            whole(done, printed).await.map(Made::Whole)
        }
        other => other,
    };
    count(renderer, format.name(), result.as_ref().err());
    match &mut result {
        Ok(Made::Whole(done)) => finish(renderer, done, load + start.elapsed()),
        Ok(Made::Stream(done, _)) => done.elapsed = load + start.elapsed(),
        Err(_) => {}
    }
    result
}

fn count(renderer: &Renderer, format: &'static str, problem: Option<&Problem>) {
    let outcome = problem.map_or("ok", |problem| problem.code);
    renderer.metrics.rendered(format, outcome);
}

fn finish(renderer: &Renderer, done: &mut Done, elapsed: Duration) {
    done.elapsed = elapsed;
    let rendered = &done.rendered;
    renderer
        .metrics
        .produced(rendered.pages, rendered.bytes.len(), &done.stages);
}

async fn whole(mut done: Done, printed: Printed) -> Result<Done, Problem> {
    let begin = Instant::now();
    let bytes = printed.bytes().await;
    done.rendered.bytes = bytes?;
    if let Some((_, print)) = done.stages.last_mut() {
        *print += begin.elapsed();
    }
    Ok(done)
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
        .run(lane, move |ticket| render(&shared, job, ticket));
    match slot.await? {
        Step::Done(done) => Ok(Made::Whole(*done)),
        Step::Print(page, done) => print(renderer, lane, *page, *done, start).await,
    }
}

/// What came of the work on a slot.
enum Step {
    Done(Box<Done>),
    /// A page for Chromium, and all but its bytes.
    Print(Box<Page>, Box<Done>),
}

fn render(renderer: &Renderer, job: Job, ticket: &Ticket) -> Result<Step, Problem> {
    let start = Instant::now();
    let Job {
        found,
        data,
        format,
        options,
        attachments: attached,
        load,
    } = job;
    let version = found.version;
    let template = renderer.templates.compile(&renderer.engine, found)?;
    let text = data.as_deref().unwrap_or("{}");
    let options = RenderOptions {
        attachments: attachments(attached)?,
        stop: Some(Arc::clone(&ticket.stop)),
        ..options
    };
    let template = match &*template {
        Loaded::Here(template) => template,
        Loaded::Source(source) => {
            let stages = vec![("queue", ticket.queued), ("load", load + start.elapsed())];
            let rendered = render_isolated(renderer, source, text, format, &options)?;
            return Ok(done(rendered, version, stages, load + start.elapsed()));
        }
    };
    let value = data_of(text)?;
    // The text of large data is not needed beside its value.
    drop(data);
    let load = load + start.elapsed();
    let mut stages = vec![("queue", ticket.queued), ("load", load)];
    let template = match template {
        Template::Document(template) => template,
        Template::Html(template) => {
            let bind = Instant::now();
            let page = renderer
                .engine
                .bind_html(template, &value, format, &options)?;
            stages.push(("bind", bind.elapsed()));
            let done = Done {
                rendered: Rendered {
                    bytes: Vec::new(),
                    format,
                    pages: None,
                    warnings: page.warnings().to_vec(),
                    stages: Vec::new(),
                },
                version,
                elapsed: load + start.elapsed(),
                stages,
            };
            return Ok(Step::Print(Box::new(page), Box::new(done)));
        }
    };
    let rendered = renderer.engine.render(template, value, format, &options)?;
    Ok(done(rendered, version, stages, load + start.elapsed()))
}

/// Renders in a sandbox, which compiles the template itself.
fn render_isolated(
    renderer: &Renderer,
    source: &[u8],
    data: &str,
    format: Format,
    options: &RenderOptions,
) -> Result<Rendered, Problem> {
    let isolation = renderer.engine.isolation_of_strangers();
    let isolation = isolation.ok_or_else(|| Problem::internal("there is no sandbox"))?;
    let bytes = data.as_bytes();
    let rendered = isolation.render(&renderer.engine, source, bytes, &[format], options);
    let mut rendered =
        rendered.map_err(|error| data_problem(&error, data).unwrap_or_else(|| error.into()))?;
    let first = rendered.pop();
    first.ok_or_else(|| Problem::internal("no document was made"))
}

fn done(
    rendered: Rendered,
    version: Option<u32>,
    mut stages: Vec<(&'static str, Duration)>,
    elapsed: Duration,
) -> Step {
    let inside = rendered.stages.iter();
    stages.extend(inside.map(|stage| (stage.name, stage.duration)));
    Step::Done(Box::new(Done {
        rendered,
        version,
        elapsed,
        stages,
    }))
}

/// The data of a request.
fn data_of(text: &str) -> Result<Json, Problem> {
    serde_json::from_str(text).map_err(|error| body::problem(&error, "`data`"))
}

/// What is said of data that a sandbox could not read: the same as without one.
pub(super) fn data_problem(error: &platen_engine::Error, data: &str) -> Option<Problem> {
    matches!(error, platen_engine::Error::Data(_)).then(|| data_of(data).err())?
}

/// Prints a page by Chromium, which has slots of its own, within what is left of the deadline.
async fn print(
    renderer: &Renderer,
    lane: Lane,
    page: Page,
    mut done: Done,
    start: Instant,
) -> Result<Made, Problem> {
    if page.format() == Format::Html {
        done.rendered.bytes = page.into_html().into_bytes();
        return Ok(Made::Whole(done));
    }
    let lane = match lane {
        Lane::Batch => platen_browser::Lane::Batch,
        Lane::Preview => platen_browser::Lane::Interactive,
    };
    let before = Instant::now();
    let left = renderer.timeout.saturating_sub(start.elapsed());
    let printed = renderer.chromium.print(page.into_job(lane, left)).await?;
    done.rendered
        .warnings
        .extend(page_warnings(&printed.report));
    done.stages.push(("print", before.elapsed()));
    Ok(Made::Stream(done, printed))
}
