//! Operations of content: what they name, and what archival content may not say in them.

use lopdf::{Object, content::Operation};

use super::pictures::has_right_bits;

/// Rendering intents (ISO 32000-1, 8.6.5.8).
pub(super) const INTENTS: [&[u8]; 4] = [
    b"AbsoluteColorimetric",
    b"RelativeColorimetric",
    b"Saturation",
    b"Perceptual",
];
/// Filters that a picture inside of content may have (6.1.10).
const PICTURE_FILTERS: [&[u8]; 12] = [
    b"AHx",
    b"ASCIIHexDecode",
    b"A85",
    b"ASCII85Decode",
    b"Fl",
    b"FlateDecode",
    b"RL",
    b"RunLengthDecode",
    b"CCF",
    b"CCITTFaxDecode",
    b"DCT",
    b"DCTDecode",
];
/// All operators (ISO 32000-1, annex A).
const OPERATORS: &[&str] = &[
    "b", "B", "b*", "B*", "BDC", "BI", "BMC", "BT", "BX", "c", "cm", "CS", "cs", "d", "d0", "d1",
    "Do", "DP", "EI", "EMC", "ET", "EX", "f", "F", "f*", "G", "g", "gs", "h", "i", "ID", "j", "J",
    "K", "k", "l", "m", "M", "MP", "n", "q", "Q", "re", "RG", "rg", "ri", "s", "S", "SC", "sc",
    "SCN", "scn", "sh", "T*", "Tc", "Td", "TD", "Tf", "Tj", "TJ", "TL", "Tm", "Tr", "Ts", "Tw",
    "Tz", "v", "w", "W", "W*", "y", "'", "\"",
];

/// Colors of devices, which only a profile for them makes definite.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Devices {
    pub(super) rgb: bool,
    pub(super) cmyk: bool,
}

impl Devices {
    /// Adds a color space by its name, also that of pictures inside of content.
    pub(super) fn add(&mut self, space: &[u8]) {
        self.rgb |= space == b"DeviceRGB";
        self.cmyk |= space == b"DeviceCMYK";
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self {
            rgb: self.rgb || other.rgb,
            cmyk: self.cmyk || other.cmyk,
        }
    }
}

/// What a picture inside of content breaks, by its keys and values; adds its colors to `devices`.
pub(super) fn picture_problems(entries: &[Object], devices: &mut Devices) -> Vec<&'static str> {
    let mut problems = Vec::new();
    let entry = |short: &[u8], long: &[u8]| {
        let mut pairs = entries.as_chunks::<2>().0.iter();
        let found =
            pairs.find(|[key, _]| key.as_name().is_ok_and(|key| key == short || key == long));
        found.map(|[_, value]| value)
    };
    let names = |object: Option<&Object>| match object {
        Some(Object::Name(name)) => vec![name.clone()],
        Some(Object::Array(list)) => {
            let names = list.iter().filter_map(|it| it.as_name().ok());
            names.map(<[u8]>::to_vec).collect()
        }
        _ => Vec::new(),
    };
    for space in names(entry(b"CS", b"ColorSpace")) {
        devices.add(match space.as_slice() {
            b"RGB" => b"DeviceRGB",
            b"CMYK" => b"DeviceCMYK",
            other => other,
        });
    }
    let filters = names(entry(b"F", b"Filter"));
    if filters
        .iter()
        .any(|it| !PICTURE_FILTERS.contains(&it.as_slice()))
    {
        problems.push("a picture inside of content has a filter that it must not have (6.1.10)");
    }
    if entry(b"I", b"Interpolate") == Some(&Object::Boolean(true)) {
        problems.push("a picture inside of content is interpolated (6.2.8)");
    }
    let intent = entry(b"Intent", b"Intent").and_then(|it| it.as_name().ok());
    if intent.is_some_and(|it| !INTENTS.contains(&it)) {
        problems.push("its content has a rendering intent that is none (6.2.6)");
    }
    let bits = entry(b"BPC", b"BitsPerComponent").and_then(|it| it.as_i64().ok());
    let is_mask = entry(b"IM", b"ImageMask") == Some(&Object::Boolean(true));
    if !has_right_bits(bits, is_mask) {
        problems.push("a picture has a number of bits that it must not have (6.2.8)");
    }
    problems
}

/// The kind and the name of what an operation names that resources have.
pub(super) fn named(operation: &Operation) -> Option<(&'static [u8], &[u8])> {
    let (kind, object): (&'static [u8], _) = match operation.operator.as_str() {
        "Tf" => (b"Font", operation.operands.first()),
        "Do" => (b"XObject", operation.operands.first()),
        "gs" => (b"ExtGState", operation.operands.first()),
        "sh" => (b"Shading", operation.operands.first()),
        "cs" | "CS" => (b"ColorSpace", operation.operands.first()),
        "scn" | "SCN" => (b"Pattern", operation.operands.last()),
        "BDC" | "DP" => (b"Properties", operation.operands.last()),
        _ => return None,
    };
    let name = object?.as_name().ok()?;
    let is_own = kind != b"ColorSpace" || !(name.starts_with(b"Device") || name == b"Pattern");
    is_own.then_some((kind, name))
}

/// Whether PDF knows an operator.
pub(super) fn is_operator(operator: &str) -> bool {
    OPERATORS.contains(&operator)
}
