//! Decimal numbers: the shortest decimal of a binary number, rounded half away from zero, with the
//! locale's digits, separators and groups.

use icu_decimal::{DecimalFormatter, input::Decimal};
use icu_locale::Locale as IcuLocale;

use crate::decimal;

/// Number format of a locale, inferred from samples so that formatting a cell needs no ICU call.
#[derive(Debug)]
pub(super) struct NumberFormat {
    pub(super) digits: [char; 10],
    pub(super) decimal: String,
    pub(super) group: String,
    /// Size of the group before the decimal separator, and of the groups before that.
    primary: usize,
    secondary: usize,
    /// Minimum size of the first group for grouping to apply at all.
    least: usize,
    pub(super) minus: (String, String),
}

/// The minus sign of print.
const MINUS: &str = "\u{2212}";
/// Numbers from here on are written with an exponent.
pub(super) const EXPONENT_FROM: f64 = 1e21;
/// Maximum number of decimals.
pub(super) const MAX_DECIMALS: u8 = 20;

impl NumberFormat {
    pub(super) fn new(locale: &IcuLocale) -> Result<Self, String> {
        let formatter = DecimalFormatter::try_new(locale.into(), Default::default())
            .map_err(|error| format!("there are no numbers for `{locale}`: {error}"))?;
        let write = |number: i64| formatter.format(&Decimal::from(number)).to_string();
        let mut digits = ['0'; 10];
        for (number, digit) in digits.iter_mut().enumerate() {
            *digit = write(number as i64).chars().next().unwrap_or('0');
        }
        let mut tenths = Decimal::from(15_i64);
        tenths.multiply_pow10(-1);
        let not_digit = |symbol: &char| !digits.contains(symbol);
        let decimal = formatter
            .format(&tenths)
            .to_string()
            .chars()
            .filter(not_digit)
            .collect();
        let long = write(1_234_567_890_123);
        let runs: Vec<usize> = long
            .split(|symbol: char| !digits.contains(&symbol))
            .filter(|run| !run.is_empty())
            .map(|run| run.chars().count())
            .collect();
        let group: String = long
            .chars()
            .skip_while(|symbol| digits.contains(symbol))
            .take_while(not_digit)
            .collect();
        let least = if write(1234).chars().count() > 4 {
            1
        } else {
            2
        };
        let negative = write(-1);
        let mut sign = negative.split(digits[1]).map(str::to_owned);
        // The hyphen of most locales is for keyboards; print has a minus sign, as wide as a plus.
        let minus = (
            sign.next()
                .unwrap_or_else(|| "-".to_owned())
                .replace('-', MINUS),
            sign.next().unwrap_or_default().replace('-', MINUS),
        );
        Ok(Self {
            digits,
            decimal,
            group,
            primary: runs.last().copied().unwrap_or(3),
            secondary: runs.iter().rev().nth(1).copied().unwrap_or(3),
            least,
            minus,
        })
    }

    /// The ASCII digit for a digit of this locale or of ASCII.
    pub(super) fn digit(&self, symbol: char) -> Option<char> {
        if symbol.is_ascii_digit() {
            return Some(symbol);
        }
        let value = self.digits.iter().position(|digit| *digit == symbol)?;
        char::from_digit(value as u32, 10)
    }

    /// Writes the parts of a number.
    pub(super) fn write(&self, text: &mut String, (negative, plain): (bool, String)) {
        if negative {
            text.push_str(&self.minus.0);
        }
        self.write_plain(text, &plain);
        if negative {
            text.push_str(&self.minus.1);
        }
    }

    /// Writes `plain` (such as `1234.50` or `1.5E21`, without a sign) with the locale's digits and separators.
    pub(super) fn write_plain(&self, text: &mut String, plain: &str) {
        let exponent = plain.find('E').unwrap_or(plain.len());
        let (plain, exponent) = plain.split_at(exponent);
        let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
        if !whole.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.push_str(plain);
        }
        let grouped = whole.len() >= self.primary + self.least && !self.group.is_empty();
        for (index, digit) in whole.bytes().enumerate() {
            let left = whole.len() - index;
            let boundary = left == self.primary
                || left > self.primary && (left - self.primary).is_multiple_of(self.secondary);
            if grouped && index > 0 && boundary {
                text.push_str(&self.group);
            }
            text.push(self.digits[usize::from(digit - b'0')]);
        }
        if !fraction.is_empty() {
            text.push_str(&self.decimal);
            for digit in fraction.bytes().filter(u8::is_ascii_digit) {
                text.push(self.digits[usize::from(digit - b'0')]);
            }
        }
        text.push_str(exponent);
    }
}

