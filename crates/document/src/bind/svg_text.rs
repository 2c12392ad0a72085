//! Texts of SVG pictures as outlines, in the fonts of the document: each `text` element becomes a
//! group of paths before the picture is parsed.
//!
//! Source: SVG 1.1 §10. Texts along paths and vertical texts are left out, as is what scripts and
//! rules with other selectors than a name, class or id would change.

use std::fmt::Write as _;

use usvg::roxmltree::{Document, Node};

use super::svg_style::{Rules, Style};
use crate::{
    host::{DrawnFont, Host},
    work,
};

/// Most characters of the texts in a picture.
const MAX_CHARACTERS: usize = 20_000;
/// Largest picture with its outlines, in bytes.
const MAX_BYTES: usize = 16 << 20;
/// Deepest nesting of elements in a text.
const MAX_DEPTH: usize = 16;
/// Attributes that place or set a text, which its outlines have done.
const SPENT: [&str; 16] = [
    "x",
    "y",
    "dx",
    "dy",
    "rotate",
    "textLength",
    "lengthAdjust",
    "text-anchor",
    "font-family",
    "font-size",
    "font-weight",
    "font-style",
    "font",
    "letter-spacing",
    "word-spacing",
    "space",
];

/// A picture whose texts are outlines, and whether it has texts that could not be drawn.
pub(super) struct Outlined {
    pub source: String,
    pub lacks: bool,
}

/// Draws the texts of `document`, whose source is `source`.
pub(super) fn outlined(source: &str, document: &Document<'_>, host: &dyn Host) -> Outlined {
    let rules = Rules::of(document);
    let mut drawer = Drawer {
        host,
        rules: &rules,
        left: MAX_CHARACTERS,
        lacks: false,
    };
    let mut out = String::new();
    let mut done = 0;
    let texts = document.descendants().filter(|node| is(*node, "text"));
    for text in texts {
        let range = text.range();
        // A text inside a text is drawn with it.
        if range.start < done {
            continue;
        }
        out.push_str(&source[done..range.start]);
        done = range.end;
        match drawer.text(text, source) {
            Some(group) if out.len() + group.len() <= MAX_BYTES => out.push_str(&group),
            _ => drawer.lacks = true,
        }
    }
    out.push_str(&source[done..]);
    Outlined {
        source: out,
        lacks: drawer.lacks,
    }
}

fn is(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

struct Drawer<'a> {
    host: &'a dyn Host,
    rules: &'a Rules,
    /// Characters that may still be drawn.
    left: usize,
    lacks: bool,
}

/// Texts that start at one place, with their paths from its left end.
#[derive(Default)]
struct Chunk {
    /// Where it starts, from the left end of the text.
    x: f32,
    y: f32,
    width: f32,
    /// Which part of it stands there, by its first character: 0 is the start, 1 the end.
    anchor: Option<f32>,
    /// Groups that are open where it starts, and what is drawn.
    body: String,
}

/// A text while it is drawn.
struct Line {
    pen: (f32, f32),
    /// Opening tags of the groups around the pen.
    open: Vec<String>,
    chunk: Chunk,
    out: String,
    /// Whether the last character was a space, which swallows others.
    spaced: bool,
}

impl Drawer<'_> {
    /// The group of paths for a text; `None` if it cannot be drawn.
    fn text(&mut self, text: Node<'_, '_>, source: &str) -> Option<String> {
        let style = self.rules.style(text);
        if style.vertical || text.descendants().any(|node| is(node, "textPath")) {
            return None;
        }
        let mut line = Line {
            pen: (0.0, 0.0),
            open: Vec::new(),
            chunk: Chunk::default(),
            out: String::new(),
            spaced: true,
        };
        self.element(text, source, &mut line, 0)?;
        line.close_chunk();
        // The transform of the text moves all of it.
        Some(format!("{}{}</g>", group(text, source), line.out))
    }

    /// Draws what an element of a text holds.
    fn element(
        &mut self,
        node: Node<'_, '_>,
        source: &str,
        line: &mut Line,
        depth: usize,
    ) -> Option<()> {
        work::check();
        let style = self.rules.style(node);
        if depth > MAX_DEPTH || style.hidden {
            return (depth <= MAX_DEPTH).then_some(());
        }
        let place = |name: &str| node.attribute(name).and_then(|value| style.length(value));
        let (x, y) = (place("x"), place("y"));
        if x.is_some() || y.is_some() {
            line.close_chunk();
            line.pen = (x.unwrap_or(line.pen.0), y.unwrap_or(line.pen.1));
            (line.chunk.x, line.chunk.y) = line.pen;
        }
        line.pen.0 += place("dx").unwrap_or(0.0);
        line.pen.1 += place("dy").unwrap_or(0.0);
        if depth > 0 {
            line.open(group(node, source));
        }
        // Groups are opened again for each place: long attributes could be copied without end.
        if line.out.len() + line.chunk.body.len() > MAX_BYTES {
            return None;
        }
        for child in node.children() {
            if child.is_text() {
                self.characters(child.text().unwrap_or_default(), &style, line)?;
            } else if is(child, "tspan") || is(child, "a") {
                self.element(child, source, line, depth + 1)?;
            }
        }
        if depth > 0 {
            line.close();
        }
        Some(())
    }

    fn characters(&mut self, text: &str, style: &Style, line: &mut Line) -> Option<()> {
        let text = if style.preserve {
            text.replace(['\n', '\t', '\r'], " ")
        } else {
            line.collapsed(text)
        };
        if text.is_empty() {
            return Some(());
        }
        line.chunk.anchor.get_or_insert(style.anchor);
        self.left = self.left.checked_sub(text.chars().count())?;
        let font = DrawnFont {
            families: style.families.clone(),
            weight: style.weight,
            italic: style.italic,
            size: style.size,
        };
        let parts: Vec<String> = if style.letter_spacing == 0.0 {
            vec![text]
        } else {
            text.chars().map(String::from).collect()
        };
        for part in parts {
            let drawn = self.host.outline(&part, &font)?;
            let (x, y) = (line.pen.0 - line.chunk.x, line.pen.1 - line.chunk.y);
            if !drawn.path.is_empty() {
                let _ = write!(
                    line.chunk.body,
                    "<path transform=\"translate({x} {y})\" d=\"{}\"/>",
                    drawn.path
                );
            }
            line.pen.0 += drawn.width + style.letter_spacing;
            line.chunk.width = line.pen.0 - line.chunk.x;
        }
        Some(())
    }
}

