//! Previews for editors: pages of a template that may be unsaved, and where its nodes are on them.

use std::time::Instant;

use axum::{Extension, body::Body, extract::State, response::Response};
use hyper::{HeaderMap, StatusCode};
use platen_document::{Diagnostic, template::Template};
use platen_fault::Code;
use platen_render::{Format, PreviewPages, RenderOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, value::RawValue};

use super::{RenderApi, create::no_template};
use crate::{
    auth::Actor,
    intake::body,
    problem::Problem,
    rendering::{
        job::{self, Job},
        slots::Lane,
    },
    respond::json,
    routes::templates::draft::sample,
    templates::TemplateRepository,
};

/// Maximum number of pages of a preview.
const MAX_PAGES: u32 = 20;
/// Highest resolution of a preview, in dots per inch.
const MAX_DPI: f32 = 300.0;

/// A preview to make, of either `template` or `definition`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PreviewRequest {
    /// Key of a stored template.
    template: Option<String>,
    /// A template that need not be stored.
    #[schemars(with = "Option<Template>")]
    definition: Option<Box<RawValue>>,
    /// Version of the stored template; by default the current one.
    version: Option<u32>,
    /// The data; `{}` by default.
    #[schemars(with = "Option<Json>")]
    data: Option<Box<RawValue>>,
    /// Key of a template whose sample data is used, instead of `data`.
    sample: Option<String>,
    /// BCP 47 locale, overrides the template's.
    locale: Option<String>,
    /// The first page to show, from 1. A shorter document shows its last page.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    first_page: u32,
    /// Number of pages to show, at most 20.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 20))]
    page_count: u32,
    /// Format of the pictures.
    #[serde(default)]
    picture: PictureFormat,
    /// Resolution of PNG, at most 300.
    #[schemars(range(min = 10, max = 300))]
    dpi: Option<f32>,
}

fn one() -> u32 {
    1
}

/// Format of the pictures of a preview.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PictureFormat {
    /// SVG, as text.
    #[default]
    Svg,
    /// PNG, in Base64.
    Png,
}

/// A preview. Lengths are in points, from the top left corner of the page.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PagePreview")]
pub(crate) struct PreviewAnswer {
    /// Number of pages of the document.
    page_count: u32,
    /// The pages that are shown.
    #[schemars(with = "Vec<ShownPage>")]
    pages: Box<RawValue>,
    /// Where the nodes of the template are on these pages; outer nodes before those inside them.
    /// A node may have several boxes.
    #[schemars(with = "Vec<NodeBox>")]
    boxes: Box<RawValue>,
    /// Warnings about the template and the data.
    warnings: Vec<Diagnostic>,
}

/// A page of a preview.
#[derive(JsonSchema)]
#[schemars(rename = "PreviewPage")]
#[allow(dead_code, reason = "describes what the renderer writes")]
struct ShownPage {
    /// Position in the document, from 1.
    page: u32,
    /// Width.
    width: f32,
    /// Height.
    height: f32,
    /// The picture: SVG as text, PNG in Base64.
    picture: String,
}

/// A part of a page that a node of the template has.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "describes what the renderer writes")]
struct NodeBox {
    /// JSON pointer of the node in the template.
    path: String,
    /// Position of the page, from 1.
    page: u32,
    /// Left, top, width and height.
    area: [f32; 4],
}

/// What the renderer writes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Drawn {
    page_count: u32,
    pages: Box<RawValue>,
    boxes: Box<RawValue>,
}

/// Shows pages of a template.
pub(crate) async fn preview_render(
    State(api): State<RenderApi>,
    Extension(actor): Extension<Actor>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (bytes, _room) = body::read_json(&api.intake, &headers, body).await?;
    let request: PreviewRequest = body::parse_long(bytes).await?;
    check(&request)?;
    let start = Instant::now();
    let templates = &api.renderer.templates;
    if let Some(only) = actor.only() {
        check_editor(templates, &request, only).await?;
    }
    let found = match (&request.template, &request.definition) {
        (Some(key), None) => templates.find(key, request.version).await?,
        (None, Some(definition)) => templates.unsaved(definition.get()).await?,
        _ => return Err(no_template()),
    };
    let data = match (request.data, &request.sample) {
        (Some(data), None) => Some(String::from(Box::<str>::from(data))),
        (None, Some(key)) => sample(&*api.drafts, key).await?,
        (None, None) => None,
        (Some(_), Some(_)) => {
            let detail = "give either `data` or `sample`";
            return Err(Problem::new(Code::InvalidRequest, detail));
        }
    };
    let job = Job {
        found,
        data: data.map(String::into_boxed_str),
        format: match request.picture {
            PictureFormat::Svg => Format::Svg,
            PictureFormat::Png => Format::Png,
        },
        options: api.renderer.with_assets(RenderOptions {
            locale: request.locale,
            dots_per_inch: request.dpi,
            preview: Some(PreviewPages {
                first: request.first_page,
                count: request.page_count,
            }),
            ..RenderOptions::default()
        }),
        attachments: Vec::new(),
        load: start.elapsed(),
    };
    let done = job::run(&api.renderer, Lane::Preview, job).await?;
    let drawn: Drawn = serde_json::from_slice(&done.rendered.bytes).map_err(|_| {
        let detail = "only templates of nodes have previews; render an `html` template as PDF";
        Problem::new(Code::InvalidRequest, detail)
    })?;
    let answer = PreviewAnswer {
        page_count: drawn.page_count,
        pages: drawn.pages,
        boxes: drawn.boxes,
        warnings: done.rendered.warnings,
    };
    Ok(json(StatusCode::OK, &answer))
}

/// Checks that a preview for an editor token shows its template only.
async fn check_editor(
    templates: &TemplateRepository,
    request: &PreviewRequest,
    only: &str,
) -> Result<(), Problem> {
    let named = [&request.template, &request.sample];
    if named.into_iter().flatten().any(|key| key != only) {
        let detail = format!("this editor token is for the template `{only}` only");
        return Err(Problem::new(Code::Forbidden, detail));
    }
    match &request.definition {
        Some(definition) => {
            templates
                .check_imports(only, definition.get().as_bytes())
                .await
        }
        None => Ok(()),
    }
}

fn check(request: &PreviewRequest) -> Result<(), Problem> {
    let invalid = |detail: &str| Err(Problem::new(Code::InvalidRequest, detail.to_owned()));
    if !(1..=MAX_PAGES).contains(&request.page_count) || request.first_page == 0 {
        return invalid("`firstPage` counts from 1, and `pageCount` is from 1 to 20");
    }
    if request
        .dpi
        .is_some_and(|dpi| !(10.0..=MAX_DPI).contains(&dpi))
    {
        return invalid("`dpi` is from 10 to 300");
    }
    Ok(())
}
