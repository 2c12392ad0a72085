//! Locales: formats of numbers, currencies, percentages, dates and times (Unicode CLDR through
//! ICU4X).
//!
//! Separators, digits, date patterns and plural rules come from ICU4X. It has no stable currency
//! and percent formatter yet, so `currency` contains tables of CLDR patterns. Dates are always
//! Gregorian. Numbers from 1e21 on are written as `1E21`.

mod currency;
mod excel;
mod moment;
mod moment_ops;
mod number;
#[cfg(test)]
mod tests;
mod words;

use std::cmp::Ordering;

use icu_collator::{CollatorBorrowed, options::CollatorOptions};
use icu_decimal::input::Decimal;
use icu_locale::{Locale as IcuLocale, LocaleDirectionality};
use icu_plurals::{PluralCategory, PluralRules};

pub(crate) use self::number::rounded;
pub use self::{
    currency::is_currency_code,
    moment::{Moment, TimeZone},
};
use self::{moment::MomentFormats, number::NumberFormat};
use crate::bound::{Digits, Direction, Value, ValueFormat};

/// A locale with its formatters. Expensive to create; shared between renderings.
#[derive(Debug)]
pub struct Locale {
    tag: String,
    language: String,
    direction: Direction,
    number: NumberFormat,
    money: currency::Placement,
    moments: MomentFormats,
    cardinal: PluralRules,
}

impl Locale {
    /// The locale of a BCP 47 tag such as `de-DE`.
    ///
    /// # Errors
    /// A message for the author if `tag` is malformed.
    pub fn new(tag: &str) -> Result<Self, String> {
        let wrong = || format!("`{tag}` is not a locale: write a tag such as `de-DE`");
        if tag.len() > 64 {
            return Err(wrong());
        }
        let icu: IcuLocale = tag.parse().map_err(|_| wrong())?;
        let right_to_left = LocaleDirectionality::new_common().is_right_to_left(&icu.id);
        let cardinal = PluralRules::try_new_cardinal((&icu).into())
            .map_err(|error| format!("there are no plural rules for `{tag}`: {error}"))?;
        Ok(Self {
            tag: icu.to_string(),
            language: icu.id.language.to_string(),
            direction: if right_to_left {
                Direction::RightToLeft
            } else {
                Direction::LeftToRight
            },
            number: NumberFormat::new(&icu)?,
            money: currency::Placement::of(&icu),
            moments: MomentFormats::new(&icu),
            cardinal,
        })
    }

    /// The canonical BCP 47 tag.
    #[must_use]
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// The language subtag, such as `de`.
    #[must_use]
    pub fn language(&self) -> &str {
        &self.language
    }

    /// Base direction of text.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The digits of numbers.
    #[must_use]
    pub fn digits(&self) -> Digits {
        Digits(self.number.digits)
    }

    /// Compares texts in the alphabetical order of the locale's language.
    pub(crate) fn collation(&self) -> impl Fn(&str, &str) -> Ordering + use<> {
        let preferences = self.tag.parse::<IcuLocale>().unwrap_or(IcuLocale::UNKNOWN);
        let collator =
            CollatorBorrowed::try_new((&preferences).into(), CollatorOptions::default()).ok();
        move |a, b| match &collator {
            Some(collator) => collator.compare(a, b),
            None => a.cmp(b),
        }
    }

    /// The decimal separator.
    #[must_use]
    pub fn decimal_separator(&self) -> &str {
        &self.number.decimal
    }

    /// The grouping separator.
    #[must_use]
    pub fn grouping_separator(&self) -> &str {
        &self.number.group
    }

    /// Formats a number with `decimals` decimals, rounded half away from zero; `None` writes as
    /// many as needed, at most 10.
    #[must_use]
    pub fn format_number(&self, value: f64, decimals: Option<u8>) -> String {
        let mut text = String::with_capacity(16);
        self.number.write(&mut text, number::parts(value, decimals));
        text
    }

    /// Formats an amount in the currency `code` (ISO 4217). `decimals` overrides the currency's own
    /// number.
    #[must_use]
    pub fn format_currency(&self, value: f64, code: &str, decimals: Option<u8>) -> String {
        let decimals = decimals.unwrap_or_else(|| currency::decimals(code));
        let parts = number::parts(value, Some(decimals));
        self.money.write(&self.number, parts, code)
    }

