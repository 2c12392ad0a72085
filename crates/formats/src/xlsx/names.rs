//! Defined names for the rows of tables.

/// Rows of a sheet that a name stands for.
pub(super) struct NamedRows {
    pub name: String,
    pub first: u32,
    pub last: u32,
    pub first_column: u16,
    pub last_column: u16,
}

impl NamedRows {
    /// The reference that a workbook defines.
    pub fn reference(&self, sheet: &str) -> String {
        let letters = rust_xlsxwriter::utility::column_number_to_name;
        let (left, right) = (letters(self.first_column), letters(self.last_column));
        let sheet = sheet.replace('\'', "''");
        format!(
            "='{sheet}'!${left}${}:${right}${}",
            self.first + 1,
            self.last + 1
        )
    }
}

/// Longest name, in UTF-16 units. Excel takes 255.
const MAX_UNITS: usize = 200;

/// A name that Excel accepts: letters, digits, `_` and `.`, not starting with a digit, and no cell
/// reference (ECMA-376-1 §18.2.5), no truth value and no name of its own such as `_xlnm.Print_Area`.
pub(super) fn defined_name(name: &str) -> String {
    let mut units = 0;
    let mut defined: String = name
        .chars()
        .map(|symbol| {
            if symbol.is_alphanumeric() || matches!(symbol, '_' | '.') {
                symbol
            } else {
                '_'
            }
        })
        .take_while(|symbol| {
            units += symbol.len_utf16();
            units <= MAX_UNITS
        })
        .collect();
    let letters = defined.trim_end_matches(|symbol: char| symbol.is_ascii_digit());
    let is_cell = letters.len() < defined.len()
        && (1..=3).contains(&letters.len())
        && letters.chars().all(|symbol| symbol.is_ascii_alphanumeric());
    let starts_well = defined.starts_with(|symbol: char| symbol.is_alphabetic() || symbol == '_');
    let is_reserved = (defined.get(..6)).is_some_and(|start| start.eq_ignore_ascii_case("_xlnm."));
    // The library knows the other rules, such as that `R1_a` reads as a row.
    let is_refused = rust_xlsxwriter::utility::check_name(&defined).is_err();
    if is_cell || is_reserved || is_refused || !starts_well {
        defined.insert(0, '_');
    }
    defined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_cells() {
        for (name, expected) in [
            ("positions", "positions"),
            ("Umsätze 2026", "Umsätze_2026"),
            ("A1", "_A1"),
            ("abc12", "_abc12"),
            ("abcd12", "abcd12"),
            ("R1C1", "_R1C1"),
            ("R01C1", "_R01C1"),
            ("rc", "_rc"),
            ("r", "_r"),
            ("C12-34", "_C12_34"),
            ("R1 results", "_R1_results"),
            ("RC2.a", "_RC2.a"),
            ("Rx1", "_Rx1"),
            ("R_1", "R_1"),
            ("ß12", "ß12"),
            ("7days", "_7days"),
            ("true", "_true"),
            ("FALSE", "_FALSE"),
            ("trues", "trues"),
            ("_xlnm.Print_Area", "__xlnm.Print_Area"),
            ("_XLNM.Print_Titles", "__XLNM.Print_Titles"),
        ] {
            assert_eq!(defined_name(name), expected);
        }
    }

    #[test]
    fn long_names_are_cut() {
        // Each of these letters has two UTF-16 units.
        let name = defined_name(&"𠀀".repeat(300));
        assert_eq!(name.encode_utf16().count(), MAX_UNITS);
        let name = defined_name(&format!("R1{}", "a".repeat(300)));
        assert_eq!(name.len(), MAX_UNITS + 1);
        assert!(rust_xlsxwriter::utility::check_name(&name).is_ok());
    }

    #[test]
    fn references_quote_the_sheet() {
        let rows = NamedRows {
            name: "a".to_owned(),
            first: 2,
            last: 9,
            first_column: 1,
            last_column: 3,
        };
        assert_eq!(rows.reference("John's"), "='John''s'!$B$3:$D$10");
    }
}
