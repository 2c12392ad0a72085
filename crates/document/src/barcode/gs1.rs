//! GS1 element strings: `(01)09521234543213(10)ABC123` is a list of application identifiers and
//! their values (GS1 General Specifications, section 3).

use super::check_digit;

/// An application identifier and its value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Element<'v> {
    /// Two to four digits.
    pub identifier: &'v str,
    /// The value, checked.
    pub value: &'v str,
}

/// What the value of an identifier has to be.
struct Rule {
    /// First digits of the identifier; an identifier of more digits ends with any.
    prefix: &'static str,
    /// Digits of the identifier.
    digits: usize,
    /// Length of the value, least and most.
    length: (usize, usize),
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Digits,
    /// Digits whose last is a check digit.
    Checked,
    /// Digits that begin with YYMMDD.
    Date,
}

const fn rule(prefix: &'static str, digits: usize, least: usize, most: usize, kind: Kind) -> Rule {
    Rule {
        prefix,
        digits,
        length: (least, most),
        kind,
    }
}

/// Rules for identifiers, the first that fits counts. The last rules take whole groups, whose members
/// are all text of variable length.
const RULES: [Rule; 43] = [
    rule("00", 2, 18, 18, Kind::Checked),
    rule("01", 2, 14, 14, Kind::Checked),
    rule("02", 2, 14, 14, Kind::Checked),
    rule("03", 2, 14, 14, Kind::Checked),
    rule("10", 2, 1, 20, Kind::Text),
    rule("11", 2, 6, 6, Kind::Date),
    rule("12", 2, 6, 6, Kind::Date),
    rule("13", 2, 6, 6, Kind::Date),
    rule("15", 2, 6, 6, Kind::Date),
    rule("16", 2, 6, 6, Kind::Date),
    rule("17", 2, 6, 6, Kind::Date),
    rule("20", 2, 2, 2, Kind::Digits),
    rule("21", 2, 1, 20, Kind::Text),
    rule("22", 2, 1, 20, Kind::Text),
    rule("242", 3, 1, 6, Kind::Digits),
    rule("23", 3, 1, 28, Kind::Text),
    rule("24", 3, 1, 30, Kind::Text),
    rule("25", 3, 1, 30, Kind::Text),
    rule("30", 2, 1, 8, Kind::Digits),
    rule("31", 4, 6, 6, Kind::Digits),
    rule("32", 4, 6, 6, Kind::Digits),
    rule("33", 4, 6, 6, Kind::Digits),
    rule("34", 4, 6, 6, Kind::Digits),
    rule("35", 4, 6, 6, Kind::Digits),
    rule("36", 4, 6, 6, Kind::Digits),
    rule("37", 2, 1, 8, Kind::Digits),
    rule("39", 4, 1, 18, Kind::Digits),
    rule("402", 3, 17, 17, Kind::Checked),
    rule("40", 3, 1, 30, Kind::Text),
    rule("41", 3, 13, 13, Kind::Checked),
    rule("420", 3, 1, 20, Kind::Text),
    rule("421", 3, 4, 12, Kind::Text),
    rule("422", 3, 3, 3, Kind::Digits),
    rule("423", 3, 3, 15, Kind::Digits),
    rule("424", 3, 3, 3, Kind::Digits),
    rule("425", 3, 3, 15, Kind::Digits),
    rule("426", 3, 3, 3, Kind::Digits),
    rule("427", 3, 1, 3, Kind::Text),
    rule("43", 4, 1, 70, Kind::Text),
    rule("7", 4, 1, 90, Kind::Text),
    rule("8", 4, 1, 90, Kind::Text),
    rule("90", 2, 1, 30, Kind::Text),
    rule("9", 2, 1, 90, Kind::Text),
];

impl Element<'_> {
    /// True if readers know the length by the first two digits, so that no separator follows (GS1
    /// General Specifications, figure 7.8.5-2).
    pub(super) fn is_predefined(&self) -> bool {
        matches!(
            self.identifier[..2].parse::<u8>(),
            Ok(0..=4 | 11..=20 | 31..=36 | 41)
        )
    }
}

