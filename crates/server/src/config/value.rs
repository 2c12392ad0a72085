//! Values of settings: how each is read from a variable.

use std::path::PathBuf;

use platen_engine::browser::Demand;
use platen_engine::jail::Level;
use serde::{Deserialize, Serialize};

/// Form of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// A line for people.
    #[default]
    Text,
    /// An object a line.
    Json,
}

/// What is logged: the level and all above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Failures of the service.
    Error,
    /// What an operator should change.
    Warn,
    /// Every request.
    #[default]
    Info,
    /// Health checks and metrics, too.
    Debug,
}

/// Where documents are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RenderIsolation {
    /// Of templates that a request brings each in a sandbox, where there can be one; of stored ones
    /// in the service.
    #[default]
    Auto,
    /// In the service.
    Inline,
    /// Each in a sandbox of its own.
    Jail,
}

impl FromVariable for RenderIsolation {
    fn from_variable(text: &str) -> Result<Self, &'static str> {
        match text.trim() {
            "auto" => Ok(Self::Auto),
            "inline" => Ok(Self::Inline),
            "jail" => Ok(Self::Jail),
            _ => Err("auto, inline or jail"),
        }
    }
}

/// How well code must be shut in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxLevel {
    /// A process with limits: for code that is trusted.
    ProcessOnly,
    /// Seccomp besides.
    #[default]
    NoNamespaces,
    /// Namespaces and an empty root besides.
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

/// How much LibreOffice and Chromium are shut in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChildIsolation {
    /// As well as the machine allows.
    #[default]
    Auto,
    /// Behind walls, or the service does not start.
    Required,
    /// As any other program.
    Off,
}

impl From<ChildIsolation> for Demand {
    fn from(setting: ChildIsolation) -> Self {
        match setting {
            ChildIsolation::Auto => Self::Auto,
            ChildIsolation::Required => Self::Required,
            ChildIsolation::Off => Self::Off,
        }
    }
}

/// A value that a variable can hold.
pub(crate) trait FromVariable: Sized {
    /// Reads it; the error says what is expected.
    fn from_variable(text: &str) -> Result<Self, &'static str>;
}

macro_rules! number {
    ($($kind:ty),+) => {
        $(impl FromVariable for $kind {
            fn from_variable(text: &str) -> Result<Self, &'static str> {
                text.trim().parse().map_err(|_| "a whole number")
            }
        })+
    };
}

number!(u16, u32, u64);

impl FromVariable for String {
    fn from_variable(text: &str) -> Result<Self, &'static str> {
        Ok(text.trim().to_owned())
    }
}

impl FromVariable for PathBuf {
    fn from_variable(text: &str) -> Result<Self, &'static str> {
        Ok(text.into())
    }
}

impl FromVariable for bool {
    fn from_variable(text: &str) -> Result<Self, &'static str> {
        match text.trim() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err("true or false"),
        }
    }
}

impl FromVariable for Vec<String> {
    fn from_variable(text: &str) -> Result<Self, &'static str> {
        let parts = text.split(',').map(str::trim);
        Ok(parts
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect())
    }
}

impl FromVariable for Vec<PathBuf> {
    fn from_variable(text: &str) -> Result<Self, &'static str> {
        Ok(std::env::split_paths(text).collect())
    }
}

impl FromVariable for ChildIsolation {
    fn from_variable(text: &str) -> Result<Self, &'static str> {
        match text.trim() {
            "auto" => Ok(Self::Auto),
            "required" => Ok(Self::Required),
            "off" => Ok(Self::Off),
            _ => Err("auto, required or off"),
        }
    }
}

impl FromVariable for LogFormat {
    fn from_variable(text: &str) -> Result<Self, &'static str> {
        match text.trim() {
            "json" => Ok(Self::Json),
            "text" => Ok(Self::Text),
            _ => Err("json or text"),
        }
    }
}

impl FromVariable for LogLevel {
    fn from_variable(text: &str) -> Result<Self, &'static str> {
        match text.trim() {
            "error" => Ok(Self::Error),
            "warn" => Ok(Self::Warn),
            "info" => Ok(Self::Info),
            "debug" => Ok(Self::Debug),
            _ => Err("error, warn, info or debug"),
        }
    }
}

impl FromVariable for SandboxLevel {
    fn from_variable(text: &str) -> Result<Self, &'static str> {
        match text.trim() {
            "process-only" => Ok(Self::ProcessOnly),
            "no-namespaces" => Ok(Self::NoNamespaces),
            "full" => Ok(Self::Full),
            _ => Err("process-only, no-namespaces or full"),
        }
    }
}
