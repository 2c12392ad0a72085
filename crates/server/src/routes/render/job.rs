//! A rendering on a slot: compile where needed, parse the data, render, measure.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use platen_engine::{Format, RenderOptions, Rendered};

use super::{
    data_of,
    request::{AttachmentRequest, attachments},
};
use crate::{
    app::App,
    lane::{Lane, Ticket},
    problem::Problem,
    templates::Found,
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

/// Runs a job on a slot of `lane`.
pub(crate) async fn run(app: &Arc<App>, lane: Lane, job: Job) -> Result<Done, Problem> {
    let format = job.format.name();
    let (start, load) = (Instant::now(), job.load);
    let shared = Arc::clone(app);
    let mut result = app
        .slots
        .run(lane, move |ticket| render(&shared, job, ticket))
        .await;
    let outcome = result
        .as_ref()
        .map_or_else(|problem| problem.code, |_| "ok");
    app.metrics.rendered(format, outcome);
    if let Ok(done) = &mut result {
        done.elapsed = load + start.elapsed();
        let rendered = &done.rendered;
        app.metrics
            .produced(rendered.pages, rendered.bytes.len(), &done.stages);
    }
    result
}

fn render(app: &App, job: Job, ticket: &Ticket) -> Result<Done, Problem> {
    let start = Instant::now();
    let version = job.found.version;
    let template = app.library.compile(&app.engine, job.found)?;
    let data = data_of(job.data.as_deref().unwrap_or("{}"))?;
    // The text of large data is not needed beside its value.
    drop(job.data);
    let options = RenderOptions {
        attachments: attachments(job.attachments)?,
        stop: Some(Arc::clone(&ticket.stop)),
        ..job.options
    };
    let load = job.load + start.elapsed();
    let rendered = app.engine.render(&template, data, job.format, &options)?;
    let mut stages = vec![("queue", ticket.queued), ("load", load)];
    stages.extend(
        rendered
            .stages
            .iter()
            .map(|stage| (stage.name, stage.duration)),
    );
    Ok(Done {
        rendered,
        version,
        elapsed: load + start.elapsed(),
        stages,
    })
}
