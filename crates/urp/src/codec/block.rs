//! Framing: `u32 size, u32 message count`, then the messages; all integers are big-endian.

use super::CodecError;

/// Length of a block header, in bytes.
pub const HEADER_BYTES: usize = 8;

/// Limits on what a decoder accepts from a peer.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum length of a block, in bytes.
    pub block_bytes: u32,
    /// Maximum number of values in a block. A byte sequence counts as one value.
    pub values: usize,
    /// Maximum nesting depth of values.
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            block_bytes: 512 * 1024 * 1024,
            values: 1_000_000,
            depth: 64,
        }
    }
}

/// The header of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    /// Number of bytes after the header.
    pub size_bytes: u32,
    /// Number of messages in them.
    pub messages: u32,
}

impl BlockHeader {
    /// Decodes a header.
    ///
    /// # Errors
    /// The block is empty or exceeds the limit.
    pub fn decode(bytes: [u8; HEADER_BYTES], limits: &Limits) -> Result<Self, CodecError> {
        let word = |at: usize| {
            u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let header = Self {
            size_bytes: word(0),
            messages: word(4),
        };
        if header.messages == 0 {
            return Err(CodecError::EmptyBlock);
        }
        if header.size_bytes > limits.block_bytes {
            return Err(CodecError::BlockTooLarge {
                size_bytes: header.size_bytes,
                limit_bytes: limits.block_bytes,
            });
        }
        // Every message has at least one byte.
        if header.messages > header.size_bytes {
            return Err(CodecError::Truncated);
        }
        Ok(header)
    }

    /// Encodes the header.
    #[must_use]
    pub fn encode(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&self.size_bytes.to_be_bytes());
        bytes[4..].copy_from_slice(&self.messages.to_be_bytes());
        bytes
    }
}
