//! One page: a browser context of its own, prepared ahead of need and used once.

mod cookies;
mod media;
mod page_state;
mod picture;
mod print;
mod remote;
mod request_interceptor;

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{sync::Semaphore, task::JoinHandle};

pub use self::page_state::{FailedResource, Report};
use self::request_interceptor::{ORIGIN, RequestInterceptor};
pub(crate) use self::{page_state::PageState, print::Sink};
use crate::{
    chromium::Chromium,
    devtools::{CallError, MAX_MESSAGE, MAX_SENT},
    error::Error,
    outside::{Outside, PER_PAGE},
};

/// Port 9 (discard), where nothing listens.
const DEAD_PROXY: &str = "http://127.0.0.1:9";
/// How long disposing of a page may take before its whole Chromium process is killed.
const DISPOSE_TIMEOUT: Duration = Duration::from_millis(1500);

/// A page and its DevTools session.
pub(crate) struct Page {
    pub(crate) chromium: Arc<Chromium>,
    pub(crate) page_state: Arc<PageState>,
    context: String,
    session: String,
    frame: String,
    interceptor: JoinHandle<()>,
    disposed: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    #[serde(default)]
    browser_context_id: String,
    #[serde(default)]
    target_id: String,
    #[serde(default)]
    session_id: String,
}

impl Page {
    /// Creates a page at the virtual origin, so that a job only has to set its document.
    pub(crate) async fn open(
        chromium: Arc<Chromium>,
        outside: Arc<Outside>,
        max_requests: u32,
    ) -> Result<Self, CallError> {
        let connection = chromium.connection.clone();
        let mut create = json!({ "disposeOnDetach": true });
        if chromium.is_remote() {
            // What the command line says to a Chromium of ours: a proxy that does not exist.
            create["proxyServer"] = DEAD_PROXY.into();
            create["proxyBypassList"] = "<-loopback>".into();
        }
        let created = chromium.ask("Target.createBrowserContext", create);
        let context = created.await?.browser_context_id;
        let guard = ContextGuard {
            chromium: Arc::clone(&chromium),
            context: Some(context.clone()),
        };
        let target = json!({ "url": "about:blank", "browserContextId": context });
        let frame = chromium.ask("Target.createTarget", target).await?.target_id;
        let attach = json!({ "targetId": frame, "flatten": true });
        let session = chromium
            .ask("Target.attachToTarget", attach)
            .await?
            .session_id;
        let page_state = PageState::new();
        let interceptor = RequestInterceptor {
            connection: connection.clone(),
            session: session.clone(),
            frame: frame.clone(),
            page_state: Arc::clone(&page_state),
            outside,
            at_once: Semaphore::new(PER_PAGE),
            max_requests,
        };
        let interceptor = tokio::spawn(interceptor.run(connection.events(&session)));
        let page = Self {
            chromium,
            page_state,
            context: guard.keep(),
            session,
            frame,
            interceptor,
            disposed: false,
        };
        page.prepare().await?;
        Ok(page)
    }

    async fn prepare(&self) -> Result<(), CallError> {
        let patterns = json!({ "patterns": [{ "urlPattern": "*" }] });
        let deny = json!({ "behavior": "deny", "browserContextId": self.context });
        let connection = &self.chromium.connection;
        tokio::try_join!(
            self.send("Inspector.enable", json!({})),
            self.send("Page.enable", json!({})),
            self.send("Fetch.enable", patterns),
            self.send(
                "Emulation.setScriptExecutionDisabled",
                json!({ "value": true })
            ),
            connection.call(None, "Browser.setDownloadBehavior", deny),
        )?;
        self.page_state
            .change(|state| state.address = Some(ORIGIN.to_owned()));
        self.send("Page.navigate", json!({ "url": ORIGIN })).await?;
        let sound = self.page_state.until(|state| {
            (state.loaded || state.crashed).then_some(state.loaded && !state.crashed)
        });
        if !sound.await {
            return Err(CallError::Closed);
        }
        self.page_state.change(|state| {
            state.address = None;
            state.opened = false;
            state.loaded = false;
            state.requests = 0;
        });
        Ok(())
    }

    async fn send<P: Serialize>(
        &self,
        method: &str,
        params: P,
    ) -> Result<Box<serde_json::value::RawValue>, CallError> {
        let session = Some(self.session.as_str());
        self.chromium.connection.call(session, method, params).await
    }

    /// Calls a method of the page; fails early if the page crashes.
    async fn call<P: Serialize, T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: P,
    ) -> Result<T, Error> {
        let crashed = self.page_state.until(|state| state.crashed.then_some(()));
        let answer = tokio::select! {
            answer = self.send(method, params) => answer,
            () = crashed => return Err(self.why_crashed()),
        };
        let answer = answer.map_err(|error| match error {
            CallError::Closed => Error::Disconnected,
            CallError::Refused(message) => Error::Refused { method, message },
            CallError::TooLong => Error::PageTooLarge {
                limit_bytes: MAX_SENT as u64,
            },
            CallError::AnswerTooLong => Error::TooLarge {
                limit_bytes: MAX_MESSAGE,
            },
        })?;
        serde_json::from_str(answer.get()).map_err(|error| Error::Refused {
            method,
            message: format!("an answer of another shape: {error}"),
        })
    }

    fn why_crashed(&self) -> Error {
        if !self.chromium.is_alive() {
            return Error::Disconnected;
        }
        match self.chromium.killed_for_memory() {
            Some(limit_bytes) => Error::MemoryExceeded { limit_bytes },
            None => Error::PageCrashed,
        }
    }

    /// A round trip through the browser and the page's process.
    pub(crate) async fn probe(&self) -> bool {
        let answer: Result<Value, Error> = self.call("Page.getFrameTree", json!({})).await;
        answer.is_ok()
    }

    /// False if the page is known to be dead.
    pub(crate) fn is_alive(&self) -> bool {
        self.chromium.is_alive() && !self.page_state.state().crashed
    }

    /// Disposes of the page. A Chromium process that does not answer in time is killed.
    pub(crate) async fn dispose(mut self) {
        self.disposed = true;
        self.interceptor.abort();
        self.chromium.connection.forget(&self.session);
        let params = json!({ "browserContextId": self.context });
        let connection = &self.chromium.connection;
        let disposing = connection.call(None, "Target.disposeBrowserContext", params);
        let disposed = tokio::time::timeout(DISPOSE_TIMEOUT, disposing).await;
        if disposed.is_err() {
            self.chromium.give_up();
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.interceptor.abort();
        self.chromium.connection.forget(&self.session);
        if !self.disposed {
            self.chromium.dispose_later(&self.context);
        }
    }
}

/// Disposes of a context if its page could not be completed.
struct ContextGuard {
    chromium: Arc<Chromium>,
    context: Option<String>,
}

impl ContextGuard {
    fn keep(mut self) -> String {
        self.context.take().unwrap_or_default()
    }
}

impl Drop for ContextGuard {
    fn drop(&mut self) {
        if let Some(context) = self.context.take() {
            self.chromium.dispose_later(&context);
        }
    }
}

impl Chromium {
    async fn ask(&self, method: &str, params: Value) -> Result<Created, CallError> {
        let answer = self.connection.call(None, method, params).await?;
        let created = serde_json::from_str(answer.get());
        created.map_err(|error| CallError::Refused(error.to_string()))
    }
}
