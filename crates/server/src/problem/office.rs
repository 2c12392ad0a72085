//! Problem documents for failures of LibreOffice.

use platen_office::Error;

use super::Problem;

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let problem = Self::of_error(error.code(), &error);
        match error {
            Error::CannotStart { retry_after, .. } | Error::QueueFull { retry_after } => {
                problem.retry_after(retry_after.as_secs())
            }
            _ => problem,
        }
    }
}
