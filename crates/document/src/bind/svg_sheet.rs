//! Style rules of SVG pictures as usvg applies them, and what applying them takes. Bounded before usvg
//! sees them: it matches each rule with each element, and its parser counts lines and columns again
//! before most values.

use std::cell::Cell;

use simplecss::{
    AttributeOperator, Declaration, DeclarationTokenizer, Element, PseudoClass, StyleSheet,
};
use usvg::roxmltree::{Document, Node};

/// Most steps of reading style rules and `style` attributes, about a nanosecond each.
pub(super) const MAX_WORK: u64 = 2_000_000_000;
/// Most comments of all sheets: the parser calls itself for each one inside of a selector.
const MAX_COMMENTS: usize = 500;
/// Most declarations once the parser has copied those of a rule for each of its selectors.
const MAX_COPIES: usize = 20_000_000;
/// Most combinators of a selector: matching calls itself for each.
const MAX_COMBINATORS: usize = 128;

/// The rules of a picture's `style` elements.
pub(super) struct Sheet<'a>(StyleSheet<'a>);

impl<'a> Sheet<'a> {
    /// Reads the rules.
    ///
    /// # Errors
    /// Reading them takes too much.
    pub fn of(document: &'a Document<'_>) -> Result<Self, String> {
        let mut texts: Vec<&'a str> = Vec::new();
        let sheets = document
            .descendants()
            .filter(|node| node.has_tag_name("style"));
        for sheet in sheets {
            if matches!(sheet.attribute("type"), None | Some("text/css")) {
                texts.extend(sheet.text());
            }
        }
        let comments: usize = texts.iter().map(|it| it.matches("/*").count()).sum();
        if comments > MAX_COMMENTS {
            return Err(format!(
                "the style rules of the SVG have more than {MAX_COMMENTS} comments"
            ));
        }
        // All rules are sorted again after each sheet.
        let bytes: usize = texts.iter().map(|it| it.len()).sum();
        let (mut work, mut copied) = (texts.len() as u64 * bytes as u64, 0_usize);
        for text in &texts {
            work = work.saturating_add(reading(text));
            copied = copied.saturating_add(copies(text));
        }
        if work > MAX_WORK || copied > MAX_COPIES {
            return Err(excess());
        }
        let mut rules = StyleSheet::new();
        for text in texts {
            rules.parse_more(text);
        }
        let is_long = |selector: &str| selector.matches(' ').count() > MAX_COMBINATORS;
        if rules
            .rules
            .iter()
            .any(|rule| is_long(&rule.selector.to_string()))
        {
            return Err(format!(
                "a selector of the SVG has more than {MAX_COMBINATORS} parts"
            ));
        }
        Ok(Self(rules))
    }

    /// What applies to an element: of the rules that mean it, then of its `style` attribute. Takes
    /// the steps of it from `left`; at 0, declarations are missing.
    pub fn declarations(&self, node: Node<'a, '_>, left: &Cell<u64>) -> Vec<Declaration<'a>> {
        let element = Matched { node, left };
        let mut all = Vec::new();
        for rule in &self.0.rules {
            if left.get() == 0 {
                break;
            }
            if rule.selector.matches(&element) {
                element.takes(8 * rule.declarations.len());
                all.extend_from_slice(&rule.declarations);
            }
        }
        let own = node.attribute("style").unwrap_or_default();
        all.extend(DeclarationTokenizer::from(own));
        all
    }
}

/// What is said where the rules take too much.
pub(super) fn excess() -> String {
    "the style rules of the SVG take too long to apply".to_owned()
}

/// An element that is matched with selectors, which counts what that takes.
struct Matched<'a, 'input, 's> {
    node: Node<'a, 'input>,
    left: &'s Cell<u64>,
}

impl Matched<'_, '_, '_> {
    /// Counts steps; false after the last one.
    fn takes(&self, steps: usize) -> bool {
        let left = self.left.get().saturating_sub(steps as u64);
        self.left.set(left);
        left > 0
    }
}

// As usvg does it. Without steps nothing matches, which ends every search.
impl Element for Matched<'_, '_, '_> {
    fn parent_element(&self) -> Option<Self> {
        if !self.takes(1) {
            return None;
        }
        let (node, left) = (self.node.parent_element()?, self.left);
        Some(Self { node, left })
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        let (mut node, left) = (self.node, self.left);
        // Comments and texts may stand between.
        while self.takes(1) {
            node = node.prev_sibling()?;
            if node.is_element() {
                return Some(Self { node, left });
            }
        }
        None
    }

    fn has_local_name(&self, name: &str) -> bool {
        self.takes(1 + name.len() / 16) && self.node.tag_name().name() == name
    }

    fn attribute_matches(&self, name: &str, operator: AttributeOperator<'_>) -> bool {
        let value = self.node.attribute(name);
        let length = value.map_or(0, str::len);
        self.takes(1 + self.node.attributes().len() + length / 8)
            && value.is_some_and(|value| operator.matches(value))
    }

    fn pseudo_class_matches(&self, class: PseudoClass<'_>) -> bool {
        matches!(class, PseudoClass::FirstChild) && self.prev_sibling_element().is_none()
    }
}

