//! W3C Trace Context, level 1, section 3.2: the `traceparent` header.

use hyper::HeaderMap;

/// The header.
const HEADER: &str = "traceparent";

/// The trace id of the caller, 32 hexadecimal digits; `None` without a valid header.
pub(crate) fn trace_id(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(HEADER).iter();
    let (value, None) = (values.next()?, values.next()) else {
        return None;
    };
    let mut parts = value.to_str().ok()?.trim().split('-');
    let (version, trace, parent, flags) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    // Later versions may add fields; version 00 has exactly four.
    let is_whole = version != "00" || parts.next().is_none();
    let is_valid = is_whole
        && version != "ff"
        && is_hexadecimal(version, 2)
        && is_hexadecimal(trace, 32)
        && is_hexadecimal(parent, 16)
        && is_hexadecimal(flags, 2)
        && trace.bytes().any(|byte| byte != b'0')
        && parent.bytes().any(|byte| byte != b'0');
    is_valid.then_some(trace)
}

/// Upper-case digits are invalid.
fn is_hexadecimal(text: &str, length: usize) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == length && text.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn only_valid_headers_name_a_trace() {
        let trace_of = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, HeaderValue::from_static(value));
            trace_id(&headers).map(str::to_owned)
        };
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(trace_of(valid).as_deref(), Some(trace));
        let later = "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more";
        assert_eq!(trace_of(later).as_deref(), Some(trace));
        for invalid in [
            "",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f35-00f067aa0ba902b7-01",
        ] {
            assert_eq!(trace_of(invalid), None, "{invalid}");
        }
    }
}
