//! Webhook delivery of results: allowed hosts only, signed, retries with growing delays.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use platen_outbound::{Error, Outbound, Settings, UrlRules};
use platen_render::chain;
use platen_server::{UrlLists, WebhookConfig};

/// How much of a receiver's response is read, in bytes.
const MAX_ANSWER_BYTES: u64 = 64 << 10;
/// Longest delay between two attempts.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// Webhook sender.
pub(crate) struct Webhooks {
    outbound: Arc<Outbound>,
    /// For errors and events.
    outbound_of_errors: Arc<Outbound>,
    /// Whether the headers of webhooks are ignored.
    pub(crate) is_disabled: bool,
    /// Key of the signatures (`WEBHOOK_SECRET`).
    key: Option<Arc<str>>,
    /// Whether forms are answered after the delivery.
    pub(crate) is_synchronous: bool,
    tries: u32,
    wait: Duration,
    timeout: Duration,
}

/// What is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParcelKind {
    /// A result.
    Result,
    /// An error, or an event.
    Error,
}

/// A result, an error or an event to deliver.
#[derive(Clone, Debug)]
pub(crate) struct Parcel {
    pub(crate) kind: ParcelKind,
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

impl Webhooks {
    pub(crate) fn new(config: &WebhookConfig, urls: &UrlLists, key: Option<Arc<str>>) -> Self {
        let timeout = Duration::from_millis(config.timeout_ms);
        let outbound = |urls: &UrlRules| {
            Arc::new(Outbound::new(&Settings {
                allowed_hosts: config.allowed_hosts.clone(),
                urls: urls.clone(),
                allow_private_addresses: config.allow_private_addresses,
                timeout,
                max_bytes: MAX_ANSWER_BYTES,
                cuts_body: true,
                ..Settings::default()
            }))
        };
        let outbound_of_results = outbound(&urls.webhook);
        Self {
            outbound_of_errors: match &urls.webhook_error {
                Some(urls) => outbound(urls),
                None => Arc::clone(&outbound_of_results),
            },
            outbound: outbound_of_results,
            is_disabled: config.is_disabled,
            key,
            is_synchronous: config.is_synchronous,
            tries: config.max_retries.saturating_add(1),
            wait: Duration::from_millis(config.retry_wait_ms),
            timeout,
        }
    }

    /// Whether such a parcel may be sent to this URL.
    pub(crate) fn allows(&self, kind: ParcelKind, url: &str) -> bool {
        self.outbound_of(kind).allows(url)
    }

    fn outbound_of(&self, kind: ParcelKind) -> &Arc<Outbound> {
        match kind {
            ParcelKind::Result => &self.outbound,
            ParcelKind::Error => &self.outbound_of_errors,
        }
    }

    /// The longest time that [`Webhooks::send`] takes.
    pub(crate) fn longest(&self) -> Duration {
        let waits = (1..self.tries).fold((Duration::ZERO, self.wait), |(sum, wait), _| {
            (sum.saturating_add(wait), (wait * 2).min(MAX_WAIT))
        });
        self.timeout
            .saturating_mul(self.tries)
            .saturating_add(waits.0)
    }

    /// Delivers a result, with retries. False if every attempt failed.
    pub(crate) async fn send(&self, parcel: Parcel, request_id: &str) -> bool {
        let mut wait = self.wait;
        for attempt in 1..=self.tries {
            let (outbound, mut one) = (Arc::clone(self.outbound_of(parcel.kind)), parcel.clone());
            one.headers.extend(self.signature(&one.body));
            one.headers.extend(trace_header(&one.headers));
            let sent = tokio::task::spawn_blocking(move || {
                outbound.send(&one.method, &one.url, &one.headers, &one.body)
            });
            let (cause, is_final) = match sent.await {
                Ok(Ok(answer)) if (200..300).contains(&answer.status) => return true,
                Ok(Ok(answer)) => {
                    let is_final = answer.status < 500 && answer.status != 429;
                    (format!("the receiver answered {}", answer.status), is_final)
                }
                Ok(Err(error)) => {
                    let is_final = matches!(error, Error::NotAllowed(_) | Error::Malformed(_));
                    (chain(&error), is_final)
                }
                Err(error) => (error.to_string(), true),
            };
            let is_last = is_final || attempt == self.tries;
            if is_last {
                tracing::error!(
                    requestId = request_id,
                    attempt,
                    cause,
                    "webhook not delivered"
                );
            } else {
                tracing::warn!(
                    requestId = request_id,
                    attempt,
                    cause,
                    "webhook delivery failed"
                );
            }
            if is_last {
                break;
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(MAX_WAIT);
        }
        false
    }

    /// The signature header of a body that is sent now, if there is a key.
    fn signature(&self, body: &[u8]) -> Option<(String, String)> {
        let key = self.key.as_ref()?;
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH);
        let seconds = seconds.map_or(0, |since| since.as_secs());
        let value = platen_signing::signature_header(key.as_bytes(), seconds, body);
        Some(("platen-signature".to_owned(), value))
    }
}

/// The header that continues the trace of the request, unless the client set its own.
fn trace_header(headers: &[(String, String)]) -> Option<(String, String)> {
    let mut names = headers.iter().map(|(name, _)| name);
    if names.any(|name| name.eq_ignore_ascii_case(platen_trace::HEADER)) {
        return None;
    }
    let trace = platen_trace::current()?;
    Some((platen_trace::HEADER.to_owned(), trace.to_string()))
}
