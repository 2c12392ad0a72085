//! `GET /bench`: a folder of benchmark results as a page.

use std::{path::PathBuf, sync::Arc};

use axum::{extract::State, response::Response};
use hyper::{
    StatusCode,
    header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderValue},
};
use platen_fault::{Code, Resource};

use platen_server::{
    Extension,
    auth::Scope,
    operation::{Mounted, Route, get, text},
    problem::Problem,
    respond::bytes_of,
    services::Services,
};

/// The page holds its plots itself, and runs nothing; its icon, an empty one, is in it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// The page of the results in a folder.
struct BenchPage(Option<PathBuf>);

/// Adds the page of benchmark results to the service.
pub(crate) fn extension(services: &Services) -> Arc<dyn Extension> {
    Arc::new(BenchPage(services.config.bench_results_dir.clone()))
}

impl Extension for BenchPage {
    fn mount(&self, mounted: &mut Mounted) {
        mounted.add(routes(), self.0.clone());
    }
}

fn routes() -> Vec<Route<Option<PathBuf>>> {
    let about = "A page of benchmark results; 404 without BENCH_RESULTS_DIR.";
    vec![
        get("/bench", get_bench)
            .scope(Scope::Admin)
            .summary(about)
            .answer(200, text(&["text/html"]))
            .problems(&[404]),
    ]
}

/// The results in the folder of `BENCH_RESULTS_DIR`, with their tables and plots.
async fn get_bench(State(folder): State<Option<PathBuf>>) -> Result<Response, Problem> {
    let Some(folder) = folder else {
        let detail = "there are no results: set BENCH_RESULTS_DIR, or serve with --bench-results \
            DIR, to a folder written by `platen bench … --out DIR`";
        return Err(Problem::new(Code::NotFound(Resource::Path), detail));
    };
    let made = tokio::task::spawn_blocking(move || platen_bench::page::page(&folder)).await;
    let made = made.map_err(|error| Problem::internal(error.to_string()))?;
    let page = made.map_err(|error| {
        let detail = format!("BENCH_RESULTS_DIR holds no results: {error}");
        Problem::new(Code::NotFound(Resource::Path), detail)
    })?;
    let mut response = bytes_of("text/html; charset=utf-8", StatusCode::OK, page);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
