//! Reads request bodies: checks the size before and during reading, enforces a timeout, and reports
//! JSON errors with their position.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::{
    HeaderMap,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
};
use platen_document::json_weight::of_text;
use platen_fault::{Code, Stage, What};
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use platen_runs::MAX_TRIGGER_BYTES;

use super::{Intake, MemoryPermit};
use crate::problem::Problem;

/// Longer JSON is parsed off the async threads. Bytes.
const INLINE_BYTES: usize = 512 << 10;
/// Memory of a body is reserved in steps of this size as it arrives: what is only announced takes
/// none from others. Also the largest buffer that its first byte allocates. Bytes.
const STEP_BYTES: u64 = 1 << 20;

/// Reads the whole body of a JSON request.
///
/// # Errors
/// 415, 413, 408, 400, or 503 if the memory for bodies is exhausted.
pub async fn read_json(
    intake: &Intake,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Bytes, MemoryPermit), Problem> {
    check_json(headers)?;
    let (bytes, permit) = read(intake, headers, body).await?;
    weighed(intake, bytes, permit).await
}

/// Reads a JSON body of at most `limit` bytes, as [`read_short`].
///
/// # Errors
/// 415, 413, 408, 400.
pub async fn read_short_json(
    intake: &Intake,
    headers: &HeaderMap,
    body: Body,
    limit: u64,
) -> Result<Bytes, Problem> {
    check_json(headers)?;
    read_short(intake, body, limit).await
}

fn check_json(headers: &HeaderMap) -> Result<(), Problem> {
    let media_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .map(|value| value.trim().to_ascii_lowercase())
        .unwrap_or_default();
    // Browsers send other media types cross-origin without a preflight (CORS).
    match media_type == "application/json" || media_type.ends_with("+json") {
        true => Ok(()),
        false => Err(Problem::new(
            Code::MediaTypeNotSupported,
            "send JSON, with `Content-Type: application/json`",
        )),
    }
}

/// Reserves what a body takes once its JSON is read, which may be a hundred times its bytes. Call it before the
/// body is parsed.
///
/// # Errors
/// 413 if it alone is too much, or 503 if the memory for bodies is exhausted.
pub async fn weighed(
    intake: &Intake,
    bytes: Bytes,
    permit: MemoryPermit,
) -> Result<(Bytes, MemoryPermit), Problem> {
    let weight = weight(&bytes).await?;
    let limit = intake.max_inflight_body_bytes;
    if weight > limit {
        let detail = format!(
            "the JSON would take about {} MiB of memory once it is read, of {} MiB for all bodies \
             (MAX_INFLIGHT_BODY_BYTES): send it in parts, or with fewer values",
            weight >> 20,
            limit >> 20,
        );
        return Err(Problem::new(Code::TooLarge(What::Body, limit), detail));
    }
    // Others may take what this one holds between both: then it is refused, as if it came after them.
    drop(permit);
    let permit = intake.reserve_bytes(weight)?;
    Ok((bytes, permit))
}

/// As [`weighed`], for what starts a flow: it is in memory as long as its run.
///
/// # Errors
/// Those of [`weighed`], and 413 if it takes more than [`MAX_TRIGGER_BYTES`].
pub async fn weighed_trigger(
    intake: &Intake,
    bytes: Bytes,
    permit: MemoryPermit,
) -> Result<(Bytes, MemoryPermit), Problem> {
    let weight = weight(&bytes).await?;
    if weight > MAX_TRIGGER_BYTES {
        let detail = format!(
            "the JSON would take about {} MiB of memory once it is read; what starts a flow may take {} \
             MiB: send it in parts, or as a file",
            weight >> 20,
            MAX_TRIGGER_BYTES >> 20,
        );
        let code = Code::TooLarge(What::Body, MAX_TRIGGER_BYTES);
        return Err(Problem::new(code, detail));
    }
    weighed(intake, bytes, permit).await
}

/// Bytes that a body takes, or the JSON in it, which replaces it.
///
/// # Errors
/// 500 if the thread that counts them was lost.
pub async fn weight(bytes: &Bytes) -> Result<u64, Problem> {
    let of = |bytes: &Bytes| of_text(bytes).max(bytes.len() as u64);
    if bytes.len() <= INLINE_BYTES {
        return Ok(of(bytes));
    }
    let bytes = bytes.clone();
    let counted = tokio::task::spawn_blocking(move || of(&bytes)).await;
    counted.map_err(|error| Problem::internal(format!("reading JSON: {error}")))
}

/// Reads the whole body of a request.
///
/// # Errors
/// 413, 408, 400, or 503 if the memory for bodies is exhausted.
pub async fn read(
    intake: &Intake,
    headers: &HeaderMap,
    mut body: Body,
) -> Result<(Bytes, MemoryPermit), Problem> {
    let limit = intake.max_body_bytes;
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|announced| announced > limit) {
        return Err(too_large(limit));
    }
    let most = announced.unwrap_or(limit);
    let first = announced.unwrap_or(0).min(STEP_BYTES) as usize;
    let mut permit = MemoryPermit::default();
    let reserve = |size_bytes: u64| {
        let step = size_bytes.next_multiple_of(STEP_BYTES).min(most);
        intake.reserve_up_to(&mut permit, step.max(size_bytes))
    };
    let timeout = intake.body_timeout;
    let too_large = || too_large(limit);
    let collecting = collect(&mut body, limit, first, too_large, reserve);
    let collected = in_time(timeout, collecting).await;
    match collected {
        Ok(bytes) => Ok((bytes, permit)),
        Err(problem) => {
            drop(permit);
            if matches!(problem.code, Code::Overloaded(_)) {
                // A client that is still sending would see a reset instead of the response.
                let _ = tokio::time::timeout(timeout, discard(body, limit)).await;
            }
            Err(problem)
        }
    }
}

