//! Pictures as JPEG, no finer than they are shown.

use lopdf::{Document, Object, ObjectId, Stream};

use super::{PictureQuality, shown::sizes};
use crate::{
    Error,
    open::value,
    picture::{Coded, Samples, coded, encode, inverted, samples, scaled, size},
};

/// Smaller pictures, in bytes as they are, are left alone.
const SMALL: usize = 4_096;
/// A picture is replaced if it becomes no larger than this part of what it was, in percent.
const WORTH: usize = 90;
/// Maximum size of a picture after decompression, in bytes.
const MAX_SAMPLES: usize = 256 << 20;
/// Pictures only slightly finer than wanted are not scaled.
const TOLERANCE: f32 = 1.2;

/// Makes pictures smaller, as long as `left` bytes suffice. Pictures with transparency or a mask,
/// with other colors than gray and red, green and blue, and palettes of few colors stay as they are.
pub(super) fn compress(
    document: &mut Document,
    how: &PictureQuality,
    left: &mut usize,
    checkpoint: &dyn Fn(),
) -> Result<(), Error> {
    let shown = match how.max_dpi {
        Some(_) => sizes(document, checkpoint),
        None => std::collections::HashMap::new(),
    };
    let ids: Vec<ObjectId> = (document.objects.iter())
        .filter(|(_, object)| is_candidate(document, object))
        .map(|(id, _)| *id)
        .collect();
    for id in ids {
        checkpoint();
        let Some(Object::Stream(stream)) = document.objects.get(&id) else {
            continue;
        };
        let wanted = how
            .max_dpi
            .and_then(|dpi| pixels(document, stream, *shown.get(&id)?, dpi));
        if let Some(made) = smaller(document, stream, how, wanted, left) {
            document.objects.insert(id, made.into());
        }
    }
    Ok(())
}

fn is_candidate(document: &Document, object: &Object) -> bool {
    let Object::Stream(stream) = object else {
        return false;
    };
    let entries = &stream.dict;
    let is_true =
        |key: &[u8]| value(document, entries, key).is_some_and(|it| *it == Object::Boolean(true));
    value(document, entries, b"Subtype").is_some_and(|it| *it == Object::Name(b"Image".to_vec()))
        && stream.content.len() >= SMALL
        && !is_true(b"ImageMask")
        && !["SMask", "Mask", "SMaskInData", "Alternates", "OPI", "F"]
            .iter()
            .any(|key| entries.has(key.as_bytes()))
        && inverted(document, stream) == Some(false)
        && is_plain(document, value(document, entries, b"ColorSpace"))
}

/// Whether the colors are gray, or red, green and blue, so that JPEG has them in the same space.
fn is_plain(document: &Document, space: Option<&Object>) -> bool {
    match space {
        Some(Object::Name(name)) => name == b"DeviceRGB" || name == b"DeviceGray",
        Some(Object::Array(list)) => {
            let first = list.first().and_then(|it| it.as_name().ok());
            match first {
                Some(b"CalRGB" | b"CalGray") => true,
                Some(b"ICCBased") => {
                    let profile = list
                        .get(1)
                        .and_then(|it| crate::open::resolve(document, it));
                    let count = profile.and_then(|it| {
                        value(document, &it.as_stream().ok()?.dict, b"N")?
                            .as_i64()
                            .ok()
                    });
                    matches!(count, Some(1 | 3))
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// Pixels that suffice for `dpi` where the picture is shown largest; `None` if it has no more.
fn pixels(
    document: &Document,
    stream: &Stream,
    (across, up): (f32, f32),
    dpi: f32,
) -> Option<(usize, usize)> {
    let (width, height) = size(document, stream)?;
    let most = |points: f32| (points / 72.0 * dpi).ceil().max(1.0);
    let (wide, high) = (most(across), most(up));
    let is_finer = width as f32 > wide * TOLERANCE && height as f32 > high * TOLERANCE;
    is_finer.then_some((wide as usize, high as usize))
}

fn smaller(
    document: &Document,
    stream: &Stream,
    how: &PictureQuality,
    wanted: Option<(usize, usize)>,
    left: &mut usize,
) -> Option<Stream> {
    let bits = value(document, &stream.dict, b"BitsPerComponent").and_then(|it| it.as_i64().ok());
    let most = MAX_SAMPLES.min(*left);
    let is_jpeg = match coded(document, stream, most)? {
        Coded::Jpeg(_) => true,
        // Drawings of few levels suffer from JPEG.
        Coded::Rows(_) if bits == Some(8) => false,
        _ => return None,
    };
    if is_jpeg && wanted.is_none() && !how.again {
        return None;
    }
    let mut samples = samples(document, stream, most)?;
    *left = left.saturating_sub(samples.bytes.len());
    let (space, channels) = (
        value(document, &stream.dict, b"ColorSpace")?,
        samples.channels,
    );
    // A JPEG file of another number of components than its color space has is not understood.
    if components(document, space) != Some(channels) {
        return None;
    }
    if let Some((width, height)) = wanted {
        samples = scaled(&samples, width, height);
    }
    let data = encode(&samples, how.quality)?;
    let is_worth_it = data.len() * 100 <= stream.content.len() * WORTH;
    is_worth_it.then(|| replaced(stream, &samples, data))
}

fn components(document: &Document, space: &Object) -> Option<usize> {
    let name = match space {
        Object::Name(name) => name.as_slice(),
        Object::Array(list) => list.first()?.as_name().ok()?,
        _ => return None,
    };
    match name {
        b"DeviceGray" | b"CalGray" => Some(1),
        b"DeviceRGB" | b"CalRGB" => Some(3),
        _ => {
            let profile = crate::open::resolve(document, space.as_array().ok()?.get(1)?)?;
            let count = value(document, &profile.as_stream().ok()?.dict, b"N")?;
            usize::try_from(count.as_i64().ok()?).ok()
        }
    }
}

fn replaced(stream: &Stream, samples: &Samples, data: Vec<u8>) -> Stream {
    let mut made = Stream::new(stream.dict.clone(), data);
    made.dict.remove(b"DecodeParms");
    made.dict.set("Filter", "DCTDecode");
    made.dict.set("BitsPerComponent", 8);
    made.dict.set("Width", samples.width as i64);
    made.dict.set("Height", samples.height as i64);
    made
}
