//! The fonts of a style: its families in order, each with the face that is nearest to what it wants,
//! at the wanted place of a variable font.

use std::sync::Arc;

use harfrust::Language;
use platen_document::{
    bound::{Style, StyleId, StyleTable},
    font::{FontAxis, FontFeature},
};
use skrifa::Tag;

use super::{FontKey, Shaper};
use crate::{
    face::FaceData,
    fonts::{FaceId, Want},
};

/// Ids of faces from here on are instances of variable fonts.
const FIRST_INSTANCE: u16 = 0x8000;
/// Maximum number of instances in a document.
const MAX_INSTANCES: usize = 500;
/// Number of instances that are kept from one layout to the next.
const KEPT_INSTANCES: usize = 50;
/// Maximum number of chains in a document; ids have 15 bits.
const MAX_CHAINS: usize = 10_000;
/// Number of chains that are kept from one layout to the next.
const KEPT_CHAINS: usize = 500;

/// The fonts of a style.
pub(super) struct FontChain {
    families: Arc<[String]>,
    pub want: Want,
    pub features: Arc<[FontFeature]>,
    axes: Arc<[FontAxis]>,
    /// BCP 47 tag of the style's own language, where it is not that of the document.
    pub lang: Option<Arc<str>>,
    /// The same for the shaper.
    pub language: Option<Language>,
    pub faces: Vec<FaceId>,
    /// Whether none of the requested families exists.
    unknown: bool,
    /// Requested features that the first face lacks.
    lacking: Vec<[u8; 4]>,
    /// The first face, which supplies the metrics.
    pub primary: Arc<FaceData>,
}

/// Instances of variable fonts that are in use.
#[derive(Default)]
pub(super) struct Instances {
    places: Vec<(FaceId, Vec<(Tag, f32)>)>,
    faces: Vec<Arc<FaceData>>,
    /// Whether a document has more of them than are made.
    pub too_many: bool,
}

impl Shaper {
    /// A face of the library, or an instance of one that is a variable font.
    #[must_use]
    pub fn face(&self, id: FaceId) -> Option<&Arc<FaceData>> {
        match id.0.checked_sub(FIRST_INSTANCE) {
            Some(index) => self.instances.faces.get(usize::from(index)),
            None => self.library.face(id),
        }
    }

    /// The face at the place on its axes that `want` and `axes` ask for.
    pub(super) fn instance(&mut self, id: FaceId, want: Want, axes: &[FontAxis]) -> FaceId {
        let Some(data) = self.library.face(id) else {
            return id;
        };
        let place = data.variations(want, axes);
        if place.is_empty() {
            return id;
        }
        let all = &mut self.instances;
        let known = |(base, at): &(FaceId, Vec<_>)| *base == id && *at == place;
        if let Some(index) = all.places.iter().position(known) {
            return FaceId(FIRST_INSTANCE + index as u16);
        }
        if all.faces.len() >= MAX_INSTANCES {
            all.too_many = true;
            return id;
        }
        let Some(made) = FaceData::load(data.bytes.clone(), data.index, place.clone()) else {
            return id;
        };
        all.places.push((id, place));
        all.faces.push(Arc::new(made));
        FaceId(FIRST_INSTANCE + (all.faces.len() - 1) as u16)
    }

    /// Whether more chains or instances are known than are kept from one layout to the next.
    pub(super) fn has_many_faces(&self) -> bool {
        self.chains.len() > KEPT_CHAINS || self.instances.faces.len() > KEPT_INSTANCES
    }

    /// The font key of a style, computed once per document.
    pub(crate) fn key(&mut self, id: StyleId, styles: &StyleTable) -> FontKey {
        let index = id.0 as usize;
        if let Some(Some(key)) = self.style_keys.get(index) {
            return *key;
        }
        if self.style_keys.len() <= index {
            self.style_keys.resize(index + 1, None);
        }
        let key = self.chain_key(&styles[id]);
        let chain = &self.chains[usize::from(key.0)];
        if let Some(family) = chain.families.first() {
            if chain.unknown {
                self.unknown_families.insert(family.clone());
            }
            for tag in &chain.lacking {
                self.lacking.insert((family.clone(), *tag));
            }
        }
        self.style_keys[index] = Some(key);
        key
    }

