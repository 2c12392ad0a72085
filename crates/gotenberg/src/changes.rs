//! What a form asks to do with PDF files: fields of all routes that make some.

use std::collections::BTreeMap;

use platen_engine::Engine;
use platen_fault::Code;
use platen_pdf::{
    Allowed, Attachment, Bookmark, Bookmarks, Metadata, Operations, Optimization, PictureQuality,
    Printing, Protection, Rotation, Selection, Split,
};
use platen_server::{
    intake::content::{Content, full},
    problem::Problem,
    rendering::slots::Ticket,
};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::{
    archival::{self, InvoiceXml},
    form::Form,
    marking::Marking,
    office::OfficeOptions,
    value::{Values, not_json, not_parsed},
};

/// Changes of PDF files, with the content of the form's other files not yet read.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) operations: Operations,
    pub(crate) markings: Vec<Marking>,
    pub(crate) embeds: Vec<(String, Content)>,
    /// What `/optimize` does, whether `optimizeImages` is set or not.
    pub(crate) optimized: Optimization,
    pub(crate) invoice: Option<InvoiceXml>,
    /// What LibreOffice makes of the files after the changes: a standard that only it makes.
    pub(crate) rewriting: Option<OfficeOptions>,
    about_embeds: BTreeMap<String, AboutEmbed>,
}

/// What `embedsMetadata` says of a file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AboutEmbed {
    mime_type: Option<String>,
    relationship: Option<String>,
    description: Option<String>,
}

impl Changes {
    /// Reads the fields; what is wrong with them is recorded in the form.
    pub(crate) fn of(form: &mut Form) -> Self {
        let rewriting = OfficeOptions::rewriting(&form.values);
        if rewriting.is_some() {
            form.values.text("pdfa");
            form.values.truth("pdfua", false);
        }
        let mut archive = archival::archive(&mut form.values);
        let invoice = archival::invoice(form, &mut archive);
        let values = &mut form.values;
        let (is_optimized, optimized) = optimization(values);
        let operations = Operations {
            archive,
            merge: values.truth("merge", false),
            split: split(values),
            metadata: metadata(values),
            flatten: values.truth("flatten", false),
            rotation: rotation(values),
            bookmarks: bookmarks(values),
            file_bookmarks: values.truth("titleBookmarks", false),
            optimization: is_optimized.then(|| optimized.clone()),
            protection: protection(values),
            ..Operations::default()
        };
        if operations.file_bookmarks && matches!(operations.bookmarks, Some(Bookmarks::All(_))) {
            // The list is that of the whole file.
            values.mistake("form field 'titleBookmarks' does not go with a list in 'bookmarks'");
        }
        // Merged files always keep their bookmarks, with the pages counted anew.
        values.truth("autoIndexBookmarks", true);
        let about_embeds = values.json("embedsMetadata");
        let markings = ["watermark", "stamp"].map(|kind| Marking::all_of(form, kind));
        let is_embed = |file: &mut (String, String, Content)| file.0 == "embeds";
        let embeds = form.aside.extract_if(.., is_embed);
        let embeds = embeds.map(|(_, name, content)| (name, content));
        let changes = Self {
            operations,
            markings: markings.into_iter().flatten().collect(),
            embeds: embeds.collect(),
            optimized,
            invoice,
            rewriting,
            about_embeds,
        };
        if let (Some(_), Some(lost)) = (&changes.rewriting, changes.lost()) {
            form.values
                .mistake(format!("'pdfa' PDF/A-1b does not go with {lost}"));
        }
        changes
    }

