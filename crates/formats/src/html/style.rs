//! The style sheet: a class for each style in use, the sheets on screen, the pages in print.

use std::fmt::Write as _;

use platen_document::bound::{
    Baseline, Block, Border, Document, Sides, Style, StyleId, VerticalAlign,
};
use rustc_hash::FxHashSet;

use super::{
    block::{align_name, line_name},
    margin::content_of,
};
use crate::report::Report;

/// Rules for form fields.
pub(super) const FORM: &str = ".field{display:block;border:0;padding:0;margin:0}
.field legend{padding:0}.field>span,.field>label{display:block}
.field input:not([type=radio]),textarea,select{display:block;width:100%;font:inherit;color:inherit;\
padding:3pt;border:.75pt solid var(--muted);background:none}
";

/// A class of elements: a style as that of a block, of a table cell, or of text within others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Class {
    Block(StyleId),
    Cell(StyleId),
    Run(StyleId),
}

impl Class {
    fn style(self) -> StyleId {
        match self {
            Self::Block(style) | Self::Cell(style) | Self::Run(style) => style,
        }
    }
}

/// Writes the rules of a page whose elements have the classes `used`. Reports what its headers and
/// footers lack in print.
pub(super) fn style_sheet(
    css: &mut String,
    document: &Document,
    used: &FxHashSet<Class>,
    report: &mut Report,
) {
    let theme = &document.theme;
    let plain = &document.styles[document.named.body];
    let _ = writeln!(
        css,
        ":root{{--border:{};--muted:{};--primary:{}}}",
        theme.border, theme.muted, theme.primary
    );
    css.push_str(SCREEN);
    css.push_str("body{");
    text_declarations(css, plain);
    css.push_str("}\n.chart text{font-family:");
    families(css, &document.styles[document.named.small]);
    css.push_str("}\n");
    let mut classes: Vec<Class> = used.iter().copied().collect();
    classes.sort_unstable_by_key(|class| (class.style(), *class));
    for class in classes {
        let (number, style) = (class.style().0, &document.styles[class.style()]);
        match class {
            Class::Block(_) => block_class(css, number, style),
            Class::Cell(_) => cell_class(css, number, style),
            Class::Run(_) => run_class(css, number, style),
        }
    }
    for (index, section) in document.sections.iter().enumerate() {
        let page = &section.page;
        let margins = &page.margins;
        let _ = writeln!(
            css,
            ".sheet-{index}{{width:{}pt;min-height:{}pt;padding:{}pt {}pt {}pt {}pt}}",
            page.width, page.height, margins.top, margins.right, margins.bottom, margins.left
        );
        if let Some(color) = section.background.color {
            let _ = writeln!(css, ".sheet-{index}{{background:{color}}}");
        }
        if page.columns > 1 {
            let (count, gap) = (page.columns, page.column_gap);
            let _ = writeln!(
                css,
                ".sheet-{index}>.text{{columns:{count};column-gap:{gap}pt}}"
            );
        }
        pages(css, document, index, report);
    }
    if let Some(section) = document.sections.last() {
        let page = &section.page;
        let _ = writeln!(
            css,
            ".notes{{width:{}pt;padding:24pt {}pt 24pt {}pt}}",
            page.width, page.margins.right, page.margins.left
        );
    }
    css.push_str(PRINT);
}

