//! The series of a native chart, and the columns of cells that hold their data. Target lines are
//! series, too: native charts have nothing else for them.

use platen_document::{
    Color,
    bound::{Axis, Chart, ChartKind, Mark, ValueFormat},
};

/// A series of a native chart.
pub(crate) struct DrawnSeries<'a> {
    pub name: &'a str,
    pub values: Vec<Option<f64>>,
    /// Horizontal positions, in a scatter chart.
    pub positions: Option<Vec<Option<f64>>>,
    pub mark: Mark,
    pub secondary: bool,
    pub color: Color,
    pub is_target: bool,
    /// Column of the values, counted from zero; categories are in column 0.
    pub column: usize,
}

impl DrawnSeries<'_> {
    /// Column of the positions, which are beside the values.
    pub fn position_column(&self) -> usize {
        self.column - 1
    }
}

/// All series of a chart that its format can draw. A pie draws the first of them.
pub(crate) fn drawn_series(chart: &Chart) -> Vec<DrawnSeries<'_>> {
    let is_scatter = chart.kind == ChartKind::Scatter;
    let mut drawn: Vec<DrawnSeries<'_>> = chart
        .series
        .iter()
        .map(|series| DrawnSeries {
            name: &series.name,
            values: series.values.clone(),
            positions: is_scatter.then(|| series.positions.clone()),
            mark: series.mark,
            secondary: series.secondary,
            color: series.color,
            is_target: false,
            column: 0,
        })
        .collect();
    let targets = if can_draw_targets(chart) {
        chart.targets.as_slice()
    } else {
        &[]
    };
    drawn.extend(targets.iter().map(|target| {
        let ends = chart.x_axis.as_ref().filter(|_| is_scatter).map(ends);
        let count = ends.map_or(chart.categories.len(), |_| 2);
        DrawnSeries {
            name: &target.label,
            values: vec![Some(target.value); count],
            positions: ends.map(|(low, high)| vec![Some(low), Some(high)]),
            mark: Mark::Line,
            secondary: target.secondary,
            color: target.color,
            is_target: true,
            column: 0,
        }
    }));
    for (index, series) in drawn.iter_mut().enumerate() {
        series.column = if is_scatter { 2 * index + 2 } else { index + 1 };
    }
    drawn
}

/// Native horizontal bars cannot be combined with lines.
fn can_draw_targets(chart: &Chart) -> bool {
    !chart.horizontal
}

/// What a native chart of the Office formats lacks, for the loss report.
pub(crate) fn lost_in_native(chart: &Chart) -> Option<&'static str> {
    if !chart.targets.is_empty() && !can_draw_targets(chart) {
        Some("native horizontal bars have no target lines")
    } else if chart.labels && chart.percent_labels && !chart.kind.is_round() {
        Some("labels of native bars say values, and not shares")
    } else {
        None
    }
}

/// First and last value of an axis.
pub(crate) fn ends(axis: &Axis) -> (f64, f64) {
    match axis.ticks.as_slice() {
        [(first, _), .., (last, _)] => (*first, *last),
        _ => (0.0, 1.0),
    }
}

/// The format with as many decimals as the values need, if the template does not say how many. Office
/// has no format that groups digits and shows the decimals that there are.
pub(crate) fn settled(
    format: &ValueFormat,
    values: impl Iterator<Item = f64> + Clone,
) -> ValueFormat {
    if !matches!(format, ValueFormat::Number { decimals: None }) {
        return format.clone();
    }
    let is_exact = |decimals: u8| {
        let factor = 10_f64.powi(i32::from(decimals));
        values.clone().all(|value| {
            let scaled = value * factor;
            (scaled - scaled.round()).abs() <= 1e-9 * scaled.abs().max(1.0)
        })
    };
    let decimals = (0..4).find(|decimals| is_exact(*decimals)).unwrap_or(4);
    ValueFormat::Number {
        decimals: Some(decimals),
    }
}

/// The format of the chart's values.
pub(crate) fn values_format(chart: &Chart) -> ValueFormat {
    let format = if chart.percent_labels && !chart.kind.is_round() {
        // The labels say values.
        &chart.value_axis.format
    } else {
        &chart.format
    };
    let format = if chart.kind == ChartKind::PercentBar {
        &ValueFormat::Number { decimals: None }
    } else {
        format
    };
    let values = chart.series.iter().flat_map(|series| &series.values);
    settled(format, values.flatten().copied())
}

/// The format of an axis.
pub(crate) fn axis_format(axis: &Axis) -> ValueFormat {
    settled(&axis.format, axis.ticks.iter().map(|(value, _)| *value))
}
