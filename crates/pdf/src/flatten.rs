//! Flattening: draws annotations and form fields into the page content (12.5.5).

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use crate::{
    Error, Limits, annotation,
    field::{self, Looks, needs_looks},
    open::{array, dictionary, form, open, resolve, save, value},
    overlay::{Balance, Drawing, Layer, overlay},
};

/// Flags of invisible annotations: Hidden and NoView.
const UNSEEN: i64 = 2 | 32;

/// Draws annotations and form fields into the pages. Annotations without appearance and value, such
/// as links, stay as they are.
///
/// # Errors
/// The file cannot be read, or a text field has no appearance and a value outside Latin-1.
pub fn flatten(file: &[u8], limits: &Limits) -> Result<Vec<u8>, Error> {
    let mut document = open(file, limits)?;
    let pages: Vec<ObjectId> = document.page_iter().collect();
    let mut balance = Balance::new();
    for page in pages {
        flatten_page(&mut document, page, &mut balance)?;
    }
    if let Ok(catalog) = document.catalog_mut() {
        catalog.remove(b"AcroForm");
        catalog.remove(b"Perms");
    }
    document.prune_objects();
    save(&mut document, true)
}

fn flatten_page(
    document: &mut Document,
    page: ObjectId,
    balance: &mut Balance,
) -> Result<(), Error> {
    let mut kept = Vec::new();
    let mut stamps = Vec::new();
    let list = annotation::annotations(document, page);
    if list.is_empty() {
        return Ok(());
    }
    let mut forms = Vec::new();
    for object in list {
        let Some(it) = dictionary(document, object) else {
            continue;
        };
        let subtype = value(document, it, b"Subtype").and_then(|it| it.as_name().ok());
        let flags = value(document, it, b"F").and_then(|it| it.as_i64().ok());
        if flags.unwrap_or(0) & UNSEEN != 0 || subtype == Some(b"Popup") {
            continue;
        }
        let is_field = subtype == Some(b"Widget");
        match looks_of(document, it, is_field)? {
            Some(looks) => {
                if let Some(matrix) = placement(document, it, &looks.stream.dict) {
                    forms.push((looks.place, looks.stream, matrix));
                }
            }
            None if is_field => {}
            None => kept.push(object.clone()),
        }
    }
    for (form, mut stream, matrix) in forms {
        stream.dict.set("Type", "XObject");
        stream.dict.set("Subtype", "Form");
        let form = match form {
            Some(form) => {
                document.objects.insert(form, stream.into());
                form
            }
            None => document.add_object(stream),
        };
        stamps.push(Drawing {
            form,
            matrix,
            opacity: 1.0,
        });
    }
    overlay(document, page, &stamps, Layer::Above, balance)?;
    let page = document.get_dictionary_mut(page)?;
    match kept.is_empty() {
        true => drop(page.remove(b"Annots")),
        false => page.set("Annots", kept),
    }
    Ok(())
}

/// The normal appearance in the annotation's current state.
fn appearance<'a>(
    document: &'a Document,
    annotation: &'a Dictionary,
) -> Option<(Option<ObjectId>, &'a Stream)> {
    let looks = value(document, annotation, b"AP")?.as_dict().ok()?;
    let mut normal = looks.get(b"N").ok()?;
    if let Object::Dictionary(states) = resolve(document, normal)? {
        let state = value(document, annotation, b"AS")?.as_name().ok()?;
        normal = states.get(state).ok()?;
    }
    let (id, object) = document.dereference(normal).ok()?;
    Some((id, object.as_stream().ok()?))
}

/// Whether a text field has a value that its appearance does not show: where the form says so
/// (`NeedAppearances`), readers draw it.
pub(crate) fn hides_value(document: &Document, widget: &Dictionary) -> bool {
    let has_value = match annotation::of_field(document, widget, b"V") {
        Some(Object::String(text, _)) => !text.is_empty(),
        Some(Object::Array(list)) => !list.is_empty(),
        Some(Object::Stream(_)) => true,
        _ => false,
    };
    let stream = appearance(document, widget).map(|(_, stream)| stream);
    has_value && needs_looks(document, widget, stream)
}

/// Whether readers draw the values of fields themselves.
pub(crate) fn needs_appearances(document: &Document) -> bool {
    let form = form(document);
    form.and_then(|form| value(document, form, b"NeedAppearances")) == Some(&Object::Boolean(true))
}

/// The appearance to draw; for a text field whose appearance shows no text, one generated from its
/// value.
fn looks_of(
    document: &Document,
    annotation: &Dictionary,
    is_field: bool,
) -> Result<Option<Looks>, Error> {
    let found = appearance(document, annotation);
    let stream = found.map(|(_, stream)| stream);
    if is_field
        && needs_looks(document, annotation, stream)
        && let Some(stream) = field::looks(document, annotation, form(document))?
    {
        let place = None;
        return Ok(Some(Looks { place, stream }));
    }
    Ok(found.map(|(place, stream)| Looks {
        place,
        stream: stream.clone(),
    }))
}

pub(crate) fn numbers<const N: usize>(
    document: &Document,
    object: Option<&Object>,
) -> Option<[f32; N]> {
    let list = array(document, object);
    if list.len() != N {
        return None;
    }
    let number = |it: &Object| resolve(document, it)?.as_float().ok();
    let list: Option<Vec<f32>> = list.iter().map(number).collect();
    list?.try_into().ok()
}

/// The matrix that maps an appearance to its rectangle (algorithm 8); `None` if either has no area.
fn placement(document: &Document, annotation: &Dictionary, form: &Dictionary) -> Option<[f32; 6]> {
    let [x1, y1, x2, y2] = numbers(document, annotation.get(b"Rect").ok())?;
    let (left, bottom, right, top) = (x1.min(x2), y1.min(y2), x1.max(x2), y1.max(y2));
    let [bx1, by1, bx2, by2]: [f32; 4] = numbers(document, form.get(b"BBox").ok())?;
    let matrix = numbers(document, form.get(b"Matrix").ok());
    let [a, b, c, d, e, f]: [f32; 6] = matrix.unwrap_or([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let corners = [(bx1, by1), (bx1, by2), (bx2, by1), (bx2, by2)];
    let corners = corners.map(|(x, y)| (a * x + c * y + e, b * x + d * y + f));
    let bound = |pick: fn(&(f32, f32)) -> f32, fold: fn(f32, f32) -> f32| {
        corners.iter().map(pick).reduce(fold).unwrap_or(0.0)
    };
    let (min_x, max_x) = (bound(|it| it.0, f32::min), bound(|it| it.0, f32::max));
    let (min_y, max_y) = (bound(|it| it.1, f32::min), bound(|it| it.1, f32::max));
    let (width, height) = (max_x - min_x, max_y - min_y);
    if !(width > 0.0 && height > 0.0 && right > left && top > bottom) {
        return None;
    }
    let (sx, sy) = ((right - left) / width, (top - bottom) / height);
    Some([sx, 0.0, 0.0, sy, left - min_x * sx, bottom - min_y * sy])
}
