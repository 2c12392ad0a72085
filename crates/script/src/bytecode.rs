//! Long sources are compiled once: a megabyte takes far longer to parse than to load as bytecode.
//!
//! They are compiled in a cell, since the parser is as exposed as the code itself, and what comes back
//! is never kept beyond this process and runs in cells only.

use std::sync::{Arc, Mutex, PoisonError};

/// Sources from this length on are compiled.
pub(crate) const MIN_SOURCE_BYTES: usize = 16 << 10;

/// What a source was compiled to, once it was; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Bytecode(Arc<Mutex<State>>);

#[derive(Clone, Debug, Default)]
enum State {
    #[default]
    Untried,
    Made(Arc<[u8]>),
    /// It runs as source, whose error is the author's.
    Refused,
}

/// There was no cell to compile in; another try may find one.
pub(crate) struct NoCell;

impl Bytecode {
    /// The bytecode, and whether it was made now, by `compile`, which says `None` for a source that
    /// cannot be compiled. Others wait meanwhile.
    pub(crate) fn get_or_compile(
        &self,
        compile: impl FnOnce() -> Result<Option<Vec<u8>>, NoCell>,
    ) -> (Option<Arc<[u8]>>, bool) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Made(bytecode) => return (Some(Arc::clone(bytecode)), false),
            State::Refused => return (None, false),
            State::Untried => {}
        }
        match compile() {
            Err(NoCell) => (None, false),
            Ok(None) => {
                *state = State::Refused;
                (None, false)
            }
            Ok(Some(made)) => {
                let made: Arc<[u8]> = made.into();
                *state = State::Made(Arc::clone(&made));
                (Some(made), true)
            }
        }
    }
}

/// What follows from the source makes no difference.
impl PartialEq for Bytecode {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Bytecode {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_is_remembered() {
        let bytecode = Bytecode::default();
        assert_eq!(bytecode.get_or_compile(|| Err(NoCell)), (None, false));
        let made = bytecode.clone().get_or_compile(|| Ok(Some(vec![1])));
        assert_eq!(made, (Some(Arc::from([1])), true));
        let again = bytecode.get_or_compile(|| unreachable!("it is there"));
        assert_eq!(again, (Some(Arc::from([1])), false));
        let refused = Bytecode::default();
        assert_eq!(refused.get_or_compile(|| Ok(None)), (None, false));
        assert_eq!(
            refused.get_or_compile(|| unreachable!("no use")),
            (None, false)
        );
    }
}
