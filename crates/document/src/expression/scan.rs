//! Splits HTML templates into blocks and checks each before minijinja sees it. Constructs that
//! could exhaust memory, stack or time are rejected.

use super::{
    Failure, environment,
    operands::{self, Insertion, Operator},
    text::end_of_expression,
    token,
    token::Token,
};
use crate::suggestion;

/// Maximum nesting of statements.
const MAX_NESTING: usize = 32;
/// Maximum number of blocks in a text.
const MAX_BLOCKS: usize = 20_000;
/// Allowed statements. Loops are limited by fuel; captured blocks and macros are excluded, because
/// they can keep growing a text.
const STATEMENTS: [&str; 8] = ["for", "endfor", "if", "elif", "else", "endif", "set", "raw"];
/// Operators that `set` must not use: each line could double a value.
const GROWING: [&str; 4] = ["~", "*", "**", "+"];

/// Filters that exist only in HTML templates.
const MORE_FILTERS: [&str; 2] = ["safe", "escape"];

/// What a template refers to.
#[derive(Debug, Default)]
pub(super) struct Use {
    /// Dotted paths with their lines, without loop variables.
    pub(super) paths: Vec<(u32, Vec<Box<str>>)>,
    /// Messages used, as in `t('name')`.
    pub(super) messages: Vec<Box<str>>,
    /// Helpers called, as in `helpers.name(…)`.
    pub(super) helpers: Vec<Box<str>>,
    /// Filters that bound what its operators and loops do.
    pub(super) insertions: Vec<Insertion>,
    /// Names that statements define.
    given: Vec<Box<str>>,
}

/// Checks a template and collects what it refers to.
///
/// # Errors
/// All errors, with their lines.
pub(super) fn scan(source: &str) -> Result<Use, Vec<(u32, Failure)>> {
    let mut scan = Scan {
        source,
        used: Use::default(),
        failures: Vec::new(),
        open: Vec::new(),
        blocks: 0,
    };
    scan.run(source);
    if let Some((line, name)) = scan.open.pop() {
        let message = format!("`{{% {name} %}}` has no end");
        scan.failures
            .push((line, Failure::new("unclosed-statement", message)));
    }
    if !scan.failures.is_empty() {
        return Err(scan.failures);
    }
    let given = std::mem::take(&mut scan.used.given);
    scan.used
        .paths
        .retain(|(_, path)| !given.contains(&path[0]) && &*path[0] != "loop");
    Ok(scan.used)
}

struct Scan<'s> {
    source: &'s str,
    used: Use,
    failures: Vec<(u32, Failure)>,
    open: Vec<(u32, &'s str)>,
    blocks: usize,
}

impl<'s> Scan<'s> {
    fn run(&mut self, source: &'s str) {
        let mut rest = source;
        let mut line = 1;
        while let Some(start) = next_block(rest) {
            line += lines(&rest[..start]);
            let inside = &rest[start + 2..];
            let end = match &rest[start..start + 2] {
                "{{" => end_of_expression(inside),
                "{%" => end_of_statement(inside),
                _ => inside.find("#}"),
            };
            let Some(end) = end else {
                let failure = Failure::new("unclosed-expression", "a block has no end")
                    .with_hint("write `{{ '{%' }}` where braces are meant, or put a space between");
                self.failures.push((line, failure));
                return;
            };
            self.blocks += 1;
            if self.blocks > MAX_BLOCKS {
                let message = format!("there are more than {MAX_BLOCKS} blocks");
                self.failures
                    .push((line, Failure::new("too-many-nodes", message)));
                return;
            }
            let content = &inside[..end];
            let after = &inside[end + 2..];
            let next = match &rest[start..start + 2] {
                "{{" => {
                    self.expression(line, content);
                    after
                }
                "{%" => self.statement(line, content, after),
                _ => after,
            };
            line += lines(&rest[start..rest.len() - next.len()]);
            rest = next;
        }
    }

    fn expression(&mut self, line: u32, content: &'s str) {
        let content = trimmed(content);
        match token::tokens(content).and_then(|tokens| {
            environment::check_names_with(&tokens, &MORE_FILTERS)?;
            Ok(tokens)
        }) {
            Ok(tokens) if tokens.is_empty() => {
                let failure = Failure::new("expression-syntax", "the expression is empty");
                self.failures.push((line, failure));
            }
            Ok(tokens) => {
                self.note(line, &tokens);
                self.bound(line, &tokens);
            }
            Err(failure) => self.failures.push((line, failure)),
        }
    }

