//! Whether a bucket can be used: once before the service serves, and for its readiness.

use std::{
    sync::PoisonError,
    time::{Duration, Instant},
};

use rusty_s3::Method;

use super::{Bucket, Content, Put, wire::Ask};
use crate::blobs::{BlobError, digest::Sum};

/// How long the outcome of a check of readiness holds, so that whoever asks often costs no requests.
const CHECK_LIFE: Duration = Duration::from_secs(2);
/// Time limit of a check of readiness.
const CHECK_TIMEOUT: Duration = Duration::from_millis(1_500);
/// Age of a probe that its check has left.
const PROBE_LIFE: Duration = Duration::from_secs(3_600);
/// What a check writes.
const PROBE: &[u8] = b"Platen checks that it can write and read this.";

/// The outcome of the last check of readiness.
#[derive(Debug)]
pub(super) struct Checked {
    at: Instant,
    trouble: Option<String>,
}

impl Bucket {
    /// Checks that objects can be listed, written, read and deleted, and that one that is there is
    /// not replaced by a write that must not.
    ///
    /// # Errors
    /// [`BlobError::Unavailable`] or [`BlobError::Refused`], with what is wrong.
    pub fn check(&self) -> Result<(), BlobError> {
        let left = self.list("check/", None).map_err(during("listing"))?;
        // Of services that were killed meanwhile.
        for object in left.objects {
            if object.age > PROBE_LIFE {
                self.delete(&object.key).map_err(during("deleting"))?;
            }
        }
        let key = format!("check/{:016x}", fastrand::u64(..));
        let (pieces, sum): (&[&[u8]], _) = (&[PROBE], Sum::of(PROBE));
        let write = || self.put_new(&key, Content::Slices(pieces), sum);
        write().map_err(during("writing"))?;
        let checked = self.check_object(&key, write);
        let deleted = self.delete(&key).map_err(during("deleting"));
        checked.and(deleted)
    }

    fn check_object(
        &self,
        key: &str,
        write: impl Fn() -> Result<Put, BlobError>,
    ) -> Result<(), BlobError> {
        let found = self.small(key, PROBE.len() as u64);
        if found.map_err(during("reading"))? != PROBE {
            return Err(BlobError::Damaged(Sum::of(PROBE).to_hex()));
        }
        match write().map_err(during("writing"))? {
            Put::Existed => Ok(()),
            Put::Stored => Err(BlobError::Refused(
                "it ignores If-None-Match, without which services overwrite each other: use \
                 another server"
                    .to_owned(),
            )),
        }
    }

    /// Whether the server answers. Outcomes hold for two seconds.
    ///
    /// # Errors
    /// What is wrong, as a sentence.
    pub fn respond(&self) -> Result<(), String> {
        // One request at a time, whose outcome all take who wait for it.
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if checked
            .as_ref()
            .is_none_or(|it| it.at.elapsed() > CHECK_LIFE)
        {
            let prefix = self.whole("check/");
            let query = [("list-type", "2"), ("max-keys", "1"), ("prefix", &*prefix)];
            let ask = Ask {
                query: &query,
                ..Ask::new(Method::Get, "")
            };
            let answer = self.wire.send(&ask, None, CHECK_TIMEOUT, Duration::ZERO);
            let trouble = answer
                .err()
                .map(|trouble| BlobError::from(trouble).to_string());
            *checked = Some(Checked {
                at: Instant::now(),
                trouble,
            });
        }
        match checked.as_ref().and_then(|it| it.trouble.clone()) {
            None => Ok(()),
            Some(text) => Err(text),
        }
    }
}

/// Says during what an error happened.
fn during(work: &str) -> impl Fn(BlobError) -> BlobError + '_ {
    move |error| match error {
        BlobError::Unavailable(text) => BlobError::Unavailable(format!("{text}, while {work}")),
        BlobError::Refused(text) => BlobError::Refused(format!("{text} (while {work})")),
        // `NotFound` of the server's, who lost what it had acknowledged.
        BlobError::NotFound => BlobError::Refused(format!("it lost an object (while {work})")),
        other => other,
    }
}