    /// What a rewriting by LibreOffice would lose, or PDF/A-1 does not allow.
    fn lost(&self) -> Option<&'static str> {
        let operations = &self.operations;
        [
            (
                operations.bookmarks.is_some() || operations.file_bookmarks,
                "bookmarks",
            ),
            (
                !self.embeds.is_empty() || self.invoice.is_some(),
                "attached files",
            ),
            (operations.optimization.is_some(), "'optimizeImages'"),
            (operations.protection.is_some(), "passwords"),
        ]
        .into_iter()
        .find_map(|(is_wanted, what)| is_wanted.then_some(what))
    }

    /// Lets LibreOffice rewrite the files after the changes.
    pub(crate) fn rewrite(&mut self, options: OfficeOptions) -> Result<(), Problem> {
        if let Some(lost) = self.lost() {
            let detail = format!("`pdfa` PDF/A-1b does not go with {lost}");
            return Err(Problem::new(Code::UnsupportedOption, detail));
        }
        self.rewriting = Some(options);
        Ok(())
    }

    /// Whether files stay as they are.
    pub(crate) fn is_nothing(&self) -> bool {
        let adds_nothing = self.markings.is_empty() && self.embeds.is_empty();
        self.operations.is_nothing() && adds_nothing && self.rewriting.is_none()
    }

    /// Whether `count` files stay as they are: one is not merged.
    pub(crate) fn is_nothing_for(&self, count: usize) -> bool {
        let operations = Operations {
            merge: self.operations.merge && (count > 1 || self.operations.file_bookmarks),
            ..self.operations.clone()
        };
        operations.is_nothing() && self.markings.is_empty() && self.embeds.is_empty()
    }

    /// The operations, with all files read and stamps drawn. Blocks.
    pub(crate) fn into_operations(
        self,
        engine: &Engine,
        ticket: &Ticket,
    ) -> Result<Operations, Problem> {
        let mut operations = self.operations;
        for marking in self.markings {
            operations.stamps.push(marking.into_stamp(engine, ticket)?);
        }
        if let Some(invoice) = self.invoice {
            let bytes = invoice.content.read().map_err(|error| full(&error))?;
            operations.attachments.push(Attachment {
                name: invoice.name.to_owned(),
                bytes: bytes.to_vec(),
                media_type: Some("text/xml".to_owned()),
                relationship: Some(invoice.relationship.to_owned()),
                description: Some("Factur-X/ZUGFeRD invoice".to_owned()),
            });
        }
        for (name, content) in self.embeds {
            let about = self.about_embeds.get(&name).cloned().unwrap_or_default();
            let bytes = content.read().map_err(|error| full(&error))?;
            operations.attachments.push(Attachment {
                bytes: bytes.to_vec(),
                media_type: about.mime_type.or_else(|| media_type_of(&name)),
                relationship: about.relationship,
                description: about.description,
                name,
            });
        }
        Ok(operations)
    }
}

fn media_type_of(name: &str) -> Option<String> {
    match platen_engine::media_type_of(name) {
        "application/octet-stream" => None,
        known => Some(known.to_owned()),
    }
}

/// What ExifTool, which writes the properties for Gotenberg, takes as an order about files. Gotenberg
/// leaves them out, with any group before them (`System:FileName`), and writes the rest.
const ORDERS: [&str; 5] = [
    "FileName",
    "Directory",
    "HardLink",
    "SymLink",
    "FilePermissions",
];

/// Document properties. Their values are lines: other control characters are refused, as Gotenberg
/// does.
fn metadata(values: &mut Values) -> Metadata {
    let mut metadata: Metadata = values.json("metadata");
    let is_order = |name: &str| {
        let name = name.rsplit(':').next().unwrap_or(name);
        ORDERS.iter().any(|order| name.eq_ignore_ascii_case(order))
    };
    metadata.retain(|name, _| !is_order(name));
    let has_control = |text: &str| text.contains(char::is_control);
    let is_wrong = |value: &Json| match value {
        Json::String(text) => has_control(text),
        Json::Array(list) => list.iter().filter_map(Json::as_str).any(has_control),
        _ => false,
    };
    if metadata.values().any(is_wrong) {
        values.refuse(
            "The requested metadata could not be written; ensure values are valid and free of \
             control characters.",
        );
    }
    metadata
}

fn split(values: &mut Values) -> Option<Split> {
    let unify = values.truth("splitUnify", false);
    let mode = values.text("splitMode")?;
    let Some(span) = values.text("splitSpan") else {
        values.missing("splitSpan");
        return None;
    };
    match mode.as_str() {
        "intervals" => match span.parse::<usize>() {
            Ok(count) if count > 0 => Some(Split::Every(count)),
            _ => {
                let why = match span.parse::<i64>() {
                    Ok(_) => "value is inferior to 1".to_owned(),
                    Err(_) => not_parsed("Atoi", &span),
                };
                values.wrong("splitSpan", &span, &why);
                None
            }
        },
        "pages" if !names_pages(&span) => {
            values.refuse(
                "The requested split mode is not supported, or no PDF engine could process it. \
                 Valid modes: 'intervals', 'pages'.",
            );
            None
        }
        "pages" if unify => Some(Split::Only(selection(&span))),
        "pages" => Some(Split::Pages(selection(&span))),
        _ => {
            let why = "wrong value, expected either 'intervals' or 'pages'";
            values.wrong("splitMode", &mode, why);
            None
        }
    }
}

