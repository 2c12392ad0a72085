//! The DevTools protocol over a pipe: JSON messages, each terminated by a zero byte (Chromium's
//! `--remote-debugging-pipe`; <https://chromedevtools.github.io/devtools-protocol/>).

mod connection;
mod socket;

pub(crate) use self::connection::{CallError, Connection, Event, Events, MAX_MESSAGE, MAX_SENT};
pub(crate) use self::socket::connect;
