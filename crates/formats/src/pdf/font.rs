//! Embedded fonts: composite fonts with identity encoding, subset to the glyphs in use, ISO 32000-1
//! §9.7 to §9.10.

use std::sync::Arc;

use platen_layout::{FaceData, FaceId, Shaper};
use rustc_hash::FxHashMap;
use skrifa::{FontRef, MetadataProvider, instance::Size, raw::TableProvider, string::StringId};

use super::{
    error::Error,
    file::File,
    font_program::Program,
    syntax::{Reference, Syntax},
};

/// Maximum number of characters in a `bfchar` block, Adobe Technical Note #5411.
const MAX_BLOCK: usize = 100;

/// The text that a character code stands for.
#[derive(Clone, Debug, PartialEq)]
enum Meaning {
    Unset,
    One(char),
    Many(Box<str>),
}

/// A face and the part of it that the document uses.
pub(super) struct FontUse {
    data: Arc<FaceData>,
    pub reference: Reference,
    /// Character code by glyph id; 0 if it has none yet.
    codes: Vec<u16>,
    /// By character code: the glyph.
    glyphs: Vec<u16>,
    /// By character code: the text, and the advance in thousandths of an em.
    meanings: Vec<Meaning>,
    widths: Vec<f32>,
}

impl FontUse {
    fn new(data: Arc<FaceData>, reference: Reference) -> Option<Self> {
        data.font_ref()?;
        let notdef = advance(&data, 0);
        Some(Self {
            data,
            reference,
            codes: Vec::new(),
            glyphs: vec![0],
            meanings: vec![Meaning::Unset],
            widths: vec![notdef],
        })
    }

    /// The character code of a glyph, and its advance in thousandths of an em.
    pub fn code(&mut self, glyph: u16) -> (u16, f32) {
        let index = usize::from(glyph);
        if index >= self.codes.len() {
            self.codes.resize(index + 64, 0);
        }
        let known = self.codes[index];
        if known != 0 || glyph == 0 {
            return (known, self.widths[usize::from(known)]);
        }
        let code = self.glyphs.len() as u16;
        let width = advance(&self.data, glyph);
        self.codes[index] = code;
        self.glyphs.push(glyph);
        self.meanings.push(Meaning::Unset);
        self.widths.push(width);
        (code, width)
    }

    /// Records that `code` stands for `text`. False if it already stands for something else.
    pub fn mean(&mut self, code: u16, text: &str) -> bool {
        let meaning = &mut self.meanings[usize::from(code)];
        match meaning {
            Meaning::Unset => {
                let mut characters = text.chars();
                *meaning = match (characters.next(), characters.next()) {
                    (Some(only), None) => Meaning::One(only),
                    _ => Meaning::Many(text.into()),
                };
                true
            }
            Meaning::One(known) => {
                let mut characters = text.chars();
                characters.next() == Some(*known) && characters.next().is_none()
            }
            Meaning::Many(known) => **known == *text,
        }
    }

