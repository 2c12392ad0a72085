//! The groups of series of a native chart: bars, lines, areas, slices and points.

use std::fmt::Write as _;

use platen_document::{
    Color,
    bound::{ChartKind, Mark, slice_color},
};
use platen_layout::figure::text_on;

use super::{
    Writer,
    axes::{PRIMARY, SECONDARY},
    data::{DrawnSeries, drawn_series},
};
use crate::ooxml::Escaped;

impl Writer<'_> {
    /// Writes a group for each way of drawing on each axis, from back to front.
    pub(super) fn groups(&mut self) {
        let series = drawn_series(self.chart);
        match self.chart.kind {
            ChartKind::Pie | ChartKind::Doughnut => self.slices(&series),
            ChartKind::Scatter => {
                for secondary in [false, true] {
                    self.group(&series, Mark::Line, secondary);
                }
            }
            _ => {
                for mark in [Mark::Area, Mark::Bar, Mark::Line] {
                    for secondary in [false, true] {
                        self.group(&series, mark, secondary);
                    }
                }
            }
        }
    }

    fn group(&mut self, series: &[DrawnSeries<'_>], mark: Mark, secondary: bool) {
        let has_second = self.chart.secondary_axis.is_some();
        let members: Vec<(usize, &DrawnSeries<'_>)> = series
            .iter()
            .enumerate()
            .filter(|(_, series)| {
                series.mark == mark && (series.secondary && has_second) == secondary
            })
            .collect();
        if members.is_empty() {
            return;
        }
        let (open, close) = self.group_element(mark);
        self.out.push_str(&open);
        for (index, series) in members {
            self.one(index, series);
        }
        let (across, along) = if secondary { SECONDARY } else { PRIMARY };
        let (details, name) = close;
        let _ = write!(
            self.out,
            "{details}<c:axId val=\"{across}\"/><c:axId val=\"{along}\"/></c:{name}>"
        );
    }

    /// The start of a group, and its last properties with the name of its element.
    fn group_element(&self, mark: Mark) -> (String, (&'static str, &'static str)) {
        const ONE_COLOR: &str = "<c:varyColors val=\"0\"/>";
        if self.chart.kind == ChartKind::Scatter {
            let open = format!("<c:scatterChart><c:scatterStyle val=\"lineMarker\"/>{ONE_COLOR}");
            return (open, ("", "scatterChart"));
        }
        match mark {
            Mark::Bar => {
                let direction = if self.chart.horizontal { "bar" } else { "col" };
                let (grouping, close) = match self.chart.kind {
                    ChartKind::StackedBar => (
                        "stacked",
                        "<c:gapWidth val=\"65\"/><c:overlap val=\"100\"/>",
                    ),
                    ChartKind::PercentBar => (
                        "percentStacked",
                        "<c:gapWidth val=\"65\"/><c:overlap val=\"100\"/>",
                    ),
                    _ => ("clustered", "<c:gapWidth val=\"60\"/>"),
                };
                let open = format!(
                    "<c:barChart><c:barDir val=\"{direction}\"/><c:grouping val=\"{grouping}\"/>\
                     {ONE_COLOR}"
                );
                (open, (close, "barChart"))
            }
            Mark::Line => (
                format!("<c:lineChart><c:grouping val=\"standard\"/>{ONE_COLOR}"),
                ("<c:marker val=\"1\"/>", "lineChart"),
            ),
            Mark::Area => {
                let grouping = if self.chart.kind == ChartKind::StackedArea {
                    "stacked"
                } else {
                    "standard"
                };
                let open = format!("<c:areaChart><c:grouping val=\"{grouping}\"/>{ONE_COLOR}");
                (open, ("", "areaChart"))
            }
        }
    }

    fn slices(&mut self, series: &[DrawnSeries<'_>]) {
        let (name, close) = match self.chart.kind {
            ChartKind::Doughnut => (
                "doughnutChart",
                "<c:firstSliceAng val=\"0\"/><c:holeSize val=\"55\"/>",
            ),
            _ => ("pieChart", "<c:firstSliceAng val=\"0\"/>"),
        };
        let _ = write!(self.out, "<c:{name}><c:varyColors val=\"1\"/>");
        if let Some(series) = series.first() {
            self.one(0, series);
        }
        let _ = write!(self.out, "{close}</c:{name}>");
    }

    fn one(&mut self, index: usize, series: &DrawnSeries<'_>) {
        let column = column_letters(series.column);
        let _ = write!(
            self.out,
            "<c:ser><c:idx val=\"{index}\"/><c:order val=\"{index}\"/><c:tx><c:strRef>\
             <c:f>Sheet1!${column}$1</c:f><c:strCache><c:ptCount val=\"1\"/><c:pt idx=\"0\"><c:v>{}\
             </c:v></c:pt></c:strCache></c:strRef></c:tx>",
            Escaped(series.name)
        );
        self.look(series);
        if series.is_target {
            self.target_label(series);
        } else {
            self.labels(series);
        }
        self.data(series, &column);
        let is_line = series.mark == Mark::Line && !self.chart.kind.is_round();
        if is_line {
            self.out.push_str("<c:smooth val=\"0\"/>");
        }
        self.out.push_str("</c:ser>");
    }

    fn look(&mut self, series: &DrawnSeries<'_>) {
        let color = series.color.to_hex();
        let fill = format!("<a:solidFill><a:srgbClr val=\"{color}\"/></a:solidFill>");
        const NO_MARKER: &str = "<c:marker><c:symbol val=\"none\"/></c:marker>";
        if self.chart.kind.is_round() {
            return self.slice_colors(series);
        }
        if series.is_target {
            let _ = write!(
                self.out,
                "<c:spPr><a:ln w=\"15875\">{fill}<a:prstDash val=\"dash\"/></a:ln></c:spPr>{NO_MARKER}"
            );
            return;
        }
        let marker = format!(
            "<c:marker><c:symbol val=\"circle\"/><c:size val=\"5\"/><c:spPr>{fill}<a:ln>\
             <a:noFill/></a:ln></c:spPr></c:marker>"
        );
        let _ = match series.mark {
            _ if self.chart.kind == ChartKind::Scatter => write!(
                self.out,
                "<c:spPr><a:ln w=\"19050\"><a:noFill/></a:ln></c:spPr>{marker}"
            ),
            Mark::Bar => write!(
                self.out,
                "<c:spPr>{fill}</c:spPr><c:invertIfNegative val=\"0\"/>"
            ),
            Mark::Line => write!(
                self.out,
                "<c:spPr><a:ln w=\"22225\" cap=\"rnd\">{fill}<a:round/></a:ln></c:spPr>{marker}"
            ),
            Mark::Area if self.chart.kind == ChartKind::StackedArea => {
                write!(self.out, "<c:spPr>{fill}</c:spPr>")
            }
            // Transparent, so that areas behind stay visible.
            Mark::Area => write!(
                self.out,
                "<c:spPr><a:solidFill><a:srgbClr val=\"{color}\"><a:alpha val=\"40000\"/></a:srgbClr>\
                 </a:solidFill><a:ln w=\"19050\">{fill}</a:ln></c:spPr>"
            ),
        };
    }

    /// One color per slice, in the same order as in the other formats.
    fn slice_colors(&mut self, series: &DrawnSeries<'_>) {
        let colors = &self.document.theme.chart;
        for index in 0..series.values.len() {
            let _ = write!(
                self.out,
                "<c:dPt><c:idx val=\"{index}\"/><c:bubble3D val=\"0\"/><c:spPr><a:solidFill>\
                 <a:srgbClr val=\"{}\"/></a:solidFill><a:ln w=\"9525\"><a:solidFill>\
                 <a:srgbClr val=\"FFFFFF\"/></a:solidFill></a:ln></c:spPr></c:dPt>",
                slice_color(colors, index).to_hex()
            );
        }
    }

    fn labels(&mut self, series: &DrawnSeries<'_>) {
        let round = self.chart.kind.is_round();
        let names = round && !self.chart.legend;
        if !self.chart.labels && !names {
            return;
        }
        let stacked = self.chart.kind.is_stacked() && series.mark == Mark::Bar;
        // Areas and doughnuts have no choice of positions.
        let position = match (self.chart.kind, series.mark) {
            (ChartKind::Doughnut, _) | (_, Mark::Area) => "",
            _ if stacked => "<c:dLblPos val=\"ctr\"/>",
            (_, Mark::Bar) => "<c:dLblPos val=\"outEnd\"/>",
            (_, Mark::Line) => "<c:dLblPos val=\"t\"/>",
        };
        let percent = round && self.chart.labels && self.chart.percent_labels;
        let values = self.chart.labels && !percent;
        let leaders = match self.chart.kind {
            ChartKind::Pie => "<c:separator>: </c:separator><c:showLeaderLines val=\"1\"/>",
            ChartKind::Doughnut => "<c:separator>: </c:separator><c:showLeaderLines val=\"0\"/>",
            _ => "",
        };
        let text = if stacked {
            text_on(series.color, self.document.theme.text)
        } else {
            self.document.theme.text
        };
        let shown = format!(
            "{position}<c:showLegendKey val=\"0\"/>\
             <c:showVal val=\"{}\"/><c:showCatName val=\"{}\"/><c:showSerName val=\"0\"/>\
             <c:showPercent val=\"{}\"/><c:showBubbleSize val=\"0\"/>",
            u8::from(values),
            u8::from(names),
            u8::from(percent)
        );
        self.out.push_str("<c:dLbls>");
        if self.chart.kind == ChartKind::Doughnut {
            self.ring_labels(series.values.len(), &shown);
        }
        self.label_look(text);
        let _ = write!(self.out, "{shown}{leaders}</c:dLbls>");
    }

    /// Writes a label for each slice of a ring: they stand on the slices, whose colors differ.
    fn ring_labels(&mut self, count: usize, shown: &str) {
        let dark = self.document.theme.text;
        for index in 0..count {
            let _ = write!(self.out, "<c:dLbl><c:idx val=\"{index}\"/>");
            let slice = slice_color(&self.document.theme.chart, index);
            self.label_look(text_on(slice, dark));
            let _ = write!(self.out, "{shown}<c:separator>: </c:separator></c:dLbl>");
        }
    }

    fn label_look(&mut self, text: Color) {
        let _ = write!(
            self.out,
            "<c:numFmt formatCode=\"{}\" sourceLinked=\"0\"/><c:spPr><a:noFill/><a:ln>\
             <a:noFill/></a:ln></c:spPr>",
            self.format
        );
        self.text_properties(text);
    }

    /// Writes the name of a target line at its last point.
    fn target_label(&mut self, series: &DrawnSeries<'_>) {
        let last = series.values.len().saturating_sub(1);
        let _ = write!(
            self.out,
            "<c:dLbls><c:dLbl><c:idx val=\"{last}\"/><c:spPr><a:noFill/><a:ln><a:noFill/></a:ln></c:spPr>"
        );
        self.text_properties(series.color);
        self.out.push_str(
            "<c:dLblPos val=\"t\"/><c:showLegendKey val=\"0\"/><c:showVal val=\"0\"/>\
             <c:showCatName val=\"0\"/><c:showSerName val=\"1\"/><c:showPercent val=\"0\"/>\
             <c:showBubbleSize val=\"0\"/></c:dLbl><c:showLegendKey val=\"0\"/><c:showVal val=\"0\"/>\
             <c:showCatName val=\"0\"/><c:showSerName val=\"0\"/><c:showPercent val=\"0\"/>\
             <c:showBubbleSize val=\"0\"/></c:dLbls>",
        );
    }

    /// Categories or positions, and values, as cached copies and as references to the cells of the
    /// embedded workbook.
    fn data(&mut self, series: &DrawnSeries<'_>, column: &str) {
        let count = series.values.len();
        let last = count + 1;
        if let Some(positions) = &series.positions {
            let column = column_letters(series.position_column());
            let _ = write!(
                self.out,
                "<c:xVal><c:numRef><c:f>Sheet1!${column}$2:${column}${last}</c:f>"
            );
            self.cache(positions, "General");
            self.out.push_str("</c:numRef></c:xVal>");
        } else {
            let _ = write!(
                self.out,
                "<c:cat><c:strRef><c:f>Sheet1!$A$2:$A${last}</c:f><c:strCache>\
                 <c:ptCount val=\"{count}\"/>"
            );
            for (index, category) in self.chart.categories.iter().enumerate() {
                let category = Escaped(category);
                let _ = write!(
                    self.out,
                    "<c:pt idx=\"{index}\"><c:v>{category}</c:v></c:pt>"
                );
            }
            self.out.push_str("</c:strCache></c:strRef></c:cat>");
        }
        let element = if series.positions.is_some() {
            "yVal"
        } else {
            "val"
        };
        let _ = write!(
            self.out,
            "<c:{element}><c:numRef><c:f>Sheet1!${column}$2:${column}${last}</c:f>"
        );
        let format = self.format.clone();
        self.cache(&series.values, &format);
        let _ = write!(self.out, "</c:numRef></c:{element}>");
    }

    fn cache(&mut self, values: &[Option<f64>], format: &str) {
        let count = values.len();
        let _ = write!(
            self.out,
            "<c:numCache><c:formatCode>{format}</c:formatCode><c:ptCount val=\"{count}\"/>"
        );
        for (index, value) in values.iter().enumerate() {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                let _ = write!(
                    self.out,
                    "<c:pt idx=\"{index}\"><c:v>{value:e}</c:v></c:pt>"
                );
            }
        }
        self.out.push_str("</c:numCache>");
    }
}

/// Column letters of a spreadsheet: 0 is A, 26 is AA.
fn column_letters(mut index: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(b'A' + (index % 26) as u8);
        if index < 26 {
            break;
        }
        index = index / 26 - 1;
    }
    letters
        .iter()
        .rev()
        .map(|letter| char::from(*letter))
        .collect()
}
