//! The sandbox of code: starts with the service or with the first code that needs it, and retries
//! after a failed start. Below the configured sandbox level the service refuses code; everything
//! else works.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use platen_fault::{Backend, Code};
use platen_jail::{Jail, Level, Options};
use platen_render::chain;
use platen_script::{KIND, Preparer, Runner};
use schemars::JsonSchema;
use serde::Serialize;
use tracing::{info, warn};

use crate::{config::Config, problem::Problem};

/// How long a failed start is cached: each attempt takes tens of milliseconds.
const RETRY: Duration = Duration::from_secs(5);

/// The sandbox of code, started on first use.
pub(crate) struct Sandbox {
    least: Level,
    /// Set once the sandbox has started; readable without waiting for a start.
    level: OnceLock<Level>,
    state: Mutex<State>,
}

enum State {
    Untried,
    Ready(Arc<Jail>),
    Failed { at: Instant, reason: String },
}

/// The sandbox for code.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SandboxHealth {
    /// `full`, `no-namespaces` or `process-only`; absent until the sandbox has started, a moment after
    /// the service is ready, and if none starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) level: Option<&'static str>,
    /// Minimum level for code.
    pub(crate) least_level: &'static str,
    /// Whether code can run now; until the sandbox has started, code waits for it.
    pub(crate) runs_code: bool,
}

impl Sandbox {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            least: config.sandbox_level.into(),
            level: OnceLock::new(),
            state: Mutex::new(State::Untried),
        }
    }

    /// The sandbox level that the escape probes measured; `None` before the probes, or if the
    /// sandbox does not start.
    pub(crate) fn level(&self) -> Option<Level> {
        self.level.get().copied()
    }

    /// Runs code. Blocks until the sandbox has started.
    ///
    /// # Errors
    /// 503 if there is no sandbox, or its level is below the required one.
    pub(crate) fn runner(&self) -> Result<Runner, Problem> {
        let code = Code::BackendUnavailable(Backend::Sandbox);
        let jail = self.start().map_err(|reason| Problem {
            cause: Some(reason),
            ..Problem::new(code, "no sandbox available for code")
        })?;
        if jail.level() < self.least {
            let detail = format!(
                "code cannot run: the host allows sandbox level `{}`, but `{}` is required",
                jail.level().name(),
                self.least.name()
            );
            return Err(Problem::new(code, detail));
        }
        Ok(Runner::new(jail))
    }

    /// Parses untrusted code, in a cell.
    pub(crate) fn preparer(self: &Arc<Self>) -> Preparer {
        let sandbox = Arc::clone(self);
        Preparer::Cells(Arc::new(move || {
            sandbox.runner().map_err(|problem| problem.detail)
        }))
    }

    /// State for the health check.
    pub(crate) fn health(&self) -> SandboxHealth {
        let level = self.level();
        SandboxHealth {
            level: level.map(Level::name),
            least_level: self.least.name(),
            runs_code: level.is_some_and(|level| level >= self.least),
        }
    }

    /// Starts the sandbox and logs its level.
    pub(crate) fn announce(&self) {
        // A failure was logged.
        if let Ok(jail) = self.start() {
            let (sandbox, least) = (jail.level().name(), self.least.name());
            if jail.level() < self.least {
                warn!(sandbox, least, "code steps refused: sandbox level too low");
            } else {
                info!(sandbox, least, "sandbox for code ready");
            }
        }
    }

    fn start(&self) -> Result<Arc<Jail>, String> {
        // Hold the lock during the start: concurrent callers wait for the same sandbox.
        let mut state = self.state.lock();
        match &*state {
            State::Ready(jail) => return Ok(Arc::clone(jail)),
            State::Failed { at, reason } if at.elapsed() < RETRY => return Err(reason.clone()),
            _ => {}
        }
        match Jail::start(Options::new(KIND)) {
            Ok(jail) => {
                let jail = Arc::new(jail);
                let _ = self.level.set(jail.level());
                *state = State::Ready(Arc::clone(&jail));
                Ok(jail)
            }
            Err(error) => {
                let reason = chain(&error);
                warn!(cause = reason, "no sandbox available for code");
                *state = State::Failed {
                    at: Instant::now(),
                    reason: reason.clone(),
                };
                Err(reason)
            }
        }
    }
}
