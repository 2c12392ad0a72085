//! `docs/gallery.md` shows every example with a picture of each page.

use std::path::PathBuf;

/// Examples of more pages than this show the first two.
const SHOWN_PAGES: usize = 12;

fn root() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("..")
}

/// Keys of the examples with their pages.
fn examples() -> Vec<(String, usize)> {
    let mut examples = Vec::new();
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let entry = entry.unwrap();
        if !entry.path().join("template.json").exists() {
            continue;
        }
        let key = entry.file_name().into_string().unwrap();
        let pages = root().join(format!("tests/cases/examples/{key}/expected/pages.txt"));
        let pages = std::fs::read_to_string(&pages)
            .unwrap_or_else(|error| panic!("{}: {error}", pages.display()));
        examples.push((key, pages.trim().parse().unwrap()));
    }
    examples
}

#[test]
fn the_gallery_shows_every_page_of_every_example() {
    let page = std::fs::read_to_string(root().join("docs/gallery.md")).unwrap();
    let examples = examples();
    assert!(examples.len() >= 26, "examples: {}", examples.len());
    let mut wrong = Vec::new();
    let mut pictures = 0;
    for (key, pages) in examples {
        if !page.contains(&format!("\n## {key}\n")) {
            wrong.push(format!("{key} has no section"));
        }
        let shown = if pages > SHOWN_PAGES { 2 } else { pages };
        pictures += shown;
        for number in 1..=shown {
            let picture = format!("gallery/{key}-{number}.png");
            if !page.contains(&picture) || !root().join("docs").join(&picture).exists() {
                wrong.push(format!("{picture} is missing"));
            }
        }
    }
    let there = std::fs::read_dir(root().join("docs/gallery"))
        .unwrap()
        .count();
    if there != pictures {
        wrong.push(format!(
            "{there} pictures in docs/gallery, {pictures} wanted"
        ));
    }
    wrong.sort();
    assert!(
        wrong.is_empty(),
        "`cargo run -p xtask -- gallery PLATEN` writes the gallery:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn the_reference_shows_what_each_node_makes() {
    let page = std::fs::read_to_string(root().join("docs/reference/nodes.md")).unwrap();
    let mut wrong = Vec::new();
    let mut shown = 0;
    for section in page.split("\n## ").skip(1) {
        let name = section.lines().next().unwrap();
        if !section.contains("```json platen\n") {
            wrong.push(format!("{name} has no example"));
            continue;
        }
        shown += 1;
        let picture = format!("nodes/{name}.png");
        let there = root().join("docs/reference").join(&picture).exists();
        if !section.contains(&format!("]({picture})")) || !there {
            wrong.push(format!("{picture} is missing"));
        }
    }
    assert!(shown >= 20, "sections: {shown}");
    assert!(
        wrong.is_empty(),
        "`cargo run -p xtask -- nodes PLATEN` draws the pictures:\n{}",
        wrong.join("\n")
    );
}
