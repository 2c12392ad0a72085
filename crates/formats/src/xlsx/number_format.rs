//! Number format codes (ECMA-376-1 §18.8.31) for a value format and a language.

use platen_document::bound::{FormatLength, ValueFormat};

/// The number format code of `format` in the language `tag` (BCP 47). Codes always use English
/// grouping and decimal signs; the spreadsheet shows those of the reader's locale.
#[must_use]
pub fn number_format(format: &ValueFormat, tag: &str) -> String {
    let language = tag
        .split(['-', '_'])
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let number = |decimals: u8| {
        let zeros = "0".repeat(usize::from(decimals.min(30)));
        let point = if decimals > 0 { "." } else { "" };
        format!("#,##0{point}{zeros}")
    };
    match format {
        ValueFormat::Text | ValueFormat::Number { decimals: None } => "General".to_owned(),
        ValueFormat::Number {
            decimals: Some(decimals),
        } => number(*decimals),
        ValueFormat::Currency { code, decimals } => {
            let (symbol, number) = (currency_symbol(code), number(*decimals));
            match language.as_str() {
                "en" | "ja" | "zh" | "ko" | "th" | "hi" if symbol.chars().count() == 1 => {
                    format!("[${symbol}]{number}")
                }
                "en" | "ja" | "zh" | "ko" | "th" | "hi" | "nl" | "tr" | "pt" => {
                    format!("[${symbol}] {number}")
                }
                _ => format!("{number} [${symbol}]"),
            }
        }
        ValueFormat::Percent { decimals } => {
            let zeros = "0".repeat(usize::from((*decimals).min(30)));
            let point = if *decimals > 0 { "." } else { "" };
            let space = match language.as_str() {
                "de" | "fr" | "sv" | "fi" | "nb" | "da" | "cs" | "sk" | "ru" | "es" => " ",
                _ => "",
            };
            format!("0{point}{zeros}{space}%")
        }
        ValueFormat::Date(length) => date(*length, &language, tag),
        ValueFormat::Time(length) => time(*length, &language).to_owned(),
        ValueFormat::DateTime(length) => {
            let time = time(FormatLength::Short, &language);
            format!("{} {time}", date(*length, &language, tag))
        }
    }
}

fn date(length: FormatLength, language: &str, tag: &str) -> String {
    let american =
        language == "en" && !matches!(tag.split(['-', '_']).nth(1), Some(r) if r != "US");
    let [short, medium, long, full] = match language {
        "en" if american => [
            "m/d/yy",
            "mmm d, yyyy",
            "mmmm d, yyyy",
            "dddd, mmmm d, yyyy",
        ],
        "de" | "da" | "nb" | "fi" | "cs" | "pl" | "ru" | "tr" => [
            "dd.mm.yy",
            "dd.mm.yyyy",
            "d. mmmm yyyy",
            "dddd, d. mmmm yyyy",
        ],
        "ja" | "zh" => [
            "yyyy/mm/dd",
            "yyyy/mm/dd",
            "yyyy\"年\"m\"月\"d\"日\"",
            "yyyy\"年\"m\"月\"d\"日\"dddd",
        ],
        "ko" => [
            "yy. m. d.",
            "yyyy. m. d.",
            "yyyy\"년\" m\"월\" d\"일\"",
            "yyyy\"년\" m\"월\" d\"일\" dddd",
        ],
        "sv" | "hu" | "lt" => [
            "yyyy-mm-dd",
            "yyyy-mm-dd",
            "d mmmm yyyy",
            "dddd d mmmm yyyy",
        ],
        "en" => [
            "dd/mm/yyyy",
            "d mmm yyyy",
            "d mmmm yyyy",
            "dddd, d mmmm yyyy",
        ],
        _ => [
            "dd/mm/yyyy",
            "dd/mm/yyyy",
            "d mmmm yyyy",
            "dddd d mmmm yyyy",
        ],
    };
    let names = match language {
        "en" if !american => "[$-809]",
        _ => names(language),
    };
    match length {
        FormatLength::Short => short.to_owned(),
        FormatLength::Medium if medium.contains("mmm") => format!("{names}{medium}"),
        FormatLength::Medium => medium.to_owned(),
        FormatLength::Long => format!("{names}{long}"),
        FormatLength::Full => format!("{names}{full}"),
    }
}

/// The prefix that makes names of months and days appear in the document's language (MS-LCID).
fn names(language: &str) -> &'static str {
    match language {
        "en" => "[$-409]",
        "de" => "[$-407]",
        "fr" => "[$-40C]",
        "es" => "[$-C0A]",
        "it" => "[$-410]",
        "nl" => "[$-413]",
        "pt" => "[$-816]",
        "pl" => "[$-415]",
        "ja" => "[$-411]",
        "zh" => "[$-804]",
        "ko" => "[$-412]",
        "ar" => "[$-2000401]",
        "he" => "[$-40D]",
        _ => "",
    }
}

fn time(length: FormatLength, language: &str) -> &'static str {
    match (language, length) {
        ("en", FormatLength::Short) => "h:mm AM/PM",
        ("en", _) => "h:mm:ss AM/PM",
        (_, FormatLength::Short) => "hh:mm",
        _ => "hh:mm:ss",
    }
}

fn currency_symbol(code: &str) -> String {
    let symbol = match code {
        "EUR" => "€",
        "USD" => "$",
        "GBP" => "£",
        "JPY" | "CNY" => "¥",
        "INR" => "₹",
        "KRW" => "₩",
        "ILS" => "₪",
        "TRY" => "₺",
        "PLN" => "zł",
        "CZK" => "Kč",
        "BRL" => "R$",
        _ => {
            return code
                .chars()
                .filter(char::is_ascii_alphabetic)
                .take(3)
                .collect();
        }
    };
    symbol.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_the_language() {
        let euro = ValueFormat::Currency {
            code: "EUR".to_owned(),
            decimals: 2,
        };
        assert_eq!(number_format(&euro, "de-DE"), "#,##0.00 [$€]");
        assert_eq!(number_format(&euro, "en"), "[$€]#,##0.00");
        let date = ValueFormat::Date(FormatLength::Medium);
        assert_eq!(number_format(&date, "de-AT"), "dd.mm.yyyy");
        assert_eq!(number_format(&date, "en-US"), "[$-409]mmm d, yyyy");
        assert_eq!(number_format(&date, "en-GB"), "[$-809]d mmm yyyy");
        assert_eq!(
            number_format(&ValueFormat::Percent { decimals: 1 }, "de"),
            "0.0 %"
        );
    }
}
