//! A safe part of HTML: what texts of content management systems and editors consist of.

use html5gum::{Token, Tokenizer};

use super::{MAX_COLUMNS, MAX_DEPTH, Mark, Marks, Side, Tag};

/// Elements whose content is not text.
const SILENT: [&str; 10] = [
    "script", "style", "template", "head", "title", "iframe", "object", "svg", "math", "noscript",
];
/// Elements without a meaning of their own.
const PLAIN: [&str; 15] = [
    "html", "body", "span", "tbody", "thead", "tfoot", "small", "abbr", "cite", "time", "label",
    "font", "colgroup", "col", "wbr",
];

/// Reads a text in HTML. What it does not know is left out, its text is not.
pub(super) fn read(text: &str, marks: &mut Marks) -> Result<(), String> {
    let mut reader = Reader {
        marks,
        silent: None,
        spaced: true,
        header: false,
        cells: [0; MAX_DEPTH + 1],
    };
    for token in Tokenizer::new(text) {
        let token = match token {
            Ok(token) => token,
            Err(never) => match never {},
        };
        match token {
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                let value = |name: &str| {
                    let value = tag.attributes.get(name.as_bytes())?;
                    Some(String::from_utf8_lossy(value).into_owned())
                };
                reader.start(&name, &value)?;
            }
            Token::EndTag(tag) => reader.end(&String::from_utf8_lossy(&tag.name))?,
            Token::String(text) => reader.text(&String::from_utf8_lossy(&text))?,
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    Ok(())
}

struct Reader<'m> {
    marks: &'m mut Marks,
    /// The element whose content is left out.
    silent: Option<String>,
    /// Whether the text so far ends with a space, or is at the start of a block.
    spaced: bool,
    /// Whether rows are those of a header.
    header: bool,
    /// Cells of each open row, by the number of open elements up to the row.
    cells: [usize; MAX_DEPTH + 1],
}

