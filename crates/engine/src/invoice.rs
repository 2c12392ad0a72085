//! E-invoices of files: read from XML, or from the PDF that carries it.

use platen_fault::Code;
use platen_invoice::{Invoice, Problem, Profile, Syntax, XmpExtension, read, xmp_extension};
use platen_pdf::{Extension, Limits, read_attachments};
use serde::Serialize;

/// Names under which PDF files carry an e-invoice, in lower case.
const NAMES: [&str; 4] = [
    "factur-x.xml",
    "xrechnung.xml",
    "zugferd-invoice.xml",
    "invoice.xml",
];

/// An e-invoice that was read from a file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadInvoice {
    /// Name of the embedded file; none for XML alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedded_as: Option<String>,
    /// Its relationship to the PDF.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relationship: Option<String>,
    /// Syntax of the XML.
    pub syntax: Syntax,
    /// Specification identifier as it stands there (BT-24).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub specification: Option<String>,
    /// Whether it breaks no rule of its profile.
    pub valid: bool,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// The invoice.
    pub invoice: Invoice,
}

/// Why no e-invoice was read.
#[derive(Debug, thiserror::Error)]
pub enum InvoiceError {
    /// The PDF file cannot be read.
    #[error(transparent)]
    Pdf(#[from] platen_pdf::Error),
    /// The PDF file carries none.
    #[error("the PDF file carries no e-invoice: it has no attached file such as `factur-x.xml`")]
    NoneInside,
    /// The XML is none.
    #[error("the file is not an e-invoice: {0}")]
    NotInvoice(String),
}

impl InvoiceError {
    /// The error's code, which does not change.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Pdf(error) => error.code(),
            Self::NoneInside | Self::NotInvoice(_) => Code::DocumentDamaged,
        }
    }
}

/// Reads the e-invoice of `file`, which is a PDF or XML. Blocks.
///
/// # Errors
/// The file has no e-invoice that can be read. One that breaks rules is read.
pub fn read_invoice(file: &[u8], limits: &Limits) -> Result<ReadInvoice, InvoiceError> {
    let is_pdf = file[..file.len().min(1024)]
        .windows(5)
        .any(|bytes| bytes == b"%PDF-");
    let mut attached = None;
    if is_pdf {
        let mut found = read_attachments(file, limits)?;
        let place = |name: &str| {
            let name = name.to_ascii_lowercase();
            NAMES.iter().position(|known| *known == name)
        };
        found.retain(|one| place(&one.name).is_some());
        found.sort_by_key(|one| place(&one.name));
        attached = Some(found.into_iter().next().ok_or(InvoiceError::NoneInside)?);
    }
    let xml = attached.as_ref().map_or(file, |one| &one.bytes);
    let reading = read(xml).map_err(InvoiceError::NotInvoice)?;
    let is_error = |problem: &Problem| problem.weight == platen_invoice::Weight::Error;
    Ok(ReadInvoice {
        embedded_as: attached.as_ref().map(|one| one.name.clone()),
        relationship: attached.and_then(|one| one.relationship),
        syntax: reading.syntax,
        specification: reading.specification,
        valid: !reading.problems.iter().any(is_error),
        problems: reading.problems,
        invoice: reading.invoice,
    })
}

/// What a PDF says of an e-invoice of `profile` that is embedded in it.
#[must_use]
pub fn invoice_extension(profile: Profile) -> Option<Extension> {
    xmp_extension(profile).map(pdf_extension)
}

/// `extension` for the writer of PDF files.
#[must_use]
pub fn pdf_extension(extension: XmpExtension) -> Extension {
    Extension {
        properties: extension.properties,
        schema: extension.schema,
    }
}
