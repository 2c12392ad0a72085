//! Styles: the part `styles.xml`, and the direct formatting of text that differs from its Word
//! style.

use std::fmt::Write as _;

use platen_document::bound::{Baseline, Document, Style, StyleId};
use rustc_hash::FxHashMap;

use super::{NAMESPACES, paragraph_properties::ParagraphProperties};
use crate::ooxml::{DECLARATION, Escaped, twips};

/// Index of a Word paragraph style; 0 is `Normal`.
pub(super) type Base = usize;

/// A Word paragraph style derived from a named style.
struct Named {
    id: String,
    name: String,
    style: Style,
    /// Outline level of a heading, from 0.
    outline: Option<u8>,
}

/// Most styles of cells. A rule may give each row another look, and Word lists every style.
const MOST_CELL_STYLES: usize = 100;

/// A Word paragraph style of the plain cells of a long table.
struct CellStyle {
    id: String,
    base: Base,
    /// The contents of `pPr`, and the element `rPr`.
    paragraph: String,
    run: String,
}

pub(super) struct Styles<'a> {
    document: &'a Document,
    cells: Vec<CellStyle>,
    named: Vec<Named>,
    by_name: FxHashMap<String, Base>,
    by_id: FxHashMap<StyleId, Base>,
    /// Run properties by text style, paragraph style and direction: most texts share a few.
    runs: FxHashMap<(StyleId, StyleId, bool), String>,
    rtl: bool,
}

impl<'a> Styles<'a> {
    pub fn new(document: &'a Document) -> Self {
        let mut styles = Self {
            document,
            cells: Vec::new(),
            named: Vec::new(),
            by_name: FxHashMap::default(),
            by_id: FxHashMap::default(),
            runs: FxHashMap::default(),
            rtl: document.direction == platen_document::bound::Direction::RightToLeft,
        };
        let names = &document.named;
        styles.add(names.body, "Normal", "Normal", None);
        for (index, id) in names.headings.iter().enumerate() {
            let level = index as u8 + 1;
            styles.add(
                *id,
                &format!("Heading{level}"),
                &format!("heading {level}"),
                Some(index as u8),
            );
        }
        styles.add(names.caption, "Caption", "caption", None);
        styles.add(names.footnote, "FootnoteText", "footnote text", None);
        for level in 1..=6 {
            styles.add(
                names.toc_entry,
                &format!("TOC{level}"),
                &format!("toc {level}"),
                None,
            );
        }
        styles.add(names.label, "Label", "Label", None);
        styles.add(names.small, "Small", "Small", None);
        styles.add(names.body, "ListParagraph", "List Paragraph", None);
        let mut taken: Vec<String> = styles
            .named
            .iter()
            .map(|n| n.id.to_ascii_lowercase())
            .collect();
        for (id, style) in document.styles.iter() {
            let Some(name) = style
                .name
                .as_deref()
                .filter(|name| !styles.by_name.contains_key(*name))
            else {
                continue;
            };
            let (word_id, word_name) = if name == "title" {
                ("Title".to_owned(), "Title".to_owned())
            } else {
                (custom_id(name, &taken), format!("Platen {name}"))
            };
            taken.push(word_id.to_ascii_lowercase());
            styles.add(id, &word_id, &word_name, None);
        }
        styles
    }

    fn add(&mut self, id: StyleId, word_id: &str, word_name: &str, outline: Option<u8>) {
        let style = self.document.styles[id].clone();
        let base = self.named.len();
        self.by_id.entry(id).or_insert(base);
        if let Some(name) = &style.name {
            self.by_name.entry(name.to_string()).or_insert(base);
        }
        self.named.push(Named {
            id: word_id.to_owned(),
            name: word_name.to_owned(),
            style,
            outline,
        });
    }

    /// The Word style to which text of style `id` belongs.
    pub fn base(&self, id: StyleId) -> Base {
        if let Some(base) = self.by_id.get(&id) {
            return *base;
        }
        let name = self.document.styles[id].name.as_deref();
        name.and_then(|name| self.by_name.get(name))
            .copied()
            .unwrap_or(0)
    }

