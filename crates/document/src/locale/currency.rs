//! Currency and percent formats: position of symbol and sign (CLDR 47 currency and percent
//! patterns), and decimals of currencies (ISO 4217). Languages not listed get the pattern of CLDR's
//! root locale: code or symbol, a space, the number.

use icu_locale::Locale as IcuLocale;

use super::number::{NumberFormat, parts};

const NO_BREAK_SPACE: char = '\u{a0}';
const NARROW_NO_BREAK_SPACE: char = '\u{202f}';
const RIGHT_TO_LEFT_MARK: char = '\u{200f}';

/// Languages with the currency symbol before the number, without a space.
const PREFIX_TIGHT: [&str; 26] = [
    "en", "ja", "zh", "yue", "ko", "th", "hi", "mr", "gu", "ta", "te", "kn", "ml", "pa", "tr",
    "fil", "ms", "id", "ur", "cy", "ga", "mt", "zu", "xh", "fa", "haw",
];
/// Languages with the currency symbol after the number, after a no-break space.
const SUFFIX: [&str; 44] = [
    "de", "fr", "es", "it", "pt", "ca", "gl", "eu", "da", "sv", "nb", "nn", "no", "fi", "is", "et",
    "lv", "lt", "pl", "cs", "sk", "sl", "hr", "sr", "bs", "mk", "bg", "ro", "hu", "el", "ru", "uk",
    "be", "kk", "hy", "ka", "az", "sq", "he", "ar", "vi", "uz", "lb", "fo",
];
/// Languages with a no-break space before the percent sign.
const PERCENT_SPACED: [&str; 22] = [
    "de", "es", "ru", "cs", "sk", "da", "nb", "nn", "no", "sv", "fi", "ro", "lt", "sl", "hr", "ca",
    "gl", "be", "kk", "hy", "mk", "bs",
];
const PERCENT_PREFIX: [&str; 2] = ["tr", "eu"];

