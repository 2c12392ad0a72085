//! Form fields to fill in, ISO 32000-1 §12.7. Each widget has an appearance with embedded fonts, so
//! that a reader shows it without making one, as PDF/A demands.

use std::{collections::HashMap, sync::Arc};

use platen_document::{
    bound::{FormField, FormFieldKind},
    work,
};
use platen_layout::{
    figure::Figure,
    page::{Area, FieldPart, Item, Page, TagId},
};

use super::{
    annotation::AnnotationContext,
    error::Error,
    file::File,
    graphics::Graphics,
    page::{Marks, PageWriter, Sheet},
    syntax::{Reference, Syntax},
};

/// Field flags, ISO 32000-1 §12.7.3.1 and §12.7.4.
mod flags {
    pub const READ_ONLY: i64 = 1;
    pub const REQUIRED: i64 = 1 << 1;
    pub const NO_EXPORT: i64 = 1 << 2;
    pub const MULTI_LINE: i64 = 1 << 12;
    pub const NO_TOGGLE_OFF: i64 = 1 << 14;
    pub const RADIO: i64 = 1 << 15;
    pub const PUSH_BUTTON: i64 = 1 << 16;
    pub const COMBO: i64 = 1 << 17;
}

/// The fields of a document as they are written.
#[derive(Default)]
pub(super) struct Forms {
    /// All fields.
    pub fields: Vec<Reference>,
    /// The names that are taken, each with the number that the next field of that name may get.
    names: HashMap<String, u64>,
    /// Radio buttons by the field that they belong to: its object, its widgets, and what it says.
    groups: Vec<Group>,
    /// Index in `groups` by the address of the bound field.
    known: HashMap<*const FormField, usize>,
    /// Whether text is filled in, for which readers need a font.
    pub takes_text: bool,
    /// Whether a button acts, which PDF/A forbids.
    pub acts: bool,
    /// Whether a page of a PDF that is not PDF/A is behind the text.
    pub unproven: bool,
}

struct Group {
    name: String,
    reference: Reference,
    entries: Vec<u8>,
    widgets: Vec<Reference>,
}

impl Forms {
    /// Takes a field name that nothing has yet. Full stops are replaced: they would nest the field in
    /// another.
    pub fn name(&mut self, name: &str) -> String {
        let name = name.replace('.', "-");
        let Some(mut number) = self.names.get(&name).copied() else {
            self.names.insert(name.clone(), 2);
            return name;
        };
        let numbered = loop {
            work::check();
            let wanted = format!("{name}-{number}");
            number += 1;
            if !self.names.contains_key(&wanted) {
                break wanted;
            }
        };
        self.names.insert(numbered.clone(), 2);
        self.names.insert(name, number);
        numbered
    }

    /// Writes the fields that have several widgets.
    pub fn write(&self, file: &mut File) {
        for group in &self.groups {
            file.object(group.reference, |out| {
                out.raw("<</FT/Btn/T").text(&group.name);
                out.extend_from_slice(&group.entries);
                out.raw("/Kids[");
                for widget in &group.widgets {
                    out.reference(*widget).raw(" ");
                }
                out.raw("]>>");
            });
        }
    }

    /// Writes the entry of the catalog, ISO 32000-1 §12.7.2.
    pub fn catalog(&self, out: &mut Vec<u8>) {
        if self.fields.is_empty() {
            return;
        }
        out.raw("/AcroForm<</Fields[");
        for field in &self.fields {
            out.reference(*field).raw(" ");
        }
        out.raw("]");
        if self.takes_text {
            // Readers set what is filled in with this font, which each of them has.
            out.raw("/DR<</Font<</Helv<</Type/Font/Subtype/Type1/BaseFont/Helvetica");
            out.raw("/Encoding/WinAnsiEncoding>>>>>>/DA(/Helv 0 Tf 0 g)");
        }
        out.raw(">>");
    }
}

/// A widget with what shows its value.
pub(super) struct Widget<'p> {
    pub field: &'p Arc<FormField>,
    pub part: FieldPart,
    pub area: Area,
    pub tag: TagId,
    pub shown: &'p [Item],
    pub mark: Option<&'p Figure>,
}