/// Reads a value in the way it is printed, with identifiers in parentheses.
///
/// # Errors
/// A message for the author.
pub(super) fn parse(value: &str) -> Result<Vec<Element<'_>>, String> {
    const SHAPE: &str = "GS1 data is written with application identifiers in parentheses, as (01)09521234543213(10)ABC123";
    let mut elements: Vec<Element<'_>> = Vec::new();
    let mut rest = value.trim();
    while !rest.is_empty() {
        let (identifier, after) = leading_identifier(rest).ok_or(SHAPE)?;
        let end = next_identifier(after);
        let element = Element {
            identifier,
            value: &after[..end],
        };
        check(&element)?;
        elements.push(element);
        rest = &after[end..];
    }
    if elements.is_empty() {
        return Err(SHAPE.to_owned());
    }
    Ok(elements)
}

/// The identifier in parentheses that `text` begins with, and what follows.
fn leading_identifier(text: &str) -> Option<(&str, &str)> {
    let (identifier, after) = text.strip_prefix('(')?.split_once(')')?;
    let is_one =
        (2..=4).contains(&identifier.len()) && identifier.bytes().all(|byte| byte.is_ascii_digit());
    is_one.then_some((identifier, after))
}

/// Where the next identifier begins. A parenthesis that is none belongs to the value.
fn next_identifier(text: &str) -> usize {
    text.match_indices('(')
        .map(|(at, _)| at)
        .find(|at| leading_identifier(&text[*at..]).is_some())
        .unwrap_or(text.len())
}

fn check(element: &Element<'_>) -> Result<(), String> {
    let Element { identifier, value } = element;
    let rule = RULES
        .iter()
        .find(|rule| identifier.starts_with(rule.prefix))
        .filter(|rule| rule.digits == identifier.len())
        .ok_or_else(|| format!("({identifier}) is no application identifier of GS1"))?;
    let (least, most) = rule.length;
    let only_digits = rule.kind != Kind::Text;
    let what = if only_digits { "digits" } else { "characters" };
    if !(least..=most).contains(&value.chars().count()) {
        let length = if least == most {
            format!("{most}")
        } else {
            format!("{least} to {most}")
        };
        return Err(format!(
            "({identifier}) needs {length} {what}, “{value}” has {}",
            value.chars().count()
        ));
    }
    let allowed = |symbol: char| {
        if only_digits {
            symbol.is_ascii_digit()
        } else {
            symbol.is_ascii_alphanumeric() || "!\"%&'()*+,-./:;<=>?_".contains(symbol)
        }
    };
    if let Some(other) = value.chars().find(|symbol| !allowed(*symbol)) {
        return Err(format!("({identifier}) cannot carry “{other}”"));
    }
    match rule.kind {
        Kind::Checked => {
            let (body, given) = value.split_at(value.len() - 1);
            let expected = check_digit(body);
            if !given.starts_with(expected) {
                return Err(format!(
                    "the check digit of ({identifier}) is {given} but must be {expected}"
                ));
            }
        }
        Kind::Date => {
            let month = value[2..4].parse::<u8>().unwrap_or(0);
            let day = value[4..6].parse::<u8>().unwrap_or(99);
            if !(1..=12).contains(&month) || day > 31 {
                return Err(format!(
                    "({identifier}) needs a date as YYMMDD, “{value}” is none"
                ));
            }
        }
        Kind::Text | Kind::Digits => {}
    }
    Ok(())
}

/// The elements as they are encoded, with `separator` after each that needs one.
pub(super) fn data(elements: &[Element<'_>], separator: &str) -> String {
    let mut data = String::new();
    for (index, element) in elements.iter().enumerate() {
        data.push_str(element.identifier);
        data.push_str(element.value);
        if index + 1 < elements.len() && !element.is_predefined() {
            data.push_str(separator);
        }
    }
    data
}

/// The elements as they are printed below the code.
pub(super) fn readable(elements: &[Element<'_>]) -> String {
    elements
        .iter()
        .map(|element| format!("({}){}", element.identifier, element.value))
        .collect()
}
