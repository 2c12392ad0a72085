//! Content without its marks (14.6), which belong to the structure and the layers of its file, and
//! without what these layers hide (8.11).

use std::{
    collections::{HashMap, HashSet},
    slice::from_ref,
};

use lopdf::{Dictionary, Document, Object, ObjectId, content::Content};

use crate::{
    Error,
    open::{array, dictionary, value},
    page_form::MAX_CONTENT,
    words::{Operator, Operators},
};

/// How many layers in lists are looked at: marks may have long lists without being objects of their own.
const MAX_LISTED: usize = 10_000_000;

/// The layers of a file that are not shown.
pub(crate) struct Hidden<'d> {
    document: &'d Document,
    groups: HashSet<ObjectId>,
    /// Whether what belongs to several layers is hidden: many marks may have a long list of them.
    known: HashMap<ObjectId, bool>,
    /// Layers in lists that may still be looked at; beyond them, what has a list is hidden.
    listed: usize,
}

impl<'d> Hidden<'d> {
    pub(crate) fn of(document: &'d Document) -> Self {
        Self {
            document,
            groups: hidden_groups(document).unwrap_or_default(),
            known: HashMap::new(),
            listed: MAX_LISTED,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Whether what belongs to a layer, or to several, is hidden.
    pub(crate) fn hides(&mut self, layer: &Object) -> bool {
        if self.is_empty() {
            return false;
        }
        let Ok(id) = layer.as_reference() else {
            return self.hides_all(layer);
        };
        if self.groups.contains(&id) {
            return true;
        }
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        let is_hidden = self.hides_all(layer);
        self.known.insert(id, is_hidden);
        is_hidden
    }

    /// Whether what belongs to several layers is hidden. Of those with an expression nothing is.
    fn hides_all(&mut self, object: &Object) -> bool {
        let document = self.document;
        let Some(several) = dictionary(document, object) else {
            return false;
        };
        if !several.has_type(b"OCMD") || several.has(b"VE") {
            return false;
        }
        let groups = several.get(b"OCGs").ok();
        let list = match (array(document, groups), groups) {
            ([], Some(one)) => from_ref(one),
            (list, _) => list,
        };
        let Some(left) = self.listed.checked_sub(list.len()) else {
            return true;
        };
        self.listed = left;
        let is_hidden = |it: &Object| it.as_reference().is_ok_and(|id| self.groups.contains(&id));
        let hidden = list.iter().filter(|it| is_hidden(it)).count();
        let policy = value(document, several, b"P").and_then(|it| it.as_name().ok());
        !list.is_empty()
            && match policy {
                Some(b"AllOn") => hidden > 0,
                Some(b"AnyOff") => hidden == 0,
                Some(b"AllOff") => hidden < list.len(),
                _ => hidden == list.len(),
            }
    }
}

/// The layers that the usual configuration does not show.
fn hidden_groups(document: &Document) -> Option<HashSet<ObjectId>> {
    let ids = |from: &Dictionary, key: &[u8]| -> Vec<ObjectId> {
        let list = array(document, from.get(key).ok()).iter();
        list.filter_map(|it| it.as_reference().ok()).collect()
    };
    let layers = value(document, document.catalog().ok()?, b"OCProperties")?;
    let layers = layers.as_dict().ok()?;
    let setting = value(document, layers, b"D")?.as_dict().ok()?;
    let mut groups = HashSet::new();
    if value(document, setting, b"BaseState").and_then(|it| it.as_name().ok()) == Some(b"OFF") {
        groups.extend(ids(layers, b"OCGs"));
        for id in ids(setting, b"ON") {
            groups.remove(&id);
        }
    }
    groups.extend(ids(setting, b"OFF"));
    Some(groups)
}

/// Content without the operators of marked content, and without what is hidden. All else stays as it is
/// written.
pub(crate) fn unmarked(
    content: &[u8],
    resources: Option<&Dictionary>,
    hidden: &mut Hidden<'_>,
) -> Result<Vec<u8>, Error> {
    if content.len() > MAX_CONTENT {
        return Err(Error::TooLarge {
            what: "bytes of content",
            count: content.len(),
            most: MAX_CONTENT,
        });
    }
    let document = hidden.document;
    let layers = resources.and_then(|it| value(document, it, b"Properties")?.as_dict().ok());
    let layers = layers.filter(|_| !hidden.is_empty());
    let mut is_hidden = |operation: &[u8]| {
        let layer = layers.and_then(|layers| layers.get(&layer(operation)?).ok());
        layer.is_some_and(|layer| hidden.hides(layer))
    };
    let mut made = Vec::with_capacity(content.len());
    let mut kept = 0;
    let mut marks = Marks::default();
    for operator in Operators::new(content) {
        if operator.name == b"BDC" && is_hidden(&content[operator.with(2)..operator.end]) {
            marks.hide();
        }
        if let Some((start, instead)) = marks.change(&operator) {
            made.extend(&content[kept..start]);
            made.extend(instead);
            kept = operator.end;
        }
    }
    made.extend(&content[kept..]);
    Ok(made)
}

/// The name of the layer of a mark with its operands.
fn layer(operation: &[u8]) -> Option<Vec<u8>> {
    if !operation.starts_with(b"/OC") {
        return None;
    }
    let operation = Content::decode(operation).ok()?.operations.pop()?;
    match operation.operands.as_slice() {
        [Object::Name(tag), Object::Name(layer)] if tag == b"OC" => Some(layer.clone()),
        _ => None,
    }
}

/// The marks that content is in.
#[derive(Default)]
struct Marks {
    depth: usize,
    /// At what depth what is hidden begins.
    hidden: Option<usize>,
}

impl Marks {
    /// What is in the mark that begins is hidden.
    fn hide(&mut self) {
        if self.hidden.is_none() {
            self.hidden = Some(self.depth + 1);
        }
    }

    /// From where on an operator is left out, and what is there instead; `None` if it stays.
    fn change(&mut self, operator: &Operator<'_>) -> Option<(usize, &'static [u8])> {
        let (count, instead): (usize, &[u8]) = match operator.name {
            b"BMC" => {
                self.depth += 1;
                (1, b"")
            }
            b"BDC" => {
                self.depth += 1;
                (2, b"")
            }
            b"EMC" => {
                self.hidden = self.hidden.filter(|begin| *begin < self.depth);
                self.depth = self.depth.saturating_sub(1);
                (0, b"")
            }
            b"MP" => (1, b""),
            b"DP" => (2, b""),
            _ if self.hidden.is_none() => return None,
            // What paths cut off counts for what follows.
            b"S" | b"s" | b"f" | b"F" | b"f*" | b"B" | b"B*" | b"b" | b"b*" => (0, b"n"),
            b"Do" | b"sh" | b"Tj" | b"TJ" => (1, b""),
            b"'" => (1, b" T* "),
            b"\"" => (3, b" T* "),
            b"BI" => (0, b""),
            _ => return None,
        };
        Some((operator.with(count), instead))
    }
}

#[cfg(test)]
mod tests {
    use lopdf::dictionary;

    use super::*;

    /// A file with a layer that is shown, `/Shown`, and one that is not, `/Gone`.
    fn made(content: &[u8]) -> String {
        let mut document = Document::new();
        let shown = document.add_object(dictionary! { "Type" => "OCG" });
        let gone = document.add_object(dictionary! { "Type" => "OCG" });
        let both = document.add_object(dictionary! {
            "Type" => "OCMD", "P" => "AllOn", "OCGs" => vec![shown.into(), gone.into()],
        });
        let layers = dictionary! {
            "OCGs" => vec![shown.into(), gone.into()],
            "D" => dictionary! { "OFF" => vec![gone.into()] },
        };
        let catalog = document.add_object(dictionary! { "OCProperties" => layers });
        document.trailer.set("Root", catalog);
        let names = dictionary! { "Shown" => shown, "Gone" => gone, "Both" => both };
        let resources = dictionary! { "Properties" => names };
        let mut hidden = Hidden::of(&document);
        let made = unmarked(content, Some(&resources), &mut hidden).expect("content");
        String::from_utf8(made).expect("text")
    }

    #[test]
    fn long_lists_of_layers_are_not_looked_at_without_end() {
        let mut document = Document::new();
        let gone = document.add_object(dictionary! { "Type" => "OCG" });
        let layers = dictionary! { "D" => dictionary! { "OFF" => vec![gone.into()] } };
        let catalog = document.add_object(dictionary! { "OCProperties" => layers });
        document.trailer.set("Root", catalog);
        let long = document.add_object(vec![Object::Null; MAX_LISTED / 10]);
        let several = dictionary! { "Type" => "OCMD", "OCGs" => long }.into();
        let mut hidden = Hidden::of(&document);
        assert!((0..10).all(|_| !hidden.hides(&several)));
        assert!(hidden.hides(&several), "it is not looked at any more");
        assert!(hidden.hides(&gone.into()));
    }

    #[test]
    fn all_but_the_marks_stays_as_it_is_written() {
        let picture = "BI /W 8 /H 8 /BPC 8 /CS /G /F /AHx ID 00 11> EI Q 1 0 0 rg 0 0 9 9 re f";
        assert_eq!(made(picture.as_bytes()), picture);
        let damaged = "q ] --5 0 0 9 9 re f ) Q";
        assert_eq!(made(damaged.as_bytes()), damaged);
        assert_eq!(
            made(b"5 0 0 5 0 0cm /P <</MCID 0>> BDC (EMC) Tj EMC /Q MP/Q<<>>DP f"),
            "5 0 0 5 0 0cm  (EMC) Tj   f"
        );
    }

    #[test]
    fn what_layers_hide_is_left_out() {
        let words = |content: &[u8]| {
            let made = made(content);
            made.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            words(b"/OC /Gone BDC q 1 g 0 0 9 9 re W f /P BMC /Im Do EMC (a) Tj Q EMC /Im Do"),
            "q 1 g 0 0 9 9 re W n Q /Im Do"
        );
        assert_eq!(words(b"/OC /Both BDC /Im Do EMC f"), "f");
        assert_eq!(words(b"/OC /Shown BDC /Im Do EMC f"), "/Im Do f");
    }
}
