//! Types of settings, and how to parse each from a variable.

use std::path::PathBuf;

use platen_browser::Demand;
use platen_jail::Level;
use serde::{Deserialize, Serialize};

/// Log format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// A line of text per event.
    #[default]
    Text,
    /// A JSON object per line.
    Json,
}

/// Log level: logs this level and all above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Failures of the service.
    Error,
    /// Problems that the operator should fix.
    Warn,
    /// Every request.
    #[default]
    Info,
    /// Health checks and metrics, too.
    Debug,
}

/// Which templates render in a sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RenderIsolation {
    /// Templates in a request render in a sandbox if available, stored ones in the service.
    #[default]
    Auto,
    /// All templates render in the service.
    Inline,
    /// All templates render in a sandbox of their own.
    Jail,
}

impl FromVariable for RenderIsolation {
    const VALUES: &'static str = "auto, inline or jail";

    fn from_variable(text: &str) -> Option<Self> {
        match text.trim() {
            "auto" => Some(Self::Auto),
            "inline" => Some(Self::Inline),
            "jail" => Some(Self::Jail),
            _ => None,
        }
    }
}

/// Sandbox level for code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxLevel {
    /// A process with resource limits: for trusted code.
    ProcessOnly,
    /// Adds seccomp.
    #[default]
    NoNamespaces,
    /// Adds namespaces and an empty root.
    Full,
}

impl From<SandboxLevel> for Level {
    fn from(level: SandboxLevel) -> Self {
        match level {
            SandboxLevel::ProcessOnly => Self::ProcessOnly,
            SandboxLevel::NoNamespaces => Self::NoNamespaces,
            SandboxLevel::Full => Self::Full,
        }
    }
}

/// Isolation of LibreOffice and Chromium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChildIsolation {
    /// The strongest isolation that the machine supports.
    #[default]
    Auto,
    /// Sandbox required: without one the service does not start.
    Required,
    /// Landlock for files instead of namespaces, and a network namespace if available.
    Landlock,
    /// No isolation.
    Off,
}

impl From<ChildIsolation> for Demand {
    fn from(setting: ChildIsolation) -> Self {
        match setting {
            ChildIsolation::Auto => Self::Auto,
            ChildIsolation::Required => Self::Required,
            ChildIsolation::Landlock => Self::Landlock,
            ChildIsolation::Off => Self::Off,
        }
    }
}

/// Who starts LibreOffice and Chromium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RenderMode {
    /// The service.
    #[default]
    ChildProcess,
    /// A controller, which listens on a Unix socket.
    Socket,
    /// The service, each in a container.
    Container,
}

impl FromVariable for RenderMode {
    const VALUES: &'static str = "child-process, socket or container";

    fn from_variable(text: &str) -> Option<Self> {
        match text.trim() {
            "child-process" => Some(Self::ChildProcess),
            "socket" => Some(Self::Socket),
            "container" => Some(Self::Container),
            _ => None,
        }
    }
}

/// A value that a variable can hold.
pub(crate) trait FromVariable: Sized {
    /// Permitted values; an error message shows them after "does not hold".
    const VALUES: &'static str;

    /// Parses a value; `None` if it is not permitted.
    fn from_variable(text: &str) -> Option<Self>;
}

macro_rules! number {
    ($($kind:ty),+) => {
        $(impl FromVariable for $kind {
            const VALUES: &'static str = "a whole number";

            fn from_variable(text: &str) -> Option<Self> {
                text.trim().parse().ok()
            }
        })+
    };
}

number!(u16, u32, u64);

impl FromVariable for f64 {
    const VALUES: &'static str = "a number";

    fn from_variable(text: &str) -> Option<Self> {
        text.trim().parse().ok()
    }
}

impl FromVariable for String {
    const VALUES: &'static str = "text";

    fn from_variable(text: &str) -> Option<Self> {
        Some(text.trim().to_owned())
    }
}

impl FromVariable for PathBuf {
    const VALUES: &'static str = "a path";

