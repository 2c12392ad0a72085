//! Finds Chromium and builds its command line.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use platen_pool::{Image, StartError};

/// Programs in order of preference: the headless shell starts in a fifth of the time and uses a
/// third of the memory.
const NAMES: [&str; 7] = [
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
];
/// Debian's wrapper script only adds a shell process, so the binary is preferred.
const DIRECT: &str = "/usr/lib/chromium/chromium-headless-shell";

/// How to install Chromium.
pub const INSTALL_HINT: &str = "install chromium-headless-shell or chromium \
    (Debian and Ubuntu: apt-get install chromium-headless-shell), \
    or name the program in CHROMIUM_PATH";

/// The named program, or the first that is installed on this machine.
///
/// # Errors
/// Chromium is not installed.
pub fn find_chromium(named: Option<&Path>) -> Result<PathBuf, StartError> {
    find_chromium_in(&Image::host(), named)
}

/// The same in an image.
///
/// # Errors
/// Chromium is not installed there.
pub fn find_chromium_in(image: &Image, named: Option<&Path>) -> Result<PathBuf, StartError> {
    if let Some(named) = named {
        let found = find(image, named);
        return found.ok_or_else(|| not_installed(image, named.display().to_string()));
    }
    let candidates = std::iter::once(DIRECT).chain(NAMES);
    let found = candidates
        .into_iter()
        .find_map(|name| find(image, name.as_ref()));
    found.ok_or_else(|| not_installed(image, "Chromium".to_owned()))
}

fn not_installed(image: &Image, program: String) -> StartError {
    StartError::NotInstalled {
        program,
        hint: image.hint(INSTALL_HINT, "CHROMIUM_PATH"),
    }
}

fn find(image: &Image, name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return image.is_file(name).then(|| name.to_owned());
    }
    let folders = image.folders();
    let mut candidates = folders.iter().map(|folder| folder.join(name));
    candidates.find(|candidate| image.is_file(candidate))
}

/// Options of a start.
#[derive(Clone, Debug)]
pub(crate) struct Switches {
    pub(crate) sandbox: bool,
    pub(crate) script_heap_mb: u32,
}

/// Chromium's command line: no background services, no network, the same fonts everywhere.
pub(crate) fn arguments(profile: &Path, switches: &Switches) -> Vec<OsString> {
    let fixed = [
        "--headless",
        "--remote-debugging-pipe",
        "--no-first-run",
        "--no-default-browser-check",
        "--no-startup-window",
        "--no-pings",
        "--disable-background-networking",
        "--disable-background-timer-throttling",
        "--disable-backgrounding-occluded-windows",
        "--disable-breakpad",
        "--disable-client-side-phishing-detection",
        "--disable-component-extensions-with-background-pages",
        "--disable-component-update",
        "--disable-crash-reporter",
        "--disable-default-apps",
        "--disable-dev-shm-usage",
        "--disable-domain-reliability",
        "--disable-extensions",
        "--disable-file-system",
        "--disable-gpu",
        "--disable-hang-monitor",
        "--disable-ipc-flooding-protection",
        "--disable-notifications",
        "--disable-prompt-on-repost",
        "--disable-renderer-backgrounding",
        "--disable-search-engine-choice-screen",
        "--disable-site-isolation-trials",
        "--disable-speech-api",
        "--disable-sync",
        "--disable-features=AcceptCHFrame,BackForwardCache,DialMediaRouteProvider,IsolateOrigins,\
         MediaRouter,OptimizationHints,ServiceWorkerPaymentApps,SharedWorker,Translate,WebUSB,\
         site-per-process",
        "--block-new-web-contents",
        "--deny-permission-prompts",
        "--dns-prefetch-disable",
        "--font-render-hinting=none",
        "--force-color-profile=srgb",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--hide-scrollbars",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--metrics-recording-only",
        "--mute-audio",
        "--password-store=basic",
        // A proxy on port 9 (discard), where nothing listens, with no exception from it, not even
        // for loopback.
        "--proxy-server=http://127.0.0.1:9",
        "--proxy-bypass-list=<-loopback>",
        "--use-mock-keychain",
    ];
    let mut all: Vec<OsString> = fixed.iter().map(|text| OsString::from(*text)).collect();
    let mut profile_switch = OsString::from("--user-data-dir=");
    profile_switch.push(profile);
    all.push(profile_switch);
    let heap = switches.script_heap_mb;
    all.push(format!("--js-flags=--max-old-space-size={heap}").into());
    if !switches.sandbox {
        all.push("--no-sandbox".into());
    }
    all
}
