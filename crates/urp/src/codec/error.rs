//! Errors of decoding and encoding.

/// A peer violated the protocol, or a value cannot be encoded.
///
/// After a decoding error the two sides no longer agree about the caches, so the connection must be
/// closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// The block ends inside a value.
    #[error("the block ends inside a value")]
    Truncated,
    /// Bytes remain after the last message of a block.
    #[error("{0} bytes are left after the last message of a block")]
    Excess(usize),
    /// A block has no messages.
    #[error("a block without messages")]
    EmptyBlock,
    /// A block exceeds the size limit.
    #[error("a block of {size_bytes} bytes, more than {limit_bytes}")]
    BlockTooLarge {
        /// Size according to the block's header.
        size_bytes: u32,
        /// The limit.
        limit_bytes: u32,
    },
    /// A block has too many values or nests them too deeply.
    #[error("a block holds too many or too deep values")]
    TooManyValues,
    /// An unknown type class.
    #[error("0x{0:02x} is no type class")]
    TypeClass(u8),
    /// A cache slot is out of range or was never filled.
    #[error("cache slot {0} is empty or out of range")]
    CacheSlot(u16),
    /// A header refers to the previous type, object or thread, but there is none.
    #[error("a header refers to a {0} that was never sent")]
    NothingBefore(&'static str),
    /// A thread id is empty.
    #[error("a thread id is empty")]
    EmptyThread,
    /// A boolean is neither 0 nor 1.
    #[error("a boolean is 0x{0:02x}")]
    Boolean(u8),
    /// A string is not UTF-8.
    #[error("a string is not UTF-8")]
    Text,
    /// An any contains an any.
    #[error("an `any` contains an `any`")]
    NestedAny,
    /// A type is missing from the type table.
    #[error("the type `{0}` is not known")]
    UnknownType(String),
    /// A function is missing from the type table.
    #[error("`{interface}` has no function {function}")]
    UnknownFunction {
        /// Name of the interface.
        interface: String,
        /// Number of the function.
        function: u16,
    },
    /// The flags of a header contradict each other.
    #[error("a header's flags 0x{0:02x} contradict each other")]
    Flags(u8),
    /// A reply arrived for a thread without a pending call.
    #[error("unexpected reply")]
    UnexpectedReply,
    /// An exception reply contains something else.
    #[error("an exception reply holds no exception")]
    NotAnException,
    /// A value does not have the expected type.
    #[error("a value does not fit the type `{0}`")]
    Mismatch(String),
}
