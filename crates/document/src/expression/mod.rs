//! Expressions such as `customer.name` and `items|sum('price') > 100`. minijinja evaluates them,
//! without template statements; plain paths and common filters take a fast path directly on the
//! JSON.
//!
//! Limits: length and nesting of the source, fuel of an evaluation, work of a document, and length
//! of a text. minijinja alone can be made to exhaust memory or the stack.

mod dates;
mod dynamic;
mod environment;
mod evaluated;
mod functions;
mod lists;
mod markup;
mod message;
mod operands;
mod outcome;
mod plan;
mod reference;
mod scan;
pub(crate) mod scope;
mod shared;
#[cfg(test)]
mod tests;
mod text;
mod token;

use minijinja::ErrorKind;

pub(crate) use self::{
    dynamic::HELPERS,
    evaluated::{Evaluated, MAX_TEXT_BYTES, Rows},
    functions::Sum,
    markup::Markup,
    reference::{Reference, References},
    scope::{Entry, Scope},
    shared::{Evaluation, Shared},
    text::CompiledText,
};
use crate::suggestion;

/// Maximum length of a name that a hint offers, in bytes.
const MAX_HINT_BYTES: usize = 200;
/// Maximum number of names beside a misspelt one that are compared with it.
const MAX_SIBLINGS: usize = 10_000;

/// Why an expression cannot be compiled or evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Code of the diagnostic.
    pub(crate) code: &'static str,
    /// What is wrong.
    pub(crate) message: String,
    /// How to fix it.
    pub(crate) hint: Option<String>,
    /// The path that does not exist, and the number of its leading segments that do. The hint is
    /// only computed when the failure is reported, because it requires a search of the data.
    pub(crate) missing: Option<(Vec<Box<str>>, usize)>,
}

impl Failure {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
            missing: None,
        }
    }

    fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn missing(path: &[Box<str>], known: usize) -> Self {
        let written = path.join(".");
        let message = if known == 0 {
            format!("there is no `{}` in the data", path[0])
        } else {
            format!(
                "`{}` has no field `{}`, which `{written}` uses",
                path[..known].join("."),
                path[known],
            )
        };
        Self {
            missing: Some((path.to_vec(), known)),
            ..Self::new("undefined-variable", message)
        }
    }

    /// What is wrong: if a path ends early because a value has no fields, that value, and not the
    /// field that it cannot have.
    pub(crate) fn find_message(&self, scope: &Scope<'_>) -> String {
        match self.barren(scope) {
            Some((parent, written, what)) => {
                format!("`{parent}` is {what}, so `{written}` has no value")
            }
            None => self.message.clone(),
        }
    }

    /// The path to a value without fields, the path beyond it, and what the value is.
    fn barren(&self, scope: &Scope<'_>) -> Option<(String, String, &'static str)> {
        let (path, known) = self.missing.as_ref().filter(|(_, known)| *known > 0)?;
        let what = scope.resolve(&path[..*known]).ok()?.without_fields()?;
        Some((path[..*known].join("."), path.join("."), what))
    }

    /// The hint, computed from `scope` if a path does not exist.
    pub(crate) fn find_hint(&self, scope: &Scope<'_>) -> Option<String> {
        if self.hint.is_some() {
            return self.hint.clone();
        }
        if let Some((parent, written, what)) = self.barren(scope) {
            return Some(match what {
                "null" => {
                    format!(
                        "write `{written}|default('')`, or `\"when\": \"{parent}\"` on the node"
                    )
                }
                _ => format!("`{parent}` has no fields: use it as it is"),
            });
        }
        let (path, known) = self.missing.as_ref()?;
        let near = nearest_path(path, *known, scope);
        Some(match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "add it to the data, or write `{}|default('')`",
                path.join(".")
            ),
        })
    }
}

/// The path in scope that most resembles `path`. Long names are none that an author misspelt.
fn nearest_path(path: &[Box<str>], known: usize, scope: &Scope<'_>) -> Option<String> {
    crate::work::look();
    let is_short = |name: &&str| name.len() <= MAX_HINT_BYTES;
    let (start, wrong) = (&path[..known], &path[known]);
    let siblings: Vec<&str> = match scope.resolve(start) {
        Ok(found) if known > 0 => found.field_names(),
        _ => scope.names(),
    };
    let mut candidates = Vec::new();
    for name in scope.names().into_iter().filter(is_short).take(100) {
        candidates.push(name.to_owned());
        let fields = scope.lookup(name).map(scope::Found::field_names);
        for field in fields.into_iter().flatten().filter(is_short).take(50) {
            candidates.push(format!("{name}.{field}"));
        }
    }
    let written = path.join(".");
    let plain = |name: &str| name.replace(['.', '_', '-'], "").to_lowercase();
    let wanted = plain(&written);
    let same = candidates
        .iter()
        .find(|candidate| plain(candidate) == wanted);
    if let Some(same) = same {
        return Some(same.clone());
    }
    let siblings = siblings.into_iter().filter(is_short).take(MAX_SIBLINGS);
    if let Some(near) = suggestion::nearest(wrong, siblings) {
        let mut fixed: Vec<&str> = start.iter().map(AsRef::as_ref).collect();
        fixed.push(near);
        fixed.extend(path[known + 1..].iter().map(AsRef::as_ref));
        return Some(fixed.join("."));
    }
    let ends = |candidate: &&String| candidate.rsplit('.').next() == Some(wrong);
    candidates.iter().find(ends).cloned().or_else(|| {
        suggestion::nearest(&written, candidates.iter().map(String::as_str)).map(str::to_owned)
    })
}

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct CompiledExpression {
    plan: plan::Plan,
    /// Dotted paths of the variables it uses.
    pub(crate) paths: Vec<Vec<Box<str>>>,
    /// Messages it uses, as in `t('name')`.
    pub(crate) messages: Vec<Box<str>>,
    /// Helpers it calls, as in `helpers.name(…)`.
    pub(crate) helpers: Vec<Box<str>>,
    /// Whether it refers to other nodes, as in `ref('id').number`.
    pub(crate) refers: bool,
}

