//! Any text as `Range` of a document: the response stays within it, and its length is as stated.
#![no_main]

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt;
use libfuzzer_sys::fuzz_target;
use platen_delivery::{Body, Metadata, document};

fuzz_target!(|input: (u16, &[u8])| {
    let (size, text) = input;
    let Ok(value) = HeaderValue::from_bytes(text) else {
        return;
    };
    let headers = HeaderMap::from_iter([(header::RANGE, value)]);
    let bytes: Vec<u8> = (0..size).map(|index| index as u8).collect();
    let metadata = Metadata::new(HeaderValue::from_static("application/pdf"));
    let answer = document(&Method::GET, &headers, Body::from(bytes.clone()), &metadata);
    let (parts, body) = answer.into_parts();
    let announced = body.size_bytes();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let sent = runtime
        .block_on(body.collect())
        .expect("it is in memory")
        .to_bytes();
    assert_eq!(announced, Some(sent.len() as u64));
    let range = parts.headers.get(header::CONTENT_RANGE);
    match parts.status {
        StatusCode::OK => assert_eq!(sent, bytes),
        StatusCode::RANGE_NOT_SATISFIABLE => assert!(sent.is_empty()),
        StatusCode::PARTIAL_CONTENT => {
            // Without this header there are several ranges.
            let Some(range) = range.and_then(|range| range.to_str().ok()) else {
                return;
            };
            let span = range
                .strip_prefix("bytes ")
                .and_then(|range| range.split_once('/'));
            let (first, last) = span
                .and_then(|(span, _)| span.split_once('-'))
                .expect("a range");
            let (first, last): (usize, usize) = (
                first.parse().expect("a number"),
                last.parse().expect("a number"),
            );
            assert_eq!(sent, &bytes[first..=last]);
        }
        other => panic!("{other}"),
    }
});