    /// The Word style with the id `word_id`; `Normal` if there is none.
    pub fn base_named(&self, word_id: &str) -> Base {
        self.named
            .iter()
            .position(|named| named.id == word_id)
            .unwrap_or(0)
    }

    pub fn word_id(&self, base: Base) -> &str {
        &self.named[base].id
    }

    pub fn base_style(&self, base: Base) -> &Style {
        &self.named[base].style
    }

    /// Run properties of text in style `id`, inside a paragraph of style `paragraph` based on
    /// `base`. `rtl`: the text contains right-to-left letters.
    pub fn run(&mut self, id: StyleId, paragraph: StyleId, base: Base, rtl: bool) -> &str {
        self.runs.entry((id, paragraph, rtl)).or_insert_with(|| {
            let style = &self.document.styles[id];
            let mut xml = String::new();
            run_properties(&mut xml, style, Some(&self.named[base].style));
            let around = self.document.styles[paragraph].background;
            if let Some(color) = style.background.filter(|color| Some(*color) != around) {
                let shade = format!(
                    "<w:shd w:val=\"clear\" w:color=\"auto\" w:fill=\"{}\"/>",
                    color.to_hex()
                );
                // `shd` precedes `vertAlign` in the schema's sequence.
                let at = xml.find("<w:vertAlign").unwrap_or(xml.len());
                xml.insert_str(at, &shade);
            }
            if rtl {
                xml.push_str("<w:rtl/>");
            }
            if xml.is_empty() {
                xml
            } else {
                format!("<w:rPr>{xml}</w:rPr>")
            }
        })
    }

    /// Id of the Word style for cells that differ from `base` by the properties `paragraph` and by
    /// `run`, the element `rPr` of their text.
    ///
    /// `None` if there are [`MOST_CELL_STYLES`] others, or where the defaults of the document are
    /// bold or the like: what defaults switch on, a style does not switch off (ECMA-376-1 §17.7.3).
    pub fn cell(&mut self, base: Base, paragraph: &str, run: &str) -> Option<&str> {
        let body = &self.named[0].style;
        if body.bold || body.italic || body.strike || has_small_caps(body) {
            return None;
        }
        let known = self
            .cells
            .iter()
            .position(|it| it.base == base && it.paragraph == paragraph && it.run == run);
        if known.is_none() && self.cells.len() >= MOST_CELL_STYLES {
            return None;
        }
        let index = known.unwrap_or_else(|| {
            let ids = self.named.iter().map(|named| named.id.as_str());
            let ids = ids.chain(self.cells.iter().map(|cell| cell.id.as_str()));
            let taken: Vec<String> = ids.map(str::to_ascii_lowercase).collect();
            let name = format!("TableCell{}", self.cells.len() + 1);
            self.cells.push(CellStyle {
                id: custom_id(&name, &taken),
                base,
                paragraph: paragraph.to_owned(),
                run: run.to_owned(),
            });
            self.cells.len() - 1
        });
        Some(&self.cells[index].id)
    }

    /// The part `styles.xml`.
    pub fn to_xml(&self) -> String {
        let language = Escaped(&self.document.language);
        let mut xml =
            format!("{DECLARATION}<w:styles {NAMESPACES}><w:docDefaults><w:rPrDefault><w:rPr>");
        let mut properties = String::new();
        run_properties(&mut properties, &self.named[0].style, None);
        xml.push_str(&properties);
        let _ = write!(
            xml,
            "<w:lang w:val=\"{language}\" w:eastAsia=\"{language}\" w:bidi=\"{language}\"/></w:rPr>\
             </w:rPrDefault><w:pPrDefault/></w:docDefaults>"
        );
        for (index, named) in self.named.iter().enumerate() {
            self.paragraph_style(&mut xml, index, named);
        }
        for (index, cell) in self.cells.iter().enumerate() {
            let CellStyle {
                id, paragraph, run, ..
            } = cell;
            let number = index + 1;
            let base = self.word_id(cell.base);
            let _ = write!(
                xml,
                "<w:style w:type=\"paragraph\" w:customStyle=\"1\" w:styleId=\"{id}\">\
                 <w:name w:val=\"Table Cell {number}\"/><w:basedOn w:val=\"{base}\"/>\
                 <w:uiPriority w:val=\"99\"/><w:pPr>{paragraph}</w:pPr>{run}</w:style>"
            );
        }
        xml.push_str(CHARACTER_AND_TABLE_STYLES);
        let link = self.document.theme.primary.to_hex();
        let _ = write!(
            xml,
            "<w:style w:type=\"character\" w:styleId=\"Hyperlink\"><w:name w:val=\"Hyperlink\"/>\
             <w:basedOn w:val=\"DefaultParagraphFont\"/><w:uiPriority w:val=\"99\"/>\
             <w:unhideWhenUsed/><w:rPr><w:color w:val=\"{link}\"/><w:u w:val=\"single\"/></w:rPr>\
             </w:style></w:styles>"
        );
        xml
    }