    fn font(&self) -> Option<FontRef<'_>> {
        self.data.font_ref()
    }

    fn write(&self, file: &mut File) -> Result<(), Error> {
        let font = self
            .font()
            .ok_or_else(|| Error::Font("it cannot be read".to_owned()))?;
        let own = own_name(&font);
        let program = Program::new(&self.data, &own, &self.glyphs);
        let name = format!("{}+{own}", program.tag());
        let embedded = program.write(file)?;
        let is_compact = embedded.is_compact;
        let descriptor = self.descriptor(file, &font, &name, embedded.program, is_compact);
        let kind = if is_compact { "0" } else { "2" };
        let descendant = file.add(|out| {
            out.raw("<</Type/Font/Subtype/CIDFontType").raw(kind);
            out.raw("/BaseFont").name(&name);
            out.raw("/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>");
            out.raw("/FontDescriptor ").reference(descriptor);
            if !is_compact {
                out.raw("/CIDToGIDMap/Identity");
            }
            out.raw("/DW 0/W[0[");
            for width in &self.widths {
                out.number(*width, 2).raw(" ");
            }
            out.raw("]]>>");
        });
        let unicode = file.reserve();
        file.quick_stream(unicode, "", &self.unicode_map());
        let reference = self.reference;
        file.object(reference, |out| {
            out.raw("<</Type/Font/Subtype/Type0/BaseFont").name(&name);
            out.raw("/Encoding/Identity-H/DescendantFonts[")
                .reference(descendant);
            out.raw("]/ToUnicode ").reference(unicode).raw(">>");
        });
        Ok(())
    }

    fn descriptor(
        &self,
        file: &mut File,
        font: &FontRef<'_>,
        name: &str,
        program: Reference,
        compact: bool,
    ) -> Reference {
        // Font flags, ISO 32000-1 §9.8.2.
        const FIXED: i64 = 1;
        const SYMBOLIC: i64 = 1 << 2;
        const ITALIC: i64 = 1 << 6;
        let metrics = font.metrics(Size::unscaled(), self.data.location());
        let units = 1000.0 / self.data.units_per_em;
        let mut flags = SYMBOLIC;
        if metrics.is_monospace {
            flags |= FIXED;
        }
        if metrics.italic_angle != 0.0 {
            flags |= ITALIC;
        }
        let weight = skrifa::Tag::new(b"wght");
        let variations = self.data.variations.iter();
        let weight = variations.clone().find(|(tag, _)| *tag == weight);
        let weight = weight.map_or(font.attributes().weight.value(), |(_, value)| *value);
        file.add(|out| {
            out.raw("<</Type/FontDescriptor/FontName").name(name);
            out.raw("/Flags ").integer(flags).raw("/FontBBox[");
            let bounds = metrics.bounds.unwrap_or_default();
            for edge in [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max] {
                out.number(edge * units, 0).raw(" ");
            }
            out.raw("]/ItalicAngle ").number(metrics.italic_angle, 2);
            out.raw("/Ascent ").number(metrics.ascent * units, 0);
            out.raw("/Descent ").number(metrics.descent * units, 0);
            let capitals = metrics.cap_height.unwrap_or(metrics.ascent);
            out.raw("/CapHeight ").number(capitals * units, 0);
            // OpenType fonts do not state their stem width; this is the customary estimate from the
            // weight.
            out.raw("/StemV ").number(10.0 + 0.244 * (weight - 50.0), 0);
            out.raw(if compact {
                "/FontFile3 "
            } else {
                "/FontFile2 "
            });
            out.reference(program).raw(">>");
        })
    }

    /// The ToUnicode CMap, from codes to text, ISO 32000-1 §9.10.3.
    fn unicode_map(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.raw("/CIDInit/ProcSet findresource begin\n12 dict begin\nbegincmap\n");
        out.raw("/CIDSystemInfo<</Registry(Adobe)/Ordering(UCS)/Supplement 0>>def\n");
        out.raw("/CMapName/Adobe-Identity-UCS def\n/CMapType 2 def\n");
        out.raw("1 begincodespacerange\n<0000><FFFF>\nendcodespacerange\n");
        let known: Vec<(usize, &Meaning)> = (self.meanings.iter().enumerate())
            .filter(|(_, meaning)| **meaning != Meaning::Unset)
            .collect();
        for block in known.chunks(MAX_BLOCK) {
            out.integer(block.len() as i64).raw(" beginbfchar\n");
            for (code, meaning) in block {
                out.raw("<").hexadecimal(*code as u16).raw("><");
                let mut buffer = [0; 4];
                let text = match meaning {
                    Meaning::One(character) => &*character.encode_utf8(&mut buffer),
                    Meaning::Many(text) => text,
                    Meaning::Unset => "",
                };
                for unit in text.encode_utf16() {
                    out.hexadecimal(unit);
                }
                out.raw(">\n");
            }
            out.raw("endbfchar\n");
        }
        out.raw("endcmap\nCMapName currentdict/CMap defineresource pop\nend\nend");
        out
    }

    /// Whether the font's license forbids embedding: bit 1 of `fsType` in the OpenType table
    /// `OS/2`.
    fn is_restricted(&self) -> bool {
        let permissions = self
            .font()
            .and_then(|font| Some(font.os2().ok()?.fs_type()));
        permissions.is_some_and(|bits| bits & 0xf == 2)
    }
}

/// Advance of a glyph in thousandths of an em, rounded to two decimals as it is written.
fn advance(data: &FaceData, glyph: u16) -> f32 {
    (data.advance(glyph) * 100_000.0 / data.units_per_em).round() / 100.0
}

/// The PostScript name of a face.
fn own_name(font: &FontRef<'_>) -> String {
    let own = font
        .localized_strings(StringId::POSTSCRIPT_NAME)
        .english_or_first()
        .map(|own| own.to_string());
    let own = own.as_deref().unwrap_or("Unnamed");
    own.chars()
        .filter(char::is_ascii_graphic)
        .take(100)
        .collect()
}

/// The fonts of a document, in order of first use.
#[derive(Default)]
pub(super) struct Fonts {
    uses: Vec<Option<FontUse>>,
    index: FxHashMap<FaceId, usize>,
}

impl Fonts {
    /// Index of a face among the document's fonts, for [`Fonts::get`].
    pub fn index(&mut self, face: FaceId, shaper: &Shaper, file: &mut File) -> usize {
        *self.index.entry(face).or_insert_with(|| {
            let data = shaper.face(face).cloned();
            let font = data.and_then(|data| FontUse::new(data, file.reserve()));
            self.uses.push(font);
            self.uses.len() - 1
        })
    }

    /// A font; `None` if its file is missing or broken.
    pub fn get(&mut self, index: usize) -> Option<&mut FontUse> {
        self.uses[index].as_mut()
    }

    /// Writes the font entries of the resource dictionary.
    pub fn resources(&self, out: &mut Vec<u8>) {
        out.raw("/Font<<");
        for (index, font) in self.uses.iter().enumerate() {
            if let Some(font) = font {
                out.raw("/F").integer(index as i64).raw(" ");
                out.reference(font.reference);
            }
        }
        out.raw(">>");
    }

    /// Writes all fonts. Returns true if the license of one forbids embedding.
    ///
    /// # Errors
    /// [`Error::Font`] if a font is broken.
    pub fn write(&self, file: &mut File) -> Result<bool, Error> {
        let mut restricted = false;
        for font in self.uses.iter().flatten() {
            restricted |= font.is_restricted();
            font.write(file)?;
        }
        Ok(restricted)
    }
}
