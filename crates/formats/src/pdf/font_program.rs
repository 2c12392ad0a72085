//! Font programs: the part of a face that a document embeds, ISO 32000-1 §9.9.
//!
//! Documents of one template often use the same glyphs of a face in the same order: always of the face of its
//! headings, and of the others where the data repeat. Such a program is made and compressed once
//! ([`FaceData::subset`]).

use platen_layout::{FaceData, Subset};
use skrifa::Tag;
use subsetter::GlyphRemapper;

use super::{
    error::Error,
    file::File,
    sfnt::{lean, table, without_instructions},
    syntax::Reference,
};

/// The part of a face that a document embeds.
pub(super) struct Program<'a> {
    data: &'a FaceData,
    /// PostScript name of the face.
    name: &'a str,
    /// Glyphs of the face by character code, which is the order of the program; the first is the one for
    /// characters that the face lacks.
    glyphs: &'a [u16],
}

/// A program that was written.
pub(super) struct Embedded {
    pub program: Reference,
    /// Whether it is in the compact font format (CFF), and else in TrueType.
    pub is_compact: bool,
}

impl<'a> Program<'a> {
    pub fn new(data: &'a FaceData, name: &'a str, glyphs: &'a [u16]) -> Self {
        Self { data, name, glyphs }
    }

    /// The six letters before the name of the subset, derived from its glyphs, ISO 32000-1 §9.6.4.
    pub fn tag(&self) -> String {
        use std::hash::Hasher;
        let mut hasher = rustc_hash::FxHasher::default();
        for glyph in self.glyphs {
            hasher.write_u16(*glyph);
        }
        for (_, value) in &self.data.variations {
            hasher.write_u32(value.to_bits());
        }
        let mut code = hasher.finish();
        let letters = (0..6).map(|_| {
            let letter = char::from(b'A' + (code % 26) as u8);
            code /= 26;
            letter
        });
        letters.collect()
    }

    /// Writes the program.
    ///
    /// # Errors
    /// [`Error::Font`] if the font is broken.
    pub fn write(&self, file: &mut File) -> Result<Embedded, Error> {
        let made = self.data.subset(self.glyphs, || self.made(file))?;
        let program = file.reserve();
        let entries = match made.is_compact {
            true => "/Subtype/CIDFontType0C".to_owned(),
            false => format!("/Length1 {}", made.length),
        };
        file.compressed_stream(program, &entries, &made.stream);
        Ok(Embedded {
            program,
            is_compact: made.is_compact,
        })
    }

    /// The program, compressed.
    fn made(&self, file: &mut File) -> Result<Subset, Error> {
        // Without instructions before or after, the subset is the same; before, it is made sooner.
        let lean = match self.data.variations.is_empty() {
            true => self.data.lean_file(|file| lean(file, self.name)),
            false => None,
        };
        let subset = self.subset(lean)?;
        let compact = table(&subset, b"CFF ");
        let bare = match (compact, lean) {
            (None, None) => without_instructions(&subset, self.name),
            _ => None,
        };
        let data = compact.or(bare.as_deref()).unwrap_or(&subset);
        Ok(Subset {
            stream: file.quickly_compressed(data),
            length: data.len(),
            is_compact: compact.is_some(),
        })
    }

    /// The subset of a face, of its file without instructions if that is given.
    fn subset(&self, lean: Option<&[u8]>) -> Result<Vec<u8>, Error> {
        let place = |(tag, value): &(Tag, f32)| (subsetter::Tag::new(&tag.to_be_bytes()), *value);
        let place: Vec<_> = self.data.variations.iter().map(place).collect();
        let bytes = lean.unwrap_or(self.data.bytes.as_ref());
        let mut mapper = GlyphRemapper::new();
        for glyph in self.glyphs {
            mapper.remap(*glyph);
        }
        subsetter::subset_with_variations(bytes, self.data.index, &place, &mapper)
            .map_err(|error| Error::Font(format!("{}: {error:?}", self.name)))
    }
}