    fn from_variable(text: &str) -> Option<Self> {
        Some(text.into())
    }
}

impl FromVariable for bool {
    const VALUES: &'static str = "true or false";

    fn from_variable(text: &str) -> Option<Self> {
        match text.trim() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        }
    }
}

impl FromVariable for Vec<String> {
    const VALUES: &'static str = "a comma-separated list";

    fn from_variable(text: &str) -> Option<Self> {
        // Files of keys may have one on each line.
        let parts = text.split([',', '\n']).map(str::trim);
        let parts = parts.filter(|part| !part.is_empty());
        Some(parts.map(str::to_owned).collect())
    }
}

impl FromVariable for Vec<PathBuf> {
    const VALUES: &'static str = "a colon-separated list of paths";

    fn from_variable(text: &str) -> Option<Self> {
        Some(std::env::split_paths(text).collect())
    }
}

impl FromVariable for ChildIsolation {
    const VALUES: &'static str = "auto, required, landlock or off";

    fn from_variable(text: &str) -> Option<Self> {
        match text.trim() {
            "auto" => Some(Self::Auto),
            "required" => Some(Self::Required),
            "landlock" => Some(Self::Landlock),
            "off" => Some(Self::Off),
            _ => None,
        }
    }
}

impl FromVariable for LogFormat {
    const VALUES: &'static str = "json or text";

    fn from_variable(text: &str) -> Option<Self> {
        match text.trim() {
            "json" => Some(Self::Json),
            "text" => Some(Self::Text),
            _ => None,
        }
    }
}

impl FromVariable for LogLevel {
    const VALUES: &'static str = "error, warn, info or debug";

    fn from_variable(text: &str) -> Option<Self> {
        match text.trim() {
            "error" => Some(Self::Error),
            "warn" => Some(Self::Warn),
            "info" => Some(Self::Info),
            "debug" => Some(Self::Debug),
            _ => None,
        }
    }
}

impl FromVariable for SandboxLevel {
    const VALUES: &'static str = "process-only, no-namespaces or full";

    fn from_variable(text: &str) -> Option<Self> {
        match text.trim() {
            "process-only" => Some(Self::ProcessOnly),
            "no-namespaces" => Some(Self::NoNamespaces),
            "full" => Some(Self::Full),
            _ => None,
        }
    }
}
/// Milliseconds of a duration in Go's syntax: `1m30s`, `500ms`.
pub(super) fn duration_ms(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut sum = 0.0;
    while !rest.is_empty() {
        let (number, unit, after) = number_and_unit(rest)?;
        let scale = match unit {
            "h" => 3_600_000.0,
            "m" => 60_000.0,
            "s" => 1_000.0,
            "ms" => 1.0,
            _ => return None,
        };
        sum += number * scale;
        rest = after;
    }
    (sum >= 1.0).then_some(sum as u64)
}

/// Bytes of a size such as `5MB` or `1.5GiB`; a thousand bytes are 1024 in both spellings.
pub(super) fn size_bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_uppercase();
    if let Ok(bytes) = text.parse() {
        return Some(bytes);
    }
    let (number, unit, after) = number_and_unit(&text)?;
    let power = match unit.trim_end_matches('B').trim_end_matches('I') {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    let bytes = number * (1_u64 << power) as f64;
    (after.is_empty() && bytes >= 1.0).then_some(bytes as u64)
}

/// A number, the letters after it, and what follows.
fn number_and_unit(text: &str) -> Option<(f64, &str, &str)> {
    let begin = text.find(|sign: char| sign.is_ascii_alphabetic())?;
    let (number, rest) = text.split_at(begin);
    let end = rest.find(|sign: char| !sign.is_ascii_alphabetic());
    let (unit, after) = rest.split_at(end.unwrap_or(rest.len()));
    let number = number.trim().parse::<f64>().ok()?;
    (number.is_finite() && number >= 0.0).then_some((number, unit, after))
}
