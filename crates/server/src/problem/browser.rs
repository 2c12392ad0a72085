//! Problem documents for failures of Chromium.

use hyper::StatusCode;
use platen_browser::Error;

use super::{Problem, chain};

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let (text, code) = (error.to_string(), error.code());
        let status = match &error {
            Error::NotInstalled(_) => StatusCode::NOT_IMPLEMENTED,
            Error::CannotStart { retry_after, .. } => {
                let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, code, text);
                return Problem {
                    cause: Some(chain(&error)),
                    ..problem.retry_after(retry_after.as_secs())
                };
            }
            Error::QueueFull { retry_after } => {
                let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, code, text);
                return problem.retry_after(retry_after.as_secs());
            }
            Error::ShuttingDown => {
                return Problem::new(StatusCode::SERVICE_UNAVAILABLE, code, text).retry_after(1);
            }
            Error::Timeout { .. } => StatusCode::GATEWAY_TIMEOUT,
            Error::BadOption { .. } => StatusCode::BAD_REQUEST,
            Error::Crashed { .. }
            | Error::MemoryExceeded { .. }
            | Error::TooLarge { .. }
            | Error::RequestDenied(_)
            | Error::NotLoaded(_)
            | Error::Exceptions(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Error::CrashedMidway
            | Error::Refused { .. }
            | Error::Disconnected
            | Error::PageCrashed => {
                return Problem::internal(chain(&error));
            }
        };
        Problem::new(status, code, text)
    }
}
