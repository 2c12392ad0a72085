//! The routes: one table that says who may call each, and the router.

mod bench;
mod convert;
mod docs;
mod documentation;
pub(crate) mod flows;
mod forms;
pub(crate) mod health;
pub(crate) mod pieces;
pub(crate) mod render;
mod results;
pub(crate) mod templates;

use std::sync::Arc;

use axum::{
    Router,
    http::Uri,
    middleware::from_fn_with_state,
    routing::{get, post},
};
use hyper::{Method, StatusCode};

use crate::{app::App, auth::Access, middleware, problem::Problem};

/// How a route is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Health and metrics: never limited.
    Probe,
    /// As one request.
    Plain,
    /// As one rendering, too.
    Render,
    /// As a rendering an item, which its handler counts.
    Batch,
}

/// A route of the service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// Name of the handler, and operation id.
    pub(crate) operation: &'static str,
    pub(crate) access: Access,
    pub(crate) kind: Kind,
}

const fn route(
    method: &'static str,
    path: &'static str,
    operation: &'static str,
    access: Access,
    kind: Kind,
) -> Route {
    Route {
        method,
        path,
        operation,
        access,
        kind,
    }
}

use Access::{Admin, Metrics, Open, Render as Reader};
use Kind::{Batch, Plain, Probe, Render};

