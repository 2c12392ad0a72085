//! The clock of the server, followed between two questions by the steady clock of this process.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    connection::{BoxFuture, Connection},
    job::Failure,
};

/// How many times the server is asked in a row; the fastest answer counts.
const TRIES: u32 = 5;

/// A clock that all services on a server share. Steps of this machine's own clock do not move it.
pub(super) struct Clock {
    origin: Instant,
    /// The server's time at `origin`, in milliseconds since 1970.
    base_ms: AtomicI64,
}

impl Clock {
    /// A clock that has to be set before it is read.
    pub(super) fn new() -> Self {
        Self {
            origin: Instant::now(),
            base_ms: AtomicI64::default(),
        }
    }

    pub(super) fn set(&self, base_ms: i64) {
        self.base_ms.store(base_ms, Ordering::Relaxed);
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub(super) fn now_ms(&self) -> u64 {
        let base_ms = self.base_ms.load(Ordering::Relaxed);
        u64::try_from(base_ms).unwrap_or_default() + milliseconds(self.origin.elapsed()) as u64
    }

    /// The server's time at the origin: it read its clock halfway between question and answer.
    pub(super) fn measure<'a>(
        &self,
        connection: &'a Connection,
    ) -> BoxFuture<'a, Result<i64, Failure>> {
        let origin = self.origin;
        Box::pin(async move {
            let ask = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
            connection.statement(ask).await?;
            let mut best = (Duration::MAX, 0);
            for _ in 0..TRIES {
                let asked = Instant::now();
                let rows = connection.query(ask, &[]).await?;
                let took = asked.elapsed();
                if let (Some(row), true) = (rows.first(), took < best.0) {
                    let server_ms: i64 = row.try_get(0)?;
                    best = (took, server_ms - milliseconds(asked - origin + took / 2));
                }
            }
            Ok(best.1)
        })
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
