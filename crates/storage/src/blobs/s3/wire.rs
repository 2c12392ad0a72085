//! Signed requests over HTTP, their time limits and their retries.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use platen_outbound::Trust;
use rusty_s3::{Bucket as Address, Credentials, Method, signing::sign};
use ureq::{
    Agent, AsSendBody, Body, SendBody,
    http::{self, Request, Response, header::CONTENT_LENGTH},
};

use super::{content::Content, gate::Gate, settings::BucketSettings, trouble::Trouble};
use crate::blobs::BlobError;

/// How long a signature of this service's own requests holds: longer than any of them takes.
const SIGNATURE_LIFE: Duration = Duration::from_secs(3_600);
/// Time limit of a connection with its TLS handshake.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest that the server may be silent.
const SILENCE: Duration = Duration::from_secs(10);
/// Content may take a second longer for each of these. Bytes.
const BYTES_PER_SECOND: u64 = 1 << 20;
/// The first pause before a retry; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_secs(2);
/// Longer content is announced before it is sent, so that a server may refuse it. Bytes.
const MAX_UNANNOUNCED_BYTES: u64 = 256 << 10;

/// A client of a bucket.
pub(super) struct Wire {
    agent: Agent,
    address: Address,
    credentials: Credentials,
    timeout: Duration,
    gate: Gate,
    pub(super) counts: Counts,
}

/// Counters of this process.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Requests that were sent.
    pub(super) requests: AtomicU64,
    /// Those among them that repeated others.
    pub(super) retries: AtomicU64,
    /// Operations that were given up.
    pub(super) failures: AtomicU64,
}

/// A request.
#[derive(Clone, Copy)]
pub(super) struct Ask<'a> {
    pub(super) method: Method,
    /// The whole key; empty for the bucket.
    pub(super) key: &'a str,
    /// In the order of the names.
    pub(super) query: &'a [(&'a str, &'a str)],
    /// In lower case, and in the order of the names. All are signed.
    pub(super) headers: &'a [(&'a str, &'a str)],
}

impl<'a> Ask<'a> {
    pub(super) fn new(method: Method, key: &'a str) -> Self {
        Self {
            method,
            key,
            query: &[],
            headers: &[],
        }
    }
}

impl Wire {
    pub(super) fn new(settings: &BucketSettings) -> Result<Self, BlobError> {
        let (id, secret) = (&settings.access_key_id, &settings.secret_access_key);
        let credentials = match &settings.session_token {
            Some(token) => Credentials::new_with_token(id, secret, token),
            None => Credentials::new(id, secret),
        };
        Ok(Self {
            agent: agent(&settings.trust),
            address: settings.address()?,
            credentials,
            timeout: settings.timeout,
            gate: Gate::default(),
            counts: Counts::default(),
        })
    }

    /// Time limit of an operation on content of this size.
    pub(super) fn limit(&self, size_bytes: u64) -> Duration {
        self.timeout + time_for(size_bytes)
    }

    /// The address of a request, which anybody may send while its signature holds.
    pub(super) fn signed(&self, ask: &Ask<'_>, life: Duration) -> String {
        let url = match ask.key {
            "" => self.address.base_url().clone(),
            key => self.address.object_url(key),
        };
        let signed = sign(
            &Timestamp::now(),
            ask.method,
            url,
            self.credentials.key(),
            self.credentials.secret(),
            self.credentials.token(),
            self.address.region(),
            life.as_secs().max(1),
            ask.query.iter().copied(),
            ask.headers.iter().copied(),
        );
        signed.into()
    }

    /// Sends a request once: its answer begins within a time, and ends by so much later.
    pub(super) fn send(
        &self,
        ask: &Ask<'_>,
        content: Option<Content<'_>>,
        within: Duration,
        more: Duration,
    ) -> Result<Response<Body>, Trouble> {
        self.counts.requests.fetch_add(1, Ordering::Relaxed);
        let url = self.signed(ask, SIGNATURE_LIFE);
        let mut request = Request::builder().method(ask.method.to_str()).uri(url);
        for (name, value) in ask.headers {
            request = request.header(*name, *value);
        }
        let limits = (within, within + more);
        let Some(content) = content else {
            return self.run(request.body(()), limits);
        };
        let size_bytes = content.size_bytes();
        request = request.header(CONTENT_LENGTH, size_bytes);
        if size_bytes > MAX_UNANNOUNCED_BYTES {
            request = request.header("expect", "100-continue");
        }
        let mut reader = content.reader();
        self.run(request.body(SendBody::from_reader(&mut reader)), limits)
    }

    fn run<S: AsSendBody>(
        &self,
        request: Result<Request<S>, http::Error>,
        (until_answer, whole): (Duration, Duration),
    ) -> Result<Response<Body>, Trouble> {
        let request = request.map_err(|error| Trouble::Broken(error.to_string()))?;
        let method = request.method().clone();
        let request = self.agent.configure_request(request);
        let request = request
            .timeout_recv_response(Some(until_answer))
            .timeout_global(Some(whole))
            .build();
        match self.agent.run(request) {
            Ok(response) if response.status().is_success() => Ok(response),
            Ok(response) => Err(Trouble::of_answer(response, &method)),
            Err(error) => Err(Trouble::of_transport(&error)),
        }
    }

    /// Repeats `once` until it succeeds, its trouble will not heal, or the deadline comes, which it
    /// may move. It gets the time that is left.
    pub(super) fn persist<T>(
        &self,
        deadline: &Cell<Instant>,
        mut once: impl FnMut(Duration) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let left = || deadline.get().saturating_duration_since(Instant::now());
        let _permit = self.gate.enter(deadline.get()).ok_or(Trouble::Busy)?;
        let mut pause = FIRST_PAUSE;
        loop {
            let trouble = match once(left()) {
                Ok(done) => return Ok(done),
                Err(trouble) => trouble,
            };
            // Services that failed together should not come back together.
            let wait = pause
                .mul_f64(0.5 + fastrand::f64())
                .max(trouble.retry_after());
            if !trouble.is_transient() || wait >= left() {
                if !trouble.is_absence() && !trouble.is_presence() {
                    self.counts.failures.fetch_add(1, Ordering::Relaxed);
                }
                return Err(trouble);
            }
            std::thread::sleep(wait);
            self.counts.retries.fetch_add(1, Ordering::Relaxed);
            pause = (2 * pause).min(MAX_PAUSE);
        }
    }

    /// Sends a request without content until it succeeds.
    pub(super) fn ask<T>(
        &self,
        ask: &Ask<'_>,
        read: impl Fn(Response<Body>) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let deadline = Cell::new(Instant::now() + self.timeout);
        self.persist(&deadline, |within| {
            self.send(ask, None, within, Duration::ZERO).and_then(&read)
        })
    }
}

/// How much longer an operation may take for content of this size.
pub(super) fn time_for(size_bytes: u64) -> Duration {
    Duration::from_secs(size_bytes.div_ceil(BYTES_PER_SECOND))
}

fn agent(trust: &Trust) -> Agent {
    Agent::config_builder()
        .tls_config(trust.agent_config())
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_per_read(Some(SILENCE))
        .timeout_per_write(Some(SILENCE))
        .max_idle_connections(64)
        .max_idle_connections_per_host(64)
        .proxy(None)
        .user_agent("platen")
        .build()
        .into()
}
