//! Evaluation strategies: a path, also with a common filter or with one that sums up and one that
//! formats, directly on the JSON; everything else with minijinja, for which the data are converted.
//! Tables of thousands of rows depend on the fast path.

use std::cmp::Ordering;

use minijinja::{Expression, Value as Dynamic};
use serde_json::Value as Json;

use super::{
    Evaluated, Failure, Scope,
    dynamic::variables,
    evaluated::{Scalar, format_length},
    functions::{Sum, currency_format, title_case},
    scope::Found,
    shared::Evaluation,
    token::{Token, is_keyword},
};
use crate::bound::{FormatLength, ValueFormat};

/// How an expression is evaluated.
#[derive(Debug)]
pub(super) enum Plan {
    /// `customer.name`
    Path(Vec<Box<str>>),
    /// `item.price|currency('EUR')`
    Filtered(Vec<Box<str>>, Filter),
    /// `items|sum('price')|currency('EUR')` of a list in the data; other operands, and mistakes, take
    /// the general way.
    Summed { summed: Summed, general: Box<Plan> },
    /// `item.quantity * item.price`: multiplies numbers as minijinja would; other operands take the
    /// general way.
    Product {
        factors: [Vec<Box<str>>; 2],
        general: Box<Plan>,
    },
    /// Anything else, with the names of its variables.
    General {
        expression: Expression<'static, 'static>,
        roots: Vec<Box<str>>,
    },
}

/// What is summed up, and then formatted.
#[derive(Debug)]
pub(super) struct Summed {
    list: Vec<Box<str>>,
    sum: Filter,
    format: Filter,
}

/// A filter with constant arguments that is evaluated without minijinja.
#[derive(Debug)]
pub(super) enum Filter {
    Number(Option<u8>),
    Currency(Option<String>),
    Percent(u8),
    Moment(ValueFormat),
    Upper,
    Lower,
    Title,
    Count,
    Sum(Option<Vec<Box<str>>>),
    Average(Option<Vec<Box<str>>>),
    Extreme(Option<Vec<Box<str>>>, Ordering),
}

/// The path at the start of `tokens`, and the remaining tokens.
fn leading_path<'t, 's>(tokens: &'t [Token<'s>]) -> Option<(Vec<Box<str>>, &'t [Token<'s>])> {
    let Token::Name(first) = tokens.first()? else {
        return None;
    };
    if is_keyword(first) {
        return None;
    }
    let mut path = vec![Box::from(*first)];
    let mut rest = &tokens[1..];
    while let [Token::Symbol("."), Token::Name(field), after @ ..] = rest {
        path.push(Box::from(*field));
        rest = after;
    }
    Some((path, rest))
}

