//! The routes: one table that says who may call each, and the router.

mod convert;
mod documentation;
mod forms;
pub(crate) mod health;
pub(crate) mod render;
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
    route("GET", "/health/live", "get_health_live", Open, Probe),
    route("GET", "/health/ready", "get_health_ready", Open, Probe),
    route("GET", "/metrics", "get_metrics", Metrics, Probe),
    route("GET", "/openapi.json", "get_openapi", Open, Plain),
    route("GET", "/docs", "get_docs", Open, Plain),
    route("GET", "/schema/template.json", "get_template_format", Open, Plain),
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
    route("POST", "/convert", "convert_document", Reader, Render),
    route("POST", "/forms/chromium/convert/html", "convert_html", Reader, Render),
    route("POST", "/forms/chromium/convert/url", "convert_url", Reader, Render),
    route("POST", "/forms/chromium/screenshot/html", "screenshot_html", Reader, Render),
    route("POST", "/forms/chromium/screenshot/url", "screenshot_url", Reader, Render),
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
        .route("/health/live", get(health::get_health_live))
        .route("/health/ready", get(health::get_health_ready))
        .route("/metrics", get(health::get_metrics))
        .route("/openapi.json", get(documentation::get_openapi))
        .route("/docs", get(documentation::get_docs))
        .route(
            "/schema/template.json",
            get(documentation::get_template_format),
        )
        .route("/convert", post(convert::convert_document))
        .merge(template_routes())
        .merge(render_routes())
        .merge(form_routes())
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

fn form_routes() -> Router<Arc<App>> {
    use forms::chromium::{convert_html, convert_url, screenshot_html, screenshot_url};
    Router::new()
        .route("/forms/chromium/convert/html", post(convert_html))
        .route("/forms/chromium/convert/url", post(convert_url))
        .route("/forms/chromium/screenshot/html", post(screenshot_html))
        .route("/forms/chromium/screenshot/url", post(screenshot_url))
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
