//! What a column has in a spreadsheet only: its number format, its formula, whether it is hidden.

use super::{Binder, table::TableRun};
use crate::{
    bound::{Column, FormulaPart, SheetColumn},
    expression::Scope,
};

/// Longest formula in characters, as in Excel.
const MAX_FORMULA: usize = 8_192;
/// Longest number format in characters, as in Excel.
const MAX_FORMAT: usize = 255;
/// Functions that reach out of the workbook.
const FORBIDDEN: [&str; 7] = [
    "CALL",
    "DDE",
    "EXEC",
    "HYPERLINK",
    "REGISTER",
    "RTD",
    "WEBSERVICE",
];

impl<'b> Binder<'b> {
    /// Sets the spreadsheet properties of a table's columns, whose keys are known by now.
    pub(super) fn sheet_columns(
        &mut self,
        run: &TableRun<'b>,
        columns: &mut [Column],
        scope: &Scope<'_>,
    ) {
        for (place, plan) in run.columns.iter().enumerate() {
            let Some(spec) = &plan.spec.xlsx else {
                continue;
            };
            let formula = match spec.formula.as_deref().map(|text| parts(text, columns)) {
                Some(Ok(parts)) => parts,
                Some(Err(reason)) => {
                    self.sheet_mistake(plan.index, "formula", reason, scope);
                    continue;
                }
                None => Vec::new(),
            };
            let too_long = |format: &String| format.chars().count() > MAX_FORMAT;
            if spec.format.as_ref().is_some_and(too_long) {
                let reason = format!("a number format has at most {MAX_FORMAT} characters");
                self.sheet_mistake(plan.index, "format", reason, scope);
            }
            columns[place].sheet = Some(Box::new(SheetColumn {
                format: spec.format.clone(),
                formula,
                hidden: spec.hidden,
            }));
        }
    }

    fn sheet_mistake(&mut self, column: usize, token: &str, reason: String, scope: &Scope<'_>) {
        self.item("columns", column, |binder| {
            binder.below("xlsx", |binder| {
                binder.below(token, |binder| {
                    binder.mistake("invalid-formula", reason, scope);
                });
            });
        });
    }
}

/// Splits a formula at its references to columns.
fn parts(formula: &str, columns: &[Column]) -> Result<Vec<FormulaPart>, String> {
    if formula.chars().count() > MAX_FORMULA {
        return Err(format!("a formula has at most {MAX_FORMULA} characters"));
    }
    let formula = formula.trim();
    let mut rest = formula.strip_prefix('=').unwrap_or(formula);
    if rest.is_empty() {
        return Err("the formula is empty".to_owned());
    }
    refuse_reach(rest)?;
    let mut parts = Vec::new();
    while let Some((before, after)) = rest.split_once('{') {
        let (key, after) = after
            .split_once('}')
            .ok_or("`{` begins a column's key, which ends with `}`")?;
        let index = columns
            .iter()
            .position(|column| column.key == key)
            .ok_or_else(|| {
                let keys: Vec<String> = columns.iter().map(|it| format!("`{}`", it.key)).collect();
                format!(
                    "there is no column with the key `{key}`; the keys are {}",
                    keys.join(", ")
                )
            })?;
        if !before.is_empty() {
            parts.push(FormulaPart::Text(before.to_owned()));
        }
        parts.push(FormulaPart::Column(index));
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(FormulaPart::Text(rest.to_owned()));
    }
    Ok(parts)
}

/// Refuses what would start programs or call out when somebody opens the file.
fn refuse_reach(formula: &str) -> Result<(), String> {
    if formula.contains(['|', '[', ']']) {
        return Err("a formula refers to cells of its own workbook only".to_owned());
    }
    let upper = formula.to_ascii_uppercase();
    let mut names = upper.split(|symbol: char| !symbol.is_ascii_alphanumeric() && symbol != '_');
    match names.find(|name| FORBIDDEN.contains(name)) {
        Some(name) => Err(format!("the function {name} is not allowed in formulas")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        ["quantity", "price", "amount"]
            .map(|key| Column {
                key: key.to_owned(),
                ..Column::default()
            })
            .into()
    }

    #[test]
    fn references_become_columns() {
        let parts = parts("=ROUND({quantity}*{price};2)", &columns()).unwrap();
        let text = |text: &str| FormulaPart::Text(text.to_owned());
        assert_eq!(
            parts,
            [
                text("ROUND("),
                FormulaPart::Column(0),
                text("*"),
                FormulaPart::Column(1),
                text(";2)"),
            ]
        );
    }

    #[test]
    fn what_reaches_out_is_refused() {
        for formula in [
            "",
            "=",
            "{quantity",
            "{weight}",
            "cmd|' /C calc'!A0",
            "WEBSERVICE(\"https://example.org\")",
            "hyperlink(\"https://example.org\")",
            "[Book1]Sheet1!A1",
        ] {
            assert!(parts(formula, &columns()).is_err(), "{formula}");
        }
    }
}
