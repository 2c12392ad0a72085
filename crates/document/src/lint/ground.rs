//! The grounds on which texts stand: the backgrounds of the boxes around them.

use std::collections::HashMap;

use serde_json::{Map, Value as Json};

use crate::{Color, pointer};

/// The color behind a text; `None` if it is a picture, comes from data or depends on the place.
pub(super) type Ground = Option<Color>;

/// The grounds of all places of a template.
pub(super) struct Grounds<'t> {
    styles: Option<&'t Map<String, Json>>,
    /// The grounds on which each named style is used.
    names: HashMap<&'t str, Vec<Ground>>,
    /// The grounds of styles that are written out, by pointer.
    places: HashMap<String, Ground>,
    page: Ground,
}

impl<'t> Grounds<'t> {
    pub fn of(template: &'t Json) -> Self {
        let background = template.pointer("/page/background");
        let page = match background {
            None => Some(Color::WHITE),
            Some(Json::Object(fields)) if fields.contains_key("image") => None,
            Some(Json::Object(fields)) => match fields.get("color") {
                None => Some(Color::WHITE),
                Some(color) => parsed(color),
            },
            Some(color) => parsed(color),
        };
        let mut grounds = Self {
            styles: template.pointer("/theme/styles").and_then(Json::as_object),
            names: HashMap::new(),
            places: HashMap::new(),
            page,
        };
        for part in [
            "body",
            "header",
            "footer",
            "firstHeader",
            "firstFooter",
            "page",
        ] {
            if let Some(value) = template.get(part) {
                grounds.visit(value, &format!("/{part}"), page);
            }
        }
        grounds
    }

    /// The ground at the pointer of a style that is written out.
    pub fn at(&self, path: &str) -> Ground {
        self.places.get(path).copied().unwrap_or(self.page)
    }

    /// The grounds on which texts of a named style stand.
    pub fn below_name(&self, name: &str) -> Vec<Ground> {
        let used = self.names.get(name).cloned();
        used.unwrap_or_else(|| vec![self.page])
    }

    fn visit(&mut self, value: &'t Json, path: &str, ground: Ground) {
        match value {
            Json::Object(fields) => {
                let mut ground = ground;
                // What is behind content at a fixed position is not around it.
                if fields.get("type").and_then(Json::as_str) == Some("positioned") {
                    ground = None;
                }
                let style = fields.get("style");
                ground = style.and_then(|it| self.background(it)).unwrap_or(ground);
                for (key, value) in fields {
                    let path = pointer::join(path, key);
                    if key == "style" || key.ends_with("Style") {
                        let own = self.background(value).unwrap_or(ground);
                        self.used(value, &path, own);
                    } else {
                        self.visit(value, &path, ground);
                    }
                }
            }
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.visit(item, &pointer::join(path, index), ground);
                }
            }
            _ => {}
        }
    }

    fn used(&mut self, style: &'t Json, path: &str, ground: Ground) {
        match style {
            Json::String(name) => self.names.entry(name).or_default().push(ground),
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    // A later style changes the color.
                    if !items[index + 1..].iter().any(|it| self.gives_color(it)) {
                        self.used(item, &pointer::join(path, index), ground);
                    }
                }
            }
            Json::Object(fields) => {
                self.places.insert(path.to_owned(), ground);
                if let Some(name) = fields.get("extends").and_then(Json::as_str) {
                    self.names.entry(name).or_default().push(ground);
                }
            }
            _ => {}
        }
    }

    /// The background that a style gives, if it gives one.
    fn background(&self, style: &Json) -> Option<Ground> {
        match style {
            Json::String(name) if name.contains("{{") => Some(None),
            Json::String(name) => self.named(name),
            Json::Array(items) => items.iter().rev().find_map(|item| self.background(item)),
            Json::Object(fields) => match fields.get("background") {
                Some(color) => Some(parsed(color)),
                None => self.named(fields.get("extends")?.as_str()?),
            },
            _ => None,
        }
    }

    fn gives_color(&self, style: &Json) -> bool {
        let style = match style {
            Json::String(name) => self.styles.and_then(|styles| styles.get(name)),
            style => Some(style),
        };
        style.is_some_and(|style| style.get("color").is_some())
    }

    fn named(&self, name: &str) -> Option<Ground> {
        let mut name = name;
        // Styles that extend each other in a circle are an error that others report.
        for _ in 0..8 {
            let style = self.styles?.get(name)?.as_object()?;
            if let Some(color) = style.get("background") {
                return Some(parsed(color));
            }
            name = style.get("extends")?.as_str()?;
        }
        None
    }
}

fn parsed(color: &Json) -> Ground {
    color.as_str()?.parse().ok()
}