    fn note(&mut self, line: u32, tokens: &[Token<'_>]) {
        let paths = token::paths(tokens).into_iter();
        self.used.paths.extend(paths.map(|path| (line, path)));
        self.used.messages.extend(token::messages(tokens));
        self.used.helpers.extend(token::helpers(tokens));
    }

    /// Bounds the operators of an expression.
    fn bound(&mut self, line: u32, tokens: &[Token<'_>]) {
        // `~` writes into the page, whose length is bounded.
        let operators = [Operator::Times, Operator::In];
        let found = operands::insertions(self.source, tokens, &operators);
        self.insert(line, found);
    }

    fn insert(&mut self, line: u32, found: Option<impl IntoIterator<Item = Insertion>>) {
        match found {
            Some(found) => self.used.insertions.extend(found),
            None => {
                let failure = Failure::new("expression-syntax", "the expression is incomplete");
                self.failures.push((line, failure));
            }
        }
    }

    /// Checks a statement. Returns the text after it.
    fn statement(&mut self, line: u32, content: &'s str, after: &'s str) -> &'s str {
        let content = trimmed(content);
        let name_end = content
            .find(|symbol: char| !symbol.is_alphanumeric() && symbol != '_')
            .unwrap_or(content.len());
        let (name, body) = content.split_at(name_end);
        if !STATEMENTS.contains(&name) {
            let failure = Failure::new("unknown-statement", format!("unknown statement `{name}`"))
                .with_hint(suggestion::hint(name, STATEMENTS));
            self.failures.push((line, failure));
            return after;
        }
        match name {
            "raw" => return self.raw(line, after),
            "for" | "if" => {
                self.open.push((line, name));
                if self.open.len() > MAX_NESTING {
                    let message = format!("statements are nested deeper than {MAX_NESTING} levels");
                    self.failures
                        .push((line, Failure::new("too-deep", message)));
                    self.open.clear();
                    return "";
                }
            }
            "endfor" | "endif" => {
                let opened = self.open.pop().map(|(_, opened)| opened);
                if opened != Some(&name[3..]) {
                    let message = format!("`{{% {name} %}}` closes nothing");
                    self.failures
                        .push((line, Failure::new("unclosed-statement", message)));
                }
                return after;
            }
            _ => {}
        }
        if let Err(failure) = self.body(line, name, body) {
            self.failures.push((line, failure));
        }
        after
    }

    fn body(&mut self, line: u32, name: &str, body: &str) -> Result<(), Failure> {
        let tokens = token::tokens(body)?;
        environment::check_names_with(&tokens, &MORE_FILTERS)?;
        let split = match name {
            "for" => tokens.iter().position(|token| *token == Token::Name("in")),
            "set" => tokens.iter().position(|token| *token == Token::Symbol("=")),
            _ => Some(0),
        };
        let Some(split) = split else {
            let hint = if name == "for" {
                "for item in items"
            } else {
                "set name = value"
            };
            return Err(
                Failure::new("expression-syntax", format!("`{name}` is incomplete"))
                    .with_hint(format!("write `{{% {hint} %}}`")),
            );
        };
        for token in &tokens[..split] {
            if let Token::Name(given) = token {
                self.used.given.push(Box::from(*given));
            }
        }
        let value = &tokens[split..];
        if name == "set"
            && value
                .iter()
                .enumerate()
                .any(|(at, token)| grows(value, at, *token))
        {
            let message = "`set` takes no `~`, `*`, `+`, lists and objects";
            return Err(Failure::new("expression-too-complex", message)
                .with_hint("write the expression where it is shown, or compute it in the data"));
        }
        self.note(line, value);
        match name {
            "for" => {
                let list = operands::iterated(self.source, &value[1..]);
                self.insert(line, list);
                self.bound(line, &value[1..]);
            }
            "set" => self.bound(line, &value[1..]),
            _ => self.bound(line, value),
        }
        Ok(())
    }

    fn raw(&mut self, line: u32, after: &'s str) -> &'s str {
        let mut from = 0;
        while let Some(start) = after[from..].find("{%") {
            let inside = &after[from + start + 2..];
            let Some(end) = inside.find("%}") else { break };
            if trimmed(&inside[..end]) == "endraw" {
                return &inside[end + 2..];
            }
            from += start + 2;
        }
        let failure = Failure::new("unclosed-statement", "`{% raw %}` has no `{% endraw %}`");
        self.failures.push((line, failure));
        ""
    }
}

fn grows(tokens: &[Token<'_>], at: usize, token: Token<'_>) -> bool {
    let Token::Symbol(symbol) = token else {
        return false;
    };
    // After a value a bracket is an index, elsewhere a list.
    let before = at.checked_sub(1).map(|before| tokens[before]);
    let is_index = matches!(before, Some(Token::Name(_) | Token::Symbol("]" | ")")));
    GROWING.contains(&symbol) || symbol == "{" || (symbol == "[" && !is_index)
}

/// Offset of the closing `%}`, outside texts.
fn end_of_statement(inside: &str) -> Option<usize> {
    let bytes = inside.as_bytes();
    let (mut quote, mut index) = (None, 0);
    while let Some(byte) = bytes.get(index) {
        match (quote, byte) {
            (Some(_), b'\\') => index += 1,
            (Some(open), byte) if *byte == open => quote = None,
            (None, b'"' | b'\'') => quote = Some(*byte),
            (None, b'%') if bytes.get(index + 1) == Some(&b'}') => return Some(index),
            _ => {}
        }
        index += 1;
    }
    None
}

/// The content of a block without whitespace control characters.
fn trimmed(content: &str) -> &str {
    let content = content.strip_prefix(['-', '+']).unwrap_or(content);
    content.strip_suffix(['-', '+']).unwrap_or(content).trim()
}

fn lines(text: &str) -> u32 {
    u32::try_from(text.bytes().filter(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX)
}

fn next_block(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    (0..bytes.len().saturating_sub(1))
        .find(|at| bytes[*at] == b'{' && matches!(bytes[at + 1], b'{' | b'%' | b'#'))
}
