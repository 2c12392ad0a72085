//! Native charts: the DrawingML chart part (ECMA-376-1 §21.2).

use std::fmt::Write as _;

use platen_document::{
    Color,
    bound::{Chart, ChartKind, Direction, Document, Series},
};

use platen_layout::figure::text_on;

use super::{DECLARATION, Escaped, workbook::chart_workbook};
use crate::{Error, xlsx::number_format};

/// The chart part and the workbook behind it.
pub(crate) struct ChartParts {
    /// The chart part. It refers to its workbook as relationship `rId1`.
    pub xml: String,
    /// The workbook that holds the data.
    pub workbook: Vec<u8>,
}

/// Generates the parts of `chart`, with its text enlarged by `scale`.
pub(crate) fn chart_parts(
    chart: &Chart,
    document: &Document,
    scale: f32,
) -> Result<ChartParts, Error> {
    let workbook = chart_workbook(chart, document)?;
    let writer = Writer {
        chart,
        document,
        format: Escaped(&number_format(&chart.format, &document.language)).to_string(),
        size: (document.styles[document.named.small].font_size * scale * 100.0).round() as i32,
        out: String::with_capacity(4096),
    };
    Ok(ChartParts {
        xml: writer.write(),
        workbook,
    })
}

struct Writer<'a> {
    chart: &'a Chart,
    document: &'a Document,
    format: String,
    /// Font size, in hundredths of a point.
    size: i32,
    out: String,
}

