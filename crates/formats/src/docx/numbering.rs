//! Lists: the part `numbering.xml` (ECMA-376-1 §17.9).

use std::fmt::Write as _;

use super::NAMESPACES;
use crate::ooxml::DECLARATION;

/// The deepest list level of Word, counted from 0.
pub(super) const DEEPEST: usize = 8;

/// The list instances of a document. Each numbered list gets its own, so that it counts from its
/// own start.
#[derive(Default)]
pub(super) struct Numbering {
    /// Level and first number of each numbered list.
    numbered: Vec<(usize, u32)>,
}

/// `numId` shared by all bullet lists.
const BULLETS: usize = 1;

impl Numbering {
    /// The `numId` of a list at `level`, registering a numbered one.
    pub fn list(&mut self, ordered: bool, level: usize, start: u32) -> usize {
        if !ordered {
            return BULLETS;
        }
        self.numbered.push((level, start));
        BULLETS + self.numbered.len()
    }

    pub fn to_xml(&self) -> String {
        let mut xml = format!("{DECLARATION}<w:numbering {NAMESPACES}>");
        let bullets = ["•", "–", "▪"];
        abstract_list(&mut xml, 0, |level| {
            ("bullet", bullets[level % 3].to_owned())
        });
        abstract_list(&mut xml, 1, |level| {
            let format = ["decimal", "lowerLetter", "lowerRoman"][level % 3];
            (format, format!("%{}.", level + 1))
        });
        let _ = write!(
            xml,
            "<w:num w:numId=\"{BULLETS}\"><w:abstractNumId w:val=\"0\"/></w:num>"
        );
        for (index, (level, start)) in self.numbered.iter().enumerate() {
            let _ = write!(
                xml,
                "<w:num w:numId=\"{}\"><w:abstractNumId w:val=\"1\"/>\
                 <w:lvlOverride w:ilvl=\"{level}\"><w:startOverride w:val=\"{start}\"/>\
                 </w:lvlOverride></w:num>",
                BULLETS + index + 1
            );
        }
        xml.push_str("</w:numbering>");
        xml
    }
}

/// Indent of a list level, in twentieths of a point.
pub(super) fn indent(level: usize) -> usize {
    360 * (level + 1)
}

fn abstract_list(xml: &mut String, id: u32, level: impl Fn(usize) -> (&'static str, String)) {
    let _ = write!(
        xml,
        "<w:abstractNum w:abstractNumId=\"{id}\"><w:multiLevelType w:val=\"hybridMultilevel\"/>"
    );
    for index in 0..=DEEPEST {
        let (format, text) = level(index);
        let _ = write!(
            xml,
            "<w:lvl w:ilvl=\"{index}\"><w:start w:val=\"1\"/><w:numFmt w:val=\"{format}\"/>\
             <w:lvlText w:val=\"{text}\"/><w:lvlJc w:val=\"left\"/><w:pPr>\
             <w:ind w:left=\"{}\" w:hanging=\"300\"/></w:pPr></w:lvl>",
            indent(index)
        );
    }
    xml.push_str("</w:abstractNum>");
}
