//! What functions and filters need to end well or badly: the state of the rendering, texts, errors.

use std::sync::Arc;

use minijinja::{Error, ErrorKind, State, Value as Dynamic};

use super::{
    Failure, Shared,
    dynamic::SHARED,
    evaluated::{Evaluated, MAX_TEXT_BYTES},
};

/// The state shared by all functions of a rendering.
pub(super) fn shared(state: &State<'_, '_>) -> Result<Arc<Shared>, Error> {
    state
        .lookup(SHARED)
        .and_then(|handle| handle.downcast_object::<Shared>())
        .ok_or_else(|| error("functions are not available here"))
}

pub(super) fn error(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        error(failure.message)
    }
}

/// The text of a value. A filter reads all of it, which fuel counts as one instruction.
pub(super) fn text_of(value: &Dynamic, shared: &Shared) -> Result<String, Error> {
    shared.charge_dynamic(1 + value.as_str().map_or(0, str::len) / 64)?;
    Ok(Evaluated::Dynamic(value.clone()).into_text(shared)?)
}

pub(super) fn bounded(text: String) -> Result<Dynamic, Error> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(error(format!(
            "a text is longer than {MAX_TEXT_BYTES} bytes"
        )));
    }
    Ok(Dynamic::from(text))
}
