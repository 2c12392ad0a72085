//! New content, piece by piece, and the marked content in it (14.6).

use std::collections::HashSet;

use lopdf::{Dictionary, Object, ObjectId, content::Operation};

use super::{
    path::Path,
    rewriter::Rewriter,
    taken::{Taken, impossible},
};
use crate::{Error, open::value, write::write_object};

/// Maximum depth of marked content.
const MAX_MARKS: usize = 1_024;
/// What a piece of marked content says instead of what it shows (14.9.3 to 14.9.5; ISO 32000-2,
/// 14.9.6).
pub(super) const SAID: [&[u8]; 5] = [b"ActualText", b"Alt", b"E", b"T", b"Phoneme"];
/// What else its properties are: numbers, kinds, and places. All others may say or hold what it shows,
/// such as the metadata of a picture that was placed.
const KEPT: [&[u8]; 6] = [b"MCID", b"Lang", b"Type", b"Subtype", b"Attached", b"BBox"];

/// Maximum length of what is kept of them, in bytes or objects.
const MAX_KEPT: usize = 64;

/// New content.
#[derive(Default)]
pub(super) struct Part {
    pieces: Vec<Piece>,
    /// Names of objects that it draws, as they were.
    pub(super) used: HashSet<Vec<u8>>,
    /// Names of new objects that it draws.
    pub(super) added: Vec<(Vec<u8>, ObjectId)>,
    pub(super) is_changed: bool,
    /// Whether it draws what may use other objects of its resources.
    pub(super) keeps_all: bool,
}

enum Piece {
    Bytes(Vec<u8>),
    /// The beginning of marked content, and the same without what it says; the latter counts if
    /// something of it was taken out.
    Mark {
        whole: Vec<u8>,
        silent: Vec<u8>,
        /// What it says, if that stands among the resources.
        named: Option<(usize, Vec<u8>)>,
        lost: bool,
    },
}

/// Content while it is gone through.
pub(super) struct Walk<'r> {
    pub(super) resources: Option<&'r Dictionary>,
    pub(super) depth: usize,
    pub(super) part: Part,
    pub(super) path: Path,
    /// Whether a text object is open.
    pub(super) is_in_text: bool,
    /// Open pieces of marked content: where they are among the pieces, and their numbers.
    pub(super) marks: Vec<(Option<usize>, Option<i64>)>,
}

impl Walk<'_> {
    /// Says that something was taken out of where the content is now.
    pub(super) fn lose(&mut self, taken: &mut Taken) {
        taken.count += 1;
        self.part.is_changed = true;
        for (piece, number) in &self.marks {
            if let Some(Piece::Mark { lost, .. }) =
                piece.and_then(|at| self.part.pieces.get_mut(at))
            {
                *lost = true;
            }
            match number {
                Some(number) if self.depth == 0 => drop(taken.marked.insert(*number)),
                Some(_) => taken.of_forms = true,
                None => {}
            }
        }
    }
}

impl<'r> Walk<'r> {
    pub(super) fn new(resources: Option<&'r Dictionary>, depth: usize) -> Self {
        Self {
            resources,
            depth,
            part: Part::default(),
            path: Path::default(),
            is_in_text: false,
            marks: Vec::new(),
        }
    }
}

impl Part {
    pub(super) fn put(&mut self, operation: &Operation) {
        if !matches!(self.pieces.last(), Some(Piece::Bytes(_))) {
            self.pieces.push(Piece::Bytes(Vec::new()));
        }
        if let Some(Piece::Bytes(bytes)) = self.pieces.last_mut() {
            write_operation(bytes, operation);
        }
    }

    /// Puts bytes that are whole operations.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.pieces.push(Piece::Bytes([bytes, b"\n"].concat()));
    }

    /// Properties of marked content that lost something, as they are written among the resources.
    pub(super) fn lost(&self) -> impl Iterator<Item = &(usize, Vec<u8>)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Mark {
                named, lost: true, ..
            } => named.as_ref(),
            _ => None,
        })
    }

    /// The content.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for piece in &self.pieces {
            bytes.extend(match piece {
                Piece::Bytes(bytes) => bytes,
                Piece::Mark {
                    silent, lost: true, ..
                } => silent,
                Piece::Mark { whole, .. } => whole,
            });
        }
        bytes
    }
}

/// Whether properties of marked content neither say nor hold what it shows.
pub(super) fn is_silent(properties: &Dictionary) -> bool {
    properties
        .iter()
        .all(|(key, _)| KEPT.contains(&key.as_slice()))
}

