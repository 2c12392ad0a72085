//! PDF 1.7 (ISO 32000-1): subset fonts, links, bookmarks, metadata, tagged structure (PDF/UA-1, ISO
//! 14289-1), PDF/A-2b and PDF/A-3b (ISO 19005), attachments.
//!
//! Everything is written as it is produced: pages, then the structure, fonts and the catalog.
//! Only a few numbers per structure element are held in between.

mod annotation;
mod attachment;
mod background;
mod error;
mod file;
mod font;
mod font_program;
mod form;
mod graphics;
mod image;
mod invoice;
mod metadata;
mod options;
mod outline;
mod output_intent;
mod page;
mod page_label;
mod sfnt;
mod structure;
mod syntax;
mod text;
mod vector;

use platen_document::{
    Diagnostic,
    bound::{Direction, Document},
};
use platen_layout::{Layout, Shaper, page::Page};

pub use self::{
    error::Error,
    options::{Attachment, Options, Relationship, Standard},
};
use self::{
    file::File,
    page::{PagePlaces, PageWriter},
    structure::Structure,
    syntax::{Reference, Syntax},
};

/// Violations of standards found while writing.
#[derive(Default)]
struct Findings {
    /// Violations of PDF/UA-1 only.
    accessible: Vec<String>,
    /// Violations of PDF/A only.
    archival: Vec<String>,
    /// Violations of both PDF/A and PDF/UA-1.
    all: Vec<String>,
}

/// The pages of a layout. Thousands of them take much memory, so they can be freed as they are
/// written.
#[derive(Debug)]
pub enum Pages<'a> {
    /// The caller needs them afterwards.
    Kept(&'a [Page]),
    /// Freed one by one.
    Given(Vec<Page>),
}

impl std::ops::Deref for Pages<'_> {
    type Target = [Page];

    fn deref(&self) -> &[Page] {
        match self {
            Self::Kept(pages) => pages,
            Self::Given(pages) => pages,
        }
    }
}

/// Writes `pages` of the `layout` of `document` as a PDF, and returns it with warnings. The same
/// input gives the same bytes.
///
/// # Errors
///
/// [`Error::Standard`] if the document violates a requested PDF/A. A violation of PDF/UA-1 is only
/// a warning.
pub fn write(
    document: &Document,
    layout: &Layout,
    pages: Pages<'_>,
    shaper: &Shaper,
    options: &Options,
) -> Result<(Vec<u8>, Vec<Diagnostic>), Error> {
    let archival = options.standard != Standard::Pdf17;
    let mut findings = Findings::default();
    let attachments = invoice::with_invoice(document, &options.attachments)?;
    if options.standard == Standard::PdfA2b && !attachments.is_empty() {
        findings
            .all
            .push("it does not allow attachments of this kind".to_owned());
    }
    let mut file = File::new();
    let places = PagePlaces::reserve(pages.len(), &mut file);
    let mut structure = options
        .tagged
        .then(|| Structure::new(&layout.tags, &mut file));
    let mut writer = PageWriter::new(document, layout, &pages, shaper, places, archival);
    match pages {
        Pages::Kept(pages) => {
            for page in pages.iter().enumerate() {
                writer.write(&mut file, page, structure.as_mut())?;
            }
        }
        Pages::Given(pages) => {
            for (index, page) in pages.into_iter().enumerate() {
                writer.write(&mut file, (index, &page), structure.as_mut())?;
            }
        }
    }
    let structure =
        structure.map(|all| all.write(&mut file, &writer.places.pages, &mut findings.accessible));
    check(document, &writer, &mut findings);
    if writer.finish(&mut file)? {
        findings
            .all
            .push("a font's licence forbids embedding".to_owned());
    }
    findings.archival.extend(findings.all.iter().cloned());
    if archival && !findings.archival.is_empty() {
        return Err(Error::Standard {
            standard: options.standard.name(),
            reasons: reasons(findings.archival),
        });
    }
    let (accessible, warnings) = accessibility(findings, options.tagged);
    let catalog = catalog(
        &mut file,
        &writer,
        document,
        layout,
        (options.standard, &attachments),
        structure,
        accessible,
    );
    let information = metadata::information(&mut file, document);
    let bytes = file.finish(catalog, information).ok_or(Error::TooLarge)?;
    Ok((bytes, warnings))
}

