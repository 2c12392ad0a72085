//! How large pictures are shown on pages (8.3, 8.9).

use std::collections::{HashMap, HashSet};

use lopdf::{Dictionary, Document, Object, ObjectId, content::Content};

use crate::{
    copy::inherited,
    drawn::times,
    flatten::numbers,
    open::{dictionary as dictionary_of, reference, value},
    page_form::MAX_CONTENT,
};

/// Maximum number of operations of all pages, and of forms wherever they are drawn.
const MAX_OPERATIONS: usize = 5_000_000;
/// The work may end before every so many of them.
const CHECKED: usize = 4_096;
/// Maximum depth of forms within forms, and of saved graphics states.
const MAX_DEPTH: usize = 12;
const MAX_SAVED: usize = 64;

/// The largest width and height, in points, at which pictures are drawn by pages and the forms on
/// them. A picture that something else draws, too (a pattern, an annotation, a glyph), is not among
/// them; none is if there is too much to look at.
pub(super) fn sizes(document: &Document, checkpoint: &dyn Fn()) -> HashMap<ObjectId, (f32, f32)> {
    let mut looking = Looking {
        document,
        checkpoint,
        found: HashMap::new(),
        left: MAX_OPERATIONS,
    };
    for page in document.page_iter() {
        checkpoint();
        let (Ok(entries), Ok(content)) = (
            document.get_dictionary(page),
            document.get_page_content_with_limit(page, MAX_CONTENT),
        ) else {
            return HashMap::new();
        };
        let resources = inherited(document, entries, b"Resources");
        let resources = resources
            .as_ref()
            .and_then(|it| dictionary_of(document, it));
        let unit = value(document, entries, b"UserUnit").and_then(|it| it.as_float().ok());
        let unit = unit.unwrap_or(1.0);
        let matrix = [unit, 0.0, 0.0, unit, 0.0, 0.0];
        looking.content(&content, resources, matrix, 0);
    }
    if looking.left == 0 {
        return HashMap::new();
    }
    let mut found = looking.found;
    for id in elsewhere(document) {
        found.remove(&id);
    }
    found
}

struct Looking<'a> {
    document: &'a Document,
    checkpoint: &'a dyn Fn(),
    found: HashMap<ObjectId, (f32, f32)>,
    left: usize,
}

impl Looking<'_> {
    fn content(
        &mut self,
        content: &[u8],
        resources: Option<&Dictionary>,
        matrix: [f32; 6],
        depth: usize,
    ) {
        let document = self.document;
        let objects = resources.and_then(|it| value(document, it, b"XObject"));
        let Some(Object::Dictionary(objects)) = objects else {
            return;
        };
        let mut saved = Vec::new();
        let mut now = matrix;
        for operation in Content::decode_iter(content).map_while(Result::ok) {
            self.left = self.left.saturating_sub(1);
            if self.left == 0 {
                return;
            }
            if self.left.is_multiple_of(CHECKED) {
                (self.checkpoint)();
            }
            match (operation.operator.as_str(), operation.operands.as_slice()) {
                ("q", _) if saved.len() < MAX_SAVED => saved.push(now),
                ("Q", _) => now = saved.pop().unwrap_or(now),
                ("cm", operands) => {
                    let change: Vec<f32> = operands
                        .iter()
                        .filter_map(|it| it.as_float().ok())
                        .collect();
                    if let Ok(change) = <[f32; 6]>::try_from(change) {
                        now = times(change, now);
                    }
                }
                ("Do", [Object::Name(name)]) => {
                    if let Some(id) = reference(objects, name) {
                        self.draw(id, resources, now, depth);
                    }
                }
                _ => {}
            }
        }
    }

    fn draw(
        &mut self,
        id: ObjectId,
        resources: Option<&Dictionary>,
        matrix: [f32; 6],
        depth: usize,
    ) {
        let document = self.document;
        let Some(Object::Stream(stream)) = document.objects.get(&id) else {
            return;
        };
        let kind = value(document, &stream.dict, b"Subtype").and_then(|it| it.as_name().ok());
        match kind {
            Some(b"Image") => {
                let [a, b, c, d, ..] = matrix;
                let (width, height) = (a.hypot(b), c.hypot(d));
                let known = self.found.entry(id).or_insert((0.0, 0.0));
                *known = (known.0.max(width), known.1.max(height));
            }
            Some(b"Form") if depth < MAX_DEPTH => {
                (self.checkpoint)();
                let Ok(content) = stream.get_plain_content_with_limit(MAX_CONTENT) else {
                    return;
                };
                let own = numbers::<6>(document, stream.dict.get(b"Matrix").ok());
                let matrix = own.map_or(matrix, |own| times(own, matrix));
                let own = value(document, &stream.dict, b"Resources");
                let own = own.and_then(|it| it.as_dict().ok()).or(resources);
                // A form costs something each time, even without content.
                self.left = self.left.saturating_sub(content.len() / 8 + 1);
                if self.left > 0 {
                    self.content(&content, own, matrix, depth + 1);
                }
            }
            _ => {}
        }
    }
}

/// Pictures that patterns, appearances of annotations and glyphs draw.
fn elsewhere(document: &Document) -> HashSet<ObjectId> {
    let mut found = HashSet::new();
    let mut add = |entries: &Dictionary| {
        let resources = value(document, entries, b"Resources").and_then(|it| it.as_dict().ok());
        let objects = resources.and_then(|it| value(document, it, b"XObject")?.as_dict().ok());
        for (_, object) in objects.into_iter().flatten() {
            found.extend(object.as_reference().ok());
        }
    };
    for object in document.objects.values() {
        match object {
            Object::Stream(stream) if stream.dict.has(b"PatternType") => add(&stream.dict),
            Object::Dictionary(font) if font.has(b"CharProcs") => add(font),
            Object::Dictionary(annotation) if annotation.has(b"AP") => {
                let all = value(document, annotation, b"AP").and_then(|it| it.as_dict().ok());
                for (_, look) in all.into_iter().flatten() {
                    let Some(look) = crate::open::resolve(document, look) else {
                        continue;
                    };
                    match look {
                        Object::Stream(stream) => add(&stream.dict),
                        Object::Dictionary(states) => {
                            for (_, state) in states {
                                if let Some(Object::Stream(stream)) =
                                    crate::open::resolve(document, state)
                                {
                                    add(&stream.dict);
                                }
                            }
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    found
}
