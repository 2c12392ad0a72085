//! Elements that an author states by their names, put into the tree of the invoice at their places.
//!
//! An object has a member for each element, a list where one is repeated. The content of an element
//! without elements is text, a number or a boolean, or an object with `#text` and its attributes as
//! `@schemeID`.

use std::slice;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use en16931::Date;
use serde_json::{Map, Value as Json};

use super::{
    schema::{Kind, Rule, WHOLE, rules},
    tree::Element,
};
use crate::{Number, Problem, mapping::token};

/// Elements that fields of the invoice have, since totals depend on them.
const OF_FIELDS: [(&str, &str); 8] = [
    ("ApplicableTradeTax", "vat"),
    ("IncludedSupplyChainTradeLineItem", "lines"),
    ("LineStatusReasonCode", "kind"),
    ("ParentLineID", "parent"),
    ("SpecifiedFinancialAdjustment", "thirdPartyPayments"),
    ("SpecifiedLogisticsServiceCharge", "logisticsCharges"),
    ("SpecifiedTradeAllowanceCharge", "allowances` or `charges"),
    ("SpecifiedTradePaymentTerms", "paymentTerms"),
];

/// The field that states elements of this name.
pub(super) fn field_of(name: &str) -> Option<&'static str> {
    let found = OF_FIELDS.iter().find(|it| it.0 == name);
    found.map(|it| it.1)
}

/// Maximum number of reported problems.
const MAX_PROBLEMS: usize = 100;

/// Puts what is stated into a tree.
pub(super) struct Adder {
    /// Whether the author wrote the elements: then those of fields are refused.
    pub(super) by_author: bool,
    pub(super) problems: Vec<Problem>,
}

impl Adder {
    fn problem(&mut self, path: &str, message: String) {
        if self.problems.len() < MAX_PROBLEMS {
            let problem = Problem::error("invalid-value", path, message);
            self.problems.push(problem);
        }
    }

    /// Adds what `stated` has to `element`, which is of the type `of`.
    pub(super) fn add(
        &mut self,
        element: &mut Element,
        of: &'static str,
        stated: &Map<String, Json>,
        path: &str,
    ) {
        for (name, value) in stated {
            if self.problems.len() >= MAX_PROBLEMS {
                return;
            }
            let path = format!("{path}/{}", token(name));
            let Some((place, _)) = rules(of).iter().enumerate().find(|it| it.1.name == name) else {
                let names: Vec<&str> = rules(of).iter().map(|it| it.name).collect();
                let message = format!(
                    "`{}` has no element `{name}`; it has {}",
                    element.local(),
                    names.join(", ")
                );
                self.problem(&path, message);
                continue;
            };
            if let Some(field) = field_of(name).filter(|_| self.by_author) {
                let message = format!("the field `{field}` states this element");
                self.problem(&path, message);
                continue;
            }
            let (values, is_list) = match value {
                Json::Array(items) => (items.as_slice(), true),
                one => (slice::from_ref(one), false),
            };
            let prefix = if of == WHOLE { "rsm" } else { "ram" };
            if values.is_empty() {
                self.problem(&path, "the list is empty: leave it out".to_owned());
            }
            self.add_all(element, (of, place), prefix, (values, is_list), &path);
        }
    }

