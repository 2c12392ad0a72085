//! Maps LibreOffice's errors to errors about the document, and to what they mean for the process.

use std::{io, time::Duration};

use platen_pool::JobError;

use crate::Error;

/// Error code for a wrong password of a Word 97 to 2003 document, for which LibreOffice does not
/// ask again.
const WRONG_PASSWORD: i32 = 0x1_000f;
/// Error codes that indicate damage once the format is known: general I/O error, loading failed,
/// and all errors of the classes "read" and "wrong format" (`vcl/errcode.hxx`).
const GENERAL_ERROR: i32 = 0x20d;
const LOAD_FAILED: i32 = 0x4039;
const CLASS_READ: i32 = 0x0b;
const CLASS_FORMAT: i32 = 0x0e;

/// What is known about a document before LibreOffice reads it.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    pub(crate) is_encrypted: bool,
    /// Whether it is an OpenDocument file that is encrypted as a whole.
    pub(crate) is_encrypted_package: bool,
    pub(crate) has_password: bool,
}

pub(crate) enum Failed {
    Urp(platen_urp::Error),
    Output(io::Error),
    TooLarge(u64),
}

/// The error to report, and what it means for the process.
pub(crate) fn job_error(failed: Failed, known: Known, timeout: Duration) -> JobError<Error> {
    use platen_urp::Error as Urp;
    let error = match failed {
        Failed::Urp(error) => error,
        Failed::Output(error) => return JobError::replace(Error::Output(error)),
        Failed::TooLarge(limit_bytes) => {
            return JobError::sound(Error::ResultTooLarge { limit_bytes });
        }
    };
    let text = error.to_string();
    match error {
        Urp::PasswordNeeded => JobError::sound(Error::PasswordNeeded),
        Urp::PasswordWrong => JobError::sound(Error::PasswordWrong),
        Urp::Broken => JobError::sound(Error::Damaged),
        Urp::NotLoaded { code } => JobError::sound(not_loaded(code, known, text)),
        Urp::UnknownFormat(_) | Urp::Missing(_) => JobError::sound(Error::NotLoaded(text)),
        Urp::NotStored(message) => JobError::sound(Error::NotStored(message)),
        Urp::Input(error) => JobError::sound(Error::Input(error)),
        Urp::Output(error) => JobError::sound(Error::Output(error)),
        Urp::Timeout { phase, .. } => JobError::replace(Error::Timeout {
            timeout,
            phase: Some(phase_name(phase)),
        }),
        Urp::Silent(_) => JobError::replace(Error::Timeout {
            timeout,
            phase: None,
        }),
        error if is_crash(&error) => JobError::crashed(Error::Conversation(error)),
        error => JobError::replace(Error::Conversation(error)),
    }
}

/// Whether the error means that the process crashed or is exiting.
pub(crate) fn is_crash(error: &platen_urp::Error) -> bool {
    use platen_urp::Error as Urp;
    match error {
        Urp::Closed(_) | Urp::Connect { .. } => true,
        Urp::Exception(exception) => exception.name.ends_with("DisposedException"),
        _ => false,
    }
}

/// The error for a document that LibreOffice did not open.
fn not_loaded(code: Option<i32>, known: Known, text: String) -> Error {
    match code {
        _ if known.is_encrypted && !known.has_password => Error::PasswordNeeded,
        Some(WRONG_PASSWORD) => match known.has_password {
            true => Error::PasswordWrong,
            false => Error::PasswordNeeded,
        },
        // What a wrong password makes of such a package looks damaged.
        Some(code) if known.is_encrypted_package && is_damage(code) => Error::PasswordWrong,
        _ if known.is_encrypted => Error::NotLoaded(
            "it is encrypted in a way that this version does not know; save it without a password"
                .to_owned(),
        ),
        Some(code) if is_damage(code) => Error::Damaged,
        _ => Error::NotLoaded(text),
    }
}

fn is_damage(code: i32) -> bool {
    let class = (code >> 8) & 0x1f;
    matches!(code, GENERAL_ERROR | LOAD_FAILED) || matches!(class, CLASS_READ | CLASS_FORMAT)
}

pub(crate) fn phase_name(phase: platen_urp::Phase) -> &'static str {
    use platen_urp::Phase;
    match phase {
        Phase::Put => "put",
        Phase::Load => "load",
        Phase::Store => "store",
        Phase::Get => "get",
        Phase::Close => "close",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_code_for_each_reason() {
        let of = |code, is_encrypted, has_password| {
            let known = Known {
                is_encrypted,
                is_encrypted_package: false,
                has_password,
            };
            not_loaded(Some(code), known, String::new()).code().name()
        };
        // A Word 97 document, whose password LibreOffice does not ask for again.
        assert_eq!(of(WRONG_PASSWORD, false, true), "password-wrong");
        assert_eq!(of(WRONG_PASSWORD, false, false), "password-needed");
        // A PowerPoint 97 document, which LibreOffice cannot decrypt.
        assert_eq!(of(0xe14, true, false), "password-needed");
        assert_eq!(of(0xe14, true, true), "document-not-loaded");
        for damage in [GENERAL_ERROR, LOAD_FAILED, 0x70b0f, 0x40b08, 0xe14] {
            assert_eq!(of(damage, false, false), "document-damaged");
        }
        assert_eq!(of(0x11b, false, false), "document-not-loaded");
    }
}