impl CompiledExpression {
    /// Compiles `source`.
    ///
    /// # Errors
    /// The source exceeds a limit, is not an expression, or uses an unknown filter or function.
    pub(crate) fn new(source: &str) -> Result<Self, Failure> {
        crate::work::look();
        let tokens = token::tokens(source)?;
        if tokens.is_empty() {
            return Err(Failure::new("expression-syntax", "the expression is empty"));
        }
        environment::check_names(&tokens)?;
        let paths = token::paths(&tokens);
        let plan = match plan::fast(&tokens) {
            Some(plan) => plan,
            None => {
                let expression = environment::ENVIRONMENT
                    .compile_expression_owned(operands::with_filters(source, &tokens).into_owned())
                    .map_err(|error| {
                        Failure::new(
                            "expression-syntax",
                            format!("`{}` is no expression: {}", source.trim(), detail(&error)),
                        )
                    })?;
                let mut roots: Vec<Box<str>> = paths.iter().map(|path| path[0].clone()).collect();
                roots.sort();
                roots.dedup();
                let general = plan::Plan::General { expression, roots };
                if let Some(factors) = plan::product(&tokens) {
                    plan::Plan::Product {
                        factors,
                        general: Box::new(general),
                    }
                } else if let Some(summed) = plan::summed(&tokens) {
                    plan::Plan::Summed {
                        summed,
                        general: Box::new(general),
                    }
                } else {
                    general
                }
            }
        };
        Ok(Self {
            plan,
            paths,
            messages: token::messages(&tokens),
            helpers: token::helpers(&tokens),
            refers: token::calls(&tokens, "ref"),
        })
    }

    /// Evaluates the expression in `scope`.
    ///
    /// # Errors
    /// A variable is undefined, an operation does not fit its operands, or a limit is exceeded.
    pub(crate) fn evaluate<'s>(
        &self,
        scope: &Scope<'s>,
        evaluation: &Evaluation,
    ) -> Result<Evaluated<'s>, Failure> {
        self.plan.evaluate(scope, evaluation).map_err(|failure| {
            // minijinja does not report which variable was undefined.
            let undefined = failure.code == "undefined-variable"
                || failure.code == "expression-failed" && failure.message.contains("undefined");
            if undefined && failure.missing.is_none() {
                for path in &self.paths {
                    if let Err(known) = scope.resolve(path) {
                        return Failure::missing(path, known);
                    }
                }
            }
            failure
        })
    }

    /// Whether it is a plain path, such as `item.value`.
    pub(crate) fn is_path(&self) -> bool {
        matches!(self.plan, plan::Plan::Path(_))
    }

    /// Evaluates the expression as a condition: false for `false`, null, zero and empty values.
    ///
    /// # Errors
    /// See [`Self::evaluate`].
    pub(crate) fn holds(
        &self,
        scope: &Scope<'_>,
        evaluation: &Evaluation,
    ) -> Result<bool, Failure> {
        Ok(self.evaluate(scope, evaluation)?.is_true())
    }
}

fn detail(error: &minijinja::Error) -> String {
    error
        .detail()
        .map_or_else(|| error.kind().to_string(), str::to_owned)
}

impl From<minijinja::Error> for Failure {
    fn from(error: minijinja::Error) -> Self {
        let code = match error.kind() {
            ErrorKind::UndefinedError => "undefined-variable",
            ErrorKind::OutOfFuel => "too-much-work",
            ErrorKind::SyntaxError => "expression-syntax",
            ErrorKind::UnknownFilter => "unknown-filter",
            ErrorKind::UnknownFunction | ErrorKind::UnknownMethod => "unknown-function",
            _ if detail(&error).starts_with(shared::OUT_OF_WORK) => "too-much-work",
            _ if detail(&error).starts_with(shared::HELPER) => "helper-failed",
            _ if detail(&error).starts_with(reference::UNKNOWN) => "unknown-reference",
            _ => "expression-failed",
        };
        let text: String = detail(&error).chars().take(300).collect();
        Self::new(code, text)
    }
}
