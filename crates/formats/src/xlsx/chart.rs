//! Native charts. Their data are on a hidden sheet, so that the page shows only the chart.

use platen_document::bound::{Chart, ChartKind, Direction, Document, Series};
use platen_layout::figure::text_on;
use rust_xlsxwriter::{
    Chart as Native, ChartDataLabel, ChartDataLabelPosition, ChartFont, ChartFormat,
    ChartLegendPosition, ChartLine, ChartMarker, ChartMarkerType, ChartPoint, ChartSolidFill,
    ChartType, Format, Worksheet,
};

use super::{
    format::color,
    number_format,
    sheet::{LAST_ROW, Sheet},
};
use crate::Error;

/// The hidden sheet with the data of all charts.
#[derive(Default)]
pub(super) struct ChartData {
    sheet: Option<Worksheet>,
    row: u32,
}

impl ChartData {
    /// Name of that sheet.
    pub const SHEET: &'static str = "Chart data";

    /// Writes categories and values. Returns the row that holds the series names.
    fn add(&mut self, chart: &Chart, format: &Format) -> Result<u32, Error> {
        let sheet = self.sheet.get_or_insert_with(Worksheet::new);
        let top = self.row;
        for (index, category) in chart.categories.iter().enumerate() {
            sheet.write_string(top + 1 + index as u32, 0, category)?;
        }
        for (index, series) in chart.series.iter().enumerate() {
            let column = index as u16 + 1;
            sheet.write_string(top, column, &series.name)?;
            for (row, value) in series.values.iter().enumerate() {
                if let Some(value) = value.filter(|value| value.is_finite()) {
                    sheet.write_number_with_format(top + 1 + row as u32, column, value, format)?;
                }
            }
        }
        self.row = top + chart.categories.len() as u32 + 2;
        Ok(top)
    }

    /// The hidden sheet, if there is any chart.
    pub fn into_sheet(self) -> Result<Option<Worksheet>, Error> {
        let Some(mut sheet) = self.sheet else {
            return Ok(None);
        };
        sheet.set_name(Self::SHEET)?;
        sheet.set_hidden(true);
        Ok(Some(sheet))
    }
}

impl<'a> Sheet<'a> {
    pub(super) fn chart(&mut self, chart: &'a Chart) -> Result<(), Error> {
        if self.row > LAST_ROW {
            return self.full();
        }
        let document = self.document;
        let code = number_format(&chart.format, &document.language);
        let top = self.data.add(chart, &Format::new().set_num_format(&code))?;
        let mut native = Native::new(match chart.kind {
            ChartKind::Bar => ChartType::Column,
            ChartKind::StackedBar => ChartType::ColumnStacked,
            ChartKind::Line => ChartType::Line,
            ChartKind::Pie => ChartType::Pie,
        });
        add_series(&mut native, chart, document, top, &code);
        decorate(&mut native, chart, document, &code);
        let pixels = |points: f32| (points * 96.0 / 72.0).clamp(40.0, 4000.0) as u32;
        native.set_width(pixels(chart.width.unwrap_or(self.width())));
        native.set_height(pixels(chart.height));
        native.set_alt_text(&chart.alt);
        native.show_hidden_data();
        self.worksheet.insert_chart(self.row, 0, &native)?;
        self.row += (chart.height / 15.0).ceil() as u32 + 1;
        Ok(())
    }
}

