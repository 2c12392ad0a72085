//! E-invoices that are embedded in existing PDF files.

use platen_invoice::Syntax;
use platen_pdf::{Archive, Attachment, Part};

use super::error::{PdfChangeError, wrong};
use crate::invoice::invoice_extension;

/// The XML of an e-invoice as an attached file, and what the PDF says of it.
pub(super) fn embedded_invoice(
    file: &str,
    xml: Vec<u8>,
) -> Result<(Attachment, Archive), PdfChangeError> {
    let reading = platen_invoice::read(&xml)
        .map_err(|message| wrong(format!("`{file}` is not an e-invoice: {message}")))?;
    let profile = reading.invoice.profile;
    let known = reading.specification.as_deref() == Some(profile.specification());
    let extension = invoice_extension(profile).filter(|_| known);
    let (Some(extension), Syntax::Cii) = (extension, reading.syntax) else {
        let message = format!(
            "`{file}` is an e-invoice that PDF files do not carry: they carry CII of Factur-X or \
             XRechnung"
        );
        return Err(wrong(message));
    };
    let relationship = if profile.is_alternative() {
        "Alternative"
    } else {
        "Data"
    };
    let attachment = Attachment {
        name: profile.file_name().to_owned(),
        bytes: xml,
        media_type: Some("text/xml".to_owned()),
        relationship: Some(relationship.to_owned()),
        description: Some("Factur-X/ZUGFeRD invoice".to_owned()),
    };
    let archive = Archive {
        part: Part::Three,
        extension: Some(extension),
        ..Archive::default()
    };
    Ok((attachment, archive))
}
