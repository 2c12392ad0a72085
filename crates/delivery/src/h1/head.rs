//! Request heads: finding the end, parsing, and the framing of the body (RFC 9112). A head that two
//! implementations could interpret differently is refused, which prevents request smuggling.

use std::mem::MaybeUninit;

use bytes::{Buf, Bytes, BytesMut};
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Uri, Version,
    header::{CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TE, TRANSFER_ENCODING, UPGRADE},
};

use super::refusal::Refusal;

/// Maximum number of headers of a request, regardless of [`Limits`](crate::Limits).
pub(crate) const MAX_HEADERS: usize = 128;
/// Number of empty lines ignored before a request (RFC 9112, section 2.2).
const MAX_EMPTY_LINES: usize = 4;

/// Length of a request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// This many bytes; 0 if there is no body.
    Length(u64),
    /// Chunked: until the last chunk.
    Chunked,
}

/// A request head.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) version: Version,
    pub(crate) headers: HeaderMap,
    pub(crate) framing: Framing,
    /// Whether the client keeps the connection open.
    pub(crate) keep_alive: bool,
    pub(crate) expects_continue: bool,
    pub(crate) wants_upgrade: bool,
    pub(crate) takes_trailers: bool,
}

/// Removes empty lines before a request.
pub(crate) fn skip_empty_lines(input: &mut BytesMut) {
    for _ in 0..MAX_EMPTY_LINES {
        if !input.starts_with(b"\r\n") {
            return;
        }
        input.advance(2);
    }
}

/// Finds the end of the head in `input`, of which `seen` bytes were scanned before.
pub(crate) fn find_end(input: &[u8], seen: &mut usize) -> Result<Option<usize>, Refusal> {
    let begin = *seen;
    for feed in memchr::memchr_iter(b'\n', &input[begin..]).map(|at| begin + at) {
        if feed == 0 || input[feed - 1] != b'\r' {
            return Err(Refusal::malformed("a line does not end with CRLF"));
        }
        if feed >= 3 && &input[feed - 3..feed] == b"\r\n\r" {
            *seen = 0;
            return Ok(Some(feed + 1));
        }
    }
    *seen = input.len();
    Ok(None)
}

/// Parses a complete head.
pub(crate) fn parse(bytes: Bytes, max_headers: usize) -> Result<Head, Refusal> {
    let mut room = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let room = &mut room[..max_headers.min(MAX_HEADERS)];
    let mut request = httparse::Request::new(&mut []);
    match request.parse_with_uninit_headers(&bytes, room) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Err(Refusal::malformed("the head is incomplete")),
        Err(httparse::Error::TooManyHeaders) => return Err(Refusal::too_many_headers(max_headers)),
        Err(httparse::Error::Version) => return Err(Refusal::version()),
        Err(error) => return Err(Refusal::malformed(error.to_string())),
    }
    let method = Method::from_bytes(request.method.unwrap_or_default().as_bytes())
        .map_err(|_| Refusal::malformed("the method is not valid"))?;
    if method == Method::CONNECT {
        return Err(Refusal::method());
    }
    let target = bytes.slice_ref(request.path.unwrap_or_default().as_bytes());
    let uri = Uri::from_maybe_shared(target)
        .map_err(|_| Refusal::malformed("the target is not a path or an address"))?;
    let version = match request.version {
        Some(0) => Version::HTTP_10,
        _ => Version::HTTP_11,
    };
    let mut headers = HeaderMap::with_capacity(request.headers.len());
    for header in request.headers.iter() {
        let name = HeaderName::from_bytes(header.name.as_bytes())
            .map_err(|_| Refusal::malformed("a header's name is not valid"))?;
        // A lone CR is whitespace to some parsers and the end of a line to others.
        let value = HeaderValue::from_maybe_shared(bytes.slice_ref(header.value))
            .map_err(|_| Refusal::malformed("a header's value is not valid"))?;
        headers.append(name, value);
    }
    Head::new(method, uri, version, headers)
}

/// Whether a value may be a host and a port (RFC 9110, section 7.2; RFC 3986, section 3.2.2). It
/// may be empty, if the target has no authority.
fn is_host(value: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:[]".contains(byte);
    value.iter().all(is_part)
}

impl Head {
    fn new(
        method: Method,
        uri: Uri,
        version: Version,
        headers: HeaderMap,
    ) -> Result<Self, Refusal> {
        let is_http11 = version == Version::HTTP_11;
        let mut hosts = headers.get_all(HOST).iter();
        match (hosts.next(), hosts.next()) {
            (_, Some(_)) => return Err(Refusal::malformed("`Host` is repeated")),
            (None, None) if is_http11 => return Err(Refusal::malformed("`Host` is missing")),
            (Some(host), None) if !is_host(host.as_bytes()) => {
                return Err(Refusal::malformed("`Host` is not a host name or address"));
            }
            _ => {}
        }
        let framing = framing(&headers, is_http11)?;
        let (mut close, mut keep, mut upgrade) = (false, false, false);
        for token in tokens(&headers, &CONNECTION) {
            close |= token.eq_ignore_ascii_case("close");
            keep |= token.eq_ignore_ascii_case("keep-alive");
            upgrade |= token.eq_ignore_ascii_case("upgrade");
        }
        let expects_continue = match headers.get(EXPECT) {
            None => false,
            Some(value) if value.as_bytes().eq_ignore_ascii_case(b"100-continue") => is_http11,
            Some(_) => return Err(Refusal::expectation()),
        };
        let takes_trailers =
            is_http11 && tokens(&headers, &TE).any(|token| token.eq_ignore_ascii_case("trailers"));
        Ok(Self {
            wants_upgrade: is_http11 && upgrade && headers.contains_key(UPGRADE),
            method,
            uri,
            version,
            framing,
            keep_alive: !close && (is_http11 || keep),
            expects_continue,
            takes_trailers,
            headers,
        })
    }
}

