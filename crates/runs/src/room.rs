//! Room for what a worker sends: for its records until the store has written them, and for answers until they are
//! sent. A worker that asks and does not read, or writes faster than the store, must not fill the memory.

use std::{io, sync::Arc, time::Duration};

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::protocol::MAX_FRAME_BYTES;

/// Requests that a worker may have unanswered for each of its slots: parallel steps ask at once.
const REQUESTS_PER_SLOT: usize = 8;
/// Records that may be unwritten, in kilobytes: those of two of the longest frames.
const MAX_UNWRITTEN_KB: usize = 2 * (MAX_FRAME_BYTES >> 10);

/// The room of one worker. No more of its frames are read while there is none.
pub(crate) struct Room {
    unanswered: Arc<Semaphore>,
    /// In kilobytes.
    unwritten: Arc<Semaphore>,
}

/// The room of one frame, given back when this is dropped.
pub(crate) struct Place {
    _records: OwnedSemaphorePermit,
    _answer: Option<OwnedSemaphorePermit>,
}

impl Room {
    pub(crate) fn new(slots: u32) -> Self {
        Self {
            unanswered: Arc::new(Semaphore::new(slots as usize * REQUESTS_PER_SLOT)),
            unwritten: Arc::new(Semaphore::new(MAX_UNWRITTEN_KB)),
        }
    }

    /// Waits for room for that many bytes of records, and for an answer.
    ///
    /// # Errors
    /// There was none in time.
    pub(crate) async fn place(
        &self,
        is_answered: bool,
        record_bytes: usize,
        within: Duration,
    ) -> io::Result<Place> {
        let kilobytes = 1 + (record_bytes >> 10) as u32;
        let place = async {
            let unwritten = Arc::clone(&self.unwritten);
            let unanswered = Arc::clone(&self.unanswered);
            Ok(Place {
                _records: unwritten.acquire_many_owned(kilobytes).await?,
                _answer: match is_answered {
                    true => Some(unanswered.acquire_owned().await?),
                    false => None,
                },
            })
        };
        match tokio::time::timeout(within, place).await {
            Ok(place) => place.map_err(|closed: AcquireError| io::Error::other(closed)),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn records_wait_until_earlier_ones_are_written() {
        let (room, soon) = (Room::new(1), Duration::from_millis(20));
        let long = MAX_FRAME_BYTES - 1024;
        let first = room.place(false, long, soon).await.unwrap();
        let _second = room.place(false, long, soon).await.unwrap();
        let third = room.place(false, long, soon).await;
        assert_eq!(third.err().unwrap().kind(), io::ErrorKind::TimedOut);
        drop(first);
        assert!(room.place(true, long, soon).await.is_ok());
        let mut answers = Vec::new();
        for _ in 0..REQUESTS_PER_SLOT {
            answers.push(room.place(true, 0, soon).await.unwrap());
        }
        assert!(room.place(true, 0, soon).await.is_err());
    }
}
