//! The audit log over HTTP.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use hyper::{
    StatusCode,
    header::{CACHE_CONTROL, HeaderValue},
};
use platen_fault::Code;
use platen_storage::{AuditEntry, AuditStore};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::extract::Query;
use crate::{
    auth::Scope,
    operation::{Route, Tag, description, get, query, schema_of},
    problem::Problem,
    respond::{bytes_of, moment},
};

/// Most entries of one answer.
const MAX_LIMIT: u32 = 10_000;
const DEFAULT_LIMIT: u32 = 1_000;

/// The route of the audit log, with its store as the state.
pub(crate) fn routes() -> Vec<Route<Arc<dyn AuditStore>>> {
    let number = || json!({"type": "integer", "minimum": 0});
    let limit =
        json!({"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT});
    let all = vec![
        get("/audit", list_audit)
.scope(Scope::Admin)
            .summary("Reads the audit log as NDJSON: who changed templates, flows, custom actions and runs.")
            .parameter(query("after", number(), "Entries after this number, oldest first; 0 for all."))
            .parameter(query("before", number(), "Entries before this number, newest first, as without both."))
            .parameter(query("limit", limit, "Number of entries."))
            .answer(200, description("application/x-ndjson", schema_of::<AuditLine>()))
            .problems(&[400]),
    ];
    all.into_iter().map(|one| one.tag(Tag::Service)).collect()
}

/// Query of the log.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditQuery {
    after: Option<u64>,
    before: Option<u64>,
    limit: Option<u32>,
}

/// An entry of the audit log.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AuditLine {
    /// Position in the log, ascending; numbers may be missing.
    number: u64,
    /// Time, RFC 3339.
    at: String,
    /// Who: the scope and the fingerprint of a key, and whether by a session of Studio.
    actor: String,
    /// The operation, as the OpenAPI document names it.
    action: String,
    /// The path of the request.
    subject: String,
    /// The version that came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u32>,
    /// ID of the request, as in the log.
    request_id: String,
    /// Address of the client.
    address: String,
}

impl From<AuditEntry> for AuditLine {
    fn from(entry: AuditEntry) -> Self {
        Self {
            at: moment(entry.at_unix_ms),
            number: entry.number,
            actor: entry.actor,
            action: entry.action,
            subject: entry.subject,
            version: entry.version,
            request_id: entry.request_id,
            address: entry.address,
        }
    }
}

/// Reads the audit log.
pub(crate) async fn list_audit(
    State(store): State<Arc<dyn AuditStore>>,
    Query(query): Query<AuditQuery>,
) -> Result<Response, Problem> {
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) || query.after.is_some() && query.before.is_some() {
        let detail = format!("`limit` is 1 to {MAX_LIMIT}, with either `after` or `before`");
        return Err(Problem::new(Code::InvalidRequest, detail));
    }
    let entries = match query.after {
        Some(after) => store.list(after, limit).await?,
        None => store.recent(query.before, limit).await?,
    };
    let mut lines = Vec::new();
    for entry in entries {
        let line = serde_json::to_vec(&AuditLine::from(entry)).unwrap_or_default();
        lines.extend_from_slice(&line);
        lines.push(b'\n');
    }
    let mut response = bytes_of("application/x-ndjson", StatusCode::OK, lines);
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().insert(CACHE_CONTROL, no_store);
    Ok(response)
}
