//! Presence: which editors have a template open. Each sends a heartbeat and receives the list of all.

use std::time::Duration;

use axum::{
    Extension,
    body::Body,
    extract::{Path, State},
    response::Response,
};
use hyper::{
    StatusCode,
    header::{CACHE_CONTROL, HeaderValue},
};
use platen_fault::{Code, Resource};
use platen_storage::{DraftKind, Error, NewDraft};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TemplateApi;
use crate::{
    auth::{Actor, now_unix_ms},
    intake::body,
    problem::Problem,
    respond::{json, moment},
};

/// An editor without a heartbeat for this time is not listed. Studio sends one every 15 seconds, and
/// browsers let tabs in the background do so once a minute.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(100);
/// Maximum number of editors of a template: of more, those with the latest heartbeats.
const MAX_EDITORS: usize = 30;
const MAX_ID: usize = 64;
/// Longest name, in characters.
const MAX_NAME: usize = 100;
/// Longest place, in bytes.
const MAX_PLACE: usize = 500;
/// Longest body, in bytes.
const MAX_BODY: u64 = 4_096;
/// Attempts of a write that others come before.
const ATTEMPTS: usize = 16;
/// Number of templates whose lists are checked, and deleted if they are stale, when an editor opens a
/// template.
const MAX_SWEPT: u32 = 1_000;

/// A heartbeat.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EditorRequest {
    /// JSON Pointer of what is chosen in the editor.
    place: Option<String>,
}

/// An editor that has the template open.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Editor")]
pub(crate) struct EditorDocument {
    /// ID that the editor has chosen for itself.
    id: String,
    /// Name of the user, of the stored key, or of the editor token. Empty for keys of the settings,
    /// where no key is needed, and in responses to other holders of editor tokens.
    name: String,
    /// JSON Pointer of what is chosen in the editor.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    /// Time of the first heartbeat, RFC 3339.
    since: String,
}

/// The editors of a template.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct EditorList {
    /// All editors, in the order of their first heartbeats; the sender is among them.
    editors: Vec<EditorDocument>,
}

/// An editor, as it is stored.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Present {
    id: String,
    name: String,
    place: Option<String>,
    since_ms: i64,
    seen_ms: i64,
}

impl From<Present> for EditorDocument {
    fn from(present: Present) -> Self {
        Self {
            since: moment(present.since_ms),
            id: present.id,
            name: present.name,
            place: present.place,
        }
    }
}

/// Key of a template and ID of an editor, which are well formed.
fn checked((key, id): (String, String)) -> Result<(String, String), Problem> {
    let is_id = (1..=MAX_ID).contains(&id.len())
        && (id.bytes()).all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    match platen_document::is_key(&key) && is_id {
        true => Ok((key, id)),
        false => Err(Problem::new(
            Code::InvalidRequest,
            "the path has a key of a template, and an ID of up to 64 letters, digits, `-` and `_`",
        )),
    }
}

