//! A folder of benchmark results as a page.

use std::path::PathBuf;

use axum::{extract::State, response::Response};
use hyper::{
    StatusCode,
    header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderValue},
};

use crate::{
    auth::Access,
    operation::{Route, get, text},
    problem::Problem,
    respond::bytes_of,
};

/// The page holds its plots itself, and runs nothing; its icon, an empty one, is in it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// The route of the page of benchmark results; its state is the folder with the results.
pub(crate) fn routes() -> Vec<Route<Option<PathBuf>>> {
    let about = "A folder of benchmark results as a page; 404 where BENCH_RESULTS_DIR names none.";
    vec![
        get("/bench", get_bench)
            .access(Access::Admin)
            .summary(about)
            .answer(200, text(&["text/html"]))
            .problems(&[404]),
    ]
}

/// The results in the folder of `BENCH_RESULTS_DIR`, with their tables and plots.
pub(crate) async fn get_bench(State(folder): State<Option<PathBuf>>) -> Result<Response, Problem> {
    let Some(folder) = folder else {
        let detail = "no results are shown: set BENCH_RESULTS_DIR, or serve with \
            --bench-results DIR, to a folder that `platen bench … --out DIR` has made";
        return Err(Problem::new(StatusCode::NOT_FOUND, "bench-off", detail));
    };
    let made = tokio::task::spawn_blocking(move || platen_bench::page::page(&folder)).await;
    let made = made.map_err(|error| Problem::internal(error.to_string()))?;
    let page = made.map_err(|error| {
        let detail = format!("BENCH_RESULTS_DIR holds no results: {error}");
        Problem::new(StatusCode::NOT_FOUND, "bench-not-found", detail)
    })?;
    let mut response = bytes_of("text/html; charset=utf-8", StatusCode::OK, page);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