    /// The font key of a style of no document.
    pub(crate) fn chain_key(&mut self, style: &Style) -> FontKey {
        let want = Want {
            weight: style.weight(),
            width: style.font_width,
            italic: style.italic,
        };
        let known = self.chains.iter().position(|chain| {
            chain.want == want
                && chain.families == style.font_families
                && chain.features == style.font_features
                && chain.axes == style.font_axes
                && chain.lang == style.lang
        });
        if let Some(index) = known {
            return FontKey(index as u16);
        }
        if self.chains.len() >= MAX_CHAINS {
            return FontKey(0);
        }
        let library = Arc::clone(&self.library);
        let mut faces = library.chain(&style.font_families, want);
        faces.retain(|id| library.face(*id).is_some());
        let unknown = faces.is_empty();
        if unknown {
            faces = library.chain(&["sans-serif".to_owned()], want);
        }
        for face in &mut faces {
            *face = self.instance(*face, want, &style.font_axes);
        }
        let first = faces.first().copied().unwrap_or(FaceId(0));
        let primary = self
            .face(first)
            .cloned()
            .expect("a font library holds the default family");
        let asked = style
            .font_features
            .iter()
            .filter(|feature| feature.value > 0);
        let lacking = asked.map(|feature| feature.tag);
        self.chains.push(FontChain {
            families: Arc::clone(&style.font_families),
            want,
            features: Arc::clone(&style.font_features),
            axes: Arc::clone(&style.font_axes),
            lang: style.lang.clone(),
            language: style.lang.as_deref().and_then(Language::new),
            faces,
            unknown,
            lacking: lacking.filter(|tag| !primary.has_feature(*tag)).collect(),
            primary,
        });
        FontKey((self.chains.len() - 1) as u16)
    }

    /// BCP 47 tag of the language of a style's texts.
    pub(super) fn language_tag(&self, key: FontKey) -> &str {
        let chain = &self.chains[usize::from(key.0)];
        chain.lang.as_deref().unwrap_or(&self.language_tag)
    }

    /// The face that supplies a style's metrics.
    pub(crate) fn primary(&self, key: FontKey) -> &FaceData {
        &self.chains[usize::from(key.0)].primary
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fonts::{FaceInfo, FontBytes, FontLibrary};

    static LATIN: &[u8] = include_bytes!("../../../../assets/fonts/LiberationSans-Regular.ttf");
    static HAN: &[u8] = include_bytes!("../../../../assets/fonts/NotoSansJP-Regular.otf");

    /// Shipped fonts; the Japanese one under the name of each region.
    fn shaper() -> Shaper {
        let mut library = FontLibrary::default();
        library.add_static(LATIN, "test");
        let han = FontLibrary::inspect(HAN, "test").remove(0);
        for region in ["JP", "KR", "SC", "TC"] {
            let family = format!("Noto Sans {region}");
            let info = FaceInfo {
                family,
                ..han.clone()
            };
            library.add(info, |_| Some(FontBytes::Static(HAN)));
        }
        Shaper::new(Arc::new(library))
    }

    fn family(shaper: &mut Shaper, lang: Option<&str>) -> String {
        let style = Style {
            lang: lang.map(Arc::from),
            ..Style::default()
        };
        let key = shaper.chain_key(&style);
        let runs = shaper.faces_of(key, "骨");
        let face = shaper.library.faces().nth(usize::from(runs[0].2.0));
        face.expect("a face of the library").family.clone()
    }

    #[test]
    fn a_fallback_font_follows_the_language_of_the_style() {
        for document in ["ja", "zh-CN", "zh-TW", "ko", "en"] {
            let mut shaper = shaper();
            shaper.begin(document);
            let own = family(&mut shaper, None);
            for (lang, region) in [("ja", "JP"), ("zh-CN", "SC"), ("zh-TW", "TC"), ("ko", "KR")] {
                let expected = format!("Noto Sans {region}");
                assert_eq!(family(&mut shaper, Some(lang)), expected, "in {document}");
                if document == lang {
                    assert_eq!(own, expected);
                }
            }
            assert_eq!(family(&mut shaper, None), own, "others change nothing");
        }
    }
}