/// The factors of an expression that is a product of two paths.
pub(super) fn product(tokens: &[Token<'_>]) -> Option<[Vec<Box<str>>; 2]> {
    let (left, rest) = leading_path(tokens)?;
    let [Token::Symbol("*"), rest @ ..] = rest else {
        return None;
    };
    let (right, rest) = leading_path(rest)?;
    rest.is_empty().then_some([left, right])
}

/// The fast plan of an expression, if there is one.
pub(super) fn fast(tokens: &[Token<'_>]) -> Option<Plan> {
    let (path, rest) = leading_path(tokens)?;
    if rest.is_empty() {
        return Some(Plan::Path(path));
    }
    let (filter, rest) = leading_filter(rest)?;
    rest.is_empty().then_some(Plan::Filtered(path, filter))
}

/// A list that is summed up, and then formatted.
pub(super) fn summed(tokens: &[Token<'_>]) -> Option<Summed> {
    let (list, rest) = leading_path(tokens)?;
    let (sum, rest) = leading_filter(rest)?;
    let (format, rest) = leading_filter(rest)?;
    let is_one = rest.is_empty() && sum.sums_up() && format.formats();
    is_one.then_some(Summed { list, sum, format })
}

/// The filter at the start of `tokens`, with a constant argument at most, and the remaining tokens.
fn leading_filter<'t, 's>(tokens: &'t [Token<'s>]) -> Option<(Filter, &'t [Token<'s>])> {
    let [Token::Symbol("|"), Token::Name(name), rest @ ..] = tokens else {
        return None;
    };
    let (argument, rest) = match rest {
        [Token::Symbol("("), Token::Symbol(")"), rest @ ..] => (None, rest),
        [
            Token::Symbol("("),
            argument @ (Token::Text(_) | Token::Number(_)),
            Token::Symbol(")"),
            rest @ ..,
        ] => (Some(*argument), rest),
        [Token::Symbol("("), ..] => return None,
        rest => (None, rest),
    };
    Some((filter(name, argument)?, rest))
}

fn filter(name: &str, argument: Option<Token<'_>>) -> Option<Filter> {
    let text = match argument {
        Some(Token::Text(text)) if !text.contains('\\') => Some(text),
        Some(Token::Text(_)) => return None,
        _ => None,
    };
    let number: Option<u8> = match argument {
        Some(Token::Number(number)) => Some(number.parse().ok()?),
        _ => None,
    };
    let length = || -> Option<FormatLength> {
        match (argument, text) {
            (None, _) => Some(FormatLength::default()),
            (_, Some(text)) => format_length(text),
            _ => None,
        }
    };
    let attribute = || -> Option<Option<Vec<Box<str>>>> {
        match (argument, text) {
            (None, _) => Some(None),
            (_, Some(text)) if !text.is_empty() => {
                Some(Some(text.split('.').map(Box::from).collect()))
            }
            _ => None,
        }
    };
    Some(match name {
        "number" if text.is_none() => Filter::Number(number),
        "integer" if argument.is_none() => Filter::Number(Some(0)),
        "percent" if text.is_none() => Filter::Percent(number.unwrap_or(0)),
        "currency" if number.is_none() => Filter::Currency(text.map(str::to_owned)),
        "date" => Filter::Moment(ValueFormat::Date(length()?)),
        "time" => Filter::Moment(ValueFormat::Time(match argument {
            None => FormatLength::Short,
            Some(_) => length()?,
        })),
        "datetime" => Filter::Moment(ValueFormat::DateTime(length()?)),
        "upper" if argument.is_none() => Filter::Upper,
        "lower" if argument.is_none() => Filter::Lower,
        "title" if argument.is_none() => Filter::Title,
        "count" | "length" if argument.is_none() => Filter::Count,
        "sum" => Filter::Sum(attribute()?),
        "avg" => Filter::Average(attribute()?),
        "min" => Filter::Extreme(attribute()?, Ordering::Less),
        "max" => Filter::Extreme(attribute()?, Ordering::Greater),
        _ => return None,
    })
}

impl Plan {
    pub(super) fn evaluate<'s>(
        &self,
        scope: &Scope<'s>,
        evaluation: &Evaluation,
    ) -> Result<Evaluated<'s>, Failure> {
        evaluation.shared.charge(1)?;
        match self {
            Self::Path(path) => resolve(path, scope),
            Self::Filtered(path, filter) => filter.apply(resolve(path, scope)?, evaluation),
            Self::Summed { summed, general } => match summed.evaluate(scope, evaluation) {
                Some(value) => Ok(value),
                None => general.evaluate(scope, evaluation),
            },
            Self::Product { factors, general } => match multiply(factors, scope) {
                Some(value) => Ok(Evaluated::Dynamic(value)),
                None => general.evaluate(scope, evaluation),
            },
            Self::General { expression, roots } => {
                let variables = variables(roots, scope, evaluation)?;
                let value = expression.eval(variables)?;
                if value.is_undefined() {
                    return Err(Failure::new("undefined-variable", "the value is undefined"));
                }
                Ok(Evaluated::Dynamic(value))
            }
        }
    }
}

