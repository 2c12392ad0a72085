//! Expressions: `customer.name`, `items|sum('price') > 100`. minijinja evaluates them, without
//! template statements; plain paths and common filters are evaluated straight on the JSON.
//!
//! Bounds: the length and nesting of the source, the fuel of one evaluation and of one document,
//! and the length of a text. minijinja by itself can be made to run out of memory or stack.

mod dynamic;
mod environment;
mod evaluated;
mod functions;
mod markup;
mod plan;
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
    scope::{Entry, Scope},
    shared::{Evaluation, Shared},
    text::CompiledText,
};
use crate::suggestion;

/// Why an expression cannot be compiled or evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Code of the diagnostic.
    pub(crate) code: &'static str,
    /// What is wrong.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
    /// The path that stands for nothing, and the number of its segments that do; its hint is made
    /// where the failure is reported, since that takes a search of the data.
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
                "`{}` has no field `{}`, which `{written}` asks for",
                path[..known].join("."),
                path[known],
            )
        };
        Self {
            missing: Some((path.to_vec(), known)),
            ..Self::new("undefined-variable", message)
        }
    }

    /// The hint, searched for in `scope` where a path stands for nothing.
    pub(crate) fn find_hint(&self, scope: &Scope<'_>) -> Option<String> {
        if self.hint.is_some() {
            return self.hint.clone();
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

/// The path in scope that is most like `path`.
fn nearest_path(path: &[Box<str>], known: usize, scope: &Scope<'_>) -> Option<String> {
    let (start, wrong) = (&path[..known], &path[known]);
    let siblings: Vec<&str> = match scope.resolve(start) {
        Ok(found) if known > 0 => found.field_names(),
        _ => scope.names(),
    };
    let mut candidates = Vec::new();
    for name in scope.names().into_iter().take(100) {
        candidates.push(name.to_owned());
        let fields = scope.lookup(name).map(scope::Found::field_names);
        for field in fields.into_iter().flatten().take(50) {
            candidates.push(format!("{name}.{field}"));
        }
    }
    let written = path.join(".");
    let plain = |name: &str| name.replace(['.', '_', '-'], "").to_lowercase();
    let same = candidates
        .iter()
        .find(|candidate| plain(candidate) == plain(&written));
    if let Some(same) = same {
        return Some(same.clone());
    }
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

/// An expression that has been checked and made ready.
#[derive(Debug)]
pub(crate) struct CompiledExpression {
    plan: plan::Plan,
    /// Dotted paths of the variables used.
    pub(crate) paths: Vec<Vec<Box<str>>>,
    /// Names of the messages asked for by `t('name')`.
    pub(crate) messages: Vec<Box<str>>,
    /// Names of the helpers called by `helpers.name(…)`.
    pub(crate) helpers: Vec<Box<str>>,
}

impl CompiledExpression {
    /// Checks `source` and makes it ready.
    ///
    /// # Errors
    /// Where the source exceeds a bound, is no expression, or uses an unknown filter or function.
    pub(crate) fn new(source: &str) -> Result<Self, Failure> {
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
                    .compile_expression_owned(source.to_owned())
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
                match plan::product(&tokens) {
                    Some(factors) => plan::Plan::Product {
                        factors,
                        general: Box::new(general),
                    },
                    None => general,
                }
            }
        };
        Ok(Self {
            plan,
            paths,
            messages: token::messages(&tokens),
            helpers: token::helpers(&tokens),
        })
    }

    /// The value of the expression in `scope`.
    ///
    /// # Errors
    /// Where a variable is undefined, an operation does not fit its values, or a bound is reached.
    pub(crate) fn evaluate<'s>(
        &self,
        scope: &Scope<'s>,
        evaluation: &Evaluation,
    ) -> Result<Evaluated<'s>, Failure> {
        self.plan.evaluate(scope, evaluation).map_err(|failure| {
            // minijinja does not say which variable was undefined.
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

    /// True for a plain path such as `item.value`.
    pub(crate) fn is_path(&self) -> bool {
        matches!(self.plan, plan::Plan::Path(_))
    }

    /// True where the expression holds: anything but `false`, null, zero and emptiness.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
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
            _ => "expression-failed",
        };
        let text: String = detail(&error).chars().take(300).collect();
        Self::new(code, text)
    }
}