/// Properties of marked content without what says or holds what it shows.
pub(super) fn reduced(properties: &Dictionary) -> Dictionary {
    let is_short = |object: &Object| match object {
        Object::Integer(_) | Object::Real(_) | Object::Boolean(_) => true,
        Object::Name(bytes) | Object::String(bytes, _) => bytes.len() <= MAX_KEPT,
        _ => false,
    };
    let mut made = Dictionary::new();
    for key in KEPT {
        if let Ok(value) = properties.get(key) {
            let is_kept = match value {
                Object::Array(list) => list.len() <= MAX_KEPT && list.iter().all(is_short),
                value => is_short(value),
            };
            if is_kept {
                made.set(key, value.clone());
            }
        }
    }
    made
}

/// Whether properties are those of a layer (8.11.2), which is found by them.
pub(super) fn is_layer(properties: &Dictionary) -> bool {
    properties.has_type(b"OCG") || properties.has_type(b"OCMD")
}

/// A dictionary as it is written.
pub(super) fn written(dictionary: &Dictionary) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_object(&mut bytes, &Object::Dictionary(dictionary.clone()));
    bytes
}

/// How many objects a dictionary has in itself.
pub(super) fn weight(dictionary: &Dictionary) -> usize {
    fn of(object: &Object) -> usize {
        1 + match object {
            Object::Array(list) => list.iter().map(of).sum(),
            Object::Dictionary(entries) => entries.iter().map(|(_, it)| of(it)).sum(),
            Object::String(bytes, _) | Object::Name(bytes) => bytes.len() / 8,
            _ => 0,
        }
    }
    dictionary.iter().map(|(_, object)| of(object)).sum()
}

fn write_operation(bytes: &mut Vec<u8>, operation: &Operation) {
    for operand in &operation.operands {
        write_object(bytes, operand);
        bytes.push(b' ');
    }
    bytes.extend(operation.operator.as_bytes());
    bytes.push(b'\n');
}

impl Rewriter<'_> {
    pub(super) fn open_mark(
        &mut self,
        operation: &Operation,
        walk: &mut Walk<'_>,
    ) -> Result<(), Error> {
        if walk.marks.len() >= MAX_MARKS {
            return Err(impossible("marked content is within itself too often"));
        }
        let properties = self.properties(operation, walk)?;
        let number = properties.and_then(|it| value(self.document, it, b"MCID")?.as_i64().ok());
        let Some((properties, quiet)) = self.quiet(operation, properties)? else {
            walk.part.put(operation);
            walk.marks.push((None, number));
            return Ok(());
        };
        let is_named = matches!(operation.operands.get(1), Some(Object::Name(_)));
        let named = is_named.then(|| (properties.len(), written(properties)));
        let (mut whole, mut silent) = (Vec::new(), Vec::new());
        write_operation(&mut whole, operation);
        write_operation(&mut silent, &quiet);
        let held = named.as_ref().map_or(0, |(_, written)| written.len());
        self.budget.make(held + whole.len() + silent.len())?;
        self.spend(whole.len() / 8)?;
        walk.marks.push((Some(walk.part.pieces.len()), number));
        walk.part.pieces.push(Piece::Mark {
            whole,
            silent,
            named,
            lost: false,
        });
        Ok(())
    }

    /// A point that is marked: what it says may be of anything.
    pub(super) fn mark_point(
        &mut self,
        operation: &Operation,
        walk: &mut Walk<'_>,
    ) -> Result<(), Error> {
        let properties = self.properties(operation, walk)?;
        match self.quiet(operation, properties)? {
            Some((_, quiet)) => walk.part.put(&quiet),
            None => walk.part.put(operation),
        }
        Ok(())
    }

    fn properties<'o>(
        &self,
        operation: &'o Operation,
        walk: &Walk<'o>,
    ) -> Result<Option<&'o Dictionary>, Error>
    where
        Self: 'o,
    {
        match operation.operands.get(1) {
            Some(Object::Dictionary(properties)) => Ok(Some(properties)),
            Some(Object::Name(name)) => {
                let found = walk.resources.and_then(|it| {
                    let all = value(self.document, it, b"Properties")?.as_dict().ok()?;
                    value(self.document, all, name)?.as_dict().ok()
                });
                // Some programs look for them among the resources of whoever draws the form.
                let missing = || impossible("properties of marked content are not there");
                found.ok_or_else(missing).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// An operation with its properties in place and reduced; `None` if they say nothing.
    fn quiet<'o>(
        &mut self,
        operation: &Operation,
        properties: Option<&'o Dictionary>,
    ) -> Result<Option<(&'o Dictionary, Operation)>, Error> {
        let Some(properties) = properties.filter(|it| !is_silent(it)) else {
            return Ok(None);
        };
        if is_layer(properties) {
            let says = SAID.iter().any(|key| properties.has(key));
            return match says {
                true => Err(impossible("a layer says what it shows")),
                false => Ok(None),
            };
        }
        self.spend(weight(properties))?;
        let mut quiet = operation.clone();
        if let Some(place) = quiet.operands.get_mut(1) {
            *place = reduced(properties).into();
        }
        Ok(Some((properties, quiet)))
    }
}
