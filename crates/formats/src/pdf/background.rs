//! A page of another PDF behind the text, as a form XObject, ISO 32000-1 §8.10.

use platen_document::bound::ImageData;
use platen_pdf::{FormObject, page_form};

use super::{error::Error, file::File, image::Written, syntax::Reference};

/// Writes the page.
///
/// # Errors
/// [`Error::Background`] if the other PDF is broken, encrypted or too large, or has no such page.
pub(super) fn write(file: &mut File, data: &ImageData) -> Result<Written, Error> {
    let form = page_form(&data.bytes, data.page, &mut || file.reserve().0)?;
    for (number, object) in form.objects {
        let reference = Reference(number);
        match object {
            FormObject::Plain(text) => {
                file.object(reference, |out| out.extend_from_slice(text.as_bytes()));
            }
            FormObject::Stream(entries, bytes) => file.plain_stream(reference, &entries, &bytes),
            FormObject::Content(entries, bytes) => file.stream(reference, &entries, &bytes),
        }
    }
    Ok(Written {
        reference: Reference(form.form),
        // It may be; nobody looks.
        translucent: true,
        archival: form.archival,
    })
}
