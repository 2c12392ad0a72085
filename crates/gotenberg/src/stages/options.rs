//! Options of stages: read from JSON or from form fields, and checked.

use serde_json::{Map, Value as Json};

/// What an option's value is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Text,
    Integer,
    Number,
    /// A number of inches, or a text such as `21cm`; the stage checks it.
    Length,
    Truth,
    /// One of these words.
    Word(&'static [&'static str]),
    /// `#rrggbb`.
    Color,
    /// The name of an uploaded file.
    File,
    /// A list or an object, which the stage checks.
    Json,
    /// A text, or a list of texts.
    Texts,
    /// Part of Gotenberg's dialect, and not supported.
    Refused,
}

/// An option of a stage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StageOption {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) is_needed: bool,
}

/// An option that a stage needs.
pub(crate) const fn needed(name: &'static str, kind: Kind) -> StageOption {
    StageOption {
        name,
        kind,
        is_needed: true,
    }
}

/// An option that a stage may have.
pub(crate) const fn optional(name: &'static str, kind: Kind) -> StageOption {
    StageOption {
        name,
        kind,
        is_needed: false,
    }
}

/// What is wrong with the options of a stage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wrong {
    Missing(String),
    Invalid {
        name: String,
        got: String,
        want: String,
    },
    Unknown(String),
    /// The option, or its value, is not supported.
    Refused(String),
}

