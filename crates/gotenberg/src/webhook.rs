//! Webhook delivery of results: allowed hosts only, a bounded number in flight, retries with
//! growing delays, and a drain for shutdown.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use platen_outbound::{Error, Outbound, Settings};
use platen_render::chain;
use platen_server::WebhookConfig;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How much of a receiver's response is read, in bytes.
const MAX_ANSWER_BYTES: u64 = 64 << 10;
/// Longest delay between two attempts.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// Webhook sender, with a limit on deliveries in flight.
pub(crate) struct Webhooks {
    outbound: Arc<Outbound>,
    room: Arc<Semaphore>,
    size: u32,
    tries: u32,
    wait: Duration,
}

/// A result to deliver.
#[derive(Clone, Debug)]
pub(crate) struct Parcel {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

impl Webhooks {
    pub(crate) fn new(config: &WebhookConfig) -> Self {
        let outbound = Outbound::new(&Settings {
            allowed_hosts: config.allowed_hosts.clone(),
            allow_private_addresses: config.allow_private_addresses,
            timeout: Duration::from_millis(config.timeout_ms),
            max_bytes: MAX_ANSWER_BYTES,
            ..Settings::default()
        });
        Self {
            outbound: Arc::new(outbound),
            room: Arc::new(Semaphore::new(config.max_queue as usize)),
            size: config.max_queue,
            tries: config.max_retries.saturating_add(1),
            wait: Duration::from_millis(config.retry_wait_ms),
        }
    }

    /// True if the allowlist permits this URL.
    pub(crate) fn allows(&self, url: &str) -> bool {
        self.outbound.allows(url)
    }

    /// A permit for one delivery, held until delivery ends; `None` at the limit.
    pub(crate) fn room(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.room).try_acquire_owned().ok()
    }

    /// Delivers a result, with retries. False if every attempt failed.
    pub(crate) async fn send(&self, parcel: Parcel, request_id: &str) -> bool {
        let mut wait = self.wait;
        for attempt in 1..=self.tries {
            let (outbound, one) = (Arc::clone(&self.outbound), parcel.clone());
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

    /// Waits until all deliveries end. False if that takes longer than `bound`.
    pub(crate) async fn drain(&self, bound: Duration) -> bool {
        let all = self.room.acquire_many(self.size);
        tokio::time::timeout(bound, all).await.is_ok()
    }
}
