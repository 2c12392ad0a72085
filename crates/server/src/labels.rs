//! Labels of templates and flows: short words by which people find them in lists.

use std::collections::BTreeSet;

use axum::{body::Body, response::Response};
use hyper::{
    HeaderMap, StatusCode,
    header::{CACHE_CONTROL, ETAG, HeaderValue, IF_MATCH},
};
use platen_fault::{Code, Resource};
use platen_storage::{DocumentStore, Labels};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    auth::Scope,
    intake::{Intake, body},
    operation::{self, Route, required_header},
    problem::Problem,
    respond::json,
    routes::templates::precondition::one_version,
};

/// Most labels of a template or flow.
const MAX_LABELS: usize = 20;
/// Longest label, in characters.
const MAX_LABEL: usize = 40;
/// What a label may contain besides letters and digits.
const SIGNS: &str = " -_.:/&+#";

/// Header of a write.
const IF_MATCH_HEADER: (&str, &str) = (
    "If-Match",
    "ETag of the labels that are replaced, or `*`. 428 without it, 412 if they have changed.",
);
/// Header of an answer.
const TAG_HEADER: (&str, &str) = ("ETag", "Revision of the labels in quotes.");

/// Labels of a template or a flow.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Labels")]
pub(crate) struct LabelList {
    /// At most 20 labels of up to 40 letters, digits, spaces and `-_.:/&+#` each.
    #[schemars(length(max = 20))]
    labels: Vec<String>,
}

/// What all routes have in common that read labels.
pub(crate) fn reads<S>(route: Route<S>) -> Route<S> {
    let route = route.scope(Scope::Read).key();
    let route = route.answer(200, operation::json::<LabelList>());
    route.answer_headers(&[TAG_HEADER])
}

/// What all routes have in common that replace labels.
pub(crate) fn replaces<S>(route: Route<S>) -> Route<S> {
    let route = route.scope(Scope::Draft).key();
    route
        .parameter(required_header(IF_MATCH_HEADER))
        .body(operation::json::<LabelList>())
        .answer(200, operation::json::<LabelList>())
        .answer_headers(&[TAG_HEADER])
        .problems(&[412, 428])
}

/// Checks a label.
///
/// # Errors
/// 400, which says what a label may be.
pub(crate) fn check(label: &str) -> Result<(), Problem> {
    let length = label.chars().count();
    let is_plain = |letter: char| letter.is_alphanumeric() || SIGNS.contains(letter);
    if (1..=MAX_LABEL).contains(&length) && label.trim() == label && label.chars().all(is_plain) {
        return Ok(());
    }
    let shown: String = label.chars().take(MAX_LABEL).collect();
    Err(Problem::new(
        Code::InvalidRequest,
        format!(
            "`{}` is no label: a label has 1 to {MAX_LABEL} letters, digits, spaces and {SIGNS}, \
             with no space at its ends",
            shown.escape_debug()
        ),
    ))
}

/// Answers with the labels of `key`.
pub(crate) async fn read(
    store: &dyn DocumentStore,
    key: String,
    resource: Resource,
) -> Result<Response, Problem> {
    let found = store.labels(key).await;
    Ok(answer(
        found.map_err(|error| Problem::of_store(&error, resource))?,
    ))
}

/// Replaces the labels of `key` by those in the body, and answers with them.
pub(crate) async fn write(
    store: &dyn DocumentStore,
    key: String,
    resource: Resource,
    (intake, headers, body): (&Intake, &HeaderMap, Body),
) -> Result<Response, Problem> {
    let expected = expected(headers, resource)?;
    let (bytes, _room) = body::read_json(intake, headers, body).await?;
    let LabelList { labels } = body::parse(&bytes)?;
    labels.iter().try_for_each(|label| check(label))?;
    if labels.len() > MAX_LABELS {
        let detail = format!(
            "there are {} labels; at most {MAX_LABELS} are allowed",
            labels.len()
        );
        return Err(Problem::new(Code::InvalidRequest, detail));
    }
    let mut seen = BTreeSet::new();
    let labels = labels
        .into_iter()
        .filter(|label| seen.insert(label.clone()))
        .collect();
    let written = store.set_labels(key, labels, expected).await;
    Ok(answer(
        written.map_err(|error| Problem::of_store(&error, resource))?,
    ))
}

/// The revision of `If-Match`; `None` for any.
fn expected(headers: &HeaderMap, resource: Resource) -> Result<Option<u32>, Problem> {
    let Some(value) = headers.get(IF_MATCH) else {
        return Err(Problem::new(
            Code::PreconditionRequired(resource),
            "send If-Match with the ETag of the labels that are replaced, or `*`",
        ));
    };
    one_version(value, "revision")
}

fn answer(Labels { labels, revision }: Labels) -> Response {
    let mut response = json(StatusCode::OK, &LabelList { labels });
    let headers = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{revision}\"")) {
        headers.insert(ETAG, tag);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_short_and_plain() {
        for sound in ["a", "Rechnungen 2026", "größe:A4", "sales/eu", "請求書"] {
            assert!(check(sound).is_ok(), "{sound}");
        }
        let long = "x".repeat(41);
        for wrong in [
            "",
            " a",
            "a ",
            "a\nb",
            "<b>",
            "a,b",
            "\"",
            "a\u{202e}b",
            &long,
        ] {
            assert!(check(wrong).is_err(), "{wrong:?}");
        }
    }
}