/// Sign and plain decimal of `value` in percent.
pub(super) fn percent_parts(value: f64, decimals: u8) -> (bool, String) {
    let hundredfold = value * 100.0;
    // The product may carry a binary rounding error, as in 0.07 * 100.
    let clean = format!("{hundredfold:.9}").parse().unwrap_or(hundredfold);
    parts(
        if clean.is_finite() { clean } else { value },
        Some(decimals),
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Prefix { spaced: bool },
    Suffix,
}

/// Symbol positions of a locale.
#[derive(Debug)]
pub(super) struct Placement {
    language: String,
    region: String,
    side: Side,
    percent_space: Option<char>,
    percent_prefix: bool,
}

impl Placement {
    pub(super) fn of(locale: &IcuLocale) -> Self {
        let language = locale.id.language.to_string();
        let region = locale
            .id
            .region
            .map(|region| region.to_string())
            .unwrap_or_default();
        let name = language.as_str();
        let spaced = matches!(
            (name, region.as_str()),
            ("nl", _)
                | ("de", "AT" | "CH" | "LI")
                | ("it", "CH")
                | ("pt", "BR")
                | ("es", "AR" | "CO" | "UY" | "PY" | "VE")
        );
        let american = name == "es"
            && matches!(
                region.as_str(),
                "MX" | "US" | "419" | "CL" | "PE" | "EC" | "GT" | "PR"
            );
        let side = if spaced {
            Side::Prefix { spaced: true }
        } else if american || PREFIX_TIGHT.contains(&name) {
            Side::Prefix { spaced: false }
        } else if SUFFIX.contains(&name) {
            Side::Suffix
        } else {
            Side::Prefix { spaced: true }
        };
        let percent_space = match name {
            "fr" => Some(NARROW_NO_BREAK_SPACE),
            "de" if matches!(region.as_str(), "CH" | "LI") => None,
            name if PERCENT_SPACED.contains(&name) => Some(NO_BREAK_SPACE),
            _ => None,
        };
        Self {
            percent_prefix: PERCENT_PREFIX.contains(&name),
            language,
            region,
            side,
            percent_space,
        }
    }

    pub(super) fn write(
        &self,
        number: &NumberFormat,
        (negative, plain): (bool, String),
        code: &str,
    ) -> String {
        let symbol = self.symbol(code);
        let mut text = String::with_capacity(24);
        if matches!(self.language.as_str(), "ar" | "he") {
            text.push(RIGHT_TO_LEFT_MARK);
        }
        // Dutch and Swiss patterns put the minus sign between symbol and number.
        let sign_inside = self.side == Side::Prefix { spaced: true };
        if negative && !sign_inside {
            text.push_str(&number.minus.0);
        }
        if let Side::Prefix { spaced } = self.side {
            text.push_str(symbol);
            if spaced || symbol.ends_with(char::is_alphabetic) {
                text.push(NO_BREAK_SPACE);
            }
        }
        if negative && sign_inside {
            text.push_str(&number.minus.0);
        }
        number.write_plain(&mut text, &plain);
        if negative {
            text.push_str(&number.minus.1);
        }
        if self.side == Side::Suffix {
            text.push(NO_BREAK_SPACE);
            text.push_str(symbol);
        }
        text
    }

    pub(super) fn write_percent(
        &self,
        number: &NumberFormat,
        (negative, plain): (bool, String),
    ) -> String {
        let mut text = String::with_capacity(12);
        if negative {
            text.push_str(&number.minus.0);
        }
        if self.percent_prefix {
            text.push('%');
        }
        number.write_plain(&mut text, &plain);
        if negative {
            text.push_str(&number.minus.1);
        }
        if !self.percent_prefix {
            text.extend(self.percent_space);
            text.push('%');
        }
        text
    }

    /// The symbol of `code`: the short form in the currency's own region, elsewhere an unambiguous
    /// one.
    pub(super) fn symbol<'c>(&self, code: &'c str) -> &'c str {
        let language = self.language.as_str();
        match (code, language, self.region.as_str()) {
            ("EUR", ..) => "€",
            ("GBP", ..) => "£",
            ("INR", ..) => "₹",
            ("KRW", ..) => "₩",
            ("ILS", ..) => "₪",
            ("VND", ..) => "₫",
            ("BRL", ..) => "R$",
            ("JPY", "ja", _) => "￥",
            ("JPY", "zh", _) => "JP¥",
            ("JPY", ..) => "¥",
            ("CNY", "zh", _) => "¥",
            ("CNY", "ja", _) => "元",
            ("CNY", ..) => "CN¥",
            ("USD", "en", "CA" | "AU" | "NZ" | "SG") => "US$",
            ("USD", "fr", _) => "$US",
            ("USD", "es" | "pt" | "nl" | "zh", region) if region != "US" && region != "PR" => "US$",
            ("USD", ..) => "$",
            ("CAD", _, "CA") | ("AUD", _, "AU") | ("NZD", _, "NZ") | ("SGD", _, "SG") => "$",
            ("MXN", _, "MX") | ("ARS", _, "AR") | ("CLP", _, "CL") | ("COP", _, "CO") => "$",
            ("HKD", _, "HK") | ("TWD", _, "TW") => "$",
            ("CAD", ..) => "CA$",
            ("AUD", ..) => "A$",
            ("NZD", ..) => "NZ$",
            ("MXN", ..) => "MX$",
            ("HKD", ..) => "HK$",
            ("TWD", ..) => "NT$",
            ("PHP", ..) => "₱",
            ("PLN", "pl", _) => "zł",
            ("CZK", "cs", _) => "Kč",
            ("SEK", "sv", _) | ("NOK", "nb" | "nn" | "no", _) => "kr",
            ("DKK", "da", _) => "kr.",
            ("ISK", "is", _) => "kr.",
            ("HUF", "hu", _) => "Ft",
            ("BGN", "bg", _) => "лв.",
            ("RUB", "ru", _) => "₽",
            ("UAH", "uk", _) => "₴",
            ("TRY", "tr", _) => "₺",
            ("THB", "th", _) => "฿",
            ("IDR", "id", _) => "Rp",
            ("MYR", "ms", _) => "RM",
            ("ZAR", "en" | "af" | "zu" | "xh", "ZA") => "R",
            ("SAR", "ar", _) => "ر.س.\u{200f}",
            ("AED", "ar", _) => "د.إ.\u{200f}",
            ("EGP", "ar", _) => "ج.م.\u{200f}",
            ("QAR", "ar", _) => "ر.ق.\u{200f}",
            ("KWD", "ar", _) => "د.ك.\u{200f}",
            _ => code,
        }
    }

    pub(super) fn is_suffix(&self) -> bool {
        self.side == Side::Suffix
    }

    pub(super) fn is_spaced_prefix(&self) -> bool {
        self.side == Side::Prefix { spaced: true }
    }

    pub(super) fn percent_is_spaced(&self) -> bool {
        self.percent_space.is_some()
    }
}

/// Number of decimals (ISO 4217); 2 for unknown codes.
pub(super) fn decimals(code: &str) -> u8 {
    match code {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX"
        | "UYI" | "VND" | "VUV" | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        "CLF" | "UYW" => 4,
        _ => 2,
    }
}

/// Whether `code` is three upper-case ASCII letters, the form of an ISO 4217 code.
#[must_use]
pub fn is_currency_code(code: &str) -> bool {
    code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase())
}
