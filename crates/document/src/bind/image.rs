//! Image nodes: loading, validation of size and format, dimensions.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use imagesize::ImageType;

use super::{Binder, Place, block::alignment, svg, upright::upright};
use crate::{
    bound::{self, BlockKind, Counted, Crop, ImageData, ImageFormat, StyleId},
    expression::{Failure, Scope},
    suggestion,
    template::{Fit, Image, Text},
};

/// Maximum size of an encoded image, in bytes.
const MAX_BYTES: usize = 32 << 20;
/// Maximum number of pixels. A small file may decompress to many.
const MAX_PIXELS: u64 = 50_000_000;
/// Points per pixel at 96 dpi.
const POINTS_OF_PIXEL: f32 = 0.75;

impl Binder<'_> {
    pub(super) fn image(
        &mut self,
        node: &Image,
        style: StyleId,
        place: Place,
        scope: &Scope<'_>,
    ) -> Option<BlockKind> {
        let data = match &node.fallback {
            None => self.below("source", |binder| binder.picture(&node.source, scope))?,
            Some(fallback) => self.picture_or(&node.source, fallback, scope)?,
        };
        let width = node.width.map(|width| width.to_points());
        let height = node.height.map(|height| height.to_points());
        let (width, height) = size(&data, width, height, node.fit, place.width);
        let crop = match (node.fit, node.width, node.height) {
            (Fit::Cover, Some(_), Some(_)) => Crop::to_cover(data.size(), (width, height)),
            _ => Crop::default(),
        };
        let alt = self.line_at("alt", &node.alt, scope);
        let caption = self.caption(node.caption.as_ref(), Counted::Figures, scope);
        let link = node
            .link
            .as_ref()
            .and_then(|link| self.below("link", |binder| binder.link(link, scope)));
        Some(BlockKind::Image(bound::Image {
            data,
            width,
            height,
            crop,
            alt,
            align: alignment(node.align, self.styles[style].align),
            caption,
            link,
        }))
    }

    /// The image of a source, or else another one.
    fn picture_or(
        &mut self,
        source: &Text,
        fallback: &Text,
        scope: &Scope<'_>,
    ) -> Option<Arc<ImageData>> {
        let compiled = self.compiled.text(source)?;
        let address = match picture_source(compiled, scope, self) {
            Ok(address) => address,
            Err(failure) => {
                self.below("source", |binder| binder.report(failure, scope));
                return None;
            }
        };
        let empty = address.trim().is_empty();
        let made = match self.images.get(&address) {
            Some(known) => known.clone().ok_or_else(String::new),
            None if empty => Err(String::new()),
            None => (self.load(&address).and_then(|bytes| self.check(&bytes)))
                .map(Arc::new)
                .map_err(|failure| failure.message),
        };
        match made {
            Ok(data) => {
                self.images.insert(address, Some(Arc::clone(&data)));
                Some(data)
            }
            Err(reason) => {
                if !empty {
                    let message = format!("the fallback is shown: {reason}");
                    self.below("source", |binder| binder.warn("image-replaced", &message));
                }
                self.below("fallback", |binder| binder.picture(fallback, scope))
            }
        }
    }

    /// Loads and checks the image of a source, once per source.
    pub(super) fn picture(&mut self, source: &Text, scope: &Scope<'_>) -> Option<Arc<ImageData>> {
        let source = self.compiled.text(source)?;
        let source = match picture_source(source, scope, self) {
            Ok(source) => source,
            Err(failure) => {
                self.report(failure, scope);
                return None;
            }
        };
        if let Some(known) = self.images.get(&source) {
            // A failure was reported at the first use of the source.
            return known.clone();
        }
        let made = self.load(&source).and_then(|bytes| self.check(&bytes));
        let made = match made {
            Ok(data) => Some(Arc::new(data)),
            Err(failure) => {
                self.report(failure, scope);
                None
            }
        };
        self.images.insert(source, made.clone());
        made
    }

    /// Checks an image without decoding its pixels, unless it is a turned photo; draws the texts of an
    /// SVG.
    fn check(&mut self, bytes: &Arc<[u8]>) -> Result<ImageData, Failure> {
        if !svg::is_svg(bytes) {
            return check(bytes);
        }
        let (data, lacks) = svg::parse(bytes, self.host)?;
        if lacks {
            self.warn(
                "svg-text-omitted",
                "some texts of this SVG are not drawn; convert them to paths",
            );
        }
        Ok(data)
    }

    /// Loads a picture, or page `page` of a PDF, for the background of pages.
    pub(super) fn background_picture(
        &mut self,
        source: &Text,
        page: u32,
        scope: &Scope<'_>,
    ) -> Option<Arc<ImageData>> {
        let compiled = self.compiled.text(source)?;
        let address = match picture_source(compiled, scope, self) {
            Ok(address) => address,
            Err(failure) => {
                self.report(failure, scope);
                return None;
            }
        };
        let bytes = match self.load(&address) {
            Ok(bytes) => bytes,
            Err(failure) => {
                self.report(failure, scope);
                return None;
            }
        };
        if !bytes.starts_with(b"%PDF-") || bytes.len() > MAX_BYTES {
            return self.picture(source, scope);
        }
        let key = format!("{page} {address}");
        let made = self.images.entry(key).or_insert_with(|| {
            Some(Arc::new(ImageData {
                bytes,
                format: ImageFormat::Pdf,
                width_px: 1,
                height_px: 1,
                page,
                drawing: None,
            }))
        });
        made.clone()
    }

    fn load(&self, source: &str) -> Result<Arc<[u8]>, Failure> {
        if source.starts_with("data:") {
            return decode(source);
        }
        let assets = &self.compiled.template().assets;
        if let Some(address) = assets.get(source) {
            return decode(address);
        }
        let wanted = self.compiled.template().pins.asset(source);
        if let Some(bytes) = self.host.asset(&wanted) {
            return Ok(bytes);
        }
        let shown: String = source.chars().take(60).collect();
        let mut failure = Failure::new("unknown-asset", format!("unknown asset `{shown}`"));
        failure.hint = Some(if source.contains("://") {
            "URLs are not fetched: store the picture as an asset".to_owned()
        } else {
            suggestion::hint(source, assets.keys().map(String::as_str))
        });
        Err(failure)
    }
}

