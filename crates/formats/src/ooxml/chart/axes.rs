//! Axes of native charts (ECMA-376-1 §21.2.2.25, 21.2.2.226).

use std::fmt::Write as _;

use platen_document::bound::{Axis, ChartKind, Direction};

use super::{
    Writer,
    data::{axis_format, ends},
};
use crate::{ooxml::Escaped, xlsx::number_format};

/// Ids of the two pairs of axes: of categories or positions, and of values.
pub(super) const PRIMARY: (u32, u32) = (1001, 1002);
pub(super) const SECONDARY: (u32, u32) = (1003, 1004);

/// Where an axis is and what it crosses.
struct Place {
    id: u32,
    crosses: u32,
    position: &'static str,
    /// Whether it is at the far end of the axis that it crosses.
    far: bool,
    grid: bool,
    hidden: bool,
}

impl Writer<'_> {
    pub(super) fn axes(&mut self) {
        let chart = self.chart;
        if chart.kind == ChartKind::Scatter {
            if let Some(axis) = &chart.x_axis {
                let title = axis.title.as_ref().or(chart.category_title.as_ref());
                let place = self.place(PRIMARY.0, PRIMARY.1, "b");
                self.value_axis(axis, title, &place);
            }
        } else {
            self.category_axis(PRIMARY, false);
        }
        let right = self.document.direction == Direction::RightToLeft;
        let (near, far) = if right { ("r", "l") } else { ("l", "r") };
        let position = if chart.horizontal { "b" } else { near };
        let place = self.place(PRIMARY.1, PRIMARY.0, position);
        self.value_axis(&chart.value_axis, chart.value_axis.title.as_ref(), &place);
        let Some(axis) = &chart.secondary_axis else {
            return;
        };
        if chart.kind == ChartKind::Scatter {
            if let Some(across) = &chart.x_axis {
                let place = Place {
                    grid: false,
                    hidden: true,
                    ..self.place(SECONDARY.0, SECONDARY.1, "b")
                };
                self.value_axis(across, None, &place);
            }
        } else {
            self.category_axis(SECONDARY, true);
        }
        let place = Place {
            far: true,
            grid: false,
            ..self.place(SECONDARY.1, SECONDARY.0, far)
        };
        self.value_axis(axis, axis.title.as_ref(), &place);
    }

    fn place(&self, id: u32, crosses: u32, position: &'static str) -> Place {
        Place {
            id,
            crosses,
            position,
            far: false,
            grid: true,
            hidden: false,
        }
    }

    fn category_axis(&mut self, (id, crosses): (u32, u32), hidden: bool) {
        // Categories of horizontal bars are read from the top.
        let right = self.document.direction == Direction::RightToLeft;
        let reversed = self.chart.horizontal || right;
        let orientation = if reversed { "maxMin" } else { "minMax" };
        let position = match (self.chart.horizontal, right) {
            (true, false) => "l",
            (true, true) => "r",
            (false, _) => "b",
        };
        let _ = write!(
            self.out,
            "<c:catAx><c:axId val=\"{id}\"/><c:scaling><c:orientation val=\"{orientation}\"/>\
             </c:scaling><c:delete val=\"{}\"/><c:axPos val=\"{position}\"/>",
            u8::from(hidden)
        );
        if let Some(title) = self.chart.category_title.as_ref().filter(|_| !hidden) {
            self.title(title, self.size, self.chart.horizontal);
        }
        self.out.push_str(
            "<c:numFmt formatCode=\"General\" sourceLinked=\"0\"/><c:majorTickMark val=\"none\"/>\
             <c:minorTickMark val=\"none\"/><c:tickLblPos val=\"low\"/>",
        );
        let (border, muted) = (self.document.theme.border, self.document.theme.muted);
        self.line(border, 9525);
        self.text_properties(muted);
        let _ = write!(
            self.out,
            "<c:crossAx val=\"{crosses}\"/><c:crosses val=\"autoZero\"/><c:auto val=\"0\"/>\
             <c:lblAlgn val=\"ctr\"/><c:lblOffset val=\"100\"/><c:noMultiLvlLbl val=\"1\"/></c:catAx>"
        );
    }

    fn value_axis(&mut self, axis: &Axis, title: Option<&String>, place: &Place) {
        let _ = write!(
            self.out,
            "<c:valAx><c:axId val=\"{}\"/><c:scaling>",
            place.id
        );
        if axis.logarithmic {
            self.out.push_str("<c:logBase val=\"10\"/>");
        }
        let right = self.document.direction == Direction::RightToLeft;
        let orientation = if right && place.position == "b" {
            "maxMin"
        } else {
            "minMax"
        };
        let (low, high) = ends(axis);
        let _ = write!(
            self.out,
            "<c:orientation val=\"{orientation}\"/><c:max val=\"{high:e}\"/>\
             <c:min val=\"{low:e}\"/></c:scaling><c:delete val=\"{}\"/><c:axPos val=\"{}\"/>",
            u8::from(place.hidden),
            place.position
        );
        if place.grid {
            self.out.push_str("<c:majorGridlines>");
            let border = self.document.theme.border;
            self.line(border, 6350);
            self.out.push_str("</c:majorGridlines>");
        }
        if let Some(title) = title {
            self.title(title, self.size, place.position != "b");
        }
        let code = number_format(&axis_format(axis), &self.document.language);
        // The labels of horizontal bars stay at the foot, although their categories begin at the top.
        let labels = if self.chart.horizontal {
            "high"
        } else {
            "nextTo"
        };
        let _ = write!(
            self.out,
            "<c:numFmt formatCode=\"{}\" sourceLinked=\"0\"/><c:majorTickMark val=\"none\"/>\
             <c:minorTickMark val=\"none\"/><c:tickLblPos val=\"{labels}\"/>\
             <c:spPr><a:ln><a:noFill/></a:ln></c:spPr>",
            Escaped(&code)
        );
        let muted = self.document.theme.muted;
        self.text_properties(muted);
        let between = if self.chart.kind == ChartKind::Scatter {
            "midCat"
        } else {
            "between"
        };
        let crosses = if place.far { "max" } else { "autoZero" };
        let _ = write!(
            self.out,
            "<c:crossAx val=\"{}\"/><c:crosses val=\"{crosses}\"/>\
             <c:crossBetween val=\"{between}\"/>",
            place.crosses
        );
        if let [(_, _), (first, _), (second, _), ..] = axis.ticks.as_slice()
            && !axis.logarithmic
            && second > first
        {
            let _ = write!(self.out, "<c:majorUnit val=\"{:e}\"/>", second - first);
        }
        self.out.push_str("</c:valAx>");
    }
}
