//! Records, by what they are of.

pub mod documents;
pub mod runs;
pub mod sqlite;

use std::{future::Future, pin::Pin};

use crate::Error;

/// A future of a store. What is written is under way once the call returns, in the order of calls;
/// waiting for the future waits until it would survive.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;