/// The source as text. An image in the data may exceed the maximum length of texts.
fn picture_source(
    source: &crate::expression::CompiledText,
    scope: &Scope<'_>,
    binder: &Binder<'_>,
) -> Result<String, Failure> {
    if let Some(expression) = source.single()
        && let crate::expression::Evaluated::Json(serde_json::Value::String(text)) =
            expression.evaluate(scope, &binder.evaluation)?
    {
        return Ok(text.clone());
    }
    source.evaluate(scope, &binder.evaluation)
}

/// Decodes a base64 `data:` URL (RFC 2397).
pub(crate) fn decode(address: &str) -> Result<Arc<[u8]>, Failure> {
    let wrong = |message: &str| Failure::new("invalid-image", message);
    let (head, body) = address
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(','))
        .ok_or_else(|| wrong("this is not a `data:` URL"))?;
    if !head.ends_with(";base64") {
        return Err(wrong("a picture's `data:` URL needs `;base64`"));
    }
    if body.len() / 4 * 3 > MAX_BYTES {
        return Err(too_large(format!(
            "the picture has more than {MAX_BYTES} bytes"
        )));
    }
    let compact: String;
    let body = if body.contains(char::is_whitespace) {
        compact = body.split_whitespace().collect();
        &compact
    } else {
        body
    };
    STANDARD
        .decode(body)
        .map(Arc::from)
        .map_err(|error| wrong(&format!("the base64 of this picture is damaged: {error}")))
}

pub(super) fn too_large(message: String) -> Failure {
    Failure {
        hint: Some("reduce the size of the picture before adding it".to_owned()),
        ..Failure::new("image-too-large", message)
    }
}

/// The media type of a picture that templates can show, by its content.
#[must_use]
pub fn media_type_of_picture(bytes: &[u8]) -> Option<&'static str> {
    if svg::is_svg(bytes) {
        return Some("image/svg+xml");
    }
    match imagesize::image_type(bytes).ok()? {
        ImageType::Png => Some("image/png"),
        ImageType::Jpeg => Some("image/jpeg"),
        ImageType::Gif => Some("image/gif"),
        ImageType::Webp => Some("image/webp"),
        _ => None,
    }
}

/// Checks the header of an image without decoding the pixels, unless they are those of a photo that
/// is to be turned.
fn check(bytes: &Arc<[u8]>) -> Result<ImageData, Failure> {
    if bytes.len() > MAX_BYTES {
        return Err(too_large(format!(
            "the picture has {} bytes; at most {MAX_BYTES} are allowed",
            bytes.len()
        )));
    }
    let format = match imagesize::image_type(bytes) {
        Ok(ImageType::Png) => ImageFormat::Png,
        Ok(ImageType::Jpeg) => ImageFormat::Jpeg,
        Ok(ImageType::Gif) => ImageFormat::Gif,
        Ok(ImageType::Webp) => ImageFormat::WebP,
        _ => {
            return Err(Failure::new(
                "unsupported-image",
                "this is not a PNG, JPEG, GIF, WebP or SVG picture",
            ));
        }
    };
    let size = imagesize::blob_size(bytes).map_err(|error| {
        Failure::new("invalid-image", format!("the picture is damaged: {error}"))
    })?;
    if size.width == 0 || size.height == 0 {
        return Err(Failure::new("invalid-image", "the picture has no pixels"));
    }
    let pixels = (size.width as u64).saturating_mul(size.height as u64);
    let (width, height) = (u32::try_from(size.width), u32::try_from(size.height));
    let (Ok(width_px), Ok(height_px), true) = (width, height, pixels <= MAX_PIXELS) else {
        return Err(too_large(format!(
            "the picture has {} x {} pixels; at most {MAX_PIXELS} are allowed",
            size.width, size.height
        )));
    };
    let stored = ImageData {
        bytes: Arc::clone(bytes),
        format,
        width_px,
        height_px,
        page: 0,
        drawing: None,
    };
    Ok(match format {
        ImageFormat::Jpeg => upright(stored),
        _ => stored,
    })
}

/// Drawn size in points: as specified, or else by pixels at 96 dpi, limited to a width of `most`.
fn size(
    data: &ImageData,
    width: Option<f32>,
    height: Option<f32>,
    fit: Fit,
    most: f32,
) -> (f32, f32) {
    let (pixels_wide, pixels_high) = data.size();
    let ratio = pixels_high / pixels_wide;
    match (width, height) {
        (Some(width), Some(height)) => match fit {
            Fit::Stretch | Fit::Cover => (width, height),
            Fit::Contain => {
                let scale = (width / pixels_wide).min(height / pixels_high);
                (pixels_wide * scale, pixels_high * scale)
            }
        },
        (Some(width), None) => (width, width * ratio),
        (None, Some(height)) => (height / ratio, height),
        (None, None) => {
            let width = (pixels_wide * POINTS_OF_PIXEL).min(most.max(1.0));
            (width, width * ratio)
        }
    }
}
