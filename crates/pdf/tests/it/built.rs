//! Files that a test builds object by object.

use lopdf::{Dictionary, Document, Object, ObjectId, dictionary};

/// The bytes of a file whose page tree is `node`, with `more` entries of its catalog.
pub fn whole(
    mut document: Document,
    tree: ObjectId,
    node: Dictionary,
    more: Dictionary,
) -> Vec<u8> {
    document.objects.insert(tree, node.into());
    let mut catalog = dictionary! { "Type" => "Catalog", "Pages" => tree };
    catalog.extend(&more);
    let catalog = document.add_object(catalog);
    document.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("a file");
    bytes
}

/// A page tree of these pages.
pub fn node(kids: Vec<Object>) -> Dictionary {
    dictionary! { "Type" => "Pages", "Count" => kids.len() as i64, "Kids" => kids }
}
