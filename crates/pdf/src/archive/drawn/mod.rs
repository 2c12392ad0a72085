//! What the content of a file draws, operation by operation: the glyphs of each font, and what archival
//! content must not do.

mod operation;

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use super::{
    dictionaries::name,
    operations::{self, Part},
    operators::{Devices, picture_problems},
};
use crate::{
    Error,
    annotation::annotations,
    open::{dictionary as dictionary_of, resolve, value},
    page_form::inherited,
    text::Font,
};

/// Maximum size of the content of a page or form, in bytes.
const MAX_CONTENT: usize = 64 << 20;
/// Maximum number of operations of a file that are looked at.
const MAX_OPERATIONS: usize = 50_000_000;
/// Maximum number of codes of all fonts that are remembered.
const MAX_CODES: usize = 2_000_000;
/// How many of them are looked at before the work may end.
const CHECKED: usize = 4_096;
/// Maximum depth of forms inside of each other.
const MAX_DEPTH: usize = 28;
/// How deep `q` may be inside of `q` (ISO 19005-2, 6.1.13).
const MAX_SAVED: usize = 28;
const DEEP: &str = "its content is nested too deeply (6.2.2)";
const UNREADABLE: &str = "its content is damaged or too large (6.2.2)";

/// A font, and the codes that are shown of it: their numbers of bytes, and their values.
pub(super) struct Shown<'a> {
    pub(super) dictionary: &'a Dictionary,
    pub(super) font: Rc<Font>,
    pub(super) codes: HashSet<(usize, u32)>,
    /// Whether text is shown in it, be it empty.
    pub(super) is_shown: bool,
}

/// What is drawn.
#[derive(Default)]
pub(super) struct Drawn<'a> {
    /// Fonts, in the order in which they are first shown.
    pub(super) fonts: Vec<Shown<'a>>,
    /// Forms without resources that use those of what draws them.
    pub(super) borrowing: HashMap<ObjectId, &'a Dictionary>,
    /// Colors that content draws in.
    pub(super) devices: Devices,
    /// Rules that content breaks.
    pub(super) reasons: Vec<String>,
}

/// Looks at everything that pages draw, also by annotations, patterns, masks and fonts. `checkpoint` is
/// called every few thousand operations.
///
/// # Errors
/// There is too much of it.
pub(super) fn look<'a>(
    document: &'a Document,
    checkpoint: &'a dyn Fn(),
) -> Result<Drawn<'a>, Error> {
    let mut walker = Walker {
        document,
        checkpoint,
        drawn: Drawn::default(),
        known: HashMap::new(),
        seen: HashSet::new(),
        left: MAX_OPERATIONS,
        until: CHECKED,
        names_something: false,
        open: 0,
        codes_left: MAX_CODES,
        around: None,
    };
    for page in document.page_iter() {
        checkpoint();
        let entries = document.get_dictionary(page)?;
        let resources = inherited(document, entries, b"Resources").and_then(|it| it.as_dict().ok());
        let content = walker.page(page)?;
        walker.open = content.len();
        let state = State {
            font: None,
            is_invisible: false,
        };
        walker.around = resources;
        walker.resources(resources, 0)?;
        walker.content(&content, resources, state, 0)?;
        for annotation in annotations(document, page) {
            let looks = dictionary_of(document, annotation)
                .and_then(|it| value(document, it, b"AP")?.as_dict().ok());
            let Some(normal) = looks.and_then(|it| it.get(b"N").ok()) else {
                continue;
            };
            walker.look(normal, resources)?;
        }
    }
    Ok(walker.drawn)
}

fn too_much() -> Error {
    Error::TooLarge {
        what: "operations of content",
        count: MAX_OPERATIONS + 1,
        most: MAX_OPERATIONS,
    }
}

/// What of the graphics state says which glyphs are seen.
#[derive(Clone)]
struct State {
    /// The number of the font in [`Drawn::fonts`].
    font: Option<usize>,
    is_invisible: bool,
}