    fn paragraph_style(&self, xml: &mut String, index: Base, named: &Named) {
        let default = if index == 0 { " w:default=\"1\"" } else { "" };
        let custom = if matches!(named.id.as_str(), "Label" | "Small")
            || named.name.starts_with("Platen ")
        {
            " w:customStyle=\"1\""
        } else {
            ""
        };
        let _ = write!(
            xml,
            "<w:style w:type=\"paragraph\"{default}{custom} w:styleId=\"{}\"><w:name w:val=\"{}\"/>",
            named.id,
            Escaped(&named.name)
        );
        if index > 0 {
            xml.push_str("<w:basedOn w:val=\"Normal\"/>");
        }
        if named.outline.is_some() {
            xml.push_str("<w:next w:val=\"Normal\"/>");
        }
        xml.push_str("<w:qFormat/>");
        let normal = (index > 0).then(|| &self.named[0].style);
        let mut paragraph = ParagraphProperties::default();
        paragraph.compare(&named.style, normal, f32::INFINITY, self.rtl);
        if let Some(level) = named
            .id
            .strip_prefix("TOC")
            .and_then(|level| level.parse::<i32>().ok())
        {
            let start = twips(named.style.indent_start) + (level - 1) * TOC_INDENT;
            paragraph.indent = format!("<w:ind w:left=\"{start}\"/>");
        }
        if !self
            .document
            .styles
            .iter()
            .any(|(_, style)| style.hyphenate)
        {
            paragraph.suppress_hyphens = None;
        }
        paragraph.bidi = (self.rtl && index == 0).then_some(true);
        paragraph.outline = named.outline;
        let properties = paragraph.to_xml();
        if !properties.is_empty() {
            let _ = write!(xml, "<w:pPr>{properties}</w:pPr>");
        }
        if index > 0 {
            let mut run = String::new();
            run_properties(&mut run, &named.style, normal);
            if !run.is_empty() {
                let _ = write!(xml, "<w:rPr>{run}</w:rPr>");
            }
        }
        xml.push_str("</w:style>");
    }
}

/// Indentation of a level of the table of contents, in twips.
const TOC_INDENT: i32 = 280;

const CHARACTER_AND_TABLE_STYLES: &str = "<w:style w:type=\"character\" w:default=\"1\" \
    w:styleId=\"DefaultParagraphFont\"><w:name w:val=\"Default Paragraph Font\"/>\
    <w:uiPriority w:val=\"1\"/><w:semiHidden/><w:unhideWhenUsed/></w:style>\
    <w:style w:type=\"table\" w:default=\"1\" w:styleId=\"TableNormal\">\
    <w:name w:val=\"Normal Table\"/><w:uiPriority w:val=\"99\"/><w:semiHidden/><w:unhideWhenUsed/>\
    <w:tblPr><w:tblInd w:w=\"0\" w:type=\"dxa\"/><w:tblCellMar><w:top w:w=\"0\" w:type=\"dxa\"/>\
    <w:left w:w=\"0\" w:type=\"dxa\"/><w:bottom w:w=\"0\" w:type=\"dxa\"/>\
    <w:right w:w=\"0\" w:type=\"dxa\"/></w:tblCellMar></w:tblPr></w:style>\
    <w:style w:type=\"table\" w:customStyle=\"1\" w:styleId=\"PlatenTable\">\
    <w:name w:val=\"Platen Table\"/><w:basedOn w:val=\"TableNormal\"/><w:uiPriority w:val=\"59\"/>\
    <w:qFormat/></w:style>\
    <w:style w:type=\"numbering\" w:default=\"1\" w:styleId=\"NoList\"><w:name w:val=\"No List\"/>\
    <w:uiPriority w:val=\"99\"/><w:semiHidden/><w:unhideWhenUsed/></w:style>\
    <w:style w:type=\"character\" w:styleId=\"FootnoteReference\">\
    <w:name w:val=\"footnote reference\"/><w:basedOn w:val=\"DefaultParagraphFont\"/>\
    <w:uiPriority w:val=\"99\"/><w:unhideWhenUsed/><w:rPr><w:vertAlign w:val=\"superscript\"/></w:rPr>\
    </w:style>";

