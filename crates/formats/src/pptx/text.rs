//! DrawingML paragraphs (ECMA-376-1 §21.1.2) and estimates of their height.

use std::fmt::Write as _;

use platen_document::{
    bound::{Align, BULLETS, Baseline, Document, Inline, Style, StyleId, TabAlign, plain_text},
    numbering::{Counter, Part, Pattern},
    work,
};

use super::markup::solid;
use crate::{
    metrics::{line_count, lines_end},
    ooxml::{Escaped, Relationships, emu, push_escaped},
    plain::safe_link,
};

/// The list mark in front of a paragraph.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Mark {
    #[default]
    None,
    Bullet(usize),
    Number(usize, u32),
    /// A numbered item at a level, in a scheme of PresentationML.
    Scheme(usize, &'static str, u32),
    /// An item at a level whose mark is part of the text.
    Text(usize),
}

impl Mark {
    /// Level of the list item; `None` outside lists.
    fn level(self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Bullet(level)
            | Self::Number(level, _)
            | Self::Scheme(level, ..)
            | Self::Text(level) => Some(level),
        }
    }
}

/// The numbering scheme (ECMA-376-1 §20.1.10.61) that writes a pattern, if there is one.
pub(super) fn scheme(pattern: &Pattern) -> Option<&'static str> {
    let (before, counter, after) = match pattern.parts() {
        [Part::Counter(counter)] => ("", *counter, ""),
        [Part::Counter(counter), Part::Text(after)] => ("", *counter, after.as_str()),
        [
            Part::Text(before),
            Part::Counter(counter),
            Part::Text(after),
        ] => (before.as_str(), *counter, after.as_str()),
        _ => return None,
    };
    let schemes = match counter {
        Counter::Decimal => ["arabicPeriod", "arabicParenR", "arabicParenBoth"],
        Counter::LowerAlpha => ["alphaLcPeriod", "alphaLcParenR", "alphaLcParenBoth"],
        Counter::UpperAlpha => ["alphaUcPeriod", "alphaUcParenR", "alphaUcParenBoth"],
        Counter::LowerRoman => ["romanLcPeriod", "romanLcParenR", "romanLcParenBoth"],
        Counter::UpperRoman => ["romanUcPeriod", "romanUcParenR", "romanUcParenBoth"],
    };
    match (before, after) {
        ("", ".") => Some(schemes[0]),
        ("", ")") => Some(schemes[1]),
        ("(", ")") => Some(schemes[2]),
        ("", "") if counter == Counter::Decimal => Some("arabicPlain"),
        _ => None,
    }
}

/// Writes the mark of a numbered item.
fn automatic(xml: &mut String, kind: &str, number: u32) {
    let number = number.clamp(1, 32_767);
    let _ = write!(
        xml,
        "<a:buFont typeface=\"+mj-lt\"/><a:buAutoNum type=\"{kind}\" startAt=\"{number}\"/>"
    );
}

/// What is needed to write text on slides.
pub(super) struct Typeset<'a> {
    pub document: &'a Document,
    pub scale: f32,
    pub rtl: bool,
}

