//! What a service and its controller tell each other: JSON, one message a packet.

use serde::{Deserialize, Serialize};

use crate::{error::StartError, launcher::Isolation, table::Member};

/// Version of the protocol, part of the greeting: both ends come from the same release.
pub(super) const PROTOCOL: u32 = 1;

/// A program that a controller starts. How it starts is the controller's own matter: no command
/// line, path or variable ever comes from a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Program {
    /// Chromium; its descriptors are the two ends of the DevTools pipe.
    Chromium,
    /// LibreOffice; its descriptor is a connection that speaks URP.
    #[serde(rename = "libreoffice")]
    LibreOffice,
}

/// What a service says. The first message of a connection is `Hello` or `Start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Request {
    /// What can be started here?
    Hello { protocol: u32 },
    /// Start a program. The connection stands for its process: when it closes, the process ends.
    Start { protocol: u32, program: Program },
    /// End the process with all of its family.
    Kill {},
    /// End one process of the family.
    KillMember { pid: i32 },
}

/// What a controller says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Answer {
    /// The answer to `Hello`.
    Hello(Greeting),
    /// The process has started; its descriptors come with this message.
    Started { pid: i32, isolation: Shut },
    /// The process cannot be started.
    Refused(Refusal),
    /// What the family holds at the moment.
    Usage { bytes: u64, members: Vec<Relative> },
    /// The process has exited.
    Exited { status: i32, stderr: String },
    /// Nothing of the family is left.
    Gone {},
}

/// What a controller can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Greeting {
    /// Version of the controller.
    pub version: String,
    /// What its processes are isolated from.
    pub isolation: Shut,
    /// Version of its Chromium, or why there is none.
    pub chromium: Result<String, String>,
    /// Version of its LibreOffice, or why there is none.
    pub libreoffice: Result<String, String>,
    /// Processes that it holds at once.
    pub max_processes: usize,
}

/// [`Isolation`] in a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shut {
    network: bool,
    files: bool,
    fence: bool,
    container: bool,
    is_root_inside: bool,
}

impl From<Isolation> for Shut {
    fn from(isolation: Isolation) -> Self {
        Self {
            network: isolation.network,
            files: isolation.files,
            fence: isolation.fence,
            container: isolation.container,
            is_root_inside: isolation.is_root_inside,
        }
    }
}

impl From<Shut> for Isolation {
    fn from(shut: Shut) -> Self {
        Self {
            network: shut.network,
            files: shut.files,
            fence: shut.fence,
            container: shut.container,
            is_root_inside: shut.is_root_inside,
            ..Self::default()
        }
    }
}

/// Why a controller starts nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Refusal {
    /// The program is not installed.
    NotInstalled { program: String, hint: String },
    /// It ended before it was ready.
    Ended { status: String, stderr: String },
    /// Any other reason.
    Other(String),
}

impl From<StartError> for Refusal {
    fn from(error: StartError) -> Self {
        match error {
            StartError::NotInstalled { program, hint } => Self::NotInstalled { program, hint },
            StartError::Ended { status, stderr } => Self::Ended { status, stderr },
            other => {
                let mut text = other.to_string();
                let mut cause = std::error::Error::source(&other);
                while let Some(error) = cause {
                    text.push_str(&format!(": {error}"));
                    cause = error.source();
                }
                Self::Other(text)
            }
        }
    }
}

impl From<Refusal> for StartError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotInstalled { program, hint } => Self::NotInstalled { program, hint },
            Refusal::Ended { status, stderr } => Self::Ended { status, stderr },
            Refusal::Other(reason) => Self::Unusable(reason.into()),
        }
    }
}

/// [`Member`] in a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Relative {
    pid: i32,
    own_bytes: u64,
    line: String,
}

/// Bytes of a command line that are told: the first arguments say what a process is.
const MAX_LINE: usize = 160;
/// Processes of a family that are told.
const MAX_RELATIVES: usize = 200;

impl Relative {
    /// The family, as far as a packet holds it: the largest processes.
    pub(super) fn of(mut members: Vec<Member>) -> Vec<Self> {
        members.sort_by_key(|member| std::cmp::Reverse(member.own_bytes));
        let told = members.into_iter().take(MAX_RELATIVES);
        told.map(|member| {
            let mut line = member.command_line.replace(char::is_control, " ");
            line.truncate(line.floor_char_boundary(MAX_LINE));
            Self {
                pid: member.pid,
                own_bytes: member.own_bytes,
                line,
            }
        })
        .collect()
    }
}

impl From<Relative> for Member {
    fn from(relative: Relative) -> Self {
        Self {
            pid: relative.pid,
            own_bytes: relative.own_bytes,
            command_line: relative.line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_messages_are_read() {
        let read = |text: &str| serde_json::from_str::<Request>(text).ok();
        let start = r#"{"start":{"protocol":1,"program":"libreoffice"}}"#;
        let program = Program::LibreOffice;
        assert_eq!(
            read(start),
            Some(Request::Start {
                protocol: 1,
                program
            })
        );
        assert_eq!(read(r#"{"kill":{}}"#), Some(Request::Kill {}));
        for other in [
            r#"{"start":{"protocol":1,"program":"sh"}}"#,
            r#"{"start":{"protocol":1,"program":"chromium","arguments":["--no-sandbox"]}}"#,
            r#"{"start":{"protocol":1,"program":"chromium"},"kill":{}}"#,
            r#"{"kill-member":{"pid":99999999999}}"#,
            "",
            "[",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn a_large_family_fits_into_a_packet() {
        let member = |pid| Member {
            pid,
            own_bytes: u64::from(pid.unsigned_abs()),
            command_line: "\u{1}\"ü".repeat(10_000),
        };
        let members = Relative::of((0..5_000).map(member).collect());
        assert_eq!(members[0].pid, 4_999);
        let usage = Answer::Usage { bytes: 1, members };
        let bytes = serde_json::to_vec(&usage).unwrap();
        assert!(
            bytes.len() <= super::super::packet::MAX_BYTES,
            "{}",
            bytes.len()
        );
    }
}
