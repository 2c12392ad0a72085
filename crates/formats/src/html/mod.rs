//! HTML: one self-contained, semantic page that resembles the printed document (HTML Living
//! Standard; CSS Paged Media for print; WCAG 2.2 for structure and names).

mod block;
mod figure;
mod fonts;
mod form;
mod margin;
mod style;
mod table;
mod web_font;

use std::fmt::Write as _;

use platen_document::{
    bound::{Block, BlockKind, Direction, Document, Inline, StyleId, plain_text},
    work,
};
use platen_layout::{Layout, Shaper};
use rustc_hash::{FxHashMap, FxHashSet};

use self::style::Class;
use crate::{
    Error, Written, block_losses,
    ooxml::{Escaped, push_escaped},
    page_losses::{self, PageFeature},
    plain::{safe_link, walk},
    report::Report,
};

/// Writes `document` as HTML. With the pages that layout made of it, the page brings its fonts;
/// otherwise it names them.
///
/// # Errors
/// An image cannot be encoded.
pub fn write(document: &Document, pages: Option<(&Layout, &Shaper)>) -> Result<Written, Error> {
    let mut writer = Writer::new(document);
    writer.collect_headings();
    page_losses::report(&mut writer.report, document, "HTML", &[PageFeature::Color]);
    block_losses::report(&mut writer.report, document, "HTML", true);
    for (index, section) in document.sections.iter().enumerate() {
        writer.section(index, section);
    }
    writer.footnotes();
    Ok(writer.finish(pages))
}

struct Writer<'a> {
    document: &'a Document,
    report: Report,
    out: String,
    /// Only these classes are written.
    used: FxHashSet<Class>,
    /// Element ids by block id.
    ids: FxHashMap<&'a str, String>,
    /// Level, content and element id of the headings.
    headings: Vec<(u8, &'a [Inline], String)>,
    headings_written: usize,
    footnotes_marked: FxHashSet<u32>,
    /// Inside a header or footer. These repeat, so they define no link targets.
    in_margin: bool,
    /// Whether the form that controls belong to is written.
    has_form: bool,
    /// Text width of the section, in points.
    width: f32,
    /// Width and height of the section's pages, in points.
    page_size: (f32, f32),
    /// Nesting depth of lists at the current block.
    list_level: usize,
    path: &'a str,
}

impl<'a> Writer<'a> {
    fn new(document: &'a Document) -> Self {
        Self {
            document,
            report: Report::default(),
            out: String::with_capacity(64 * 1024),
            used: FxHashSet::default(),
            ids: FxHashMap::default(),
            headings: Vec::new(),
            headings_written: 0,
            footnotes_marked: FxHashSet::default(),
            in_margin: false,
            has_form: false,
            width: 0.0,
            page_size: (0.0, 0.0),
            list_level: 0,
            path: "",
        }
    }

    fn collect_headings(&mut self) {
        let document = self.document;
        for section in &document.sections {
            walk(&section.body, &mut |block| {
                if let Some(id) = &block.id {
                    let name: String = id
                        .chars()
                        .map(|c| {
                            if c.is_alphanumeric() || c == '-' {
                                c
                            } else {
                                '-'
                            }
                        })
                        .collect();
                    self.ids.entry(id).or_insert_with(|| format!("id-{name}"));
                }
                if let BlockKind::Heading { level, content } = &block.kind {
                    let name = format!("heading-{}", self.headings.len() + 1);
                    self.headings.push((*level, content, name));
                }
            });
        }
    }

    fn section(&mut self, index: usize, section: &'a platen_document::bound::Section) {
        let label = match &section.name {
            Some(name) => format!(" aria-label=\"{}\"", Escaped(name)),
            None => String::new(),
        };
        let _ = write!(self.out, "<section class=\"sheet sheet-{index}\"{label}>");
        let page = &section.page;
        self.page_size = (page.width, page.height);
        let columns = f32::from(page.columns.max(1));
        let text = page.width - page.margins.left - page.margins.right;
        self.width = ((text - page.column_gap * (columns - 1.0)) / columns).max(72.0);
        let header = section.first_header.as_ref().unwrap_or(&section.header);
        let footer = section.first_footer.as_ref().unwrap_or(&section.footer);
        self.margin("header", header);
        self.out.push_str("<div class=\"text\">");
        self.blocks(&section.body);
        self.out.push_str("</div>");
        self.margin("footer", footer);
        self.out.push_str("</section>\n");
    }