/// Whether the file is PDF/UA-1, and a warning if it is tagged and is not.
fn accessibility(mut findings: Findings, tagged: bool) -> (bool, Vec<Diagnostic>) {
    let mut warnings = Vec::new();
    findings.accessible.append(&mut findings.all);
    let accessible = tagged && findings.accessible.is_empty();
    if tagged && !accessible {
        let reasons = reasons(findings.accessible);
        warnings.push(
            Diagnostic::warning(
                "not-pdf-ua",
                "",
                format!("the PDF is tagged, but is not PDF/UA-1: {reasons}"),
            )
            .with_hint("fix these points to make the document accessible"),
        );
    }
    (accessible, warnings)
}

/// Finds the violations that do not show on the pages.
fn check(document: &Document, writer: &PageWriter<'_>, findings: &mut Findings) {
    if document.metadata.title.trim().is_empty() {
        let reason = "the document has no title".to_owned();
        findings.accessible.push(reason);
    }
    if document.language.is_empty() {
        let reason = "the document has no language".to_owned();
        findings.accessible.push(reason);
    }
    if writer.forms.acts {
        findings.archival.push("a button acts".to_owned());
    }
    if writer.forms.unproven {
        let reason = "the PDF in the background is not PDF/A".to_owned();
        findings.archival.push(reason);
    }
    for text in &writer.text.missing {
        findings
            .all
            .push(format!("no font has a glyph for `{text}`"));
    }
}

fn reasons(mut findings: Vec<String>) -> String {
    findings.sort();
    findings.dedup();
    findings.truncate(5);
    findings.join("; ")
}

/// Writes the catalog, ISO 32000-1 §7.7.2, and the objects that only it refers to.
fn catalog(
    file: &mut File,
    writer: &PageWriter<'_>,
    document: &Document,
    layout: &Layout,
    (standard, attachments): (Standard, &[Attachment]),
    structure: Option<Reference>,
    accessible: bool,
) -> Reference {
    let source = &document.metadata;
    let outline = (!layout.outline.is_empty() || accessible)
        .then(|| outline::write(file, writer, &layout.outline, &source.title));
    let packet = metadata::packet(file, document, standard, accessible);
    let archival = standard != Standard::Pdf17;
    let intent = archival.then(|| output_intent::output_intent(file));
    let attachments = attachment::write(file, attachments, source.created_unix_seconds);
    file.add(|out| {
        out.raw("<</Type/Catalog/Pages ")
            .reference(writer.places.root);
        out.raw("/Metadata ").reference(packet);
        if !document.language.is_empty() {
            out.raw("/Lang").text(&document.language);
        }
        out.raw("/ViewerPreferences<<");
        if !source.title.is_empty() {
            out.raw("/DisplayDocTitle true");
        }
        if document.direction == Direction::RightToLeft {
            out.raw("/Direction/R2L");
        }
        out.raw(">>");
        if let Some(structure) = structure {
            out.raw("/MarkInfo<</Marked true>>/StructTreeRoot ");
            out.reference(structure);
        }
        writer.forms.catalog(out);
        page_label::write(out, &writer.labels);
        if let Some(outline) = outline {
            out.raw("/Outlines ").reference(outline);
        }
        if let Some(intent) = intent {
            out.raw("/OutputIntents[").reference(intent).raw("]");
        }
        if !attachments.is_empty() {
            out.raw("/Names<</EmbeddedFiles<</Names[");
            for (name, specification) in &attachments {
                out.text(name).reference(*specification).raw(" ");
            }
            out.raw("]>>>>/AF[");
            for (_, specification) in &attachments {
                out.reference(*specification).raw(" ");
            }
            out.push(b']');
        }
        out.raw(">>");
    })
}
