//! Tables: columns, header, and bound rows with their styles.

use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use super::{Binder, Place, cell::is_numeric, group::Totals, row_rule::json_of};
use crate::{
    bound::{
        self, Align, BlockKind, Cell, CellContent, Column, ColumnWidth, Counted, Row, RowKind,
        StyleId, ValueFormat, plain_text,
    },
    check::MAX_COLUMNS,
    expression::{CompiledText, Entry, Scope},
    style_sheet::inherited,
    template::{self, ColumnSpec, Content, StyleRef, Table, Zebra},
};

/// A visible column with everything its rows need.
pub(super) struct ColumnPlan<'b> {
    pub(super) spec: &'b ColumnSpec,
    /// Index among the columns of the template.
    pub(super) index: usize,
    pub(super) format: ValueFormat,
    pub(super) align: Option<Align>,
    pub(super) style: StyleId,
    text: Option<&'b CompiledText>,
    pub(super) width: f32,
    /// The element for which the column is repeated.
    element: Option<Json>,
}

impl ColumnPlan<'_> {
    /// Runs `bind` with the column's element in scope.
    pub(super) fn within<T>(&self, scope: &Scope<'_>, bind: impl FnOnce(&Scope<'_>) -> T) -> T {
        match &self.element {
            None => bind(scope),
            Some(element) => {
                let name = self.spec.as_name.as_deref().unwrap_or("column");
                bind(&scope.with(name, Entry::Json(element)))
            }
        }
    }
}

/// A table being bound.
pub(super) struct TableRun<'b> {
    pub(super) node: &'b Table,
    pub(super) place: Place,
    /// Style of the table block.
    pub(super) style: StyleId,
    pub(super) columns: Vec<ColumnPlan<'b>>,
    pub(super) rows: Vec<Row>,
    /// Aggregates of the whole table, followed by those of the current group of each level.
    pub(super) totals: Vec<Totals>,
    /// Cell styles by row rule and column.
    pub(super) rule_styles: FxHashMap<(usize, usize), StyleId>,
    /// Cell styles by the style that a rule changes, column of the template and rule.
    pub(super) cell_styles: FxHashMap<(StyleId, usize, usize), StyleId>,
    /// Number of rows before those that are written out in the template.
    pub(super) counted: usize,
    /// Number of rows between them and the totals.
    uncounted: usize,
    /// Number of rows bound so far, and in total.
    pub(super) done: usize,
    pub(super) length: usize,
}

impl<'b> Binder<'b> {
    pub(super) fn table(
        &mut self,
        node: &'b Table,
        style: StyleId,
        place: Place,
        scope: &Scope<'_>,
    ) -> Option<BlockKind> {
        let width = node.width.map(|width| width.to_points());
        let inside = Place {
            width: width.unwrap_or(place.width),
            ..place
        };
        let columns = self.column_plans(node, style, inside, scope);
        if columns.is_empty() {
            self.warn("no-columns", "every column of this table is omitted");
            return None;
        }
        let mut run = TableRun {
            node,
            place: inside,
            style,
            rows: Vec::new(),
            totals: Vec::new(),
            rule_styles: FxHashMap::default(),
            cell_styles: FxHashMap::default(),
            counted: 0,
            uncounted: 0,
            done: 0,
            length: 0,
            columns,
        };
        let name = node
            .name
            .as_ref()
            .map(|name| self.line_at("name", name, scope));
        let caption = self.caption(node.caption.as_ref(), Counted::Tables, scope);
        let (columns, header) = self.header(&mut run, scope);
        self.table_rows(&mut run, scope);
        let page_rows = self.page_rows(&run, scope);
        Some(BlockKind::Table(Box::new(bound::Table {
            name: name.filter(|name| !name.is_empty()),
            caption,
            columns,
            header,
            rows: run.rows,
            uncounted: run.uncounted,
            repeat_header: node.repeat_header,
            row_break: node.row_break,
            borders: node.borders,
            border_color: self.sheet.colors.border,
            zebra: match &node.zebra {
                Some(Zebra::Default(true)) => Some(self.sheet.colors.surface),
                Some(Zebra::Color(color)) => Some(*color),
                Some(Zebra::Default(false)) | None => None,
            },
            width,
            page_rows,
        })))
    }

