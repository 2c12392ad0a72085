//! Widths of the standard fonts, which files need not have (9.6.2.2).

use std::collections::HashMap;

/// The characters of the Latin fonts: code point, and the widths in thousandths of the font size of
/// Helvetica, its bold, Times, its bold, its italic and its bold italic.
const TABLE: &str = include_str!("standard.txt");
/// Width of all characters of Courier.
const COURIER: u16 = 600;

/// A standard font whose widths are known. Symbol and ZapfDingbats are not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standard {
    Courier,
    /// One of the columns of the table.
    Proportional(usize),
}

impl Standard {
    pub(crate) const HELVETICA: Self = Self::Proportional(0);

    /// Finds a font by its name.
    pub(crate) fn find(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"Courier" | b"Courier-Bold" | b"Courier-Oblique" | b"Courier-BoldOblique" => {
                Self::Courier
            }
            b"Helvetica" | b"Helvetica-Oblique" => Self::HELVETICA,
            b"Helvetica-Bold" | b"Helvetica-BoldOblique" => Self::Proportional(1),
            b"Times-Roman" => Self::Proportional(2),
            b"Times-Bold" => Self::Proportional(3),
            b"Times-Italic" => Self::Proportional(4),
            b"Times-BoldItalic" => Self::Proportional(5),
            _ => return None,
        })
    }

    /// The widths of its characters, in thousandths of the font size.
    pub(crate) fn widths(self) -> HashMap<char, u16> {
        let read = |line: &str| {
            let (code, widths) = line.split_once(' ')?;
            let code = char::from_u32(u32::from_str_radix(code, 16).ok()?)?;
            let width = match self {
                Self::Courier => COURIER,
                Self::Proportional(column) => widths.split(' ').nth(column)?.parse().ok()?,
            };
            Some((code, width))
        };
        TABLE.lines().filter_map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_all_widths() {
        assert_eq!(TABLE.lines().count(), 231);
        for line in TABLE.lines() {
            let (code, widths) = line.split_once(' ').unwrap();
            assert!(u32::from_str_radix(code, 16).is_ok(), "{line}");
            let widths: Vec<u16> = widths.split(' ').map(|it| it.parse().unwrap()).collect();
            assert_eq!(widths.len(), 6, "{line}");
            assert!(widths.iter().all(|it| (100..=1_100).contains(it)), "{line}");
        }
    }

    #[test]
    fn widths_are_those_of_the_fonts() {
        let of = |font: &[u8], text: &str| -> u32 {
            let widths = Standard::find(font).unwrap().widths();
            text.chars().map(|it| u32::from(widths[&it])).sum()
        };
        assert_eq!(of(b"Helvetica", "Hello, World"), 5_445);
        assert_eq!(of(b"Courier-Bold", "Hello"), 3_000);
        assert_eq!(of(b"Times-BoldItalic", "\u{20ac}"), 500);
        assert_eq!(Standard::find(b"Symbol"), None);
    }
}
