//! Problem documents for failures of LibreOffice.

use hyper::StatusCode;
use platen_engine::fault_of_office;
use platen_office::Error;
use platen_render::Fault;

use super::{Problem, chain};

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let (text, code) = (error.to_string(), error.code());
        match &error {
            Error::NotInstalled(_) => return Problem::new(StatusCode::NOT_IMPLEMENTED, code, text),
            Error::QueueFull { retry_after } | Error::CannotStart { retry_after, .. } => {
                let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, code, text);
                return Problem {
                    cause: Some(chain(&error)),
                    ..problem.retry_after(retry_after.as_secs())
                };
            }
            Error::BadOption { .. } => return Problem::bad_request(code, text),
            Error::TooLarge { .. } => {
                return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, code, text);
            }
            _ => {}
        }
        match fault_of_office(error.fault()) {
            Fault::Caller => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, code, text),
            Fault::Limit if matches!(error, Error::Timeout { .. }) => {
                Problem::new(StatusCode::GATEWAY_TIMEOUT, code, text)
            }
            Fault::Limit => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, code, text),
            Fault::Busy | Fault::Unavailable => {
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, code, text).retry_after(1)
            }
            Fault::Internal => Problem::internal(chain(&error)),
        }
    }
}
