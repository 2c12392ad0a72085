//! What a form says of PDF/A, PDF/UA and Factur-X.

use platen_engine::pdf_extension;
use platen_invoice::{Profile, XmpFields, xmp_of};
use platen_pdf::{Archive, Part};
use platen_server::intake::content::Content;

use crate::{form::Form, value::Values};

/// Document types of Factur-X and Order-X.
const DOCUMENT_TYPES: [&str; 4] = ["INVOICE", "ORDER", "ORDER_RESPONSE", "ORDER_CHANGE"];

/// What Gotenberg says of a standard that it does not know.
pub(crate) const NOT_SUPPORTED: &str = "The requested PDF format is not supported, or no PDF engine \
    could apply it. Valid formats include PDF/A-1b, PDF/A-2b, PDF/A-3b, and PDF/UA.";

/// An XML that becomes part of PDF files.
#[derive(Debug)]
pub(crate) struct InvoiceXml {
    pub(crate) name: &'static str,
    pub(crate) relationship: &'static str,
    pub(crate) content: Content,
}

/// Reads `pdfa` and `pdfua`. `None` if the form has neither, or only what is no standard.
pub(crate) fn archive(values: &mut Values) -> Option<Archive> {
    let accessible = values.truth("pdfua", false);
    let standard = values.text("pdfa");
    if let Some(standard) = &standard
        && part_of(standard).is_none()
    {
        values.refuse(NOT_SUPPORTED);
        return None;
    }
    archive_of(standard.as_deref(), accessible)
}

/// How files satisfy `standard`; `None` if it is not one that files can be made to satisfy as they
/// are.
pub(crate) fn archive_of(standard: Option<&str>, accessible: bool) -> Option<Archive> {
    let part = match standard {
        None => Part::None,
        Some(standard) => part_of(standard)?,
    };
    (accessible || part != Part::None).then_some(Archive {
        part,
        accessible,
        lenient: true,
        extension: None,
    })
}

fn part_of(standard: &str) -> Option<Part> {
    match standard {
        "PDF/A-2b" => Some(Part::Two),
        "PDF/A-3b" => Some(Part::Three),
        _ => None,
    }
}

/// Reads the fields of Factur-X and adds what they say to `archive`.
pub(crate) fn invoice(form: &mut Form, archive: &mut Option<Archive>) -> Option<InvoiceXml> {
    let at = form.aside.iter().position(|file| file.0 == "facturxXml");
    let values = &mut form.values;
    let level = values.text("facturxConformanceLevel");
    let kind = values.text("facturxDocumentType");
    let version = values.text("facturxVersion");
    let Some(at) = at else {
        if level.is_some() || kind.is_some() || version.is_some() {
            values.mistake("no form file found for the field 'facturxXml'");
        }
        return None;
    };
    let Some(level) = level else {
        values.missing("facturxConformanceLevel");
        return None;
    };
    let profile = Profile::ALL
        .into_iter()
        .find(|profile| profile.conformance_level() == Some(&level.replace('_', " ")));
    let Some(profile) = profile else {
        let why = "it is not MINIMUM, BASIC WL, BASIC, EN 16931, EXTENDED or XRECHNUNG";
        values.wrong("facturxConformanceLevel", &level, why);
        return None;
    };
    let kind = kind.unwrap_or_else(|| "INVOICE".to_owned());
    if !DOCUMENT_TYPES.contains(&kind.as_str()) {
        let why = "it is not INVOICE, ORDER, ORDER_RESPONSE or ORDER_CHANGE";
        values.wrong("facturxDocumentType", &kind, why);
        return None;
    }
    let archive = archive.get_or_insert_with(Archive::default);
    archive.part = Part::Three;
    archive.extension = Some(pdf_extension(xmp_of(&XmpFields {
        file_name: profile.file_name(),
        document_type: &kind,
        version: version.as_deref().unwrap_or(profile.xmp_version()),
        level: profile.conformance_level().unwrap_or_default(),
    })));
    let (_, _, content) = form.aside.remove(at);
    Some(InvoiceXml {
        name: profile.file_name(),
        relationship: if profile.is_alternative() {
            "Alternative"
        } else {
            "Data"
        },
        content,
    })
}