impl<'a> PageWriter<'a> {
    /// Writes the widget of a field, and the field unless several widgets share it.
    ///
    /// # Errors
    /// [`Error::Image`] if an image in the field is broken.
    pub fn form_field(
        &mut self,
        widget: &Widget<'_>,
        page: &Page,
        mut context: AnnotationContext<'_, 'a>,
    ) -> Result<Reference, Error> {
        let reference = context.file.reserve();
        let key = context.attach(widget.tag, reference, self.places.pages.len());
        let field = widget.field;
        let mut entries = Vec::new();
        match (&field.kind, widget.part) {
            (FormFieldKind::CheckBox { checked }, _) => {
                let name = self.new_field(field, reference);
                entries.raw("/FT/Btn/T").text(&name).raw("/TU");
                entries.text(&field.purpose).raw("/Ff ");
                entries.integer(common(field));
                let state = if *checked {
                    "/V/Yes/AS/Yes"
                } else {
                    "/V/Off/AS/Off"
                };
                entries.raw(state).raw("/MK<</CA(4)>>");
                self.states(&mut entries, "Yes", widget, &mut context);
            }
            (FormFieldKind::Radio(_), FieldPart::Option(index)) => {
                let group = self.group(widget, reference, &mut context);
                let chosen = field.chosen() == Some(index);
                entries.raw("/Parent ").reference(group).raw("/TU");
                entries.text(&format!(
                    "{}: {}",
                    field.purpose,
                    field.options()[index].label
                ));
                let state = index.to_string();
                entries.raw("/AS").name(if chosen { &state } else { "Off" });
                entries.raw("/MK<</CA(l)>>");
                self.states(&mut entries, &state, widget, &mut context);
            }
            _ => {
                let name = self.new_field(field, reference);
                entries
                    .raw("/T")
                    .text(&name)
                    .raw("/TU")
                    .text(&field.purpose);
                self.value_entries(&mut entries, widget);
                let content = self.shown(page, widget, &mut context)?;
                let appearance = self.appearance(widget.area, &content, &mut context);
                entries.raw("/AP<</N ").reference(appearance).raw(">>");
            }
        }
        let home = self.places.pages[context.page];
        context.file.object(reference, |out| {
            out.raw("<</Type/Annot/Subtype/Widget/F 4/P ")
                .reference(home);
            self.rectangle(out, widget.area, context.page);
            super::annotation::parent_key(out, key);
            out.extend_from_slice(&entries);
            out.raw(">>");
        });
        Ok(reference)
    }

    /// Registers a field with one widget. Returns its name.
    fn new_field(&mut self, field: &FormField, reference: Reference) -> String {
        let name = self.forms.name(&field.name);
        self.forms.fields.push(reference);
        name
    }

    /// The field of a radio button, to which the button is added.
    fn group(
        &mut self,
        widget: &Widget<'_>,
        reference: Reference,
        context: &mut AnnotationContext<'_, 'a>,
    ) -> Reference {
        let field = widget.field;
        let address = Arc::as_ptr(field);
        if let Some(index) = self.forms.known.get(&address) {
            let group = &mut self.forms.groups[*index];
            group.widgets.push(reference);
            return group.reference;
        }
        let own = context.file.reserve();
        let name = self.new_field(field, own);
        let mut entries = Vec::new();
        entries.raw("/TU").text(&field.purpose).raw("/Ff ");
        entries.integer(common(field) | flags::RADIO | flags::NO_TOGGLE_OFF);
        entries.raw("/V").name(&match field.chosen() {
            Some(index) => index.to_string(),
            None => "Off".to_owned(),
        });
        // The buttons are called by their numbers; these are the values that they stand for.
        entries.raw("/Opt[");
        for option in field.options() {
            entries.text(&option.value);
        }
        entries.raw("]");
        self.forms.known.insert(address, self.forms.groups.len());
        self.forms.groups.push(Group {
            name,
            reference: own,
            entries,
            widgets: vec![reference],
        });
        own
    }

    /// The entries of a field that holds text, a choice, or acts.
    fn value_entries(&mut self, entries: &mut Vec<u8>, widget: &Widget<'_>) {
        let field = widget.field;
        let mut flag = common(field);
        match &field.kind {
            FormFieldKind::Button { submit } => {
                flag |= flags::PUSH_BUTTON | flags::NO_EXPORT;
                entries
                    .raw("/FT/Btn/MK<</CA")
                    .text(&field.purpose)
                    .raw(">>");
                self.forms.acts = true;
                match submit {
                    // As browsers send forms.
                    Some(address) => {
                        entries.raw("/A<</S/SubmitForm/Flags 4/F<</FS/URL/F");
                        entries.text(&super::annotation::ascii_address(address));
                        entries.raw(">>>>");
                    }
                    None => {
                        entries.raw("/A<</S/ResetForm>>");
                    }
                }
            }
            FormFieldKind::DropDown(options) => {
                flag |= flags::COMBO;
                entries.raw("/FT/Ch/Opt[");
                for option in options {
                    entries.raw("[").text(&option.value).text(&option.label);
                    entries.raw("]");
                }
                entries.raw("]");
            }
            kind => {
                entries.raw("/FT/Tx");
                if let FormFieldKind::Text { lines, max_length } = kind {
                    if *lines > 1 {
                        flag |= flags::MULTI_LINE;
                    }
                    if let Some(length) = max_length {
                        entries.raw("/MaxLen ").integer(i64::from(*length));
                    }
                }
            }
        }
        entries.raw("/Ff ").integer(flag);
        if matches!(field.kind, FormFieldKind::Button { .. }) {
            return;
        }
        self.forms.takes_text = true;
        let first = widget.shown.iter().find_map(|item| match item {
            Item::Text(run) => Some((run.size, self.layout.styles[run.style].color)),
            _ => None,
        });
        let body = &self.layout.styles[self.document.named.body];
        let (size, color) = first.unwrap_or((body.font_size, body.color));
        entries.raw("/DA(/Helv ").number(size, 2).raw(" Tf ");
        for channel in [color.red, color.green, color.blue] {
            entries.number(f32::from(channel) / 255.0, 3).raw(" ");
        }
        entries.raw("rg)");
        // Readers take a carriage return for the end of a line.
        let value = field.value.replace('\n', "\r");
        entries.raw("/V").text(&value).raw("/DV").text(&value);
    }

