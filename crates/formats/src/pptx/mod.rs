//! PPTX: PresentationML (ECMA-376-1 §19), generated as text.
//!
//! Each section starts a slide; content that does not fit flows on to further slides. Text is
//! enlarged for reading at a distance. Heights are estimated, since PowerPoint does the layout.

mod block;
mod cell;
mod charts;
mod figure;
mod flow;
mod footer;
mod frame;
mod geometry;
mod markup;
mod master;
mod notes;
mod slide;
mod split;
mod table;
mod text;

use std::fmt::Write as _;

use platen_document::bound::{BlockKind, Document};

use self::{flow::Flow, geometry::Geometry, markup::NAMESPACES};
use crate::{
    Error, Written, block_losses,
    ooxml::{self, DECLARATION, Package, Relationships},
    page_losses::{self, PageFeature},
};

/// Writes `document` as PPTX.
///
/// # Errors
/// A part cannot be encoded or packed.
pub fn write(document: &Document) -> Result<Written, Error> {
    let geometry = Geometry::new(document);
    let mut flow = Flow::new(document, geometry);
    report_losses(document, geometry, &mut flow);
    for section in &document.sections {
        flow.section(section)?;
    }
    flow.end();
    let mut package = Package::default();
    let mut root = Relationships::default();
    root.add("officeDocument", "ppt/presentation.xml");
    root.add("core-properties", "docProps/core.xml");
    root.add("extended-properties", "docProps/app.xml");
    package.add_common("_rels/.rels", "", root.to_xml());
    presentation(&mut package, document, geometry, flow.slides.len());
    master::add(&mut package, document, geometry);
    add_slides(&mut package, &mut flow);
    for (name, bytes) in flow.media.files() {
        package.add(format!("ppt/media/{name}"), "", bytes);
    }
    package.add(
        "docProps/core.xml",
        "application/vnd.openxmlformats-package.core-properties+xml",
        ooxml::core_properties(document),
    );
    package.add_common(
        "docProps/app.xml",
        "application/vnd.openxmlformats-officedocument.extended-properties+xml",
        ooxml::app_properties(),
    );
    Ok(flow.report.finish(package.finish()?))
}

/// Reports the losses that concern the whole document.
fn report_losses(document: &Document, geometry: Geometry, flow: &mut Flow<'_>) {
    let differs = document.sections.iter().any(|section| {
        (section.page.width - geometry.width).abs() > 1.0
            || (section.page.height - geometry.height).abs() > 1.0
    });
    if differs {
        flow.report.warn(
            "page-size-changed",
            "",
            "all slides have one size: 16:9 if the first page is portrait, else that page's size",
        );
    }
    page_losses::report(&mut flow.report, document, "PPTX", &[PageFeature::Color]);
    block_losses::report(&mut flow.report, document, "PPTX", true);
    let shown = |blocks: &[platen_document::bound::Block]| {
        blocks
            .iter()
            .any(|block| !matches!(block.kind, BlockKind::Spacer(_) | BlockKind::Divider { .. }))
    };
    for section in &document.sections {
        let first = section.first_header.as_deref().unwrap_or_default();
        if shown(&section.header) || shown(first) {
            flow.report.warn(
                "header-omitted",
                "/page/header",
                "slides have titles instead of page headers",
            );
        }
    }
}

fn presentation(package: &mut Package, document: &Document, geometry: Geometry, slides: usize) {
    let mut relationships = Relationships::default();
    let master = relationships.add("slideMaster", "slideMasters/slideMaster1.xml");
    let mut list = String::new();
    for number in 1..=slides {
        let id = relationships.add("slide", format!("slides/slide{number}.xml"));
        let _ = write!(list, "<p:sldId id=\"{}\" r:id=\"{id}\"/>", 255 + number);
    }
    relationships.add("presProps", "presProps.xml");
    relationships.add("viewProps", "viewProps.xml");
    relationships.add("theme", "theme/theme1.xml");
    relationships.add("tableStyles", "tableStyles.xml");
    let rtl = if document.direction == platen_document::bound::Direction::RightToLeft {
        " rtl=\"1\""
    } else {
        ""
    };
    let slides = if list.is_empty() {
        list
    } else {
        format!("<p:sldIdLst>{list}</p:sldIdLst>")
    };
    let (across, down) = (ooxml::emu(geometry.width), ooxml::emu(geometry.height));
    package.add(
        "ppt/presentation.xml",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
        format!(
            "{DECLARATION}<p:presentation {NAMESPACES}{rtl}><p:sldMasterIdLst>\
             <p:sldMasterId id=\"2147483648\" r:id=\"{master}\"/></p:sldMasterIdLst>{slides}\
             <p:sldSz cx=\"{across}\" cy=\"{down}\"/><p:notesSz cx=\"6858000\" cy=\"9144000\"/>\
             <p:defaultTextStyle><a:lvl1pPr><a:defRPr sz=\"1400\"><a:latin typeface=\"+mn-lt\"/>\
             <a:ea typeface=\"+mn-ea\"/><a:cs typeface=\"+mn-cs\"/></a:defRPr></a:lvl1pPr>\
             </p:defaultTextStyle></p:presentation>"
        ),
    );
    package.add_relationships("ppt/presentation.xml", &relationships);
    package.add_common(
        "ppt/presProps.xml",
        "application/vnd.openxmlformats-officedocument.presentationml.presProps+xml",
        format!("{DECLARATION}<p:presentationPr {NAMESPACES}/>"),
    );
    // Without this part PowerPoint offers to repair the file.
    package.add_common(
        "ppt/viewProps.xml",
        "application/vnd.openxmlformats-officedocument.presentationml.viewProps+xml",
        format!("{DECLARATION}<p:viewPr {NAMESPACES}/>"),
    );
    package.add_common(
        "ppt/tableStyles.xml",
        "application/vnd.openxmlformats-officedocument.presentationml.tableStyles+xml",
        format!(
            "{DECLARATION}<a:tblStyleLst \
             xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
             def=\"{{5C22544A-7EE6-4342-B048-85BDC9FD1C3A}}\"/>"
        ),
    );
}

fn add_slides(package: &mut Package, flow: &mut Flow<'_>) {
    let slides = std::mem::take(&mut flow.slides);
    let count = slides.len();
    for (index, slide) in slides.into_iter().enumerate() {
        let name = format!("ppt/slides/slide{}.xml", index + 1);
        package.add_relationships(&name, &slide.relationships);
        package.add(
            name,
            "application/vnd.openxmlformats-officedocument.presentationml.slide+xml",
            slide.into_xml(count),
        );
    }
    for (index, chart) in std::mem::take(&mut flow.charts).into_iter().enumerate() {
        let number = index + 1;
        let name = format!("ppt/charts/chart{number}.xml");
        let workbook = format!("Microsoft_Excel_Sheet{number}.xlsx");
        let mut relationships = Relationships::default();
        relationships.add("package", format!("../embeddings/{workbook}"));
        package.add_relationships(&name, &relationships);
        package.add(
            name,
            "application/vnd.openxmlformats-officedocument.drawingml.chart+xml",
            chart.xml,
        );
        package.add(format!("ppt/embeddings/{workbook}"), "", chart.workbook);
    }
}
