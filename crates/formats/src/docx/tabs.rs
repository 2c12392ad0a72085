//! Tab stops of paragraphs (ECMA-376-1 §17.3.1.38).

use std::fmt::Write as _;

use platen_document::bound::{Style, TabAlign, TabLeader, TabStop};

use crate::ooxml::twips;

/// The position of a tab stop beyond the end of any line, the last that Word has.
const BEYOND: i32 = 31_680;

/// Moves tab stops beyond the end of any line to the end of lines that are `width` points wide.
pub(super) fn end_at(tabs: &mut String, width: f32) {
    let (beyond, end) = (position_attribute(BEYOND), position_attribute(twips(width)));
    if tabs.contains(&beyond) {
        *tabs = tabs.replace(&beyond, &end);
    }
}

fn position_attribute(position: i32) -> String {
    format!("w:pos=\"{position}\"")
}

/// The tab stops of `style`, and the clearing of those of `base`, which it would inherit.
pub(super) fn tab_stops(style: &Style, base: Option<&Style>) -> String {
    let mut xml = String::new();
    let position = |stop: &TabStop| twips(stop.position).clamp(0, BEYOND);
    let has = |stop: &TabStop| style.tabs.iter().any(|own| position(own) == position(stop));
    for stop in base
        .iter()
        .flat_map(|base| base.tabs.iter())
        .filter(|stop| !has(stop))
    {
        let _ = write!(xml, "<w:tab w:val=\"clear\" w:pos=\"{}\"/>", position(stop));
    }
    for stop in style.tabs.iter() {
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
            "<w:tab w:val=\"{align}\"{leader} w:pos=\"{}\"/>",
            position(stop)
        );
    }
    match xml.is_empty() {
        true => xml,
        false => format!("<w:tabs>{xml}</w:tabs>"),
    }
}
