//! Maps from codes to characters of composite fonts (ISO 19005-2, 6.2.11.3).

use lopdf::{Dictionary, Document, Object, Stream};

use crate::open::value;

/// Maximum size of a map, in bytes.
const MAX_MAP: usize = 8 << 20;
const OTHER: &str = "has a map of codes for other characters (6.2.11.3.1)";

/// Predefined maps from codes to characters, and the order of characters that they are for (ISO 32000-1, table
/// 118); those for both directions end in `-H` and `-V`.
const MAPS: &[(&str, &[&str])] = &[
    (
        "GB1",
        &[
            "GB-EUC",
            "GBpc-EUC",
            "GBK-EUC",
            "GBKp-EUC",
            "GBK2K",
            "UniGB-UCS2",
            "UniGB-UTF16",
        ],
    ),
    (
        "CNS1",
        &[
            "B5pc",
            "HKscs-B5",
            "ETen-B5",
            "ETenms-B5",
            "CNS-EUC",
            "UniCNS-UCS2",
            "UniCNS-UTF16",
        ],
    ),
    (
        "Japan1",
        &[
            "83pv-RKSJ",
            "90ms-RKSJ",
            "90msp-RKSJ",
            "90pv-RKSJ",
            "Add-RKSJ",
            "EUC",
            "Ext-RKSJ",
            "",
            "UniJIS-UCS2",
            "UniJIS-UCS2-HW",
            "UniJIS-UTF16",
        ],
    ),
    (
        "Korea1",
        &[
            "KSC-EUC",
            "KSCms-UHC",
            "KSCms-UHC-HW",
            "KSCpc-EUC",
            "UniKS-UCS2",
            "UniKS-UTF16",
        ],
    ),
];

/// The newest supplement of these orders.
const MAX_SUPPLEMENT: i64 = 7;

/// Which characters a font or a map is for.
pub(super) struct System {
    registry: Vec<u8>,
    ordering: Vec<u8>,
    supplement: i64,
}

impl System {
    pub(super) fn read(document: &Document, system: &Dictionary) -> Option<Self> {
        let text = |key: &[u8]| Some(value(document, system, key)?.as_str().ok()?.to_vec());
        Some(Self {
            registry: text(b"Registry")?,
            ordering: text(b"Ordering")?,
            supplement: value(document, system, b"Supplement")?.as_i64().ok()?,
        })
    }
}

/// What is wrong with a map that has a name, for a font of the characters `own`.
pub(super) fn predefined(map: &[u8], own: Option<&System>) -> Option<&'static str> {
    let map = String::from_utf8_lossy(map);
    if map == "Identity-H" || map == "Identity-V" {
        return None;
    }
    let direction = map.strip_suffix("-H").or_else(|| map.strip_suffix("-V"));
    let stem = direction.unwrap_or(&map);
    let is_known = |known: &str| stem == known || known.is_empty() && ["H", "V"].contains(&stem);
    let order = MAPS
        .iter()
        .find(|(_, maps)| maps.iter().copied().any(is_known));
    let Some((order, _)) = order else {
        return Some("has a map of codes that is not known (6.2.11.3.3)");
    };
    let fits = |own: &System| {
        own.registry == b"Adobe"
            && own.ordering == order.as_bytes()
            && own.supplement <= MAX_SUPPLEMENT
    };
    (!own.is_some_and(fits)).then_some(OTHER)
}

/// What is wrong with a map that the file has, for a font of the characters `own`.
pub(super) fn embedded(
    document: &Document,
    map: &Stream,
    own: Option<&System>,
) -> Option<&'static str> {
    let said = value(document, &map.dict, b"CIDSystemInfo").and_then(|it| it.as_dict().ok());
    let said = said.and_then(|said| System::read(document, said));
    let (Some(own), Some(said)) = (own, said) else {
        return Some(OTHER);
    };
    let content = map
        .get_plain_content_with_limit(MAX_MAP)
        .unwrap_or_default();
    let text = String::from_utf8_lossy(&content);
    let after = |key: &str| text.split_once(key).map(|(_, rest)| rest.trim_start());
    // What the map itself says must be the same.
    let order = after("/Ordering").and_then(|rest| rest.strip_prefix('(')?.split_once(')'));
    let fits = own.registry == said.registry
        && own.ordering == said.ordering
        && own.supplement <= said.supplement
        && order.is_none_or(|(order, _)| own.ordering == order.as_bytes());
    let is_vertical = after("/WMode").is_some_and(|rest| rest.starts_with('1'));
    let says_vertical = value(document, &map.dict, b"WMode") == Some(&Object::Integer(1));
    if !fits {
        Some(OTHER)
    } else if is_vertical != says_vertical {
        Some("has a map of codes of another direction (6.2.11.3.3)")
    } else if map.dict.has(b"UseCMap") || text.contains("usecmap") {
        Some("has a map of codes that uses another one (6.2.11.3.3)")
    } else {
        None
    }
}