    /// Adds `values` as elements of the rule at `place` of the type `of`.
    fn add_all(
        &mut self,
        element: &mut Element,
        (of, place): (&'static str, usize),
        prefix: &str,
        (values, is_list): (&[Json], bool),
        path: &str,
    ) {
        let at = |index: usize| match is_list {
            true => format!("{path}/{index}"),
            false => path.to_owned(),
        };
        let rule = &rules(of)[place];
        if rule.most == 1
            && let [value] = values
            && let Some(own) = element.child(rule.name)
        {
            let path = at(0);
            match (rule.kind, value) {
                (Kind::Type(inner), Json::Object(stated)) => self.add(own, inner, stated, &path),
                (Kind::Type(_), _) => self.no_object(&path, rule),
                _ => self.problem(&path, "a field of the invoice states it already".to_owned()),
            }
            return;
        }
        let there = element.children.iter();
        let there = there.filter(|it| it.local() == rule.name).count();
        if there.saturating_add(values.len()) > rule.most {
            let message = format!(
                "`{}` has at most {} of this element",
                element.local(),
                rule.most
            );
            self.problem(path, message);
            return;
        }
        let name = format!("{prefix}:{}", rule.name);
        let made: Vec<Element> = values
            .iter()
            .enumerate()
            .filter_map(|(index, value)| self.element(rule, name.clone(), value, &at(index)))
            .collect();
        let order = |child: &Element| rules(of).iter().position(|it| it.name == child.local());
        let mut children = element.children.iter();
        let at = children.position(|child| order(child).is_none_or(|order| order > place));
        let at = at.unwrap_or(element.children.len());
        element.children.splice(at..at, made);
    }

    fn no_object(&mut self, path: &str, rule: &Rule) {
        let message = format!("`{}` is an object with elements", rule.name);
        self.problem(path, message);
    }

    /// A new element.
    fn element(&mut self, rule: &Rule, name: String, value: &Json, path: &str) -> Option<Element> {
        let Kind::Type(of) = rule.kind else {
            return self.leaf(rule, name, value, path);
        };
        let Json::Object(stated) = value else {
            self.no_object(path, rule);
            return None;
        };
        let mut made = Element {
            name,
            ..Element::default()
        };
        self.add(&mut made, of, stated, path);
        for inner in rules(of).iter().filter(|it| it.least > 0) {
            if !stated.contains_key(inner.name) {
                let message = format!("`{}` needs `{}`", rule.name, inner.name);
                self.problem(path, message);
            }
        }
        Some(made)
    }

    /// A new element without elements of its own.
    fn leaf(&mut self, rule: &Rule, name: String, value: &Json, path: &str) -> Option<Element> {
        let empty = Map::new();
        let (attributes, content) = match value {
            Json::Object(object) => (object, object.get("#text").unwrap_or(&Json::Null)),
            content => (&empty, content),
        };
        let text = match content {
            Json::String(text) => text.trim().to_owned(),
            Json::Number(number) => number.to_string(),
            Json::Bool(value) => value.to_string(),
            _ => {
                let message = format!(
                    "`{}` is text, or an object with `#text` and attributes such as `@schemeID`",
                    rule.name
                );
                self.problem(path, message);
                return None;
            }
        };
        match content_of(rule.kind, name, text, attributes) {
            Ok(element) => Some(element),
            Err(message) => {
                self.problem(path, message);
                None
            }
        }
    }
}

/// The element `name` of `text`, or what is wrong with it.
fn content_of(
    kind: Kind,
    name: String,
    text: String,
    stated: &Map<String, Json>,
) -> Result<Element, String> {
    let allowed: &[&str] = match kind {
        Kind::Text(names) | Kind::Number(names) => names,
        Kind::File => &["mimeCode", "filename"],
        _ => &[],
    };
    let mut attributes = Vec::new();
    for (key, value) in stated.iter().filter(|it| it.0 != "#text") {
        let key = key.strip_prefix('@').unwrap_or_default();
        match value.as_str() {
            Some(value) if allowed.contains(&key) => {
                attributes.push((key.to_owned(), value.to_owned()));
            }
            _ => {
                let all: Vec<String> = allowed.iter().map(|it| format!("`@{it}`")).collect();
                let message = "the element has text as `#text`";
                return Err(match all.is_empty() {
                    true => format!("{message} and no attributes"),
                    false => format!("{message} and texts as {}", all.join(", ")),
                });
            }
        }
    }
    let mut made = Element::text(name, text);
    match kind {
        Kind::Number(_) => {
            let number = Number::parse(&made.text)?;
            // All of its digits, but no exponent.
            if made.text.contains(['e', 'E', '+', '_']) {
                made.text = number.0.normalize().to_string();
            }
        }
        Kind::Indicator => {
            if !matches!(made.text.as_str(), "true" | "false") {
                return Err(format!("`{}` is neither true nor false", made.text));
            }
            let inner = Element::text("udt:Indicator".to_owned(), std::mem::take(&mut made.text));
            made.children.push(inner);
        }
        Kind::Date(inner) => {
            let text = std::mem::take(&mut made.text);
            let day = match text.as_bytes().get(10) {
                Some(b'T' | b' ') => &text[..10],
                _ => &text,
            };
            let date = Date::parse(day)
                .map_err(|_| format!("`{text}` is not a date: write it as 2026-11-26"))?;
            let text = date.to_string().replace('-', "");
            attributes.push(("format".to_owned(), "102".to_owned()));
            let mut inner = Element::text(inner.to_owned(), text);
            inner.attributes = std::mem::take(&mut attributes);
            made.children.push(inner);
        }
        Kind::File => {
            if attributes.len() < 2 {
                return Err("a file has `@mimeCode` and `@filename`".to_owned());
            }
            let decoded = BASE64_STANDARD.decode(made.text.as_bytes());
            decoded.map_err(|_| "the file is not in base64".to_owned())?;
        }
        Kind::Text(_) | Kind::Type(_) => {}
    }
    made.attributes = attributes;
    Ok(made)
}
