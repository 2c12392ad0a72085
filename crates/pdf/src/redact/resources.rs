//! Resources of new content.

use lopdf::{Dictionary, Document, Object};

use super::{part::Part, rewriter::Rewriter};
use crate::open::value;

impl Rewriter<'_> {
    /// The resources of new content: without objects that it does not draw.
    pub(super) fn resources(&self, before: Option<&Dictionary>, part: &Part) -> Dictionary {
        let mut made = before.cloned().unwrap_or_default();
        let known = before.and_then(|it| value(self.document, it, b"XObject")?.as_dict().ok());
        let lends = before.is_some_and(|it| lends(self.document, it));
        let mut objects = match part.keeps_all || lends {
            true => known.cloned().unwrap_or_default(),
            false => Dictionary::new(),
        };
        for name in &part.used {
            if let Some(entry) = known.and_then(|known| known.get(name).ok()) {
                objects.set(name.clone(), entry.clone());
            }
        }
        for (name, id) in &part.added {
            objects.set(name.clone(), *id);
        }
        made.set("XObject", objects);
        made
    }
}

/// Whether fonts of drawings, or patterns, use these resources for want of their own.
pub(super) fn lends(document: &Document, resources: &Dictionary) -> bool {
    let of = |key: &[u8]| {
        let all = value(document, resources, key).and_then(|it| it.as_dict().ok());
        all.into_iter().flat_map(|all| all.iter())
    };
    let is_poor = |object: &Object| match document.dereference(object) {
        Ok((_, Object::Dictionary(font))) => {
            let kind = value(document, font, b"Subtype").and_then(|it| it.as_name().ok());
            kind == Some(b"Type3") && !font.has(b"Resources")
        }
        Ok((_, Object::Stream(pattern))) => !pattern.dict.has(b"Resources"),
        _ => false,
    };
    let mut all = of(b"Font").chain(of(b"Pattern"));
    all.any(|(_, object)| is_poor(object))
}