/// Registers an editor of the template or renews it, and returns all editors.
pub(crate) async fn put_template_editor(
    State(api): State<TemplateApi>,
    Extension(actor): Extension<Actor>,
    Path(path): Path<(String, String)>,
    body: Body,
) -> Result<Response, Problem> {
    let (key, id) = checked(path)?;
    let bytes = body::read_short(&api.intake, body, MAX_BODY).await?;
    let EditorRequest { place } = match bytes.is_empty() {
        true => EditorRequest::default(),
        false => body::parse(&bytes)?,
    };
    if place.as_ref().is_some_and(|place| place.len() > MAX_PLACE) {
        let detail = format!("`place` has at most {MAX_PLACE} bytes");
        return Err(Problem::new(Code::InvalidRequest, detail));
    }
    let name: String = actor.person().chars().take(MAX_NAME).collect();
    let editors = change(&api, &key, |editors, seen_ms| {
        let former = editors.iter().find(|one| one.id == id);
        let since_ms = former.map_or(seen_ms, |one| one.since_ms);
        editors.retain(|one| one.id != id);
        editors.push(Present {
            id: id.clone(),
            name: name.clone(),
            place: place.clone(),
            since_ms,
            seen_ms,
        });
    });
    let mut editors = editors.await?;
    editors.sort_by_key(|one| one.since_ms);
    if actor.only().is_some() {
        // An editor token opens one template, and not the names of other users.
        for other in editors.iter_mut().filter(|one| one.id != id) {
            other.name.clear();
        }
    }
    let editors = editors.into_iter().map(EditorDocument::from).collect();
    let mut response = json(StatusCode::OK, &EditorList { editors });
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// Removes an editor that has closed the template.
pub(crate) async fn delete_template_editor(
    State(api): State<TemplateApi>,
    Path(path): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    let (key, id) = checked(path)?;
    change(&api, &key, |editors, _| editors.retain(|one| one.id != id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Changes the list of the editors of a template, without expired ones, and returns it.
async fn change(
    api: &TemplateApi,
    key: &str,
    apply: impl Fn(&mut Vec<Present>, i64),
) -> Result<Vec<Present>, Problem> {
    let failed = |error: &Error| Problem::of_store(error, Resource::Draft);
    let mut editors = Vec::new();
    for _ in 0..ATTEMPTS {
        let stored = match api.drafts.get(DraftKind::Editors, key.to_owned()).await {
            Ok(stored) => Some(stored),
            Err(Error::NotFound) => None,
            Err(error) => return Err(failed(&error)),
        };
        let source = stored.as_ref().map(|stored| &*stored.source);
        let read = source.map(serde_json::from_slice::<Vec<Present>>);
        editors = read.and_then(Result::ok).unwrap_or_default();
        // The clocks of services differ: a fast one must not expire what a slow one has written.
        let newest = editors.iter().map(|one| one.seen_ms).max();
        let now_ms = now_unix_ms().max(newest.unwrap_or_default());
        let oldest_ms = now_ms - HEARTBEAT_TIMEOUT.as_millis() as i64;
        editors.retain(|one| one.seen_ms >= oldest_ms);
        apply(&mut editors, now_ms);
        let surplus = editors.len().saturating_sub(MAX_EDITORS);
        editors.drain(..surplus);
        let revision = stored.map(|stored| stored.info.revision);
        let written = match (editors.is_empty(), revision) {
            (true, None) => Ok(()),
            (true, Some(revision)) => {
                let deleted = api
                    .drafts
                    .delete(DraftKind::Editors, key.to_owned(), revision);
                deleted.await
            }
            (false, _) => {
                let new = NewDraft {
                    key: key.to_owned(),
                    name: key.to_owned(),
                    base: None,
                    source: serde_json::to_vec(&editors).unwrap_or_default().into(),
                };
                let put = api.drafts.put(DraftKind::Editors, new, revision);
                put.await.map(drop)
            }
        };
        match written {
            Ok(()) => {
                if revision.is_none() {
                    sweep(api).await.map_err(|error| failed(&error))?;
                }
                return Ok(editors);
            }
            // Another editor was faster.
            Err(Error::NotFound | Error::Stale(_) | Error::Exists(_)) => {}
            Err(error) => return Err(failed(&error)),
        }
    }
    // The next heartbeat registers it.
    Ok(editors)
}

/// Deletes the lists of templates that nobody has open any more: a computer that is shut down does not
/// remove its editor.
async fn sweep(api: &TemplateApi) -> Result<(), Error> {
    let oldest_ms = now_unix_ms() - 10 * HEARTBEAT_TIMEOUT.as_millis() as i64;
    for info in api.drafts.list(DraftKind::Editors, None, MAX_SWEPT).await? {
        if info.updated_unix_ms < oldest_ms {
            let deleted = api
                .drafts
                .delete(DraftKind::Editors, info.key, info.revision);
            match deleted.await {
                Ok(()) | Err(Error::NotFound | Error::Stale(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}
