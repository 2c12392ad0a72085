//! The theme part: the document's colors and fonts (ECMA-376-1 §20.1.6.9).

use platen_document::{Color, bound::Document};

use super::{DECLARATION, Escaped};

/// The theme part, which color and font pickers in Office offer to the reader.
pub(crate) fn theme(document: &Document) -> String {
    let colors = &document.theme;
    let accent = |index: usize| {
        let count = colors.chart.len().max(1);
        colors
            .chart
            .get(index % count)
            .copied()
            .unwrap_or(colors.primary)
            .to_hex()
    };
    let family = |style: platen_document::bound::StyleId| {
        let families = &document.styles[style].font_families;
        Escaped(families.first().map_or("Liberation Sans", String::as_str)).to_string()
    };
    let (major, minor) = (
        family(document.named.headings[0]),
        family(document.named.body),
    );
    let color = |name: &str, hex: &str| format!("<a:{name}><a:srgbClr val=\"{hex}\"/></a:{name}>");
    let mut scheme = color("dk1", &colors.text.to_hex())
        + &color("lt1", &Color::WHITE.to_hex())
        + &color("dk2", &colors.primary.to_hex())
        + &color("lt2", &colors.surface.to_hex());
    for index in 0..6 {
        scheme += &color(&format!("accent{}", index + 1), &accent(index));
    }
    scheme += &color("hlink", &colors.primary.to_hex());
    scheme += &color("folHlink", &colors.muted.to_hex());
    let fill = "<a:solidFill><a:schemeClr val=\"phClr\"/></a:solidFill>";
    let line = |width: u32| format!("<a:ln w=\"{width}\">{fill}<a:prstDash val=\"solid\"/></a:ln>");
    let lines = line(6350) + &line(12_700) + &line(19_050);
    let effect = "<a:effectStyle><a:effectLst/></a:effectStyle>";
    let font = |name: &str, family: &str| {
        format!(
            "<a:{name}><a:latin typeface=\"{family}\"/><a:ea typeface=\"\"/><a:cs typeface=\"\"/></a:{name}>"
        )
    };
    let (major, minor) = (font("majorFont", &major), font("minorFont", &minor));
    format!(
        "{DECLARATION}<a:theme xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
         name=\"Platen\"><a:themeElements><a:clrScheme name=\"Platen\">{scheme}</a:clrScheme>\
         <a:fontScheme name=\"Platen\">{major}{minor}</a:fontScheme><a:fmtScheme name=\"Platen\">\
         <a:fillStyleLst>{fill}{fill}{fill}</a:fillStyleLst><a:lnStyleLst>{lines}</a:lnStyleLst>\
         <a:effectStyleLst>{effect}{effect}{effect}</a:effectStyleLst>\
         <a:bgFillStyleLst>{fill}{fill}{fill}</a:bgFillStyleLst></a:fmtScheme></a:themeElements>\
         </a:theme>"
    )
}
