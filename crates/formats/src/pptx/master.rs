//! The slide master and its layout: title, footer and slide number.

use platen_document::bound::{Direction, Document};

use super::{
    geometry::Geometry,
    markup::{GROUP, NAMESPACES, NUMBER},
};
use crate::ooxml::{DECLARATION, Package, Relationships, emu, theme};

pub(super) fn add(package: &mut Package, document: &Document, geometry: Geometry) {
    let mut relationships = Relationships::default();
    let layout = relationships.add("slideLayout", "../slideLayouts/slideLayout1.xml");
    relationships.add("theme", "../theme/theme1.xml");
    package.add_common(
        "ppt/slideMasters/slideMaster1.xml",
        "application/vnd.openxmlformats-officedocument.presentationml.slideMaster+xml",
        master(document, geometry, &layout),
    );
    package.add_relationships("ppt/slideMasters/slideMaster1.xml", &relationships);
    let mut relationships = Relationships::default();
    relationships.add("slideMaster", "../slideMasters/slideMaster1.xml");
    package.add_common(
        "ppt/slideLayouts/slideLayout1.xml",
        "application/vnd.openxmlformats-officedocument.presentationml.slideLayout+xml",
        format!(
            "{DECLARATION}<p:sldLayout {NAMESPACES} type=\"titleOnly\" preserve=\"1\">\
             <p:cSld name=\"Title Only\"><p:spTree>{GROUP}{}{}{}</p:spTree></p:cSld>\
             <p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>",
            placeholder(
                2,
                "Title",
                "type=\"title\"",
                "",
                "<a:r><a:rPr lang=\"en-US\"/><a:t>Title</a:t></a:r>"
            ),
            placeholder(
                3,
                "Footer",
                "type=\"ftr\" sz=\"quarter\" idx=\"11\"",
                "",
                ""
            ),
            placeholder(
                4,
                "Slide Number",
                "type=\"sldNum\" sz=\"quarter\" idx=\"12\"",
                "",
                NUMBER
            ),
        ),
    );
    package.add_relationships("ppt/slideLayouts/slideLayout1.xml", &relationships);
    package.add_common(
        "ppt/theme/theme1.xml",
        "application/vnd.openxmlformats-officedocument.theme+xml",
        theme(document),
    );
}

fn placeholder(id: u32, name: &str, kind: &str, properties: &str, content: &str) -> String {
    format!(
        "<p:sp><p:nvSpPr><p:cNvPr id=\"{id}\" name=\"{name}\"/><p:cNvSpPr><a:spLocks noGrp=\"1\"/>\
         </p:cNvSpPr><p:nvPr><p:ph {kind}/></p:nvPr></p:nvSpPr><p:spPr>{properties}</p:spPr><p:txBody>\
         <a:bodyPr/><a:lstStyle/><a:p>{content}</a:p></p:txBody></p:sp>"
    )
}

