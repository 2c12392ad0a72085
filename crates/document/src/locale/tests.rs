//! Tests of a few locales against CLDR, and of properties that hold for all numbers.

use proptest::prelude::*;

use super::*;
use crate::bound::FormatLength;

fn locale(tag: &str) -> Locale {
    Locale::new(tag).unwrap()
}

fn date(locale: &Locale, length: FormatLength) -> String {
    let moment = Moment::parse("2026-11-21", &TimeZone::UTC).unwrap();
    locale.format_moment(moment, &ValueFormat::Date(length))
}

#[test]
fn numbers_follow_the_locale() {
    assert_eq!(
        locale("en-US").format_number(1_234_567.891, Some(2)),
        "1,234,567.89"
    );
    assert_eq!(
        locale("de-DE").format_number(1_234_567.891, Some(2)),
        "1.234.567,89"
    );
    assert_eq!(
        locale("hi-IN").format_number(1_234_567.0, None),
        "12,34,567"
    );
    assert_eq!(locale("es-ES").format_number(1234.0, None), "1234");
    assert_eq!(locale("es-ES").format_number(12_345.0, None), "12.345");
    assert_eq!(locale("ar-EG").format_number(12.5, None), "١٢٫٥");
    assert_eq!(locale("de-DE").decimal_separator(), ",");
    assert_eq!(locale("de-DE").grouping_separator(), ".");
    assert_eq!(locale("ar").direction(), Direction::RightToLeft);
}

#[test]
fn halves_are_rounded_away_from_zero() {
    let english = locale("en");
    for (value, decimals, text) in [
        (1.005, 2, "1.01"),
        (-1.005, 2, "−1.01"),
        (2.5, 0, "3"),
        (0.000_4, 2, "0.00"),
        (-0.000_4, 2, "0.00"),
        (999.995, 2, "1,000.00"),
        (0.285, 2, "0.29"),
        (1e15 + 0.5, 0, "1,000,000,000,000,001"),
        (0.75 * 1.9, 2, "1.43"),
        (9.5 * 0.21, 2, "2.00"),
        (-2.75 * 0.06, 2, "−0.17"),
        (1.0 / 3.0, 16, "0.3333333333333333"),
        (123_456_789_012.345, 2, "123,456,789,012.35"),
    ] {
        assert_eq!(
            english.format_number(value, Some(decimals)),
            text,
            "{value}"
        );
    }
    assert_eq!(english.format_number(0.1 + 0.2, None), "0.3");
    assert_eq!(english.format_number(1e308, Some(2)), "1E308");
}

#[test]
fn money_follows_the_locale_and_the_currency() {
    let write = |tag: &str, value, code| locale(tag).format_currency(value, code, None);
    assert_eq!(write("en-US", -1234.5, "USD"), "−$1,234.50");
    assert_eq!(write("de-DE", 1234.5, "EUR"), "1.234,50\u{a0}€");
    assert_eq!(write("ja-JP", 1234.5, "JPY"), "￥1,235");
    assert_eq!(write("fr-FR", 1234.5, "EUR"), "1\u{202f}234,50\u{a0}€");
    assert_eq!(write("nl-NL", -3.0, "EUR"), "€\u{a0}−3,00");
    assert_eq!(write("en-US", 3.0, "CHF"), "CHF\u{a0}3.00");
    assert_eq!(write("en-US", 3.0, "KWD"), "KWD\u{a0}3.000");
}

#[test]
fn shares_follow_the_locale() {
    assert_eq!(locale("en").format_percent(0.19, 0), "19%");
    assert_eq!(locale("de").format_percent(0.07, 1), "7,0\u{a0}%");
    assert_eq!(locale("tr").format_percent(0.5, 0), "%50");
}

#[test]
fn dates_follow_the_locale() {
    assert_eq!(date(&locale("de-DE"), FormatLength::Medium), "21.11.2026");
    assert_eq!(date(&locale("de-DE"), FormatLength::Short), "21.11.26");
    assert_eq!(
        date(&locale("de-DE"), FormatLength::Long),
        "21. November 2026"
    );
    assert_eq!(
        date(&locale("en-GB"), FormatLength::Full),
        "Saturday, 21 November 2026"
    );
    assert_eq!(date(&locale("ja-JP"), FormatLength::Long), "2026年11月21日");
}

