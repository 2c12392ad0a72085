//! The closed loop: every client sends its next request when it has received the response.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use super::{Outcome, Run, Sample, gather, joined, micros};
use crate::Error;

/// Sends `count` requests from `concurrency` clients.
///
/// # Errors
/// A client cannot be created.
pub fn closed_loop<C>(
    concurrency: usize,
    count: usize,
    connect: impl Fn() -> Result<C, Error> + Sync,
) -> Result<Run, Error>
where
    C: FnMut() -> Outcome,
{
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    let client = || {
        let mut send = connect()?;
        let mut samples = Vec::new();
        while next.fetch_add(1, Ordering::Relaxed) < count {
            let begun = Instant::now();
            let outcome = send();
            samples.push(Sample {
                start_us: micros(begun - start),
                client_us: micros(begun.elapsed()),
                outcome,
            });
        }
        Ok(samples)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..concurrency).map(|_| scope.spawn(client)).collect();
        let all: Vec<_> = threads.into_iter().map(joined).collect();
        gather(start, all)
    })
}