    /// The header or footer as shown on screen. In print, CSS margin boxes replace it.
    fn margin(&mut self, element: &str, blocks: &'a [Block]) {
        if blocks.is_empty() {
            return;
        }
        let _ = write!(self.out, "<{element} class=\"margin\">");
        self.in_margin = true;
        self.blocks(blocks);
        self.in_margin = false;
        let _ = write!(self.out, "</{element}>");
    }

    /// Writes inline content; `around` is the style of the enclosing element.
    fn inlines(&mut self, content: &[Inline], around: StyleId) {
        work::check();
        for inline in content {
            match inline {
                Inline::Text { text, style, link } => {
                    self.text(text, *style, around, link.as_deref());
                }
                Inline::Break => self.out.push_str("<br>"),
                Inline::Number(number) => {
                    self.text(&number.text, number.style, around, None);
                    self.out.push_str(number.gap());
                }
                // What HTML lacks of these is reported for the document as a whole.
                Inline::PageField { .. } => {}
                Inline::PageOf { targets, style } => {
                    match &**targets {
                        [_] => self.out.push('…'),
                        _ => self.places(targets, *style, around),
                    }
                    self.report.warn(
                        "page-reference-omitted",
                        self.path,
                        "HTML has no pages: a reference to a page shows an ellipsis",
                    );
                }
                Inline::PageNumber(_) => self.out.push_str("<span class=\"page\">1</span>"),
                Inline::PageCount(_) => self.out.push_str("<span class=\"pages\">1</span>"),
                Inline::Footnote { index, .. } => self.footnote_mark(*index),
            }
        }
    }