    /// The content of an appearance that shows the value, from the bottom left of the field.
    fn shown(
        &mut self,
        page: &Page,
        widget: &Widget<'_>,
        context: &mut AnnotationContext<'_, 'a>,
    ) -> Result<Vec<u8>, Error> {
        let area = widget.area;
        let sheet = Sheet {
            height: area.height,
            words: &page.words,
        };
        let mut out = Vec::new();
        let mut graphics = Graphics::new(area.height);
        self.text.begin_page();
        out.raw("/Tx BMC q 0 0 ").length(area.width).raw(" ");
        out.length(area.height).raw(" re W n\n");
        for item in widget.shown {
            let item = item.moved(-area.x, -area.y);
            let mut marks = Marks::none();
            self.draw(
                &mut out,
                context.file,
                sheet,
                &item,
                &mut graphics,
                &mut marks,
            )?;
        }
        out.raw("Q EMC");
        self.text.begin_page();
        Ok(out)
    }

    /// Writes an appearance, ISO 32000-1 §12.5.5.
    fn appearance(
        &self,
        area: Area,
        content: &[u8],
        context: &mut AnnotationContext<'_, 'a>,
    ) -> Reference {
        let reference = context.file.reserve();
        let mut entries = Vec::new();
        entries.raw("/Type/XObject/Subtype/Form/Resources ");
        entries.reference(self.places.resources).raw("/BBox[0 0 ");
        entries
            .length(area.width)
            .raw(" ")
            .length(area.height)
            .raw("]");
        let entries = String::from_utf8_lossy(&entries).into_owned();
        context.file.plain_stream(reference, &entries, content);
        reference
    }

    /// Adds the appearances of a widget that is on or off.
    fn states(
        &self,
        entries: &mut Vec<u8>,
        on: &str,
        widget: &Widget<'_>,
        context: &mut AnnotationContext<'_, 'a>,
    ) {
        let area = widget.area;
        let mut content = Vec::new();
        if let Some(mark) = widget.mark {
            Graphics::new(area.height).figure(&mut content, mark, (0.0, 0.0));
        }
        let marked = self.appearance(area, &content, context);
        let empty = self.appearance(area, b"", context);
        entries.raw("/AP<</N<<").name(on).raw(" ").reference(marked);
        entries.raw("/Off ").reference(empty).raw(">>>>");
    }
}

/// The flags that fields of all kinds share.
fn common(field: &FormField) -> i64 {
    let mut flag = 0;
    if field.read_only {
        flag |= flags::READ_ONLY;
    }
    if field.required {
        flag |= flags::REQUIRED;
    }
    flag
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use platen_document::work::{Bounds, Interruption, run};

    use super::*;

    #[test]
    fn fields_of_one_name_are_numbered_without_looking_at_all_others() {
        let mut forms = Forms::default();
        assert_eq!(forms.name("a.b"), "a-b");
        assert_eq!(forms.name("done-3"), "done-3");
        // The time of this grew with the cube of the number: it took hours.
        let names: Vec<String> = (0..20_000).map(|_| forms.name("done")).collect();
        assert_eq!(names[..3], ["done", "done-2", "done-4"]);
        assert_eq!(names.last().map(String::as_str), Some("done-20001"));
        assert_eq!(forms.name("done-2"), "done-2-2");
    }

    #[test]
    fn the_search_for_a_name_can_be_interrupted() {
        let mut forms = Forms::default();
        for number in 1..1_000 {
            forms.name(&format!("done-{number}"));
        }
        forms.name("done");
        let bounds = Bounds {
            stop: Some(Arc::new(AtomicBool::new(true))),
            ..Bounds::default()
        };
        let named = run(bounds, || forms.name("done"));
        assert_eq!(named, Err(Interruption::Stopped));
    }
}
