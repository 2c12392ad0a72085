//! Tab stops of paragraphs (ECMA-376-1 §17.3.1.38).

use std::fmt::Write as _;

use platen_document::bound::{Style, TabAlign, TabLeader, TabStop};

use crate::ooxml::twips;

/// The last position that Word has.
const LAST: i32 = 31_680;

/// Where a line of `style` ends in a column of `width` points, from the start of the column.
pub(super) fn line_end(style: &Style, width: f32) -> f32 {
    (width - style.indent_end).max(0.0)
}

/// Whether `style` has tab stops behind `end`.
pub(super) fn reaches_beyond(style: &Style, end: f32) -> bool {
    style.tabs.iter().any(|stop| stop.position > end)
}

/// The tab stops of `style`, and the clearing of those of `base`, which it would inherit. Stops
/// behind `end` stand there, as in the layout: Word would take their text out of the column.
pub(super) fn tab_stops(style: &Style, base: Option<&Style>, end: f32) -> String {
    let mut xml = String::new();
    let position = |stop: &TabStop, end: f32| twips(stop.position.min(end)).clamp(0, LAST);
    let mut taken: Vec<i32> = Vec::new();
    let inherited = base.iter().flat_map(|base| base.tabs.iter());
    for stop in inherited.map(|stop| position(stop, f32::INFINITY)) {
        if !style.tabs.iter().any(|own| position(own, end) == stop) {
            let _ = write!(xml, "<w:tab w:val=\"clear\" w:pos=\"{stop}\"/>");
        }
    }
    for stop in style.tabs.iter() {
        let position = position(stop, end);
        // As in the layout, the first of several stops at the end counts.
        if taken.contains(&position) {
            continue;
        }
        taken.push(position);
        let align = match stop.align {
            TabAlign::Start => "left",
            TabAlign::End => "right",
            TabAlign::Center => "center",
            TabAlign::Decimal => "decimal",
        };
        let leader = match stop.leader {
            TabLeader::None => "",
            TabLeader::Dots => " w:leader=\"dot\"",
            TabLeader::Dashes => " w:leader=\"hyphen\"",
            TabLeader::Line => " w:leader=\"underscore\"",
        };
        let _ = write!(
            xml,
            "<w:tab w:val=\"{align}\"{leader} w:pos=\"{position}\"/>"
        );
    }
    match xml.is_empty() {
        true => xml,
        false => format!("<w:tabs>{xml}</w:tabs>"),
    }
}
