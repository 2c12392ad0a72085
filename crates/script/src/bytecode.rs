//! Long sources are compiled once: parsing a megabyte takes far longer than loading it as bytecode.
//!
//! They are compiled in a cell, because the parser is as exposed as the code itself. The bytecode
//! never leaves this process's memory except for cells, and runs only in cells.

use std::sync::Arc;

use parking_lot::Mutex;

/// Sources of at least this size are compiled.
pub(crate) const MIN_SOURCE_BYTES: usize = 16 << 10;

/// The bytecode of a source, once compiled. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Bytecode(Arc<Mutex<State>>);

#[derive(Clone, Debug, Default)]
enum State {
    #[default]
    Untried,
    Made(Arc<[u8]>),
    /// The source cannot be compiled. It runs as source, so that the author sees its error.
    Refused,
}

/// No cell was available to compile in; a later attempt may succeed.
pub(crate) struct NoCell;

impl Bytecode {
    /// The bytecode, and whether this call compiled it. `compile` returns `None` for a source that
    /// cannot be compiled. Concurrent callers wait.
    pub(crate) fn get_or_compile(
        &self,
        compile: impl FnOnce() -> Result<Option<Vec<u8>>, NoCell>,
    ) -> (Option<Arc<[u8]>>, bool) {
        let mut state = self.0.lock();
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

/// Bytecode is derived from the source, so it does not affect equality.
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
