//! How deep the values of runs may nest. They stand in frames and in journals, which nest them further, and what
//! reads JSON stops at 127 levels: a deeper value could be written and not be read again.

use platen_fault::Code;
use platen_flow::StepError;
use serde_json::Value as Json;

/// Levels of lists and objects in what starts a run, ends a wait, is an output, or is stored.
pub const MAX_VALUE_DEPTH: usize = 100;

/// Whether a value has more than [`MAX_VALUE_DEPTH`] levels.
#[must_use]
pub fn is_too_deep(value: &Json) -> bool {
    exceeds(value, MAX_VALUE_DEPTH)
}

fn exceeds(value: &Json, left: usize) -> bool {
    match value {
        Json::Array(list) => left == 0 || list.iter().any(|inner| exceeds(inner, left - 1)),
        Json::Object(object) => left == 0 || object.values().any(|inner| exceeds(inner, left - 1)),
        _ => false,
    }
}

/// Refuses a value of a step that is nested too deep.
///
/// # Errors
/// With `code` and what the value is.
pub(crate) fn check(value: &Json, code: Code, what: &str) -> Result<(), StepError> {
    if !is_too_deep(value) {
        return Ok(());
    }
    let message = format!(
        "{what} nests lists and objects deeper than {MAX_VALUE_DEPTH} levels: give it as text"
    );
    Err(StepError::new(code, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> Json {
        (0..levels).fold(Json::Null, |inner, level| match level % 2 {
            0 => Json::from(vec![inner]),
            _ => serde_json::json!({"in": inner}),
        })
    }

    #[test]
    fn levels_are_counted() {
        assert!(!is_too_deep(&nested(MAX_VALUE_DEPTH)));
        assert!(is_too_deep(&nested(MAX_VALUE_DEPTH + 1)));
        let error = check(&nested(120), Code::InvalidData, "the output").unwrap_err();
        assert_eq!(&*error.code, "invalid-data");
        assert!(error.message.starts_with("the output nests"), "{error:?}");
    }
}