/// A style id of ASCII letters and digits that is not yet `taken`. Word compares ids without case.
fn custom_id(name: &str, taken: &[String]) -> String {
    let mut id: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    if id.is_empty() {
        id.push_str("Style");
    }
    let stem = id.clone();
    let mut number = 2;
    while taken.contains(&id.to_ascii_lowercase()) {
        id = format!("{stem}{number}");
        number += 1;
    }
    id
}

/// Whether small letters are small capitals.
pub(super) fn has_small_caps(style: &Style) -> bool {
    let features = &style.font_features;
    features.iter().any(|it| it.tag == *b"smcp" && it.value > 0)
}

/// Appends the run properties in which `style` differs from `base`, in schema order; without a
/// base, all of them.
pub(super) fn run_properties(xml: &mut String, style: &Style, base: Option<&Style>) {
    let differs =
        |pick: fn(&Style) -> bool| base.map_or(pick(style), |base| pick(style) != pick(base));
    let on = |value: bool| if value { "" } else { " w:val=\"0\"" };
    let family = |style: &Style| style.font_families.first().cloned().unwrap_or_default();
    if base.is_none_or(|base| family(base) != family(style)) {
        let name = family(style);
        let name = Escaped(&name);
        let _ = write!(
            xml,
            "<w:rFonts w:ascii=\"{name}\" w:hAnsi=\"{name}\" w:eastAsia=\"{name}\" w:cs=\"{name}\"/>"
        );
    }
    if differs(|style| style.bold) {
        let on = on(style.bold);
        let _ = write!(xml, "<w:b{on}/><w:bCs{on}/>");
    }
    if differs(|style| style.italic) {
        let on = on(style.italic);
        let _ = write!(xml, "<w:i{on}/><w:iCs{on}/>");
    }
    if differs(has_small_caps) {
        let _ = write!(xml, "<w:smallCaps{}/>", on(has_small_caps(style)));
    }
    if differs(|style| style.strike) {
        let _ = write!(xml, "<w:strike{}/>", on(style.strike));
    }
    if base.is_none_or(|base| base.color != style.color) {
        let _ = write!(xml, "<w:color w:val=\"{}\"/>", style.color.to_hex());
    }
    if base.map_or(style.letter_spacing != 0.0, |base| {
        base.letter_spacing != style.letter_spacing
    }) {
        let _ = write!(
            xml,
            "<w:spacing w:val=\"{}\"/>",
            twips(style.letter_spacing)
        );
    }
    let half_points = |style: &Style| (style.font_size * 2.0).round().clamp(2.0, 3276.0) as i32;
    if base.is_none_or(|base| half_points(base) != half_points(style)) {
        let size = half_points(style);
        let _ = write!(xml, "<w:sz w:val=\"{size}\"/><w:szCs w:val=\"{size}\"/>");
    }
    if differs(|style| style.underline) {
        let line = if style.underline { "single" } else { "none" };
        let _ = write!(xml, "<w:u w:val=\"{line}\"/>");
    }
    if base.map_or(style.baseline != Baseline::Normal, |base| {
        base.baseline != style.baseline
    }) {
        let position = match style.baseline {
            Baseline::Normal => "baseline",
            Baseline::Superscript => "superscript",
            Baseline::Subscript => "subscript",
        };
        let _ = write!(xml, "<w:vertAlign w:val=\"{position}\"/>");
    }
    if let Some(lang) = &style.lang
        && base.is_none_or(|base| base.lang != style.lang)
    {
        let _ = write!(xml, "<w:lang w:val=\"{}\"/>", Escaped(lang));
    }
}