/// A wrong value of the option `name`.
pub(crate) fn invalid(name: &str, got: &Json, want: &str) -> Wrong {
    let got = match got {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    Wrong::Invalid {
        name: name.to_owned(),
        got: got.chars().take(200).collect(),
        want: want.to_owned(),
    }
}

impl Kind {
    fn want(self) -> String {
        match self {
            Self::Text | Self::Refused => "a text".to_owned(),
            Self::Integer => "a whole number".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Length => "a length such as 8.5in or 21cm".to_owned(),
            Self::Truth => "true or false".to_owned(),
            Self::Word(words) => match words.split_last() {
                Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
                _ => words.concat(),
            },
            Self::Color => "a color such as #808080".to_owned(),
            Self::File => "the name of an uploaded file".to_owned(),
            Self::Json => "JSON".to_owned(),
            Self::Texts => "a text or a list of texts".to_owned(),
        }
    }

    fn is(self, value: &Json) -> bool {
        match (self, value) {
            (Self::Text, Json::String(_)) | (Self::Truth, Json::Bool(_)) | (Self::Refused, _) => {
                true
            }
            (Self::Length, Json::String(_) | Json::Number(_)) => true,
            (Self::File, Json::String(name)) => !name.is_empty(),
            (Self::Integer, Json::Number(number)) => number.is_i64(),
            (Self::Number, Json::Number(number)) => {
                let number = number.as_f64().map(|it| it as f32);
                number.is_some_and(f32::is_finite)
            }
            (Self::Word(words), Json::String(word)) => words.contains(&word.as_str()),
            (Self::Color, Json::String(color)) => color.strip_prefix('#').is_some_and(|digits| {
                digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
            }),
            (Self::Json, Json::Array(_) | Json::Object(_)) | (Self::Texts, Json::String(_)) => true,
            (Self::Texts, Json::Array(list)) => list.iter().all(Json::is_string),
            _ => false,
        }
    }

    /// The value of a form field; a text where it is no such value.
    fn of_text(self, text: &str) -> Json {
        let read = match (self, text) {
            (Self::Truth, "1" | "t" | "T" | "TRUE" | "True") => Some(Json::Bool(true)),
            (Self::Truth, "0" | "f" | "F" | "FALSE" | "False") => Some(Json::Bool(false)),
            (Self::Integer | Self::Number | Self::Truth | Self::Json, _) => {
                serde_json::from_str(text).ok()
            }
            (Self::Texts, _) if text.starts_with('[') => serde_json::from_str(text).ok(),
            _ => None,
        };
        read.unwrap_or_else(|| Json::String(text.to_owned()))
    }
}

/// The checked options of a stage.
#[derive(Debug, Default)]
pub(crate) struct Given(Map<String, Json>);

impl Given {
    /// Checks the options `given` against those that a stage has.
    pub(crate) fn of(options: &[StageOption], given: Map<String, Json>) -> Result<Self, Wrong> {
        let find = |name: &str| options.iter().find(|option| option.name == name);
        for (name, value) in &given {
            let option = find(name).ok_or_else(|| Wrong::Unknown(name.clone()))?;
            let is_off = matches!(value, Json::Bool(false) | Json::Null);
            if matches!(option.kind, Kind::Refused) && !is_off {
                return Err(Wrong::Refused(format!("`{name}`")));
            }
            if !option.kind.is(value) {
                return Err(invalid(name, value, &option.kind.want()));
            }
        }
        let missing = options
            .iter()
            .find(|it| it.is_needed && !given.contains_key(it.name));
        match missing {
            Some(option) => Err(Wrong::Missing(option.name.to_owned())),
            None => Ok(Self(given)),
        }
    }

    /// Reads and checks the options in form fields.
    pub(crate) fn of_fields(
        options: &[StageOption],
        mut take: impl FnMut(&str) -> Option<String>,
    ) -> Result<Self, Wrong> {
        let fields = options.iter().filter_map(|option| {
            let text = take(option.name)?;
            let is_off = matches!(option.kind, Kind::Refused) && text == "false";
            (!is_off).then(|| (option.name.to_owned(), option.kind.of_text(&text)))
        });
        Self::of(options, fields.collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    pub(crate) fn number(&self, name: &str) -> Option<f32> {
        self.0.get(name)?.as_f64().map(|number| number as f32)
    }

    pub(crate) fn integer(&self, name: &str) -> Option<i64> {
        self.0.get(name)?.as_i64()
    }

    /// A number above 0.
    pub(crate) fn size(&self, name: &str) -> Result<Option<f32>, Wrong> {
        match (self.number(name), self.get(name)) {
            (Some(number), Some(got)) if number <= 0.0 => {
                Err(invalid(name, got, "a number above 0"))
            }
            (number, _) => Ok(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OPTIONS: &[StageOption] = &[
        needed("angle", Kind::Integer),
        optional("pages", Kind::Text),
        optional("color", Kind::Color),
        optional("old", Kind::Refused),
        optional("list", Kind::Texts),
    ];

    #[test]
    fn options_are_checked_the_same_from_json_and_from_fields() {
        let of = |json: Json| Given::of(OPTIONS, json.as_object().expect("an object").clone());
        let fields = |fields: &[(&str, &str)]| {
            Given::of_fields(OPTIONS, |name| {
                let found = fields.iter().find(|(known, _)| *known == name);
                found.map(|(_, text)| (*text).to_owned())
            })
        };
        let given = of(json!({"angle": -90, "pages": "1", "color": "#0a0B0c"})).expect("options");
        assert_eq!(given.integer("angle"), Some(-90));
        let given = fields(&[("angle", "90"), ("pages", "7"), ("list", "[\"a\"]")]);
        let given = given.expect("options");
        assert_eq!(
            (given.integer("angle"), given.text("pages")),
            (Some(90), Some("7"))
        );
        assert_eq!(given.get("list"), Some(&json!(["a"])));
        let missing = Wrong::Missing("angle".to_owned());
        assert_eq!(of(json!({})).err(), Some(missing.clone()));
        assert_eq!(fields(&[("old", "false")]).err(), Some(missing));
        let unknown = Wrong::Unknown("size".to_owned());
        assert_eq!(of(json!({"angle": 0, "size": 1})).err(), Some(unknown));
        let refused = Wrong::Refused("`old`".to_owned());
        assert_eq!(fields(&[("angle", "0"), ("old", "x")]).err(), Some(refused));
        let wrong = [
            json!({"angle": 1.5}),
            json!({"angle": "90"}),
            json!({"angle": 0, "pages": 1}),
            json!({"angle": 0, "color": "red"}),
            json!({"angle": 0, "list": [1]}),
        ];
        for json in wrong {
            assert!(
                matches!(of(json.clone()), Err(Wrong::Invalid { .. })),
                "{json}"
            );
        }
    }
}