struct Walker<'a> {
    document: &'a Document,
    checkpoint: &'a dyn Fn(),
    drawn: Drawn<'a>,
    /// Numbers of fonts, by the address of their dictionary, which does not move.
    known: HashMap<usize, usize>,
    /// Streams that were looked at, with their resources, the font before them, and whether it is seen.
    seen: HashSet<(usize, usize, Option<usize>, bool)>,
    left: usize,
    until: usize,
    /// Whether the content that is looked at names a resource.
    names_something: bool,
    /// Size of the content that is looked at, with that around it, in bytes.
    open: usize,
    /// How many codes of all fonts may still be remembered.
    codes_left: usize,
    /// Resources of the page that is looked at.
    around: Option<&'a Dictionary>,
}

fn address<T>(of: &T) -> usize {
    std::ptr::from_ref(of).addr()
}

impl<'a> Walker<'a> {
    fn spend(&mut self, operations: usize) -> Result<(), Error> {
        self.left = self.left.checked_sub(operations).ok_or_else(too_much)?;
        self.until = self.until.saturating_sub(operations);
        if self.until == 0 {
            self.until = CHECKED;
            (self.checkpoint)();
        }
        Ok(())
    }

    /// The content of a stream; `None` if it cannot be unpacked.
    fn unpacked(&mut self, stream: &Stream) -> Result<Option<Vec<u8>>, Error> {
        (self.checkpoint)();
        let content = stream.get_plain_content_with_limit(MAX_CONTENT).ok();
        // What cannot be unpacked may have been nearly as much.
        self.spend(content.as_ref().map_or(MAX_CONTENT, Vec::len) / 64)?;
        if content.is_none() {
            self.refuse(UNREADABLE);
        }
        Ok(content)
    }

    /// The content of a page.
    fn page(&mut self, page: ObjectId) -> Result<Vec<u8>, Error> {
        let mut content = Vec::new();
        for id in self.document.get_page_contents(page) {
            let Ok(Object::Stream(stream)) = self.document.get_object(id) else {
                continue;
            };
            content.extend(self.unpacked(stream)?.into_iter().flatten());
            content.push(b'\n');
            if content.len() > MAX_CONTENT {
                return Err(too_much());
            }
        }
        Ok(content)
    }

    fn refuse(&mut self, reason: &str) {
        if !self.drawn.reasons.iter().any(|known| known == reason) {
            self.drawn.reasons.push(reason.to_owned());
        }
    }

