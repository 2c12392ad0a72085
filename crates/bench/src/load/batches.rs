//! Strict batches: as many requests at once as there are clients; the next batch starts when all
//! are answered.

use std::{sync::Barrier, time::Instant};

use super::{Outcome, Run, Sample, gather, joined, micros};
use crate::Error;

/// Sends `count` requests in batches of `concurrency`; the last batch may be smaller.
///
/// # Errors
/// A client cannot be created.
pub fn strict_batches<C>(
    concurrency: usize,
    count: usize,
    connect: impl Fn() -> Result<C, Error> + Sync,
) -> Result<Run, Error>
where
    C: FnMut() -> Outcome,
{
    let barrier = Barrier::new(concurrency);
    let start = Instant::now();
    let client = |index: usize| {
        let made = connect();
        let mut samples = Vec::new();
        let mut failure = None;
        let mut send = match made {
            Ok(send) => Some(send),
            Err(error) => {
                failure = Some(error);
                None
            }
        };
        // A thread without a client still takes part in every barrier; otherwise the others would
        // wait forever.
        for batch in 0..count.div_ceil(concurrency) {
            barrier.wait();
            let Some(send) = send.as_mut() else { continue };
            if batch * concurrency + index >= count {
                continue;
            }
            let begun = Instant::now();
            let outcome = send();
            samples.push(Sample {
                start_us: micros(begun - start),
                client_us: micros(begun.elapsed()),
                outcome,
            });
        }
        failure.map_or(Ok(samples), Err)
    };
    let client = &client;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..concurrency)
            .map(|index| scope.spawn(move || client(index)))
            .collect();
        let all: Vec<_> = threads.into_iter().map(joined).collect();
        gather(start, all)
    })
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        thread::sleep,
        time::Duration,
    };

    use super::*;

    #[test]
    fn a_batch_begins_when_the_one_before_is_whole() {
        let calls = AtomicUsize::new(0);
        let run = strict_batches(4, 10, || {
            Ok(|| {
                // One of each batch is slow.
                if calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(4) {
                    sleep(Duration::from_millis(20));
                }
                Outcome::default()
            })
        })
        .unwrap();
        assert_eq!(run.samples.len(), 10);
        for batch in 1..3 {
            let before = &run.samples[(batch - 1) * 4..batch * 4];
            let ends = before.iter().map(|it| it.start_us + it.client_us).max();
            let begin = run.samples[batch * 4].start_us;
            // The clock is read before and after the barrier: a little less is no overlap.
            assert!(begin + 1_000 >= ends.unwrap(), "batch {batch}");
        }
    }

    #[test]
    fn a_client_that_cannot_connect_stops_nobody_for_ever() {
        let made = AtomicUsize::new(0);
        let run = strict_batches(3, 9, || match made.fetch_add(1, Ordering::Relaxed) {
            0 => Err(Error::program("x", "refused")),
            _ => Ok(Outcome::default),
        });
        assert!(run.is_err());
    }
}