#[test]
fn instants_are_moved_into_the_time_zone() {
    let berlin = TimeZone::named("Europe/Berlin").unwrap();
    let parse = |text| Moment::parse(text, &berlin);
    let summer = parse("2026-07-01T22:30:00Z").unwrap();
    assert_eq!(summer, parse("2026-07-02T00:30:00").unwrap());
    assert_eq!(
        summer.for_format(&ValueFormat::Date(FormatLength::Short)),
        parse("2026-07-02").unwrap()
    );
    assert_eq!(parse("14:30"), Some(Moment::Time(52_200)));
    assert_eq!(parse("1969-12-31"), Some(Moment::Date(-1)));
    assert_eq!(parse("2026-02-30"), None);
    assert_eq!(parse("tomorrow"), None);
    assert!(TimeZone::named("Europe/Atlantis").is_none());
    assert_eq!(Moment::from_unix_seconds(1e300, &berlin), None);
    assert_eq!(
        Moment::from_unix_seconds(0.0, &berlin),
        Some(Moment::DateTime(3600))
    );
}

#[test]
fn spreadsheet_codes_follow_the_locale() {
    let code = |tag: &str, format| locale(tag).excel_number_format(&format);
    let medium = || ValueFormat::Date(FormatLength::Medium);
    assert_eq!(code("de-DE", medium()), "dd.mm.yyyy");
    assert_eq!(code("en-US", medium()), "mmm d, yyyy");
    assert_eq!(
        code("en-US", ValueFormat::Date(FormatLength::Short)),
        "m/d/yy"
    );
    assert_eq!(
        code("de-DE", ValueFormat::Date(FormatLength::Full)),
        "dddd, d. mmmm yyyy"
    );
    assert_eq!(
        code("de-DE", ValueFormat::Time(FormatLength::Short)),
        "hh:mm"
    );
    let money = ValueFormat::Currency {
        code: "EUR".to_owned(),
        decimals: 2,
    };
    assert_eq!(code("de-DE", money), "#,##0.00\u{a0}\"€\"");
    assert_eq!(code("en", ValueFormat::Percent { decimals: 1 }), "0.0%");
}

#[test]
fn plural_categories_are_cldrs() {
    assert_eq!(locale("en").plural_category(1.0), "one");
    assert_eq!(locale("en").plural_category(1.5), "other");
    assert_eq!(locale("pl").plural_category(3.0), "few");
    assert_eq!(locale("ar").plural_category(0.0), "zero");
    assert_eq!(locale("ja").plural_category(1.0), "other");
    assert_eq!(locale("en").plural_category(f64::INFINITY), "other");
}

#[test]
fn mistaken_tags_are_refused() {
    for tag in ["", "not a tag", "de_", "x".repeat(100).as_str()] {
        assert!(Locale::new(tag).is_err(), "{tag}");
    }
}

proptest! {
    #[test]
    fn numbers_read_back(value in -1e9_f64..1e9, decimals in 0_u8..6) {
        let text = locale("en").format_number(value, Some(decimals));
        let read: f64 = text.replace(',', "").replace('−', "-").parse().unwrap();
        prop_assert!((read - value).abs() <= 0.5 * 10_f64.powi(-i32::from(decimals)) + 1e-6);
    }

    #[test]
    fn no_number_is_long(value in any::<f64>(), decimals in any::<u8>()) {
        let locale = locale("de");
        prop_assert!(locale.format_number(value, Some(decimals)).len() < 64);
        prop_assert!(locale.format_currency(value, "EUR", Some(decimals)).len() < 64);
        prop_assert!(locale.format_percent(value, decimals).len() < 64);
        let _ = locale.plural_category(value);
    }

    #[test]
    fn dates_read_back(days in -100_000_i32..100_000) {
        let locale = locale("sv-SE");
        let format = ValueFormat::Date(FormatLength::Medium);
        let text = locale.format_moment(Moment::Date(days), &format);
        prop_assert!(!text.is_empty());
    }
}

#[test]
fn pages_are_numbered_in_the_digits_of_the_locale() {
    let digits = |tag: &str| Locale::new(tag).map(|locale| locale.digits().write(1024));
    assert_eq!(digits("ar-EG").as_deref(), Ok("١٠٢٤"));
    assert_eq!(digits("de-DE").as_deref(), Ok("1024"));
}
