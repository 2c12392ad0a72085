//! Lexer of expressions. It limits what reaches minijinja's recursive parser, and finds the names
//! that an expression uses.

use super::Failure;

/// Maximum length of an expression, in bytes.
pub(crate) const MAX_SOURCE_BYTES: usize = 2_000;
/// Maximum number of operators, filters and dots in an expression; each nests the syntax tree
/// deeper.
const MAX_OPERATORS: usize = 200;
/// Maximum number of concatenations and multiplications; each may copy a text of up to 1 MB.
const MAX_COPIES: usize = 32;
/// Maximum nesting of brackets.
const MAX_BRACKETS: usize = 24;

/// A token with its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'s> {
    Name(&'s str),
    Number(&'s str),
    /// The content between the quotes, with escapes unresolved.
    Text(&'s str),
    Symbol(&'s str),
}

const KEYWORDS: [&str; 13] = [
    "true", "false", "none", "True", "False", "None", "not", "and", "or", "in", "is", "if", "else",
];

/// Whether a word is a keyword rather than a variable.
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// Splits `source` into tokens.
///
/// # Errors
/// The source exceeds a limit.
pub(super) fn tokens(source: &str) -> Result<Vec<Token<'_>>, Failure> {
    if source.len() > MAX_SOURCE_BYTES {
        return Err(Failure::new(
            "expression-too-long",
            format!(
                "the expression has {} bytes; at most {MAX_SOURCE_BYTES} are allowed",
                source.len()
            ),
        ));
    }
    let mut tokens = Vec::new();
    let mut rest = source.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => {
                let length = text_length(rest, first);
                let end = (length - 1).max(1);
                tokens.push(Token::Text(rest.get(1..end).unwrap_or_default()));
                length
            }
            '0'..='9' => {
                let length = number_length(rest);
                tokens.push(Token::Number(&rest[..length]));
                length
            }
            first if first.is_alphabetic() || first == '_' => {
                let length = rest
                    .find(|symbol: char| !symbol.is_alphanumeric() && symbol != '_')
                    .unwrap_or(rest.len());
                tokens.push(Token::Name(&rest[..length]));
                length
            }
            first => {
                let two = rest.get(..2).unwrap_or_default();
                let length = match two {
                    "==" | "!=" | "<=" | ">=" | "//" | "**" => 2,
                    _ => first.len_utf8(),
                };
                tokens.push(Token::Symbol(&rest[..length]));
                length
            }
        };
        rest = rest[length..].trim_start();
    }
    bound(&tokens)?;
    Ok(tokens)
}

fn text_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (index, symbol) in rest.char_indices().skip(1) {
        match symbol {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            symbol if symbol == quote => return index + 1,
            _ => {}
        }
    }
    rest.len()
}

fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut length = 0;
    while let Some(byte) = bytes.get(length) {
        let fraction = *byte == b'.' && bytes.get(length + 1).is_some_and(u8::is_ascii_digit);
        let sign = matches!(byte, b'+' | b'-')
            && length > 0
            && matches!(bytes[length - 1], b'e' | b'E')
            && bytes.get(length + 1).is_some_and(u8::is_ascii_digit);
        if !(byte.is_ascii_alphanumeric() || *byte == b'_' || fraction || sign) {
            break;
        }
        length += 1;
    }
    length
}

fn bound(tokens: &[Token<'_>]) -> Result<(), Failure> {
    let (mut operators, mut copies, mut depth) = (0, 0, 0_usize);
    for token in tokens {
        match token {
            Token::Symbol("(" | "[" | "{") => {
                depth += 1;
                operators += 1;
                if depth > MAX_BRACKETS {
                    return Err(Failure::new(
                        "expression-too-deep",
                        format!("brackets are nested deeper than {MAX_BRACKETS} levels"),
                    ));
                }
            }
            Token::Symbol(")" | "]" | "}") => depth = depth.saturating_sub(1),
            Token::Symbol("," | ":") => {}
            Token::Symbol("~" | "*" | "**") => {
                operators += 1;
                copies += 1;
            }
            Token::Symbol(_) => operators += 1,
            Token::Name(name) if is_keyword(name) => operators += 1,
            Token::Name(name) if name.starts_with("__") => {
                return Err(Failure::new(
                    "unknown-variable",
                    format!("names do not begin with two underscores: `{name}`"),
                ));
            }
            _ => {}
        }
    }
    if operators > MAX_OPERATORS {
        return Err(Failure::new(
            "expression-too-complex",
            format!("the expression has {operators} operators; at most {MAX_OPERATORS} are read"),
        ));
    }
    if copies > MAX_COPIES {
        return Err(Failure::new(
            "expression-too-complex",
            format!("the expression has {copies} of `~` and `*`; at most {MAX_COPIES} are read"),
        ));
    }
    Ok(())
}

/// The dotted paths of variables: `customer.name` in `customer.name|upper`.
pub(super) fn paths(tokens: &[Token<'_>]) -> Vec<Vec<Box<str>>> {
    let mut paths = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        let Token::Name(first) = tokens[index] else {
            index += 1;
            continue;
        };
        let after_operator = index > 0
            && (matches!(tokens[index - 1], Token::Symbol("." | "|"))
                || matches!(tokens[index - 1], Token::Name("is"))
                || index > 1
                    && tokens[index - 1] == Token::Name("not")
                    && tokens[index - 2] == Token::Name("is"));
        let followed = tokens.get(index + 1);
        let called = followed == Some(&Token::Symbol("("));
        let argument = followed == Some(&Token::Symbol("="));
        if after_operator || called || argument || is_keyword(first) {
            index += 1;
            continue;
        }
        if helper(&tokens[index..]).is_some() {
            index += 3;
            continue;
        }
        let mut path = vec![Box::from(first)];
        index += 1;
        while let (Some(Token::Symbol(".")), Some(Token::Name(next) | Token::Number(next))) =
            (tokens.get(index), tokens.get(index + 1))
        {
            if tokens.get(index + 2) == Some(&Token::Symbol("(")) {
                break;
            }
            path.push(Box::from(*next));
            index += 2;
        }
        paths.push(path);
    }
    paths
}

/// The name of the helper if `tokens` start with a call to one: `x` in `helpers.x(`.
pub(super) fn helper<'s>(tokens: &[Token<'s>]) -> Option<&'s str> {
    match tokens {
        [
            Token::Name("helpers"),
            Token::Symbol("."),
            Token::Name(name),
            Token::Symbol("("),
            ..,
        ] => Some(name),
        _ => None,
    }
}

/// The names of the helpers that an expression calls.
pub(super) fn helpers(tokens: &[Token<'_>]) -> Vec<Box<str>> {
    let starts = 0..tokens.len();
    starts
        .filter_map(|start| helper(&tokens[start..]).map(Box::from))
        .collect()
}

/// Whether an expression calls the function `name`.
pub(super) fn calls(tokens: &[Token<'_>], name: &str) -> bool {
    tokens
        .windows(2)
        .any(|window| window == [Token::Name(name), Token::Symbol("(")])
}

/// The names of the messages that an expression uses, as in `t('name')`.
pub(super) fn messages(tokens: &[Token<'_>]) -> Vec<Box<str>> {
    tokens
        .windows(3)
        .filter_map(|window| match window {
            [Token::Name("t"), Token::Symbol("("), Token::Text(name)] => Some(Box::from(*name)),
            _ => None,
        })
        .collect()
}
