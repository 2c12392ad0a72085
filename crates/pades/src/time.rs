//! Times in DER, in seconds since 1970.

use jiff::{civil::DateTime, tz::TimeZone};

use crate::der::{NotDer, Value, tag};

/// Reads a `UTCTime` or a `GeneralizedTime`, both in UTC.
pub(crate) fn read(value: Value<'_>) -> Result<i64, NotDer> {
    let text = std::str::from_utf8(value.content).map_err(|_| NotDer)?;
    let text = text.strip_suffix('Z').ok_or(NotDer)?;
    let digits = text.split('.').next().unwrap_or_default();
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NotDer);
    }
    let (year, rest) = match (value.tag, digits.len()) {
        (tag::GENERALIZED_TIME, 14) => digits.split_at(4),
        (tag::UTC_TIME, 12) => digits.split_at(2),
        _ => return Err(NotDer),
    };
    let number = |text: &str| text.parse::<i16>().map_err(|_| NotDer);
    // Two digits are from 1950 to 2049 (RFC 5280, 4.1.2.5.1).
    let year = match (number(year)?, value.tag) {
        (year, tag::GENERALIZED_TIME) => year,
        (year @ 0..50, _) => 2000 + year,
        (year, _) => 1900 + year,
    };
    let part = |at: usize| number(&rest[at..at + 2]).map(|it| it as i8);
    // A leap second is the one before it.
    let second = part(8)?.min(59);
    DateTime::new(year, part(0)?, part(2)?, part(4)?, part(6)?, second, 0)
        .and_then(|time| time.to_zoned(TimeZone::UTC))
        .map(|time| time.timestamp().as_second())
        .map_err(|_| NotDer)
}

/// A time as people and programs read it: RFC 3339, in UTC.
pub(crate) fn text(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).map_or_else(|_| String::new(), |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::der::{only, value};

    #[test]
    fn times_are_read() {
        let read = |tag, text: &str| {
            let made = value(tag, &[text.as_bytes()]);
            super::read(only(&made).expect("DER"))
        };
        assert_eq!(read(tag::UTC_TIME, "700101000001Z"), Ok(1));
        assert_eq!(read(tag::GENERALIZED_TIME, "19700101000001.25Z"), Ok(1));
        assert_eq!(read(tag::UTC_TIME, "490101000000Z"), Ok(2_493_072_000));
        for wrong in [
            "7001010001Z",
            "700101000001",
            "701301000001Z",
            "70é101000001Z",
            "Z",
        ] {
            assert_eq!(read(tag::UTC_TIME, wrong), Err(NotDer), "{wrong}");
        }
        assert_eq!(text(0), "1970-01-01T00:00:00Z");
    }
}
