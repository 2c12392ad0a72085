//! Responses follow RFC 9110, for documents in memory and in files alike.

use std::{io::Write, sync::Arc, time::Duration};

use http_body::Body as _;

use super::*;

const TEXT: &[u8] = b"0123456789abcdef";

fn metadata() -> Metadata {
    Metadata {
        tag: Some("a1".to_owned()),
        modified: Some(SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_500)),
        disposition: Some(HeaderValue::from_static("inline")),
        cache_control: Some(HeaderValue::from_static("private")),
        ..Metadata::new(HeaderValue::from_static("text/plain"))
    }
}

fn bodies() -> [Body; 3] {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"--").unwrap();
    file.write_all(TEXT).unwrap();
    let parts = [&TEXT[..3], &TEXT[3..4], &TEXT[4..]].map(Bytes::from_static);
    [
        Body::from(Bytes::from_static(TEXT)),
        Body::segments(Vec::from(parts)),
        FileBody::range(Arc::new(file), 2, TEXT.len() as u64).into(),
    ]
}

fn get(body: Body, lines: &[(&'static str, &str)]) -> Response<Body> {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.insert(*name, HeaderValue::from_str(value).unwrap());
    }
    document(&Method::GET, &headers, body, &metadata())
}

async fn read(response: Response<Body>) -> Vec<u8> {
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) =
        std::future::poll_fn(|context| std::pin::Pin::new(&mut body).poll_frame(context)).await
    {
        bytes.extend_from_slice(&frame.unwrap().into_data().unwrap());
    }
    bytes
}

#[tokio::test]
async fn ranges_of_every_kind_of_body() {
    for body in bodies() {
        let response = get(body, &[("range", "bytes=2-5")]);
        assert_eq!(response.status(), 206);
        assert_eq!(response.headers()["content-range"], "bytes 2-5/16");
        assert_eq!(response.body().size_bytes(), Some(4));
        assert_eq!(read(response).await, b"2345");
    }
    for body in bodies() {
        let response = get(body, &[("range", "bytes=0-0,-2")]);
        assert_eq!(response.status(), 206);
        let media_type = response.headers()["content-type"]
            .to_str()
            .unwrap()
            .to_owned();
        let boundary = media_type
            .strip_prefix("multipart/byteranges; boundary=")
            .unwrap();
        let size = response.body().size_bytes().unwrap();
        let bytes = read(response).await;
        assert_eq!(bytes.len() as u64, size);
        let part = |range: &str, text: &str| {
            format!(
                "\r\n--{boundary}\r\nContent-Type: text/plain\r\nContent-Range: bytes {range}/16\r\n\r\n{text}"
            )
        };
        let expected = part("0-0", "0") + &part("14-15", "ef") + &format!("\r\n--{boundary}--\r\n");
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }
    for body in bodies() {
        let response = get(body, &[("range", "bytes=16-")]);
        assert_eq!(response.status(), 416);
        assert_eq!(response.headers()["content-range"], "bytes */16");
        assert_eq!(response.body().size_bytes(), Some(0));
    }
    for body in bodies() {
        let response = get(body, &[]);
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["accept-ranges"], "bytes");
        assert_eq!(response.headers()["etag"], "\"a1\"");
        assert_eq!(read(response).await, TEXT);
    }
}

#[test]
fn conditions_decide_before_ranges() {
    let status = |lines: &[(&'static str, &str)]| {
        let [body, ..] = bodies();
        get(body, lines).status().as_u16()
    };
    let same = "Tue, 14 Nov 2023 22:13:20 GMT";
    let earlier = "Tue, 14 Nov 2023 22:13:19 GMT";
    for (lines, expected) in [
        (vec![("if-none-match", "\"a1\"")], 304),
        (vec![("if-none-match", "\"x\", W/\"a1\"")], 304),
        (vec![("if-none-match", "*")], 304),
        (vec![("if-none-match", "\"a\"")], 200),
        (
            vec![("if-none-match", "\"x\""), ("if-modified-since", same)],
            200,
        ),
        (vec![("if-modified-since", same)], 304),
        (vec![("if-modified-since", earlier)], 200),
        (vec![("if-modified-since", "soon")], 200),
        (vec![("if-match", "\"a1\"")], 200),
        (vec![("if-match", "W/\"a1\"")], 412),
        (vec![("if-match", "\"x,a1\"")], 412),
        (vec![("if-unmodified-since", earlier)], 412),
        (
            vec![("if-none-match", "\"a1\""), ("range", "bytes=0-1")],
            304,
        ),
        (vec![("if-range", "\"a1\""), ("range", "bytes=0-1")], 206),
        (vec![("if-range", "W/\"a1\""), ("range", "bytes=0-1")], 200),
        (vec![("if-range", "\"old\""), ("range", "bytes=0-1")], 200),
        (vec![("if-range", same), ("range", "bytes=0-1")], 206),
        (vec![("if-range", earlier), ("range", "bytes=0-1")], 200),
    ] {
        assert_eq!(status(&lines), expected, "{lines:?}");
    }
}

#[test]
fn ranges_are_for_get_and_known_lengths() {
    let mut headers = HeaderMap::new();
    headers.insert("range", HeaderValue::from_static("bytes=0-1"));
    let [body, ..] = bodies();
    let head = document(&Method::HEAD, &headers, body, &metadata());
    assert_eq!(
        (head.status().as_u16(), head.body().size_bytes()),
        (200, Some(16))
    );
    let (_sender, stream) = Body::channel(1);
    let streamed = document(&Method::GET, &headers, stream, &metadata());
    assert_eq!(streamed.status(), 200);
    assert!(!streamed.headers().contains_key("accept-ranges"));
}
