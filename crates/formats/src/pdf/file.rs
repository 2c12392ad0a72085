//! The bytes of a PDF file: streams, object streams and the cross-reference stream, ISO 32000-1
//! §7.5.7 and §7.5.8.
//!
//! Objects are written as they are produced and not kept: half a million structure elements occupy
//! compressed object streams rather than memory.

use libdeflater::{CompressionLvl, Compressor};
use sha2::{Digest, Sha256};

use super::syntax::{Reference, Syntax};

/// Length of the file identifier: that of an MD5 digest, which ISO 32000-1 §14.4 suggests.
const IDENTIFIER_BYTES: usize = 16;
/// Maximum number of objects in an object stream.
const PACK_OBJECTS: usize = 256;
/// An object stream ends once it exceeds this size before compression, in bytes.
const PACK_BYTES: usize = 32 * 1024;

/// Location of an object.
#[derive(Clone, Copy)]
enum Place {
    Nowhere,
    At(u32),
    /// Number of the object stream, and the index inside it.
    Packed(u32, u16),
}

/// A PDF under construction.
pub(super) struct File {
    out: Vec<u8>,
    places: Vec<Place>,
    pack: Vec<u8>,
    /// Objects of the open object stream, with their offsets in it.
    packed: Vec<(Reference, u32)>,
    deflate: Option<Deflate>,
    quick_deflate: Option<Deflate>,
}

/// Levels of libdeflate (decision 26). The first is for fonts, pages and objects, which are in every
/// file; it makes them 1 to 8 % larger than level 6 of zlib does, in a third of its time.
const QUICK_LEVEL: i32 = 1;
const LEVEL: i32 = 3;

/// A compressor that is reused for every stream, and its last result.
struct Deflate {
    compressor: Compressor,
    result: Vec<u8>,
}

impl Deflate {
    fn new(level: i32) -> Self {
        let level = CompressionLvl::new(level).unwrap_or_default();
        Self {
            compressor: Compressor::new(level),
            result: Vec::new(),
        }
    }

    fn run(&mut self, data: &[u8]) -> &[u8] {
        let most = self.compressor.zlib_compress_bound(data.len());
        self.result.resize(most, 0);
        // The bound is enough for any data.
        let length = self.compressor.zlib_compress(data, &mut self.result);
        self.result.truncate(length.unwrap_or(0));
        &self.result
    }
}

impl File {
    pub fn new() -> Self {
        // The bytes above 127 tell transfer programs that the file is binary, ISO 32000-1 §7.5.2.
        let out = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec();
        Self {
            out,
            places: vec![Place::Nowhere],
            pack: Vec::new(),
            packed: Vec::new(),
            deflate: None,
            quick_deflate: None,
        }
    }

    /// Reserves the number of an object that is written later.
    pub fn reserve(&mut self) -> Reference {
        self.places.push(Place::Nowhere);
        Reference(self.places.len() as u32 - 1)
    }

    /// Writes an object other than a stream, into the open object stream.
    pub fn object(&mut self, reference: Reference, write: impl FnOnce(&mut Vec<u8>)) {
        self.packed.push((reference, self.pack.len() as u32));
        write(&mut self.pack);
        self.pack.push(b'\n');
        if self.packed.len() >= PACK_OBJECTS || self.pack.len() >= PACK_BYTES {
            self.end_pack();
        }
    }

    /// Reserves a number and writes an object other than a stream.
    pub fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Reference {
        let reference = self.reserve();
        self.object(reference, write);
        reference
    }

    /// Writes a compressed stream. `entries` are its dictionary entries except length and filter.
    pub fn stream(&mut self, reference: Reference, entries: &str, data: &[u8]) {
        let mut deflate = self.deflate.take();
        let compressor = deflate.get_or_insert_with(|| Deflate::new(LEVEL));
        self.compressed_stream(reference, entries, compressor.run(data));
        self.deflate = deflate;
    }

    /// Writes a compressed stream of a font, a page or objects. `entries` are as those of
    /// [`File::stream`].
    pub fn quick_stream(&mut self, reference: Reference, entries: &str, data: &[u8]) {
        let mut deflate = self.quick_deflate.take();
        let compressor = deflate.get_or_insert_with(|| Deflate::new(QUICK_LEVEL));
        self.compressed_stream(reference, entries, compressor.run(data));
        self.quick_deflate = deflate;
    }