impl Typeset<'_> {
    /// Indent of a paragraph with this mark, in points.
    pub fn indent(&self, mark: Mark) -> f32 {
        match mark {
            Mark::None => 0.0,
            mark => (mark.level().unwrap_or(0) + 1) as f32 * 16.0 * self.scale,
        }
    }

    /// Estimated height of `text` in style `id` within `width` points, including the spacing around
    /// it.
    pub fn height(&self, text: &str, id: StyleId, width: f32, mark: Mark) -> f32 {
        let style = &self.document.styles[id];
        let lines = line_count(
            text,
            style.font_size * self.scale,
            style.bold,
            width * 0.98 - self.indent(mark),
        );
        lines as f32 * self.line_height(style)
            + (style.space_before + style.space_after) * self.scale
    }

    /// Splits `content` after `lines` lines of a box of `width` points.
    pub fn cut_lines(
        &self,
        content: &[Inline],
        style: &Style,
        width: f32,
        lines: usize,
    ) -> (Vec<Inline>, Vec<Inline>) {
        let size = style.font_size * self.scale;
        let text = plain_text(content);
        cut(
            content,
            lines_end(&text, size, style.bold, width, lines.max(1)),
        )
    }

    pub fn line_height(&self, style: &Style) -> f32 {
        style.font_size * self.scale * style.line_height.max(1.0)
    }

    /// A paragraph in the style `id`. Sets `lost_links` if a link cannot be written.
    pub fn paragraph(
        &self,
        content: &[Inline],
        id: StyleId,
        mark: Mark,
        relationships: &mut Relationships,
        lost_links: &mut bool,
    ) -> String {
        self.paragraph_in(
            content,
            &self.document.styles[id],
            mark,
            relationships,
            lost_links,
        )
    }

    /// A paragraph in `style`. Sets `lost_links` if a link cannot be written.
    pub fn paragraph_in(
        &self,
        content: &[Inline],
        style: &Style,
        mark: Mark,
        relationships: &mut Relationships,
        lost_links: &mut bool,
    ) -> String {
        let is_break = |inline: &Inline| matches!(inline, Inline::Break);
        if style.align != Align::Justify || !matches!(mark, Mark::None) {
            return self.one_paragraph(content, style, mark, relationships, lost_links);
        }
        // Readers stretch justified lines that end with a break, but not the last of a paragraph.
        let last = content.iter().filter(|inline| is_break(inline)).count();
        let mut xml = String::new();
        for (index, line) in content.split(is_break).enumerate() {
            let mut style = style.clone();
            if index > 0 {
                (style.space_before, style.indent_first_line) = (0.0, 0.0);
            }
            if index < last {
                style.space_after = 0.0;
            }
            xml += &self.one_paragraph(line, &style, mark, relationships, lost_links);
        }
        xml
    }

    fn one_paragraph(
        &self,
        content: &[Inline],
        style: &Style,
        mark: Mark,
        relationships: &mut Relationships,
        lost_links: &mut bool,
    ) -> String {
        work::check();
        let mut xml = String::from("<a:p>");
        self.properties(&mut xml, style, mark);
        for inline in content {
            match inline {
                Inline::Text { text, style, link } => {
                    let link = match link.as_deref() {
                        Some(link) if !safe_link(link) => {
                            *lost_links = true;
                            None
                        }
                        Some(link) => Some(relationships.link(link)),
                        None => None,
                    };
                    xml.push_str("<a:r>");
                    self.run(
                        &mut xml,
                        "rPr",
                        &self.document.styles[*style],
                        link.as_deref(),
                    );
                    push_run_text(&mut xml, text);
                    xml.push_str("</a:r>");
                }
                Inline::Break => xml.push_str("<a:br/>"),
                Inline::PageNumber(style) => {
                    xml.push_str(
                        "<a:fld id=\"{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}\" type=\"slidenum\">",
                    );
                    self.run(&mut xml, "rPr", &self.document.styles[*style], None);
                    xml.push_str("<a:t>1</a:t></a:fld>");
                }
                Inline::Number(number) => {
                    xml.push_str("<a:r>");
                    self.run(&mut xml, "rPr", &self.document.styles[number.style], None);
                    push_run_text(&mut xml, &format!("{}{}", number.text, number.gap()));
                    xml.push_str("</a:r>");
                }
                // What slides lack of these is reported for the document as a whole.
                Inline::PageField { .. } => {}
                Inline::PageOf { style, .. } => {
                    xml.push_str("<a:r>");
                    self.run(&mut xml, "rPr", &self.document.styles[*style], None);
                    push_run_text(&mut xml, "…");
                    xml.push_str("</a:r>");
                }
                // PresentationML has no field for the number of slides.
                Inline::PageCount(_) => {}
                Inline::Footnote { index, style } => {
                    let raised = Style {
                        baseline: Baseline::Superscript,
                        ..self.document.styles[*style].clone()
                    };
                    xml.push_str("<a:r>");
                    self.run(&mut xml, "rPr", &raised, None);
                    let _ = write!(xml, "<a:t>{}</a:t></a:r>", u64::from(*index) + 1);
                }
            }
        }
        xml.push_str("</a:p>");
        xml
    }

    fn properties(&self, xml: &mut String, style: &Style, mark: Mark) {
        let (left, hang) = match mark {
            Mark::None => (
                style.indent_start * self.scale,
                style.indent_first_line * self.scale,
            ),
            _ => (self.indent(mark), -13.0 * self.scale),
        };
        let level = mark.level().unwrap_or(0).min(8);
        let _ = write!(
            xml,
            "<a:pPr marL=\"{}\" indent=\"{}\" lvl=\"{level}\" algn=\"{}\" rtl=\"{}\"><a:lnSpc>\
             <a:spcPts val=\"{}\"/></a:lnSpc><a:spcBef><a:spcPts val=\"{}\"/></a:spcBef><a:spcAft>\
             <a:spcPts val=\"{}\"/></a:spcAft>",
            emu(left).clamp(0, 51_206_400),
            emu(hang).clamp(-51_206_400, 51_206_400),
            match style.align {
                // Justified with low kashidas.
                Align::Justify if style.kashida => "justLow",
                other => align(other, self.rtl),
            },
            u8::from(self.rtl),
            // In points: a percentage would refer to the line height of whatever font the reader
            // has.
            (self.line_height(style) * 100.0).clamp(100.0, 158_400.0) as i32,
            (style.space_before * self.scale * 100.0).clamp(0.0, 158_400.0) as i32,
            (style.space_after * self.scale * 100.0).clamp(0.0, 158_400.0) as i32,
        );
        match mark {
            Mark::None | Mark::Text(_) => xml.push_str("<a:buNone/>"),
            Mark::Bullet(level) => {
                let bullet = BULLETS[level % 3];
                let _ = write!(
                    xml,
                    "<a:buFont typeface=\"Arial\"/><a:buChar char=\"{bullet}\"/>"
                );
            }
            Mark::Number(level, number) => {
                let kind = ["arabicPeriod", "alphaLcPeriod", "romanLcPeriod"][level % 3];
                automatic(xml, kind, number);
            }
            Mark::Scheme(_, kind, number) => automatic(xml, kind, number),
        }
        if !style.tabs.is_empty() {
            xml.push_str("<a:tabLst>");
            for stop in style.tabs.iter() {
                let position = emu(stop.position * self.scale).clamp(0, 51_206_400);
                let align = match stop.align {
                    TabAlign::Start => "l",
                    TabAlign::End => "r",
                    TabAlign::Center => "ctr",
                    TabAlign::Decimal => "dec",
                };
                let _ = write!(xml, "<a:tab pos=\"{position}\" algn=\"{align}\"/>");
            }
            xml.push_str("</a:tabLst>");
        }
        xml.push_str("</a:pPr>");
    }

    /// Writes run properties; `name` is `rPr` or `endParaRPr`.
    pub fn run(&self, xml: &mut String, name: &str, style: &Style, link: Option<&str>) {
        let size = (style.font_size * self.scale * 100.0)
            .round()
            .clamp(100.0, 400_000.0) as i32;
        let _ = write!(
            xml,
            "<a:{name} lang=\"{}\" sz=\"{size}\"",
            Escaped(style.lang.as_deref().unwrap_or(&self.document.language))
        );
        if style.bold {
            xml.push_str(" b=\"1\"");
        }
        if style.italic {
            xml.push_str(" i=\"1\"");
        }
        if style.underline {
            xml.push_str(" u=\"sng\"");
        }
        if style.strike {
            xml.push_str(" strike=\"sngStrike\"");
        }
        match style.baseline {
            Baseline::Normal => {}
            Baseline::Superscript => xml.push_str(" baseline=\"30000\""),
            Baseline::Subscript => xml.push_str(" baseline=\"-20000\""),
        }
        if style.letter_spacing != 0.0 {
            let spacing = (style.letter_spacing * self.scale * 100.0).clamp(-4000.0, 4000.0);
            let _ = write!(xml, " spc=\"{}\"", spacing as i32);
        }
        xml.push('>');
        xml.push_str(&solid(style.color));
        // Text without a font of its own uses the theme's, which is the body font.
        let body = &self.document.styles[self.document.named.body].font_families;
        if style.font_families.first() != body.first() {
            let family = Escaped(style.font_families.first().map_or("", String::as_str));
            let _ = write!(
                xml,
                "<a:latin typeface=\"{family}\"/><a:ea typeface=\"{family}\"/><a:cs typeface=\"{family}\"/>"
            );
        }
        if let Some(id) = link {
            let _ = write!(xml, "<a:hlinkClick r:id=\"{id}\"/>");
        }
        let _ = write!(xml, "</a:{name}>");
    }
}

