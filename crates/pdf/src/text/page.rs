//! The content of pages, as far as it shows text (9.4).

use std::{collections::HashMap, rc::Rc};

use lopdf::{
    Dictionary, Document, Object, ObjectId,
    content::{Content, Operation},
};

use super::{
    TextParts,
    font::{Font, Shown},
    order::Chunk,
    plain,
    state::{Place, State, UNIT, floats},
};
use crate::{
    Error,
    copy::inherited,
    drawn::times,
    flatten::numbers,
    open::{dictionary as dictionary_of, value},
    page_form::MAX_CONTENT,
};

/// Maximum number of operations of all pages, and of forms wherever they are drawn. Glyphs, and what
/// is read of fonts and replacements, count as well.
const MAX_OPERATIONS: usize = 20_000_000;
/// The work may end before every so many of them.
const CHECKED: usize = 4_096;
/// Maximum size of the text of a page, in bytes.
const MAX_TEXT: usize = 16 << 20;
/// Maximum depth of forms within forms, saved graphics states and marked content.
const MAX_DEPTH: usize = 12;
const MAX_SAVED: usize = 64;
const MAX_MARKS: usize = 256;
/// Maximum number of pieces of text of a page.
const MAX_CHUNKS: usize = 200_000;
/// Fonts that are held at once.
const MAX_FONTS: usize = 64;

/// Reads pages of a document.
pub(super) struct Reader<'a> {
    document: &'a Document,
    checkpoint: &'a dyn Fn(),
    fonts: HashMap<ObjectId, Rc<Font>>,
    left: usize,
    /// How many operations were left when the work might end last.
    checked: usize,
    /// Size of the text of the page so far, in bytes.
    size: usize,
    /// Number of glyphs so far.
    glyphs: usize,
    /// What is known of the page so far.
    chunks: Vec<Chunk>,
    current: Option<Chunk>,
    unknown: usize,
    /// Open pieces of marked content.
    marks: Vec<Mark>,
    /// How many of them are artifacts.
    artifacts: usize,
    parts: TextParts,
}

/// A piece of marked content.
struct Mark {
    /// What it says instead of its glyphs.
    replacement: Option<Replacement>,
    is_artifact: bool,
}

struct Replacement {
    text: String,
    /// Whether it was said.
    is_taken: bool,
}

impl<'a> Reader<'a> {
    /// `checkpoint` is called every few thousand operations.
    pub(super) fn new(document: &'a Document, parts: TextParts, checkpoint: &'a dyn Fn()) -> Self {
        Self {
            document,
            checkpoint,
            fonts: HashMap::new(),
            left: MAX_OPERATIONS,
            checked: MAX_OPERATIONS,
            size: 0,
            glyphs: 0,
            chunks: Vec::new(),
            current: None,
            unknown: 0,
            marks: Vec::new(),
            artifacts: 0,
            parts,
        }
    }

    /// The pieces of text of a page, and the number of characters without Unicode.
    pub(super) fn page(&mut self, page: ObjectId) -> Result<(Vec<Chunk>, usize), Error> {
        let document = self.document;
        let entries = document.get_dictionary(page)?;
        let content = document.get_page_content_with_limit(page, MAX_CONTENT)?;
        let resources = inherited(document, entries, b"Resources");
        let resources = resources
            .as_ref()
            .and_then(|it| dictionary_of(document, it));
        let rotation = inherited(document, entries, b"Rotate").and_then(|it| it.as_i64().ok());
        let state = State::new(match rotation.unwrap_or(0).rem_euclid(360) {
            90 => [0.0, -1.0, 1.0, 0.0, 0.0, 0.0],
            180 => [-1.0, 0.0, 0.0, -1.0, 0.0, 0.0],
            270 => [0.0, 1.0, -1.0, 0.0, 0.0, 0.0],
            _ => UNIT,
        });
        self.marks.clear();
        self.artifacts = 0;
        self.size = 0;
        self.content(&content, resources, state, 0)?;
        self.finish_chunk();
        let unknown = std::mem::take(&mut self.unknown);
        Ok((std::mem::take(&mut self.chunks), unknown))
    }