impl Writer<'_> {
    fn write(mut self) -> String {
        let _ = write!(
            self.out,
            "{DECLARATION}<c:chartSpace \
             xmlns:c=\"http://schemas.openxmlformats.org/drawingml/2006/chart\" \
             xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
             xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\">\
             <c:date1904 val=\"0\"/><c:roundedCorners val=\"0\"/><c:chart>"
        );
        match &self.chart.title {
            Some(title) => {
                let size = self.size * 13 / 10;
                self.title(title, size, false);
                self.out.push_str("<c:autoTitleDeleted val=\"0\"/>");
            }
            None => self.out.push_str("<c:autoTitleDeleted val=\"1\"/>"),
        }
        self.out.push_str("<c:plotArea><c:layout/>");
        self.plot();
        self.out
            .push_str("<c:spPr><a:noFill/></c:spPr></c:plotArea>");
        if self.chart.legend {
            let at = if self.chart.kind == ChartKind::Pie {
                "r"
            } else {
                "b"
            };
            let _ = write!(
                self.out,
                "<c:legend><c:legendPos val=\"{at}\"/><c:overlay val=\"0\"/></c:legend>"
            );
        }
        self.out.push_str(
            "<c:plotVisOnly val=\"1\"/><c:dispBlanksAs val=\"gap\"/></c:chart>\
             <c:spPr><a:noFill/><a:ln><a:noFill/></a:ln></c:spPr>",
        );
        let text = self.document.theme.text;
        self.text_properties(text);
        self.out.push_str(
            "<c:externalData r:id=\"rId1\"><c:autoUpdate val=\"0\"/></c:externalData>\
             </c:chartSpace>",
        );
        self.out
    }

    fn plot(&mut self) {
        let varied = match self.chart.kind {
            ChartKind::Bar => {
                "<c:barChart><c:barDir val=\"col\"/><c:grouping val=\"clustered\"/>\
                               <c:varyColors val=\"0\"/>"
            }
            ChartKind::StackedBar => {
                "<c:barChart><c:barDir val=\"col\"/><c:grouping val=\"stacked\"/>\
                 <c:varyColors val=\"0\"/>"
            }
            ChartKind::Line => {
                "<c:lineChart><c:grouping val=\"standard\"/><c:varyColors val=\"0\"/>"
            }
            ChartKind::Pie => "<c:pieChart><c:varyColors val=\"1\"/>",
        };
        self.out.push_str(varied);
        // A pie shows only the first series.
        let shown = if self.chart.kind == ChartKind::Pie {
            1
        } else {
            usize::MAX
        };
        let chart = self.chart;
        for (index, series) in chart.series.iter().take(shown).enumerate() {
            self.series(index, series);
        }
        let end = match self.chart.kind {
            ChartKind::Bar => {
                "<c:gapWidth val=\"60\"/><c:axId val=\"1001\"/><c:axId val=\"1002\"/></c:barChart>"
            }
            ChartKind::StackedBar => {
                "<c:gapWidth val=\"65\"/><c:overlap val=\"100\"/><c:axId val=\"1001\"/>\
                 <c:axId val=\"1002\"/></c:barChart>"
            }
            ChartKind::Line => {
                "<c:marker val=\"1\"/><c:axId val=\"1001\"/><c:axId val=\"1002\"/></c:lineChart>"
            }
            ChartKind::Pie => "<c:firstSliceAng val=\"0\"/></c:pieChart>",
        };
        self.out.push_str(end);
        if self.chart.kind != ChartKind::Pie {
            self.category_axis();
            self.value_axis();
        }
    }

    fn series(&mut self, index: usize, series: &Series) {
        let column = column_letters(index + 1);
        let _ = write!(
            self.out,
            "<c:ser><c:idx val=\"{index}\"/><c:order val=\"{index}\"/><c:tx><c:strRef>\
             <c:f>Sheet1!${column}$1</c:f><c:strCache><c:ptCount val=\"1\"/><c:pt idx=\"0\"><c:v>{}\
             </c:v></c:pt></c:strCache></c:strRef></c:tx>",
            Escaped(&series.name)
        );
        let color = series.color.to_hex();
        let fill = format!("<a:solidFill><a:srgbClr val=\"{color}\"/></a:solidFill>");
        match self.chart.kind {
            ChartKind::Bar | ChartKind::StackedBar => {
                let _ = write!(
                    self.out,
                    "<c:spPr>{fill}</c:spPr><c:invertIfNegative val=\"0\"/>"
                );
            }
            ChartKind::Line => {
                let _ = write!(
                    self.out,
                    "<c:spPr><a:ln w=\"22225\" cap=\"rnd\">{fill}<a:round/></a:ln></c:spPr>\
                     <c:marker><c:symbol val=\"circle\"/><c:size val=\"5\"/><c:spPr>{fill}<a:ln>\
                     <a:noFill/></a:ln></c:spPr></c:marker>"
                );
            }
            ChartKind::Pie => self.slices(series),
        }
        self.labels(series.color);
        self.data(series, &column);
        if self.chart.kind == ChartKind::Line {
            self.out.push_str("<c:smooth val=\"0\"/>");
        }
        self.out.push_str("</c:ser>");
    }

    /// One color per slice, in the same order as in the other formats.
    fn slices(&mut self, series: &Series) {
        let colors = &self.document.theme.chart;
        for index in 0..series.values.len() {
            let color = colors
                .get(index % colors.len().max(1))
                .unwrap_or(&series.color);
            let _ = write!(
                self.out,
                "<c:dPt><c:idx val=\"{index}\"/><c:bubble3D val=\"0\"/><c:spPr><a:solidFill>\
                 <a:srgbClr val=\"{}\"/></a:solidFill><a:ln w=\"9525\"><a:solidFill>\
                 <a:srgbClr val=\"FFFFFF\"/></a:solidFill></a:ln></c:spPr></c:dPt>",
                color.to_hex()
            );
        }
    }

    fn labels(&mut self, color: Color) {
        let pie = self.chart.kind == ChartKind::Pie;
        let names = pie && !self.chart.legend;
        if !self.chart.labels && !names {
            return;
        }
        let position = match self.chart.kind {
            ChartKind::Bar | ChartKind::Pie => "<c:dLblPos val=\"outEnd\"/>",
            ChartKind::StackedBar => "<c:dLblPos val=\"ctr\"/>",
            ChartKind::Line => "<c:dLblPos val=\"t\"/>",
        };
        let (values, names) = (u8::from(self.chart.labels), u8::from(names));
        let leaders = if pie {
            "<c:separator>: </c:separator><c:showLeaderLines val=\"1\"/>"
        } else {
            ""
        };
        let text = match self.chart.kind {
            ChartKind::StackedBar => text_on(color, self.document.theme.text),
            _ => self.document.theme.text,
        };
        let _ = write!(
            self.out,
            "<c:dLbls><c:numFmt formatCode=\"{}\" sourceLinked=\"0\"/><c:spPr><a:noFill/><a:ln>\
             <a:noFill/></a:ln></c:spPr>",
            self.format
        );
        self.text_properties(text);
        let _ = write!(
            self.out,
            "{position}<c:showLegendKey val=\"0\"/>\
             <c:showVal val=\"{values}\"/><c:showCatName val=\"{names}\"/><c:showSerName val=\"0\"/>\
             <c:showPercent val=\"0\"/><c:showBubbleSize val=\"0\"/>{leaders}</c:dLbls>"
        );
    }

    /// Categories and values, as cached copies and as references to the cells of the embedded
    /// workbook.
    fn data(&mut self, series: &Series, column: &str) {
        let count = self.chart.categories.len();
        let last = count + 1;
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
        let _ = write!(
            self.out,
            "</c:strCache></c:strRef></c:cat><c:val><c:numRef>\
             <c:f>Sheet1!${column}$2:${column}${last}</c:f><c:numCache><c:formatCode>{}\
             </c:formatCode><c:ptCount val=\"{count}\"/>",
            self.format
        );
        for (index, value) in series.values.iter().take(count).enumerate() {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                let _ = write!(
                    self.out,
                    "<c:pt idx=\"{index}\"><c:v>{value:e}</c:v></c:pt>"
                );
            }
        }
        self.out.push_str("</c:numCache></c:numRef></c:val>");
    }

    fn category_axis(&mut self) {
        let orientation = self.orientation();
        let _ = write!(
            self.out,
            "<c:catAx><c:axId val=\"1001\"/><c:scaling><c:orientation val=\"{orientation}\"/>\
             </c:scaling><c:delete val=\"0\"/><c:axPos val=\"b\"/>"
        );
        if let Some(title) = &self.chart.category_title {
            self.title(title, self.size, false);
        }
        self.out.push_str(
            "<c:numFmt formatCode=\"General\" sourceLinked=\"0\"/><c:majorTickMark val=\"none\"/>\
             <c:minorTickMark val=\"none\"/><c:tickLblPos val=\"low\"/>",
        );
        let (border, muted) = (self.document.theme.border, self.document.theme.muted);
        self.line(border, 9525);
        self.text_properties(muted);
        self.out.push_str(
            "<c:crossAx val=\"1002\"/><c:crosses val=\"autoZero\"/><c:auto val=\"0\"/>\
             <c:lblAlgn val=\"ctr\"/><c:lblOffset val=\"100\"/><c:noMultiLvlLbl val=\"1\"/></c:catAx>",
        );
    }

    fn value_axis(&mut self) {
        self.out
            .push_str("<c:valAx><c:axId val=\"1002\"/><c:scaling><c:orientation val=\"minMax\"/>");
        let ticks = &self.chart.ticks;
        if let (Some((low, _)), Some((high, _))) = (ticks.first(), ticks.last()) {
            let _ = write!(
                self.out,
                "<c:max val=\"{high:e}\"/><c:min val=\"{low:e}\"/>"
            );
        }
        let right = self.document.direction == Direction::RightToLeft;
        let position = if right { "r" } else { "l" };
        let _ = write!(
            self.out,
            "</c:scaling><c:delete val=\"0\"/><c:axPos val=\"{position}\"/><c:majorGridlines>"
        );
        let border = self.document.theme.border;
        self.line(border, 6350);
        self.out.push_str("</c:majorGridlines>");
        if let Some(title) = &self.chart.value_title {
            self.title(title, self.size, true);
        }
        let _ = write!(
            self.out,
            "<c:numFmt formatCode=\"{}\" sourceLinked=\"0\"/><c:majorTickMark val=\"none\"/>\
             <c:minorTickMark val=\"none\"/><c:tickLblPos val=\"nextTo\"/>\
             <c:spPr><a:ln><a:noFill/></a:ln></c:spPr>",
            self.format
        );
        let muted = self.document.theme.muted;
        self.text_properties(muted);
        self.out.push_str(
            "<c:crossAx val=\"1001\"/><c:crosses val=\"autoZero\"/>\
             <c:crossBetween val=\"between\"/>",
        );
        if let [(first, _), (second, _), ..] = self.chart.ticks.as_slice()
            && second > first
        {
            let _ = write!(self.out, "<c:majorUnit val=\"{:e}\"/>", second - first);
        }
        self.out.push_str("</c:valAx>");
    }

    fn orientation(&self) -> &'static str {
        match self.document.direction {
            Direction::LeftToRight => "minMax",
            Direction::RightToLeft => "maxMin",
        }
    }

    fn line(&mut self, color: Color, width: u32) {
        let _ = write!(
            self.out,
            "<c:spPr><a:ln w=\"{width}\"><a:solidFill><a:srgbClr val=\"{}\"/></a:solidFill></a:ln>\
             </c:spPr>",
            color.to_hex()
        );
    }

    fn title(&mut self, text: &str, size: i32, rotated: bool) {
        let turn = if rotated {
            " rot=\"-5400000\" vert=\"horz\""
        } else {
            ""
        };
        let bold = u8::from(size != self.size);
        let _ = write!(
            self.out,
            "<c:title><c:tx><c:rich><a:bodyPr{turn}/><a:lstStyle/><a:p><a:pPr>\
             <a:defRPr sz=\"{size}\" b=\"{bold}\"/></a:pPr><a:r><a:rPr sz=\"{size}\" b=\"{bold}\"/>\
             <a:t>{}</a:t></a:r></a:p></c:rich></c:tx><c:overlay val=\"0\"/></c:title>",
            Escaped(text)
        );
    }

    fn text_properties(&mut self, color: Color) {
        let style = &self.document.styles[self.document.named.small];
        let family = style.font_families.first().map_or("", String::as_str);
        let _ = write!(
            self.out,
            "<c:txPr><a:bodyPr/><a:lstStyle/><a:p><a:pPr><a:defRPr sz=\"{}\"><a:solidFill>\
             <a:srgbClr val=\"{}\"/></a:solidFill><a:latin typeface=\"{family}\"/></a:defRPr></a:pPr>\
             <a:endParaRPr lang=\"en-US\"/></a:p></c:txPr>",
            self.size,
            color.to_hex(),
            family = Escaped(family)
        );
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