impl Summed {
    /// `None` for anything but a list, and for mistakes.
    fn evaluate<'s>(&self, scope: &Scope<'s>, evaluation: &Evaluation) -> Option<Evaluated<'s>> {
        let list = match scope.resolve(&self.list) {
            Ok(Found::Json(json)) if json.is_array() => Evaluated::Json(json),
            Ok(Found::Rows(rows)) => Evaluated::Rows(rows),
            _ => return None,
        };
        let value = self.sum.apply(list, evaluation).ok()?;
        self.format.apply(value, evaluation).ok()
    }
}

/// The product of two numbers in the data. `None` for other operands, or on overflow.
fn multiply(factors: &[Vec<Box<str>>; 2], scope: &Scope<'_>) -> Option<Dynamic> {
    let number = |path: &[Box<str>]| match scope.resolve(path) {
        Ok(Found::Json(Json::Number(number))) => Some(number),
        _ => None,
    };
    let (left, right) = (number(&factors[0])?, number(&factors[1])?);
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) => left.checked_mul(right).map(Dynamic::from),
        _ => Some(Dynamic::from(left.as_f64()? * right.as_f64()?)),
    }
}

fn resolve<'s>(path: &[Box<str>], scope: &Scope<'s>) -> Result<Evaluated<'s>, Failure> {
    match scope.resolve(path) {
        Ok(Found::Json(json)) => Ok(Evaluated::Json(json)),
        Ok(Found::Rows(rows)) => Ok(Evaluated::Rows(rows)),
        Ok(Found::Count(count)) => Ok(Evaluated::Number(count as f64)),
        Ok(Found::Truth(truth)) => Ok(Evaluated::Truth(truth)),
        Ok(Found::PageField(field)) => Ok(Evaluated::Text(field.to_string())),
        Ok(Found::Group { .. } | Found::Loop(_)) => Err(Failure::new(
            "not-text",
            format!("`{}` has no text of its own", path.join(".")),
        )
        .with_hint("name one of its fields, such as `group.key` or `loop.index`")),
        Err(known) => Err(Failure::missing(path, known)),
    }
}

impl Filter {
    /// Whether it makes one value of a list.
    fn sums_up(&self) -> bool {
        matches!(
            self,
            Self::Count | Self::Sum(_) | Self::Average(_) | Self::Extreme(..)
        )
    }

    /// Whether it gives a value a format.
    fn formats(&self) -> bool {
        matches!(
            self,
            Self::Number(_) | Self::Percent(_) | Self::Currency(_) | Self::Moment(_)
        )
    }

    fn apply<'s>(
        &self,
        value: Evaluated<'s>,
        evaluation: &Evaluation,
    ) -> Result<Evaluated<'s>, Failure> {
        let shared = &evaluation.shared;
        let format = match self {
            Self::Upper => return Ok(Evaluated::Text(value.into_text(shared)?.to_uppercase())),
            Self::Lower => return Ok(Evaluated::Text(value.into_text(shared)?.to_lowercase())),
            Self::Title => return Ok(Evaluated::Text(title_case(&value.into_text(shared)?))),
            Self::Count => return count(&value),
            Self::Sum(attribute) => return aggregate(&value, attribute, evaluation, Sum::total),
            Self::Average(attribute) => return aggregate(&value, attribute, evaluation, Sum::mean),
            Self::Extreme(attribute, wanted) => {
                return extreme(value, attribute, *wanted, evaluation);
            }
            Self::Number(decimals) => ValueFormat::Number {
                decimals: *decimals,
            },
            Self::Percent(decimals) => ValueFormat::Percent {
                decimals: *decimals,
            },
            Self::Currency(code) => currency_format(code.as_deref(), shared)?,
            Self::Moment(format) => format.clone(),
        };
        let (text, value) = value.scalar().format(&format, shared)?;
        Ok(Evaluated::Formatted {
            text,
            value,
            format,
        })
    }
}

