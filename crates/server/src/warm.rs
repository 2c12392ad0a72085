//! What is made ready when the service starts, so that no request waits for it.

use std::{sync::Arc, time::Duration};

use platen_render::{Format, RenderOptions};
use serde_json::Value as Json;

use crate::{app::App, config::LogLevel, problem::chain};

/// How long a program that starts with the service may take until that is said.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// Between two looks at a program that does not start.
const PAUSE: Duration = Duration::from_secs(1);

/// A tiny document, so that the first request finds fonts read and caches filled.
const TEMPLATE: &str =
    r#"{"key":"warm","name":"Warm","body":[{"type":"text","content":"Hello, {{ name }}"}]}"#;

/// Starts Chromium, and says when it is there: the service is not ready before.
pub(crate) async fn chromium(app: Arc<App>) {
    let mut is_told = false;
    loop {
        let cause = match app.chromium.browser().await {
            Ok(_) if !app.chromium.is_installed() => "it is not installed".to_owned(),
            Ok(browser) if browser.warm(PATIENCE).await => break,
            Ok(_) => format!("it did not start within {} s", PATIENCE.as_secs()),
            Err(problem) => problem.cause.unwrap_or(problem.detail),
        };
        wait_for_child(&app, "Chromium, as CHROMIUM_WARM says", cause, &mut is_told).await;
    }
    app.set_chromium_warm();
    app.log.event(LogLevel::Info, "Chromium is ready", &[]);
}

/// As [`chromium`].
pub(crate) async fn libreoffice(app: Arc<App>) {
    let mut is_told = false;
    loop {
        let cause = match app.libreoffice.office().await {
            Ok(_) if app.libreoffice.check_installed().is_err() => "it is not installed".to_owned(),
            Ok(office) if office.warm(PATIENCE).await => break,
            Ok(_) => format!("it did not start within {} s", PATIENCE.as_secs()),
            Err(problem) => problem.cause.unwrap_or(problem.detail),
        };
        wait_for_child(
            &app,
            "LibreOffice, as LIBREOFFICE_WARM says",
            cause,
            &mut is_told,
        )
        .await;
    }
    app.set_libreoffice_warm();
    app.log.event(LogLevel::Info, "LibreOffice is ready", &[]);
}

/// Says once why the service is not ready, and waits until it is worth another look.
async fn wait_for_child(app: &App, child: &str, cause: String, is_told: &mut bool) {
    if !std::mem::replace(is_told, true) {
        let fields = [("cause", Json::from(cause))];
        let message = format!("not ready before {child}");
        app.log.event(LogLevel::Error, &message, &fields);
    }
    tokio::time::sleep(PAUSE).await;
}

/// Renders something small, and says that the service can.
pub(crate) async fn engine(app: Arc<App>) {
    let shared = Arc::clone(&app);
    let rendered = tokio::task::spawn_blocking(move || {
        let data = serde_json::json!({"name": "Platen"});
        let formats = [Format::Pdf, Format::Docx, Format::Xlsx];
        let options = RenderOptions::default();
        let source = TEMPLATE.as_bytes();
        let documents = shared
            .engine
            .render_source(source, data, &formats, &options)?;
        drop(documents);
        // The first request that brings a template need not wait for it.
        drop(shared.engine.isolation_of_strangers());
        Ok::<(), platen_engine::Error>(())
    })
    .await;
    match rendered {
        Ok(Ok(())) => {
            app.set_warm();
            app.log.event(LogLevel::Info, "ready", &[]);
        }
        Ok(Err(error)) => {
            let fields = [("cause", Json::from(chain(&error)))];
            app.log
                .event(LogLevel::Error, "the engine cannot render", &fields);
        }
        Err(error) => {
            let fields = [("cause", Json::from(error.to_string()))];
            app.log
                .event(LogLevel::Error, "the engine cannot render", &fields);
        }
    }
}
