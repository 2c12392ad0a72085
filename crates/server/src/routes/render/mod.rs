//! The render API.

pub(crate) mod async_job;
pub(crate) mod batch;
pub(crate) mod create;
pub(crate) mod declaration;
pub(crate) mod html;
pub(crate) mod package;
pub(crate) mod preview;
pub(crate) mod request;
pub(crate) mod response;

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use platen_fault::{Code, Resource};
use platen_render::Format;
use platen_storage::DraftStore;

use self::request::RenderRequest;
use crate::{
    flows::Flows, intake::Intake, problem::Problem, rate_limit::RateLimit, rendering::Renderer,
    results::Results,
};

/// State of the render handlers.
#[derive(Clone)]
pub(crate) struct RenderApi {
    pub(crate) renderer: Arc<Renderer>,
    pub(crate) drafts: Arc<dyn DraftStore>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) results: Arc<Results>,
    pub(crate) flows: Arc<Flows>,
    pub(crate) batches: Arc<BatchLimits>,
}

/// Limits of batches.
pub(crate) struct BatchLimits {
    /// Most items of a batch.
    pub(crate) max_items: usize,
    /// Largest total size of the documents of a batch in memory. Bytes.
    pub(crate) max_bytes: u64,
    /// Items of a batch that render concurrently.
    pub(crate) concurrency: usize,
    /// Renderings per minute and client; each item counts.
    pub(crate) rate: Arc<RateLimit>,
}

/// The format in the path.
pub(crate) struct PathFormat(pub(crate) Format);

impl<S: Sync + Send> FromRequestParts<S> for PathFormat {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.ok()
            .and_then(|name| name.parse().ok())
            .map(Self)
            .ok_or_else(|| {
                let detail = "the formats are pdf, html, docx, pptx, xlsx, csv, png and svg";
                Problem::new(Code::NotFound(Resource::Format), detail)
            })
    }
}

/// Rejects a body whose format differs from the one in the path.
fn check_format(request: &RenderRequest, format: Format) -> Result<(), Problem> {
    match request.format {
        Some(other) if Format::from(other) != format => Err(Problem::new(
            Code::InvalidRequest,
            format!("`format` is not {format}, the format in the path"),
        )),
        _ => Ok(()),
    }
}
