//! Dispatches a bound document to the writer of each format.

use platen_document::{
    Diagnostic,
    bound::{Block, BlockKind, Document},
};
use platen_formats::{csv, docx, html, pdf, picture, pptx, xlsx};
use platen_layout::{Layout, Shaper};

use crate::{Error, Format, RenderOptions};

/// Writes a PDF. If it is the `last` format, frees the pages while writing.
pub(crate) fn write_pdf(
    document: &Document,
    shaper: &Shaper,
    layout: &mut Layout,
    last: bool,
    options: &RenderOptions,
) -> Result<(Vec<u8>, Vec<Diagnostic>), Error> {
    // The XML of an e-invoice belongs into a PDF/A-3.
    let carries_invoice = document
        .invoice
        .as_ref()
        .is_some_and(|issued| issued.profile_in_pdf().is_some());
    let usual = if carries_invoice {
        pdf::Standard::PdfA3b
    } else {
        pdf::Standard::default()
    };
    let pdf_options = pdf::Options {
        standard: options.standard.unwrap_or(usual),
        tagged: !options.untagged,
        attachments: options.attachments.clone(),
    };
    let given = last.then(|| std::mem::take(&mut layout.pages));
    let pages = given.map_or(pdf::Pages::Kept(&layout.pages), pdf::Pages::Given);
    Ok(pdf::write(document, layout, pages, shaper, &pdf_options)?)
}

/// Writes one page as a picture.
pub(crate) fn write_picture(
    document: &Document,
    shaper: &Shaper,
    layout: &Layout,
    format: Format,
    options: &RenderOptions,
) -> Result<Vec<u8>, Error> {
    let page = options.page.unwrap_or(1);
    let pages = layout.pages.len() as u32;
    if page == 0 || page > pages {
        return Err(Error::NoSuchPage { page, pages });
    }
    draw_page(document, shaper, layout, format, page, options)
}

/// Draws a page, counted from 1.
pub(crate) fn draw_page(
    document: &Document,
    shaper: &Shaper,
    layout: &Layout,
    format: Format,
    page: u32,
    options: &RenderOptions,
) -> Result<Vec<u8>, Error> {
    let index = (page - 1) as usize;
    let picture = if format == Format::Png {
        let resolution = options.dots_per_inch.unwrap_or(144.0);
        picture::png::write(layout, shaper, index, resolution)
    } else {
        picture::svg::write(document, layout, shaper, index)
    };
    picture.ok_or(Error::PictureTooLarge)
}

/// True for paged formats.
pub(crate) fn is_paged(format: Format) -> bool {
    matches!(format, Format::Pdf | Format::Png | Format::Svg)
}

/// True for paged formats, for Word documents whose table of contents shows page numbers, and for
/// HTML with its fonts, which layout chooses.
pub(crate) fn needs_pages(format: Format, document: &Document, options: &RenderOptions) -> bool {
    match format {
        paged if is_paged(paged) => true,
        Format::Html => options.embed_fonts,
        Format::Docx => document.sections.iter().any(|section| {
            let contents = |block: &Block| matches!(block.kind, BlockKind::TableOfContents { .. });
            section.body.iter().any(contents)
        }),
        _ => false,
    }
}

fn write_docx(
    document: &Document,
    layout: Option<&Layout>,
) -> Result<platen_formats::Written, platen_formats::Error> {
    let heading_pages: Vec<String> = layout.map_or_else(Vec::new, |layout| {
        layout
            .outline
            .iter()
            .map(|entry| layout.pages[entry.page as usize].number.to_string())
            .collect()
    });
    let docx_options = docx::DocxOptions {
        heading_pages: &heading_pages,
    };
    docx::write(document, &docx_options)
}

/// Writes a format without pages.
pub(crate) fn write_plain(
    document: &Document,
    pages: Option<&(Shaper, Layout)>,
    format: Format,
    options: &RenderOptions,
    has_files: bool,
) -> Result<platen_formats::Written, Error> {
    let written = match format {
        Format::Html => {
            let pages = pages.filter(|_| options.embed_fonts);
            html::write(document, pages.map(|(shaper, layout)| (layout, shaper)))
        }
        Format::Docx => write_docx(document, pages.map(|(_, layout)| layout)),
        Format::Pptx => pptx::write(document),
        Format::Xlsx if has_files => xlsx::write(document),
        Format::Xlsx => xlsx::write_in_memory(document),
        Format::Csv => csv::write(document, &options.csv),
        Format::Xml => {
            let issued = document.invoice.as_ref().ok_or(Error::NoInvoice)?;
            return Ok(platen_formats::Written {
                bytes: issued.xml.clone().into_bytes(),
                warnings: Vec::new(),
            });
        }
        Format::Pdf | Format::Png | Format::Svg => {
            return Err(Error::Bug(format!("{format} needs pages")));
        }
    };
    Ok(written?)
}
