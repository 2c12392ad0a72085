//! Markdown: CommonMark with tables, strikethrough and task lists.

use pulldown_cmark::{Alignment, CodeBlockKind, Event, Options, Parser, Tag as Element, TagEnd};

use super::{MAX_COLUMNS, Mark, Marks, Side, Tag};

/// Reads a text in Markdown. HTML in it is left out, its text is not.
pub(super) fn read(text: &str, marks: &mut Marks) -> Result<(), String> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut columns: Vec<Side> = Vec::new();
    let mut column = 0_usize;
    let mut header = false;
    // The element of HTML whose content is left out.
    let mut silent: Option<String> = None;
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Start(element) => {
                match &element {
                    Element::Table(sides) => {
                        if sides.len() > MAX_COLUMNS {
                            return Err(format!("a table has more than {MAX_COLUMNS} columns"));
                        }
                        columns = sides.iter().map(side).collect();
                    }
                    Element::TableHead | Element::TableRow => {
                        header = element == Element::TableHead;
                        column = 0;
                    }
                    Element::TableCell => column += 1,
                    Element::Image { .. } => marks.drop("image"),
                    _ => {}
                }
                let place = columns.get(column.saturating_sub(1));
                if let Some(tag) = tag(element, header, place.copied().unwrap_or_default()) {
                    marks.open(tag)?;
                }
            }
            Event::End(TagEnd::Image | TagEnd::HtmlBlock | TagEnd::MetadataBlock(_)) => {}
            Event::End(_) => {
                let depth = marks.open.len().saturating_sub(1);
                marks.close_to(depth);
            }
            Event::Text(_) | Event::Code(_) if silent.is_some() => {}
            Event::Text(text) => marks.push(Mark::Text(text.into_string()))?,
            Event::Code(text) => {
                marks.open(Tag::InlineCode)?;
                marks.push(Mark::Text(text.into_string()))?;
                let depth = marks.open.len() - 1;
                marks.close_to(depth);
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                let name = html.trim_start_matches(['<', '/']);
                let end = name.find(|c: char| !c.is_ascii_alphanumeric());
                let name = name[..end.unwrap_or(name.len())].to_ascii_lowercase();
                marks.drop(&name);
                match &silent {
                    Some(open) if html.starts_with("</") && *open == name => silent = None,
                    None if matches!(&*name, "script" | "style") => silent = Some(name),
                    _ => {}
                }
            }
            Event::SoftBreak => marks.push(Mark::Text(" ".to_owned()))?,
            Event::HardBreak => marks.push(Mark::Break)?,
            Event::Rule => marks.push(Mark::Rule)?,
            Event::TaskListMarker(checked) => marks.push(Mark::Box(checked))?,
            // Not enabled.
            Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
    }
    Ok(())
}

fn side(alignment: &Alignment) -> Side {
    match alignment {
        Alignment::None | Alignment::Left => Side::Start,
        Alignment::Center => Side::Center,
        Alignment::Right => Side::End,
    }
}

/// The element as a tag; `None` for what has no end of its own here.
fn tag(element: Element<'_>, header: bool, side: Side) -> Option<Tag> {
    Some(match element {
        Element::Heading { level, .. } => Tag::Heading(level as u8),
        Element::BlockQuote(_) => Tag::Quote,
        Element::CodeBlock(CodeBlockKind::Indented | CodeBlockKind::Fenced(_)) => Tag::Code,
        Element::List(start) => {
            Tag::List(start.map(|start| u32::try_from(start).unwrap_or(u32::MAX)))
        }
        Element::Item => Tag::Item,
        Element::Table(_) => Tag::Table,
        Element::TableHead | Element::TableRow => Tag::Row(header),
        Element::TableCell => Tag::Cell(side),
        Element::Emphasis => Tag::Emphasis,
        Element::Strong => Tag::Strong,
        Element::Strikethrough => Tag::Strike,
        Element::Superscript => Tag::Superscript,
        Element::Subscript => Tag::Subscript,
        Element::Link { dest_url, .. } => Tag::Link(dest_url.into_string()),
        Element::Image { .. } | Element::HtmlBlock | Element::MetadataBlock(_) => return None,
        _ => Tag::Paragraph,
    })
}