/// Sign and plain decimal of `value`. Zero has no sign.
pub(super) fn parts(value: f64, decimals: Option<u8>) -> (bool, String) {
    let plain = match decimals {
        Some(decimals) => plain_fixed(value.abs(), decimals.min(MAX_DECIMALS)),
        None => plain(value.abs(), 10),
    };
    let zero = plain.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    (value < 0.0 && !zero, plain)
}

/// Sign and plain decimal of an integer: exact, where a double is not.
pub(super) fn integer_parts(value: i128, decimals: Option<u8>) -> (bool, String) {
    let mut plain = value.unsigned_abs().to_string();
    let decimals = usize::from(decimals.unwrap_or(0).min(MAX_DECIMALS));
    if decimals > 0 {
        plain.push('.');
        plain.extend(std::iter::repeat_n('0', decimals));
    }
    (value < 0, plain)
}

/// `value` (not negative) with as many decimals as needed, at most `most`.
pub(super) fn plain(value: f64, most: u8) -> String {
    let mut plain = plain_fixed(value, most);
    if plain.contains('.') && !plain.contains('E') {
        plain.truncate(plain.trim_end_matches('0').trim_end_matches('.').len());
    }
    plain
}

/// Rounds `value` to `decimals` decimals, half away from zero.
pub(crate) fn rounded(value: f64, decimals: u8) -> f64 {
    let plain: f64 = plain_fixed(value.abs(), decimals).parse().unwrap_or(value);
    plain.copysign(value)
}

/// `value` (not negative) with exactly `decimals` decimals. Rounds the shortest decimal half away
/// from zero, so that 1.005 becomes 1.01.
pub(super) fn plain_fixed(value: f64, decimals: u8) -> String {
    if !value.is_finite() || value >= EXPONENT_FROM {
        return format!("{value:E}");
    }
    // Fast path: away from a half, the binary value rounds like its shortest decimal.
    if decimals <= 6 {
        let factor = 10_u64.pow(u32::from(decimals));
        let scaled = value * factor as f64;
        let fraction = scaled.fract();
        if scaled < 1e11 && (fraction - 0.5).abs() > 1e-3 {
            return fixed_point(scaled.round() as u64, usize::from(decimals));
        }
    }
    // A half must not depend on traces of binary arithmetic: 0.75 * 1.9 is 1.4249999999999998. Of larger
    // numbers, the digits that are rounded are among those traces.
    let is_clean = value < 1e14 / 10_f64.powi(i32::from(decimals));
    let shortest = match is_clean {
        true => decimal(value),
        false => value.to_string(),
    };
    round_decimal(&shortest, usize::from(decimals))
}

/// Inserts the decimal point before the last `decimals` digits. Called for every cell of a table.
fn fixed_point(mut scaled: u64, decimals: usize) -> String {
    let mut digits = [b'0'; 24];
    let mut start = digits.len();
    let mut written = 0;
    while scaled > 0 || written <= decimals {
        if written == decimals && decimals > 0 {
            start -= 1;
            digits[start] = b'.';
        }
        start -= 1;
        digits[start] = b'0' + (scaled % 10) as u8;
        scaled /= 10;
        written += 1;
    }
    digits[start..]
        .iter()
        .map(|digit| char::from(*digit))
        .collect()
}

fn round_decimal(shortest: &str, decimals: usize) -> String {
    let (whole, fraction) = shortest.split_once('.').unwrap_or((shortest, ""));
    let mut digits: Vec<u8> = whole.bytes().collect();
    let kept = fraction.bytes().chain(std::iter::repeat(b'0'));
    digits.extend(kept.take(decimals));
    if fraction
        .as_bytes()
        .get(decimals)
        .is_some_and(|digit| *digit >= b'5')
    {
        let mut carry = true;
        for digit in digits.iter_mut().rev() {
            if *digit == b'9' {
                *digit = b'0';
            } else {
                *digit += 1;
                carry = false;
                break;
            }
        }
        if carry {
            digits.insert(0, b'1');
        }
    }
    let point = digits.len() - decimals;
    let mut plain: String = digits.iter().map(|digit| char::from(*digit)).collect();
    if decimals > 0 {
        plain.insert(point, '.');
    }
    plain
}
