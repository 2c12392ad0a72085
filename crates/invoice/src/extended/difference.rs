//! What an invoice has that its fields do not say, as elements by their names.

use std::collections::BTreeSet;

use en16931::Date;
use roxmltree::Node;
use serde_json::{Map, Value as Json, json};

use super::{
    elements::field_of,
    schema::{Kind, Rule, rules},
};
use crate::Number;

/// How many of the written elements one that was read is compared with: lists keep their order.
const WINDOW: usize = 16;

/// Maximum number of elements of one that is compared with another by all of its elements.
const MAX_CHILDREN: usize = 1_000;

/// Maximum number of reported elements without a place.
const MAX_LOST: usize = 100;

/// Collects what has no place.
#[derive(Debug)]
pub(crate) struct Difference {
    /// The currency of amounts that say none.
    currency: String,
    /// Names of elements that neither fields nor elements by their names can say, and of those around
    /// them.
    names: BTreeSet<String>,
    /// The names on the way to each of the first of them.
    ways: BTreeSet<Vec<String>>,
}

impl Difference {
    pub(super) fn new(currency: &str) -> Self {
        Self {
            currency: currency.to_owned(),
            names: BTreeSet::new(),
            ways: BTreeSet::new(),
        }
    }

    /// Whether the element at the end of `path` or one in it is lost.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.names.contains(last(path))
    }

    /// Elements that are lost, with their parents, but for those that `paths` lead to.
    pub(crate) fn besides<'a>(&self, paths: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
        let told: BTreeSet<&str> = paths.map(last).collect();
        let silent = self
            .ways
            .iter()
            .filter(|way| !way.iter().any(|it| told.contains(it.as_str())));
        silent
            .map(|way| way[way.len().saturating_sub(2)..].join("/"))
            .collect()
    }

    /// What `read` has, an element of the type `of`, and `written` has not.
    pub(super) fn of(
        &mut self,
        read: Node<'_, '_>,
        written: Node<'_, '_>,
        of: &'static str,
    ) -> Map<String, Json> {
        let mut found = Map::new();
        for child in elements(read) {
            let name = child.tag_name().name();
            if !rules(of).iter().any(|rule| rule.name == name) {
                self.lose(child);
            }
        }
        for rule in rules(of) {
            let own: Vec<_> = named(read, rule.name).collect();
            if own.is_empty() || rule.name == super::LINE_ELEMENT {
                continue;
            }
            let other: Vec<_> = named(written, rule.name).collect();
            let more = match rule.most {
                1 => self.single(&own, other.first().copied(), rule),
                _ => self.several(&own, &other, rule),
            };
            if let Some(more) = more {
                found.insert(rule.name.to_owned(), more);
            }
        }
        found
    }

    /// What is more of an element that is there once.
    fn single(
        &mut self,
        own: &[Node<'_, '_>],
        written: Option<Node<'_, '_>>,
        rule: &Rule,
    ) -> Option<Json> {
        let (first, rest) = own.split_first()?;
        rest.iter().for_each(|node| self.lose(*node));
        match (written, rule.kind) {
            (None, _) => self.whole(*first, rule),
            (Some(written), Kind::Type(of)) => {
                let more = self.of(*first, written, of);
                (!more.is_empty()).then_some(Json::Object(more))
            }
            (Some(written), _) => {
                if !self.is_same(*first, written) {
                    self.lose(*first);
                }
                None
            }
        }
    }

    /// Those of a list that were not written.
    fn several(
        &mut self,
        own: &[Node<'_, '_>],
        written: &[Node<'_, '_>],
        rule: &Rule,
    ) -> Option<Json> {
        let mut unused: Vec<Node<'_, '_>> = written.iter().rev().copied().collect();
        let mut rest = Vec::new();
        for node in own {
            let window = unused.len().saturating_sub(WINDOW)..unused.len();
            let found = unused[window.clone()]
                .iter()
                .rposition(|it| self.contains(*node, *it));
            let Some(found) = found else {
                rest.push(*node);
                continue;
            };
            let found = unused.remove(window.start + found);
            if let Kind::Type(of) = rule.kind {
                // A list has no place for more of one of its elements.
                let inner = self.of(*node, found, of);
                for child in elements(*node).filter(|it| inner.contains_key(it.tag_name().name())) {
                    self.lose(child);
                }
            }
        }
        if !unused.is_empty() {
            // Fields say it otherwise, and both would be written.
            rest.drain(..).for_each(|node| self.lose(node));
        }
        let more = rest.into_iter().filter_map(|node| self.whole(node, rule));
        let mut more: Vec<Json> = more.collect();
        match more.len() {
            0 => None,
            1 => more.pop(),
            _ => Some(Json::Array(more)),
        }
    }

    /// An element that was not written at all.
    fn whole(&mut self, node: Node<'_, '_>, rule: &Rule) -> Option<Json> {
        let value = match field_of(rule.name) {
            Some(_) => None,
            None => value_of(node, rule.kind),
        };
        if value.is_none() {
            self.lose(node);
        }
        value
    }

    /// Whether two elements, of which the second has none or one level of its own, say the same.
    fn is_same(&self, read: Node<'_, '_>, written: Node<'_, '_>) -> bool {
        if let Some(inner) = elements(read).next() {
            return elements(written)
                .next()
                .is_some_and(|written| self.is_same(inner, written));
        }
        let (own, other) = (text_of(read), text_of(written));
        let number = |text: &str| Number::parse(text).ok();
        let texts = own == other || number(&own).is_some_and(|it| number(&other) == Some(it));
        let is_usual = |name: &str, value: &str| name == "currencyID" && value == self.currency;
        let mut attributes = read
            .attributes()
            .filter(|it| !is_usual(it.name(), it.value()));
        texts && attributes.all(|it| written.attribute(it.name()) == Some(it.value()))
    }

    /// Whether `read` has all that `written` has.
    fn contains(&self, read: Node<'_, '_>, written: Node<'_, '_>) -> bool {
        let parts: Vec<_> = elements(written).collect();
        if parts.is_empty() {
            return elements(read).next().is_none() && self.is_same(read, written);
        }
        let own: Vec<_> = elements(read).take(MAX_CHILDREN + 1).collect();
        if own.len().max(parts.len()) > MAX_CHILDREN {
            return false;
        }
        parts.into_iter().all(|part| {
            let mut same = own.iter().filter(|it| it.tag_name() == part.tag_name());
            same.any(|it| self.contains(*it, part))
        })
    }

    fn lose(&mut self, node: Node<'_, '_>) {
        let name = |node: Node<'_, '_>| node.tag_name().name().to_owned();
        let inner = node.descendants().filter(Node::is_element);
        self.names.extend(inner.map(name));
        let mut way: Vec<String> = node
            .ancestors()
            .filter(Node::is_element)
            .map(name)
            .collect();
        way.reverse();
        self.names.extend(way.iter().cloned());
        if self.ways.len() < MAX_LOST {
            self.ways.insert(way);
        }
    }
}