    fn column_plans(
        &mut self,
        node: &'b Table,
        style: StyleId,
        place: Place,
        scope: &Scope<'_>,
    ) -> Vec<ColumnPlan<'b>> {
        let mut plans = Vec::with_capacity(node.columns.len());
        for (index, spec) in node.columns.iter().enumerate() {
            self.item("columns", index, |binder| {
                let Some(each) = &spec.each else {
                    plans.extend(binder.column_plan(index, spec, style, None, scope));
                    return;
                };
                let Some(elements) = binder.rows("each", each, scope) else {
                    return;
                };
                for element in elements.as_refs() {
                    if plans.len() >= MAX_COLUMNS {
                        let message = format!("a table has at most {MAX_COLUMNS} columns");
                        return binder.mistake("too-many-columns", message, scope);
                    }
                    let element = Some(element.clone());
                    plans.extend(binder.column_plan(index, spec, style, element, scope));
                }
            });
        }
        let share = place.width / plans.len().max(1) as f32;
        for plan in &mut plans {
            if !matches!(plan.spec.width, Some(template::ColumnWidth::Fixed(_))) {
                plan.width = share;
            }
        }
        plans
    }

    fn column_plan(
        &mut self,
        index: usize,
        spec: &'b ColumnSpec,
        table: StyleId,
        element: Option<Json>,
        scope: &Scope<'_>,
    ) -> Option<ColumnPlan<'b>> {
        let spec = {
            let name = spec.as_name.as_deref().unwrap_or("column");
            match &element {
                None => self.dynamic_column(spec, scope),
                Some(element) => self.dynamic_column(spec, &scope.with(name, Entry::Json(element))),
            }
        }?;
        let mut plan = ColumnPlan {
            spec,
            index,
            format: ValueFormat::Text,
            align: spec.align,
            style: table,
            text: match &spec.value {
                Some(Content::Text(text)) => self.compiled.text(text),
                _ => None,
            },
            width: match spec.width {
                Some(template::ColumnWidth::Fixed(width)) => width.to_points(),
                _ => 0.0,
            },
            element,
        };
        let format = plan.within(scope, |scope| {
            if !self.holds("when", spec.when.as_ref(), scope) {
                return None;
            }
            Some(match &spec.format {
                Some(format) => self.value_format(format, scope),
                None => ValueFormat::Text,
            })
        })?;
        plan.align = spec.align.or(is_numeric(&format).then_some(Align::Right));
        plan.format = format;
        plan.style = self.cell_style(table, "tableCell", plan.align, spec.style.as_ref());
        Some(plan)
    }

    /// Style of a cell: text properties of the table, then those of its kind, alignment, and its
    /// own.
    pub(super) fn cell_style(
        &mut self,
        table: StyleId,
        kind: &str,
        align: Option<Align>,
        own: Option<&StyleRef>,
    ) -> StyleId {
        let sheet = self.sheet;
        let mut style = inherited(&self.styles[table]);
        sheet.overlay_named(&mut style, kind);
        style.align = align.unwrap_or(style.align);
        if let Some(own) = own {
            sheet.overlay_ref(&mut style, own);
        }
        self.styles.intern(style)
    }

    fn header(&mut self, run: &mut TableRun<'b>, scope: &Scope<'_>) -> (Vec<Column>, Vec<Row>) {
        let node = run.node;
        let mut header = Vec::new();
        if node.show_header {
            header = self.hand_rows(run, "headerRows", &node.header_rows, RowKind::Header, scope);
        }
        let mut columns = Vec::with_capacity(run.columns.len());
        let mut cells = Vec::with_capacity(run.columns.len());
        for plan in &run.columns {
            let own = plan.spec.header_style.as_ref();
            let style = self.cell_style(run.style, "tableHeader", plan.align, own);
            let content = self.item("columns", plan.index, |binder| match &plan.spec.header {
                Some(header) => plan.within(scope, |scope| {
                    binder.content_at("header", header, style, scope)
                }),
                None => Vec::new(),
            });
            let name = plain_text(&content).replace('\n', " ").trim().to_owned();
            let single = plan.element.is_none() || name.is_empty();
            let key = plan.spec.key.clone();
            let key = key.filter(|key| !key.is_empty() && single);
            let fallback = || format!("column{}", plan.index + 1);
            columns.push(Column {
                key: key
                    .or(Some(name).filter(|name| !name.is_empty()))
                    .unwrap_or_else(fallback),
                width: match plan.spec.width {
                    None | Some(template::ColumnWidth::Auto) => ColumnWidth::Auto,
                    Some(template::ColumnWidth::Fixed(width)) => {
                        ColumnWidth::Fixed(width.to_points())
                    }
                    Some(template::ColumnWidth::Fraction(share)) => ColumnWidth::Fraction(share),
                },
                format: plan.format.clone(),
                sheet: None,
            });
            cells.push(Cell {
                content: CellContent::Inlines(content.into_boxed_slice()),
                ..Cell::text("", style)
            });
        }
        self.sheet_columns(run, &mut columns, scope);
        let any = run.columns.iter().any(|plan| plan.spec.header.is_some());
        if node.show_header && any {
            header.push(row(RowKind::Header, cells));
        }
        (columns, header)
    }

    fn table_rows(&mut self, run: &mut TableRun<'b>, scope: &Scope<'_>) {
        let node = run.node;
        let bound = match &node.rows {
            Some(rows) => self.rows("rows", rows, scope),
            None => None,
        };
        let all = bound
            .as_ref()
            .map(|rows| rows.as_refs())
            .unwrap_or_default();
        let rows = self.filtered(run, all, scope);
        run.length = rows.len();
        let around = scope.with("rows", Entry::Rows(&rows));
        run.totals = vec![Totals::new(run.columns.len()); 1 + node.groups.len()];
        if rows.is_empty()
            && node.rows.is_some()
            && let Some(empty) = &node.empty
        {
            let style = self.cell_style(run.style, "tableCell", None, None);
            let content = self.content_at("empty", empty, style, &around);
            run.rows.push(row(
                RowKind::Data,
                vec![wide_cell(content, style, run.columns.len())],
            ));
        }
        self.grouped(run, &rows, 0, &around);
        if !rows.is_empty() {
            run.counted = run.rows.len();
        }
        let by_hand = self.hand_rows(run, "bodyRows", &node.body_rows, RowKind::Data, &around);
        run.rows.extend(by_hand);
        run.uncounted = run.rows.len() - run.counted;
        if let Some(label) = &node.total {
            let totals = run.totals[0].clone();
            self.total_row(run, RowKind::Total, "total", label, &totals, &around);
        }
        let footer = self.hand_rows(
            run,
            "footerRows",
            &node.footer_rows,
            RowKind::Total,
            &around,
        );
        run.rows.extend(footer);
    }

    fn filtered<'s>(
        &mut self,
        run: &TableRun<'b>,
        rows: Vec<&'s Json>,
        scope: &Scope<'_>,
    ) -> Vec<&'s Json> {
        let Some(condition) = &run.node.row_when else {
            return rows;
        };
        let length = rows.len();
        let mut kept = Vec::with_capacity(length);
        for (index, value) in rows.into_iter().enumerate() {
            if self.stopped() {
                break;
            }
            let scope = scope
                .with(run.item_name(), Entry::Json(value))
                .at(index, length);
            if self.holds("rowWhen", Some(condition), &scope) {
                kept.push(value);
            }
        }
        kept
    }

    /// Binds one data row.
    pub(super) fn data_row(&mut self, run: &mut TableRun<'b>, value: &Json, scope: &Scope<'_>) {
        let scope = scope
            .with(run.item_name(), Entry::Json(value))
            .at(run.done, run.length);
        run.done += 1;
        let rule = self.row_rule(run, &scope);
        let mut cells = Vec::with_capacity(run.columns.len());
        for index in 0..run.columns.len() {
            let mut style = match rule {
                None => run.columns[index].style,
                Some(rule) => self.rule_style(run, rule, index, &scope),
            };
            let ruled = !run.columns[index].spec.cell_styles.is_empty();
            let rich = run.columns[index].text.is_none();
            if ruled && rich {
                // Rules see no value of such a cell. It is bound once: its footnotes, ids and
                // numbers would count twice.
                let own = self.ruled_style(run, index, style, &Json::Null, &scope);
                style = own.unwrap_or(style);
            }
            let mut cell = self.data_cell(run, index, style, &scope);
            if ruled
                && !rich
                && let Some(style) = self.ruled_style(run, index, style, &json_of(&cell), &scope)
            {
                cell = self.data_cell(run, index, style, &scope);
            }
            let plan = &run.columns[index];
            for totals in &mut run.totals {
                if plan.spec.total.is_some() {
                    totals.columns[index].add(&cell);
                }
            }
            cells.push(cell);
        }
        run.rows.push(row(RowKind::Data, cells));
    }

    /// A cell of a data row in the column `index`.
    fn data_cell(
        &mut self,
        run: &TableRun<'b>,
        index: usize,
        style: StyleId,
        scope: &Scope<'_>,
    ) -> Cell {
        let plan = &run.columns[index];
        plan.within(scope, |scope| match plan.text {
            Some(text) => self.bound_cell(text, plan, style, scope),
            None => self.item("columns", plan.index, |binder| {
                binder.rich_cell(plan.spec, style, plan.width, run.place, scope)
            }),
        })
    }

    fn bound_cell(
        &mut self,
        text: &CompiledText,
        plan: &ColumnPlan<'b>,
        style: StyleId,
        scope: &Scope<'_>,
    ) -> Cell {
        match self.try_text_cell(text, &plan.format, style, scope) {
            Ok(cell) => cell,
            Err(failure) => self.item("columns", plan.index, |binder| {
                binder.below("value", |binder| binder.report(failure, scope));
                Cell::text("", style)
            }),
        }
    }

    fn rich_cell(
        &mut self,
        spec: &'b ColumnSpec,
        style: StyleId,
        width: f32,
        place: Place,
        scope: &Scope<'_>,
    ) -> Cell {
        let content = match &spec.value {
            _ if !spec.body.is_empty() => {
                let inside = self.cell_place(style, width, place);
                let blocks = self.nodes_at("body", &spec.body, inside, scope);
                CellContent::Blocks(blocks.into_boxed_slice())
            }
            Some(value) => {
                let content = self.content_at("value", value, style, scope);
                CellContent::Inlines(content.into_boxed_slice())
            }
            None => CellContent::default(),
        };
        Cell {
            content,
            ..Cell::text("", style)
        }
    }

    pub(super) fn cell_place(&self, style: StyleId, width: f32, place: Place) -> Place {
        let padding = self.styles[style].padding;
        Place {
            style,
            width: (width - padding.left - padding.right).max(1.0),
            compact: true,
            root: false,
            sections: place.sections,
        }
    }
}

impl<'b> TableRun<'b> {
    /// The variable that holds the row in expressions.
    pub(super) fn item_name(&self) -> &'b str {
        self.node.as_name.as_deref().unwrap_or("item")
    }
}

/// A row of `kind`.
pub(super) fn row(kind: RowKind, cells: Vec<Cell>) -> Row {
    Row {
        kind,
        cells: cells.into_boxed_slice(),
        page_break: false,
    }
}

/// A cell that spans `columns` columns.
pub(super) fn wide_cell(content: Vec<bound::Inline>, style: StyleId, columns: usize) -> Cell {
    Cell {
        content: CellContent::Inlines(content.into_boxed_slice()),
        col_span: u16::try_from(columns.max(1)).unwrap_or(u16::MAX),
        ..Cell::text("", style)
    }
}
