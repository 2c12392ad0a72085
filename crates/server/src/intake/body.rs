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
/// Largest buffer allocated before the first byte arrives. Bytes.
const MAX_FIRST_BYTES: u64 = 1 << 20;

/// Reads the whole body of a JSON request.
///
/// # Errors
/// 415, 413, 408, 400, or 503 if the memory for bodies is exhausted.
pub async fn read_json(
    intake: &Intake,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Bytes, MemoryPermit), Problem> {
    let media_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .map(|value| value.trim().to_ascii_lowercase())
        .unwrap_or_default();
    // Browsers send other media types cross-origin without a preflight (CORS).
    if media_type != "application/json" && !media_type.ends_with("+json") {
        return Err(Problem::new(
            Code::MediaTypeNotSupported,
            "send JSON, with `Content-Type: application/json`",
        ));
    }
    let (bytes, permit) = read(intake, headers, body).await?;
    weighed(intake, bytes, permit).await
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
    body: Body,
) -> Result<(Bytes, MemoryPermit), Problem> {
    let limit = intake.max_body_bytes;
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|announced| announced > limit) {
        return Err(too_large(limit));
    }
    let timeout = intake.body_timeout;
    let permit = match intake.reserve_bytes(announced.unwrap_or(limit)) {
        Ok(permit) => permit,
        Err(problem) => {
            // A client that is still sending would see a reset instead of the response.
            let _ = tokio::time::timeout(timeout, discard(body, limit)).await;
            return Err(problem);
        }
    };
    let first = announced.unwrap_or(0).min(MAX_FIRST_BYTES) as usize;
    let too_large = || too_large(limit);
    let bytes = in_time(timeout, collect(body, limit, first, too_large)).await?;
    Ok((bytes, permit))
}

/// Reads a body of at most `limit` bytes, few enough to need no room in the memory for bodies.
///
/// # Errors
/// 413, 408, 400.
pub async fn read_short(intake: &Intake, body: Body, limit: u64) -> Result<Bytes, Problem> {
    let too_large = || {
        let detail = format!("the body is larger than {limit} bytes");
        Problem::new(Code::TooLarge(What::Body, limit), detail)
    };
    in_time(intake.body_timeout, collect(body, limit, 0, too_large)).await
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

async fn collect(
    mut body: Body,
    limit: u64,
    room: usize,
    too_large: impl Fn() -> Problem,
) -> Result<Bytes, Problem> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|_| Problem::new(Code::InvalidRequest, "the body ended early"))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if bytes.len() as u64 + data.len() as u64 > limit {
            return Err(too_large());
        }
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