fn add_series(native: &mut Native, chart: &Chart, document: &Document, top: u32, code: &str) {
    let last = top + (chart.categories.len() as u32).max(1);
    let shown = if chart.kind == ChartKind::Pie {
        1
    } else {
        usize::MAX
    };
    for (index, series) in chart.series.iter().take(shown).enumerate() {
        let column = index as u16 + 1;
        let sheet = ChartData::SHEET;
        let fill = ChartSolidFill::new().set_color(color(series.color)).clone();
        let line = ChartLine::new()
            .set_color(color(series.color))
            .set_width(1.75)
            .clone();
        let added = native.add_series();
        added
            .set_name((sheet, top, column))
            .set_categories((sheet, top + 1, 0, last, 0))
            .set_values((sheet, top + 1, column, last, column));
        match chart.kind {
            ChartKind::Line => {
                let mut marker_format = ChartFormat::new()
                    .set_solid_fill(&fill)
                    .set_no_border()
                    .clone();
                let mut marker = ChartMarker::new();
                marker
                    .set_type(ChartMarkerType::Circle)
                    .set_size(5)
                    .set_format(&mut marker_format);
                added
                    .set_format(ChartFormat::new().set_line(&line))
                    .set_marker(&marker);
            }
            ChartKind::Bar | ChartKind::StackedBar => {
                added
                    .set_format(ChartFormat::new().set_solid_fill(&fill))
                    .set_gap(60);
                if chart.kind == ChartKind::StackedBar {
                    added.set_overlap(100);
                }
            }
            ChartKind::Pie => {
                let colors = &document.theme.chart;
                let point = |index: usize| {
                    let slice = colors
                        .get(index % colors.len().max(1))
                        .copied()
                        .unwrap_or(series.color);
                    let fill = ChartSolidFill::new().set_color(color(slice)).clone();
                    ChartPoint::new().set_format(ChartFormat::new().set_solid_fill(&fill))
                };
                let points: Vec<_> = (0..chart.categories.len()).map(point).collect();
                added.set_points(&points);
            }
        }
        if let Some(label) = data_label(chart, series, document, code) {
            added.set_data_label(&label);
        }
    }
}

/// Data labels of a series, if the chart has any.
fn data_label(
    chart: &Chart,
    series: &Series,
    document: &Document,
    code: &str,
) -> Option<ChartDataLabel> {
    let names = chart.kind == ChartKind::Pie && !chart.legend;
    if !chart.labels && !names {
        return None;
    }
    let mut label = ChartDataLabel::new();
    label.set_num_format(code);
    if chart.labels {
        label.show_value();
    }
    if names {
        label.show_category_name();
    }
    match chart.kind {
        ChartKind::Bar | ChartKind::Pie => label.set_position(ChartDataLabelPosition::OutsideEnd),
        ChartKind::StackedBar => {
            let text = text_on(series.color, document.theme.text);
            label.set_font(ChartFont::new().set_color(color(text)));
            label.set_position(ChartDataLabelPosition::Center)
        }
        ChartKind::Line => label.set_position(ChartDataLabelPosition::Above),
    };
    Some(label)
}

/// Sets title, axes, grid lines and legend.
fn decorate(native: &mut Native, chart: &Chart, document: &Document, code: &str) {
    match &chart.title {
        Some(title) => {
            native
                .title()
                .set_name(title)
                .set_font(ChartFont::new().set_size(11).set_bold());
        }
        None => {
            native.title().set_hidden();
        }
    }
    if chart.legend {
        let pie = chart.kind == ChartKind::Pie;
        let place = if pie {
            ChartLegendPosition::Right
        } else {
            ChartLegendPosition::Bottom
        };
        native.legend().set_position(place);
    } else {
        native.legend().set_hidden();
    }
    native
        .chart_area()
        .set_format(ChartFormat::new().set_no_border());
    if chart.kind == ChartKind::Pie {
        return;
    }
    let border = color(document.theme.border);
    let grid = ChartLine::new().set_color(border).set_width(0.5).clone();
    let axis = native.y_axis();
    axis.set_num_format(code)
        .set_major_gridlines(true)
        .set_major_gridlines_line(&grid)
        .set_format(ChartFormat::new().set_no_line());
    if let (Some((low, _)), Some((high, _))) = (chart.ticks.first(), chart.ticks.last()) {
        axis.set_min(*low).set_max(*high);
    }
    if let Some(title) = &chart.value_title {
        axis.set_name(title);
    }
    let axis = native.x_axis();
    axis.set_format(ChartFormat::new().set_line(&grid));
    axis.set_label_position(rust_xlsxwriter::ChartAxisLabelPosition::Low);
    if let Some(title) = &chart.category_title {
        axis.set_name(title);
    }
    if document.direction == Direction::RightToLeft {
        axis.set_reverse();
    }
}
