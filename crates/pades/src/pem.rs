//! PEM (RFC 7468): blocks of base64 between lines that say what they are.

use x509_cert::der::pem;

/// A block.
pub(crate) struct Block {
    /// What it is, such as `CERTIFICATE`.
    pub(crate) label: String,
    pub(crate) der: Vec<u8>,
}

/// Maximum number of blocks of a file.
const MAX_BLOCKS: usize = 1_000;

/// The blocks of a text, in their order; text around them is ignored. `None` if one is broken, or
/// there are too many.
pub(crate) fn blocks(text: &str) -> Option<Vec<Block>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("-----BEGIN ") {
        rest = &rest[at..];
        let end = rest.find("-----END ")?;
        let line = rest[end..].find('\n').map_or(rest.len(), |it| end + it + 1);
        let (label, der) = pem::decode_vec(&rest.as_bytes()[..line]).ok()?;
        if found.len() == MAX_BLOCKS {
            return None;
        }
        found.push(Block {
            label: label.to_owned(),
            der,
        });
        rest = &rest[line..];
    }
    Some(found)
}
