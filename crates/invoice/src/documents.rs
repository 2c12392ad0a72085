//! Documents that support an invoice, in the model and back.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use en16931::{Attachment, DocumentReference, invoice as model};

use crate::{SupportingDocument, SupportingFile, convert::Converter};

/// Maximum size of all files, in bytes: in base64 they fit into an XML file of the size that is read.
const MAX_BYTES: usize = 14 << 20;

impl Converter {
    /// Documents of the model.
    pub(crate) fn documents(
        &mut self,
        documents: &[SupportingDocument],
    ) -> Vec<model::SupportingDocument> {
        let mut left = MAX_BYTES;
        let mut made = Vec::new();
        for (index, document) in documents.iter().enumerate() {
            let path = format!("/supportingDocuments/{index}/file");
            let file = document.file.as_ref();
            made.push(model::SupportingDocument {
                reference: DocumentReference::new(&document.reference),
                description: document.description.clone(),
                uri: document.url.clone(),
                attachment: file.and_then(|file| self.attachment(&path, file, &mut left)),
            });
        }
        made
    }

    fn attachment(
        &mut self,
        path: &str,
        file: &SupportingFile,
        left: &mut usize,
    ) -> Option<Attachment> {
        let Ok(content) = STANDARD.decode(&file.content) else {
            let message = "the content of a file is in base64, and this is none";
            self.problem(&format!("{path}/content"), message.to_owned());
            return None;
        };
        let Some(rest) = left.checked_sub(content.len()) else {
            let message =
                format!("the files of an invoice have at most {MAX_BYTES} bytes together");
            self.problem(&format!("{path}/content"), message);
            return None;
        };
        *left = rest;
        // Others are lawful in the standard, and refused by its rules (BR-CL-24).
        let accepted = Attachment::RECEIVER_MUST_ACCEPT;
        if !accepted.contains(&file.media_type.as_str()) {
            let message = format!("`{}` is none of {}", file.media_type, accepted.join(", "));
            self.problem(&format!("{path}/mediaType"), message);
            return None;
        }
        match Attachment::new(content, &file.media_type, &file.name) {
            Ok(attachment) => Some(attachment),
            Err(_) => {
                self.problem(&format!("{path}/name"), "a file has a name".to_owned());
                None
            }
        }
    }
}

/// A document as authors state it.
pub(crate) fn document(of: &model::SupportingDocument) -> SupportingDocument {
    SupportingDocument {
        reference: of.reference.as_str().to_owned(),
        description: of.description.clone(),
        url: of.uri.clone(),
        file: of.attachment.as_ref().map(|file| SupportingFile {
            name: file.filename().to_owned(),
            media_type: file.mime_code().to_owned(),
            content: STANDARD.encode(file.content()),
        }),
    }
}
