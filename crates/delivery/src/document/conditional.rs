//! Conditional requests (RFC 9110, section 13), evaluated in the order of section 13.2.2.

use std::time::{Duration, SystemTime};

use http::{
    HeaderMap, HeaderName, Method,
    header::{IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE},
};

use super::Metadata;

/// Result of the preconditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Send,
    NotModified,
    Failed,
}

pub(super) fn check(method: &Method, headers: &HeaderMap, metadata: &Metadata) -> Verdict {
    if headers.contains_key(IF_MATCH) {
        if !matches(headers, &IF_MATCH, metadata, false) {
            return Verdict::Failed;
        }
    } else if let (Some(since), Some(modified)) =
        (date(headers, &IF_UNMODIFIED_SINCE), metadata.modified)
        && whole_second(modified) > since
    {
        return Verdict::Failed;
    }
    let reads = *method == Method::GET || *method == Method::HEAD;
    if headers.contains_key(IF_NONE_MATCH) {
        return match matches(headers, &IF_NONE_MATCH, metadata, true) {
            true if reads => Verdict::NotModified,
            true => Verdict::Failed,
            false => Verdict::Send,
        };
    }
    match (date(headers, &IF_MODIFIED_SINCE), metadata.modified) {
        (Some(since), Some(modified)) if reads && whole_second(modified) <= since => {
            Verdict::NotModified
        }
        _ => Verdict::Send,
    }
}

/// Whether `Range` applies: there is no `If-Range`, or it names the current version of the
/// document.
pub(super) fn range_applies(headers: &HeaderMap, metadata: &Metadata) -> bool {
    let Some(value) = headers.get(IF_RANGE) else {
        return true;
    };
    let text = value.to_str().unwrap_or_default().trim();
    if text.starts_with('"') {
        let tag = text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        return tag.is_some() && tag == metadata.tag.as_deref();
    }
    let named = httpdate::parse_http_date(text).ok();
    named.is_some() && named == metadata.modified.map(whole_second)
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.get(name)?.to_str().ok()?).ok()
}

/// HTTP dates have a resolution of one second.
fn whole_second(time: SystemTime) -> SystemTime {
    let seconds = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_secs());
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// Whether the listed tags include the document's. `weak` selects weak comparison (RFC 9110,
/// section 8.8.3.2).
fn matches(headers: &HeaderMap, name: &HeaderName, metadata: &Metadata, weak: bool) -> bool {
    headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|list| {
            list.trim() == "*"
                || metadata
                    .tag
                    .as_deref()
                    .is_some_and(|tag| lists(list, tag, weak))
        })
}

fn lists(list: &str, tag: &str, weak: bool) -> bool {
    let mut rest = list;
    while let Some((before, after)) = rest.split_once('"') {
        let Some((listed, next)) = after.split_once('"') else {
            return false;
        };
        if listed == tag && (weak || !before.ends_with("W/")) {
            return true;
        }
        rest = next;
    }
    false
}
