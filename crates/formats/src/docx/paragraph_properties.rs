//! Properties of paragraphs (ECMA-376-1 §17.3.1): how a style differs from another.

use std::fmt::Write as _;

use platen_document::bound::{Align, Style};

use super::tabs::{reaches_beyond, tab_stops};
use crate::ooxml::twips;

/// Paragraph properties. [`to_xml`](Self::to_xml) writes them in schema order.
#[derive(Clone, Debug, Default)]
pub(super) struct ParagraphProperties {
    pub style: Option<String>,
    pub keep_next: Option<bool>,
    pub keep_lines: Option<bool>,
    pub page_break_before: bool,
    pub widow_control: Option<bool>,
    /// List instance (`numId`) and level.
    pub list: Option<(usize, usize)>,
    pub borders: String,
    pub shade: String,
    pub tabs: String,
    pub suppress_hyphens: Option<bool>,
    pub bidi: Option<bool>,
    pub spacing: String,
    pub indent: String,
    pub align: Option<&'static str>,
    pub outline: Option<u8>,
    /// The element `rPr` of the paragraph's mark, which gives its number the look.
    pub mark: String,
}

impl ParagraphProperties {
    /// Records how `style` differs from `base`; without a base, everything. Borders and background
    /// are left to [`box_properties`](super::paragraph::box_properties). `end`: where lines end.
    pub fn compare(&mut self, style: &Style, base: Option<&Style>, end: f32, rtl: bool) {
        let flag = |pick: fn(&Style) -> bool| match base {
            Some(base) => (pick(base) != pick(style)).then(|| pick(style)),
            None => pick(style).then_some(true),
        };
        self.keep_next = flag(|style| style.keep_with_next);
        self.keep_lines = flag(|style| style.keep_together);
        self.suppress_hyphens = flag(|style| !style.hyphenate);
        self.widow_control = match base {
            Some(base) => {
                (widow_control(base) != widow_control(style)).then(|| widow_control(style))
            }
            None => Some(widow_control(style)),
        };
        let spacing = |style: &Style| {
            (
                twips(style.space_before).max(0),
                twips(style.space_after).max(0),
                line(style),
            )
        };
        if base.is_none_or(|base| spacing(base) != spacing(style)) {
            let (before, after, line) = spacing(style);
            self.spacing = format!(
                "<w:spacing w:before=\"{before}\" w:after=\"{after}\" w:line=\"{line}\" w:lineRule=\"auto\"/>"
            );
        }
        let indent = |style: &Style| {
            (
                twips(style.indent_start),
                twips(style.indent_end),
                twips(style.indent_first_line),
            )
        };
        if base.map_or(indent(style) != (0, 0, 0), |base| {
            indent(base) != indent(style)
        }) {
            let (start, end, first) = indent(style);
            let name = if first < 0 { "hanging" } else { "firstLine" };
            self.indent = format!(
                "<w:ind w:left=\"{start}\" w:right=\"{end}\" w:{name}=\"{}\"/>",
                first.abs()
            );
        }
        if base.is_none_or(|base| base.tabs != style.tabs) || reaches_beyond(style, end) {
            self.tabs.push_str(&tab_stops(style, base, end));
        }
        let align = style_justification(style, rtl);
        if base.map_or(align != "left", |base| {
            style_justification(base, rtl) != align
        }) {
            self.align = Some(align);
        }
    }

    pub fn to_xml(&self) -> String {
        let mut xml = String::new();
        if let Some(style) = &self.style {
            let _ = write!(xml, "<w:pStyle w:val=\"{style}\"/>");
        }
        let mut flag = |name: &str, value: Option<bool>| {
            if let Some(value) = value {
                let off = if value { "" } else { " w:val=\"0\"" };
                let _ = write!(xml, "<w:{name}{off}/>");
            }
        };
        flag("keepNext", self.keep_next);
        flag("keepLines", self.keep_lines);
        flag("pageBreakBefore", self.page_break_before.then_some(true));
        flag("widowControl", self.widow_control);
        if let Some((number, level)) = self.list {
            let _ = write!(
                xml,
                "<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{number}\"/></w:numPr>"
            );
        }
        if !self.borders.is_empty() {
            let _ = write!(xml, "<w:pBdr>{}</w:pBdr>", self.borders);
        }
        xml.push_str(&self.shade);
        xml.push_str(&self.tabs);
        if let Some(value) = self.suppress_hyphens {
            let off = if value { "" } else { " w:val=\"0\"" };
            let _ = write!(xml, "<w:suppressAutoHyphens{off}/>");
        }
        let off = if self.bidi == Some(false) {
            " w:val=\"0\""
        } else {
            ""
        };
        if self.bidi.is_some() {
            let _ = write!(xml, "<w:bidi{off}/>");
        }
        xml.push_str(&self.spacing);
        xml.push_str(&self.indent);
        if let Some(align) = self.align {
            let _ = write!(xml, "<w:jc w:val=\"{align}\"/>");
        }
        if let Some(outline) = self.outline {
            let _ = write!(xml, "<w:outlineLvl w:val=\"{outline}\"/>");
        }
        xml.push_str(&self.mark);
        xml
    }
}

fn widow_control(style: &Style) -> bool {
    style.widows > 1 || style.orphans > 1
}

/// Line height in 240ths of the font's natural height, taken as 1.15 times its size.
fn line(style: &Style) -> i32 {
    (style.line_height / 1.15 * 240.0)
        .round()
        .clamp(60.0, 31_680.0) as i32
}

/// `w:jc` value of a style.
fn style_justification(style: &Style, rtl: bool) -> &'static str {
    match style.align {
        Align::Justify if style.kashida => "mediumKashida",
        align => justification(align, rtl),
    }
}

/// `w:jc` value of an alignment. In a right-to-left paragraph `left` means the start, that is, the
/// right side.
pub(super) fn justification(align: Align, rtl: bool) -> &'static str {
    match (align, rtl) {
        (Align::Start, _) | (Align::Left, false) | (Align::Right | Align::Decimal, true) => "left",
        (Align::End, _) | (Align::Right | Align::Decimal, false) | (Align::Left, true) => "right",
        (Align::Center, _) => "center",
        (Align::Justify, _) => "both",
    }
}
