//! JSON with `{{ expressions }}` in its texts, for the inputs of flow steps. A text that is a
//! single expression becomes the value itself; any other remains a text.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value as Json};

use crate::{
    Diagnostic, Locale,
    expression::{CompiledExpression, CompiledText, Evaluated, Evaluation, Failure, Scope, Shared},
    locale::TimeZone,
    pointer,
};

/// Maximum work of one evaluation.
const MAX_WORK: u64 = 10_000_000;

/// Maximum nesting of values.
const MAX_DEPTH: usize = 100;

/// Compiled JSON with expressions.
#[derive(Debug)]
pub struct Pattern(Node);

#[derive(Debug)]
enum Node {
    Literal(Json),
    Text(CompiledText),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

/// A compiled condition.
#[derive(Debug)]
pub struct Condition(CompiledExpression);

/// Context of expressions besides the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Time returned by `now()`, in seconds since 1970-01-01T00:00:00Z.
    pub unix_seconds: i64,
}

impl Pattern {
    /// Compiles `json`, which is at the pointer `path` of its document.
    ///
    /// # Errors
    /// All errors in its expressions.
    pub fn compile(json: &Json, path: &str) -> Result<Self, Vec<Diagnostic>> {
        let mut diagnostics = Vec::new();
        let node = compile(json, path, 0, &mut diagnostics);
        if diagnostics.is_empty() {
            Ok(Self(node))
        } else {
            Err(diagnostics)
        }
    }

    /// Evaluates the expressions with the fields of `data`.
    ///
    /// # Errors
    /// A message about the expression that failed.
    pub fn resolve(&self, data: &Json, moment: Moment) -> Result<Json, String> {
        let scope = Scope::root(data);
        let evaluation = evaluation(moment);
        resolve(&self.0, &scope, &evaluation).map_err(|failure| sentence(&failure, &scope))
    }
}

impl Condition {
    /// Compiles the expression `source`, with or without braces.
    ///
    /// # Errors
    /// Its errors.
    pub fn compile(source: &str, path: &str) -> Result<Self, Vec<Diagnostic>> {
        let plain = source.trim();
        let inner = plain
            .strip_prefix("{{")
            .and_then(|rest| rest.strip_suffix("}}"))
            .unwrap_or(plain);
        CompiledExpression::new(inner)
            .map(Self)
            .map_err(|failure| vec![diagnostic(&failure, path)])
    }

    /// Evaluates the condition: false for `false`, null, zero and empty values.
    ///
    /// # Errors
    /// A message about the expression that failed.
    pub fn holds(&self, data: &Json, moment: Moment) -> Result<bool, String> {
        let scope = Scope::root(data);
        self.0
            .holds(&scope, &evaluation(moment))
            .map_err(|failure| sentence(&failure, &scope))
    }
}

fn evaluation(moment: Moment) -> Evaluation {
    static ENGLISH: OnceLock<Option<Arc<Locale>>> = OnceLock::new();
    let locale = ENGLISH.get_or_init(|| Locale::new("en").ok().map(Arc::new));
    Evaluation::new(Shared::new(
        locale
            .clone()
            .unwrap_or_else(|| unreachable!("English is built in")),
        Arc::default(),
        TimeZone::UTC,
        None,
        moment.unix_seconds,
        MAX_WORK,
    ))
}

fn sentence(failure: &Failure, scope: &Scope<'_>) -> String {
    match failure.find_hint(scope) {
        Some(hint) => format!("{}; {hint}", failure.message),
        None => failure.message.clone(),
    }
}

fn diagnostic(failure: &Failure, path: &str) -> Diagnostic {
    let found = Diagnostic::error(failure.code, path, failure.message.clone());
    match &failure.hint {
        Some(hint) => found.with_hint(hint.clone()),
        None => found,
    }
}