    /// Writes a link to each of several places, with numbers of their own.
    fn places(&mut self, targets: &[Box<str>], style: StyleId, around: StyleId) {
        for (index, target) in targets.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            let link = format!("#{target}");
            self.text(&(index + 1).to_string(), style, around, Some(&link));
        }
    }

    fn text(&mut self, text: &str, style: StyleId, around: StyleId, link: Option<&str>) {
        let mut close = "";
        if let Some(link) = link {
            match link.strip_prefix('#') {
                Some(id) => {
                    if let Some(name) = self.ids.get(id) {
                        let _ = write!(self.out, "<a href=\"#{}\">", Escaped(name));
                        close = "</a>";
                    }
                }
                None if safe_link(link) => {
                    let _ = write!(self.out, "<a href=\"{}\" rel=\"noopener\">", Escaped(link));
                    close = "</a>";
                }
                None => {}
            }
        }
        let element = self.run_element(style, around);
        if style != around {
            self.used.insert(Class::Run(style));
            let _ = write!(self.out, "<{element} class=\"r{}\"", style.0);
            let styles = &self.document.styles;
            if styles[style].lang != styles[around].lang {
                let lang = styles[style].lang.as_deref();
                let lang = lang.unwrap_or(&self.document.language);
                let _ = write!(self.out, " lang=\"{}\"", Escaped(lang));
            }
            self.out.push('>');
            self.tabbed(text, around);
            let _ = write!(self.out, "</{element}>");
        } else {
            self.tabbed(text, around);
        }
        self.out.push_str(close);
    }

    /// Writes text; CSS has tabs at equal distances only, so they lead to the hanging indent.
    fn tabbed(&mut self, text: &str, around: StyleId) {
        if !text.contains('\t') {
            push_escaped(&mut self.out, text);
            return;
        }
        for (index, part) in text.split('\t').enumerate() {
            if index > 0 {
                self.out
                    .push_str("<span style=\"white-space:pre\">\t</span>");
            }
            push_escaped(&mut self.out, part);
        }
        if !self.document.styles[around].tabs.is_empty() {
            self.report.warn(
                "tabs-simplified",
                self.path,
                "the tab stops of a style have no counterpart in HTML",
            );
        }
    }

    /// The element that expresses the meaning of the run's style.
    fn run_element(&self, style: StyleId, around: StyleId) -> &'static str {
        use platen_document::bound::Baseline;
        let (style, around) = (&self.document.styles[style], &self.document.styles[around]);
        match style.baseline {
            Baseline::Superscript => "sup",
            Baseline::Subscript => "sub",
            Baseline::Normal if style.code => "code",
            Baseline::Normal if style.strike && !around.strike => "s",
            Baseline::Normal if style.bold && !around.bold => "strong",
            Baseline::Normal if style.italic && !around.italic => "em",
            Baseline::Normal => "span",
        }
    }

    fn footnote_mark(&mut self, index: u32) {
        let number = u64::from(index) + 1;
        let name = if self.in_margin || !self.footnotes_marked.insert(index) {
            String::new()
        } else {
            format!(" id=\"footnote-mark-{number}\"")
        };
        let _ = write!(
            self.out,
            "<sup{name}><a href=\"#footnote-{number}\" role=\"doc-noteref\">{number}</a></sup>"
        );
    }

    fn footnotes(&mut self) {
        let document = self.document;
        if document.footnotes.is_empty() {
            return;
        }
        let style = document.named.footnote;
        self.used.insert(Class::Block(style));
        self.out.push_str(
            "<aside class=\"sheet notes\" role=\"doc-endnotes\"><div class=\"text\"><ol>",
        );
        for (index, footnote) in document.footnotes.iter().enumerate() {
            let number = index + 1;
            let _ = write!(
                self.out,
                "<li id=\"footnote-{number}\" class=\"s{}\">",
                style.0
            );
            self.inlines(&footnote.content, style);
            let _ = write!(
                self.out,
                " <a href=\"#footnote-mark-{number}\" role=\"doc-backlink\" \
                 aria-label=\"{number}\">\u{21A9}</a></li>"
            );
        }
        self.out.push_str("</ol></div></aside>\n");
        self.report.warn(
            "footnotes-as-endnotes",
            "",
            "HTML has no pages: footnotes follow the text",
        );
    }

    fn finish(mut self, pages: Option<(&Layout, &Shaper)>) -> Written {
        let document = self.document;
        let body = std::mem::take(&mut self.out);
        let direction = match document.direction {
            Direction::LeftToRight => "ltr",
            Direction::RightToLeft => "rtl",
        };
        let language = if document.language.is_empty() {
            "en"
        } else {
            &document.language
        };
        let mut page = format!(
            "<!DOCTYPE html>\n<html lang=\"{}\" dir=\"{direction}\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{}</title>\n",
            Escaped(language),
            Escaped(&document.metadata.title)
        );
        let metadata = &document.metadata;
        let keywords = (!metadata.keywords.is_empty()).then(|| metadata.keywords.join(", "));
        for (name, content) in [
            ("author", metadata.author.as_ref()),
            ("description", metadata.subject.as_ref()),
            ("keywords", keywords.as_ref()),
        ] {
            if let Some(content) = content {
                let content = Escaped(content);
                let _ = writeln!(page, "<meta name=\"{name}\" content=\"{content}\">");
            }
        }
        page.push_str("<style>\n");
        if let Some((layout, shaper)) = pages {
            page.push_str(&fonts::rules(layout, shaper, &body, &mut self.report));
        }
        style::style_sheet(&mut page, document, &self.used, &mut self.report);
        if self.has_form {
            page.push_str(style::FORM);
        }
        let _ = write!(
            page,
            "</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
        );
        self.report.finish(page.into_bytes())
    }

    /// Writes links to the headings, without page numbers: a screen has no pages.
    fn table_of_contents(&mut self, title: Option<&[Inline]>, depth: u8, id: StyleId) {
        let label = title.map(plain_text).unwrap_or_default();
        let label = if label.is_empty() {
            String::new()
        } else {
            format!(" aria-label=\"{}\"", Escaped(&label))
        };
        let _ = write!(self.out, "<nav class=\"toc\" role=\"doc-toc\"{label}>");
        if let Some(title) = title {
            let _ = write!(self.out, "<p class=\"s{}\">", id.0);
            self.inlines(title, id);
            self.out.push_str("</p>");
        }
        self.out.push_str("<ol>");
        let headings = std::mem::take(&mut self.headings);
        for (level, content, name) in headings.iter().filter(|heading| heading.0 <= depth) {
            let text = plain_text(content).replace('\n', " ");
            let _ = write!(
                self.out,
                "<li class=\"level-{level}\"><a href=\"#{name}\">{}</a></li>",
                Escaped(&text)
            );
        }
        self.headings = headings;
        self.out.push_str("</ol></nav>");
    }
}