/// All routes.
#[rustfmt::skip]
pub(crate) const ROUTES: &[Route] = &[
    route("GET", "/health", "get_health", Open, Probe),
    route("GET", "/version", "get_version", Open, Plain),
    route("GET", "/health/live", "get_health_live", Open, Probe),
    route("GET", "/health/ready", "get_health_ready", Open, Probe),
    route("GET", "/metrics", "get_metrics", Metrics, Probe),
    route("GET", "/openapi.json", "get_openapi", Open, Plain),
    route("GET", "/docs", "get_docs", Open, Plain),
    route("GET", "/docs/{file}", "get_docs_file", Open, Plain),
    route("GET", "/bench", "get_bench", Admin, Plain),
    route("GET", "/schema/template.json", "get_template_format", Open, Plain),
    route("GET", "/schema/html-template.json", "get_html_template_format", Open, Plain),
    route("GET", "/templates", "list_templates", Reader, Plain),
    route("POST", "/templates", "create_template", Admin, Plain),
    route("GET", "/templates/{key}", "get_template", Reader, Plain),
    route("PUT", "/templates/{key}", "update_template", Admin, Plain),
    route("DELETE", "/templates/{key}", "delete_template", Admin, Plain),
    route("GET", "/templates/{key}/schema", "get_template_schema", Reader, Plain),
    route("POST", "/templates/{key}/validate", "validate_template", Reader, Render),
    route("POST", "/templates/{key}/diff", "diff_template", Reader, Plain),
    route("GET", "/templates/{key}/preview.png", "preview_template_png", Reader, Render),
    route("GET", "/templates/{key}/preview.svg", "preview_template_svg", Reader, Render),
    route("GET", "/templates/{key}/versions", "list_template_versions", Reader, Plain),
    route("GET", "/templates/{key}/versions/{version}", "get_template_version", Reader, Plain),
    route("POST", "/templates/{key}/versions/{version}/restore", "restore_template_version", Admin, Plain),
    route("POST", "/render", "create_render", Reader, Render),
    route("POST", "/render/{format}", "create_render_in_format", Reader, Render),
    route("POST", "/render/html-to-pdf", "create_html_render", Reader, Render),
    route("POST", "/render/validate", "validate_render", Reader, Render),
    route("POST", "/render/batch", "create_render_batch", Reader, Batch),
    route("POST", "/render/batch/{format}", "create_render_batch_in_format", Reader, Batch),
    route("GET", "/schema/flow.json", "get_flow_format", Open, Plain),
    route("GET", "/flows", "list_flows", Reader, Plain),
    route("POST", "/flows", "create_flow", Admin, Plain),
    route("GET", "/flows/{key}", "get_flow", Reader, Plain),
    route("PUT", "/flows/{key}", "update_flow", Admin, Plain),
    route("DELETE", "/flows/{key}", "delete_flow", Admin, Plain),
    route("GET", "/flows/{key}/versions", "list_flow_versions", Reader, Plain),
    route("GET", "/flows/{key}/versions/{version}", "get_flow_version", Reader, Plain),
    route("POST", "/flows/{key}/publication", "publish_flow", Admin, Plain),
    route("DELETE", "/flows/{key}/publication", "unpublish_flow", Admin, Plain),
    route("POST", "/flows/{key}/runs", "create_run", Reader, Plain),
    route("POST", "/webhooks/{key}", "start_flow", Open, Plain),
    route("POST", "/webhooks/{key}/sync", "call_flow", Open, Plain),
    route("GET", "/runs", "list_runs", Reader, Plain),
    route("GET", "/runs/{id}", "get_run", Reader, Plain),
    route("GET", "/runs/{id}/output", "get_run_output", Reader, Plain),
    route("GET", "/runs/{id}/events", "get_run_events", Reader, Plain),
    route("POST", "/runs/{id}/cancel", "cancel_run", Reader, Plain),
    route("POST", "/runs/{id}/retry", "retry_run", Reader, Plain),
    route("POST", "/runs/{id}/callback/{token}", "call_run_back", Open, Plain),
    route("GET", "/workers/connection", "connect_worker", Open, Plain),
    route("GET", "/pieces", "list_pieces", Reader, Plain),
    route("PUT", "/pieces/{name}/{version}", "put_piece", Admin, Plain),
    route("GET", "/pieces/{name}/{version}", "get_piece", Reader, Plain),
    route("DELETE", "/pieces/{name}/{version}", "delete_piece", Admin, Plain),
    route("GET", "/pieces/{name}/{version}/link", "get_piece_link", Open, Plain),
    route("GET", "/pieces/archives/{digest}", "get_piece_archive", Open, Plain),
    route("GET", "/results/{digest}/{name}", "get_result", Open, Plain),
    route("POST", "/convert", "convert_document", Reader, Render),
    route("POST", "/forms/chromium/convert/html", "convert_html", Reader, Render),
    route("POST", "/forms/chromium/convert/markdown", "convert_markdown", Reader, Render),
    route("POST", "/forms/chromium/convert/url", "convert_url", Reader, Render),
    route("POST", "/forms/chromium/screenshot/html", "screenshot_html", Reader, Render),
    route("POST", "/forms/chromium/screenshot/markdown", "screenshot_markdown", Reader, Render),
    route("POST", "/forms/chromium/screenshot/url", "screenshot_url", Reader, Render),
    route("POST", "/forms/libreoffice/convert", "convert_office", Reader, Render),
    route("POST", "/forms/pdfengines/merge", "merge_pdfs", Reader, Render),
    route("POST", "/forms/pdfengines/split", "split_pdfs", Reader, Render),
    route("POST", "/forms/pdfengines/flatten", "flatten_pdfs", Reader, Render),
    route("POST", "/forms/pdfengines/convert", "convert_pdfs", Reader, Render),
    route("POST", "/forms/pdfengines/metadata/read", "read_pdf_metadata", Reader, Render),
    route("POST", "/forms/pdfengines/metadata/write", "write_pdf_metadata", Reader, Render),
];

/// The route of a request; HEAD is answered as GET, and `/templates/` as `/templates`.
pub(crate) fn find(method: &Method, path: &str) -> Option<&'static Route> {
    let method = if method == Method::HEAD {
        "GET"
    } else {
        method.as_str()
    };
    let path = path.strip_suffix('/').unwrap_or(path);
    ROUTES
        .iter()
        .find(|route| route.method == method && route.path == path)
}

/// The service.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/health", get(health::get_health))
        .route("/version", get(health::get_version))
        .route("/health/live", get(health::get_health_live))
        .route("/health/ready", get(health::get_health_ready))
        .route("/metrics", get(health::get_metrics))
        .route("/openapi.json", get(documentation::get_openapi))
        .route("/docs", get(docs::get_docs))
        .route("/docs/{file}", get(docs::get_docs_file))
        .route("/bench", get(bench::get_bench))
        .route(
            "/schema/template.json",
            get(documentation::get_template_format),
        )
        .route(
            "/schema/html-template.json",
            get(documentation::get_html_template_format),
        )
        .route("/convert", post(convert::convert_document))
        .route("/results/{digest}/{name}", get(results::get_result))
        .route("/schema/flow.json", get(documentation::get_flow_format))
        .merge(flows::router())
        .merge(template_routes())
        .merge(piece_routes())
        .merge(render_routes())
        .merge(form_routes(&app))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(Arc::clone(&app), middleware::handle))
        .with_state(app)
}

