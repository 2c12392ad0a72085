//! Lists and automatic numbers: the part `numbering.xml` (ECMA-376-1 §17.9).

use std::fmt::Write as _;

use platen_document::{
    bound::{BULLETS, COUNTERS},
    numbering::{Counter, Part, Pattern},
};

use super::NAMESPACES;
use crate::ooxml::{DECLARATION, Escaped};

/// The deepest list level of Word, counted from 0.
pub(super) const DEEPEST: usize = 8;

/// The definitions and instances of lists in a document. Each numbered list gets its own instance,
/// so that it counts from its own start.
pub(super) struct Numbering {
    definitions: Vec<Definition>,
    instances: Vec<Instance>,
}

/// How the nine levels of a list are written (`w:abstractNum`).
#[derive(PartialEq, Eq)]
enum Definition {
    /// The usual bullets.
    Bullets,
    /// The usual numbers.
    Numbers,
    /// One pattern for every level.
    Marks(Pattern),
    /// A pattern for each level, for headings and clauses.
    Outline(Vec<Pattern>),
}

/// A list (`w:num`): the index of its definition, and the level and first number that it restarts.
struct Instance {
    definition: usize,
    start: Option<(usize, u32)>,
}

/// Index of the instance that all usual bullet lists share.
const BULLET_LIST: usize = 0;

impl Default for Numbering {
    fn default() -> Self {
        Self {
            definitions: vec![Definition::Bullets, Definition::Numbers],
            instances: vec![Instance {
                definition: 0,
                start: None,
            }],
        }
    }
}

impl Numbering {
    /// The `numId` of a list at `level`, registering it if it counts.
    pub fn list(
        &mut self,
        mark: Option<&Pattern>,
        ordered: bool,
        level: usize,
        start: u32,
    ) -> usize {
        let definition = match (mark, ordered) {
            (None, false) => return BULLET_LIST + 1,
            (None, true) => Definition::Numbers,
            (Some(mark), _) => Definition::Marks(mark.clone()),
        };
        let start = ordered.then_some((level, start));
        self.instance(definition, start)
    }

    /// Whether the list with this `numId` has the usual numbers.
    pub fn is_plain(&self, number: usize) -> bool {
        let instance = number.checked_sub(1).and_then(|it| self.instances.get(it));
        instance.is_some_and(|it| self.definitions[it.definition] == Definition::Numbers)
    }

    /// The `numId` of the headings and clauses with these `patterns`.
    pub fn outline(&mut self, patterns: &[Pattern]) -> usize {
        self.instance(Definition::Outline(patterns.to_vec()), None)
    }

    fn instance(&mut self, definition: Definition, start: Option<(usize, u32)>) -> usize {
        let known = self.definitions.iter().position(|it| *it == definition);
        let definition = known.unwrap_or_else(|| {
            self.definitions.push(definition);
            self.definitions.len() - 1
        });
        let shared = |it: &Instance| it.definition == definition && it.start.is_none();
        if start.is_none()
            && let Some(index) = self.instances.iter().position(shared)
        {
            return index + 1;
        }
        self.instances.push(Instance { definition, start });
        self.instances.len()
    }

    pub fn to_xml(&self) -> String {
        let mut xml = format!("{DECLARATION}<w:numbering {NAMESPACES}>");
        for (id, definition) in self.definitions.iter().enumerate() {
            let kind = match definition {
                Definition::Outline(_) => "multilevel",
                _ => "hybridMultilevel",
            };
            let _ = write!(
                xml,
                "<w:abstractNum w:abstractNumId=\"{id}\"><w:multiLevelType w:val=\"{kind}\"/>"
            );
            for level in 0..=DEEPEST {
                definition.level(&mut xml, level);
            }
            xml.push_str("</w:abstractNum>");
        }
        for (index, instance) in self.instances.iter().enumerate() {
            let _ = write!(
                xml,
                "<w:num w:numId=\"{}\"><w:abstractNumId w:val=\"{}\"/>",
                index + 1,
                instance.definition
            );
            if let Some((level, start)) = instance.start {
                let _ = write!(
                    xml,
                    "<w:lvlOverride w:ilvl=\"{level}\"><w:startOverride w:val=\"{start}\"/>\
                     </w:lvlOverride>"
                );
            }
            xml.push_str("</w:num>");
        }
        xml.push_str("</w:numbering>");
        xml
    }
}

impl Definition {
    /// Writes the level `index`.
    fn level(&self, xml: &mut String, index: usize) {
        let (format, text) = match self {
            Self::Bullets => ("bullet", BULLETS[index % 3].to_owned()),
            Self::Numbers => (form(COUNTERS[index % 3]), format!("%{}.", index + 1)),
            Self::Marks(mark) => match mark.counters().next_back() {
                Some(counter) => (form(counter), level_text(mark, index)),
                None => ("bullet", level_text(mark, index)),
            },
            Self::Outline(patterns) => match patterns.get(index) {
                Some(pattern) => match pattern.counters().next_back() {
                    Some(counter) => (form(counter), level_text(pattern, index)),
                    None => ("none", level_text(pattern, index)),
                },
                None => ("none", String::new()),
            },
        };
        let legal = if self.is_legal(index) {
            "<w:isLgl/>"
        } else {
            ""
        };
        let _ = write!(
            xml,
            "<w:lvl w:ilvl=\"{index}\"><w:start w:val=\"1\"/><w:numFmt w:val=\"{format}\"/>{legal}\
             <w:lvlText w:val=\"{}\"/><w:lvlJc w:val=\"left\"/><w:pPr>\
             <w:ind w:left=\"{}\" w:hanging=\"300\"/></w:pPr></w:lvl>",
            Escaped(&text),
            indent(index)
        );
    }

    /// Whether a level shows all numbers in Arabic digits, whatever the levels above use.
    fn is_legal(&self, level: usize) -> bool {
        let Self::Outline(patterns) = self else {
            return false;
        };
        let Some(pattern) = patterns.get(level) else {
            return false;
        };
        let decimal = |counter: Counter| counter == Counter::Decimal;
        let above = patterns[..level].iter().rev();
        let own = above.map(|pattern| pattern.counters().next_back());
        let shown = pattern.counters().rev().skip(1);
        pattern.counters().all(decimal)
            && shown
                .zip(own)
                .any(|(shown, own)| own.is_some_and(|own| own != shown))
    }
}

/// Indent of a list level, in twentieths of a point.
pub(super) fn indent(level: usize) -> usize {
    360 * (level + 1)
}

/// `w:lvlText` of a pattern at `level`: `%1` stands for the counter of the first level.
fn level_text(pattern: &Pattern, level: usize) -> String {
    let counters = pattern.counters().count();
    let mut above = counters;
    let mut text = String::new();
    for part in pattern.parts() {
        match part {
            Part::Text(literal) => text.push_str(literal),
            Part::Counter(counter) => {
                above -= 1;
                match level.checked_sub(above) {
                    Some(level) => {
                        let _ = write!(text, "%{}", level + 1);
                    }
                    None => text.push_str(&counter.write(1)),
                }
            }
        }
    }
    text
}

/// `w:numFmt` of a form.
pub(super) fn form(counter: Counter) -> &'static str {
    match counter {
        Counter::Decimal => "decimal",
        Counter::LowerAlpha => "lowerLetter",
        Counter::UpperAlpha => "upperLetter",
        Counter::LowerRoman => "lowerRoman",
        Counter::UpperRoman => "upperRoman",
    }
}
