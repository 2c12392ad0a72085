//! A log line, with its fields in the order of recording.

use std::fmt::{Debug, Write as _};

use jiff::Timestamp;
use serde_json::Value as Json;
use tracing::field::{Field, Visit};

/// Field with the text of an event.
const MESSAGE: &str = "message";

/// Fields of a span or an event.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(Vec<(String, Json)>);

/// A log line under construction.
#[derive(Debug, Default)]
pub(super) struct Line {
    message: String,
    pub(super) fields: Fields,
}

impl Fields {
    fn set(&mut self, name: &str, value: Json) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Adds the fields of an enclosing span.
    pub(super) fn merge(&mut self, other: &Self) {
        for (name, value) in &other.0 {
            self.set(name, value.clone());
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field.name(), Json::from(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field.name(), Json::from(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field.name(), Json::from(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field.name(), Json::from(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field.name(), Json::from(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.set(field.name(), Json::from(format!("{value:?}")));
    }
}

/// Records the identifiers among the fields of a span, which every line below the span repeats. The
/// other fields are for traces.
pub(super) struct Identifiers<'a>(pub(super) &'a mut Fields);

impl Visit for Identifiers<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name().ends_with("Id") {
            self.0.record_str(field, value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name().ends_with("Id") {
            self.0.record_debug(field, value);
        }
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            MESSAGE => value.clone_into(&mut self.message),
            _ => self.fields.record_str(field, value),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.fields.record_u64(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.fields.record_i64(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.fields.record_f64(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.fields.record_bool(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == MESSAGE {
            self.message = format!("{value:?}");
        } else {
            self.fields.record_debug(field, value);
        }
    }
}

impl Line {
    pub(super) fn to_json(&self, level: &str) -> String {
        let mut line = String::with_capacity(256);
        let _ = write!(
            line,
            r#"{{"time":"{:.3}","level":"{level}","message":{}"#,
            Timestamp::now(),
            Json::from(&*self.message)
        );
        for (name, value) in &self.fields.0 {
            let _ = write!(line, r#","{name}":{value}"#);
        }
        line.push_str("}\n");
        line
    }

    pub(super) fn to_text(&self, level: &str) -> String {
        let mut line = String::with_capacity(160);
        let message = &self.message;
        let _ = write!(line, "{:.3} {level:<5} {message}", Timestamp::now());
        for (name, value) in &self.fields.0 {
            match value {
                // Client text could contain line breaks or terminal escape codes; JSON escapes
                // them.
                Json::String(text) if text.bytes().all(|byte| byte.is_ascii_graphic()) => {
                    let _ = write!(line, " {name}={text}");
                }
                other => {
                    let _ = write!(line, " {name}={other}");
                }
            }
        }
        line.push('\n');
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_a_line() {
        let mut line = Line {
            message: "request".to_owned(),
            ..Line::default()
        };
        line.fields.set("path", Json::from("/a\nb\u{1b}[31m"));
        line.fields.set("status", Json::from(200));
        let text = line.to_text("info");
        assert_eq!(text.matches('\n').count(), 1);
        assert!(
            text.ends_with("path=\"/a\\nb\\u001b[31m\" status=200\n"),
            "{text}"
        );
        let json: Json = serde_json::from_str(&line.to_json("info")).unwrap();
        assert_eq!(json["status"], 200);
    }
}