/// The last name of a path, without a place in a list.
fn last(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('[').next().unwrap_or(name)
}

fn elements<'a, 'input>(node: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children().filter(Node::is_element)
}

fn named<'a, 'input>(node: Node<'a, 'input>, name: &str) -> impl Iterator<Item = Node<'a, 'input>> {
    elements(node).filter(move |it| it.tag_name().name() == name)
}

/// The text of a node, which a comment may part.
fn text_of(node: Node<'_, '_>) -> String {
    let parts = node.children().filter(Node::is_text);
    let text: String = parts.filter_map(|it| it.text()).collect();
    text.trim().to_owned()
}

/// An element as an author would state it; none where that does not say all of it.
fn value_of(node: Node<'_, '_>, kind: Kind) -> Option<Json> {
    if let Kind::Type(of) = kind {
        return object_of(node, of);
    }
    if let Kind::Date(_) = kind {
        let inner = elements(node).next()?;
        let (text, format) = (text_of(inner), inner.attribute("format")?);
        let date = || {
            let parts = [text.get(..4)?, text.get(4..6)?, text.get(6..8)?];
            Date::parse(&parts.join("-")).ok()
        };
        return Some(
            match date().filter(|_| format == "102" && text.len() == 8) {
                Some(date) => json!(date.to_string()),
                None => json!({"#text": text, "@format": format}),
            },
        );
    }
    if kind == Kind::Indicator {
        let text = text_of(elements(node).next()?);
        return matches!(text.as_str(), "true" | "false").then(|| json!(text == "true"));
    }
    let text = text_of(node);
    if text.is_empty() || elements(node).next().is_some() {
        return None;
    }
    let (allowed, required): (&[&str], usize) = match kind {
        Kind::Text(names) => (names, 0),
        Kind::Number(names) => {
            Number::parse(&text).ok()?;
            (names, 0)
        }
        Kind::File => (&["mimeCode", "filename"], 2),
        _ => return None,
    };
    let mut object = Map::new();
    for attribute in node.attributes() {
        allowed.contains(&attribute.name()).then_some(())?;
        let value = attribute.value().trim();
        object.insert(format!("@{}", attribute.name()), json!(value));
    }
    if object.len() < required {
        return None;
    }
    if object.is_empty() {
        return Some(json!(text));
    }
    object.insert("#text".to_owned(), json!(text));
    Some(Json::Object(object))
}

fn object_of(node: Node<'_, '_>, of: &'static str) -> Option<Json> {
    let mut object = Map::new();
    for child in elements(node) {
        let name = child.tag_name().name();
        rules(of).iter().find(|rule| rule.name == name)?;
    }
    for rule in rules(of) {
        let values: Option<Vec<Json>> = named(node, rule.name)
            .map(|child| value_of(child, rule.kind))
            .collect();
        let mut values = values?;
        if values.len() < rule.least || values.len() > rule.most {
            return None;
        }
        // Those that fields have would be refused.
        if !values.is_empty() && field_of(rule.name).is_some() {
            return None;
        }
        let value = match values.len() {
            0 => continue,
            1 => values.pop()?,
            _ => Json::Array(values),
        };
        object.insert(rule.name.to_owned(), value);
    }
    (!object.is_empty()).then_some(Json::Object(object))
}
