//! The pictures of files, taken out: JPEG, JPEG 2000 and faxes as they are, others as PNG.

use std::collections::HashSet;

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use crate::{
    Error, Limits, NamedFile,
    copy::inherited,
    open::{dictionary as dictionary_of, open, value},
    picture::{Coded, Samples, coded, number, samples, size},
    selection::chosen,
};

/// Maximum number of pictures of a file.
const MAX_PICTURES: usize = 10_000;
/// Maximum size of all of them, in bytes, as they are written.
const MAX_BYTES: usize = 512 << 20;
/// Maximum size of the samples of a picture, in bytes.
const MAX_SAMPLES: usize = 256 << 20;
/// Maximum depth of forms within forms.
const MAX_DEPTH: usize = 12;

/// Pictures that were taken out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pictures {
    /// The files: `page-1-1.jpg` is the first one that page 1 shows and no page before it.
    pub files: Vec<NamedFile<Vec<u8>>>,
    /// What was left out, and why.
    pub left_out: Vec<String>,
}

/// Takes the pictures out of pages, such as `1-3,7`; of all without them. Each is there once, however
/// often it is shown. `checkpoint` is called before each page and picture.
///
/// # Errors
/// The file cannot be read, does not have the pages, or has too many pictures.
pub fn read_pictures(
    file: &[u8],
    pages: Option<&str>,
    limits: &Limits,
    checkpoint: &dyn Fn(),
) -> Result<Pictures, Error> {
    let document = open(file, limits)?;
    let all: Vec<ObjectId> = document.page_iter().collect();
    let wanted: HashSet<ObjectId> = chosen(pages, &all, limits)?.into_iter().collect();
    let mut seen = HashSet::new();
    let mut made = Pictures::default();
    let mut bytes = 0;
    for (index, page) in all
        .iter()
        .enumerate()
        .filter(|(_, page)| wanted.contains(page))
    {
        checkpoint();
        let mut found = Vec::new();
        let entries = document.get_dictionary(*page)?;
        if let Some(resources) = inherited(&document, entries, b"Resources") {
            let resources = dictionary_of(&document, &resources);
            collect(&document, resources, &mut seen, &mut found, 0);
        }
        for (order, id) in found.into_iter().enumerate() {
            checkpoint();
            let name = format!("page-{}-{}", index + 1, order + 1);
            let Some(Object::Stream(stream)) = document.objects.get(&id) else {
                continue;
            };
            match written(&document, stream) {
                Ok((ending, content)) => {
                    bytes += content.len();
                    made.files.push(NamedFile {
                        name: format!("{name}.{ending}"),
                        bytes: content,
                    });
                }
                Err(why) => made.left_out.push(format!("{name}: {why}")),
            }
            within(
                "pictures",
                made.files.len() + made.left_out.len(),
                MAX_PICTURES,
            )?;
            within("bytes of pictures", bytes, MAX_BYTES)?;
        }
    }
    Ok(made)
}

fn within(what: &'static str, count: usize, most: usize) -> Result<(), Error> {
    match count > most {
        true => Err(Error::TooLarge { what, count, most }),
        false => Ok(()),
    }
}

/// The pictures among resources that were not seen yet, and those of forms.
fn collect(
    document: &Document,
    resources: Option<&Dictionary>,
    seen: &mut HashSet<ObjectId>,
    found: &mut Vec<ObjectId>,
    depth: usize,
) {
    let objects = resources.and_then(|it| value(document, it, b"XObject")?.as_dict().ok());
    for (_, object) in objects.into_iter().flatten() {
        let Ok(id) = object.as_reference() else {
            continue;
        };
        let Some(Object::Stream(stream)) = document.objects.get(&id) else {
            continue;
        };
        let kind = value(document, &stream.dict, b"Subtype").and_then(|it| it.as_name().ok());
        match kind {
            Some(b"Image") if seen.insert(id) => found.push(id),
            Some(b"Form") if depth < MAX_DEPTH && seen.insert(id) => {
                let own = value(document, &stream.dict, b"Resources");
                let own = own.and_then(|it| it.as_dict().ok());
                collect(document, own, seen, found, depth + 1);
            }
            _ => {}
        }
    }
}

