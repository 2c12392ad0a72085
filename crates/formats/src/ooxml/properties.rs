//! Document properties: Dublin Core, and those of the application (ECMA-376-1 §22.2).

use std::fmt::Write as _;

use platen_document::bound::Document;

use super::{DECLARATION, Escaped};
use crate::calendar::iso_date_time;

/// The part `docProps/core.xml`.
pub(crate) fn core_properties(document: &Document) -> String {
    let metadata = &document.metadata;
    let mut xml = format!(
        "{DECLARATION}<cp:coreProperties \
         xmlns:cp=\"http://schemas.openxmlformats.org/package/2006/metadata/core-properties\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:dcterms=\"http://purl.org/dc/terms/\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><dc:title>{}</dc:title>",
        Escaped(&metadata.title)
    );
    if let Some(subject) = &metadata.subject {
        let _ = write!(xml, "<dc:subject>{}</dc:subject>", Escaped(subject));
    }
    if let Some(author) = &metadata.author {
        let author = Escaped(author);
        let _ = write!(
            xml,
            "<dc:creator>{author}</dc:creator><cp:lastModifiedBy>{author}</cp:lastModifiedBy>"
        );
    }
    if !metadata.keywords.is_empty() {
        let keywords = metadata.keywords.join(", ");
        let _ = write!(xml, "<cp:keywords>{}</cp:keywords>", Escaped(&keywords));
    }
    if !document.language.is_empty() {
        let language = Escaped(&document.language);
        let _ = write!(xml, "<dc:language>{language}</dc:language>");
    }
    let created = iso_date_time(metadata.created_unix_seconds);
    let _ = write!(
        xml,
        "<dcterms:created xsi:type=\"dcterms:W3CDTF\">{created}Z</dcterms:created>\
         <dcterms:modified xsi:type=\"dcterms:W3CDTF\">{created}Z</dcterms:modified>\
         </cp:coreProperties>"
    );
    xml
}

/// The part `docProps/app.xml`.
pub(crate) fn app_properties() -> String {
    format!(
        "{DECLARATION}<Properties \
         xmlns=\"http://schemas.openxmlformats.org/officeDocument/2006/extended-properties\">\
         <Application>Platen</Application></Properties>"
    )
}
