//! What an error of the server or of its connection means for the caller. Source:
//! <https://www.postgresql.org/docs/current/errcodes-appendix.html>.

use std::{error::Error as _, io};

use tokio_postgres::error::{DbError, Severity};

use super::address::Address;
use crate::Error;

/// Why there is no connection.
#[derive(Clone, Debug)]
pub(super) enum Trouble {
    /// Trying again may help.
    Unavailable(String),
    /// It will not, until an operator changes something.
    Server(String),
}

impl From<Trouble> for Error {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Unavailable(cause) => Self::Unavailable(cause),
            Trouble::Server(cause) => Self::Server(cause),
        }
    }
}

/// Whether the connection is lost, so that the end of a transaction on it may be unknown. A server
/// that ends a session says so with severity FATAL, possibly after it has committed.
pub(super) fn is_lost(error: &tokio_postgres::Error) -> bool {
    match error.as_db_error() {
        Some(said) => {
            let is_ended = matches!(
                said.parsed_severity(),
                Some(Severity::Fatal | Severity::Panic)
            );
            // A statement that a migration, or a proxy between, made unusable: it is prepared anew
            // on another connection.
            is_ended || ["0A000", "26000"].contains(&said.code().code())
        }
        None => {
            error.is_closed()
                || error.source().is_some_and(|cause| cause.is::<io::Error>())
                || error.to_string().contains("unexpected message")
        }
    }
}

/// Whether the same statements may succeed a moment later, as after a deadlock.
pub(super) fn is_passing(error: &tokio_postgres::Error) -> bool {
    let code = error.as_db_error().map_or("", |said| said.code().code());
    ["40001", "40P01"].contains(&code)
}

/// What a statement that failed tells its caller.
pub(super) fn refused(error: tokio_postgres::Error, address: &Address) -> Error {
    if is_lost(&error) {
        return Error::Unavailable(chain(&error));
    }
    let Some(said) = error.as_db_error() else {
        return Error::Statement(error);
    };
    match said.code().code() {
        "53100" => Error::DiskFull,
        // Texts are UTF-8 before they come here, so it is the one character that is refused.
        "22021" => Error::Nul,
        // Resources, conflicts that persisted, a cancelled statement, a server that became a replica.
        "40001" | "40P01" | "55P03" | "57014" | "25006" | "53000" | "53200" | "53300" | "53400" => {
            Error::Unavailable(said.message().to_owned())
        }
        "42501" => Error::Server(rights(said, address)),
        "42P01" | "3F000" => Error::Server(format!(
            "{}: the tables of Platen were removed; restart the service to create them",
            said.message()
        )),
        "42P07" => Error::Server(format!(
            "{}: give Platen a database, or a schema in search_path, of its own",
            said.message()
        )),
        _ => Error::Statement(error),
    }
}

fn rights(said: &DbError, address: &Address) -> String {
    let (user, database) = (address.user(), address.database());
    format!(
        "{}: grant the role {user} the right to create and use tables in the database {database} \
         (GRANT CREATE, USAGE ON SCHEMA public TO {user})",
        said.message()
    )
}

/// Why no connection could be made.
pub(super) fn no_connection(error: &tokio_postgres::Error, address: &Address) -> Trouble {
    let (user, database) = (address.user(), address.database());
    let Some(said) = error.as_db_error() else {
        let cause = chain(error);
        let is_configuration = ["authentication", "TLS", "tls", "certificate", "password"];
        let for_ever = is_configuration.iter().any(|word| cause.contains(word))
            && !error.source().is_some_and(is_network);
        return match for_ever {
            true => Trouble::Server(format!("{cause}: check the password and sslmode")),
            false => Trouble::Unavailable(cause),
        };
    };
    let message = said.message();
    Trouble::Server(match said.code().code() {
        "28P01" => format!("{message}: check user and password of the address"),
        "28000" => format!("{message}: allow {user} in pg_hba.conf, or use another sslmode"),
        "3D000" => format!("{message}: create it (CREATE DATABASE {database} OWNER {user})"),
        "42501" => rights(said, address),
        "53300" => {
            return Trouble::Unavailable(format!(
                "it has no connection left ({message}): raise its max_connections; a process of \
                 Platen needs up to eight, and a service one more"
            ));
        }
        // Starting up, shutting down, a replica: passing.
        _ => return Trouble::Unavailable(message.to_owned()),
    })
}

fn is_network(error: &(dyn std::error::Error + 'static)) -> bool {
    let Some(error) = error.downcast_ref::<io::Error>() else {
        return false;
    };
    // TLS reports its own refusals as invalid data.
    !matches!(
        error.kind(),
        io::ErrorKind::InvalidData | io::ErrorKind::Other
    )
}

/// An error and its causes in one line.
fn chain(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}