/// Reads a body of at most `limit` bytes, few enough to need no room in the memory for bodies.
///
/// # Errors
/// 413, 408, 400.
pub async fn read_short(intake: &Intake, mut body: Body, limit: u64) -> Result<Bytes, Problem> {
    let too_large = || {
        let detail = format!("the body is larger than {limit} bytes");
        Problem::new(Code::TooLarge(What::Body, limit), detail)
    };
    // What the client announces, if it does.
    if http_body::Body::size_hint(&body).lower() > limit {
        return Err(too_large());
    }
    let collecting = collect(&mut body, limit, 0, too_large, |_| Ok(()));
    in_time(intake.body_timeout, collecting).await
}

async fn in_time(
    timeout: Duration,
    reading: impl Future<Output = Result<Bytes, Problem>>,
) -> Result<Bytes, Problem> {
    let in_time = tokio::time::timeout(timeout, reading).await;
    in_time.unwrap_or_else(|_| {
        let detail = format!("the body did not arrive within {} ms", timeout.as_millis());
        Err(Problem::new(Code::Timeout(Stage::Body), detail))
    })
}

/// Reads and discards a body, up to `limit` bytes.
async fn discard(mut body: Body, limit: u64) {
    let mut read = 0;
    while let Some(Ok(frame)) = body.frame().await {
        read += frame.data_ref().map_or(0, Bytes::len) as u64;
        if read > limit {
            return;
        }
    }
}

/// Collects a body, and reserves memory with `reserve` before it keeps more of it.
async fn collect(
    body: &mut Body,
    limit: u64,
    room: usize,
    too_large: impl Fn() -> Problem,
    mut reserve: impl FnMut(u64) -> Result<(), Problem>,
) -> Result<Bytes, Problem> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|_| Problem::new(Code::InvalidRequest, "the body ended early"))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        let size_bytes = bytes.len() as u64 + data.len() as u64;
        if size_bytes > limit {
            return Err(too_large());
        }
        reserve(size_bytes)?;
        if bytes.is_empty() {
            if data.len() >= room {
                bytes = BytesMut::from(data);
                continue;
            }
            bytes.reserve(room);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}

fn too_large(limit: u64) -> Problem {
    let detail = format!("the body is larger than {limit} bytes (MAX_BODY_BYTES)");
    Problem::new(Code::TooLarge(What::Body, limit), detail)
}

/// Parses a value from JSON.
///
/// # Errors
/// 400 with line and column.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(bytes).map_err(|error| problem(&error, "the body"))
}

/// As [`parse`], for bodies that may be long: parses those off the async threads.
pub async fn parse_long<T: DeserializeOwned + Send + 'static>(bytes: Bytes) -> Result<T, Problem> {
    if bytes.len() <= INLINE_BYTES {
        return parse(&bytes);
    }
    tokio::task::spawn_blocking(move || parse(&bytes))
        .await
        .unwrap_or_else(|error| Err(Problem::internal(format!("reading JSON: {error}"))))
}

/// The problem for a JSON syntax error.
pub fn problem(error: &serde_json::Error, place: &str) -> Problem {
    match error.classify() {
        Category::Data => Problem::new(Code::InvalidRequest, format!("in {place}: {error}")),
        Category::Eof => Problem::new(
            Code::InvalidJson,
            format!("{place} is not JSON: it ends too early: {error}"),
        ),
        Category::Syntax | Category::Io => {
            Problem::new(Code::InvalidJson, format!("{place} is not JSON: {error}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        future::poll_fn,
        pin::Pin,
        sync::Arc,
        task::{Context, Poll},
    };

    use hyper::header::HeaderValue;

    use super::*;
    use crate::{
        config::{Config, Settings},
        metrics::Metrics,
    };

    /// A body of which no more than this arrives.
    struct Begun(Option<Bytes>);

    impl http_body::Body for Begun {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
            match self.0.take() {
                Some(bytes) => Poll::Ready(Some(Ok(http_body::Frame::data(bytes)))),
                None => Poll::Pending,
            }
        }
    }

    #[tokio::test]
    async fn what_is_only_announced_takes_no_memory_from_others() {
        const ALL: u64 = 32 << 20;
        let settings = Settings {
            max_body_bytes: Some(ALL),
            max_inflight_body_bytes: Some(ALL),
            ..Settings::default()
        };
        let config = Config::load(None, |_| None, settings).unwrap();
        let intake = Intake::new(&config, Arc::new(Metrics::default()));
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_LENGTH, HeaderValue::from(ALL));
        // How much of it has arrived, and what the others have left.
        for (arrived, left) in [(0, ALL), (1, 31 << 20), (STEP_BYTES + 1, 30 << 20)] {
            let bytes = (arrived > 0).then(|| Bytes::from(vec![b' '; arrived as usize]));
            let mut reading = Box::pin(read(&intake, &headers, Body::new(Begun(bytes))));
            let once = poll_fn(|context| Poll::Ready(reading.as_mut().poll(context)));
            assert!(once.await.is_pending());
            assert!(intake.reserve_bytes(left).is_ok(), "{arrived}");
            assert!(intake.reserve_bytes(left + 1_024).is_err(), "{arrived}");
        }
    }
}
