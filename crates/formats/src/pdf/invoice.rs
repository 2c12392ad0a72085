//! The e-invoice in a PDF: Factur-X 1.0, chapter 6.

use std::{borrow::Cow, sync::Arc};

use platen_document::bound::Document;
use platen_invoice::{XmpExtension, xmp_extension};

use super::{Attachment, Error, Relationship};

/// `attachments`, and the XML of the document's e-invoice.
pub(super) fn with_invoice<'a>(
    document: &Document,
    attachments: &'a [Attachment],
) -> Result<Cow<'a, [Attachment]>, Error> {
    let Some(issued) = &document.invoice else {
        return Ok(Cow::Borrowed(attachments));
    };
    let Some(profile) = issued.profile_in_pdf() else {
        return Ok(Cow::Borrowed(attachments));
    };
    let name = profile.file_name();
    if attachments.iter().any(|attachment| attachment.name == name) {
        return Err(Error::InvoiceName(name.to_owned()));
    }
    let mut all = attachments.to_vec();
    all.push(Attachment {
        name: name.to_owned(),
        media_type: "text/xml".to_owned(),
        description: Some("Factur-X/ZUGFeRD invoice".to_owned()),
        relationship: if profile.is_alternative() {
            Relationship::Alternative
        } else {
            Relationship::Data
        },
        bytes: Arc::new(issued.xml.clone().into_bytes()),
    });
    Ok(Cow::Owned(all))
}

/// What the document's metadata says of its e-invoice.
pub(super) fn extension(document: &Document) -> Option<XmpExtension> {
    xmp_extension(document.invoice.as_ref()?.profile_in_pdf()?)
}
