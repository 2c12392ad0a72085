//! Draws pages of files on new pages: labels, several pages of a sheet.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use lopdf::{Dictionary, Document, Object, ObjectId, Stream, dictionary};

use crate::{
    Error, Limits,
    imported_page::{Extent, Importer},
    merge::sign,
    open::{open, save},
    operations::{FileError, NamedFile, of},
    signature::is_signed,
    stamp::at_corner,
};

/// Maximum number of pages that are drawn, and of new ones.
const MAX_PLACEMENTS: usize = 1_000;
const MAX_PAGES: u32 = 1_000;
/// Width and height of new pages, in points (annex C.2).
const SIDES: std::ops::RangeInclusive<f32> = 3.0..=14_400.0;

/// New pages, and what is drawn on them.
#[derive(Clone, Debug, PartialEq)]
pub struct Composition {
    /// Width and height of the new pages, in points.
    pub size: (f32, f32),
    /// Pages of files, the lower ones first. Every file has one.
    pub placements: Vec<Placement>,
}

/// A page of a file on a new page.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// Name of the file; a single one needs none.
    pub source: Option<String>,
    /// Its page, from 1.
    pub source_page: u32,
    /// The new page, from 1.
    pub page: u32,
    /// Where the lower left corner is, around which it is turned, in points from that of the new page.
    pub at: (f32, f32),
    /// A multiple of its own size.
    pub scale: f32,
    /// Counter-clockwise, in degrees.
    pub rotation: f32,
}

/// A page that was copied: its form, and its size in points.
type Copied = (ObjectId, (f32, f32));

/// Draws pages of `files` on new pages. Annotations, form fields, bookmarks and tags are not kept.
/// `checkpoint` is called before each page that is copied.
///
/// # Errors
/// A file cannot be read or is signed, a placement names a file or page that does not exist, or a
/// file is not placed.
pub fn compose<B: AsRef<[u8]>>(
    files: &[NamedFile<B>],
    composition: &Composition,
    limits: &Limits,
    checkpoint: &dyn Fn(),
) -> Result<Vec<u8>, FileError> {
    let whole = |error: Error| FileError { name: None, error };
    let sources = sources(files, composition).map_err(whole)?;
    let mut document = Document::with_version("1.7");
    let mut copied: BTreeMap<(usize, u32), Copied> = BTreeMap::new();
    for (index, file) in files.iter().enumerate() {
        let of_file = composition.placements.iter().zip(&sources);
        let of_file = of_file.filter(|(_, source)| **source == index);
        let numbers: BTreeSet<u32> = of_file.map(|(one, _)| one.source_page).collect();
        let made = copy(
            &mut document,
            file.bytes.as_ref(),
            &numbers,
            limits,
            checkpoint,
        );
        for (number, page) in made.map_err(|error| of(file, error))? {
            copied.insert((index, number), page);
        }
    }
    let mut pages: Vec<Vec<(ObjectId, [f32; 6])>> = Vec::new();
    for (placement, source) in composition.placements.iter().zip(sources) {
        let Some((form, (wide, high))) = copied.get(&(source, placement.source_page)) else {
            continue;
        };
        let size = (wide * placement.scale, high * placement.scale);
        let matrix = at_corner(placement.at, size, placement.rotation.to_radians());
        let at = placement.page as usize;
        pages.resize_with(pages.len().max(at), Vec::new);
        pages[at - 1].push((*form, matrix));
    }
    written(document, composition.size, pages).map_err(whole)
}

