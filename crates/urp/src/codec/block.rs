//! Framing: `u32 size, u32 messages`, then the messages; all big-endian.

use super::CodecError;

/// Bytes of a block's header.
pub const HEADER_BYTES: usize = 8;

/// What a decoder takes from a peer.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a block.
    pub block_bytes: u32,
    /// Values of a block, where a sequence of bytes counts as one.
    pub values: usize,
    /// Depth of values inside values.
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

/// A block's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    /// Bytes that follow the header.
    pub size_bytes: u32,
    /// Messages in them.
    pub messages: u32,
}

impl BlockHeader {
    /// Reads a header.
    ///
    /// # Errors
    /// The block is empty or larger than the limit.
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
        // The shortest message is one byte.
        if header.messages > header.size_bytes {
            return Err(CodecError::Truncated);
        }
        Ok(header)
    }

    /// Its bytes.
    #[must_use]
    pub fn encode(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&self.size_bytes.to_be_bytes());
        bytes[4..].copy_from_slice(&self.messages.to_be_bytes());
        bytes
    }
}