    /// What an annotation shows: a stream, or one for each of its states.
    fn look(&mut self, normal: &'a Object, page: Option<&'a Dictionary>) -> Result<(), Error> {
        let document = self.document;
        let state = State {
            font: None,
            is_invisible: false,
        };
        match document.dereference(normal) {
            Ok((id, Object::Stream(form))) => self.form(form, id, page, state, 1),
            Ok((_, Object::Dictionary(states))) => {
                for (_, one) in states {
                    if let Ok((id, Object::Stream(form))) = document.dereference(one) {
                        self.form(form, id, page, state.clone(), 1)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// What resources have besides what content names: patterns, masks, and the drawings of fonts.
    fn resources(&mut self, resources: Option<&'a Dictionary>, depth: usize) -> Result<(), Error> {
        let document = self.document;
        let Some(resources) = resources else {
            return Ok(());
        };
        if depth > MAX_DEPTH {
            self.refuse(DEEP);
            return Ok(());
        }
        if !self.seen.insert((address(resources), 0, None, false)) {
            return Ok(());
        }
        let all = |key: &[u8]| value(document, resources, key).and_then(|it| it.as_dict().ok());
        let state = State {
            font: None,
            is_invisible: false,
        };
        for (_, pattern) in all(b"Pattern").into_iter().flatten() {
            if let Ok((id, Object::Stream(pattern))) = document.dereference(pattern) {
                self.form(pattern, id, Some(resources), state.clone(), depth + 1)?;
            }
        }
        for (_, entry) in all(b"ExtGState").into_iter().flatten() {
            let mask = dictionary_of(document, entry)
                .and_then(|it| value(document, it, b"SMask")?.as_dict().ok());
            let group = mask.and_then(|it| it.get(b"G").ok());
            if let Some(Ok((id, Object::Stream(group)))) = group.map(|it| document.dereference(it))
            {
                self.form(group, id, Some(resources), state.clone(), depth + 1)?;
            }
        }
        for (_, font) in all(b"Font").into_iter().flatten() {
            let Some(font) = dictionary_of(document, font) else {
                continue;
            };
            if name(font, b"Subtype") != Some(b"Type3") {
                continue;
            }
            let own = value(document, font, b"Resources").and_then(|it| it.as_dict().ok());
            let glyphs = value(document, font, b"CharProcs").and_then(|it| it.as_dict().ok());
            let outside = std::mem::take(&mut self.names_something);
            for (_, glyph) in glyphs.into_iter().flatten() {
                if let Some(glyph) = resolve(document, glyph).and_then(|it| it.as_stream().ok()) {
                    self.stream(glyph, own.or(Some(resources)), state.clone(), depth + 1)?;
                }
            }
            if std::mem::replace(&mut self.names_something, outside) && own.is_none() {
                self.refuse("a font of drawings has no resources of its own (6.2.2)");
            }
            self.resources(own, depth + 1)?;
        }
        Ok(())
    }

    /// A form, with its own resources, or with those of what draws it.
    fn form(
        &mut self,
        form: &'a Stream,
        id: Option<ObjectId>,
        around: Option<&'a Dictionary>,
        state: State,
        depth: usize,
    ) -> Result<(), Error> {
        let own = value(self.document, &form.dict, b"Resources").and_then(|it| it.as_dict().ok());
        if depth > MAX_DEPTH {
            self.refuse(DEEP);
            return Ok(());
        }
        self.resources(own, depth + 1)?;
        let outside = std::mem::take(&mut self.names_something);
        self.stream(form, own.or(around), state, depth)?;
        let borrows = std::mem::replace(&mut self.names_something, outside);
        if let (true, None, Some(id), Some(around)) = (borrows, own, id, around) {
            let lender = *self.drawn.borrowing.entry(id).or_insert(around);
            if !std::ptr::eq(lender, around) && lender != around {
                self.refuse("a form has no resources of its own, and several pages lend it different ones (6.2.2)");
            }
        }
        Ok(())
    }

    fn stream(
        &mut self,
        stream: &'a Stream,
        resources: Option<&'a Dictionary>,
        state: State,
        depth: usize,
    ) -> Result<(), Error> {
        let of = (address(stream), resources.map_or(0, address));
        if depth > MAX_DEPTH {
            self.refuse(DEEP);
            return Ok(());
        }
        let key = (of.0, of.1, state.font, state.is_invisible);
        if !self.seen.insert(key) {
            return Ok(());
        }
        let Some(content) = self.unpacked(stream)? else {
            return Ok(());
        };
        // Forms inside of each other are held at once.
        self.open += content.len();
        if self.open > MAX_CONTENT {
            return Err(too_much());
        }
        self.content(&content, resources, state, depth)?;
        self.open -= content.len();
        Ok(())
    }

    fn content(
        &mut self,
        content: &[u8],
        resources: Option<&'a Dictionary>,
        state: State,
        depth: usize,
    ) -> Result<(), Error> {
        let mut states = vec![state];
        let is_whole = operations::each(content, &mut |part| {
            self.spend(1)?;
            match part {
                Part::Picture(entries, _) => {
                    for problem in picture_problems(&entries, &mut self.drawn.devices) {
                        self.refuse(problem);
                    }
                }
                Part::Operation(operation) => {
                    self.operation(&operation, resources, &mut states, depth)?;
                }
            }
            Ok(())
        })?;
        if !is_whole {
            self.refuse(UNREADABLE);
        }
        Ok(())
    }
}
