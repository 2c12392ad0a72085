//! Native charts: the DrawingML chart part (ECMA-376-1 §21.2).

mod axes;
mod data;
mod series;

use std::fmt::Write as _;

use platen_document::{
    Color,
    bound::{Chart, Document},
};

pub(crate) use self::data::{
    DrawnSeries, axis_format, drawn_series, ends, lost_in_native, values_format,
};
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
    let code = number_format(&values_format(chart), &document.language);
    let writer = Writer {
        chart,
        document,
        format: Escaped(&code).to_string(),
        size: (document.styles[chart.text].font_size * scale * 100.0).round() as i32,
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
        self.groups();
        if !self.chart.kind.is_round() {
            self.axes();
        }
        self.out
            .push_str("<c:spPr><a:noFill/></c:spPr></c:plotArea>");
        self.legend();
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

    /// The legend, without the target lines, which have their names beside them.
    fn legend(&mut self) {
        if !self.chart.legend {
            return;
        }
        let at = if self.chart.kind.is_round() { "r" } else { "b" };
        let _ = write!(self.out, "<c:legend><c:legendPos val=\"{at}\"/>");
        for (index, series) in drawn_series(self.chart).iter().enumerate() {
            if series.is_target {
                let _ = write!(
                    self.out,
                    "<c:legendEntry><c:idx val=\"{index}\"/><c:delete val=\"1\"/></c:legendEntry>"
                );
            }
        }
        self.out.push_str("<c:overlay val=\"0\"/></c:legend>");
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
        let style = &self.document.styles[self.chart.text];
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
