//! Conditional styles of rows and cells.

use serde_json::Value as Json;

use super::{Binder, table::TableRun};
use crate::{
    bound::{Cell, CellContent, StyleId, Value},
    expression::{Entry, Scope},
    template::{CellStyle, RowStyle, StyleRef},
};

impl<'b> Binder<'b> {
    pub(super) fn row_rule(&mut self, run: &TableRun<'b>, scope: &Scope<'_>) -> Option<usize> {
        for (index, rule) in run.node.row_styles.iter().enumerate() {
            let holds = self.item("rowStyles", index, |binder| {
                binder.holds("when", Some(&rule.when), scope)
            });
            if holds {
                return Some(index);
            }
        }
        None
    }

    pub(super) fn rule_style(
        &mut self,
        run: &mut TableRun<'b>,
        rule: usize,
        column: usize,
        scope: &Scope<'_>,
    ) -> StyleId {
        if let Some(style) = run.rule_styles.get(&(rule, column)) {
            return *style;
        }
        let own = self.item("rowStyles", rule, |binder| {
            binder.dynamic_part::<RowStyle>(scope)
        });
        let base = run.columns[column].style;
        match own {
            // Its style may differ in every row.
            Ok(Some(own)) => self.overlaid(base, &own.style),
            Err(()) => base,
            Ok(None) => {
                let style = self.overlaid(base, &run.node.row_styles[rule].style);
                run.rule_styles.insert((rule, column), style);
                style
            }
        }
    }

    /// The style of a cell with `value` and the style `base`, in the column `index`, if one of the
    /// column's rules applies.
    pub(super) fn ruled_style(
        &mut self,
        run: &mut TableRun<'b>,
        index: usize,
        base: StyleId,
        value: &Json,
        scope: &Scope<'_>,
    ) -> Option<StyleId> {
        let plan = &run.columns[index];
        let (spec, column) = (plan.spec, plan.index);
        let rule = plan.within(scope, |scope| {
            let scope = scope.with("value", Entry::Json(value));
            (0..spec.cell_styles.len()).find(|rule| {
                self.item("columns", column, |binder| {
                    binder.item("cellStyles", *rule, |binder| {
                        binder.holds("when", Some(&spec.cell_styles[*rule].when), &scope)
                    })
                })
            })
        })?;
        let key = (base, column, rule);
        if let Some(style) = run.cell_styles.get(&key) {
            return Some(*style);
        }
        let own = run.columns[index].within(scope, |scope| {
            self.item("columns", column, |binder| {
                binder.item("cellStyles", rule, |binder| {
                    let scope = scope.with("value", Entry::Json(value));
                    binder.dynamic_part::<CellStyle>(&scope)
                })
            })
        });
        match own {
            Ok(Some(own)) => return Some(self.overlaid(base, &own.style)),
            Err(()) => return None,
            Ok(None) => {}
        }
        let style = self.overlaid(base, &spec.cell_styles[rule].style);
        run.cell_styles.insert(key, style);
        Some(style)
    }

    /// `base` with `over` on top.
    fn overlaid(&mut self, base: StyleId, over: &StyleRef) -> StyleId {
        let mut style = self.styles[base].clone();
        self.sheet.overlay_ref(&mut style, over);
        self.styles.intern(style)
    }
}

/// The value of a cell as conditions see it: typed if it has a type, otherwise its text.
pub(super) fn json_of(cell: &Cell) -> Json {
    match (cell.value, &cell.content) {
        (Value::Number(number), _) => Json::from(number),
        (Value::Bool(truth), _) => Json::from(truth),
        (_, CellContent::Text(text)) if !text.is_empty() => Json::from(text.as_ref()),
        _ => Json::Null,
    }
}
