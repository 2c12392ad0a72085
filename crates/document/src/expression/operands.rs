//! Filters for operands. minijinja computes operators by itself, partly while it compiles: `~`
//! writes values in its own form (`None`, `True`, `3.0`), `*` repeats texts and lists, `in`
//! searches lists of any length, and `for` goes through them. So operands get filters that write
//! values as `{{ }}` does, refuse what is no number, and count the work. What has a filter is never
//! computed early.

use std::{borrow::Cow, ops::Range, sync::Arc};

use minijinja::{
    Environment, Error, ErrorKind, State, Value as Dynamic, tests,
    value::{Enumerator, Object, ObjectRepr, ValueKind},
};

use super::{
    outcome::{bounded, shared, text_of},
    token::Token,
};

type Outcome = Result<Dynamic, Error>;

/// Names of the filters. Authors cannot use them, because they are none of the documented ones.
const NUMBER: &str = "_number";
const TEXT: &str = "_text";
const SEARCHED: &str = "_searched";
const EACH: &str = "_each";

/// An operator whose operands get a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// `*`
    Times,
    /// `~`
    Concat,
    /// `in`, whose right operand gets one.
    In,
}

/// The part of the source between two operators that bind no tighter than the one in question.
#[derive(Clone, Copy, Default)]
struct Operand {
    /// Index of its first token.
    start: usize,
    /// Whether the operator is before it.
    joined: bool,
}

/// What is put into the source: its offset, its rank among those at the same offset, and its two
/// parts.
pub(super) type Insertion = (usize, u8, &'static str, &'static str);

