//! Names in scope during binding: the fields of the data, and for every enclosing repeat its
//! element, position and group.

use std::cell::OnceCell;

use minijinja::Value as Dynamic;
use serde_json::Value as Json;

use super::dynamic::HELPERS;
use crate::clean;

/// The name of all of the data, where the data has no field of that name.
pub(crate) const WHOLE: &str = "data";

/// Position in a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// Index, from 0.
    pub(crate) index: usize,
    /// Number of elements.
    pub(crate) length: usize,
}

/// What a frame binds its name to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry<'s> {
    /// The data; each field is a name.
    Data(&'s Json),
    /// A value.
    Json(&'s Json),
    /// The rows of a table or group.
    Rows(&'s [&'s Json]),
    /// A group with `key`, `rows` and `count`.
    Group {
        /// The value that the rows share.
        key: &'s Json,
        /// The rows.
        rows: &'s [&'s Json],
    },
}

/// A frame that binds a name, linked to the enclosing frames.
#[derive(Debug)]
pub(crate) struct Scope<'s> {
    parent: Option<&'s Scope<'s>>,
    name: &'s str,
    entry: Entry<'s>,
    position: Option<Position>,
    /// Whether `helpers` is the template's module, which takes precedence over data and repeats.
    has_helpers: bool,
    /// Whether `pageNumber` and the like are fields that the page fills in.
    has_page_fields: bool,
    /// The entry as a minijinja value, converted on first use.
    pub(super) dynamic: OnceCell<Dynamic>,
}

/// What a name or path refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found<'s> {
    Json(&'s Json),
    Rows(&'s [&'s Json]),
    Group {
        key: &'s Json,
        rows: &'s [&'s Json],
    },
    Count(usize),
    Truth(bool),
    Loop(Position),
    /// A field whose value only the page knows, by the character that represents it.
    PageField(char),
}

impl<'s> Scope<'s> {
    /// The outermost scope, with the fields of the data.
    pub(crate) fn root(data: &'s Json) -> Self {
        Self {
            parent: None,
            name: "",
            entry: Entry::Data(data),
            position: None,
            has_helpers: false,
            has_page_fields: true,
            dynamic: OnceCell::new(),
        }
    }

    /// Sets whether the template has a helper module.
    pub(crate) fn beside_helpers(mut self, has_helpers: bool) -> Self {
        self.has_helpers = has_helpers;
        self
    }

    /// Leaves the names of page fields to the data.
    pub(crate) fn without_page_fields(mut self) -> Self {
        self.has_page_fields = false;
        self
    }