impl Line {
    fn open(&mut self, group: String) {
        self.chunk.body.push_str(&group);
        self.open.push(group);
    }

    fn close(&mut self) {
        self.chunk.body.push_str("</g>");
        self.open.pop();
    }

    /// Writes the chunk at its place and begins another one inside the same groups.
    fn close_chunk(&mut self) {
        let chunk = std::mem::take(&mut self.chunk);
        let x = chunk.x - chunk.width * chunk.anchor.unwrap_or(0.0);
        let _ = write!(self.out, "<g transform=\"translate({x} {})\">", chunk.y);
        self.out.push_str(&chunk.body);
        for _ in &self.open {
            self.out.push_str("</g>");
        }
        self.out.push_str("</g>");
        self.chunk.body = self.open.concat();
        (self.chunk.x, self.chunk.y) = self.pen;
    }

    /// Text with each run of white space as one space.
    fn collapsed(&mut self, text: &str) -> String {
        let mut collapsed = String::new();
        for sign in text.chars() {
            let space = sign.is_ascii_whitespace();
            if !space || !self.spaced {
                collapsed.push(if space { ' ' } else { sign });
            }
            self.spaced = space;
        }
        collapsed
    }
}

/// A group with the attributes of a text that outlines still need: colors, strokes, transforms.
fn group(node: Node<'_, '_>, source: &str) -> String {
    let mut tag = String::from("<g");
    for attribute in node.attributes() {
        if !SPENT.contains(&attribute.name()) {
            let _ = write!(tag, " {}", &source[attribute.range()]);
        }
    }
    tag.push('>');
    tag
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::host::DrawnText;

    /// Draws every character as a square.
    struct Squares;

    impl Host for Squares {
        fn asset(&self, _: &str) -> Option<Arc<[u8]>> {
            None
        }

        fn now_unix_seconds(&self) -> i64 {
            0
        }

        fn outline(&self, text: &str, font: &DrawnFont) -> Option<DrawnText> {
            let width = text.chars().count() as f32 * font.size;
            Some(DrawnText {
                path: format!("M0 0H{width}V-9H0Z"),
                width,
            })
        }
    }

    fn draw(body: &str) -> Outlined {
        let source = format!("<svg xmlns='http://www.w3.org/2000/svg' font-size='10'>{body}</svg>");
        outlined(&source, &Document::parse(&source).unwrap(), &Squares)
    }

    #[test]
    fn texts_stand_where_they_are_anchored_and_keep_their_colors() {
        let drawn = draw(
            "<text x='50' y='9' text-anchor='end' fill='red'>a <tspan fill='blue'> b</tspan></text>",
        );
        assert!(!drawn.lacks);
        Document::parse(&drawn.source).unwrap();
        let (red, blue) = (
            drawn.source.find("red").unwrap(),
            drawn.source.find("blue").unwrap(),
        );
        assert!(red < blue);
        // Three characters of ten pixels end at 50: one space remains of two.
        assert!(drawn.source.contains("translate(20 9)"), "{}", drawn.source);
        assert!(
            drawn.source.contains("translate(20 0)\""),
            "{}",
            drawn.source
        );
    }

    #[test]
    fn each_part_of_a_text_has_its_own_anchor() {
        let drawn =
            draw("<text><tspan x='50' text-anchor='end'>ab</tspan><tspan x='70'>c</tspan></text>");
        assert!(drawn.source.contains("translate(30 0)"), "{}", drawn.source);
        assert!(drawn.source.contains("translate(70 0)"), "{}", drawn.source);
    }

    #[test]
    fn groups_that_are_opened_again_have_a_bound() {
        let (long, parts) = ("x".repeat(1 << 20), "<tspan x='1'>a</tspan>".repeat(1_000));
        let drawn = draw(&format!(
            "<text><tspan class='{long}'>{parts}</tspan></text>"
        ));
        assert!(drawn.lacks && drawn.source.len() < 2 << 20);
    }

    #[test]
    fn what_cannot_be_drawn_is_said() {
        assert!(draw("<text><textPath href='#a'>b</textPath></text>").lacks);
        assert!(draw("<text writing-mode='tb'>b</text>").lacks);
        assert!(draw(&format!("<text>{}</text>", "b".repeat(MAX_CHARACTERS + 1))).lacks);
        let deep = format!(
            "<text>{}x{}</text>",
            "<tspan>".repeat(40),
            "</tspan>".repeat(40)
        );
        assert!(draw(&deep).lacks);
        assert!(!draw("<text display='none'>b</text><text/>").lacks);
    }
}
