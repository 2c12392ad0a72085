//! `Range` (RFC 9110, section 14.2).

use http::{HeaderMap, header::RANGE};

/// Maximum number of ranges in one request. A request with more gets 416: many small parts cost
/// more than the whole document.
const MAX_SPANS: usize = 16;

/// First and last byte of a range, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) first: u64,
    pub(super) last: u64,
}

/// The requested part of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Whole,
    Spans(Vec<Span>),
    /// No range lies within the document.
    None,
}

/// Parses `Range` for a document of `size` bytes. An invalid header is ignored, as RFC 9110
/// requires.
pub(super) fn asked(headers: &HeaderMap, size: u64) -> Asked {
    let mut values = headers.get_all(RANGE).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return Asked::Whole;
    };
    let text = value.to_str().unwrap_or_default();
    let Some(("bytes", list)) = text.split_once('=').map(|(unit, list)| (unit.trim(), list)) else {
        return Asked::Whole;
    };
    let mut spans = Vec::new();
    let parts = list
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    for (index, part) in parts.enumerate() {
        if index == MAX_SPANS {
            return Asked::None;
        }
        match span(part, size) {
            Ok(span) => spans.extend(span),
            Err(()) => return Asked::Whole,
        }
    }
    let total: u64 = spans.iter().map(|span| span.last - span.first + 1).sum();
    match spans.len() {
        0 => Asked::None,
        1 => Asked::Spans(spans),
        // Overlapping ranges can add up to more than the document, which is sent whole instead.
        _ if total > size => Asked::Whole,
        _ => Asked::Spans(spans),
    }
}

/// Parses one range; `Ok(None)` if it lies beyond the end.
fn span(text: &str, size: u64) -> Result<Option<Span>, ()> {
    let (first, last) = text.split_once('-').ok_or(())?;
    if first.is_empty() {
        let length = number(last)?.min(size);
        let first = size - length;
        return Ok((length > 0).then(|| Span {
            first,
            last: size - 1,
        }));
    }
    let first = number(first)?;
    let last = match last {
        "" => u64::MAX,
        last => number(last)?,
    };
    if last < first {
        return Err(());
    }
    Ok((first < size).then(|| Span {
        first,
        last: last.min(size - 1),
    }))
}

/// Parses a number that consists of digits only. One that overflows counts as the end.
fn number(text: &str) -> Result<u64, ()> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(());
    }
    Ok(text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn of(text: &'static str, size: u64) -> Asked {
        let mut headers = HeaderMap::new();
        headers.insert(RANGE, HeaderValue::from_static(text));
        asked(&headers, size)
    }

    fn spans(list: &[(u64, u64)]) -> Asked {
        let span = |&(first, last): &(u64, u64)| Span { first, last };
        Asked::Spans(list.iter().map(span).collect())
    }

    #[test]
    fn ranges_are_read() {
        assert_eq!(of("bytes=0-0", 10), spans(&[(0, 0)]));
        assert_eq!(of("bytes=5-", 10), spans(&[(5, 9)]));
        assert_eq!(of("bytes=-3", 10), spans(&[(7, 9)]));
        assert_eq!(of("bytes=-99", 10), spans(&[(0, 9)]));
        assert_eq!(of("bytes=8-99999999999999999999999", 10), spans(&[(8, 9)]));
        assert_eq!(of("bytes=0-1, 4-5,,", 10), spans(&[(0, 1), (4, 5)]));
        assert_eq!(of("bytes=0-1,99-", 10), spans(&[(0, 1)]));
    }

    #[test]
    fn bad_ranges_are_ignored_or_refused() {
        for text in [
            "lines=1-2",
            "bytes 1-2",
            "bytes=a-",
            "bytes=2-1",
            "bytes=1",
            "bytes=+1-2",
            "bytes=0-9,0-9",
        ] {
            assert_eq!(of(text, 10), Asked::Whole, "{text}");
        }
        for text in [
            "bytes=10-",
            "bytes=-0",
            "bytes=",
            "bytes=0-0,1-1,2-2,3-3,4-4,5-5,6-6,7-7,8-8,9-9,0-0,0-0,0-0,0-0,0-0,0-0,0-0",
        ] {
            assert_eq!(of(text, 10), Asked::None, "{text}");
        }
        assert_eq!(of("bytes=0-", 0), Asked::None);
        assert_eq!(of("bytes=-1", 0), Asked::None);
    }
}
