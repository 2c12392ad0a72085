//! Color spaces and profiles of archival files (ISO 19005-2, 6.2.3 and 6.2.4).

use std::collections::{BTreeMap, HashMap};

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::{
    dictionaries::{each, name},
    operators::Devices,
};
use crate::open::{array, dictionary, resolve, value};

/// Size of the header of a profile, in bytes (ICC.1, 7.2).
const HEADER: usize = 128;
/// Maximum size of a profile, in bytes.
const MAX_PROFILE: usize = 64 << 20;
/// How many output intents are kept.
const MAX_INTENTS: usize = 16;
/// Maximum number of colorants of a color space (6.1.13).
const MAX_COLORANTS: usize = 32;

/// What a profile is for.
struct Profile {
    class: [u8; 4],
    space: [u8; 4],
    version: u8,
}

impl Profile {
    fn read(document: &Document, object: &Object) -> Option<Self> {
        let stream = resolve(document, object)?.as_stream().ok()?;
        let content = stream.get_plain_content_with_limit(MAX_PROFILE).ok()?;
        let head = content.get(..HEADER)?;
        let four = |at: usize| head[at..at + 4].try_into().unwrap_or_default();
        (&head[36..40] == b"acsp").then(|| Self {
            class: four(12),
            space: four(16),
            version: head[8],
        })
    }

    fn channels(&self) -> Option<i64> {
        match &self.space {
            b"GRAY" => Some(1),
            b"RGB " | b"Lab " => Some(3),
            b"CMYK" => Some(4),
            _ => None,
        }
    }
}

fn channels_said(document: &Document, profile: &Object) -> Option<i64> {
    let stream = resolve(document, profile)?.as_stream().ok()?;
    value(document, &stream.dict, b"N")?.as_i64().ok()
}

/// Checks the colors of `document`, which draws in the colors of `devices`.
pub(super) fn check(
    document: &Document,
    devices: Devices,
    reasons: &mut Vec<String>,
    checkpoint: &dyn Fn(),
) {
    let spaces = Spaces::of(document, reasons, checkpoint);
    let devices = devices.and(spaces.devices);
    match intent(document, reasons) {
        // The profile for RGB that is added.
        None | Some(3) if devices.cmyk => reasons.push(
            "it has CMYK colors, but no profile says how they look (6.2.4.3): make it with RGB \
             colors, or with an output intent for CMYK"
                .to_owned(),
        ),
        Some(1) if devices.cmyk || devices.rgb => reasons
            .push("it has colors, but its output intent is for gray only (6.2.4.3)".to_owned()),
        Some(4) if devices.rgb => reasons
            .push("it has RGB colors, but its output intent is for CMYK (6.2.4.3)".to_owned()),
        _ => {}
    }
    if spaces.has_ink_profile && spaces.overprints {
        reasons.push("it overprints with a profile for CMYK in mode 1 (6.2.4.2)".to_owned());
    }
}

/// Number of channels of the output intent for PDF/A; `None` without one.
fn intent(document: &Document, reasons: &mut Vec<String>) -> Option<i64> {
    let catalog = document.catalog().ok()?;
    let intents = array(document, catalog.get(b"OutputIntents").ok());
    let profile = intents
        .iter()
        .find_map(|intent| dictionary(document, intent)?.get(b"DestOutputProfile").ok())?;
    let read = Profile::read(document, profile);
    let is_output = |it: &Profile| {
        [*b"prtr", *b"mntr"].contains(&it.class) && it.version < 5 && it.space != *b"Lab "
    };
    let channels = read.filter(is_output).and_then(|it| it.channels());
    if channels.is_none() || channels != channels_said(document, profile) {
        reasons.push("the profile of its output intent cannot be one (6.2.3)".to_owned());
    }
    channels
}

/// What the color spaces of a file are.
#[derive(Default)]
struct Spaces<'a> {
    devices: Devices,
    has_ink_profile: bool,
    overprints: bool,
    /// The alternate space and the tint transform of separations, by their names.
    separations: BTreeMap<&'a [u8], (&'a Object, &'a Object)>,
    profiles: HashMap<ObjectId, bool>,
    /// Objects that were compared, and whether they are the same.
    compared: HashMap<(ObjectId, ObjectId), bool>,
}

impl<'a> Spaces<'a> {
    fn of(document: &'a Document, reasons: &mut Vec<String>, checkpoint: &dyn Fn()) -> Self {
        let mut spaces = Self::default();
        for object in document.objects.values() {
            checkpoint();
            spaces.look(document, object, 0, reasons);
        }
        each(document, &mut |_, dictionary| {
            let is_on = |key: &[u8]| {
                value(document, dictionary, key).is_some_and(|it| *it == Object::Boolean(true))
            };
            let mode = value(document, dictionary, b"OPM").and_then(|it| it.as_i64().ok());
            spaces.overprints |= mode == Some(1) && (is_on(b"OP") || is_on(b"op"));
        });
        spaces
    }