/// The ending and the content of a picture's file, or why there is none.
fn written(document: &Document, stream: &Stream) -> Result<(&'static str, Vec<u8>), String> {
    let damaged = || "it is damaged, or too large".to_owned();
    if stream.dict.has(b"F") {
        return Err("it is in another file".to_owned());
    }
    match coded(document, stream, MAX_SAMPLES).ok_or_else(damaged)? {
        Coded::Jpeg(bytes) => Ok(("jpg", bytes)),
        Coded::Jpeg2000(bytes) => Ok(("jp2", bytes)),
        Coded::Fax(bytes) => fax(document, stream, &bytes).map(|made| ("tif", made)),
        Coded::Other(filter) => Err(format!("its coding, {filter}, is not read")),
        Coded::Rows(_) => {
            let (width, height) = size(document, stream).ok_or_else(damaged)?;
            let made = samples(document, stream, MAX_SAMPLES)
                .ok_or("its colors are not read, or it is damaged")?;
            let mask = match value(document, &stream.dict, b"SMask") {
                Some(Object::Stream(mask)) => samples(document, mask, MAX_SAMPLES)
                    .filter(|it| (it.width, it.height, it.channels) == (width, height, 1)),
                _ => None,
            };
            png(made, mask).map(|made| ("png", made))
        }
    }
}

fn png(samples: Samples, mask: Option<Samples>) -> Result<Vec<u8>, String> {
    let color = match (samples.channels, &mask) {
        (1, None) => png::ColorType::Grayscale,
        (1, Some(_)) => png::ColorType::GrayscaleAlpha,
        (_, None) => png::ColorType::Rgb,
        (_, Some(_)) => png::ColorType::Rgba,
    };
    let data = match mask {
        None => samples.bytes,
        Some(mask) => (samples.bytes.chunks_exact(samples.channels))
            .zip(&mask.bytes)
            .flat_map(|(pixel, alpha)| pixel.iter().chain([alpha]).copied())
            .collect(),
    };
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, samples.width as u32, samples.height as u32);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(&data)?;
        writer.finish()
    });
    written.map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// The data of a fax as a TIFF file (TIFF 6.0, section 11), which is no more than a head before it.
fn fax(document: &Document, stream: &Stream, data: &[u8]) -> Result<Vec<u8>, String> {
    let (_, height) = size(document, stream).ok_or("it has no size")?;
    let parameters = match value(document, &stream.dict, b"DecodeParms") {
        Some(Object::Array(list)) => list.last().and_then(|it| dictionary_of(document, it)),
        Some(Object::Dictionary(one)) => Some(one),
        _ => None,
    };
    let parameter = |key: &[u8]| value(document, parameters?, key);
    let is_true = |key: &[u8]| parameter(key).is_some_and(|it| *it == Object::Boolean(true));
    let kind = parameter(b"K").and_then(|it| it.as_i64().ok()).unwrap_or(0);
    let columns = parameter(b"Columns").and_then(|it| it.as_i64().ok());
    let columns = u32::try_from(columns.unwrap_or(1_728)).map_err(|_| "it has no width")?;
    if number(document, stream, b"Width") != Some(columns as usize) || is_true(b"EncodedByteAlign")
    {
        return Err("its rows are not as in other files".to_owned());
    }
    // 1 is black in a mask that paints; else black is 0, as samples of gray are.
    let is_black_zero = is_true(b"BlackIs1");
    let data_length = u32::try_from(data.len()).map_err(|_| "it is too large")?;
    let entries: [(u16, u16, u32); 10] = [
        (256, 4, columns),
        (257, 4, height as u32),
        (258, 3, 1),
        (259, 3, if kind < 0 { 4 } else { 3 }),
        (262, 3, u32::from(is_black_zero)),
        (273, 4, 8 + 2 + 10 * 12 + 4),
        (277, 3, 1),
        (278, 4, height as u32),
        (279, 4, data_length),
        (292, 4, u32::from(kind > 0)),
    ];
    let mut file = b"II*\0\x08\0\0\0".to_vec();
    file.extend((entries.len() as u16).to_le_bytes());
    for (tag, kind, value) in entries {
        file.extend(tag.to_le_bytes());
        file.extend(kind.to_le_bytes());
        file.extend(1_u32.to_le_bytes());
        file.extend(value.to_le_bytes());
    }
    file.extend([0; 4]);
    file.extend(data);
    Ok(file)
}
