//! Dates in fields: the format that the field's script names (`AFDate_FormatEx`), and days in it.

use lopdf::{Dictionary, Document, Object};

use crate::{annotation::of_field, open::value};

/// Maximum length of a script that is looked at, and of a format, in bytes.
const MAX_SCRIPT: usize = 10_000;
const MAX_FORMAT: usize = 40;
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The format of a field that is a date.
pub(super) fn format(document: &Document, field: &Dictionary) -> Option<String> {
    let actions = of_field(document, field, b"AA")?.as_dict().ok()?;
    let action = value(document, actions, b"F")?.as_dict().ok()?;
    let script = match value(document, action, b"JS")? {
        Object::Stream(stream) => stream.get_plain_content_with_limit(MAX_SCRIPT).ok()?,
        Object::String(bytes, _) => bytes.clone(),
        _ => return None,
    };
    let script = String::from_utf8_lossy(&script[..script.len().min(MAX_SCRIPT)]).into_owned();
    let rest = &script[script.find("AFDate_Format")?..];
    let begin = rest.find(['"', '\''])? + 1;
    let end = rest[begin..].find(['"', '\''])? + begin;
    let format = &rest[begin..end];
    (format.len() <= MAX_FORMAT && !format.is_empty()).then(|| format.to_owned())
}

/// A day, such as `2026-11-27`, in a format; `None` if it is no day.
pub(super) fn written(day: &str, format: &str) -> Option<String> {
    let mut parts = day.split('-');
    let mut next = |length: usize| {
        let part = parts.next().filter(|it| it.len() == length)?;
        part.bytes()
            .all(|it| it.is_ascii_digit())
            .then(|| part.parse::<u32>().ok())?
    };
    let (year, month, number) = (next(4)?, next(2)?, next(2)?);
    if parts.next().is_some() || !is_day(year, month, number) {
        return None;
    }
    let name = MONTHS[month as usize - 1];
    let mut made = String::new();
    let mut rest = format;
    while let Some(first) = rest.chars().next() {
        let count = rest.chars().take_while(|it| *it == first).count();
        let text = match (first, count) {
            ('y', 4) => format!("{year:04}"),
            ('y', 2) => format!("{:02}", year % 100),
            ('m', 4) => name.to_owned(),
            ('m', 3) => name[..3].to_owned(),
            ('m', 2) => format!("{month:02}"),
            ('m', 1) => month.to_string(),
            ('d', 2) => format!("{number:02}"),
            ('d', 1) => number.to_string(),
            // Times of the day are not asked for.
            ('H' | 'h', _) => "0".repeat(count),
            ('M' | 's', _) => "0".repeat(count),
            _ => rest.chars().take(count).collect(),
        };
        made.push_str(&text);
        rest = &rest[first.len_utf8() * count..];
    }
    Some(made)
}

/// Whether a text is a day in a format already.
pub(super) fn is_written(text: &str, format: &str) -> bool {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut left = format;
    while let Some(first) = left.chars().next() {
        let count = left.chars().take_while(|it| *it == first).count();
        left = &left[first.len_utf8() * count..];
        let Some((read, after)) = part(rest, first, count) else {
            return false;
        };
        parts.extend(read.map(|number| (first, number)));
        rest = after;
    }
    let find = |of: char| {
        let part = parts.iter().find(|(part, _)| *part == of);
        part.map(|(_, number)| *number)
    };
    let year = find('y').unwrap_or(2000);
    let year = if year < 100 { year + 2000 } else { year };
    rest.is_empty() && is_day(year, find('m').unwrap_or(1), find('d').unwrap_or(1))
}

/// What begins a text by a part of a format, and what follows it. `None` if it is something else.
fn part(text: &str, first: char, count: usize) -> Option<(Option<u32>, &str)> {
    if first == 'm' && count >= 3 {
        let index = MONTHS.iter().position(|name| {
            let name = if count == 3 { &name[..3] } else { name };
            text.starts_with(name)
        })?;
        let length = if count == 3 { 3 } else { MONTHS[index].len() };
        return Some((Some(index as u32 + 1), &text[length..]));
    }
    if !['y', 'm', 'd', 'H', 'h', 'M', 's'].contains(&first) {
        let expected: String = std::iter::repeat_n(first, count).collect();
        return Some((None, text.strip_prefix(expected.as_str())?));
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    let length = digits.count().min(if count == 1 { 2 } else { count });
    let number = text[..length].parse().ok()?;
    let is_whole = length == count || (count == 1 && length == 2);
    is_whole.then_some((Some(number), &text[length..]))
}

fn is_day(year: u32, month: u32, number: u32) -> bool {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_written_in_formats() {
        let made = |day, format| written(day, format);
        assert_eq!(
            made("2026-02-03", "dd.mm.yyyy").as_deref(),
            Some("03.02.2026")
        );
        assert_eq!(made("2026-02-03", "d-mmm-yy").as_deref(), Some("3-Feb-26"));
        assert_eq!(
            made("2024-02-29", "mmmm d, yyyy").as_deref(),
            Some("February 29, 2024")
        );
        for (text, format) in [
            ("03.02.2026", "dd.mm.yyyy"),
            ("3-Feb-26", "d-mmm-yy"),
            ("February 29, 2024", "mmmm d, yyyy"),
            ("1.12.2026 08:30", "d.m.yyyy HH:MM"),
        ] {
            assert!(is_written(text, format), "{text}");
        }
        for (text, format) in [
            ("31.02.2026", "dd.mm.yyyy"),
            ("3.2.2026", "dd.mm.yyyy"),
            ("03.02.2026 ", "dd.mm.yyyy"),
            ("3-Foo-26", "d-mmm-yy"),
            ("", "dd"),
        ] {
            assert!(!is_written(text, format), "{text}");
        }
        for wrong in [
            "2026-02-29",
            "2026-13-01",
            "2026-1-1",
            "27.11.2026",
            "2026-01-01-1",
            "",
        ] {
            assert_eq!(made(wrong, "dd.mm.yyyy"), None, "{wrong}");
        }
    }
}
