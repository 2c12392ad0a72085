//! The operators of content with their operands (ISO 32000-1, annex A). What is not as it says is
//! refused: programs differ in what they make of it.

use lopdf::{Object, content::Operation};

use super::taken::impossible;
use crate::Error;

/// The largest number that says where something is: the numbers that are read are exact to an eighth of
/// a point up to here.
pub(super) const MOST: f32 = 1_048_576.0;

/// What operands are.
#[derive(Clone, Copy)]
enum Operands {
    /// So many numbers.
    Numbers(usize),
    /// One to 32 numbers.
    Components,
    /// Numbers, or none, and then a name, or none.
    Pattern,
    Name,
    /// A name and a number.
    Font,
    /// A name, and a name or a dictionary.
    Properties,
    Text,
    /// Two numbers and a text.
    SpacedText,
    /// A list of texts and numbers.
    Texts,
    /// A list of numbers, and a number.
    Dash,
    Picture,
}

fn operands(operator: &str) -> Option<Operands> {
    Some(match operator {
        "q" | "Q" | "h" | "S" | "s" | "f" | "F" | "f*" | "B" | "B*" | "b" | "b*" | "n" | "W"
        | "W*" | "BT" | "ET" | "T*" | "EMC" | "BX" | "EX" => Operands::Numbers(0),
        "w" | "J" | "j" | "M" | "i" | "Tc" | "Tw" | "Tz" | "TL" | "Ts" | "Tr" | "G" | "g" => {
            Operands::Numbers(1)
        }
        "m" | "l" | "Td" | "TD" | "d0" => Operands::Numbers(2),
        "RG" | "rg" => Operands::Numbers(3),
        "v" | "y" | "re" | "K" | "k" => Operands::Numbers(4),
        "cm" | "c" | "Tm" | "d1" => Operands::Numbers(6),
        "SC" | "sc" => Operands::Components,
        "SCN" | "scn" => Operands::Pattern,
        "ri" | "gs" | "CS" | "cs" | "sh" | "Do" | "MP" | "BMC" => Operands::Name,
        "Tf" => Operands::Font,
        "DP" | "BDC" => Operands::Properties,
        "Tj" | "'" => Operands::Text,
        "\"" => Operands::SpacedText,
        "TJ" => Operands::Texts,
        "d" => Operands::Dash,
        "BI" => Operands::Picture,
        _ => return None,
    })
}

/// Whether an operation is one of the standard.
pub(super) fn check(operation: &Operation) -> Result<(), Error> {
    let list = operation.operands.as_slice();
    let is_number = |object: &Object| object.as_float().is_ok_and(f32::is_finite);
    let is_text = |object: &Object| matches!(object, Object::String(..));
    let are_numbers = |list: &[Object]| list.iter().all(is_number);
    let is_right = match (operands(&operation.operator), list) {
        (Some(Operands::Numbers(count)), list) => list.len() == count && are_numbers(list),
        (Some(Operands::Components), list) => (1..=32).contains(&list.len()) && are_numbers(list),
        (Some(Operands::Pattern), [numbers @ .., Object::Name(_)]) => {
            numbers.len() <= 32 && are_numbers(numbers)
        }
        (Some(Operands::Pattern), list) => (1..=32).contains(&list.len()) && are_numbers(list),
        (Some(Operands::Name), [Object::Name(_)]) => true,
        (Some(Operands::Font), [Object::Name(_), size]) => is_number(size),
        (
            Some(Operands::Properties),
            [Object::Name(_), Object::Name(_) | Object::Dictionary(_)],
        ) => true,
        (Some(Operands::Text), [text]) => is_text(text),
        (Some(Operands::SpacedText), [word, spacing, text]) => {
            is_number(word) && is_number(spacing) && is_text(text)
        }
        (Some(Operands::Texts), [Object::Array(list)]) => {
            list.iter().all(|it| is_number(it) || is_text(it))
        }
        (Some(Operands::Dash), [Object::Array(list), phase]) => {
            are_numbers(list) && is_number(phase)
        }
        (Some(Operands::Picture), [Object::Stream(_)]) => true,
        (Some(Operands::Picture), _) => {
            return Err(impossible("a picture within the content cannot be read"));
        }
        _ => false,
    };
    let is_far = |object: &Object| object.as_float().is_ok_and(|it| it.abs() > MOST);
    let texts = match list {
        [Object::Array(texts)] => texts.as_slice(),
        _ => &[],
    };
    if list.iter().chain(texts).any(is_far) {
        return Err(impossible("its numbers are too large to tell where it is"));
    }
    match is_right {
        true => Ok(()),
        false => Err(impossible(
            "content has an operation that is not of the standard",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_read_in_different_ways_is_refused() {
        let of = |content: &[u8]| {
            let mut all = lopdf::content::Content::decode_iter(content);
            all.try_for_each(|operation| check(&operation.expect("an operation")))
        };
        let good =
            b"q 1 0 0 1 5 5 cm BT /F 9 Tf (a) Tj [(b) -5.5 (c)] TJ ET [1 2] 0 d /P scn 1 0 0 scn Q";
        assert!(of(good).is_ok());
        for bad in [
            b"0 [(a)] TJ".as_slice(),
            b"(a) 5 Tj",
            b"1 /F 12 Tf",
            b"1 0 0 1 5 5 5 cm",
            b"0 5 10 Td",
            b"/Gone /Im Do",
            b"0 /Span <</MCID 0>> BDC",
            b"(a) Tj0 0 Td",
            b"[(a) [(b)]] TJ",
            b"(a) f",
        ] {
            assert!(of(bad).is_err(), "{}", String::from_utf8_lossy(bad));
        }
    }
}
