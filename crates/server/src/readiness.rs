//! Warm-up at startup, so that no request waits for it, and the readiness of the service.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use platen_engine::{Data, Engine, Job, Origin};
use platen_render::{Format, RenderOptions, chain};

use crate::{
    config::Config,
    rendering::{chromium::Chromium, libreoffice::LibreOffice},
};

/// How long Chromium or LibreOffice may take to start before the log reports that the service
/// waits.
pub(crate) const CHILD_START_TIMEOUT: Duration = Duration::from_secs(20);
/// Delay between two attempts to start a program.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// A tiny document: rendering it reads the fonts and fills the caches before the first request.
const TEMPLATE: &str =
    r#"{"key":"warm","name":"Warm","body":[{"type":"text","content":"Hello, {{ name }}"}]}"#;

/// State of the warm-up.
pub(crate) struct Readiness {
    engine: AtomicBool,
    /// Chromium has been ready once, or `CHROMIUM_WARM` is off.
    chromium: AtomicBool,
    /// As `chromium`, for `LIBREOFFICE_WARM`.
    libreoffice: AtomicBool,
    draining: AtomicBool,
}

impl Readiness {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            engine: AtomicBool::new(false),
            chromium: AtomicBool::new(!config.chromium_warm),
            libreoffice: AtomicBool::new(!config.libreoffice_warm),
            draining: AtomicBool::new(false),
        }
    }

    /// True once the engine has rendered a document.
    pub(crate) fn is_engine_ready(&self) -> bool {
        self.engine.load(Ordering::Acquire)
    }

    /// True if Chromium is ready or not required.
    pub(crate) fn is_chromium_ready(&self) -> bool {
        self.chromium.load(Ordering::Acquire)
    }

    /// True if LibreOffice is ready or not required.
    pub(crate) fn is_libreoffice_ready(&self) -> bool {
        self.libreoffice.load(Ordering::Acquire)
    }

    /// True once a shutdown has begun.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    pub(crate) fn set_draining(&self) {
        self.draining.store(true, Ordering::Release);
    }

    /// True if the service accepts requests.
    pub(crate) fn takes_requests(&self) -> bool {
        self.is_engine_ready() && !self.is_draining()
    }

    /// Starts Chromium, and retries until it is ready.
    pub(crate) async fn start_chromium(self: Arc<Self>, chromium: Arc<Chromium>) {
        let mut is_logged = false;
        loop {
            let cause = match chromium.browser().await {
                Ok(_) if !chromium.is_installed() => "it is not installed".to_owned(),
                Ok(browser) if browser.warm(CHILD_START_TIMEOUT).await => break,
                Ok(_) => late(),
                Err(problem) => problem.cause.unwrap_or(problem.detail),
            };
            if !std::mem::replace(&mut is_logged, true) {
                log_waiting("Chromium (CHROMIUM_WARM)", cause);
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
        self.chromium.store(true, Ordering::Release);
        tracing::info!("Chromium is ready");
    }

    /// Starts LibreOffice, and retries until it is ready.
    pub(crate) async fn start_libreoffice(self: Arc<Self>, libreoffice: Arc<LibreOffice>) {
        let mut is_logged = false;
        loop {
            let cause = match libreoffice.office().await {
                Ok(_) if libreoffice.check_installed().is_err() => "it is not installed".to_owned(),
                Ok(office) if office.warm(CHILD_START_TIMEOUT).await => break,
                Ok(_) => late(),
                Err(problem) => problem.cause.unwrap_or(problem.detail),
            };
            if !std::mem::replace(&mut is_logged, true) {
                log_waiting("LibreOffice (LIBREOFFICE_WARM)", cause);
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
        self.libreoffice.store(true, Ordering::Release);
        tracing::info!("LibreOffice is ready");
    }

    /// Renders a small document.
    pub(crate) async fn warm_engine(self: Arc<Self>, engine: Arc<Engine>) {
        let rendered = tokio::task::spawn_blocking(move || render_sample(&engine)).await;
        let cause = match rendered {
            Ok(Ok(())) => {
                self.engine.store(true, Ordering::Release);
                tracing::info!("ready");
                return;
            }
            Ok(Err(error)) => chain(&error),
            Err(error) => error.to_string(),
        };
        tracing::error!(cause, "the engine cannot render");
    }
}

fn render_sample(engine: &Engine) -> Result<(), platen_engine::Error> {
    let documents = engine.produce(Job {
        template: &engine.prepare(&TEMPLATE.as_bytes().into(), Origin::Owner)?,
        data: Data::Value(serde_json::json!({"name": "Platen"})),
        formats: &[Format::Pdf, Format::Docx, Format::Xlsx],
        options: &RenderOptions::default(),
    });
    documents.map(drop)
}

fn late() -> String {
    format!(
        "it did not start within {} s",
        CHILD_START_TIMEOUT.as_secs()
    )
}

fn log_waiting(child: &str, cause: String) {
    tracing::error!(cause, "not ready: waiting for {child}");
}