fn template_routes() -> Router<Arc<App>> {
    use templates::{content, preview, version};
    let all = get(content::list_templates).post(content::create_template);
    Router::new()
        .route("/templates", all.clone())
        .route("/templates/", all)
        .route(
            "/templates/{key}",
            get(content::get_template)
                .put(content::update_template)
                .delete(content::delete_template),
        )
        .route("/templates/{key}/schema", get(content::get_template_schema))
        .route(
            "/templates/{key}/validate",
            post(preview::validate_template),
        )
        .route(
            "/templates/{key}/preview.png",
            get(preview::preview_template_png),
        )
        .route(
            "/templates/{key}/preview.svg",
            get(preview::preview_template_svg),
        )
        .route("/templates/{key}/diff", post(version::diff_template))
        .route(
            "/templates/{key}/versions",
            get(version::list_template_versions),
        )
        .route(
            "/templates/{key}/versions/{version}",
            get(version::get_template_version),
        )
        .route(
            "/templates/{key}/versions/{version}/restore",
            post(version::restore_template_version),
        )
}

fn piece_routes() -> Router<Arc<App>> {
    Router::new()
        .route("/pieces", get(pieces::list_pieces))
        .route(
            "/pieces/{name}/{version}",
            get(pieces::get_piece)
                .put(pieces::put_piece)
                .delete(pieces::delete_piece),
        )
        .route("/pieces/{name}/{version}/link", get(pieces::get_piece_link))
        .route("/pieces/archives/{digest}", get(pieces::get_piece_archive))
}

fn render_routes() -> Router<Arc<App>> {
    Router::new()
        .route("/render", post(render::create_render))
        .route("/render/{format}", post(render::create_render_in_format))
        .route(
            "/render/html-to-pdf",
            post(render::html::create_html_render),
        )
        .route("/render/validate", post(render::validate_render))
        .route("/render/batch", post(render::batch::create_render_batch))
        .route(
            "/render/batch/{format}",
            post(render::batch::create_render_batch_in_format),
        )
}

fn form_routes(app: &Arc<App>) -> Router<Arc<App>> {
    use forms::{chromium, convention, libreoffice, pdf_engines};
    let chromium = Router::new()
        .route("/convert/html", post(chromium::convert_html))
        .route("/convert/markdown", post(chromium::convert_markdown))
        .route("/convert/url", post(chromium::convert_url))
        .route("/screenshot/html", post(chromium::screenshot_html))
        .route("/screenshot/markdown", post(chromium::screenshot_markdown))
        .route("/screenshot/url", post(chromium::screenshot_url));
    let pdf_engines = Router::new()
        .route("/merge", post(pdf_engines::merge_pdfs))
        .route("/split", post(pdf_engines::split_pdfs))
        .route("/flatten", post(pdf_engines::flatten_pdfs))
        .route("/convert", post(pdf_engines::convert_pdfs))
        .route("/metadata/read", post(pdf_engines::read_pdf_metadata))
        .route("/metadata/write", post(pdf_engines::write_pdf_metadata));
    Router::new()
        .nest("/forms/chromium", chromium)
        .nest("/forms/pdfengines", pdf_engines)
        .route(
            "/forms/libreoffice/convert",
            post(libreoffice::convert_office),
        )
        .route_layer(from_fn_with_state(Arc::clone(app), convention::handle))
}

async fn not_found(uri: Uri) -> Problem {
    let path: String = uri.path().chars().take(200).collect();
    let detail = format!("there is nothing at `{path}`; GET /docs shows what there is");
    Problem::new(StatusCode::NOT_FOUND, "not-found", detail)
}

async fn method_not_allowed() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method-not-allowed",
        "this address does not take this method; Allow names those it takes",
    )
}
