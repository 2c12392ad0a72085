//! Times in DER, in seconds since 1970.

use jiff::{
    civil::DateTime,
    tz::{Offset, TimeZone},
};

use crate::der::{DerError, Value, tag};

/// Reads a `UTCTime` or a `GeneralizedTime`, both in UTC.
pub(crate) fn read(value: Value<'_>) -> Result<i64, DerError> {
    let text = std::str::from_utf8(value.content).map_err(|_| DerError)?;
    let text = text.strip_suffix('Z').ok_or(DerError)?;
    let digits = text.split('.').next().unwrap_or_default();
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(DerError);
    }
    let (year, rest) = match (value.tag, digits.len()) {
        (tag::GENERALIZED_TIME, 14) => digits.split_at(4),
        (tag::UTC_TIME, 12) => digits.split_at(2),
        _ => return Err(DerError),
    };
    let number = |text: &str| text.parse::<i16>().map_err(|_| DerError);
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
        .map_err(|_| DerError)
}

/// A time as people and programs read it: RFC 3339, in UTC.
pub(crate) fn text(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).map_or_else(|_| String::new(), |time| time.to_string())
}

/// A date of PDF (7.9.4) as [`text`] writes it; `None` if it is none. Without an offset it is UTC.
pub(crate) fn of_pdf(date: &str) -> Option<String> {
    let date = date.strip_prefix("D:").unwrap_or(date);
    let end = date.find(|it: char| !it.is_ascii_digit());
    let (digits, offset) = date.split_at(end.unwrap_or(date.len()));
    if !matches!(digits.len(), 4 | 6 | 8 | 10 | 12 | 14) {
        return None;
    }
    let part = |at: usize, missing: i8| match digits.get(at..at + 2) {
        Some(text) => text.parse::<i8>().ok(),
        None => Some(missing),
    };
    let year = digits[..4].parse().ok()?;
    let (month, day) = (part(4, 1)?, part(6, 1)?);
    let time = DateTime::new(year, month, day, part(8, 0)?, part(10, 0)?, part(12, 0)?, 0).ok()?;
    let mut numbers = offset.get(1..).unwrap_or_default().split('\'');
    let mut number = || {
        numbers
            .next()
            .and_then(|it| it.parse::<i32>().ok())
            .unwrap_or(0)
    };
    let (hours, minutes) = (number(), number());
    let seconds = hours
        .checked_mul(3600)?
        .checked_add(minutes.checked_mul(60)?)?;
    let offset = match offset.as_bytes().first() {
        None | Some(b'Z') => 0,
        Some(b'+') => seconds,
        Some(b'-') => -seconds,
        Some(_) => return None,
    };
    let zone = Offset::from_seconds(offset).ok()?.to_time_zone();
    Some(time.to_zoned(zone).ok()?.timestamp().to_string())
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
            assert_eq!(read(tag::UTC_TIME, wrong), Err(DerError), "{wrong}");
        }
        assert_eq!(text(0), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn dates_of_pdf_are_read() {
        for (date, time) in [
            ("D:20261126130605Z", Some("2026-11-26T13:06:05Z")),
            ("D:20261126130605+02'30'", Some("2026-11-26T10:36:05Z")),
            ("D:20261126130605-01'00", Some("2026-11-26T14:06:05Z")),
            ("2026", Some("2026-01-01T00:00:00Z")),
            ("D:20261326", None),
            ("D:2026112", None),
            ("D:20261126130605+99999999'", None),
            ("äöü", None),
            ("", None),
        ] {
            assert_eq!(of_pdf(date).as_deref(), time, "{date}");
        }
    }
}
