//! Page setup of a sheet: paper, margins, header and footer.

use platen_document::bound::{Align, Block, BlockKind, Inline, PageField, Section};

use super::sheet::Sheet;

/// Excel's paper size numbers (ECMA-376-1 §18.3.1.63) by portrait size in points.
const PAPERS: [(u8, f32, f32); 7] = [
    (9, 595.3, 841.9),
    (1, 612.0, 792.0),
    (5, 612.0, 1008.0),
    (8, 841.9, 1190.6),
    (11, 419.5, 595.3),
    (12, 708.7, 1000.6),
    (3, 792.0, 1224.0),
];

/// Maximum length of a header or footer in Excel, in UTF-16 units.
const LONGEST: usize = 255;

pub(super) fn set_up(sheet: &mut Sheet<'_>, section: &Section) {
    let page = &section.page;
    let (short, long) = (page.width.min(page.height), page.width.max(page.height));
    let near = |(_, width, height): &&(u8, f32, f32)| {
        (width - short).abs() < 6.0 && (height - long).abs() < 6.0
    };
    match PAPERS.iter().find(near) {
        Some((number, _, _)) => {
            sheet.worksheet.set_paper_size(*number);
        }
        None => sheet.report.warn(
            "page-size-changed",
            "/page",
            "Excel does not support this paper size; the printer's default is used",
        ),
    }
    if page.width > page.height {
        sheet.worksheet.set_landscape();
    }
    let inches = |points: f32| f64::from(points / 72.0);
    let margins = &page.margins;
    sheet.worksheet.set_margins(
        inches(margins.left),
        inches(margins.right),
        inches(margins.top),
        inches(margins.bottom),
        inches(margins.top * 0.45),
        inches(margins.bottom * 0.45),
    );
    sheet.worksheet.set_print_fit_to_pages(1, 0);
    // The library writes the number into an attribute that only accepts true or false.
    if page.first_page_number.is_some_and(|number| number != 1) {
        sheet.report.warn(
            "first-page-number-omitted",
            "/page",
            "pages of a sheet are numbered from 1",
        );
    }
    if section.first_header.is_some() || section.first_footer.is_some() {
        sheet.report.warn(
            "first-page-header-omitted",
            "/page",
            "a sheet's pages share one header and footer",
        );
    }
    if let Some(text) = margin(sheet, &section.header) {
        sheet.worksheet.set_header(text);
    }
    if let Some(text) = margin(sheet, &section.footer) {
        sheet.worksheet.set_footer(text);
    }
}

/// The header or footer code of `blocks`: left, center and right text, with `&P` and `&N` for page
/// numbers.
fn margin(sheet: &mut Sheet<'_>, blocks: &[Block]) -> Option<String> {
    let mut parts = [String::new(), String::new(), String::new()];
    for block in blocks {
        collect(sheet, block, None, &mut parts);
    }
    let mut code = String::new();
    for (name, part) in ["&L", "&C", "&R"].iter().zip(&parts) {
        if !part.is_empty() {
            code.push_str(name);
            // A digit after a code would be read as a font size.
            if part.starts_with(|c: char| c.is_ascii_digit()) {
                code.push(' ');
            }
            code.push_str(part);
        }
    }
    if code.encode_utf16().count() > LONGEST {
        sheet.report.warn(
            "header-omitted",
            "/page",
            "Excel headers have at most 255 characters; this one is longer",
        );
        return None;
    }
    (!code.is_empty()).then_some(code)
}

fn collect(sheet: &mut Sheet<'_>, block: &Block, place: Option<usize>, parts: &mut [String; 3]) {
    match &block.kind {
        BlockKind::Paragraph(content) | BlockKind::Heading { content, .. } => {
            let place = place.unwrap_or(match sheet.document.styles[block.style].align {
                Align::Center => 1,
                Align::End | Align::Right | Align::Decimal => 2,
                Align::Start | Align::Left | Align::Justify => 0,
            });
            let part = &mut parts[place];
            if !part.is_empty() {
                part.push('\n');
            }
            part.push_str(&code(content));
        }
        BlockKind::Columns(columns) => {
            let last = columns.columns.len().saturating_sub(1);
            for (index, column) in columns.columns.iter().enumerate() {
                let place = match index {
                    0 => 0,
                    index if index == last => 2,
                    _ => 1,
                };
                for block in &column.body {
                    collect(sheet, block, Some(place), parts);
                }
            }
        }
        BlockKind::Divider { .. } | BlockKind::Spacer(_) => {}
        _ => sheet.report.warn(
            "header-simplified",
            &block.path,
            "headers and footers of sheets can hold only text",
        ),
    }
}

fn code(content: &[Inline]) -> String {
    let mut code = String::new();
    for inline in content {
        match inline {
            Inline::Text { text, .. } => code.push_str(&text.replace('&', "&&").replace('\t', " ")),
            Inline::Break => code.push('\n'),
            Inline::PageNumber(_) => code.push_str("&P"),
            Inline::PageCount(_) => code.push_str("&N"),
            Inline::PageField { field, .. } => match field {
                PageField::SectionNumber => code.push_str("&P"),
                PageField::SectionCount => code.push_str("&N"),
                PageField::RunningHead(_) => {}
            },
            Inline::Number(_) | Inline::PageOf { .. } | Inline::Footnote { .. } => {}
        }
    }
    code
}