    fn content(
        &mut self,
        content: &[u8],
        resources: Option<&Dictionary>,
        mut state: State,
        depth: usize,
    ) -> Result<(), Error> {
        let mut saved = Vec::new();
        let mut place = Place::default();
        for operation in Content::decode_iter(content).map_while(Result::ok) {
            self.spend(1)?;
            match operation.operator.as_str() {
                "q" if saved.len() < MAX_SAVED => saved.push(state.clone()),
                "Q" => state = saved.pop().unwrap_or(state),
                "cm" => {
                    if let Some(change) = floats(&operation.operands) {
                        state.matrix = times(change, state.matrix);
                    }
                }
                "Do" => self.draw(&operation, resources, &state, depth)?,
                "Tf" => self.set_font(&operation.operands, resources, &mut state)?,
                "BMC" | "BDC" => self.open_mark(&operation, resources)?,
                "EMC" => {
                    let closed = self.marks.pop();
                    self.artifacts -= usize::from(closed.is_some_and(|it| it.is_artifact));
                }
                _ => self.text(&operation, &mut state, &mut place)?,
            }
        }
        Ok(())
    }

    /// Counts work that is to be done.
    fn spend(&mut self, operations: usize) -> Result<(), Error> {
        self.left = self.left.saturating_sub(operations);
        if self.checked - self.left >= CHECKED {
            self.checked = self.left;
            (self.checkpoint)();
        }
        let is_within = self.left > 0 && self.chunks.len() <= MAX_CHUNKS && self.size <= MAX_TEXT;
        match is_within {
            true => Ok(()),
            false => Err(Error::TooLarge {
                what: "operations of text",
                count: MAX_OPERATIONS,
                most: MAX_OPERATIONS,
            }),
        }
    }

    fn draw(
        &mut self,
        operation: &Operation,
        resources: Option<&Dictionary>,
        state: &State,
        depth: usize,
    ) -> Result<(), Error> {
        let document = self.document;
        let found = (|| {
            let objects = value(document, resources?, b"XObject")?.as_dict().ok()?;
            let name = operation.operands.first()?.as_name().ok()?;
            value(document, objects, name)?.as_stream().ok()
        })();
        let Some(form) = found else { return Ok(()) };
        let kind = value(document, &form.dict, b"Subtype").and_then(|it| it.as_name().ok());
        if kind != Some(b"Form") || depth == MAX_DEPTH {
            return Ok(());
        }
        let Ok(content) = form.get_plain_content_with_limit(MAX_CONTENT) else {
            return Ok(());
        };
        self.spend(content.len() / 8)?;
        let mut state = state.clone();
        if let Some(own) = numbers::<6>(document, form.dict.get(b"Matrix").ok()) {
            state.matrix = times(own, state.matrix);
        }
        let own = value(document, &form.dict, b"Resources").and_then(|it| it.as_dict().ok());
        self.content(&content, own.or(resources), state, depth + 1)
    }

    fn set_font(
        &mut self,
        operands: &[Object],
        resources: Option<&Dictionary>,
        state: &mut State,
    ) -> Result<(), Error> {
        let document = self.document;
        let [Object::Name(name), size] = operands else {
            return Ok(());
        };
        state.size = size.as_float().unwrap_or(0.0);
        let fonts = resources.and_then(|it| value(document, it, b"Font")?.as_dict().ok());
        let entry = fonts.and_then(|fonts| fonts.get(name).ok());
        let id = entry.and_then(|it| it.as_reference().ok());
        if let Some(known) = id.and_then(|id| self.fonts.get(&id)) {
            state.font = Some(Rc::clone(known));
            return Ok(());
        }
        let font = entry.and_then(|it| dictionary_of(document, it));
        let font = font.map(|font| Rc::new(Font::read(document, font)));
        // One that is not held is read again and again.
        self.spend(font.as_ref().map_or(0, |font| font.cost()))?;
        if let (Some(id), Some(font)) = (id, &font) {
            if self.fonts.len() >= MAX_FONTS {
                self.fonts.clear();
            }
            self.fonts.insert(id, Rc::clone(font));
        }
        state.font = font;
        Ok(())
    }

