//! The structure tree of tagged files (14.7), merged from those of several.

use lopdf::{Dictionary, Object, ObjectId, dictionary};

use crate::{
    catalog::{append, for_each_leaf},
    copy::{Copy, Target},
    open::{array, reference, value},
};

/// The structure tree that is being created.
#[derive(Default)]
pub(crate) struct Structure {
    root: Option<ObjectId>,
    tree: Dictionary,
    /// Entries of the parent tree: key, and the structure elements that it refers to.
    numbers: Vec<(i64, Object)>,
    /// Whether at least one file is not tagged.
    is_partial: bool,
}

impl Structure {
    /// Adds the structure tree of a file whose pages are copied; its parent tree keys are shifted.
    pub(crate) fn add(&mut self, copy: &mut Copy<'_>) {
        let source = copy.source;
        let by = copy.structure.unwrap_or(0);
        let catalog = source.catalog().ok();
        let tree = catalog.and_then(|catalog| value(source, catalog, b"StructTreeRoot"));
        let (Some(catalog), Some(Object::Dictionary(tree))) = (catalog, tree) else {
            self.is_partial = true;
            return;
        };
        let document = &mut copy.target.document;
        let root = *self.root.get_or_insert_with(|| document.new_object_id());
        if let Some(old) = reference(catalog, b"StructTreeRoot") {
            copy.put(old, Some(root));
        }
        let kids = match value(source, tree, b"K") {
            Some(Object::Array(kids)) => kids.iter().map(|kid| copy.whole(kid)).collect(),
            Some(_) => tree
                .get(b"K")
                .map_or(Vec::new(), |kid| vec![copy.whole(kid)]),
            None => Vec::new(),
        };
        append(&mut self.tree, "K", kids);
        let spaces = array(source, tree.get(b"Namespaces").ok());
        let spaces = spaces.iter().map(|it| copy.whole(it)).collect();
        append(&mut self.tree, "Namespaces", spaces);
        for key in ["RoleMap", "ClassMap"] {
            if let Some(Object::Dictionary(map)) = value(source, tree, key.as_bytes()) {
                self.map(copy, key, map);
            }
        }
        let mut found = Vec::new();
        if let Some(Object::Dictionary(numbers)) = value(source, tree, b"ParentTree") {
            for_each_leaf(source, numbers, b"Nums", &mut |key, object| {
                found.extend(key.as_i64().ok().map(|number| (number, object)));
            });
        }
        for (number, object) in found {
            let number = number.saturating_add(by);
            self.numbers.push((number, copy.whole(object)));
            let next = number.saturating_add(1);
            copy.target.next_structure = copy.target.next_structure.max(next);
        }
    }

    /// If two files give a name different meanings, that of the first file stays.
    fn map(&mut self, copy: &mut Copy<'_>, key: &str, map: &Dictionary) {
        let mut made = match self.tree.remove(key.as_bytes()) {
            Some(Object::Dictionary(made)) => made,
            _ => Dictionary::new(),
        };
        for (name, object) in map {
            if !made.has(name) {
                made.set(name.clone(), copy.whole(object));
            }
        }
        self.tree.set(key, made);
    }

    /// Writes the tree and refers to it in the catalog.
    pub(crate) fn finish(mut self, target: &mut Target) {
        let Some(root) = self.root else {
            return;
        };
        self.numbers.sort_by_key(|(number, _)| *number);
        let pairs = self.numbers.into_iter();
        let list: Vec<Object> = pairs.flat_map(|(number, it)| [number.into(), it]).collect();
        let numbers = target.document.add_object(dictionary! { "Nums" => list });
        self.tree.set("Type", "StructTreeRoot");
        self.tree.set("ParentTree", numbers);
        self.tree.set("ParentTreeNextKey", target.next_structure);
        target.document.objects.insert(root, self.tree.into());
        target.catalog.set("StructTreeRoot", root);
        // A partly tagged file does not count as tagged.
        let marks = dictionary! { "Marked" => !self.is_partial };
        target.catalog.set("MarkInfo", marks);
    }
}
