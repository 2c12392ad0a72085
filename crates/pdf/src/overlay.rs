//! Draws form XObjects on a page, below or above its content, as artifacts (14.8.2.2): they are no
//! part of what a tagged page says.

use std::fmt::Write as _;

use lopdf::{Dictionary, Document, Object, ObjectId, Stream, dictionary};

use crate::{
    Error,
    copy::inherited,
    open::{resolve, value},
};

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

/// Draws on a page, whose own content keeps its graphics state to itself.
pub(crate) fn overlay(
    document: &mut Document,
    page: ObjectId,
    drawings: &[Drawing],
    layer: Layer,
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
            streams.insert(0, stream(document, "q\n".to_owned()));
            streams.push(stream(document, format!("\nQ\n{text}")));
        }
    }
    resources.set("XObject", objects);
    if !states.is_empty() {
        resources.set("ExtGState", states);
    }
    let page = document.get_dictionary_mut(page)?;
    page.set("Contents", streams);
    page.set("Resources", resources);
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
