//! The open loop: requests at a fixed rate, regardless of earlier ones.
//!
//! A closed loop hides queueing: while one request is slow, the requests that users would have sent
//! are not sent, and are missing from the percentiles ("coordinated omission", G. Tene). Here each
//! request has a scheduled time, and its duration counts from then, even if all clients were busy
//! and it was sent later.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use super::{Outcome, Run, Sample, gather, joined, micros};
use crate::Error;

/// Sends `count` requests, `rate` per second, at most `concurrency` at once.
///
/// # Errors
/// A client cannot be created, or the rate is invalid.
pub fn open_loop<C>(
    rate: f64,
    concurrency: usize,
    count: usize,
    connect: impl Fn() -> Result<C, Error> + Sync,
) -> Result<Run, Error>
where
    C: FnMut() -> Outcome,
{
    if !(rate.is_finite() && rate > 0.0) {
        return Err(Error::argument(
            format!("{rate} requests per second"),
            "give a rate above 0",
        ));
    }
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    let client = || {
        let mut send = connect()?;
        let mut samples = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return Ok(samples);
            }
            let intended = Duration::from_secs_f64(number as f64 / rate);
            if let Some(early) = intended.checked_sub(start.elapsed()) {
                std::thread::sleep(early);
            }
            let outcome = send();
            samples.push(Sample {
                start_us: micros(intended),
                client_us: micros(start.elapsed().saturating_sub(intended)),
                outcome,
            });
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..concurrency).map(|_| scope.spawn(client)).collect();
        let all: Vec<_> = threads.into_iter().map(joined).collect();
        gather(start, all)
    })
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    #[test]
    fn times_count_from_when_a_request_should_have_been_sent() {
        // Scheduled ten milliseconds apart, thirty long, one at a time: the last of 20 waits for
        // all before it.
        let slow = || {
            sleep(Duration::from_millis(30));
            Outcome::default()
        };
        let open = open_loop(100.0, 1, 20, || Ok(slow)).unwrap();
        let last = open.samples.last().unwrap();
        assert_eq!(last.start_us, 190_000);
        // A sleep is never shorter than requested: 20 * 30 - 19 * 10.
        assert!(last.client_us >= 410_000, "{}", last.client_us);
        let mean = open.samples.iter().map(|it| it.client_us).sum::<u64>() / 20;
        // A closed loop would report 30 ms for the same service.
        assert!(mean >= 200_000, "{mean}");
    }

    #[test]
    fn a_rate_that_is_none_is_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(open_loop(rate, 1, 1, || Ok(Outcome::default)).is_err());
        }
    }
}