/// `source` with filters for the operands in it.
pub(super) fn with_filters<'s>(source: &'s str, tokens: &[Token<'s>]) -> Cow<'s, str> {
    let all = [Operator::Times, Operator::Concat, Operator::In];
    // Without a place in the source, tokens are not parts of an expression anyway.
    match insertions(source, tokens, &all) {
        Some(found) if !found.is_empty() => {
            insert(source, found).map_or(Cow::Borrowed(source), Cow::Owned)
        }
        _ => Cow::Borrowed(source),
    }
}

/// The filters for the operands of `operators` in the expression with `tokens`, a part of `source`.
/// `None` if a token has no place in the source.
pub(super) fn insertions(
    source: &str,
    tokens: &[Token<'_>],
    operators: &[Operator],
) -> Option<Vec<Insertion>> {
    let mut found = Vec::new();
    for operator in operators {
        if !tokens.contains(&operator.token()) {
            continue;
        }
        for range in operator.operands(tokens) {
            let (rank, filter) = operator.filter();
            found.extend(around(source, &tokens[range], rank, filter)?);
        }
    }
    Some(found)
}

/// The filter for what a loop goes through: `items` of `for item in items`, where `tokens` follow
/// `in`.
pub(super) fn iterated(source: &str, tokens: &[Token<'_>]) -> Option<[Insertion; 2]> {
    let mut depth = 0_usize;
    let mut end = tokens.len();
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Symbol("(" | "[" | "{") => depth += 1,
            Token::Symbol(")" | "]" | "}") => depth = depth.saturating_sub(1),
            Token::Name("if" | "recursive")
                if depth == 0 && index > 0 && tokens[index - 1] != Token::Symbol(".") =>
            {
                end = index;
                break;
            }
            _ => {}
        }
    }
    around(source, &tokens[..end], 4, EACH)
}

/// Brackets around `operand`, and `filter` behind them.
fn around(
    source: &str,
    operand: &[Token<'_>],
    rank: u8,
    filter: &'static str,
) -> Option<[Insertion; 2]> {
    let start = span(source, *operand.first()?)?.start;
    let end = span(source, *operand.last()?)?.end;
    Some([(start, 0, "(", ""), (end, rank, ")|", filter)])
}

/// `source` with what is `found` in it. `None` if a place is not within it.
pub(super) fn insert(source: &str, mut found: Vec<Insertion>) -> Option<String> {
    found.sort_unstable();
    let added: usize = found.iter().map(|(_, _, _, name)| name.len() + 3).sum();
    let mut text = String::with_capacity(source.len() + added);
    let mut done = 0;
    for (at, _, mark, filter) in found {
        text.push_str(source.get(done..at)?);
        text.push_str(mark);
        if !filter.is_empty() {
            text.push_str(filter);
            // A keyword may follow at once.
            text.push(' ');
        }
        done = at;
    }
    text.push_str(source.get(done..)?);
    Some(text)
}

impl Operator {
    fn token(self) -> Token<'static> {
        match self {
            Self::Times => Token::Symbol("*"),
            Self::Concat => Token::Symbol("~"),
            Self::In => Token::Name("in"),
        }
    }

    /// The filter of its operands, and its rank: of two that end at the same place, that of the
    /// tighter operator comes first.
    fn filter(self) -> (u8, &'static str) {
        match self {
            Self::Times => (1, NUMBER),
            Self::Concat => (2, TEXT),
            Self::In => (3, SEARCHED),
        }
    }

    /// The operands that get a filter.
    fn operands(self, tokens: &[Token<'_>]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut add = |operand: Operand, end: usize, before: bool| {
            let wanted = operand.joined || (before && self != Self::In);
            let range = operand.start..end;
            if wanted && !range.is_empty() && !self.spares(&tokens[range.clone()]) {
                found.push(range);
            }
        };
        let mut outer = Vec::new();
        let mut operand = Operand::default();
        for (index, token) in tokens.iter().enumerate() {
            let opens = matches!(token, Token::Symbol("(" | "[" | "{"));
            let closes = matches!(token, Token::Symbol(")" | "]" | "}"));
            if closes || self.ends_operand(tokens, index) {
                let joins = *token == self.token();
                add(operand, index, joins);
                operand = Operand {
                    start: index + 1,
                    joined: joins,
                };
            }
            if opens {
                outer.push(operand);
                operand = Operand {
                    start: index + 1,
                    joined: false,
                };
            } else if closes {
                operand = outer.pop().unwrap_or_default();
            }
        }
        add(operand, tokens.len(), false);
        found
    }

    /// Whether an operand needs no filter.
    fn spares(self, operand: &[Token<'_>]) -> bool {
        let is_number = matches!(
            operand,
            [Token::Number(_)] | [Token::Symbol("-"), Token::Number(_)]
        );
        self == Self::Times && is_number
    }

    /// Whether a token stands between operands.
    fn ends_operand(self, tokens: &[Token<'_>], index: usize) -> bool {
        let before = index.checked_sub(1).map(|before| tokens[before]);
        let follows_is = |index: usize| index > 0 && tokens[index - 1] == Token::Name("is");
        match tokens[index] {
            Token::Symbol("," | ":" | "=" | "==" | "!=" | "<" | "<=" | ">" | ">=") => true,
            Token::Symbol("~" | "+") => self != Self::In,
            Token::Symbol("*" | "/" | "//" | "%") => self == Self::Times,
            Token::Symbol("-") if self == Self::In => false,
            // A sign belongs to its number.
            Token::Symbol("-") => match before {
                Some(Token::Name(name)) => {
                    !matches!(name, "and" | "or" | "not" | "in" | "if" | "else")
                }
                Some(Token::Number(_) | Token::Text(_)) => true,
                Some(Token::Symbol(symbol)) => matches!(symbol, ")" | "]" | "}"),
                None => false,
            },
            Token::Name(_) if before == Some(Token::Symbol(".")) => false,
            Token::Name("and" | "or" | "if" | "else") => true,
            Token::Name("not") => !follows_is(index),
            Token::Name("in") => {
                let denied = before == Some(Token::Name("not")) && follows_is(index - 1);
                !follows_is(index) && !denied
            }
            _ => false,
        }
    }
}

/// Where a token is in the source, with its quotes.
fn span(source: &str, token: Token<'_>) -> Option<Range<usize>> {
    let (text, quote) = match token {
        Token::Text(text) => (text, 1),
        Token::Name(text) | Token::Number(text) | Token::Symbol(text) => (text, 0),
    };
    let start = (text.as_ptr() as usize).checked_sub(source.as_ptr() as usize)?;
    let end = start.checked_add(text.len() + quote)?;
    (end <= source.len()).then_some(start.checked_sub(quote)?..end)
}

pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_filter(NUMBER, number);
    environment.add_filter(TEXT, text);
    environment.add_filter(SEARCHED, searched);
    environment.add_filter(EACH, each);
    environment.add_test("in", is_in);
}

/// An operand of `*`, which would repeat texts and lists.
fn number(value: &Dynamic) -> Outcome {
    match value.kind() {
        ValueKind::Undefined => Err(Error::from(ErrorKind::UndefinedError)),
        ValueKind::String | ValueKind::Seq | ValueKind::Iterable => Err(Error::new(
            ErrorKind::InvalidOperation,
            "`*` multiplies numbers only",
        )),
        _ => Ok(value.clone()),
    }
}

/// An operand of `~`.
fn text(state: &State<'_, '_>, value: &Dynamic) -> Outcome {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    bounded(text_of(value, &*shared(state)?)?)
}

/// What `in` searches.
fn searched(state: &State<'_, '_>, container: &Dynamic) -> Outcome {
    if container.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    shared(state)?.charge_dynamic(search_work(container))?;
    Ok(container.clone())
}

/// The test `in`.
fn is_in(state: &State<'_, '_>, value: &Dynamic, container: &Dynamic) -> Result<bool, Error> {
    let work = search_work(container).saturating_add(search_work(value));
    shared(state)?.charge_dynamic(work)?;
    tests::is_in(state, value, container)
}

/// The work of a search in `container`.
fn search_work(container: &Dynamic) -> usize {
    if let Some(text) = container.as_str() {
        return text.len() / 64;
    }
    if !matches!(container.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return 0;
    }
    let count = || container.try_iter().map_or(0, Iterator::count);
    container.len().unwrap_or_else(count)
}

/// What a loop goes through.
fn each(list: &Dynamic) -> Outcome {
    match list.kind() {
        ValueKind::Seq if list.len().is_some() => Ok(Dynamic::from_object(Watched(list.clone()))),
        ValueKind::Seq | ValueKind::Iterable | ValueKind::Map | ValueKind::String => {
            let mut items = Vec::new();
            for item in list.try_iter()? {
                crate::work::check();
                items.push(item);
            }
            Ok(Dynamic::from_object(Watched(Dynamic::from(items))))
        }
        _ => Ok(list.clone()),
    }
}

/// A list that looks at the bounds of the computation: a loop over it takes as long as its body.
#[derive(Debug)]
struct Watched(Dynamic);

impl Object for Watched {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Dynamic) -> Option<Dynamic> {
        crate::work::check();
        self.0.get_item(key).ok()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len().unwrap_or_default())
    }
}
