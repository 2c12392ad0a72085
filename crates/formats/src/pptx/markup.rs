//! Markup that several parts of a presentation share.

use platen_document::{
    Color,
    bound::{Border, LineStyle},
};

use crate::ooxml::emu;

/// Declarations of the namespaces that every part uses.
pub(super) const NAMESPACES: &str = "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
     xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" \
     xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\"";

/// The empty group that every shape tree starts with.
pub(super) const GROUP: &str = "<p:nvGrpSpPr><p:cNvPr id=\"1\" name=\"\"/><p:cNvGrpSpPr/><p:nvPr/>\
    </p:nvGrpSpPr><p:grpSpPr><a:xfrm><a:off x=\"0\" y=\"0\"/><a:ext cx=\"0\" cy=\"0\"/>\
    <a:chOff x=\"0\" y=\"0\"/><a:chExt cx=\"0\" cy=\"0\"/></a:xfrm></p:grpSpPr>";

/// The field that shows the slide number.
pub(super) const NUMBER: &str = "<a:fld id=\"{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}\" \
    type=\"slidenum\"><a:rPr lang=\"en-US\"/><a:t>‹#›</a:t></a:fld>";

/// A fill of one color.
pub(super) fn solid(color: Color) -> String {
    format!(
        "<a:solidFill><a:srgbClr val=\"{}\"/></a:solidFill>",
        color.to_hex()
    )
}

/// A line element, such as `a:ln` or `a:lnB`, at least 0.25 points wide.
pub(super) fn line(name: &str, border: &Border) -> String {
    format!(
        "<a:{name} w=\"{}\">{}{}</a:{name}>",
        emu(border.width).max(3175),
        solid(border.color),
        dash(border.style)
    )
}

fn dash(line: LineStyle) -> &'static str {
    match line {
        LineStyle::Solid => "",
        LineStyle::Dashed => "<a:prstDash val=\"dash\"/>",
        LineStyle::Dotted => "<a:prstDash val=\"sysDot\"/>",
    }
}
