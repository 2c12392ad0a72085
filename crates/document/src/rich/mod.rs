//! Rich text from data: Markdown and a safe part of HTML, read into the same marks.
//!
//! The text comes from strangers. Its size, its depth and its number of marks have bounds, nothing in
//! it is evaluated or fetched, and what documents cannot hold is named and left out.

mod html;
mod markdown;

use std::collections::BTreeSet;

use crate::{
    clean::{clean_part, is_field, isolates_are_balanced},
    template::RichFormat,
    work,
};

/// Maximum size of a text, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// Maximum depth of elements inside one another.
const MAX_DEPTH: usize = 24;
/// Maximum number of marks.
const MAX_MARKS: usize = 400_000;
/// Maximum number of columns of a table.
const MAX_COLUMNS: usize = 50;

/// An element that contains others, or text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Paragraph,
    /// A heading of this level, from 1 to 6.
    Heading(u8),
    Quote,
    /// Lines of code.
    Code,
    /// A list; numbered from a number on, or bulleted.
    List(Option<u32>),
    Item,
    Table,
    /// The caption of a table, before its rows; elsewhere like a paragraph.
    Caption,
    /// A row of a table; true in its header.
    Row(bool),
    Cell(Side),
    Strong,
    Emphasis,
    Underline,
    Strike,
    Superscript,
    Subscript,
    InlineCode,
    /// A link to an address.
    Link(String),
}

/// The side on which the text of a cell stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Side {
    #[default]
    Start,
    Center,
    End,
}

impl Tag {
    /// Whether it stands in lines of text.
    pub(crate) fn is_inline(&self) -> bool {
        matches!(
            self,
            Self::Strong
                | Self::Emphasis
                | Self::Underline
                | Self::Strike
                | Self::Superscript
                | Self::Subscript
                | Self::InlineCode
                | Self::Link(_)
        )
    }
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Open(Tag),
    Close,
    Text(String),
    /// A line break.
    Break,
    /// A check box, checked or not.
    Box(bool),
    /// A horizontal rule.
    Rule,
}

/// The marks of a text. Every opened element is closed, in order. Lists hold only items, tables only
/// rows and before them a caption, rows only cells, and code only text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RichText {
    pub(crate) marks: Vec<Mark>,
    /// Names of what was left out.
    pub(crate) dropped: BTreeSet<String>,
}

/// Reads a text.
///
/// # Errors
/// A message, if the text exceeds a bound.
pub(crate) fn read(text: &str, format: RichFormat) -> Result<RichText, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("the text has more than {MAX_BYTES} bytes"));
    }
    let mut marks = Marks::default();
    match format {
        RichFormat::Markdown => markdown::read(text, &mut marks)?,
        RichFormat::Html => html::read(text, &mut marks)?,
    }
    marks.close_to(0);
    let mut read = marks.text;
    if text.contains("&#") {
        read.clean(text.contains(is_field));
    }
    Ok(read)
}

impl RichText {
    /// Cleans what references such as `&#x202e;` stand for: data was cleaned before they were read.
    /// Page fields stay where the template wrote some beside the data.
    fn clean(&mut self, has_fields: bool) {
        let texts = self.marks.iter().filter_map(|mark| match mark {
            Mark::Text(text) => Some(text.chars()),
            _ => None,
        });
        let balanced = isolates_are_balanced(texts.flatten());
        for mark in &mut self.marks {
            work::check();
            let (Mark::Text(text) | Mark::Open(Tag::Link(text))) = mark else {
                continue;
            };
            let mut cleaned = String::with_capacity(text.len());
            for piece in text.split_inclusive(is_field) {
                let (kept, found) = clean_part(piece, balanced);
                cleaned.push_str(&kept);
                let field = piece.chars().next_back().filter(|last| is_field(*last));
                cleaned.extend(field.filter(|_| has_fields));
                if found.control || found.bidi {
                    self.dropped.insert("control characters".to_owned());
                }
            }
            *text = cleaned;
        }
    }
}

/// The marks of a text as they are read.
#[derive(Default)]
struct Marks {
    text: RichText,
    /// The open elements.
    open: Vec<Tag>,
}

impl Marks {
    fn push(&mut self, mark: Mark) -> Result<(), String> {
        work::check();
        if self.text.marks.len() >= MAX_MARKS {
            return Err(format!("the text has more than {MAX_MARKS} elements"));
        }
        self.text.marks.push(mark);
        Ok(())
    }

