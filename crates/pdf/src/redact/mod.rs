//! Redaction: what areas of pages show is taken out of the file, and not only covered.
//!
//! Text goes glyph by glyph, pictures pixel by pixel, drawings path by path. What cannot be taken out
//! for certain is refused: content that cannot be read to its end, a coding of pictures that is not
//! read, a form field in the area, or an object that something else in the file still leads to.
//! Afterwards the pages are gone through once more: nothing may be left in the areas.

mod area;
mod budget;
mod comments;
mod content;
mod glyphs;
mod graphics;
mod operators;
mod part;
mod path;
mod picture;
mod regions;
mod resources;
mod rewriter;
mod source;
mod tags;
mod taken;
mod traces;

use std::collections::{BTreeMap, HashSet};

use lopdf::{Dictionary, Document, Object, ObjectId};

pub use self::regions::Region;
use self::{
    area::Area,
    budget::Budget,
    part::weight,
    rewriter::Rewriter,
    source::{content_of, packed, page_content, streams_of},
    taken::{Taken, impossible},
    traces::Traces,
};
use crate::{
    Error,
    copy::inherited,
    open::{resolve, value},
};

/// What white becomes in a JPEG file, at least.
const NEARLY_WHITE: u8 = 240;
/// Small pictures of pages in the metadata of a file, by how programs write them.
const THUMBNAILS: [&[u8]; 2] = [b"xmpGImg", b"xmp:Thumbnails"];

/// Takes the content of areas out of `document`. `checkpoint` is called before each page, and every
/// few thousand operations of it.
pub(crate) fn redact(
    document: &mut Document,
    regions: &[Region],
    checkpoint: &dyn Fn(),
) -> Result<(), Error> {
    let areas = regions::areas_of(document, regions)?;
    if has_xfa(document) {
        return Err(impossible(
            "it has a form of XML (XFA), which shows its own text",
        ));
    }
    let mut traces = Traces::default();
    let mut budget = Budget::default();
    for (page, areas) in &areas {
        checkpoint();
        let taken = redact_page(document, *page, areas, &mut traces, &mut budget, checkpoint)?;
        comments::take_out(document, *page, areas, &mut traces, checkpoint)?;
        traces.taken.insert(*page, taken);
    }
    clear_catalog(document);
    traces::clear(document, &traces, &mut budget, checkpoint)?;
    document.prune_objects();
    // Whatever was overlooked would be found again.
    budget = Budget::default();
    for (page, areas) in &areas {
        checkpoint();
        let rewritten = rewritten(document, *page, areas, NEARLY_WHITE, budget, checkpoint)?;
        budget = rewritten.budget;
        if rewritten.taken.count > 0 {
            return Err(impossible("something of it is still there afterwards"));
        }
    }
    Ok(())
}

fn has_xfa(document: &Document) -> bool {
    let catalog = document.catalog().ok();
    let form = catalog.and_then(|it| value(document, it, b"AcroForm")?.as_dict().ok());
    form.is_some_and(|form| form.has(b"XFA"))
}

/// Takes what programs keep for themselves from the whole file, and small pictures of its pages.
fn clear_catalog(document: &mut Document) {
    let metadata = (|| {
        let catalog = document.catalog().ok()?;
        value(document, catalog, b"Metadata")?.as_stream().ok()
    })();
    let holds = |content: &[u8], part: &[u8]| {
        let mut windows = content.windows(part.len());
        windows.any(|window| window == part)
    };
    let has_thumbnails = metadata.is_some_and(|stream| match content_of(document, stream) {
        Ok(content) => THUMBNAILS.iter().any(|part| holds(&content, part)),
        Err(_) => true,
    });
    if let Ok(catalog) = document.catalog_mut() {
        catalog.remove(b"PieceInfo");
        if has_thumbnails {
            catalog.remove(b"Metadata");
        }
    }
}

/// The new content of a page.
struct Rewritten {
    content: Vec<u8>,
    resources: Dictionary,
    made: BTreeMap<ObjectId, Object>,
    replaced: HashSet<ObjectId>,
    moved: BTreeMap<ObjectId, ObjectId>,
    taken: Taken,
    said: HashSet<(usize, Vec<u8>)>,
    budget: Budget,
}

fn rewritten(
    document: &Document,
    page: ObjectId,
    areas: &[Area],
    white: u8,
    budget: Budget,
    checkpoint: &dyn Fn(),
) -> Result<Rewritten, Error> {
    let entries = document.get_dictionary(page)?;
    let content = page_content(document, entries)?;
    let resources = inherited(document, entries, b"Resources");
    let resources = resources.as_ref().and_then(|it| resolve(document, it));
    let resources = match resources {
        Some(Object::Dictionary(resources)) => resources.clone(),
        _ => Dictionary::new(),
    };
    let mut rewriter = Rewriter::new(document, areas, budget, checkpoint);
    rewriter.white = white;
    let made = rewriter.page(&content, &resources)?;
    let resources = rewriter.resources(Some(&resources), &made);
    Ok(Rewritten {
        content: made.bytes(),
        resources,
        made: rewriter.made,
        replaced: rewriter.replaced,
        moved: rewriter.moved,
        taken: rewriter.taken,
        said: rewriter.said,
        budget: rewriter.budget,
    })
}

fn redact_page(
    document: &mut Document,
    page: ObjectId,
    areas: &[Area],
    traces: &mut Traces,
    budget: &mut Budget,
    checkpoint: &dyn Fn(),
) -> Result<Taken, Error> {
    let mut rewritten = rewritten(document, page, areas, u8::MAX, *budget, checkpoint)?;
    *budget = rewritten.budget;
    traces.replaced.extend(rewritten.replaced);
    traces.said.extend(rewritten.said);
    let moved = rewritten.moved.into_iter();
    (traces.moved).extend(moved.map(|(form, new)| ((form, page), new)));
    let highest = rewritten.made.keys().map(|id| id.0).max().unwrap_or(0);
    document.max_id = document.max_id.max(highest);
    document.objects.append(&mut rewritten.made);
    let entries = document.get_dictionary_mut(page)?;
    // A small picture of the page, and what programs keep for themselves.
    for key in ["Thumb", "PieceInfo", "Metadata", "LastModified", "AF"] {
        entries.remove(key.as_bytes());
    }
    if rewritten.taken.count == 0 {
        return Ok(rewritten.taken);
    }
    let entries = document.get_dictionary(page)?;
    traces.replaced.extend(streams_of(document, entries));
    let content = packed(Dictionary::new(), &rewritten.content, checkpoint)?;
    budget.make(content.content.len() + weight(&rewritten.resources) * 8)?;
    let content = document.add_object(content);
    let entries = document.get_dictionary_mut(page)?;
    entries.set("Contents", content);
    entries.set("Resources", rewritten.resources);
    Ok(rewritten.taken)
}
