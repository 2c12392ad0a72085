//! Spreadsheet number format codes (ECMA-376-1 §18.8.31), derived from the locale's own patterns.

use super::{Locale, Moment};
use crate::bound::ValueFormat;

pub(super) fn number_format(locale: &Locale, format: &ValueFormat) -> String {
    match format {
        ValueFormat::Text => "@".to_owned(),
        ValueFormat::Number { decimals: None } => "#,##0.##########".to_owned(),
        ValueFormat::Number {
            decimals: Some(decimals),
        } => number(*decimals),
        ValueFormat::Currency { code, decimals } => {
            let symbol = format!("\"{}\"", locale.money.symbol(code).replace('"', ""));
            let number = number(*decimals);
            if locale.money.is_suffix() {
                format!("{number}\u{a0}{symbol}")
            } else if locale.money.is_spaced_prefix() || symbol.len() > 5 {
                format!("{symbol}\u{a0}{number}")
            } else {
                format!("{symbol}{number}")
            }
        }
        ValueFormat::Percent { decimals } => {
            let space = if locale.money.percent_is_spaced() {
                "\u{a0}"
            } else {
                ""
            };
            let digits = match decimals {
                0 => "0".to_owned(),
                decimals => format!("0.{}", "0".repeat(usize::from(*decimals).min(20))),
            };
            format!("{digits}{space}%")
        }
        ValueFormat::Date(_) | ValueFormat::Time(_) | ValueFormat::DateTime(_) => {
            moment(locale, format)
        }
    }
}

fn number(decimals: u8) -> String {
    match decimals {
        0 => "#,##0".to_owned(),
        decimals => format!("#,##0.{}", "0".repeat(usize::from(decimals).min(20))),
    }
}

/// 2033-05-07T09:08:06 in Unix seconds, a Saturday: all its fields differ from one another.
const SAMPLE: i64 = 1_999_069_686;
/// 119 days later, on Saturday 2033-09-03: only month and day differ.
const OTHER_MONTH: i64 = SAMPLE + 119 * 86_400;
/// One day later, on Sunday 2033-05-08: only day and weekday differ.
const OTHER_DAY: i64 = SAMPLE + 86_400;

/// The code of a date or time format, inferred from how the locale formats the three samples.
fn moment(locale: &Locale, format: &ValueFormat) -> String {
    let write = |seconds| {
        runs(
            locale,
            &locale.format_moment(Moment::DateTime(seconds), format),
        )
    };
    let (sample, month, day) = (write(SAMPLE), write(OTHER_MONTH), write(OTHER_DAY));
    let twelve_hours = sample.iter().any(|run| matches!(run.as_str(), "AM" | "am"));
    let mut code = String::new();
    for (index, run) in sample.iter().enumerate() {
        let differs = |other: &[String]| other.get(index).is_some_and(|other| other != run);
        let field = match run.as_str() {
            "2033" => "yyyy",
            "33" => "yy",
            "05" => "mm",
            "5" => "m",
            "07" => "dd",
            "7" => "d",
            "09" => "hh",
            "9" => "h",
            "08" => "mm",
            "06" => "ss",
            "AM" | "am" if twelve_hours => "AM/PM",
            text if text.chars().all(char::is_alphabetic) && differs(&month) => {
                if text.chars().count() <= 3 && month.get(index).is_some_and(|m| m.len() <= 4) {
                    "mmm"
                } else {
                    "mmmm"
                }
            }
            text if text.chars().all(char::is_alphabetic) && differs(&day) => "dddd",
            text if text.chars().any(char::is_alphabetic) => {
                code.push('"');
                code.push_str(text);
                code.push('"');
                continue;
            }
            text => {
                // Many spreadsheet fonts lack the narrow space.
                code.push_str(&text.replace(['\u{202f}', '\u{200f}', '\u{61c}'], " "));
                continue;
            }
        };
        code.push_str(field);
    }
    code.trim().to_owned()
}

/// Splits a text into runs of digits (converted to ASCII), letters, and everything else.
fn runs(locale: &Locale, text: &str) -> Vec<String> {
    let mut runs: Vec<(u8, String)> = Vec::new();
    for symbol in text.chars() {
        let (class, symbol) = match locale.number.digit(symbol) {
            Some(digit) => (0, digit),
            None if symbol.is_alphabetic() => (1, symbol),
            None => (2, symbol),
        };
        match runs.last_mut() {
            Some((last, run)) if *last == class => run.push(symbol),
            _ => runs.push((class, symbol.to_string())),
        }
    }
    runs.into_iter().map(|(_, run)| run).collect()
}
