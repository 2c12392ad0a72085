//! Form fields as content controls, ISO/IEC 29500-1 §17.5.2; check boxes as those of Word 2010,
//! \[MS-DOCX\] §2.6.1.

use std::{collections::HashSet, fmt::Write as _};

use platen_document::bound::{
    Border, FormField, FormFieldKind, FormOption, Inline, LineStyle, StyleId,
};

use super::{
    Writer,
    paragraph::{Frame, border_element, has_right_to_left, push_text},
};
use crate::{
    calendar::is_iso_date,
    ooxml::{Escaped, twips},
};

/// Characters of a check box, and the font that has them in Word.
const CHECKED: char = '\u{2612}';
const UNCHECKED: char = '\u{2610}';
const MARKS: &str = "MS Gothic";

/// Longest title and tag of a content control in Word, in UTF-16 units.
const LONGEST_NAME: usize = 64;

impl<'a> Writer<'a> {
    pub(super) fn form_field(&mut self, field: &'a FormField, id: StyleId, width: f32) {
        match &field.kind {
            FormFieldKind::CheckBox { checked } => {
                let label = match &field.label {
                    Some(label) => label.clone(),
                    None => vec![Inline::text(field.purpose.as_str(), id)],
                };
                self.marked(field, *checked, &label, id);
            }
            FormFieldKind::Radio(_) => {
                self.field_label(field, id);
                let chosen = field.chosen();
                for (index, option) in field.options().iter().enumerate() {
                    let label = [Inline::text(option.label.as_str(), id)];
                    self.marked(field, chosen == Some(index), &label, id);
                }
            }
            FormFieldKind::Button { .. } => {
                self.report.warn(
                    "form-field-as-text",
                    self.path,
                    "Word has no buttons that send or clear a form: the button is omitted",
                );
            }
            _ => {
                self.field_label(field, id);
                self.boxed(field, id, width);
            }
        }
    }

    fn field_label(&mut self, field: &'a FormField, id: StyleId) {
        if let Some(label) = &field.label {
            let before = std::mem::replace(&mut self.keep_with_next, true);
            let style = match label.first() {
                Some(Inline::Text { style, .. }) => *style,
                _ => id,
            };
            self.paragraph(label, style, Frame::Cell);
            self.keep_with_next = before;
        }
    }

    /// A check box with its label.
    fn marked(&mut self, field: &FormField, checked: bool, label: &[Inline], id: StyleId) {
        let base = self.styles.base(id);
        let properties = self.properties(id, base, Frame::Block);
        self.open(&properties);
        let mark = if checked { CHECKED } else { UNCHECKED };
        let state = u8::from(checked);
        self.control_start(field);
        let _ = write!(
            self.out,
            "<w14:checkbox><w14:checked w14:val=\"{state}\"/>\
             <w14:checkedState w14:val=\"{:04X}\" w14:font=\"{MARKS}\"/>\
             <w14:uncheckedState w14:val=\"{:04X}\" w14:font=\"{MARKS}\"/></w14:checkbox>\
             </w:sdtPr><w:sdtContent><w:r><w:rPr><w:rFonts w:ascii=\"{MARKS}\" \
             w:hAnsi=\"{MARKS}\" w:eastAsia=\"{MARKS}\" w:hint=\"eastAsia\"/></w:rPr>\
             <w:t>{mark}</w:t></w:r></w:sdtContent></w:sdt>",
            u32::from(CHECKED),
            u32::from(UNCHECKED),
        );
        self.text(" ", id, id, base);
        self.inlines(label, id, base);
        self.out.push_str("</w:p>");
    }