impl Reader<'_> {
    fn start(&mut self, name: &str, value: &dyn Fn(&str) -> Option<String>) -> Result<(), String> {
        if self.silent.is_some() {
            return Ok(());
        }
        if SILENT.contains(&name) {
            if !matches!(name, "head" | "title" | "style" | "script") {
                self.marks.drop(name);
            }
            self.silent = Some(name.to_owned());
            return Ok(());
        }
        match name {
            "br" => return self.line_break(),
            "hr" => {
                self.leave_paragraph();
                self.settle(false)?;
                return self.marks.push(Mark::Rule);
            }
            "thead" | "tbody" | "tfoot" => {
                self.header = name == "thead";
                return Ok(());
            }
            name if PLAIN.contains(&name) => return Ok(()),
            _ => {}
        }
        match tag(name, value) {
            Some(tag) if tag.is_inline() => self.inline(tag),
            Some(tag) => self.block(tag, name == "th"),
            None => {
                self.marks.drop(name);
                Ok(())
            }
        }
    }

    /// Ends a line. Between items, rows and cells there is none.
    fn line_break(&mut self) -> Result<(), String> {
        self.spaced = true;
        match self.marks.open.last() {
            _ if self.is_between() => Ok(()),
            Some(Tag::Code) => self.marks.push(Mark::Text("\n".to_owned())),
            _ => self.marks.push(Mark::Break),
        }
    }

    /// Opens an element of lines. Code has none, and an empty one makes no cell.
    fn inline(&mut self, tag: Tag) -> Result<(), String> {
        if let Some(Tag::Code | Tag::Table | Tag::Row(_)) = self.marks.open.last() {
            return Ok(());
        }
        self.settle(true)?;
        self.marks.open(tag)
    }

    /// Opens a block, after closing those that cannot contain it and opening those around it.
    fn block(&mut self, tag: Tag, heads: bool) -> Result<(), String> {
        self.spaced = true;
        match &tag {
            Tag::Item => {
                if !self.close_inside(|tag| *tag == Tag::Item, |tag| matches!(tag, Tag::List(_))) {
                    self.leave_paragraph();
                    self.settle(false)?;
                    self.marks.open(Tag::List(None))?;
                }
            }
            Tag::Row(_) => self.row(self.header)?,
            Tag::Cell(_) => {
                if !self.close_inside(
                    |tag| matches!(tag, Tag::Cell(_)),
                    |tag| matches!(tag, Tag::Row(_)),
                ) {
                    self.row(self.header || heads)?;
                }
                if self.count_cell()? == 1 && heads {
                    self.mark_header();
                }
            }
            // A caption comes first in its table. Elsewhere it is a paragraph.
            Tag::Caption if self.marks.text.marks.last() == Some(&Mark::Open(Tag::Table)) => {}
            _ => {
                self.leave_paragraph();
                self.settle(false)?;
            }
        }
        match tag {
            Tag::Row(_) => Ok(()),
            tag => self.marks.open(tag),
        }
    }

    /// Opens a row, and a table around it.
    fn row(&mut self, header: bool) -> Result<(), String> {
        if !self.close_inside(|tag| matches!(tag, Tag::Row(_)), |tag| *tag == Tag::Table) {
            self.leave_paragraph();
            self.settle(false)?;
            self.marks.open(Tag::Table)?;
        }
        self.marks.open(Tag::Row(header))?;
        self.cells[self.marks.open.len()] = 0;
        Ok(())
    }

    /// Counts one more cell of the row, which is the innermost open element.
    fn count_cell(&mut self) -> Result<usize, String> {
        let cells = &mut self.cells[self.marks.open.len()];
        *cells += 1;
        match *cells > MAX_COLUMNS {
            true => Err(format!("a table has more than {MAX_COLUMNS} columns")),
            false => Ok(*cells),
        }
    }

    /// Whether the innermost open element holds only items, rows or cells.
    fn is_between(&self) -> bool {
        let open = self.marks.open.last();
        matches!(open, Some(Tag::List(_) | Tag::Table | Tag::Row(_)))
    }

    /// Opens an item or cell for what stands between them: text, or a block. It goes to the item or
    /// cell before it, if there is one, as browsers show it.
    fn settle(&mut self, text: bool) -> Result<(), String> {
        if self.marks.open.last() == Some(&Tag::Table) {
            self.row(self.header)?;
        }
        let part = match self.marks.open.last() {
            Some(Tag::List(_)) => Tag::Item,
            Some(Tag::Row(_)) => Tag::Cell(Side::Start),
            _ => return Ok(()),
        };
        if self.marks.text.marks.last() == Some(&Mark::Close) {
            self.marks.reopen(part);
            return match text {
                true => self.marks.open(Tag::Paragraph),
                false => Ok(()),
            };
        }
        if part != Tag::Item {
            self.count_cell()?;
        }
        self.marks.open(part)
    }

    /// Makes the open row one of the header, since its first cell is.
    fn mark_header(&mut self) {
        let marks = &mut self.marks.text.marks;
        if let Some(Mark::Open(Tag::Row(header))) = marks.last_mut() {
            *header = true;
        }
    }

    /// Closes the last open element that `is` accepts, and all in it, up to the last that `around`
    /// accepts. False if none is open around.
    fn close_inside(&mut self, is: fn(&Tag) -> bool, around: fn(&Tag) -> bool) -> bool {
        let open = &self.marks.open;
        let Some(outer) = open.iter().rposition(around) else {
            return false;
        };
        let inner = open[outer + 1..].iter().position(is);
        if let Some(inner) = inner {
            self.marks.close_to(outer + 1 + inner);
        } else {
            self.marks.close_to(outer + 1);
        }
        true
    }

    /// Closes an open paragraph, heading or code, in which no block can stand.
    fn leave_paragraph(&mut self) {
        self.spaced = true;
        let text = |tag: &Tag| {
            matches!(tag, Tag::Paragraph | Tag::Heading(_) | Tag::Code) || tag.is_inline()
        };
        let depth = self.marks.open.iter().position(text);
        // Inside a list or cell of a paragraph there is none any more.
        if let Some(depth) = depth
            && self.marks.open[depth..].iter().all(text)
        {
            self.marks.close_to(depth);
        }
    }

    fn end(&mut self, name: &str) -> Result<(), String> {
        if let Some(silent) = &self.silent {
            if silent == name {
                self.silent = None;
            }
            return Ok(());
        }
        if matches!(name, "thead" | "tbody" | "tfoot") {
            self.header = false;
            return Ok(());
        }
        let Some(tag) = tag(name, &|_| None) else {
            return Ok(());
        };
        let same = |open: &Tag| std::mem::discriminant(open) == std::mem::discriminant(&tag);
        if let Some(depth) = self.marks.open.iter().rposition(same) {
            // An inline element ends at the end of its block at the latest.
            let inline = tag.is_inline();
            if !inline || self.marks.open[depth..].iter().all(Tag::is_inline) {
                self.marks.close_to(depth);
            }
            self.spaced |= !inline;
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), String> {
        if self.silent.is_some() {
            return Ok(());
        }
        let open = &self.marks.open;
        if open.contains(&Tag::Code) {
            return self.marks.push(Mark::Text(text.to_owned()));
        }
        let mut clean = String::with_capacity(text.len());
        for character in text.chars() {
            let space = matches!(character, ' ' | '\t' | '\n' | '\r' | '\u{c}');
            if !space {
                clean.push(character);
            } else if !self.spaced {
                clean.push(' ');
            }
            self.spaced = space;
        }
        if clean.is_empty() {
            return Ok(());
        }
        if self.is_between() && clean.trim().is_empty() {
            self.spaced = true;
            return Ok(());
        }
        self.settle(true)?;
        self.marks.push(Mark::Text(clean))
    }
}

/// The tag of an element; `None` for what documents do not have.
fn tag(name: &str, value: &dyn Fn(&str) -> Option<String>) -> Option<Tag> {
    Some(match name {
        "p" | "div" | "section" | "article" | "header" | "footer" | "main" | "address"
        | "figure" | "figcaption" | "center" | "dl" | "dt" | "dd" => Tag::Paragraph,
        "h1" => Tag::Heading(1),
        "h2" => Tag::Heading(2),
        "h3" => Tag::Heading(3),
        "h4" => Tag::Heading(4),
        "h5" => Tag::Heading(5),
        "h6" => Tag::Heading(6),
        "blockquote" => Tag::Quote,
        "pre" => Tag::Code,
        "ul" => Tag::List(None),
        "ol" => Tag::List(Some(
            value("start").and_then(|it| it.parse().ok()).unwrap_or(1),
        )),
        "li" => Tag::Item,
        "table" => Tag::Table,
        "caption" => Tag::Caption,
        "tr" => Tag::Row(false),
        "td" | "th" => Tag::Cell(match value("align").as_deref() {
            Some("center") => Side::Center,
            Some("right") => Side::End,
            _ => Side::Start,
        }),
        "b" | "strong" => Tag::Strong,
        "i" | "em" | "var" | "dfn" => Tag::Emphasis,
        "u" | "ins" => Tag::Underline,
        "s" | "strike" | "del" => Tag::Strike,
        "sup" => Tag::Superscript,
        "sub" => Tag::Subscript,
        "code" | "kbd" | "samp" | "tt" => Tag::InlineCode,
        "a" => Tag::Link(value("href").unwrap_or_default()),
        _ => return None,
    })
}