/// Base rules: sheets on screen, and neutral defaults for elements.
const SCREEN: &str = "*,*::before,*::after{box-sizing:border-box}
body{margin:0;background:#e9ecf0;-webkit-print-color-adjust:exact;print-color-adjust:exact}
.sheet{position:relative;display:flex;flex-direction:column;max-width:100%;margin:16pt auto;background:#fff;\
box-shadow:0 1px 4px rgba(0,0,0,.18);overflow-wrap:break-word}
.sheet>.text{flex:1}
.margin{position:relative}
header.margin{margin-bottom:12pt}footer.margin{margin-top:12pt}
h1,h2,h3,h4,h5,h6,p,ul,ol,dl,dd,figure,hr{margin:0;font-size:inherit}
ul,ol{padding-inline-start:18pt}
table{border-collapse:collapse;width:100%}
caption{text-align:start}figcaption{text-align:inherit!important}
th{font-weight:inherit;text-align:start}
.long{overflow-wrap:anywhere}
.scroll{overflow-x:auto}
.lines-horizontal th,.lines-horizontal td{border-bottom:.5pt solid var(--line)}
.lines-all th,.lines-all td{border:.5pt solid var(--line)}
.lines-outer{border:.5pt solid var(--line)}
.z td{background:var(--zebra)}
.columns{display:grid}
dl{display:grid;gap:3pt 8pt}
dt{min-width:0}
hr{border:0}
img{max-width:100%;height:auto}
svg{max-width:100%}
svg.chart{display:block;height:auto;direction:ltr}
.toc ol{list-style:none;padding:0}
.toc a{text-decoration:none;color:inherit}
.toc a:hover,.toc a:focus{text-decoration:underline}
.level-2{margin-inline-start:12pt}.level-3{margin-inline-start:24pt}.level-4{margin-inline-start:36pt}
.level-5{margin-inline-start:48pt}.level-6{margin-inline-start:60pt}
.signature>div{border-top:.75pt solid currentColor;padding-top:2pt}
.break{break-before:page}
a{color:var(--primary)}
sup,sub{line-height:0}
";

const PRINT: &str =
    "@media screen and (max-width:640px){.sheet{padding:16pt;margin:0 auto 12pt;min-height:0}}
@media print{
body{background:none}
.sheet{display:block;width:auto;min-height:0;margin:0;padding:0;box-shadow:none}
.sheet+.sheet:not(.notes){break-before:page}
.margin{display:none}
thead{display:table-header-group}.once thead{display:table-row-group}
tfoot{display:table-row-group}
tr,figure,img,svg{break-inside:avoid}
.group{break-after:avoid}
.scroll{overflow:visible}
}
";

fn block_class(css: &mut String, number: u32, style: &Style) {
    let _ = write!(css, ".s{number}{{");
    text_declarations(css, style);
    let _ = write!(css, "text-align:{};", align_name(style.align));
    lengths(css, "margin-block", [style.space_before, style.space_after]);
    lengths(css, "margin-inline", [style.indent_start, style.indent_end]);
    if style.indent_first_line != 0.0 {
        let _ = write!(css, "text-indent:{}pt;", style.indent_first_line);
    }
    if style.indent_first_line < 0.0 {
        let _ = write!(css, "tab-size:{}pt;", -style.indent_first_line);
    }
    box_declarations(css, style);
    if style.column_span {
        css.push_str("column-span:all;");
    }
    if style.keep_with_next {
        css.push_str("break-after:avoid;");
    }
    if style.keep_together {
        css.push_str("break-inside:avoid;");
    }
    if style.hyphenate {
        css.push_str("hyphens:auto;");
    }
    // Two are what browsers do.
    if (style.widows, style.orphans) != (2, 2) {
        let _ = write!(
            css,
            "widows:{};orphans:{};",
            style.widows.max(1),
            style.orphans.max(1)
        );
    }
    css.push_str("}\n");
}

fn cell_class(css: &mut String, number: u32, style: &Style) {
    let _ = write!(css, ".c{number}{{");
    text_declarations(css, style);
    let vertical = match style.vertical_align {
        VerticalAlign::Top => "top",
        VerticalAlign::Middle => "middle",
        VerticalAlign::Bottom => "bottom",
    };
    let _ = write!(
        css,
        "text-align:{};vertical-align:{vertical};",
        align_name(style.align)
    );
    box_declarations(css, style);
    css.push_str("}\n");
}

fn run_class(css: &mut String, number: u32, style: &Style) {
    let _ = write!(css, ".r{number}{{");
    text_declarations(css, style);
    if let Some(color) = style.background {
        let _ = write!(css, "background:{color};");
    }
    css.push_str("}\n");
}

fn lengths(css: &mut String, property: &str, [start, end]: [f32; 2]) {
    if start != 0.0 || end != 0.0 {
        let _ = write!(css, "{property}:{start}pt {end}pt;");
    }
}

fn text_declarations(css: &mut String, style: &Style) {
    css.push_str("font-family:");
    families(css, style);
    let size = match style.baseline {
        Baseline::Normal => style.font_size,
        Baseline::Superscript | Baseline::Subscript => style.font_size * 0.65,
    };
    let weight = style.weight();
    let slant = if style.italic { "italic" } else { "normal" };
    let line = match (style.underline, style.strike) {
        (false, false) => "none",
        (true, false) => "underline",
        (false, true) => "line-through",
        (true, true) => "underline line-through",
    };
    let _ = write!(
        css,
        ";font-size:{size}pt;font-weight:{weight};font-style:{slant};text-decoration:{line};color:{};\
         line-height:{};",
        style.color, style.line_height
    );
    if style.letter_spacing != 0.0 {
        let _ = write!(css, "letter-spacing:{}pt;", style.letter_spacing);
    }
    font_declarations(css, style);
}

/// Width, features and axes of the font.
fn font_declarations(css: &mut String, style: &Style) {
    if style.font_width != 100 {
        let _ = write!(css, "font-stretch:{}%;", style.font_width);
    }
    let tag = |tag: [u8; 4]| String::from_utf8_lossy(&tag).into_owned();
    let features = style.font_features.iter();
    let features: Vec<String> = features
        .map(|feature| format!("\"{}\" {}", tag(feature.tag), feature.value))
        .collect();
    if !features.is_empty() {
        let _ = write!(css, "font-feature-settings:{};", features.join(","));
    }
    let axes = style.font_axes.iter();
    let axes: Vec<String> = axes
        .map(|axis| format!("\"{}\" {}", tag(axis.tag), axis.value))
        .collect();
    if !axes.is_empty() {
        let _ = write!(css, "font-variation-settings:{};", axes.join(","));
    }
    if style.hanging_punctuation {
        css.push_str("hanging-punctuation:first allow-end;");
    }
}

/// A name between quotes, without the characters that could end them or the style element.
pub(super) fn quoted(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '"' | '\\' | '<' | '\n'))
        .collect()
}

