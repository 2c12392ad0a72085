//! Rich text from data: Markdown and a safe part of HTML, read into the same marks.
//!
//! The text comes from strangers. Its size, its depth and its number of marks have bounds, nothing in
//! it is evaluated or fetched, and what documents cannot hold is named and left out.

mod html;
mod markdown;

use std::collections::BTreeSet;

use crate::{template::RichFormat, work};

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

/// The marks of a text. Every opened element is closed, in order.
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
    Ok(marks.text)
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
        let depth = read.marks.iter().fold(0_i64, |depth, mark| match mark {
            Mark::Open(_) => depth + 1,
            Mark::Close => depth - 1,
            _ => depth,
        });
        assert_eq!(depth, 0, "{text}");
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
    }
}
