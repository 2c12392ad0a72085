//! Generates appearances of text fields that have none, because their program left that to viewers
//! (12.7.3.3).

use lopdf::{Dictionary, Document, Object, ObjectId, Stream, dictionary};

use crate::{Error, annotation, flatten::numbers, open::value};

/// Maximum size of an appearance stream that is inspected, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// Distance of the text from the edge, in points.
const EDGE: f32 = 2.0;
/// Maximum font size if the field leaves the size open, in points.
const MAX_SIZE: f32 = 12.0;
/// Flag of multiline text fields (table 228).
const MULTILINE: i64 = 1 << 12;

/// Whether a text field needs a new appearance: it has none, or one that shows no text.
pub(crate) fn needs_looks(
    document: &Document,
    widget: &Dictionary,
    looks: Option<&Stream>,
) -> bool {
    let kind = annotation::of_field(document, widget, b"FT").and_then(|it| it.as_name().ok());
    if !matches!(kind, Some(b"Tx" | b"Ch")) {
        return false;
    }
    let Some(looks) = looks else {
        return true;
    };
    let bytes = match looks.is_compressed() {
        true => looks.decompressed_content_with_limit(MAX_BYTES).ok(),
        false => Some(looks.content.clone()),
    };
    let shows = |bytes: Vec<u8>| {
        // What draws another form may show text there.
        bytes
            .windows(3)
            .any(|it| matches!(it, b" Tj" | b")Tj" | b">Tj" | b" TJ" | b"]TJ" | b" Do"))
    };
    bytes.is_some_and(|bytes| !shows(bytes))
}

/// The value of a text field; `None` if it is empty.
fn text(document: &Document, widget: &Dictionary) -> Result<Option<String>, ()> {
    let text = match annotation::of_field(document, widget, b"V") {
        Some(object @ Object::String(..)) => lopdf::decode_text_string(object).map_err(drop)?,
        Some(Object::Array(list)) if list.is_empty() => return Ok(None),
        Some(Object::Array(_) | Object::Stream(_)) => return Err(()),
        _ => return Ok(None),
    };
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// Generates an appearance that shows the value of a field in its own font and color; `None` if
/// there is no value.
///
/// # Errors
/// The field's font cannot show the value.
pub(crate) fn looks(
    document: &Document,
    widget: &Dictionary,
    form: Option<&Dictionary>,
) -> Result<Option<Stream>, Error> {
    let refused = || {
        let name = annotation::of_field(document, widget, b"T").and_then(|it| it.as_str().ok());
        Error::NoAppearance(String::from_utf8_lossy(name.unwrap_or_default()).into_owned())
    };
    let Some(text) = text(document, widget).map_err(|()| refused())? else {
        return Ok(None);
    };
    let of_form = |key: &[u8]| value(document, form?, key);
    let setting = annotation::of_field(document, widget, b"DA").or_else(|| of_form(b"DA"));
    let setting = setting
        .and_then(|it| it.as_str().ok())
        .ok_or_else(refused)?;
    let rectangle = numbers(document, widget.get(b"Rect").ok()).ok_or_else(refused)?;
    let [x1, y1, x2, y2]: [f32; 4] = rectangle;
    let (width, height) = ((x2 - x1).abs(), (y2 - y1).abs());
    let flags = annotation::of_field(document, widget, b"Ff").and_then(|it| it.as_i64().ok());
    let multiline = flags.unwrap_or(0) & MULTILINE != 0;
    let open_size = if multiline {
        MAX_SIZE
    } else {
        (height * 0.7).min(MAX_SIZE)
    };
    let (setting, size) = sized(setting, open_size).ok_or_else(refused)?;
    let mut content = format!("/Tx BMC\nq\n0 0 {width} {height} re W n\nBT\n").into_bytes();
    content.extend(setting);
    let up = match multiline {
        true => height - EDGE - size,
        false => (height - size) / 2.0 + size * 0.2,
    };
    content.extend(format!("\n{} TL {EDGE} {up} Td\n", size * 1.15).into_bytes());
    for line in text.split(['\n', '\r']).filter(|line| !line.is_empty()) {
        content.push(b'(');
        for symbol in line.chars() {
            let byte = latin(symbol).ok_or_else(refused)?;
            if matches!(byte, b'(' | b')' | b'\\') {
                content.push(b'\\');
            }
            content.push(byte);
        }
        content.extend(b") Tj T*\n");
    }
    content.extend(b"ET\nQ\nEMC\n");
    let fonts = annotation::of_field(document, widget, b"DR").or_else(|| of_form(b"DR"));
    let fonts = fonts.cloned().unwrap_or_else(|| Dictionary::new().into());
    let head = dictionary! {
        "BBox" => vec![0.into(), 0.into(), width.into(), height.into()],
        "Resources" => fonts,
    };
    Ok(Some(Stream::new(head, content)))
}

/// The default appearance string with an explicit font size, and that size.
fn sized(setting: &[u8], open_size: f32) -> Option<(Vec<u8>, f32)> {
    let text = std::str::from_utf8(setting).ok()?;
    let mut words: Vec<String> = text.split_ascii_whitespace().map(str::to_owned).collect();
    let at = words.iter().position(|word| word == "Tf")?;
    let word = words.get_mut(at.checked_sub(1)?)?;
    let mut size: f32 = word.parse().ok()?;
    if size <= 0.0 {
        size = open_size;
        *word = size.to_string();
    }
    Some((words.join(" ").into_bytes(), size))
}

/// Encodes a character in the part of the usual font encodings that agrees with Latin-1.
fn latin(symbol: char) -> Option<u8> {
    match symbol {
        ' '..='~' | '\u{a1}'..='\u{ff}' => u8::try_from(u32::from(symbol)).ok(),
        '\t' | '\u{a0}' => Some(b' '),
        _ => None,
    }
}

/// The appearance of an annotation.
pub(crate) struct Looks {
    /// Id of the appearance stream, if it is an existing object.
    pub(crate) place: Option<ObjectId>,
    pub(crate) stream: Stream,
}
