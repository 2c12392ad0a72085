//! Long sources are compiled once: a megabyte takes far longer to parse than to load as bytecode.
//!
//! They are compiled in a cell, since the parser is as exposed as the code itself, and what comes back
//! is never kept beyond this process and runs in cells only.

use std::sync::{Arc, OnceLock};

/// Sources from this length on are compiled.
pub(crate) const MIN_SOURCE_BYTES: usize = 16 << 10;

/// What a source was compiled to, once it was; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Bytecode(Arc<OnceLock<Option<Arc<[u8]>>>>);

impl Bytecode {
    /// The bytecode, made by `compile` where nobody has tried yet; `None` where that failed.
    pub(crate) fn get_or_compile(
        &self,
        compile: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Option<Arc<[u8]>> {
        self.0.get_or_init(|| compile().map(Arc::from)).clone()
    }
}

/// What follows from the source makes no difference.
impl PartialEq for Bytecode {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Bytecode {}