    /// Content with `ActualText` says something else than its glyphs (14.9.4); artifacts are no part
    /// of what a page says (14.8.2.2).
    fn open_mark(
        &mut self,
        operation: &Operation,
        resources: Option<&Dictionary>,
    ) -> Result<(), Error> {
        let document = self.document;
        let properties = match operation.operands.get(1) {
            Some(Object::Dictionary(properties)) => Some(properties),
            Some(Object::Name(name)) => resources
                .and_then(|it| value(document, it, b"Properties")?.as_dict().ok())
                .and_then(|all| value(document, all, name)?.as_dict().ok()),
            _ => None,
        };
        let text = properties.and_then(|it| value(document, it, b"ActualText"));
        let length = text
            .and_then(|text| text.as_str().ok())
            .map_or(0, <[u8]>::len);
        self.spend(length)?;
        let text = text.and_then(|text| lopdf::decode_text_string(text).ok());
        if self.marks.len() < MAX_MARKS {
            let tag = operation.operands.first().and_then(|it| it.as_name().ok());
            let is_artifact = tag == Some(b"Artifact");
            self.artifacts += usize::from(is_artifact);
            self.marks.push(Mark {
                replacement: text.map(|text| Replacement {
                    text,
                    is_taken: false,
                }),
                is_artifact,
            });
        }
        Ok(())
    }

    fn text(
        &mut self,
        operation: &Operation,
        state: &mut State,
        place: &mut Place,
    ) -> Result<(), Error> {
        let operands = &operation.operands;
        match operation.operator.as_str() {
            "'" | "\"" => {
                state.set(operation, place);
                self.show(operands.last(), state, place)?;
            }
            "Tj" => self.show(operands.first(), state, place)?,
            "TJ" => {
                let list = operands.first().and_then(|it| it.as_array().ok());
                for object in list.into_iter().flatten() {
                    match object.as_float() {
                        Ok(back) => state.back(back, place),
                        Err(_) => self.show(Some(object), state, place)?,
                    }
                }
            }
            _ => state.set(operation, place),
        }
        Ok(())
    }

    fn show(
        &mut self,
        object: Option<&Object>,
        state: &State,
        place: &mut Place,
    ) -> Result<(), Error> {
        let (Some(Object::String(bytes, _)), Some(font)) = (object, state.font.clone()) else {
            return Ok(());
        };
        self.spend(bytes.len())?;
        let is_left_out = (state.is_invisible && !self.parts.invisible)
            || (self.artifacts > 0 && !self.parts.artifacts);
        font.each(bytes, &mut |glyph: Shown| {
            let extra = match glyph.is_space {
                true => state.spacing + state.word_spacing,
                false => state.spacing,
            };
            let width = match font.is_vertical {
                true => -1.0,
                false => glyph.width,
            };
            let begin = times([1.0, 0.0, 0.0, 1.0, 0.0, state.rise], place.now);
            let begin = times(begin, state.matrix);
            let by = width * state.size;
            place.advance(by, state.stretch, font.is_vertical);
            let end = times([1.0, 0.0, 0.0, 1.0, 0.0, state.rise], place.now);
            let end = times(end, state.matrix);
            place.advance(extra, state.stretch, font.is_vertical);
            if is_left_out {
                return;
            }
            let high = state.size.abs() * begin[2].hypot(begin[3]);
            self.put(
                glyph.text,
                (begin[4], begin[5]),
                (end[4], end[5]),
                high,
                begin,
            );
        });
        self.spend(0)
    }

    /// Puts a glyph behind the text before it, or begins a new piece. What is too much is left out;
    /// it is an error soon.
    fn put(
        &mut self,
        text: Option<String>,
        begin: (f32, f32),
        end: (f32, f32),
        size: f32,
        matrix: [f32; 6],
    ) {
        self.glyphs += 1;
        if self.glyphs.is_multiple_of(CHECKED) {
            (self.checkpoint)();
        }
        if self.size > MAX_TEXT || self.chunks.len() > MAX_CHUNKS {
            return;
        }
        let mut replacements = self.marks.iter_mut();
        let text = match replacements.find_map(|mark| mark.replacement.as_mut()) {
            Some(replacement) if replacement.is_taken => String::new(),
            Some(replacement) => {
                replacement.is_taken = true;
                replacement.text.clone()
            }
            None => text.unwrap_or_else(|| {
                self.unknown += 1;
                "\u{fffd}".to_owned()
            }),
        };
        let text = plain(&text);
        self.size += text.len();
        let Some(next) = Chunk::new(text, begin, end, size, matrix) else {
            return;
        };
        match &mut self.current {
            Some(current) if current.takes(&next) => current.append(&next),
            _ => {
                self.finish_chunk();
                self.current = Some(next);
            }
        }
    }

    fn finish_chunk(&mut self) {
        if let Some(chunk) = self.current.take()
            && !chunk.is_blank()
        {
            self.chunks.push(chunk);
        }
    }
}