    /// Compresses data as [`File::quick_stream`] does, for [`File::compressed_stream`].
    pub fn quickly_compressed(&mut self, data: &[u8]) -> Vec<u8> {
        let deflate = self
            .quick_deflate
            .get_or_insert_with(|| Deflate::new(QUICK_LEVEL));
        deflate.run(data).to_vec()
    }

    /// Writes a stream that was compressed before. `entries` are as those of [`File::stream`].
    pub fn compressed_stream(&mut self, reference: Reference, entries: &str, data: &[u8]) {
        self.plain_stream(reference, &format!("{entries}/Filter/FlateDecode"), data);
    }

    /// Writes a stream as it is. Its filter, if any, is among `entries`.
    pub fn plain_stream(&mut self, reference: Reference, entries: &str, data: &[u8]) {
        self.places[reference.0 as usize] = Place::At(self.out.len() as u32);
        self.out.integer(i64::from(reference.0)).raw(" 0 obj\n<<");
        self.out.raw(entries).raw("/Length ");
        self.out.integer(data.len() as i64).raw(">>stream\n");
        self.out.extend_from_slice(data);
        self.out.raw("\nendstream\nendobj\n");
    }

    fn end_pack(&mut self) {
        if self.packed.is_empty() {
            return;
        }
        let stream = self.reserve();
        let mut data = Vec::with_capacity(self.pack.len() + self.packed.len() * 12);
        for (index, (reference, offset)) in self.packed.iter().enumerate() {
            self.places[reference.0 as usize] = Place::Packed(stream.0, index as u16);
            data.integer(i64::from(reference.0)).raw(" ");
            data.integer(i64::from(*offset)).raw(" ");
        }
        let first = data.len();
        data.append(&mut self.pack);
        let entries = format!("/Type/ObjStm/N {}/First {first}", self.packed.len());
        self.packed.clear();
        self.quick_stream(stream, &entries, &data);
    }

    /// Completes the file. `None` if it exceeds the 4 GiB that its 4-byte offsets reach.
    pub fn finish(mut self, catalog: Reference, info: Reference) -> Option<Vec<u8>> {
        self.end_pack();
        let table = self.reserve();
        let start = self.out.len();
        u32::try_from(start).ok()?;
        self.places[table.0 as usize] = Place::At(start as u32);
        let rows = self.rows();
        let mut entries = format!("/Type/XRef/Size {}/W[1 4 2]", self.places.len()).into_bytes();
        entries.raw("/DecodeParms<</Predictor 12/Columns 7>>/Root ");
        entries.reference(catalog).raw("/Info ").reference(info);
        let id = self.identifier();
        entries.raw(&format!("/ID[<{id}><{id}>]"));
        let entries = String::from_utf8_lossy(&entries).into_owned();
        self.quick_stream(table, &entries, &rows);
        self.out.raw("startxref\n").integer(start as i64);
        self.out.raw("\n%%EOF\n");
        Some(self.out)
    }

    /// Rows of the cross-reference stream, each as the difference from the row above, which
    /// compresses far better.
    fn rows(&self) -> Vec<u8> {
        let mut rows = Vec::with_capacity(self.places.len() * 8);
        let mut above = [0_u8; 7];
        for (number, place) in self.places.iter().enumerate() {
            let (kind, field, last) = match *place {
                Place::Nowhere if number == 0 => (0, 0, 0xffff_u16),
                Place::Nowhere => (0, 0, 0),
                Place::At(offset) => (1, offset, 0),
                Place::Packed(stream, index) => (2, stream, index),
            };
            let mut row = [0; 7];
            row[0] = kind;
            row[1..5].copy_from_slice(&field.to_be_bytes());
            row[5..7].copy_from_slice(&last.to_be_bytes());
            // Filter type 2 is "Up", PNG §9.2.
            rows.push(2);
            rows.extend(
                row.iter()
                    .zip(above)
                    .map(|(new, old)| new.wrapping_sub(old)),
            );
            above = row;
        }
        rows
    }

    /// File identifier derived from the content, ISO 32000-1 §14.4. It only has to differ between
    /// files; the same input must give the same one.
    fn identifier(&self) -> String {
        let digest = Sha256::digest(&self.out);
        digest[..IDENTIFIER_BYTES]
            .iter()
            .map(|byte| format!("{byte:02X}"))
            .collect()
    }
}
