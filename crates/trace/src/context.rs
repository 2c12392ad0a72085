//! W3C Trace Context, level 1, section 3.2: the `traceparent` header.

use std::fmt;

/// The header.
pub const HEADER: &str = "traceparent";

/// A span as others see it: its trace, its own identifier, and whether the trace is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// Identifier of the trace; not zero.
    pub trace_id: u128,
    /// Identifier of the span; not zero.
    pub span_id: u64,
    /// The caller records this trace.
    pub is_sampled: bool,
}

impl TraceContext {
    /// Parses the value of a header; `None` if it is invalid, and the trace starts anew.
    #[must_use]
    pub fn parse(value: &str) -> Option<Self> {
        let mut parts = value.trim().split('-');
        let version = hexadecimal(parts.next()?, 2)?;
        let trace_id = hexadecimal(parts.next()?, 32)?;
        let span_id = hexadecimal(parts.next()?, 16)?;
        let flags = hexadecimal(parts.next()?, 2)?;
        // Later versions may add fields; version 00 has exactly four, and ff is no version.
        let is_whole = version != 0 || parts.next().is_none();
        let is_valid = is_whole && version != 0xff && trace_id != 0 && span_id != 0;
        is_valid.then_some(Self {
            trace_id,
            span_id: u64::try_from(span_id).ok()?,
            is_sampled: flags & 1 == 1,
        })
    }

    /// The identifier of the trace: 32 hexadecimal digits.
    #[must_use]
    pub fn trace_id_text(&self) -> String {
        format!("{:032x}", self.trace_id)
    }
}

/// The value of the header.
impl fmt::Display for TraceContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "00-{:032x}-{:016x}-{:02x}",
            self.trace_id,
            self.span_id,
            u8::from(self.is_sampled)
        )
    }
}

/// A number of exactly `digits` hexadecimal digits. Upper-case digits are invalid.
fn hexadecimal(text: &str, digits: usize) -> Option<u128> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (text.len() == digits && text.bytes().all(is_digit))
        .then(|| u128::from_str_radix(text, 16).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valid_value_is_read_and_written_again() {
        let value = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let context = TraceContext::parse(value).unwrap();
        assert_eq!(context.trace_id_text(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert!(context.is_sampled);
        assert_eq!(context.to_string(), value);
        let later =
            TraceContext::parse("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-more");
        assert!(!later.unwrap().is_sampled);
    }

    #[test]
    fn other_values_name_no_trace() {
        for invalid in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f35-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01",
        ] {
            assert_eq!(TraceContext::parse(invalid), None, "{invalid}");
        }
    }
}
