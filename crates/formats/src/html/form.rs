//! Form fields as controls of the page.

use std::fmt::Write as _;

use platen_document::bound::{Block, FormField, FormFieldKind};

use super::Writer;
use crate::{calendar::is_iso_date, ooxml::Escaped};

/// Id of the form that all controls belong to.
const FORM: &str = "fields";

impl<'a> Writer<'a> {
    pub(super) fn form_field(&mut self, field: &'a FormField, open: &str, block: &Block) {
        if !std::mem::replace(&mut self.has_form, true) {
            let _ = writeln!(self.out, "<form id=\"{FORM}\" method=\"post\"></form>");
        }
        let _ = write!(self.out, "<div{open}>");
        match &field.kind {
            FormFieldKind::CheckBox { checked } => {
                let state = if *checked { " checked" } else { "" };
                self.out.push_str("<label>");
                let _ = write!(
                    self.out,
                    "<input type=\"checkbox\" value=\"Yes\"{state}{}> ",
                    attributes(field)
                );
                self.field_label(field, block);
                self.out.push_str("</label>");
            }
            FormFieldKind::Radio(_) => self.radio(field, block),
            FormFieldKind::Button { submit } => {
                let kind = match submit {
                    Some(address) => format!("submit\" formaction=\"{}", Escaped(address)),
                    None => "reset".to_owned(),
                };
                let _ = write!(
                    self.out,
                    "<button type=\"{kind}\"{}{}>",
                    attributes(field),
                    size(field)
                );
                self.field_label(field, block);
                self.out.push_str("</button>");
            }
            _ => self.control(field, block),
        }
        self.out.push_str("</div>\n");
    }

    fn field_label(&mut self, field: &'a FormField, block: &Block) {
        match &field.label {
            Some(label) => self.inlines(label, block.style),
            None => {
                let _ = write!(self.out, "{}", Escaped(&field.purpose));
            }
        }
    }

    /// Radio buttons below their label.
    fn radio(&mut self, field: &'a FormField, block: &Block) {
        self.out.push_str("<fieldset class=\"field\"><legend>");
        self.field_label(field, block);
        self.out.push_str("</legend>");
        let chosen = field.chosen();
        for (index, option) in field.options().iter().enumerate() {
            let state = if chosen == Some(index) {
                " checked"
            } else {
                ""
            };
            let _ = write!(
                self.out,
                "<label><input type=\"radio\" value=\"{}\"{state}{}> {}</label>",
                Escaped(&option.value),
                attributes(field),
                Escaped(&option.label)
            );
        }
        self.out.push_str("</fieldset>");
    }

    /// A control below its label.
    fn control(&mut self, field: &'a FormField, block: &Block) {
        self.out.push_str("<label class=\"field\">");
        if field.label.is_some() {
            self.out.push_str("<span>");
            self.field_label(field, block);
            self.out.push_str("</span>");
        }
        let mut own = attributes(field) + &size(field);
        if field.label.is_none() {
            let _ = write!(own, " aria-label=\"{}\"", Escaped(&field.purpose));
        }
        let value = Escaped(&field.value);
        let _ = match &field.kind {
            FormFieldKind::DropDown(_) => self.drop_down(field, &own),
            FormFieldKind::Text { lines, max_length } => {
                if let Some(length) = max_length {
                    let _ = write!(own, " maxlength=\"{length}\"");
                }
                match lines {
                    0 | 1 => write!(self.out, "<input type=\"text\" value=\"{value}\"{own}>"),
                    _ => write!(
                        self.out,
                        "<textarea rows=\"{lines}\"{own}>\n{value}</textarea>"
                    ),
                }
            }
            _ if is_iso_date(&field.value) || field.value.is_empty() => {
                write!(self.out, "<input type=\"date\" value=\"{value}\"{own}>")
            }
            _ => write!(self.out, "<input type=\"text\" value=\"{value}\"{own}>"),
        };
        self.out.push_str("</label>");
    }

    fn drop_down(&mut self, field: &FormField, own: &str) -> std::fmt::Result {
        write!(self.out, "<select{own}>")?;
        if field.chosen().is_none() {
            self.out.push_str("<option value=\"\"></option>");
        }
        for (index, option) in field.options().iter().enumerate() {
            let state = match field.chosen() == Some(index) {
                true => " selected",
                false => "",
            };
            let (value, label) = (Escaped(&option.value), Escaped(&option.label));
            write!(
                self.out,
                "<option value=\"{value}\"{state}>{label}</option>"
            )?;
        }
        self.out.push_str("</select>");
        Ok(())
    }
}

/// The attributes that controls of all kinds share.
fn attributes(field: &FormField) -> String {
    let mut out = format!(" form=\"{FORM}\" name=\"{}\"", Escaped(&field.name));
    if field.required {
        out.push_str(" required");
    }
    if field.read_only {
        // Only texts can be read-only; a disabled control of another kind is the same to readers.
        out.push_str(match field.kind {
            FormFieldKind::Text { .. } | FormFieldKind::Date => " readonly",
            _ => " disabled",
        });
    }
    out
}

/// The size of a box, if the template gives one.
fn size(field: &FormField) -> String {
    let mut out = String::new();
    if let Some(width) = field.width {
        let _ = write!(out, "width:{width}pt;");
    }
    if let Some(height) = field.height {
        let _ = write!(out, "height:{height}pt;");
    }
    match out.is_empty() {
        true => out,
        false => format!(" style=\"{out}\""),
    }
}