pub(super) fn families(css: &mut String, style: &Style) {
    for family in style.font_families.iter() {
        let _ = write!(css, "\"{}\",", quoted(family));
    }
    let first = style
        .font_families
        .first()
        .map(|name| name.to_lowercase())
        .unwrap_or_default();
    css.push_str(if style.code || first.contains("mono") {
        "Consolas,monospace"
    } else if first.contains("serif") && !first.contains("sans") {
        "\"Times New Roman\",serif"
    } else {
        "Arial,Helvetica,sans-serif"
    });
}

fn box_declarations(css: &mut String, style: &Style) {
    if let Some(color) = style.background {
        let _ = write!(css, "background:{color};");
    }
    let Sides {
        top,
        right,
        bottom,
        left,
    } = style.padding;
    if [top, right, bottom, left] != [0.0; 4] {
        let _ = write!(css, "padding:{top}pt {right}pt {bottom}pt {left}pt;");
    }
    let borders: [(&str, &Option<Border>); 4] = [
        ("top", &style.borders.top),
        ("right", &style.borders.right),
        ("bottom", &style.borders.bottom),
        ("left", &style.borders.left),
    ];
    for (side, border) in borders {
        if let Some(border) = border {
            let line = line_name(border.style);
            let _ = write!(
                css,
                "border-{side}:{}pt {line} {};",
                border.width, border.color
            );
        }
    }
}

/// The print pages of a section, with header and footer in margin boxes.
fn pages(css: &mut String, document: &Document, index: usize, report: &mut Report) {
    let section = &document.sections[index];
    let page = &section.page;
    let Sides {
        top,
        right,
        bottom,
        left,
    } = page.margins;
    let _ = write!(
        css,
        "@page section-{index}{{size:{}pt {}pt;margin:{top}pt {right}pt {bottom}pt {left}pt;",
        page.width, page.height
    );
    margin_box(css, document, "top", &section.header, report);
    margin_box(css, document, "bottom", &section.footer, report);
    css.push_str("}\n");
    if section.first_header.is_some() || section.first_footer.is_some() {
        let _ = write!(css, "@page section-{index}:first{{");
        margin_box(
            css,
            document,
            "top",
            section.first_header.as_ref().unwrap_or(&section.header),
            report,
        );
        margin_box(
            css,
            document,
            "bottom",
            section.first_footer.as_ref().unwrap_or(&section.footer),
            report,
        );
        css.push_str("}\n");
    }
    let reset = match page.first_page_number {
        Some(number) => format!("counter-reset:page {number};"),
        None => String::new(),
    };
    let _ = writeln!(
        css,
        "@media print{{.sheet-{index}{{page:section-{index};{reset}}}}}"
    );
}

/// Writes the margin box at the `edge` of a page that shows `blocks`.
fn margin_box(
    css: &mut String,
    document: &Document,
    edge: &str,
    blocks: &[Block],
    report: &mut Report,
) {
    let style = blocks.first().map(|block| &document.styles[block.style]);
    let content = content_of(blocks, report);
    let _ = write!(
        css,
        "@{edge}-center{{width:100%;content:{}",
        if content.is_empty() { "none" } else { &content }
    );
    if let Some(style) = style {
        css.push(';');
        text_declarations(css, style);
        let _ = write!(
            css,
            "text-align:{};white-space:pre-wrap",
            align_name(style.align)
        );
    }
    css.push('}');
}
