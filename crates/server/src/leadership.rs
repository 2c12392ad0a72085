//! Selects the requests that only the leader can handle: it alone writes to the data folder.

use hyper::{Method, Request, Uri};

/// True if the leader must handle the request.
pub(crate) fn is_for_leader<B>(request: &Request<B>) -> bool {
    let path = request.uri().path();
    let first = path.trim_start_matches('/').split('/').next();
    match first.unwrap_or_default() {
        "flows" | "webhooks" | "runs" | "workers" | "pieces" | "keys" => true,
        // It enters who gets a token and who signs in, and knows a new key first.
        "auth" => true,
        "studio" => {
            let is_sign_in = path.ends_with("/session") && *request.method() == Method::POST;
            is_sign_in || path.ends_with("/sign-in/callback")
        }
        "assets" => !matches!(*request.method(), Method::GET | Method::HEAD),
        "templates" => {
            // `/templates/{key}/validate` and `/diff`. A template may have these names, too.
            let mut parts = path.split('/').skip(3);
            let last = (parts.next(), parts.next());
            let reads = *request.method() == Method::POST
                && matches!(last, (Some("validate" | "diff"), None));
            !reads && !matches!(*request.method(), Method::GET | Method::HEAD)
        }
        // Deferred requests are runs.
        "render" | "convert" => is_async(request.uri()),
        "forms" => {
            is_async(request.uri()) || request.headers().contains_key("gotenberg-webhook-url")
        }
        _ => false,
    }
}

fn is_async(uri: &Uri) -> bool {
    let query = uri.query().unwrap_or_default();
    query.split('&').any(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        name == "async" && value != "false"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_the_data_folder_goes_to_the_leader() {
        let asks = |method: &str, uri: &str| {
            let request = Request::builder().method(method).uri(uri).body(());
            is_for_leader(&request.unwrap())
        };
        assert!(asks("POST", "/templates") && asks("DELETE", "/templates/a"));
        assert!(asks("POST", "/templates/a/versions/1/restore"));
        assert!(!asks("GET", "/templates/a/preview.png") && !asks("POST", "/templates/a/validate"));
        assert!(asks("PUT", "/templates/diff") && asks("DELETE", "/templates/validate"));
        assert!(asks("PUT", "/templates/a/editors/diff") && asks("PUT", "/templates/a/diff"));
        assert!(!asks("POST", "/templates/a/diff") && !asks("POST", "/templates/diff/validate"));
        assert!(
            asks("POST", "/webhooks/a/sync") && asks("GET", "/runs") && asks("PUT", "/pieces/a/1")
        );
        assert!(asks("GET", "/studio/sign-in/callback?code=1") && !asks("GET", "/studio"));
        assert!(asks("POST", "/studio/session") && !asks("GET", "/studio/session"));
        assert!(asks("POST", "/auth/editor-token"));
        assert!(asks("PUT", "/assets/a") && !asks("GET", "/assets/a"));
        assert!(asks("GET", "/keys") && asks("DELETE", "/keys/a"));
        assert!(asks("POST", "/render?async=true") && asks("POST", "/render/pdf?a&async"));
        assert!(!asks("POST", "/render") && !asks("POST", "/render?async=false"));
        let form = Request::builder().uri("/forms/pdfengines/merge");
        assert!(!is_for_leader(&form.body(()).unwrap()));
        let form = Request::builder().uri("/forms/pdfengines/merge");
        let form = form.header("gotenberg-webhook-url", "http://a/");
        assert!(is_for_leader(&form.body(()).unwrap()));
        assert!(!asks("GET", "/health/live") && !asks("GET", "/runsomething"));
    }
}
