//! What fails a form though its page was printed: HTTP statuses, and resources that did not load.

use hyper::StatusCode;
use platen_browser::FailedResource;
use platen_fault::Code;
use platen_server::problem::Problem;

use crate::value::Values;

/// Returns 409 if resources are missing or were denied.
pub(crate) fn check_loaded(failed: &[FailedResource]) -> Result<(), Problem> {
    if failed.is_empty() {
        return Ok(());
    }
    let line = |FailedResource { kind, error, what }: &FailedResource| {
        format!("resource {kind}: {error}: {what}")
    };
    let failed = failed.iter().map(line).collect::<Vec<_>>().join("\n");
    let detail = format!("Chromium failed to load resources:\n{failed}");
    Err(Problem::new(Code::ResourceFailed, detail))
}

/// Returns 409 if the page's own HTTP status is in `failing`. `499` and `599` stand for all 4xx and
/// 5xx and are the default.
pub(crate) fn check_status(status: Option<u16>, failing: &[u16]) -> Result<(), Problem> {
    let failing = if failing.is_empty() {
        &[499, 599]
    } else {
        failing
    };
    match status.filter(|status| is_in(*status, failing)) {
        Some(status) => {
            let status = named_status(status);
            let detail = format!("Invalid HTTP status code from the main page: {status}");
            Err(Problem::new(Code::PageStatus, detail))
        }
        None => Ok(()),
    }
}

/// A status with its name: `404: Not Found`.
fn named_status(status: u16) -> String {
    let known = StatusCode::from_u16(status).ok();
    let name = known.and_then(|status| status.canonical_reason());
    format!("{status}: {}", name.unwrap_or_default())
}

/// What fails a form.
pub(crate) struct Failing {
    /// HTTP statuses of the page.
    pub(crate) page: Vec<u16>,
    /// HTTP statuses of what it loads.
    pub(crate) resources: Vec<u16>,
    /// Domains whose resources may have any status.
    pub(crate) ignored: Vec<String>,
    /// Whether all resources must be loaded.
    pub(crate) is_loaded: bool,
}

impl Failing {
    pub(crate) fn of(values: &mut Values) -> Self {
        Self {
            page: values.json("failOnHttpStatusCodes"),
            resources: values.json("failOnResourceHttpStatusCodes"),
            ignored: values.json("ignoreResourceHttpStatusDomains"),
            is_loaded: values.truth("failOnResourceLoadingFailed", false),
        }
    }
}

/// Whether a list names a status, by itself or by its hundred: `499`.
fn is_in(status: u16, list: &[u16]) -> bool {
    let names = |one: &u16| *one == status || (one % 100 == 99 && one / 100 == status / 100);
    list.iter().any(names)
}

/// Returns 409 if a resource came with a status in `failing`, unless it is of an `ignored` domain or
/// one below it.
pub(crate) fn check_resources(
    statuses: &[(String, u16)],
    failing: &[u16],
    ignored: &[String],
) -> Result<(), Problem> {
    let is_ignored = |url: &str| {
        let host = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = host.split(['/', '?', '#']).next().unwrap_or_default();
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let host = host
            .rsplit_once(':')
            .map_or(host, |(host, _)| host)
            .to_ascii_lowercase();
        ignored.iter().any(|domain| {
            let domain = domain.trim().trim_start_matches("*.").to_ascii_lowercase();
            let below = host.strip_suffix(&domain);
            !domain.is_empty() && below.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
    };
    let failed: Vec<String> = (statuses.iter())
        .filter(|(url, status)| is_in(*status, failing) && !is_ignored(url))
        .map(|(url, status)| format!("{url} - {}", named_status(*status)))
        .collect();
    match failed.is_empty() {
        true => Ok(()),
        false => {
            let failed = failed.join("\n");
            let detail = format!("Invalid HTTP status code from resources:\n{failed}");
            Err(Problem::new(Code::ResourceFailed, detail))
        }
    }
}
