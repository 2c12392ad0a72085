//! Draws form XObjects on a page, below or above its content, as artifacts (14.8.2.2): they are no
//! part of what a tagged page says.

use std::{collections::HashMap, fmt::Write as _};

use lopdf::{Dictionary, Document, Object, ObjectId, Stream, dictionary};

use crate::{
    Error,
    copy::inherited,
    open::{resolve, value},
    words::unbalanced,
};

/// Maximum size of the content of a page that is looked at, and of that of all pages, in bytes.
const MAX_CONTENT: usize = 16 << 20;
const MAX_ALL_CONTENT: usize = 256 << 20;
/// How many saved graphics states of a page are restored.
const MAX_SAVED: usize = 256;

/// A form XObject to draw on a page.
pub(crate) struct Drawing {
    pub(crate) form: ObjectId,
    /// From the space of the form to that of the page.
    pub(crate) matrix: [f32; 6],
    /// From 0, which is invisible, to 1.
    pub(crate) opacity: f32,
}

/// Where drawings are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    Below,
    Above,
}

/// How often the content of pages saves the graphics state and restores it. What is beyond the limits
/// counts as balanced.
pub(crate) struct Balance {
    /// Bytes of content that may still be looked at.
    left: usize,
    /// Of streams of content, which many pages may share.
    known: HashMap<Vec<ObjectId>, (usize, usize)>,
}

impl Balance {
    pub(crate) fn new() -> Self {
        Self {
            left: MAX_ALL_CONTENT,
            known: HashMap::new(),
        }
    }

    /// How many states the content of a page saves and does not restore, and the other way around.
    fn of(&mut self, document: &Document, page: ObjectId) -> (usize, usize) {
        let streams = document.get_page_contents(page);
        if let Some(known) = self.known.get(&streams) {
            return *known;
        }
        let content = self.content(document, &streams);
        let (open, lacking) = content.map_or((0, 0), |content| unbalanced(&content));
        let found = (open.min(MAX_SAVED), lacking.min(MAX_SAVED));
        self.known.insert(streams, found);
        found
    }

    /// What was drawn above has balanced the content of a page.
    fn settle(&mut self, document: &Document, page: ObjectId) {
        self.known.insert(document.get_page_contents(page), (0, 0));
    }

    /// The content of a page; `None` if it is damaged or beyond the limits.
    fn content(&mut self, document: &Document, streams: &[ObjectId]) -> Option<Vec<u8>> {
        let mut content = Vec::new();
        for id in streams {
            let Ok(Object::Stream(stream)) = document.get_object(*id) else {
                continue;
            };
            let most = self.left.min(MAX_CONTENT.saturating_sub(content.len()));
            let part = stream.get_plain_content_with_limit(most).ok();
            // Until it failed, it may have been as long.
            let length = part.as_ref().map_or(most, Vec::len);
            self.left = self.left.saturating_sub(length + 1);
            content.extend(part?);
            content.push(b'\n');
        }
        Some(content)
    }
}

/// Draws on a page, whose own content keeps its graphics state to itself.
pub(crate) fn overlay(
    document: &mut Document,
    page: ObjectId,
    drawings: &[Drawing],
    layer: Layer,
    balance: &mut Balance,
) -> Result<(), Error> {
    if drawings.is_empty() {
        return Ok(());
    }
    let mut resources = resources_of(document, page)?;
    let mut streams = streams_of(document, page)?;
    let mut objects = part(document, &resources, b"XObject");
    let mut states = part(document, &resources, b"ExtGState");
    let mut text = String::new();
    for (index, drawing) in drawings.iter().enumerate() {
        let name = free(&objects, format!("Drawn{index}"));
        let [a, b, c, d, e, f] = drawing.matrix;
        text += "/Artifact BMC\nq\n";
        if drawing.opacity < 1.0 {
            let state = free(&states, format!("Seen{index}"));
            let _ = writeln!(text, "/{state} gs");
            let opacity = drawing.opacity.max(0.0);
            states.set(state, dictionary! { "ca" => opacity, "CA" => opacity });
        }
        let _ = write!(text, "{a} {b} {c} {d} {e} {f} cm\n/{name} Do\nQ\nEMC\n");
        objects.set(name, drawing.form);
    }
    match layer {
        Layer::Below => streams.insert(0, stream(document, text)),
        Layer::Above => {
            let (open, lacking) = balance.of(document, page);
            streams.insert(0, stream(document, "q\n".repeat(1 + lacking)));
            let end = "Q\n".repeat(1 + open);
            streams.push(stream(document, format!("\n{end}{text}")));
        }
    }
    resources.set("XObject", objects);
    if !states.is_empty() {
        resources.set("ExtGState", states);
    }
    let entries = document.get_dictionary_mut(page)?;
    entries.set("Contents", streams);
    entries.set("Resources", resources);
    if layer == Layer::Above {
        balance.settle(document, page);
    }
    Ok(())
}

fn stream(document: &mut Document, text: String) -> Object {
    let stream = Stream::new(Dictionary::new(), text.into_bytes());
    document.add_object(stream).into()
}

fn resources_of(document: &Document, page: ObjectId) -> Result<Dictionary, Error> {
    let resources = inherited(document, document.get_dictionary(page)?, b"Resources");
    let resources = resources.as_ref().and_then(|it| resolve(document, it));
    Ok(match resources {
        Some(Object::Dictionary(resources)) => resources.clone(),
        _ => Dictionary::new(),
    })
}

fn streams_of(document: &Document, page: ObjectId) -> Result<Vec<Object>, Error> {
    let contents = document.get_dictionary(page)?.get(b"Contents").ok();
    Ok(match contents.and_then(|it| resolve(document, it)) {
        Some(Object::Array(list)) => list.clone(),
        Some(Object::Stream(_)) => contents.cloned().into_iter().collect(),
        _ => Vec::new(),
    })
}

fn part(document: &Document, resources: &Dictionary, key: &[u8]) -> Dictionary {
    match value(document, resources, key) {
        Some(Object::Dictionary(part)) => part.clone(),
        _ => Dictionary::new(),
    }
}

/// A name that `known` does not have.
fn free(known: &Dictionary, mut name: String) -> String {
    while known.has(name.as_bytes()) {
        name.push('x');
    }
    name
}