/// Writes the text of a run. Line breaks are not text in DrawingML, so they become spaces.
pub(super) fn push_run_text(xml: &mut String, text: &str) {
    xml.push_str("<a:t>");
    if text.contains(['\n', '\r']) {
        push_escaped(xml, &text.replace(['\n', '\r'], " "));
    } else {
        push_escaped(xml, text);
    }
    xml.push_str("</a:t>");
}

/// Splits `content` at byte `end` of its plain text, but never before its first piece, so that
/// whoever goes on with the remainder comes to an end.
pub(super) fn cut(content: &[Inline], end: usize) -> (Vec<Inline>, Vec<Inline>) {
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    let mut start = 0;
    for inline in content {
        let length = plain_text(std::slice::from_ref(inline)).len();
        match inline {
            Inline::Text { text, style, link } if start < end && start + length > end => {
                let part = |part: &str| Inline::Text {
                    text: part.into(),
                    style: *style,
                    link: link.clone(),
                };
                let (before, after) = text.split_at(end - start);
                head.push(part(before));
                tail.push(part(after));
            }
            // A footnote reference belongs to the text before it.
            _ if start + length <= end || start == 0 => head.push(inline.clone()),
            _ => tail.push(inline.clone()),
        }
        start += length;
    }
    (head, tail)
}

pub(super) fn align(align: Align, rtl: bool) -> &'static str {
    match (align, rtl) {
        (Align::Start | Align::Left, false) | (Align::End | Align::Left, true) => "l",
        (Align::Decimal, _)
        | (Align::End | Align::Right, false)
        | (Align::Start | Align::Right, true) => "r",
        (Align::Center, _) => "ctr",
        (Align::Justify, _) => "just",
    }
}

#[cfg(test)]
mod tests {
    use platen_document::bound::{Counted, Number};

    use super::*;

    #[test]
    fn a_number_wider_than_its_line_is_cut_off_whole() {
        let style = StyleId::default();
        let number = Inline::Number(Box::new(Number {
            text: "Figure 12:".into(),
            full: "12".into(),
            style,
            series: Counted::Figures,
        }));
        let text = Inline::text("caption", style);
        let (head, tail) = cut(&[number.clone(), text.clone()], "Figure ".len());
        assert_eq!(head, [number]);
        assert_eq!(tail, [text]);
    }
}
