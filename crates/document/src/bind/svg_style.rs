//! Properties of text in SVG pictures: attributes, `style` attributes, and rules of `style` elements
//! with a name, class or id as their selector, inherited from element to element.

use rustc_hash::FxHashSet;
use usvg::roxmltree::{Document, Node};

use crate::work;

/// Most selectors and declarations of rules that are read. A declaration counts once for each
/// selector before it.
const MAX_RULES: usize = 20_000;
/// Elements around a text that are looked at.
const MAX_DEPTH: usize = 128;
/// Font size where none is given, in pixels.
const MEDIUM: f32 = 16.0;

/// How a text is set.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Style {
    pub families: Vec<String>,
    pub size: f32,
    pub weight: u16,
    pub italic: bool,
    pub letter_spacing: f32,
    /// Which part of the text stands at its place: 0 is the start, 1 the end.
    pub anchor: f32,
    pub preserve: bool,
    pub hidden: bool,
    pub vertical: bool,
}

impl Style {
    /// A length in pixels; of a list the first.
    pub fn length(&self, value: &str) -> Option<f32> {
        let first = value
            .split([',', ' ', '\n', '\t'])
            .find(|part| !part.is_empty())?;
        let digits = first
            .find(|sign: char| !matches!(sign, '0'..='9' | '.' | '-' | '+'))
            .unwrap_or(first.len());
        let number: f32 = first[..digits].parse().ok()?;
        let factor = match &first[digits..] {
            "" | "px" => 1.0,
            "pt" => 4.0 / 3.0,
            "pc" => 16.0,
            "mm" => 96.0 / 25.4,
            "cm" => 960.0 / 25.4,
            "in" => 96.0,
            "em" | "rem" => self.size,
            "ex" => self.size / 2.0,
            "%" => self.size / 100.0,
            _ => return None,
        };
        Some(number * factor).filter(|length| length.is_finite())
    }

    fn set(&mut self, name: &str, value: &str) {
        let value = value.trim().trim_end_matches("!important").trim();
        match name {
            "font-family" => {
                let names = value
                    .split(',')
                    .map(|name| name.trim().trim_matches(['"', '\'']));
                let names = names.filter(|name| !name.is_empty());
                self.families = names.map(str::to_owned).collect();
            }
            "font-size" => {
                if let Some(size) = self.length(value).filter(|size| *size > 0.0) {
                    self.size = size.min(10_000.0);
                }
            }
            "font-weight" => {
                self.weight = match value {
                    "normal" => 400,
                    "bold" => 700,
                    "bolder" => (self.weight + 300).min(900),
                    "lighter" => self.weight.saturating_sub(300).max(100),
                    number => number.parse().unwrap_or(self.weight).clamp(1, 1000),
                };
            }
            "font-style" => self.italic = value != "normal",
            "letter-spacing" => {
                self.letter_spacing = self.length(value).unwrap_or(0.0);
            }
            "text-anchor" => {
                self.anchor = match value {
                    "middle" => 0.5,
                    "end" => 1.0,
                    _ => 0.0,
                };
            }
            "white-space" => self.preserve = value.starts_with("pre"),
            "space" => self.preserve = value == "preserve",
            "display" => self.hidden |= value == "none",
            "visibility" => self.hidden = value != "visible",
            "writing-mode" => self.vertical = value.contains("tb") || value.starts_with("vertical"),
            _ => {}
        }
    }
}

/// The rules of a picture's `style` elements, in their order.
#[derive(Default)]
pub(super) struct Rules(Vec<(String, Vec<(String, String)>)>);

impl Rules {
    pub fn of(document: &Document<'_>) -> Self {
        let (mut rules, mut count) = (Vec::new(), 0);
        let sheets = document
            .descendants()
            .filter(|node| node.is_element() && node.tag_name().name() == "style");
        for sheet in sheets {
            let text: String = sheet.children().filter_map(|child| child.text()).collect();
            for rule in without_comments(&text).split('}') {
                work::check();
                let Some((selectors, body)) = rule.split_once('{') else {
                    continue;
                };
                let body = declarations(body);
                for selector in selectors.split(',') {
                    count += 1 + body.len();
                    if count > MAX_RULES {
                        return Self(rules);
                    }
                    rules.push((selector.trim().to_owned(), body.clone()));
                }
            }
        }
        Self(rules)
    }

