//! Native charts. Their data are on a hidden sheet, so that the page shows only the chart.

use platen_document::bound::{Axis, Chart, ChartKind, Direction, Document, Mark, slice_color};
use platen_layout::figure::text_on;
use rust_xlsxwriter::{
    Chart as Native, ChartAxis, ChartDataLabel, ChartDataLabelPosition, ChartFont, ChartFormat,
    ChartLegendPosition, ChartLine, ChartLineDashType, ChartMarker, ChartMarkerType, ChartPoint,
    ChartSeries, ChartSolidFill, ChartType, Format, Worksheet,
};

use super::{
    format::color,
    number_format,
    sheet::{LAST_ROW, Sheet},
};
use crate::{
    Error,
    ooxml::{
        DrawnSeries, axis_format, drawn_series, ends, lost_in_native, values_format,
        write_chart_data,
    },
};

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
        write_chart_data(sheet, top, chart, format)?;
        // Target lines of a scatter chart have two rows.
        self.row = top + (chart.categories.len() as u32).max(2) + 2;
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
        let series = drawn_series(chart);
        let marks = Marks::of(chart, &series);
        let lost = lost_in_native(chart).or(marks
            .third
            .then_some("a native chart combines two kinds of series: areas are lines here"));
        if let Some(lost) = lost {
            self.report.warn("chart-simplified", self.path, lost);
        }
        let document = self.document;
        let code = number_format(&values_format(chart), &document.language);
        let top = self.data.add(chart, &Format::new().set_num_format(&code))?;
        let mut native = Native::new(chart_type(chart, marks.main));
        let mut other = Native::new(chart_type(chart, Mark::Line));
        let shown = if chart.kind.is_round() { 1 } else { usize::MAX };
        for series in series.iter().take(shown) {
            let added = if series.mark == marks.main {
                native.add_series()
            } else {
                other.add_series()
            };
            add_series(added, chart, series, document, top, &code);
        }
        if marks.combined {
            native.combine(&other);
        }
        decorate(&mut native, chart, document);
        let pixels = |points: f32| (points * 96.0 / 72.0).clamp(40.0, 4000.0) as u32;
        native.set_width(pixels(chart.width.unwrap_or(self.width())));
        native.set_height(pixels(chart.height));
        native.set_alt_text(&chart.alt);
        native.show_hidden_data();
        self.worksheet
            .insert_chart(self.row, self.area.first, &native)?;
        self.row += (chart.height / 15.0).ceil() as u32 + 1;
        if let Some(caption) = &chart.caption {
            self.line(caption, document.named.caption, "")?;
        }
        Ok(())
    }
}

/// How the series are shared between the two charts that can be combined.
struct Marks {
    main: Mark,
    /// Whether there are series for the second chart, which has lines.
    combined: bool,
    /// Whether there are areas beside bars and lines.
    third: bool,
}

