//! Why bytes are not a sound conversation, or a value cannot be written.

/// Why bytes are not a sound conversation, or a value cannot be written.
///
/// After any of these the two sides no longer agree on the caches: the connection is spent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// The block ends inside a value.
    #[error("the block ends inside a value")]
    Truncated,
    /// Bytes are left after the last message of a block.
    #[error("{0} bytes are left after the last message of a block")]
    Excess(usize),
    /// A block without messages.
    #[error("a block without messages")]
    EmptyBlock,
    /// A block is larger than the limit.
    #[error("a block of {size_bytes} bytes, more than {limit_bytes}")]
    BlockTooLarge {
        /// Size that the block's header says.
        size_bytes: u32,
        /// The limit.
        limit_bytes: u32,
    },
    /// A block holds more values, or deeper ones, than the limits allow.
    #[error("a block holds too many or too deep values")]
    TooManyValues,
    /// A byte that names no type class.
    #[error("0x{0:02x} is no type class")]
    TypeClass(u8),
    /// A cache slot that is out of range or was never filled.
    #[error("cache slot {0} is empty or out of range")]
    CacheSlot(u16),
    /// "The same as last time" where there was no last time.
    #[error("a header refers to a {0} that was never sent")]
    NothingBefore(&'static str),
    /// An empty thread id.
    #[error("a thread id is empty")]
    EmptyThread,
    /// A boolean other than 0 and 1.
    #[error("a boolean is 0x{0:02x}")]
    Boolean(u8),
    /// Text that is not UTF-8.
    #[error("a string is not UTF-8")]
    Text,
    /// An any that holds an any.
    #[error("an `any` contains an `any`")]
    NestedAny,
    /// A type that the table of types lacks.
    #[error("the type `{0}` is not known")]
    UnknownType(String),
    /// A function that the table of interfaces lacks.
    #[error("`{interface}` has no function {function}")]
    UnknownFunction {
        /// Name of the interface.
        interface: String,
        /// Function id.
        function: u16,
    },
    /// A header with flags that contradict each other.
    #[error("a header's flags 0x{0:02x} contradict each other")]
    Flags(u8),
    /// A reply to a thread that waits for none.
    #[error("unexpected reply")]
    UnexpectedReply,
    /// An exception reply that does not hold an exception.
    #[error("an exception reply holds no exception")]
    NotAnException,
    /// A value does not have the type that its place wants.
    #[error("a value does not fit the type `{0}`")]
    Mismatch(String),
}
