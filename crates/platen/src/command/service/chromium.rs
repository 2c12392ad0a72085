//! Chromium as commands have it: what variables say of it, and a pool for flows that starts with their
//! first page of HTML.

use std::{path::PathBuf, sync::Arc, time::Duration};

use platen_browser::{Browser, Config, Error, find_chromium_in};
use platen_engine::Page;
use platen_flow::StepError;
use platen_fonts::FontSettings;
use platen_render::Rendered;
use platen_runs::execution::{ChromiumPrint, Print};
use platen_script::Cancellation;
use tokio::{runtime::Runtime, sync::OnceCell};

use super::isolation;

/// How long a page may take where RENDER_TIMEOUT_MS does not say.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// The pool that variables ask for, as many pages at once as there are cores.
///
/// # Errors
/// A variable that cannot be read.
pub fn config() -> Result<Config, String> {
    let hosts = variable("CHROMIUM_ALLOWED_HOSTS").unwrap_or_default();
    let hosts = hosts
        .split(',')
        .map(str::trim)
        .filter(|host| !host.is_empty());
    let allow_private_addresses = match variable("CHROMIUM_ALLOW_PRIVATE_ADDRESSES").as_deref() {
        None | Some("false" | "0") => false,
        Some("true" | "1") => true,
        Some(other) => {
            return Err(format!(
                "CHROMIUM_ALLOW_PRIVATE_ADDRESSES is `{other}`, not true or false"
            ));
        }
    };
    Ok(Config {
        program: std::env::var_os("CHROMIUM_PATH").map(PathBuf::from),
        remote: isolation::remote("CHROMIUM_REMOTE")?,
        slots: std::thread::available_parallelism().map_or(2, std::num::NonZero::get),
        reserved: 0,
        spares: 0,
        allowed_hosts: hosts.map(str::to_owned).collect(),
        allow_private_addresses,
        ..Config::default()
    })
}

fn variable(name: &str) -> Option<String> {
    let text = std::env::var(name).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// A pool of the processes that `RENDER_MODE` and `CHILD_ISOLATION` ask for.
///
/// # Errors
/// If this machine cannot provide the isolation, or the temporary folder cannot be used.
pub async fn start(config: Config) -> Result<Browser, String> {
    let chosen = isolation::origin().await;
    let chosen = chosen.map_err(|error| error.to_string())?;
    Browser::new(config, chosen.origin, std::env::temp_dir())
        .map_err(|error| format!("cannot use the temporary folder: {error}"))
}

/// Chromium, started with the first page.
struct LocalChromium {
    runtime: Option<Runtime>,
    browser: Arc<OnceCell<Browser>>,
    print: ChromiumPrint,
}

impl Print for LocalChromium {
    fn print(
        &self,
        page: Page,
        timeout: Duration,
        cancel: &Cancellation,
    ) -> Result<Rendered, StepError> {
        self.print.print(page, timeout, cancel)
    }
}

impl Drop for LocalChromium {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else {
            return;
        };
        if let Some(browser) = self.browser.get() {
            runtime.block_on(browser.shutdown(Duration::ZERO));
        }
        runtime.shutdown_background();
    }
}

/// Pages of HTML for flows. Where Chromium is not installed, their steps say so.
///
/// # Errors
/// A variable that cannot be read.
pub fn print(fonts: FontSettings) -> Result<Arc<dyn Print>, String> {
    let config = Config { fonts, ..config()? };
    let longest = match variable("RENDER_TIMEOUT_MS") {
        None => TIMEOUT,
        Some(text) => {
            let wrong = |_| format!("RENDER_TIMEOUT_MS is `{text}`, not a number of milliseconds");
            Duration::from_millis(text.parse().map_err(wrong)?)
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let browser: Arc<OnceCell<Browser>> = Arc::default();
    let shared = Arc::clone(&browser);
    let print = ChromiumPrint::new(runtime.handle().clone(), longest, move |job| {
        let (browser, config) = (Arc::clone(&shared), config.clone());
        Box::pin(async move {
            let failed = |error| ChromiumPrint::failure(&error);
            let begin = async || {
                if let Some(image) = isolation::image().filter(|_| config.remote.is_empty()) {
                    find_chromium_in(&image, config.program.as_deref())
                        .map_err(|error| failed(Error::NotInstalled(Arc::new(error))))?;
                }
                start(config).await.map_err(ChromiumPrint::not_started)
            };
            let started = browser.get_or_try_init(begin).await?;
            started.print(job).await.map_err(failed)
        })
    });
    Ok(Arc::new(LocalChromium {
        runtime: Some(runtime),
        browser,
        print,
    }))
}