/// Whether each part of a span could name pages; which ones there are is known later.
fn names_pages(span: &str) -> bool {
    let has_number = |part: &str| part.contains(|sign: char| sign.is_ascii_digit());
    let has_name = |part: &str| {
        ["odd", "even", "last"]
            .iter()
            .any(|name| part.contains(name))
    };
    span.split(',')
        .all(|part| has_number(part) || has_name(part) || Selection::of_pdfcpu(part).is_some())
}

/// Pages as pdfcpu reads them; other texts as Platen does, where `2-z` and `2-end` (QPDF, PDFtk) mean
/// `2-`.
pub(crate) fn selection(span: &str) -> Selection {
    if let Some(known) = Selection::of_pdfcpu(span) {
        return known;
    }
    let parts = span.split(',').map(|part| {
        let part = part.trim();
        let from = part
            .strip_suffix("-z")
            .or_else(|| part.strip_suffix("-end"));
        from.map_or_else(|| part.to_owned(), |from| format!("{from}-"))
    });
    parts.collect::<Vec<_>>().join(",").into()
}

fn rotation(values: &mut Values) -> Option<Rotation> {
    let pages = values.text("rotatePages").as_deref().map(selection);
    let angle = values.text("rotateAngle")?;
    match angle.as_str() {
        "90" | "180" | "270" => Some(Rotation {
            degrees: angle.parse().unwrap_or(90),
            pages,
            replaces: false,
        }),
        _ => {
            let why = match angle.parse::<i64>() {
                Ok(_) => "wrong value, expected 90, 180, or 270".to_owned(),
                Err(_) => not_parsed("Atoi", &angle),
            };
            values.wrong("rotateAngle", &angle, &why);
            None
        }
    }
}

fn bookmarks(values: &mut Values) -> Option<Bookmarks> {
    let text = values.text("bookmarks")?;
    let read = serde_json::from_str::<Json>(&text).and_then(|json| match json {
        Json::Object(_) => serde_json::from_value(json).map(Bookmarks::Of),
        _ => serde_json::from_value::<Vec<Bookmark>>(json).map(Bookmarks::All),
    });
    match read {
        Ok(bookmarks) => Some(bookmarks),
        Err(error) => {
            let why = not_json(&text).unwrap_or_else(|| error.to_string());
            values.wrong("bookmarks", &text, &format!("unmarshal bookmarks: {why}"));
            None
        }
    }
}

/// Passwords and permissions. A form with neither protects nothing; one that restricts needs a
/// password.
fn protection(values: &mut Values) -> Option<Protection> {
    let user_password = values.text("userPassword").unwrap_or_default();
    let owner_password = values.text("ownerPassword").unwrap_or_default();
    let allowed = Allowed {
        printing: match values.truth("allowPrinting", true) {
            true => Printing::Full,
            false => Printing::None,
        },
        modifying: values.truth("allowModifying", true),
        copying: values.truth("allowCopying", true),
        annotating: values.truth("allowAnnotating", true),
        filling: values.truth("allowFillingForms", true),
        assembling: values.truth("allowAssembling", true),
    };
    if user_password.is_empty() && owner_password.is_empty() {
        if allowed != Allowed::default() {
            let mistake = "restrictions need the form field 'userPassword' or 'ownerPassword'";
            values.mistake(mistake);
        }
        return None;
    }
    Some(Protection {
        user_password,
        owner_password,
        allowed,
    })
}

/// Whether `optimizeImages` is set, and how files are made smaller: pictures without loss become
/// JPEG, as with Gotenberg; those that are JPEG stay.
fn optimization(values: &mut Values) -> (bool, Optimization) {
    let is_wanted = values.truth("optimizeImages", false);
    let mut quality = PictureQuality::USUAL;
    if let Some(text) = values.text("imageQuality") {
        match text.parse::<i64>() {
            Ok(1..=100) => quality = text.parse().unwrap_or(quality),
            Ok(number) => {
                let what = if number < 1 {
                    "inferior to 1"
                } else {
                    "superior to 100"
                };
                values.wrong("imageQuality", &text, &format!("value is {what}"));
            }
            Err(_) => values.wrong("imageQuality", &text, &not_parsed("Atoi", &text)),
        }
    }
    let pictures = Some(PictureQuality {
        quality,
        max_dpi: None,
        again: false,
    });
    (is_wanted, Optimization { pictures })
}
