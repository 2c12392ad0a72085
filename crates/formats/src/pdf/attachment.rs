//! Embedded files, ISO 32000-1 §7.11.4, and their relationship to the document, ISO 19005-3 annex
//! E.

use super::{
    Attachment, Relationship,
    file::File,
    metadata::pdf_date,
    syntax::{Reference, Syntax},
};

/// Writes `attachments`. Returns the name and file specification of each, sorted by name as a name
/// tree requires.
pub(super) fn write(
    file: &mut File,
    attachments: &[Attachment],
    created_unix_seconds: i64,
) -> Vec<(String, Reference)> {
    let mut written: Vec<(String, Reference)> = Vec::with_capacity(attachments.len());
    for attachment in attachments {
        let stream = file.reserve();
        let mut entries = Vec::new();
        entries
            .raw("/Type/EmbeddedFile/Subtype")
            .name(&attachment.media_type);
        entries
            .raw("/Params<</Size ")
            .integer(attachment.bytes.len() as i64);
        entries
            .raw("/ModDate")
            .text(&pdf_date(created_unix_seconds))
            .raw(">>");
        file.stream(
            stream,
            &String::from_utf8_lossy(&entries),
            &attachment.bytes,
        );
        let specification = file.add(|out| {
            out.raw("<</Type/Filespec/F").text(&attachment.name);
            out.raw("/UF").text(&attachment.name);
            let description = attachment.description.as_ref().unwrap_or(&attachment.name);
            out.raw("/Desc").text(description);
            out.raw("/AFRelationship")
                .name(match attachment.relationship {
                    Relationship::Data => "Data",
                    Relationship::Source => "Source",
                    Relationship::Alternative => "Alternative",
                    Relationship::Supplement => "Supplement",
                    Relationship::Unspecified => "Unspecified",
                });
            out.raw("/EF<</F ").reference(stream);
            out.raw("/UF ").reference(stream).raw(">>>>");
        });
        written.push((attachment.name.clone(), specification));
    }
    written.sort_by(|one, other| one.0.cmp(&other.0));
    written
}