/// What reading a sheet or a `style` attribute takes: the parser looks for the end of most values by a
/// mistake, and counts all lines and the columns of the line before it.
pub(super) fn reading(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let (mut work, mut line, mut at, mut in_number) = (0_u64, 0, 0, false);
    while let Some(byte) = bytes.get(at) {
        // A font in the sheet is skipped as a whole.
        let skipped = data_url(&bytes[at..]);
        if skipped > 0 {
            let inside = &bytes[at..at + skipped];
            if let Some(end) = inside.iter().rposition(|byte| *byte == b'\n') {
                line = at + end + 1;
            }
            at += skipped;
            continue;
        }
        let is_mistake = match byte {
            b'\n' => {
                line = at + 1;
                false
            }
            b'0'..=b'9' => !in_number,
            b'#' | b'+' | b'-' | b'.' | b':' | b';' | b',' | b'{' | b'}' | b'@' => true,
            _ => false,
        };
        if is_mistake {
            let place = at.saturating_sub(line) + at / 16 + 1;
            work = work.saturating_add(place as u64);
        }
        in_number = byte.is_ascii_digit();
        at += 1;
    }
    work
}

/// At least as many declarations as a sheet has, with those of a rule once for each of its selectors.
fn copies(sheet: &str) -> usize {
    let count = |text: &str, sign: char| text.matches(sign).count();
    let pieces: Vec<&str> = sheet.split(['{', '}']).collect();
    if pieces.iter().all(|piece| is_plain(piece)) {
        let pairs = pieces.windows(2);
        let copies = pairs.map(|it| (count(it[0], ',') + 1).saturating_mul(count(it[1], ':')));
        return copies.fold(0, usize::saturating_add);
    }
    (count(sheet, ',') + count(sheet, '{')).saturating_mul(count(sheet, ':'))
}

/// Whether the parser sees the brace behind a piece of a sheet, wherever it takes the piece for a
/// selector, a declaration or a mistake: no string or function is open at its end.
fn is_plain(piece: &str) -> bool {
    let has = |sign: &str| piece.contains(sign);
    if has("\\") || has("/*") || (has("\"") && has("'")) {
        return false;
    }
    let quotes = |text: &str| text.matches(['"', '\'']).count();
    let mut outside = 0;
    for (at, part) in piece.split('(').enumerate() {
        let (inside, after) = match part.split_once(')') {
            Some(parts) if at > 0 => parts,
            None if at > 0 => return false,
            _ => ("", part),
        };
        if quotes(inside) % 2 == 1 {
            return false;
        }
        outside += quotes(after);
    }
    outside % 2 == 0
}

/// How long `url(data:…` is, without a sign that could end it anywhere in a sheet: whatever stands
/// before it, the parser reads no values in it. 0 if there is none.
fn data_url(bytes: &[u8]) -> usize {
    let Some(inside) = bytes.strip_prefix(b"url(") else {
        return 0;
    };
    let quote = usize::from(matches!(inside.first(), Some(b'"' | b'\'')));
    let inside = &inside[quote..];
    if !inside.starts_with(b"data:") {
        return 0;
    }
    // Lines of a string may be broken.
    let breaks: &[u8] = if quote == 1 { b"\r\n" } else { b"" };
    let is_plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || b"+/=;:,.-_%".contains(&byte) || breaks.contains(&byte)
    };
    4 + quote + inside.iter().take_while(|byte| is_plain(**byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_those_of_usvg() {
        let source = "<svg><style>g > .a, #b { fill: red; mask: url(#m) }</style>\
                      <g><path class='c a' style='stroke:blue'/></g><path class='a'/></svg>";
        let document = Document::parse(source).unwrap();
        let sheet = Sheet::of(&document).unwrap();
        let left = Cell::new(1_000);
        let mut paths = document
            .descendants()
            .filter(|node| node.has_tag_name("path"));
        let names = |node| -> Vec<&str> {
            let all = sheet.declarations(node, &left);
            all.iter().map(|it| it.name).collect()
        };
        assert_eq!(names(paths.next().unwrap()), ["fill", "mask", "stroke"]);
        assert!(names(paths.next().unwrap()).is_empty());
        assert!(left.get() > 0);
    }

    #[test]
    fn sheets_that_take_too_much_are_refused() {
        let of = |sheet: &str| {
            let source = format!("<svg><style>{sheet}</style></svg>");
            Sheet::of(&Document::parse(&source).unwrap()).map(|sheet| sheet.0.rules.len())
        };
        let font = format!(
            "@font-face{{src:url(\"data:font/woff2;base64,{}\")}}",
            "a1+".repeat(300_000)
        );
        let classes: String = (0..1_000)
            .map(|at| format!(".c{at}{{fill:#1a2b3c}}"))
            .collect();
        assert_eq!(of(&format!("{font}\n{classes}")), Ok(1_000));
        assert_eq!(
            of(&classes.replace("}", ";mask:url('#a')}\n").repeat(6)),
            Ok(6_000)
        );
        for sheet in [
            format!("a{}{{fill:red}}", "/**/".repeat(MAX_COMMENTS + 1)),
            format!("{}a{{{}}}", "a,".repeat(9_000), "x:y;".repeat(9_000)),
            format!(
                "{}a{{x:'}}\\'';{}}}",
                "a,".repeat(9_000),
                "x:y;".repeat(9_000)
            ),
            format!("a{{x:{}}}", "1 ".repeat(100_000)),
            format!("a{}{{fill:red}}", "+a".repeat(MAX_COMBINATORS)),
        ] {
            assert!(of(&sheet).is_err(), "{}", &sheet[..20]);
        }
    }
}