    /// A box with a text, date or choice.
    fn boxed(&mut self, field: &FormField, id: StyleId, width: f32) {
        let base = self.styles.base(id);
        let mut properties = self.properties(id, base, Frame::Cell);
        let border = Border {
            width: 0.75,
            color: self.document.theme.muted,
            style: LineStyle::Solid,
        };
        for side in ["top", "left", "bottom", "right"] {
            properties.borders += &border_element(side, &border, 2);
        }
        let end = field.width.map_or(0.0, |own| (width - own).max(0.0));
        properties.indent = format!("<w:ind w:left=\"0\" w:right=\"{}\"/>", twips(end));
        let after = twips(self.document.styles[id].space_after).max(60);
        properties.spacing = format!("<w:spacing w:before=\"40\" w:after=\"{after}\"/>");
        self.open(&properties);
        self.control_start(field);
        match &field.kind {
            FormFieldKind::DropDown(options) => self.drop_down(options),
            FormFieldKind::Date => {
                let date = match is_iso_date(&field.value) {
                    true => format!(" w:fullDate=\"{}T00:00:00Z\"", field.value),
                    false => String::new(),
                };
                let _ = write!(
                    self.out,
                    "<w:date{date}><w:dateFormat w:val=\"yyyy-MM-dd\"/><w:lid w:val=\"{}\"/>\
                     <w:storeMappedDataAs w:val=\"dateTime\"/><w:calendar w:val=\"gregorian\"/>\
                     </w:date>",
                    Escaped(&self.document.language)
                );
            }
            FormFieldKind::Text { lines, .. } if *lines > 1 => {
                self.out.push_str("<w:text w:multiLine=\"1\"/>");
            }
            _ => self.out.push_str("<w:text/>"),
        }
        self.out.push_str("</w:sdtPr><w:sdtContent>");
        self.out.push_str("<w:r>");
        self.out.push_str(
            self.styles
                .run(id, id, base, has_right_to_left(field.shown())),
        );
        // One run: LibreOffice puts breaks between the runs of a control elsewhere.
        for (index, line) in field.shown().split('\n').enumerate() {
            if index > 0 {
                self.out.push_str("<w:br/>");
            }
            // A control must have something to click on.
            let text = if field.shown().is_empty() {
                "\u{2003}"
            } else {
                line
            };
            push_text(&mut self.out, text);
        }
        self.out.push_str("</w:r>");
        self.out.push_str("</w:sdtContent></w:sdt></w:p>");
    }

    /// Writes what a drop-down offers. Word does not open a file in which an option is empty, or two
    /// have the same label or value. A label stands for a value that is missing or taken, and a
    /// value for a missing label; options that are empty or doubled even so are left out.
    fn drop_down(&mut self, options: &[FormOption]) {
        self.out.push_str("<w:dropDownList>");
        let mut labels: HashSet<String> = HashSet::new();
        let mut values: HashSet<String> = HashSet::new();
        for option in options {
            // Escaping drops characters, so that only its result shows what is equal.
            let label = Escaped(&option.label).to_string();
            let value = Escaped(&option.value).to_string();
            let label = if label.is_empty() {
                value.clone()
            } else {
                label
            };
            let value = if value.is_empty() || values.contains(&value) {
                label.clone()
            } else {
                value
            };
            if label.is_empty() || labels.contains(&label) || values.contains(&value) {
                continue;
            }
            let _ = write!(
                self.out,
                "<w:listItem w:displayText=\"{label}\" w:value=\"{value}\"/>"
            );
            labels.insert(label);
            values.insert(value);
        }
        self.out.push_str("</w:dropDownList>");
    }

    /// Opens a content control up to what its kind says.
    fn control_start(&mut self, field: &FormField) {
        let (purpose, name) = (cut(&field.purpose), cut(&field.name));
        let (purpose, name) = (Escaped(purpose), Escaped(name));
        let lock = match field.read_only {
            true => "sdtContentLocked",
            false => "sdtLocked",
        };
        let _ = write!(
            self.out,
            "<w:sdt><w:sdtPr><w:alias w:val=\"{purpose}\"/><w:tag w:val=\"{name}\"/>\
             <w:lock w:val=\"{lock}\"/>"
        );
    }
}

/// As much of a title or tag as Word takes.
fn cut(text: &str) -> &str {
    let mut units = 0;
    let mut places = text.char_indices();
    let end = places.find(|(_, symbol)| {
        units += symbol.len_utf16();
        units > LONGEST_NAME
    });
    end.map_or(text, |(at, _)| &text[..at])
}
