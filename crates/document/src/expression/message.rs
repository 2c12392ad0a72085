//! The function `t`: messages in the language of the document.

use minijinja::{Error, State, Value as Dynamic, value::Kwargs};

use super::{
    evaluated::MAX_TEXT_BYTES,
    outcome::{bounded, error, shared, text_of},
};

/// An argument of a message.
struct Argument<'n> {
    name: &'n str,
    text: String,
    /// Whether a placeholder names it.
    used: bool,
}

/// The message `name` in the document's locale, with `{placeholders}` replaced by the named
/// arguments. What an argument says is text: placeholders in it stay.
pub(super) fn message(state: &State<'_, '_>, name: &str, named: Kwargs) -> Result<Dynamic, Error> {
    let shared = shared(state)?;
    let Some(message) = shared.messages.get(name) else {
        return Err(error(format!("unknown message `{name}`")));
    };
    let mut arguments = Vec::new();
    for name in named.args() {
        let value: Dynamic = named.peek(name)?;
        arguments.push(Argument {
            name,
            text: text_of(&value, &shared)?,
            used: false,
        });
    }
    let mut text = String::with_capacity(message.len());
    let mut rest = message.as_str();
    let mut left = Vec::new();
    while let Some(start) = rest.find('{') {
        text.push_str(&rest[..start]);
        let inside = &rest[start + 1..];
        let argument = arguments.iter_mut().find_map(|argument| {
            let after = inside.strip_prefix(argument.name)?.strip_prefix('}')?;
            Some((argument, after))
        });
        match argument {
            Some((argument, after)) => {
                argument.used = true;
                text.push_str(&argument.text);
                rest = after;
            }
            None => {
                text.push('{');
                left.extend(placeholder(inside));
                rest = inside;
            }
        }
        if text.len() > MAX_TEXT_BYTES {
            return Err(error("a message is too long"));
        }
    }
    text.push_str(rest);
    // Translations may leave out what they do not need, but then have no other placeholders.
    match arguments.iter().find(|argument| !argument.used) {
        Some(argument) if !left.is_empty() => Err(error(format!(
            "the message `{name}` has no placeholder `{{{}}}`, but {}",
            argument.name,
            left.join(", "),
        ))),
        _ => bounded(text),
    }
}

/// The placeholder whose name `inside` starts with, in backticks.
fn placeholder(inside: &str) -> Option<String> {
    let (name, _) = inside.split_once('}')?;
    let is_name = |symbol: char| symbol.is_alphanumeric() || symbol == '_';
    let is_one = (1..=60).contains(&name.len()) && name.chars().all(is_name);
    is_one.then(|| format!("`{{{name}}}`"))
}