    fn open(&mut self, tag: Tag) -> Result<(), String> {
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("elements are nested more than {MAX_DEPTH} deep"));
        }
        self.open.push(tag.clone());
        self.push(Mark::Open(tag))
    }

    /// Closes all but the first `depth` open elements.
    fn close_to(&mut self, depth: usize) {
        for _ in depth..self.open.len() {
            self.text.marks.push(Mark::Close);
        }
        self.open.truncate(depth);
    }

    /// Opens the element again that was closed last.
    fn reopen(&mut self, tag: Tag) {
        self.text.marks.pop();
        self.open.push(tag);
    }

    fn drop(&mut self, name: &str) {
        // Names are shown to authors; a text cannot fill memory with them.
        if self.text.dropped.len() < 20 {
            self.text.dropped.insert(name.chars().take(20).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The marks in short: `<tag` opens, `>` closes.
    fn told(text: &str, format: RichFormat) -> String {
        let read = read(text, format).unwrap();
        check_places(&read, text);
        let mut out = String::new();
        for mark in &read.marks {
            match mark {
                Mark::Open(tag) => {
                    let name = format!("{tag:?}");
                    out += &format!("<{} ", name.split('(').next().unwrap());
                }
                Mark::Close => out.push('>'),
                Mark::Text(text) => out += text,
                Mark::Break => out.push('|'),
                Mark::Box(checked) => out += if *checked { "[x]" } else { "[ ]" },
                Mark::Rule => out.push_str("---"),
            }
        }
        out
    }

    /// Panics if an element is not closed, or something stands where binding does not expect it.
    fn check_places(read: &RichText, text: &str) {
        let is_line =
            |tag: &Tag| tag.is_inline() || matches!(tag, Tag::Paragraph | Tag::Heading(_));
        let mut open: Vec<&Tag> = Vec::new();
        let mut before = None;
        for mark in &read.marks {
            let fits = match (open.last().copied(), mark) {
                (around, Mark::Close) => around.is_some(),
                (Some(Tag::List(_)), mark) => *mark == Mark::Open(Tag::Item),
                (Some(Tag::Table), Mark::Open(Tag::Caption)) => {
                    before == Some(&Mark::Open(Tag::Table))
                }
                (Some(Tag::Table), mark) => matches!(mark, Mark::Open(Tag::Row(_))),
                (Some(Tag::Row(_)), mark) => matches!(mark, Mark::Open(Tag::Cell(_))),
                (Some(Tag::Code), mark) => matches!(mark, Mark::Text(_)),
                (Some(tag), Mark::Open(inner)) if is_line(tag) => inner.is_inline(),
                (Some(tag), Mark::Rule) => !is_line(tag),
                (_, Mark::Open(tag)) => !matches!(tag, Tag::Item | Tag::Row(_) | Tag::Cell(_)),
                _ => true,
            };
            assert!(fits, "{text}: {mark:?}");
            match mark {
                Mark::Open(tag) => open.push(tag),
                Mark::Close => {
                    open.pop();
                }
                _ => {}
            }
            before = Some(mark);
        }
        assert!(open.is_empty(), "{text}");
    }

    #[test]
    fn markdown_and_html_say_the_same() {
        for (markdown, html, expected) in [
            (
                "# A\n\nb *c* **d**",
                "<h1>A</h1><p>b <em>c</em> <b>d</b></p>",
                "<Heading A><Paragraph b <Emphasis c> <Strong d>>",
            ),
            (
                "- a\n- b\n  - c",
                "<ul><li>a<li>b<ul><li>c</ul></ul>",
                "<List <Item a><Item b<List <Item c>>>>",
            ),
            (
                "> q",
                "<blockquote><p>q</p></blockquote>",
                "<Quote <Paragraph q>>",
            ),
            ("a  \nb", "<p>a<br>b</p>", "<Paragraph a|b>"),
            ("---", "<hr>", "---"),
            ("`x`", "<p><code>x</code></p>", "<Paragraph <InlineCode x>>"),
            ("```\na\n b\n```", "<pre>a\n b\n</pre>", "<Code a\n b\n>"),
            (
                "[t](https://a.b)",
                "<p><a href='https://a.b'>t</a></p>",
                "<Paragraph <Link t>>",
            ),
            (
                "|a|b|\n|-|-|\n|c|d|",
                "<table><tr><th>a<th>b<tr><td>c<td>d</table>",
                "<Table <Row <Cell a><Cell b>><Row <Cell c><Cell d>>>",
            ),
        ] {
            assert_eq!(told(markdown, RichFormat::Markdown), expected, "{markdown}");
            assert_eq!(told(html, RichFormat::Html), expected, "{html}");
        }
    }

    #[test]
    fn html_is_mended_and_made_safe() {
        for (html, expected) in [
            ("  a\n  b  ", "a b "),
            ("<p>a<p>b", "<Paragraph a><Paragraph b>"),
            ("<b>a<i>b</b>c</i>", "<Strong a<Emphasis b>>c"),
            ("</p></div>x", "x"),
            ("<script>alert('<b>')</script>x<style>p{}</style>", "x"),
            ("<a href='javascript:x'>t</a>", "<Link t>"),
            ("<div>a</div><span>b</span>", "<Paragraph a>b"),
            ("a&amp;b&nbsp;&lt;c", "a&b\u{a0}<c"),
            ("<li>alone", "<List <Item alone>>"),
            ("<td>alone", "<Table <Row <Cell alone>>>"),
            (
                "<table><caption>c</caption><tr><td>a</table>",
                "<Table <Caption c><Row <Cell a>>>",
            ),
            (
                "<table><caption>c<tr><td>a</table>",
                "<Table <Caption c><Row <Cell a>>>",
            ),
            (
                "<table>t<tr><td>a</table>",
                "<Table <Row <Cell t>><Row <Cell a>>>",
            ),
            (
                "<table><tr><b><td>a</td><p>b</p><td>c</table>",
                "<Table <Row <Cell a<Paragraph b>><Cell c>>>",
            ),
            (
                "<table> <tr>&nbsp;<td>a</td><br></tr></table>",
                "<Table <Row <Cell a>>>",
            ),
            ("<tr><li>a", "<Table <Row <Cell <List <Item a>>>>>"),
            (
                "<ul><li>a</li><ul><li>b</li></ul><li>c</ul>",
                "<List <Item a<List <Item b>>><Item c>>",
            ),
            ("<ul><ul><li>b</ul></ul>", "<List <Item <List <Item b>>>>"),
            (
                "<ul>t<li>a</li><br><i>b</i> c<li>d</ul>",
                "<List <Item t><Item a<Paragraph <Emphasis b> c>><Item d>>",
            ),
            (
                "<ul><hr><td>a</ul>",
                "<List <Item ---<Table <Row <Cell a>>>>>",
            ),
            (
                "<pre><code>a\n <b>b</b><br>c</code></pre>d",
                "<Code a\n b\nc>d",
            ),
            ("<pre>a<p>b</pre>", "<Code a><Paragraph b>"),
        ] {
            assert_eq!(told(html, RichFormat::Html), expected, "{html}");
        }
        let dropped = |html| read(html, RichFormat::Html).unwrap().dropped;
        let names: Vec<_> = dropped("<video></video><img src=x><object>")
            .into_iter()
            .collect();
        assert_eq!(names, ["img", "object", "video"]);
        assert!(dropped("<div><span>x</span></div>").is_empty());
    }

    #[test]
    fn whatever_html_has_stands_in_its_place() {
        let parts = "<ul> </ul> <li> </li> <table> </table> <caption> <tr> <td> </td> <p> <b> <pre> <br> \
                     <hr> x";
        let parts: Vec<&str> = parts.split_whitespace().collect();
        for index in 0..parts.len().pow(4) {
            let part = |place: u32| parts[index / parts.len().pow(place) % parts.len()];
            let html: String = (0..4).map(part).collect();
            told(&html, RichFormat::Html);
        }
    }

    #[test]
    fn references_are_cleaned_as_texts_are() {
        let text = "&#xfdd2;a&#x202e;b&#1;c&#xfffe; &#x2067;d";
        let cleaned = "ab\u{fffd}c\u{fffd} d";
        assert_eq!(told(text, RichFormat::Html), cleaned);
        let paragraph = format!("<Paragraph {cleaned}>");
        assert_eq!(told(text, RichFormat::Markdown), paragraph);
        let link = read("[t](https://a.b/&#xffff;)", RichFormat::Markdown).unwrap();
        let address = Tag::Link("https://a.b/\u{fffd}".to_owned());
        assert!(link.marks.contains(&Mark::Open(address)));
        assert!(link.dropped.contains("control characters"));
        // What the template wrote, and isolates that end, stay.
        for text in ["\u{fdd0} &#38;", "\u{2067}*a*&#x2069;"] {
            let read = read(text, RichFormat::Markdown).unwrap();
            let first = text.chars().next();
            let stays =
                |mark: &Mark| matches!(mark, Mark::Text(text) if text.chars().next() == first);
            assert!(read.marks.iter().any(stays), "{text}");
        }
    }

    #[test]
    fn html_in_markdown_leaves_its_text() {
        let markdown = "a <b>c</b> <script>alert(1)</script> d";
        assert_eq!(told(markdown, RichFormat::Markdown), "<Paragraph a c  d>");
    }

    #[test]
    fn texts_have_bounds() {
        assert!(read(&"a".repeat(MAX_BYTES + 1), RichFormat::Markdown).is_err());
        for text in [
            ">".repeat(100_000),
            "- ".repeat(100_000),
            "*a ".repeat(300_000),
            "[".repeat(1 << 20),
        ] {
            let _ = read(&text, RichFormat::Markdown);
        }
        assert!(read(&"<ul><li>".repeat(1_000), RichFormat::Html).is_err());
        assert!(read(&"<b>".repeat(1_000), RichFormat::Html).is_err());
        assert!(read(&"<p>a".repeat(200_000), RichFormat::Html).is_err());
        // A table in a cell does not start the count of the cells around it anew.
        let nested = "<td><table><tr></table>".repeat(MAX_COLUMNS + 1);
        assert!(read(&nested, RichFormat::Html).is_err());
    }
}
