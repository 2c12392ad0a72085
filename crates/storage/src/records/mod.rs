//! Records: documents and runs, and their implementations in SQLite and PostgreSQL.

pub mod audit;
pub mod documents;
pub mod drafts;
mod endings;
pub mod keys;
pub mod peers;
pub mod postgres;
pub mod runs;
pub mod signals;
pub mod sqlite;

use std::{future::Future, pin::Pin};

use crate::Error;

/// Result of a store's method. Writes are queued when the method is called, in the order of calls;
/// the future completes when the write would survive a loss of power.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;