fn compile(json: &Json, path: &str, depth: usize, diagnostics: &mut Vec<Diagnostic>) -> Node {
    if depth > MAX_DEPTH {
        diagnostics.push(Diagnostic::error(
            "too-deep",
            path,
            format!("values are nested deeper than {MAX_DEPTH} levels"),
        ));
        return Node::Literal(Json::Null);
    }
    match json {
        Json::String(text) if text.contains("{{") => match CompiledText::new(text) {
            Ok(text) => Node::Text(text),
            Err(failures) => {
                diagnostics.extend(failures.iter().map(|failure| diagnostic(failure, path)));
                Node::Literal(Json::Null)
            }
        },
        Json::Array(items) => Node::Array(
            items
                .iter()
                .enumerate()
                .map(|(index, item)| {
                    compile(item, &format!("{path}/{index}"), depth + 1, diagnostics)
                })
                .collect(),
        ),
        Json::Object(fields) => Node::Object(
            fields
                .iter()
                .map(|(name, value)| {
                    let inner = pointer::join(path, name);
                    (name.clone(), compile(value, &inner, depth + 1, diagnostics))
                })
                .collect(),
        ),
        other => Node::Literal(other.clone()),
    }
}

fn resolve(node: &Node, scope: &Scope<'_>, evaluation: &Evaluation) -> Result<Json, Failure> {
    Ok(match node {
        Node::Literal(json) => json.clone(),
        Node::Text(text) => match text.single() {
            Some(expression) => to_json(expression.evaluate(scope, evaluation)?)?,
            None => Json::String(text.evaluate(scope, evaluation)?),
        },
        Node::Array(items) => Json::Array(
            items
                .iter()
                .map(|item| resolve(item, scope, evaluation))
                .collect::<Result<_, _>>()?,
        ),
        Node::Object(fields) => {
            let mut object = Map::new();
            for (name, value) in fields {
                object.insert(name.clone(), resolve(value, scope, evaluation)?);
            }
            Json::Object(object)
        }
    })
}

fn to_json(value: Evaluated<'_>) -> Result<Json, Failure> {
    Ok(match value {
        Evaluated::Json(json) => json.clone(),
        Evaluated::Rows(rows) => Json::Array(rows.iter().map(|row| (*row).clone()).collect()),
        Evaluated::Number(number) => number_to_json(number),
        Evaluated::Truth(truth) => Json::Bool(truth),
        Evaluated::Text(text) | Evaluated::Formatted { text, .. } => Json::String(text),
        Evaluated::Dynamic(value) => serde_json::to_value(&value)
            .map_err(|error| Failure::new("expression-failed", error.to_string()))?,
    })
}

/// Whole numbers become integers.
fn number_to_json(number: f64) -> Json {
    if number.fract() == 0.0 && number.abs() < 9.0e15 {
        return Json::from(number as i64);
    }
    serde_json::Number::from_f64(number).map_or(Json::Null, Json::Number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_keep_their_types() {
        let pattern = json!({"a": "{{ steps.sum.output }}", "b": "n = {{ steps.sum.output }}", "c": ["{{ steps.sum.output + 1 }}", true], "d": "{{ trigger }}"});
        let data = json!({"steps": {"sum": {"output": 5}}, "trigger": {"x": [1]}});
        let resolved =
            Pattern::compile(&pattern, "").map(|pattern| pattern.resolve(&data, Moment::default()));
        assert_eq!(
            resolved,
            Ok(Ok(
                json!({"a": 5, "b": "n = 5", "c": [6, true], "d": {"x": [1]}})
            ))
        );
    }

    #[test]
    fn mistakes_have_their_place() {
        let found = Pattern::compile(&json!({"a": ["{{ 1 + }}"]}), "/steps/0/input");
        assert_eq!(
            found.err().map(|all| all[0].path.clone()).as_deref(),
            Some("/steps/0/input/a/0")
        );
        let pattern = Pattern::compile(&json!("{{ steps.summ.output }}"), "").ok();
        let resolved = pattern
            .map(|pattern| pattern.resolve(&json!({"steps": {"sum": 1}}), Moment::default()));
        let Some(Err(sentence)) = resolved else {
            panic!("{resolved:?}");
        };
        assert!(sentence.contains("steps.sum"), "{sentence}");
    }

    #[test]
    fn conditions_hold_or_not() {
        let data = json!({"trigger": {"kind": "big"}});
        for (source, expected) in [
            ("trigger.kind == 'big'", true),
            ("{{ trigger.kind == 'small' }}", false),
        ] {
            let holds =
                Condition::compile(source, "").map(|one| one.holds(&data, Moment::default()));
            assert_eq!(holds.ok(), Some(Ok(expected)), "{source}");
        }
    }
}