fn master(document: &Document, geometry: Geometry, layout: &str) -> String {
    let rtl = document.direction == Direction::RightToLeft;
    let (start, flag) = if rtl { ("r", 1) } else { ("l", 0) };
    let width = geometry.content_width();
    let heading = &document.styles[document.named.headings[0]];
    let size = ((heading.font_size * geometry.scale * 100.0) as i32).clamp(1800, 3200);
    let bold = u8::from(heading.bold);
    let title_color = heading.color.to_hex();
    let body_size =
        (document.styles[document.named.body].font_size * geometry.scale * 100.0) as i32;
    let (footer, number) = foot(document, geometry);
    let title_place = place(geometry.side, geometry.title.0, width, geometry.title.1);
    let level = |index: usize| {
        format!(
            "<a:lvl{index}pPr marL=\"0\" indent=\"0\" algn=\"{start}\" rtl=\"{flag}\"><a:buNone/>\
             <a:defRPr sz=\"{body_size}\"><a:solidFill><a:schemeClr val=\"tx1\"/></a:solidFill>\
             <a:latin typeface=\"+mn-lt\"/><a:ea typeface=\"+mn-ea\"/><a:cs typeface=\"+mn-cs\"/>\
             </a:defRPr></a:lvl{index}pPr>"
        )
    };
    let levels: String = (1..=9).map(level).collect();
    format!(
        "{DECLARATION}<p:sldMaster {NAMESPACES}><p:cSld><p:bg><p:bgPr><a:solidFill>\
         <a:schemeClr val=\"bg1\"/></a:solidFill><a:effectLst/></p:bgPr></p:bg><p:spTree>{GROUP}\
         <p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"Title\"/><p:cNvSpPr><a:spLocks noGrp=\"1\"/>\
         </p:cNvSpPr><p:nvPr><p:ph type=\"title\"/></p:nvPr></p:nvSpPr><p:spPr>{title_place}</p:spPr>\
         <p:txBody><a:bodyPr lIns=\"0\" tIns=\"0\" rIns=\"0\" bIns=\"0\" anchor=\"ctr\">\
         <a:normAutofit/></a:bodyPr><a:lstStyle/><a:p><a:r><a:rPr lang=\"en-US\"/><a:t>Title</a:t></a:r>\
         </a:p></p:txBody></p:sp>{footer}{number}</p:spTree></p:cSld>\
         <p:clrMap bg1=\"lt1\" tx1=\"dk1\" bg2=\"lt2\" tx2=\"dk2\" accent1=\"accent1\" \
         accent2=\"accent2\" accent3=\"accent3\" accent4=\"accent4\" accent5=\"accent5\" \
         accent6=\"accent6\" hlink=\"hlink\" folHlink=\"folHlink\"/><p:sldLayoutIdLst>\
         <p:sldLayoutId id=\"2147483649\" r:id=\"{layout}\"/></p:sldLayoutIdLst><p:txStyles>\
         <p:titleStyle><a:lvl1pPr algn=\"{start}\" rtl=\"{flag}\"><a:lnSpc><a:spcPct val=\"90000\"/>\
         </a:lnSpc><a:buNone/><a:defRPr sz=\"{size}\" b=\"{bold}\"><a:solidFill>\
         <a:srgbClr val=\"{title_color}\"/></a:solidFill><a:latin typeface=\"+mj-lt\"/>\
         <a:ea typeface=\"+mj-ea\"/><a:cs typeface=\"+mj-cs\"/></a:defRPr></a:lvl1pPr></p:titleStyle>\
         <p:bodyStyle>{levels}</p:bodyStyle><p:otherStyle>{levels}</p:otherStyle></p:txStyles>\
         </p:sldMaster>"
    )
}

/// Position and shape of a placeholder.
fn place(x: f32, y: f32, width: f32, height: f32) -> String {
    format!(
        "<a:xfrm><a:off x=\"{}\" y=\"{}\"/><a:ext cx=\"{}\" cy=\"{}\"/></a:xfrm>\
         <a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom>",
        emu(x),
        emu(y),
        emu(width),
        emu(height)
    )
}

/// The placeholders of footer and slide number.
fn foot(document: &Document, geometry: Geometry) -> (String, String) {
    let rtl = document.direction == Direction::RightToLeft;
    let (start, end, flag) = if rtl { ("r", "l", 1) } else { ("l", "r", 0) };
    let width = geometry.content_width();
    let muted = document.theme.muted.to_hex();
    let foot = geometry.height * 0.935;
    let foot_height = geometry.height * 0.045;
    let small = |id: u32,
                 name: &str,
                 kind: &str,
                 x: f32,
                 width: f32,
                 align: &str,
                 content: &str| {
        format!(
            "<p:sp><p:nvSpPr><p:cNvPr id=\"{id}\" name=\"{name}\"/><p:cNvSpPr><a:spLocks noGrp=\"1\"/>\
             </p:cNvSpPr><p:nvPr><p:ph {kind}/></p:nvPr></p:nvSpPr><p:spPr>{}</p:spPr><p:txBody>\
             <a:bodyPr lIns=\"0\" tIns=\"0\" rIns=\"0\" bIns=\"0\" anchor=\"ctr\"/><a:lstStyle>\
             <a:lvl1pPr algn=\"{align}\" rtl=\"{flag}\"><a:defRPr sz=\"1000\"><a:solidFill>\
             <a:srgbClr val=\"{muted}\"/></a:solidFill></a:defRPr></a:lvl1pPr></a:lstStyle>\
             <a:p>{content}</a:p></p:txBody></p:sp>",
            place(x, foot, width, foot_height)
        )
    };
    let (footer_x, number_x) = if rtl {
        (geometry.side + width * 0.25, geometry.side)
    } else {
        (geometry.side, geometry.side + width * 0.85)
    };
    let footer = small(
        3,
        "Footer",
        "type=\"ftr\" sz=\"quarter\" idx=\"3\"",
        footer_x,
        width * 0.75,
        start,
        "",
    );
    let number = small(
        4,
        "Slide Number",
        "type=\"sldNum\" sz=\"quarter\" idx=\"4\"",
        number_x,
        width * 0.15,
        end,
        NUMBER,
    );
    (footer, number)
}
