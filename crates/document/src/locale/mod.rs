//! Locales: how numbers, money, shares, dates and times are written (Unicode CLDR by ICU4X).
//!
//! Separators, digits, date patterns and plural rules are ICU4X's. ICU4X has no stable currency
//! and percent formatter yet, so placement and symbols are tables of CLDR patterns in `currency`.
//! Dates are always Gregorian. A number of 1e21 or more is written as `1E21`.

mod currency;
mod excel;
mod moment;
mod number;
#[cfg(test)]
mod tests;

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

/// A locale with its formatters. Made once, shared by renders.
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
    /// A sentence for the author where `tag` is not well formed.
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

    /// The BCP 47 tag, in canonical form.
    #[must_use]
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// The language subtag, such as `de`.
    #[must_use]
    pub fn language(&self) -> &str {
        &self.language
    }

    /// Direction of text.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The digits of numbers.
    #[must_use]
    pub fn digits(&self) -> Digits {
        Digits(self.number.digits)
    }

    /// What stands between whole and fraction.
    #[must_use]
    pub fn decimal_separator(&self) -> &str {
        &self.number.decimal
    }

    /// What stands between groups of digits.
    #[must_use]
    pub fn grouping_separator(&self) -> &str {
        &self.number.group
    }

    /// `value` with `decimals` digits after the separator, rounded half away from zero; as many as
    /// needed, at most 10, where `None`.
    #[must_use]
    pub fn format_number(&self, value: f64, decimals: Option<u8>) -> String {
        let mut text = String::with_capacity(16);
        self.number.write(&mut text, value, decimals);
        text
    }

    /// `value` as an amount of the currency `code` (ISO 4217); `decimals` where it is not the
    /// currency's own number.
    #[must_use]
    pub fn format_currency(&self, value: f64, code: &str, decimals: Option<u8>) -> String {
        let decimals = decimals.unwrap_or_else(|| currency::decimals(code));
        self.money.write(&self.number, value, code, decimals)
    }

    /// `value` as a share: 0.19 is 19 %.
    #[must_use]
    pub fn format_percent(&self, value: f64, decimals: u8) -> String {
        self.money.write_percent(&self.number, value, decimals)
    }

    /// `moment` as a date, time or both, as `format` says; where it says none of them, as what
    /// the moment is.
    #[must_use]
    pub fn format_moment(&self, moment: Moment, format: &ValueFormat) -> String {
        self.moments.write(moment, format)
    }

    /// A typed value as `format` writes it; `None` where they do not fit.
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
        // A number that is no plain decimal (1E308) is like any other large one.
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

    /// The number format code of a spreadsheet (ECMA-376 part 1, 18.8.31) for `format`, such as
    /// `#,##0.00 "€"` or `dd.mm.yyyy`. Spreadsheets write separators in their user's locale.
    #[must_use]
    pub fn excel_number_format(&self, format: &ValueFormat) -> String {
        excel::number_format(self, format)
    }
}

/// Digits after the decimal separator of the currency `code` (ISO 4217); 2 for unknown ones.
#[must_use]
pub fn currency_decimals(code: &str) -> u8 {
    currency::decimals(code)
}