    /// Formats a percentage: 0.19 becomes 19 %.
    #[must_use]
    pub fn format_percent(&self, value: f64, decimals: u8) -> String {
        let parts = currency::percent_parts(value, decimals);
        self.money.write_percent(&self.number, parts)
    }

    /// Formats an integer that a double may not hold, with all of its digits. `None` if it is so
    /// large that it is written with an exponent, or `format` is none of numbers.
    pub(crate) fn format_integer(&self, value: i128, format: &ValueFormat) -> Option<String> {
        let percent = matches!(format, ValueFormat::Percent { .. });
        let value = value.checked_mul(if percent { 100 } else { 1 })?;
        if value.unsigned_abs() as f64 >= number::EXPONENT_FROM {
            return None;
        }
        let parts = |decimals| number::integer_parts(value, decimals);
        match format {
            ValueFormat::Number { decimals } => {
                let mut text = String::with_capacity(32);
                self.number.write(&mut text, parts(*decimals));
                Some(text)
            }
            ValueFormat::Currency { code, decimals } => {
                Some(self.money.write(&self.number, parts(Some(*decimals)), code))
            }
            ValueFormat::Percent { decimals } => {
                Some((self.money).write_percent(&self.number, parts(Some(*decimals))))
            }
            _ => None,
        }
    }

    /// Formats a date, time or both according to `format`; a format of another kind gives the
    /// moment's default.
    #[must_use]
    pub fn format_moment(&self, moment: Moment, format: &ValueFormat) -> String {
        self.moments.write(moment, format)
    }

    /// Formats a date, time or both by a CLDR pattern (UTS #35) such as `d MMMM y`, with the names of
    /// the locale.
    ///
    /// # Errors
    /// A message for the author if `pattern` is no pattern.
    pub fn format_pattern(&self, moment: Moment, pattern: &str) -> Result<String, String> {
        self.moments.write_pattern(moment, pattern)
    }

    /// A whole number in words.
    ///
    /// # Errors
    /// A message for the author if the language is not known.
    pub fn words(&self, number: i64) -> Result<String, String> {
        words::write(&self.tag, &self.language, number).ok_or_else(|| {
            let known = words::LANGUAGES.join(", ");
            format!(
                "there are no number words for `{}`: known are {known}",
                self.tag
            )
        })
    }

    /// Formats a typed value; `None` if value and format do not fit.
    #[must_use]
    pub fn format_value(&self, value: Value, format: &ValueFormat) -> Option<String> {
        let moment = match value {
            Value::Date(days) => Moment::Date(days),
            Value::DateTime(seconds) => Moment::DateTime(seconds),
            Value::Time(seconds) => Moment::Time(seconds),
            Value::Number(number) => {
                return match format {
                    ValueFormat::Number { decimals } => Some(self.format_number(number, *decimals)),
                    ValueFormat::Currency { code, decimals } => {
                        Some(self.format_currency(number, code, Some(*decimals)))
                    }
                    ValueFormat::Percent { decimals } => {
                        Some(self.format_percent(number, *decimals))
                    }
                    _ => None,
                };
            }
            Value::Bool(_) | Value::Empty => return None,
        };
        Some(self.format_moment(moment, format))
    }

    /// The CLDR plural category of `value`: `zero`, `one`, `two`, `few`, `many` or `other`.
    #[must_use]
    pub fn plural_category(&self, value: f64) -> &'static str {
        // A number that is not a plain decimal (1E308) counts as some large one.
        let decimal: Decimal = number::plain(value.abs(), 6)
            .parse()
            .unwrap_or_else(|_| Decimal::from(1_000_i64));
        match self.cardinal.category_for(&decimal) {
            PluralCategory::Zero => "zero",
            PluralCategory::One => "one",
            PluralCategory::Two => "two",
            PluralCategory::Few => "few",
            PluralCategory::Many => "many",
            PluralCategory::Other => "other",
        }
    }

    /// The spreadsheet number format code (ECMA-376-1 §18.8.31) of `format`, such as `#,##0.00 "€"`
    /// or `dd.mm.yyyy`. Spreadsheets use the separators of the reader's locale.
    #[must_use]
    pub fn excel_number_format(&self, format: &ValueFormat) -> String {
        excel::number_format(self, format)
    }
}

/// Decimals of the currency `code` (ISO 4217); 2 for unknown codes.
#[must_use]
pub fn currency_decimals(code: &str) -> u8 {
    currency::decimals(code)
}
