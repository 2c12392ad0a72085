//! Numbers as people write them.

/// Digits that a binary fraction keeps of a decimal number, whatever the number.
const DIGITS: usize = 15;

/// The shortest decimal of a number, without the traces of binary arithmetic: `0.1 + 0.2` is `0.3`.
/// Integers and numbers of at most 15 digits are written exactly.
#[must_use]
pub fn decimal(number: f64) -> String {
    // Adding zero turns negative zero into zero.
    let exact = (number + 0.0).to_string();
    let digits = exact.trim_start_matches(['-', '0', '.']).len();
    if digits <= DIGITS || !exact.contains('.') {
        return exact;
    }
    let rounded = format!("{number:.*e}", DIGITS - 1).parse::<f64>();
    rounded.map_or(exact, |rounded| (rounded + 0.0).to_string())
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn binary_arithmetic_leaves_no_trace() {
        assert_eq!(decimal(0.1 + 0.2), "0.3");
        assert_eq!(decimal(3.0 * 24.9), "74.7");
        assert_eq!(decimal(-(1.1 + 2.2)), "-3.3");
        assert_eq!(decimal(1.0 / 3.0), "0.333333333333333");
        assert_eq!(decimal(-0.0), "0");
        assert_eq!(decimal(9_007_199_254_740_991.0), "9007199254740991");
        assert_eq!(decimal(123_456_789.123_456), "123456789.123456");
        assert_eq!(decimal(0.000_123_456_789_012_345), "0.000123456789012345");
    }
}