    /// The style of a node, with what it inherits.
    pub fn style(&self, node: Node<'_, '_>) -> Style {
        let mut style = Style {
            families: Vec::new(),
            size: MEDIUM,
            weight: 400,
            italic: false,
            letter_spacing: 0.0,
            anchor: 0.0,
            preserve: false,
            hidden: false,
            vertical: false,
        };
        let around: Vec<Node<'_, '_>> = node.ancestors().take(MAX_DEPTH).collect();
        for node in around.into_iter().rev().filter(Node::is_element) {
            work::check();
            for attribute in node.attributes() {
                style.set(attribute.name(), attribute.value());
            }
            // Names count least, then classes, then ids.
            let named = Named::of(node);
            for kind in ['t', '.', '#'] {
                for (at, (selector, body)) in self.0.iter().enumerate() {
                    if at % 256 == 0 {
                        work::check();
                    }
                    if named.has(selector, kind) {
                        body.iter().for_each(|(name, value)| style.set(name, value));
                    }
                }
            }
            for (name, value) in declarations(node.attribute("style").unwrap_or_default()) {
                style.set(&name, &value);
            }
        }
        style
    }
}

/// What selectors may call an element, looked up once for all of them.
struct Named<'a> {
    tag: &'a str,
    classes: FxHashSet<&'a str>,
    id: Option<&'a str>,
}

impl<'a> Named<'a> {
    fn of(node: Node<'a, '_>) -> Self {
        let classes = node.attribute("class").unwrap_or_default();
        Self {
            tag: node.tag_name().name(),
            classes: classes.split_ascii_whitespace().collect(),
            id: node.attribute("id"),
        }
    }

    /// Whether a selector of this kind (`.`, `#`, or the name of an element) means the element.
    fn has(&self, selector: &str, kind: char) -> bool {
        match kind {
            '.' => selector
                .strip_prefix('.')
                .is_some_and(|wanted| self.classes.contains(wanted)),
            '#' => selector
                .strip_prefix('#')
                .is_some_and(|wanted| self.id == Some(wanted)),
            _ => selector == "*" || selector == self.tag,
        }
    }
}

fn declarations(body: &str) -> Vec<(String, String)> {
    body.split(';')
        .filter_map(|declaration| declaration.split_once(':'))
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

fn without_comments(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        plain.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, behind)| behind);
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_selectors_do_not_multiply_a_long_rule() {
        let (selectors, body) = ("a,".repeat(30_000), "font-size:1px;".repeat(10_000));
        let source = format!("<svg><style>b{{}}{selectors}a{{{body}}}</style></svg>");
        let rules = Rules::of(&Document::parse(&source).unwrap());
        let kept: usize = rules.0.iter().map(|(_, body)| 1 + body.len()).sum();
        assert!((1..=MAX_RULES).contains(&kept), "{kept}");
    }

    #[test]
    fn properties_are_inherited_and_overridden() {
        let source = "<svg xmlns='http://www.w3.org/2000/svg' font-family='Inter, sans-serif'>\
            <style>/* x */ .a, text { font-size: 12pt; font-weight: bold } #b { font-size: 20px }</style>\
            <g text-anchor='middle'><text id='b' class='a' style='font-style: italic'/></g></svg>";
        let document = Document::parse(source).unwrap();
        let rules = Rules::of(&document);
        let text = document
            .descendants()
            .find(|node| node.tag_name().name() == "text");
        let style = rules.style(text.unwrap());
        assert_eq!(style.families, ["Inter", "sans-serif"]);
        assert_eq!((style.size, style.weight, style.italic), (20.0, 700, true));
        assert_eq!(style.anchor, 0.5);
        assert_eq!(style.length("1.5em 3"), Some(30.0));
        assert_eq!(style.length("3furlongs"), None);
    }
}