fn count<'s>(value: &Evaluated<'s>) -> Result<Evaluated<'s>, Failure> {
    let count = match value {
        Evaluated::Json(Json::Array(items)) => items.len(),
        Evaluated::Json(Json::Object(fields)) => fields.len(),
        Evaluated::Rows(rows) => rows.len(),
        Evaluated::Json(Json::String(text)) => text.chars().count(),
        Evaluated::Json(Json::Null) => 0,
        _ => {
            return Err(Failure::new(
                "not-a-list",
                "only lists, objects and texts are counted",
            ));
        }
    };
    Ok(Evaluated::Number(count as f64))
}

/// The elements of `value`, or their `attribute`.
fn elements<'v>(
    value: &'v Evaluated<'_>,
    attribute: Option<&'v [Box<str>]>,
) -> Result<Box<dyn Iterator<Item = Option<&'v Json>> + 'v>, Failure> {
    let follow = move |row: &'v Json| {
        attribute
            .unwrap_or_default()
            .iter()
            .try_fold(row, |value, field| value.get(field.as_ref()))
    };
    match value {
        Evaluated::Json(Json::Array(items)) => Ok(Box::new(items.iter().map(follow))),
        Evaluated::Rows(rows) => Ok(Box::new(rows.iter().map(move |row| follow(row)))),
        Evaluated::Json(Json::Null) => Ok(Box::new(std::iter::empty())),
        _ => Err(Failure::new(
            "not-a-list",
            "only lists have a sum, average, minimum or maximum",
        )),
    }
}

fn aggregate<'s>(
    value: &Evaluated<'s>,
    attribute: &Option<Vec<Box<str>>>,
    evaluation: &Evaluation,
    finish: fn(&Sum) -> Result<Option<f64>, Failure>,
) -> Result<Evaluated<'s>, Failure> {
    let mut sum = Sum::default();
    for element in elements(value, attribute.as_deref())? {
        let Some(element) = element else {
            return Err(missing_attribute(attribute));
        };
        sum.add_scalar(Scalar::of_json(element))?;
    }
    evaluation.shared.charge(sum.count)?;
    Ok(finish(&sum)?.map_or(Evaluated::Json(&Json::Null), Evaluated::Number))
}

fn missing_attribute(attribute: &Option<Vec<Box<str>>>) -> Failure {
    let name = attribute.as_deref().unwrap_or_default().join(".");
    Failure::new(
        "undefined-variable",
        format!("an element has no field `{name}`"),
    )
    .with_hint("give every element the field, or set it to null")
}

fn extreme<'s>(
    value: Evaluated<'s>,
    attribute: &Option<Vec<Box<str>>>,
    wanted: Ordering,
    evaluation: &Evaluation,
) -> Result<Evaluated<'s>, Failure> {
    let mut best: Option<&Json> = None;
    let mut count = 0;
    for element in elements(&value, attribute.as_deref())? {
        count += 1;
        let Some(element) = element else {
            return Err(missing_attribute(attribute));
        };
        if element.is_null() {
            continue;
        }
        let better = match best {
            None => true,
            Some(best) => compare(element, best)? == wanted,
        };
        if better {
            best = Some(element);
        }
    }
    evaluation.shared.charge(count)?;
    Ok(match best {
        None => Evaluated::Json(&Json::Null),
        Some(Json::Number(number)) => match number.as_i128() {
            // Exact where a double is not.
            Some(integer) => Evaluated::Dynamic(Dynamic::from(integer)),
            None => Evaluated::Number(number.as_f64().unwrap_or_default()),
        },
        Some(other) => {
            let mut text = String::new();
            Evaluated::Json(other).write(&mut text, &evaluation.shared)?;
            Evaluated::Text(text)
        }
    })
}

fn compare(left: &Json, right: &Json) -> Result<Ordering, Failure> {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => Ok(left
            .as_f64()
            .unwrap_or_default()
            .total_cmp(&right.as_f64().unwrap_or_default())),
        (Json::String(left), Json::String(right)) => Ok(left.cmp(right)),
        _ => Err(Failure::new(
            "not-comparable",
            "only numbers with numbers and texts with texts are compared",
        )),
    }
}
