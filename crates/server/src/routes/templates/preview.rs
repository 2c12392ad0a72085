//! Page previews and validation of templates, on the preview lane.

use std::{ops::RangeInclusive, sync::Arc};

use axum::{body::Body, extract::State, response::Response};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hyper::{
    HeaderMap, StatusCode,
    header::{CACHE_CONTROL, HeaderValue},
};
use platen_fault::Code;
use platen_render::{Format, RenderOptions};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json, value::RawValue};

use super::{TemplateApi, draft::sample};
use crate::{
    intake::body,
    operation::{Kind, Route, query},
    problem::Problem,
    rendering::{
        job::{self, Job},
        slots::Lane,
    },
    routes::{
        extract::{KeyPath, Query},
        render::response::answer,
    },
};

/// Resolutions of a preview.
const DOTS_PER_INCH: RangeInclusive<f32> = 10.0..=1200.0;

/// Query of a preview.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PreviewQuery {
    page: Option<u32>,
    version: Option<u32>,
    /// JSON in base64url without padding.
    data: Option<String>,
    /// Whether to use the sample data if there is no `data`.
    sample: Option<bool>,
    locale: Option<String>,
    dpi: Option<f32>,
}

/// What to validate.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValidateTemplateRequest {
    /// A template to check instead of the stored one.
    #[schemars(with = "Option<platen_document::template::Template>")]
    definition: Option<Box<RawValue>>,
    /// Version to check; by default the current one.
    version: Option<u32>,
    /// Data to check with the template.
    #[schemars(with = "Option<Json>")]
    data: Option<Box<RawValue>>,
}

/// Declares the common part of both previews.
pub(super) fn described(route: Route<TemplateApi>) -> Route<TemplateApi> {
    let number = || json!({"type": "integer", "minimum": 1});
    let dpi = json!({"type": "number", "minimum": 10, "maximum": 1200, "default": 144});
    let string = || json!({"type": "string"});
    route
        .kind(Kind::Render)
        .summary("Renders one page as an image, in the slots reserved for previews.")
        .key()
        .parameter(query("page", number(), "Page number, from 1."))
        .parameter(query(
            "version",
            number(),
            "Version; by default the current one.",
        ))
        .parameter(query(
            "data",
            string(),
            "Data: JSON in base64url; `{}` by default.",
        ))
        .parameter(query(
            "sample",
            json!({"type": "boolean"}),
            "Uses the sample data of the template, if there is some and no `data`.",
        ))
        .parameter(query("locale", string(), "BCP 47 locale."))
        .parameter(query("dpi", dpi, "Resolution of a PNG."))
}

/// Renders a page of a template as PNG.
pub(crate) async fn preview_template_png(
    State(api): State<TemplateApi>,
    path: KeyPath,
    Query(query): Query<PreviewQuery>,
) -> Result<Response, Problem> {
    preview(&api, path, query, Format::Png).await
}

/// Renders a page of a template as SVG.
pub(crate) async fn preview_template_svg(
    State(api): State<TemplateApi>,
    path: KeyPath,
    Query(query): Query<PreviewQuery>,
) -> Result<Response, Problem> {
    preview(&api, path, query, Format::Svg).await
}

async fn preview(
    api: &TemplateApi,
    path: KeyPath,
    query: PreviewQuery,
    format: Format,
) -> Result<Response, Problem> {
    if (query.dpi).is_some_and(|dpi| !DOTS_PER_INCH.contains(&dpi)) {
        let detail = "`dpi` is from 10 to 1200";
        return Err(Problem::new(Code::InvalidRequest, detail));
    }
    let data = match (&query.data, query.sample) {
        (Some(data), _) => Some(decoded(data)?),
        (None, Some(true)) => sample(&*api.drafts, &path.key).await?,
        (None, _) => None,
    };
    let start = std::time::Instant::now();
    let found = api
        .renderer
        .templates
        .find(&path.key, query.version)
        .await?;
    let job = Job {
        found,
        data: data.map(String::into_boxed_str),
        format,
        options: api.renderer.with_assets(RenderOptions {
            page: query.page,
            locale: query.locale,
            dots_per_inch: query.dpi,
            ..RenderOptions::default()
        }),
        attachments: Vec::new(),
        load: start.elapsed(),
    };
    let done = job::run(&api.renderer, Lane::Preview, job).await?;
    let mut response = answer(done, Some(&path.key), None, None)?;
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    Ok(response)
}

fn decoded(text: &str) -> Result<String, Problem> {
    let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
    bytes
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| Problem::new(Code::InvalidRequest, "`data` is JSON in base64url"))
}

/// Validates a template without rendering it.
pub(crate) async fn validate_template(
    State(api): State<TemplateApi>,
    path: KeyPath,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (bytes, _room) = body::read_json(&api.intake, &headers, body).await?;
    let request: ValidateTemplateRequest = body::parse_long(bytes).await?;
    let source: Arc<[u8]> = match request.definition {
        Some(definition) => {
            let source = definition.get().as_bytes();
            api.renderer.templates.with_imports(source).await?
        }
        None => {
            api.renderer
                .templates
                .source(&path.key, request.version)
                .await?
                .source
        }
    };
    let renderer = Arc::clone(&api.renderer);
    let validation = api
        .renderer
        .slots
        .run(Lane::Preview, move |ticket| {
            let data = request.data.as_ref().map(|data| data.get());
            renderer.validate(&source, data, ticket)
        })
        .await?;
    Ok(crate::respond::json(StatusCode::OK, &validation))
}
