//! The parts `settings.xml` and `fontTable.xml`.

use std::{collections::BTreeSet, fmt::Write as _};

use platen_document::{
    Color,
    bound::{Document, Section},
};

use super::NAMESPACES;
use crate::ooxml::{DECLARATION, Escaped};

/// The part `settings.xml`. Compatibility mode 15 selects the layout of Word 2013 and later.
pub(super) fn settings(document: &Document) -> String {
    let hyphenate = document.styles.iter().any(|(_, style)| style.hyphenate);
    let hyphenation = if hyphenate {
        "<w:autoHyphenation/><w:consecutiveHyphenLimit w:val=\"2\"/>"
    } else {
        ""
    };
    let even = document.sections.iter().any(has_even);
    let even = if even { "<w:evenAndOddHeaders/>" } else { "" };
    let background = match page_color(document) {
        Some(_) => "<w:displayBackgroundShape/>",
        None => "",
    };
    let language = Escaped(&document.language);
    format!(
        "{DECLARATION}<w:settings {NAMESPACES}><w:zoom w:percent=\"100\"/>{background}\
         <w:defaultTabStop w:val=\"720\"/>{hyphenation}{even}\
         <w:characterSpacingControl w:val=\"doNotCompress\"/><w:footnotePr>\
         <w:footnote w:id=\"-1\"/><w:footnote w:id=\"0\"/></w:footnotePr><w:compat>\
         <w:doNotExpandShiftReturn/><w:compatSetting w:name=\"compatibilityMode\" \
         w:uri=\"http://schemas.microsoft.com/office/word\" w:val=\"15\"/></w:compat>\
         <w:themeFontLang w:val=\"{language}\"/><w:decimalSymbol w:val=\".\"/>\
         <w:listSeparator w:val=\",\"/></w:settings>"
    )
}

/// The color of all pages, if they have one: Word has no other.
pub(super) fn page_color(document: &Document) -> Option<Color> {
    let mut colors = document.sections.iter().map(|section| {
        let first = section.first_background.as_ref();
        let other = first.is_some_and(|first| first.color != section.background.color);
        section.background.color.filter(|_| !other)
    });
    let color = colors.next()??;
    colors.all(|other| other == Some(color)).then_some(color)
}

/// Whether the section has its own header or footer on even pages.
pub(super) fn has_even(section: &Section) -> bool {
    section.even_header.is_some() || section.even_footer.is_some()
}

/// The part `fontTable.xml`: the first family of every style, with a guess at its kind for font
/// substitution.
pub(super) fn font_table(document: &Document) -> String {
    let families: BTreeSet<&str> = document
        .styles
        .iter()
        .filter_map(|(_, style)| style.font_families.first().map(String::as_str))
        .collect();
    let mut xml = format!("{DECLARATION}<w:fonts {NAMESPACES}>");
    for family in families {
        let lower = family.to_ascii_lowercase();
        let (kind, pitch) = if lower.contains("mono") || lower.contains("courier") {
            ("modern", "fixed")
        } else if lower.contains("serif") || lower.contains("times") {
            ("roman", "variable")
        } else {
            ("swiss", "variable")
        };
        let _ = write!(
            xml,
            "<w:font w:name=\"{}\"><w:family w:val=\"{kind}\"/><w:pitch w:val=\"{pitch}\"/></w:font>",
            Escaped(family)
        );
    }
    xml.push_str("</w:fonts>");
    xml
}