/// The elements of a comma-separated header.
fn tokens<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
}

/// The body's framing (RFC 9112, section 6.3). Where the RFC leaves a choice to the server, the
/// request is refused.
fn framing(headers: &HeaderMap, is_http11: bool) -> Result<Framing, Refusal> {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter();
    let (coding, length) = (codings.next(), lengths.next());
    if lengths.next().is_some() || codings.next().is_some() {
        return Err(Refusal::malformed("the length of the body is given twice"));
    }
    match (coding, length) {
        (None, None) => Ok(Framing::Length(0)),
        (Some(_), Some(_)) => Err(Refusal::malformed(
            "`Transfer-Encoding` and `Content-Length` contradict each other",
        )),
        (Some(coding), None) => {
            if is_http11 && coding.as_bytes().eq_ignore_ascii_case(b"chunked") {
                Ok(Framing::Chunked)
            } else {
                Err(Refusal::malformed("the transfer coding is not `chunked`"))
            }
        }
        (None, Some(length)) => {
            let digits = length.as_bytes();
            let valid = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
            let length = length.to_str().ok().filter(|_| valid);
            length
                .and_then(|length| length.parse().ok())
                .map(Framing::Length)
                .ok_or_else(|| Refusal::malformed("`Content-Length` is not a number"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &str) -> Result<Head, Refusal> {
        let head = format!("{lines}\r\n\r\n");
        let end = find_end(head.as_bytes(), &mut 0)?;
        assert_eq!(end, Some(head.len()));
        parse(Bytes::from(head), 100)
    }

    #[test]
    fn the_body_has_one_length() {
        let framing = |line: &str| {
            read(&format!("POST / HTTP/1.1\r\nHost: a\r\n{line}"))
                .map(|head| head.framing)
                .map_err(|refusal| refusal.status().as_u16())
        };
        assert_eq!(framing("Content-Length: 7"), Ok(Framing::Length(7)));
        assert_eq!(framing("Transfer-Encoding: Chunked"), Ok(Framing::Chunked));
        assert_eq!(framing("X: y"), Ok(Framing::Length(0)));
        for line in [
            "Content-Length: +7",
            "Content-Length: 7, 7",
            "Content-Length: 0x7",
            "Content-Length:",
            "Content-Length: 99999999999999999999",
            "Content-Length: 7\r\nContent-Length: 7",
            "Content-Length: 7\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: gzip, chunked",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: xchunked",
            "Transfer-Encoding : chunked",
            "X: a\r\n folded",
            "X: a\rb",
            "X: a\0b",
            "Content-Length\t: 7",
            "\u{b}Content-Length: 7",
        ] {
            assert_eq!(framing(line), Err(400), "{line:?}");
        }
    }

    #[test]
    fn lines_end_with_crlf() {
        assert!(find_end(b"GET / HTTP/1.1\n", &mut 0).is_err());
        let mut seen = 0;
        assert!(matches!(
            find_end(b"GET / HTTP/1.1\r\n\r", &mut seen),
            Ok(None)
        ));
        let whole = b"GET / HTTP/1.1\r\n\r\nGET";
        assert_eq!(find_end(whole, &mut seen).unwrap(), Some(18));
    }

    #[test]
    fn versions_hosts_and_persistence() {
        assert!(read("GET / HTTP/1.1\r\nHost: a").unwrap().keep_alive);
        assert!(!read("GET / HTTP/1.0\r\nHost: a").unwrap().keep_alive);
        assert!(
            read("GET / HTTP/1.0\r\nConnection: Keep-Alive")
                .unwrap()
                .keep_alive
        );
        assert!(
            !read("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, CLOSE")
                .unwrap()
                .keep_alive
        );
        assert_eq!(read("GET / HTTP/2.0\r\nHost: a").unwrap_err().status(), 505);
        assert_eq!(read("GET / HTTP/1.1\r\nX: a").unwrap_err().status(), 400);
        assert_eq!(
            read("GET / HTTP/1.1\r\nHost: a\r\nHost: a")
                .unwrap_err()
                .status(),
            400
        );
        for host in ["a b", "a/b", "a@b", "a\tb", "a\"b"] {
            let request = format!("GET / HTTP/1.1\r\nHost: {host}");
            assert_eq!(read(&request).unwrap_err().status(), 400, "{host}");
        }
        for host in ["", "a.example:80", "[::1]:80", "a_b"] {
            assert!(
                read(&format!("GET / HTTP/1.1\r\nHost: {host}")).is_ok(),
                "{host}"
            );
        }
        let many = format!("GET / HTTP/1.1\r\nHost: a{}", "\r\nX: y".repeat(100));
        assert_eq!(read(&many).unwrap_err().status(), 431);
    }
}