impl Marks {
    fn of(chart: &Chart, series: &[DrawnSeries<'_>]) -> Self {
        let has = |mark: Mark| series.iter().any(|series| series.mark == mark);
        let main = if chart.kind == ChartKind::Scatter {
            Mark::Line
        } else {
            [Mark::Bar, Mark::Area, Mark::Line]
                .into_iter()
                .find(|mark| has(*mark))
                .unwrap_or(Mark::Bar)
        };
        Self {
            main,
            combined: series.iter().any(|series| series.mark != main),
            third: main == Mark::Bar && has(Mark::Area),
        }
    }
}

fn chart_type(chart: &Chart, mark: Mark) -> ChartType {
    match (chart.kind, mark) {
        (ChartKind::Pie, _) => ChartType::Pie,
        (ChartKind::Doughnut, _) => ChartType::Doughnut,
        (ChartKind::Scatter, _) => ChartType::Scatter,
        (ChartKind::StackedArea, Mark::Area) => ChartType::AreaStacked,
        (_, Mark::Area) => ChartType::Area,
        (_, Mark::Line) => ChartType::Line,
        (kind, Mark::Bar) => match (kind, chart.horizontal) {
            (ChartKind::StackedBar, false) => ChartType::ColumnStacked,
            (ChartKind::StackedBar, true) => ChartType::BarStacked,
            (ChartKind::PercentBar, false) => ChartType::ColumnPercentStacked,
            (ChartKind::PercentBar, true) => ChartType::BarPercentStacked,
            (_, false) => ChartType::Column,
            (_, true) => ChartType::Bar,
        },
    }
}

fn add_series(
    added: &mut ChartSeries,
    chart: &Chart,
    series: &DrawnSeries<'_>,
    document: &Document,
    top: u32,
    code: &str,
) {
    let sheet = ChartData::SHEET;
    let last = top + (series.values.len() as u32).max(1);
    let column = series.column as u16;
    let across = match series.positions {
        Some(_) => series.position_column() as u16,
        None => 0,
    };
    added
        .set_name((sheet, top, column))
        .set_categories((sheet, top + 1, across, last, across))
        .set_values((sheet, top + 1, column, last, column));
    if series.secondary && chart.secondary_axis.is_some() {
        added.set_secondary_axis(true);
    }
    look(added, chart, series, document);
    if series.is_target {
        added.delete_from_legend(true);
    } else if let Some(label) = data_label(chart, series, document, code) {
        added.set_data_label(&label);
    }
}

fn look(added: &mut ChartSeries, chart: &Chart, series: &DrawnSeries<'_>, document: &Document) {
    let fill = ChartSolidFill::new().set_color(color(series.color)).clone();
    let line = ChartLine::new()
        .set_color(color(series.color))
        .set_width(1.75)
        .clone();
    if chart.kind.is_round() {
        let point = |index: usize| {
            let slice = slice_color(&document.theme.chart, index);
            let fill = ChartSolidFill::new().set_color(color(slice)).clone();
            ChartPoint::new().set_format(ChartFormat::new().set_solid_fill(&fill))
        };
        let points: Vec<_> = (0..chart.categories.len()).map(point).collect();
        added.set_points(&points);
        return;
    }
    if series.is_target {
        let dashed = line.clone().set_dash_type(ChartLineDashType::Dash).clone();
        added
            .set_format(ChartFormat::new().set_line(&dashed))
            .set_marker(ChartMarker::new().set_none());
        return;
    }
    match series.mark {
        Mark::Line => {
            let mut marker_format = ChartFormat::new()
                .set_solid_fill(&fill)
                .set_no_border()
                .clone();
            let mut marker = ChartMarker::new();
            marker
                .set_type(ChartMarkerType::Circle)
                .set_size(5)
                .set_format(&mut marker_format);
            let mut format = ChartFormat::new();
            if chart.kind == ChartKind::Scatter {
                format.set_no_line();
            } else {
                format.set_line(&line);
            }
            added.set_format(&mut format).set_marker(&marker);
        }
        Mark::Area => {
            let mut fill = fill;
            if chart.kind == ChartKind::Area {
                fill.set_transparency(60);
            }
            added.set_format(ChartFormat::new().set_solid_fill(&fill));
        }
        Mark::Bar => {
            added
                .set_format(ChartFormat::new().set_solid_fill(&fill))
                .set_gap(60);
            if chart.kind.is_stacked() {
                added.set_overlap(100);
            }
        }
    }
}

/// Data labels of a series, if the chart has any.
fn data_label(
    chart: &Chart,
    series: &DrawnSeries<'_>,
    document: &Document,
    code: &str,
) -> Option<ChartDataLabel> {
    let round = chart.kind.is_round();
    let names = round && !chart.legend;
    if !chart.labels && !names {
        return None;
    }
    let mut label = ChartDataLabel::new();
    label.set_num_format(code);
    if chart.labels && round && chart.percent_labels {
        label.show_percentage();
    } else if chart.labels {
        label.show_value();
    }
    if names {
        label.show_category_name();
    }
    match (chart.kind, series.mark) {
        (ChartKind::Doughnut, _) | (_, Mark::Area) => {}
        (kind, Mark::Bar) if kind.is_stacked() => {
            let text = text_on(series.color, document.theme.text);
            label.set_font(ChartFont::new().set_color(color(text)));
            label.set_position(ChartDataLabelPosition::Center);
        }
        (_, Mark::Bar) => {
            label.set_position(ChartDataLabelPosition::OutsideEnd);
        }
        (_, Mark::Line) => {
            label.set_position(ChartDataLabelPosition::Above);
        }
    }
    Some(label)
}

/// Sets title, axes, grid lines and legend.
fn decorate(native: &mut Native, chart: &Chart, document: &Document) {
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
        let place = if chart.kind.is_round() {
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
    if chart.kind == ChartKind::Doughnut {
        native.set_hole_size(55);
    }
    if chart.kind.is_round() {
        return;
    }
    let border = color(document.theme.border);
    let grid = ChartLine::new().set_color(border).set_width(0.5).clone();
    // The library swaps the axes of horizontal bars itself: x is the axis of categories.
    let axis = native.y_axis();
    axis.set_major_gridlines(true)
        .set_major_gridlines_line(&grid);
    value_axis(axis, &chart.value_axis, document);
    if chart.horizontal {
        axis.set_label_position(rust_xlsxwriter::ChartAxisLabelPosition::High);
    }
    if let Some(secondary) = &chart.secondary_axis {
        value_axis(native.y2_axis(), secondary, document);
    }
    let axis = native.x_axis();
    axis.set_format(ChartFormat::new().set_line(&grid));
    if let Some(across) = &chart.x_axis {
        value_axis(axis, across, document);
    }
    axis.set_label_position(rust_xlsxwriter::ChartAxisLabelPosition::Low);
    let own = chart.x_axis.as_ref().and_then(|axis| axis.title.as_ref());
    if let Some(title) = own.or(chart.category_title.as_ref()) {
        axis.set_name(title);
    }
    if chart.horizontal || document.direction == Direction::RightToLeft {
        axis.set_reverse();
    }
}

fn value_axis(native: &mut ChartAxis, axis: &Axis, document: &Document) {
    let (low, high) = ends(axis);
    native
        .set_num_format(number_format(&axis_format(axis), &document.language))
        .set_format(ChartFormat::new().set_no_line())
        .set_min(low)
        .set_max(high);
    if axis.logarithmic {
        native.set_log_base(10);
    }
    if let Some(title) = &axis.title {
        native.set_name(title);
    }
}
