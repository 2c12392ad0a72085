//! The audit log: an entry for each request that changed templates, flows, labels, assets or custom actions, or
//! cancelled or retried a run. Drafts are not entered, as editors save them with each pause, nor are
//! heartbeats of editors.

use std::{net::IpAddr, sync::Arc};

use hyper::{Method, StatusCode, header::HeaderValue};
use platen_storage::{AuditStore, NewAuditEntry};

use crate::{
    operation::Operation,
    scope::{Scope, Scopes},
};

/// Longest path in an entry, in characters.
const MAX_SUBJECT: usize = 300;
/// Scopes of operations that are entered.
const ENTERED: Scopes = Scopes::of(&[Scope::Draft, Scope::Publish, Scope::Runs, Scope::Admin]);
/// Operations that change nothing that anybody is served.
const UNSERVED: [&str; 6] = [
    "put_template_draft",
    "put_template_sample",
    "delete_template_draft",
    "delete_template_sample",
    "put_template_editor",
    "delete_template_editor",
];

/// Writes the entries.
#[derive(Clone)]
pub(crate) struct Audit {
    pub(crate) store: Arc<dyn AuditStore>,
}

/// What an entry says of a request before it is answered.
pub(crate) struct Pending {
    audit: Audit,
    entry: NewAuditEntry,
}

impl Audit {
    /// The entry of a request of `actor`; `None` if its operation is not entered. Callbacks of runs
    /// are not: who knows their address needs no key.
    pub(crate) fn begin(
        &self,
        operation: &Operation,
        (method, path): (&Method, &str),
        actor: impl FnOnce() -> String,
        request_id: &str,
        address: IpAddr,
    ) -> Option<Pending> {
        let is_entered = !method.is_safe()
            && operation.access.scopes().meets(ENTERED)
            && !UNSERVED.contains(&operation.name);
        is_entered.then(|| Pending {
            audit: self.clone(),
            entry: NewAuditEntry {
                actor: actor(),
                action: operation.id(),
                subject: path.chars().take(MAX_SUBJECT).collect(),
                version: None,
                request_id: request_id.to_owned(),
                address: address.to_string(),
            },
        })
    }
}

impl Pending {
    /// Enters the request if its answer says that it succeeded. `tag` is the version of the answer,
    /// `location` the path of what was made. An entry that cannot be written is an error of the log:
    /// what the request did is done.
    pub(crate) async fn finish(
        mut self,
        status: StatusCode,
        tag: Option<HeaderValue>,
        location: Option<HeaderValue>,
    ) {
        if !status.is_success() {
            return;
        }
        let text = |value: &Option<HeaderValue>| Some(value.as_ref()?.to_str().ok()?.to_owned());
        self.entry.version = text(&tag).and_then(|tag| tag.trim_matches('"').parse().ok());
        // A request that makes something has its key in the body only.
        let made = text(&location).filter(|made| made.starts_with(&self.entry.subject));
        if let Some(made) = made {
            self.entry.subject = made.chars().take(MAX_SUBJECT).collect();
        }
        if let Err(error) = self.audit.store.append(self.entry).await {
            tracing::error!(%error, "an entry of the audit log was not written");
        }
    }
}
