//! The built-in piece `csv`.

use std::collections::HashSet;

use platen_document::json_weight;
use platen_flow::StepError;
use serde_json::{Map, Value as Json};

use super::builtin_actions::{Input, as_text, bounded, unknown, wrong};

pub(super) fn csv(action: &str, input: Input<'_>) -> Result<Json, StepError> {
    let separator = input.text_or("separator", ",");
    let mut letters = separator.chars();
    let (Some(separator), None) = (letters.next(), letters.next()) else {
        return Err(wrong("the separator must be one character"));
    };
    match action {
        "parse" => {
            let text = input.text("text")?;
            parse_csv(&text, separator)
        }
        "write" => {
            let rows = input.list("rows")?;
            write_csv(rows, separator).map(Json::from)
        }
        _ => Err(unknown("csv", action, "parse and write")),
    }
}

/// The rows of a CSV text, RFC 4180, by the names in the first.
#[derive(Default)]
struct Rows {
    /// The first row.
    names: Option<Vec<String>>,
    rows: Vec<Json>,
    /// The row that is read.
    fields: Vec<String>,
    /// What all of it takes, in bytes: each row has the names again.
    weight: u64,
}

impl Rows {
    fn field(&mut self, field: &mut String) -> Result<(), StepError> {
        self.weight += json_weight::TEXT_VALUE + field.len() as u64;
        if let Some(names) = &self.names {
            let name = names.get(self.fields.len()).map_or(0, String::len);
            self.weight += json_weight::ENTRY + name as u64;
        }
        self.fields.push(std::mem::take(field));
        bounded(self.weight)
    }

    fn end(&mut self) -> Result<(), StepError> {
        let mut fields = std::mem::take(&mut self.fields).into_iter();
        let Some(names) = &self.names else {
            self.names = Some(fields.collect());
            return Ok(());
        };
        // Names of fields that this row lacks are in it, too.
        let lacked = names.len().saturating_sub(fields.len());
        let row = names.iter().map(|name| {
            let value = fields.next().map_or(Json::Null, Json::from);
            (name.clone(), value)
        });
        self.rows.push(Json::Object(row.collect()));
        self.weight += json_weight::OBJECT + lacked as u64 * json_weight::ENTRY;
        bounded(self.weight)
    }
}

fn parse_csv(text: &str, separator: char) -> Result<Json, StepError> {
    let mut rows = Rows::default();
    let (mut field, mut quoted) = (String::new(), false);
    // Whether this row has a quote: `""` alone is a row with an empty field, an empty line is none.
    let mut has_quote = false;
    // UTF-8 of Excel begins with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if field.is_empty() => (quoted, has_quote) = (true, true),
            '\r' if !quoted && letters.peek() == Some(&'\n') => {}
            '\n' if !quoted && !has_quote && field.is_empty() && rows.fields.is_empty() => {}
            '\n' if !quoted => {
                has_quote = false;
                rows.field(&mut field)?;
                rows.end()?;
            }
            letter if letter == separator && !quoted => rows.field(&mut field)?,
            letter => field.push(letter),
        }
    }
    if quoted {
        return Err(wrong("a quoted field is not closed"));
    }
    if has_quote || !rows.fields.is_empty() || !field.is_empty() {
        rows.field(&mut field)?;
        rows.end()?;
    }
    Ok(Json::Array(rows.rows))
}

fn write_csv(rows: &[Json], separator: char) -> Result<String, StepError> {
    // Those of all rows, in the order in which they come first: a row may leave out what it lacks.
    let (mut names, mut known) = (Vec::new(), HashSet::new());
    for name in rows.iter().filter_map(Json::as_object).flat_map(Map::keys) {
        if known.insert(name) {
            names.push(name);
        }
    }
    let quote = |text: &str| {
        let special = |letter: char| letter == separator || "\"\r\n".contains(letter);
        if text.contains(special) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    };
    let separator = separator.to_string();
    let line = |fields: Vec<String>| match fields.as_slice() {
        // Alone on its line, it would be an empty line, which is no row.
        [only] if only.is_empty() => "\"\"\r\n".to_owned(),
        _ => fields.join(&separator) + "\r\n",
    };
    let mut out = line(names.iter().map(|name| quote(name)).collect());
    for row in rows {
        // A separator for each name, even if the row has none of them.
        bounded((out.len() + names.len()) as u64)?;
        let field = |name: &&String| match &row[name.as_str()] {
            Json::Null => String::new(),
            value => quote(&as_text(value)),
        };
        out += &line(names.iter().map(field).collect());
    }
    bounded(out.len() as u64)?;
    Ok(out)
}