    fn look(
        &mut self,
        document: &'a Document,
        object: &'a Object,
        depth: usize,
        reasons: &mut Vec<String>,
    ) {
        if depth > 100 {
            return;
        }
        match object {
            Object::Name(name) => self.devices.add(name),
            Object::Array(items) => {
                if let Some(Object::Name(kind)) = items.first() {
                    self.space(document, kind, items, reasons);
                }
                for item in items {
                    self.look(document, item, depth + 1, reasons);
                }
            }
            Object::Dictionary(entries) => self.entries(document, entries, depth, reasons),
            Object::Stream(stream) => self.entries(document, &stream.dict, depth, reasons),
            _ => {}
        }
    }

    fn entries(
        &mut self,
        document: &'a Document,
        entries: &'a Dictionary,
        depth: usize,
        reasons: &mut Vec<String>,
    ) {
        for (_, entry) in entries {
            self.look(document, entry, depth + 1, reasons);
        }
    }

    fn space(
        &mut self,
        document: &'a Document,
        kind: &[u8],
        items: &'a [Object],
        reasons: &mut Vec<String>,
    ) {
        let mut refuse = |reason: &str| {
            if !reasons.iter().any(|known| known == reason) {
                reasons.push(reason.to_owned());
            }
        };
        match (kind, items) {
            (b"ICCBased", [_, profile, ..]) => {
                self.has_ink_profile |= channels_said(document, profile) == Some(4);
                if !self.is_profile(document, profile) {
                    refuse("a color space has a profile that cannot be one (6.2.4.2)");
                }
            }
            (b"Separation", [_, Object::Name(name), other, tint, ..])
                if name != b"All" && name != b"None" =>
            {
                let (known_other, known_tint) =
                    *self.separations.entry(name).or_insert((other, tint));
                if !self.is_same(document, known_other, other)
                    || !self.is_same(document, known_tint, tint)
                {
                    refuse("a separation has different colors in several places (6.2.4.4)");
                }
            }
            (b"DeviceN", [_, names, ..]) => {
                let names = array(document, Some(names));
                if names.len() > MAX_COLORANTS {
                    refuse("a color space has more than 32 colorants (6.1.13)");
                    return;
                }
                let attributes = items.get(4).and_then(|it| dictionary(document, it));
                let sub =
                    |key: &[u8]| attributes.and_then(|it| value(document, it, key)?.as_dict().ok());
                let process = sub(b"Process").and_then(|it| it.get(b"Components").ok());
                let process = array(document, process);
                let process = &process[..process.len().min(MAX_COLORANTS)];
                let colorants = sub(b"Colorants");
                let is_known = |one: &Object| {
                    let Ok(name) = one.as_name() else {
                        return false;
                    };
                    let is_ink =
                        [&b"None"[..], b"Cyan", b"Magenta", b"Yellow", b"Black"].contains(&name);
                    is_ink || process.contains(one) || colorants.is_some_and(|it| it.has(name))
                };
                if !names.iter().all(is_known) {
                    refuse("a color space does not say what its colorants are (6.2.4.4)");
                }
            }
            _ => {}
        }
    }

    /// Whether two objects are equal. Each pair is compared once: many may refer to large ones.
    fn is_same(&mut self, document: &Document, one: &Object, two: &Object) -> bool {
        if one == two {
            return true;
        }
        let (Object::Reference(first), Object::Reference(second)) = (one, two) else {
            return resolve(document, one) == resolve(document, two);
        };
        let known = self.compared.entry((*first, *second));
        *known.or_insert_with(|| resolve(document, one) == resolve(document, two))
    }

    fn is_profile(&mut self, document: &Document, object: &Object) -> bool {
        // The object at the end of a chain of references.
        let id = document.dereference(object).ok().and_then(|(id, _)| id);
        if let Some(known) = id.and_then(|id| self.profiles.get(&id)) {
            return *known;
        }
        let is_one = Profile::read(document, object).is_some_and(|it| {
            [*b"prtr", *b"mntr", *b"scnr", *b"spac"].contains(&it.class)
                && it.version < 5
                && it.channels().is_some()
        });
        if let Some(id) = id {
            self.profiles.insert(id, is_one);
        }
        is_one
    }
}

/// The output intents that may stay: one for PDF/A, and those of other standards with the same profile
/// (6.2.3); empty if there is none for PDF/A.
pub(super) fn kept_intents(document: &Document) -> Vec<Object> {
    let Ok(catalog) = document.catalog() else {
        return Vec::new();
    };
    let intents = array(document, catalog.get(b"OutputIntents").ok());
    let profile = |intent: &Object| {
        let intent = dictionary(document, intent)?;
        let profile = intent.get(b"DestOutputProfile").ok()?;
        let (id, profile) = document.dereference(profile).ok()?;
        profile.as_stream().is_ok().then_some(id)?
    };
    let is_own = |intent: &&Object| {
        let kind = dictionary(document, intent).and_then(|it| name(it, b"S"));
        kind == Some(b"GTS_PDFA1") && profile(intent).is_some()
    };
    let Some(own) = intents.iter().find(is_own).and_then(profile) else {
        return Vec::new();
    };
    let refers = |intent: &Object| {
        dictionary(document, intent).is_some_and(|it| it.has(b"DestOutputProfileRef"))
    };
    let kept = intents
        .iter()
        .filter(|intent| profile(intent) == Some(own) && !refers(intent));
    kept.take(MAX_INTENTS).cloned().collect()
}
