//! A rendering on a slot: compile where needed, parse the data, render, measure.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use platen_browser::Printed;
use platen_engine::{Page, Template, page_warnings};
use platen_render::{AttachmentRequest, Format, RenderOptions, Rendered, attachments};

use super::data_of;
use crate::{
    app::App,
    lane::{Lane, Ticket},
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
pub(crate) async fn run(app: &Arc<App>, lane: Lane, job: Job) -> Result<Done, Problem> {
    let (format, load, start) = (job.format.name(), job.load, Instant::now());
    let mut result = match work(app, lane, job, start).await {
        Ok(Made::Whole(done)) => Ok(done),
        Ok(Made::Stream(done, printed)) => whole(done, printed).await,
        Err(problem) => Err(problem),
    };
    count(app, format, result.as_ref().err());
    if let Ok(done) = &mut result {
        finish(app, done, load + start.elapsed());
    }
    result
}

/// As [`run`]; a PDF of Chromium is given as it comes.
pub(crate) async fn run_streamed(app: &Arc<App>, lane: Lane, job: Job) -> Result<Made, Problem> {
    let (format, load, start) = (job.format, job.load, Instant::now());
    let mut result = match work(app, lane, job, start).await {
        Ok(Made::Stream(done, printed)) if format != Format::Pdf => {
            whole(done, printed).await.map(Made::Whole)
        }
        other => other,
    };
    count(app, format.name(), result.as_ref().err());
    match &mut result {
        Ok(Made::Whole(done)) => finish(app, done, load + start.elapsed()),
        Ok(Made::Stream(done, _)) => done.elapsed = load + start.elapsed(),
        Err(_) => {}
    }
    result
}

fn count(app: &App, format: &'static str, problem: Option<&Problem>) {
    let outcome = problem.map_or("ok", |problem| problem.code);
    app.metrics.rendered(format, outcome);
}

fn finish(app: &App, done: &mut Done, elapsed: Duration) {
    done.elapsed = elapsed;
    let rendered = &done.rendered;
    app.metrics
        .produced(rendered.pages, rendered.bytes.len(), &done.stages);
}

async fn whole(mut done: Done, printed: Printed) -> Result<Done, Problem> {
    let begin = Instant::now();
    let bytes = printed.bytes().await;
    done.rendered.bytes = bytes.map_err(crate::chromium::of_browser)?;
    if let Some((_, print)) = done.stages.last_mut() {
        *print += begin.elapsed();
    }
    Ok(done)
}

async fn work(app: &Arc<App>, lane: Lane, job: Job, start: Instant) -> Result<Made, Problem> {
    let shared = Arc::clone(app);
    let slot = app
        .slots
        .run(lane, move |ticket| render(&shared, job, ticket));
    match slot.await? {
        Step::Done(done) => Ok(Made::Whole(*done)),
        Step::Print(page, done) => print(app, lane, *page, *done, start).await,
    }
}

/// What came of the work on a slot.
enum Step {
    Done(Box<Done>),
    /// A page for Chromium, and all but its bytes.
    Print(Box<Page>, Box<Done>),
}

fn render(app: &App, job: Job, ticket: &Ticket) -> Result<Step, Problem> {
    let start = Instant::now();
    let version = job.found.version;
    let template = app.library.compile(&app.engine, job.found)?;
    let template = match &*template {
        Loaded::Here(template) => template,
        Loaded::Source(source) => {
            let isolation = app.engine.isolation_of_strangers();
            let isolation = isolation.ok_or_else(|| Problem::internal("there is no sandbox"))?;
            let options = RenderOptions {
                attachments: attachments(job.attachments)?,
                stop: Some(Arc::clone(&ticket.stop)),
                ..job.options
            };
            let stages = vec![
                ("queue", ticket.queued),
                ("load", job.load + start.elapsed()),
            ];
            let data = job.data.as_deref().unwrap_or("{}");
            let mut rendered = isolation
                .render(
                    &app.engine,
                    source,
                    data.as_bytes(),
                    &[job.format],
                    &options,
                )
                .map_err(|error| data_problem(&error, data).unwrap_or_else(|| error.into()))?;
            let Some(rendered) = rendered.pop() else {
                return Err(Problem::internal("no document was made"));
            };
            return Ok(done(rendered, version, stages, job.load + start.elapsed()));
        }
    };
    let data = data_of(job.data.as_deref().unwrap_or("{}"))?;
    // The text of large data is not needed beside its value.
    drop(job.data);
    let options = RenderOptions {
        attachments: attachments(job.attachments)?,
        stop: Some(Arc::clone(&ticket.stop)),
        ..job.options
    };
    let load = job.load + start.elapsed();
    let mut stages = vec![("queue", ticket.queued), ("load", load)];
    let template = match template {
        Template::Document(template) => template,
        Template::Html(template) => {
            let bind = Instant::now();
            let page = app
                .engine
                .bind_html(template, &data, job.format, &options)?;
            stages.push(("bind", bind.elapsed()));
            let done = Done {
                rendered: Rendered {
                    bytes: Vec::new(),
                    format: job.format,
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
    let rendered = app.engine.render(template, data, job.format, &options)?;
    Ok(done(rendered, version, stages, load + start.elapsed()))
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

/// What is said of data that a sandbox could not read: the same as without one.
pub(super) fn data_problem(error: &platen_engine::Error, data: &str) -> Option<Problem> {
    matches!(error, platen_engine::Error::Data(_)).then(|| data_of(data).err())?
}

/// Prints a page by Chromium, which has slots of its own, within what is left of the deadline.
async fn print(
    app: &App,
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
    let left = app.config.render_timeout().saturating_sub(start.elapsed());
    let printed = app.chromium.print(page.into_job(lane, left)).await?;
    done.rendered
        .warnings
        .extend(page_warnings(&printed.report));
    done.stages.push(("print", before.elapsed()));
    Ok(Made::Stream(done, printed))
}
