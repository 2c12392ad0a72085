//! Static text responses.

use axum::response::Response;
use bytes::Bytes;
use hyper::{HeaderMap, Method, header::HeaderValue};
use platen_delivery::Metadata;
use sha2::{Digest, Sha256};

use crate::respond;

/// A text that is generated once, with its entity tag.
pub(crate) struct Page {
    bytes: Bytes,
    tag: String,
}

impl Page {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        let digest = Sha256::digest(&bytes);
        let tag = digest[..16].iter().map(|byte| format!("{byte:02x}"));
        Self {
            tag: tag.collect(),
            bytes: bytes.into(),
        }
    }

    /// The same text in a content coding, under the same tag.
    pub(crate) fn coded(&self, bytes: Vec<u8>) -> Self {
        Self {
            tag: self.tag.clone(),
            bytes: bytes.into(),
        }
    }

    /// The text.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Responds with the text, or 304 if the client has it.
    pub(crate) fn answer(
        &self,
        method: &Method,
        headers: &HeaderMap,
        media_type: &'static str,
        cache_control: &'static str,
    ) -> Response {
        let metadata = Metadata {
            tag: Some(self.tag.clone()),
            // The response may be compressed later.
            recoded: true,
            cache_control: Some(HeaderValue::from_static(cache_control)),
            ..Metadata::new(HeaderValue::from_static(media_type))
        };
        respond::document(method, headers, self.bytes.clone(), &metadata)
    }
}