/// The file of each placement.
fn sources<B>(files: &[NamedFile<B>], composition: &Composition) -> Result<Vec<usize>, Error> {
    let wrong = |why: String| Err(Error::BadPlacement(why));
    let (width, height) = composition.size;
    if !SIDES.contains(&width) || !SIDES.contains(&height) {
        return wrong("the sides of new pages are from 3 to 14400 points".to_owned());
    }
    let count = composition.placements.len();
    if count == 0 || count > MAX_PLACEMENTS {
        return wrong(format!("there are 1 to {MAX_PLACEMENTS} placements"));
    }
    let mut found = Vec::with_capacity(count);
    for (index, placement) in composition.placements.iter().enumerate() {
        let source = match &placement.source {
            None if files.len() == 1 => Some(0),
            None => return wrong(format!("placements[{index}] has no source")),
            Some(name) => files.iter().position(|file| file.name == *name),
        };
        let Some(source) = source else {
            let name = placement.source.as_deref().unwrap_or_default();
            let name: String = name.chars().take(100).collect();
            return wrong(format!(
                "placements[{index}]: there is no PDF file `{name}`"
            ));
        };
        let (x, y) = placement.at;
        let numbers = [x, y, placement.scale, placement.rotation];
        let is_sound = numbers.iter().all(|it| it.is_finite() && it.abs() <= 1e6);
        if !is_sound || placement.scale <= 0.0 {
            return wrong(format!(
                "placements[{index}] has a scale or a place that is not possible"
            ));
        }
        if placement.page == 0 || placement.page > MAX_PAGES {
            return wrong(format!(
                "placements[{index}]: a page is from 1 to {MAX_PAGES}"
            ));
        }
        found.push(source);
    }
    let placed: BTreeSet<usize> = found.iter().copied().collect();
    match (0..files.len()).find(|index| !placed.contains(index)) {
        Some(index) => wrong(format!("the file `{}` is not placed", files[index].name)),
        None => Ok(found),
    }
}

/// Copies pages of a file, by their numbers.
fn copy(
    document: &mut Document,
    file: &[u8],
    numbers: &BTreeSet<u32>,
    limits: &Limits,
    checkpoint: &dyn Fn(),
) -> Result<Vec<(u32, Copied)>, Error> {
    checkpoint();
    let source = open(file, limits)?;
    if is_signed(&source) {
        return Err(Error::Signed);
    }
    let pages: Vec<ObjectId> = source.page_iter().collect();
    let mut importer = Importer::new(&source);
    let copied = numbers.iter().map(|number| {
        checkpoint();
        let page = (*number as usize)
            .checked_sub(1)
            .and_then(|at| pages.get(at));
        let page = page.ok_or_else(|| Error::BadPages(number.to_string()))?;
        Ok((*number, importer.import(document, *page, Extent::Page)?))
    });
    copied.collect()
}

fn written(
    mut document: Document,
    (width, height): (f32, f32),
    pages: Vec<Vec<(ObjectId, [f32; 6])>>,
) -> Result<Vec<u8>, Error> {
    let tree = document.new_object_id();
    let mut kids: Vec<Object> = Vec::with_capacity(pages.len());
    for drawn in pages {
        let mut forms = Dictionary::new();
        let mut text = String::new();
        for (index, (form, matrix)) in drawn.into_iter().enumerate() {
            let [a, b, c, d, e, f] = matrix;
            let _ = writeln!(text, "q {a} {b} {c} {d} {e} {f} cm /P{index} Do Q");
            forms.set(format!("P{index}"), form);
        }
        let mut content = Stream::new(Dictionary::new(), text.into_bytes());
        content.compress()?;
        let content = document.add_object(content);
        let area: Vec<Object> = vec![0.into(), 0.into(), width.into(), height.into()];
        let page = document.add_object(dictionary! {
            "Type" => "Page",
            "Parent" => tree,
            "MediaBox" => area,
            "Contents" => content,
            "Resources" => dictionary! { "XObject" => forms },
        });
        kids.push(page.into());
    }
    let count = kids.len() as i64;
    let node = dictionary! { "Type" => "Pages", "Count" => count, "Kids" => kids };
    document.objects.insert(tree, node.into());
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    document.trailer.set("Root", catalog);
    sign(&mut document);
    save(&mut document, true)
}
