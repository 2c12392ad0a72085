//! Checks of Office packages: the ZIP is valid, parts are well-formed, relationships resolve.

use std::{
    collections::BTreeMap,
    io::{Cursor, Read},
};

/// The parts of a package by name, after checking all of them.
pub fn parts(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).expect("a zip file");
    let mut parts = BTreeMap::new();
    for index in 0..zip.len() {
        let mut file = zip.by_index(index).expect("an entry");
        let name = file.name().expect("a UTF-8 name").into_owned();
        let mut content = Vec::new();
        file.read_to_end(&mut content).expect("a sound entry");
        let twice = parts.insert(name.clone(), content);
        assert!(twice.is_none(), "{name} twice");
    }
    for (name, content) in &parts {
        if name.ends_with(".xml") || name.ends_with(".rels") {
            let text = std::str::from_utf8(content).expect("UTF-8");
            roxmltree::Document::parse(text)
                .unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        }
        if name.ends_with(".rels") {
            resolve(name, std::str::from_utf8(content).unwrap(), &parts);
        }
    }
    parts
}

fn resolve(name: &str, xml: &str, parts: &BTreeMap<String, Vec<u8>>) {
    let folder = name.split("_rels/").next().unwrap();
    for relationship in roxmltree::Document::parse(xml)
        .unwrap()
        .root_element()
        .children()
    {
        if relationship.attribute("TargetMode") == Some("External") {
            continue;
        }
        let target = relationship.attribute("Target").unwrap();
        let mut path: Vec<&str> = folder
            .split('/')
            .filter(|piece| !piece.is_empty())
            .collect();
        if target.starts_with('/') {
            path.clear();
        }
        for piece in target.split('/').filter(|piece| !piece.is_empty()) {
            if piece == ".." {
                path.pop();
            } else {
                path.push(piece);
            }
        }
        assert!(
            parts.contains_key(&path.join("/")),
            "{name} points to {target}, which is missing"
        );
    }
}

/// A part as text.
pub fn text(parts: &BTreeMap<String, Vec<u8>>, name: &str) -> String {
    String::from_utf8(
        parts
            .get(name)
            .unwrap_or_else(|| panic!("no {name}"))
            .clone(),
    )
    .unwrap()
}

/// Asserts that the children of every `element` are in the order of `sequence`.
pub fn assert_order(xml: &str, element: &str, sequence: &[&str]) {
    for node in roxmltree::Document::parse(xml).unwrap().descendants() {
        if node.tag_name().name() != element {
            continue;
        }
        let mut last = 0;
        for child in node.children().filter(roxmltree::Node::is_element) {
            let name = child.tag_name().name();
            let at = sequence.iter().position(|other| *other == name);
            let at = at.unwrap_or_else(|| panic!("{name} is not allowed in {element}"));
            assert!(at >= last, "{name} stands too late in {element}");
            last = at;
        }
    }
}
