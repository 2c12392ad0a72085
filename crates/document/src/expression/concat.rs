//! Operands of `~` as texts: minijinja writes values in its own form there (`None`, `True`, `3.0`),
//! so each operand gets a filter that writes them as `{{ }}` does.

use std::{borrow::Cow, ops::Range};

use super::token::Token;

/// Name of the filter. Authors cannot use it, because it is none of the documented ones.
pub(super) const FILTER: &str = "_text";

/// The part of the source between two operators that bind no tighter than `~`.
#[derive(Clone, Copy, Default)]
struct Operand {
    /// Index of its first token.
    start: usize,
    /// Whether `~` is before it.
    joined: bool,
}

/// `source` with each operand of `~` as a text.
pub(super) fn with_texts<'s>(source: &'s str, tokens: &[Token<'s>]) -> Cow<'s, str> {
    if !tokens.contains(&Token::Symbol("~")) {
        return Cow::Borrowed(source);
    }
    let mut wrapped = Vec::new();
    let mut outer = Vec::new();
    let mut operand = Operand::default();
    for (index, token) in tokens.iter().enumerate() {
        let opens = matches!(token, Token::Symbol("(" | "[" | "{"));
        let closes = matches!(token, Token::Symbol(")" | "]" | "}"));
        let concatenates = *token == Token::Symbol("~");
        if closes || ends_operand(tokens, index) {
            if (operand.joined || concatenates) && operand.start < index {
                wrapped.push(operand.start..index);
            }
            operand = Operand {
                start: index + 1,
                joined: concatenates,
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
    if operand.joined && operand.start < tokens.len() {
        wrapped.push(operand.start..tokens.len());
    }
    insert(source, tokens, &wrapped).map_or(Cow::Borrowed(source), Cow::Owned)
}

/// Whether a token stands between operands.
fn ends_operand(tokens: &[Token<'_>], index: usize) -> bool {
    let before = index.checked_sub(1).map(|before| tokens[before]);
    let follows_is = |index: usize| index > 0 && tokens[index - 1] == Token::Name("is");
    match tokens[index] {
        Token::Symbol("~" | "+" | "," | ":" | "=" | "==" | "!=" | "<" | "<=" | ">" | ">=") => true,
        // A sign belongs to its number.
        Token::Symbol("-") => match before {
            Some(Token::Name(name)) => !matches!(name, "and" | "or" | "not" | "in" | "if" | "else"),
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

/// Puts each range of tokens into brackets with the filter. `None` if the source is no expression
/// anyway, so that its tokens are not parts of it.
fn insert(source: &str, tokens: &[Token<'_>], wrapped: &[Range<usize>]) -> Option<String> {
    let mut inserted = Vec::with_capacity(wrapped.len() * 2);
    for range in wrapped {
        inserted.push((span(source, tokens[range.start])?.start, "(", ""));
        inserted.push((span(source, tokens[range.end - 1])?.end, ")|", FILTER));
    }
    inserted.sort_unstable();
    let mut text = String::with_capacity(source.len() + inserted.len() * (FILTER.len() + 2));
    let mut done = 0;
    for (at, mark, filter) in inserted {
        text.push_str(source.get(done..at)?);
        text.push_str(mark);
        text.push_str(filter);
        done = at;
    }
    text.push_str(source.get(done..)?);
    Some(text)
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
