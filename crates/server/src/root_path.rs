//! The path before Gotenberg's routes (`API_ROOT_PATH`): taken off a request before it is routed.

use hyper::{Request, Uri, http::uri::PathAndQuery};

/// What Gotenberg has below its root path.
const BELOW: [&str; 4] = ["/forms/", "/health", "/version", "/prometheus/"];

/// Takes `root`, which ends with a slash, off the path of a request for one of Gotenberg's routes.
pub(crate) fn take_off<B>(request: &mut Request<B>, root: &str) {
    let Some(path) = request.uri().path_and_query() else {
        return;
    };
    let rest = path.as_str().strip_prefix(root.trim_end_matches('/'));
    let below = |rest: &&str| {
        ["/", "/favicon.ico"].contains(rest) || BELOW.iter().any(|start| rest.starts_with(start))
    };
    let Some(rest) = rest
        .filter(below)
        .and_then(|rest| rest.parse::<PathAndQuery>().ok())
    else {
        return;
    };
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = Some(rest);
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_taken_off_gotenbergs_routes_only() {
        let short = |uri: &str, root: &str| {
            let mut request = Request::builder().uri(uri).body(()).unwrap();
            take_off(&mut request, root);
            request.uri().to_string()
        };
        assert_eq!(short("/g/forms/a?b=1", "/g/"), "/forms/a?b=1");
        assert_eq!(short("http://h/g/health", "/g/"), "http://h/health");
        assert_eq!(short("/g/", "/g/"), "/");
        assert_eq!(short("/g/favicon.ico", "/g/"), "/favicon.ico");
        assert_eq!(short("/g/templates", "/g/"), "/g/templates");
        assert_eq!(short("/gg/health", "/g/"), "/gg/health");
        assert_eq!(short("/forms/a", "/g/"), "/forms/a");
        assert_eq!(short("/health", "/"), "/health");
    }
}
