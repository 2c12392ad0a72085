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

/// A name that Excel accepts: letters, digits, `_` and `.`, not starting with a digit, and no cell
/// reference (ECMA-376-1 §18.2.5), no truth value and no name of its own such as `_xlnm.Print_Area`.
pub(super) fn defined_name(name: &str) -> String {
    let mut defined: String = name
        .chars()
        .take(200)
        .map(|symbol| {
            if symbol.is_alphanumeric() || matches!(symbol, '_' | '.') {
                symbol
            } else {
                '_'
            }
        })
        .collect();
    let letters = defined.trim_end_matches(|symbol: char| symbol.is_ascii_digit());
    let is_cell = (letters.len() < defined.len() && (1..=3).contains(&letters.len())
        || letters.eq_ignore_ascii_case("r")
        || letters.eq_ignore_ascii_case("c")
        || is_row_column(&defined))
        && letters.chars().all(|symbol| symbol.is_ascii_alphanumeric());
    let starts_well = defined.starts_with(|symbol: char| symbol.is_alphabetic() || symbol == '_');
    let is_truth = defined.eq_ignore_ascii_case("true") || defined.eq_ignore_ascii_case("false");
    let is_reserved = (defined.get(..6)).is_some_and(|start| start.eq_ignore_ascii_case("_xlnm."));
    if is_cell || is_truth || is_reserved || !starts_well {
        defined.insert(0, '_');
    }
    defined
}

/// Whether a name reads as a reference by row and column, such as `R1C1`.
fn is_row_column(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let Some((row, column)) = upper
        .strip_prefix('R')
        .and_then(|rest| rest.split_once('C'))
    else {
        return false;
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    digits(row) && digits(column)
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
            ("rc", "_rc"),
            ("r", "_r"),
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