    /// A nested scope that binds `name` to `entry`.
    pub(crate) fn with<'c>(&'c self, name: &'c str, entry: Entry<'c>) -> Scope<'c>
    where
        's: 'c,
    {
        Scope {
            parent: Some(self),
            name,
            entry,
            position: None,
            has_helpers: self.has_helpers,
            has_page_fields: self.has_page_fields,
            dynamic: OnceCell::new(),
        }
    }

    /// Sets the position in a repeat.
    pub(crate) fn at(mut self, index: usize, length: usize) -> Self {
        self.position = Some(Position { index, length });
        self
    }

    /// The innermost frame that binds `name`; for the data frame, also the field.
    pub(super) fn frame(&self, name: &str) -> Option<(&Scope<'s>, Option<&'s Json>)> {
        if self.hides(name) {
            return None;
        }
        let mut frame = Some(self);
        while let Some(scope) = frame {
            match scope.entry {
                Entry::Data(data) => {
                    if let Some(field) = data.get(name) {
                        return Some((scope, Some(field)));
                    }
                    if name == WHOLE {
                        return Some((scope, Some(data)));
                    }
                }
                _ if scope.name == name => return Some((scope, None)),
                _ => {}
            }
            frame = scope.parent;
        }
        None
    }

    fn hides(&self, name: &str) -> bool {
        self.has_helpers && name == HELPERS
    }

    pub(super) fn entry(&self) -> Entry<'s> {
        self.entry
    }

    fn position(&self) -> Option<Position> {
        let mut frame = Some(self);
        while let Some(scope) = frame {
            if scope.position.is_some() {
                return scope.position;
            }
            frame = scope.parent;
        }
        None
    }

    /// Resolves a name.
    pub(crate) fn lookup(&self, name: &str) -> Option<Found<'s>> {
        let page_field = match name {
            "pageNumber" => Some(clean::PAGE_NUMBER),
            "pageCount" => Some(clean::PAGE_COUNT),
            "sectionPageNumber" => Some(clean::SECTION_NUMBER),
            "sectionPageCount" => Some(clean::SECTION_COUNT),
            "index" | "loop" => {
                if let Some(position) = self.position() {
                    return Some(if name == "loop" {
                        Found::Loop(position)
                    } else {
                        Found::Count(position.index + 1)
                    });
                }
                None
            }
            _ => None,
        };
        if let Some(field) = page_field.filter(|_| self.has_page_fields) {
            return Some(Found::PageField(field));
        }
        let (scope, field) = self.frame(name)?;
        Some(match (scope.entry, field) {
            (_, Some(field)) | (Entry::Json(field), None) => Found::Json(field),
            (Entry::Rows(rows), None) => Found::Rows(rows),
            (Entry::Group { key, rows }, None) => Found::Group { key, rows },
            (Entry::Data(_), None) => return None,
        })
    }

    /// Resolves a dotted path. The error is the number of leading segments that exist.
    pub(crate) fn resolve(&self, path: &[Box<str>]) -> Result<Found<'s>, usize> {
        let (first, rest) = path.split_first().ok_or(0_usize)?;
        let mut found = self.lookup(first).ok_or(0_usize)?;
        for (index, segment) in rest.iter().enumerate() {
            found = found.field(segment).ok_or(index + 1)?;
        }
        Ok(found)
    }

    /// The rows of the enclosing repeats, for messages: `row 3`, or `row 2, row 7`.
    pub(crate) fn rows(&self) -> String {
        let mut rows = Vec::new();
        let mut frame = Some(self);
        while let Some(scope) = frame {
            if let Some(position) = scope.position {
                rows.push(format!("row {}", position.index + 1));
            }
            frame = scope.parent;
        }
        rows.reverse();
        rows.join(", ")
    }

    /// The names in scope, innermost first.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        let mut frame = Some(self);
        while let Some(scope) = frame {
            match scope.entry {
                Entry::Data(Json::Object(fields)) => {
                    let seen = fields.keys().map(String::as_str);
                    names.extend(seen.filter(|name| !scope.hides(name)));
                }
                Entry::Data(_) => {}
                _ if scope.hides(scope.name) => {}
                _ => names.push(scope.name),
            }
            frame = scope.parent;
        }
        names
    }
}

impl<'s> Found<'s> {
    /// The field `name` of the value.
    pub(crate) fn field(self, name: &str) -> Option<Self> {
        match self {
            Self::Json(Json::Object(fields)) => fields.get(name).map(Found::Json),
            Self::Json(Json::Array(items)) => {
                items.get(name.parse::<usize>().ok()?).map(Found::Json)
            }
            Self::Rows(rows) => rows
                .get(name.parse::<usize>().ok()?)
                .map(|row| Found::Json(row)),
            Self::Group { key, rows } => match name {
                "key" => Some(Found::Json(key)),
                "rows" => Some(Found::Rows(rows)),
                "count" => Some(Found::Count(rows.len())),
                _ => None,
            },
            Self::Loop(position) => match name {
                "index" => Some(Found::Count(position.index + 1)),
                "index0" => Some(Found::Count(position.index)),
                "length" => Some(Found::Count(position.length)),
                "first" => Some(Found::Truth(position.index == 0)),
                "last" => Some(Found::Truth(position.index + 1 == position.length)),
                _ => None,
            },
            _ => None,
        }
    }

    /// What a value without fields is, for a message; `None` for one that has fields.
    pub(crate) fn without_fields(self) -> Option<&'static str> {
        match self {
            Self::Json(Json::Null) => Some("null"),
            Self::Json(Json::String(_)) => Some("a text"),
            Self::Json(Json::Number(_)) | Self::Count(_) => Some("a number"),
            Self::Json(Json::Bool(_)) | Self::Truth(_) => Some("true or false"),
            _ => None,
        }
    }

    /// The names of the value's fields.
    pub(crate) fn field_names(self) -> Vec<&'s str> {
        match self {
            Self::Json(Json::Object(fields)) => fields.keys().map(String::as_str).collect(),
            Self::Group { .. } => vec!["key", "rows", "count"],
            Self::Loop(_) => vec!["index", "index0", "length", "first", "last"],
            _ => Vec::new(),
        }
    }
}
