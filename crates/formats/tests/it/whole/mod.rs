//! Whole documents: whatever their shape, every format contains each word once and in order.

mod generator;

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use platen_document::{
    BindOptions, bind, bound::Document, compile, host::FixedHost, template_from_json,
};
use platen_formats::{docx, html, pdf, pptx};
use platen_layout::{
    FontLibrary, Layout, LayoutOptions, Shaper, layout,
    page::{Artifact, Item, Page, TagId, TagKind, TextRun},
};
use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::{Value, json};

use self::generator::{Made, shape};
use crate::package::{parts, text};

static FONTS: LazyLock<Arc<FontLibrary>> = LazyLock::new(|| {
    let mut library = FontLibrary::default();
    for bytes in [
        include_bytes!("../../../../../assets/fonts/LiberationSans-Regular.ttf").as_slice(),
        include_bytes!("../../../../../assets/fonts/LiberationSans-Bold.ttf").as_slice(),
    ] {
        library.add_static(bytes, "test");
    }
    Arc::new(library)
});

/// A cell of a table with nodes that have captions.
pub fn captioned_cell() -> Value {
    let pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAECAIAAAA8r+mnAAAAGElEQVR4nGNkYGhQYGDARCwMNgxYAekSAKGAAiL79PrSAAAAAElFTkSuQmCC";
    json!({"body": [
        {"type": "image", "source": pixel, "alt": "", "caption": "The picture"},
        {"type": "table", "caption": "The table", "columns": [{}], "bodyRows": [{"cells": ["in"]}]},
        {"type": "chart", "chart": "pie", "rows": "[1]", "category": "one", "alt": "A pie",
            "series": [{"name": "Series", "value": "item"}], "caption": "The chart"}
    ]})
}

/// Binds `template` without data.
pub fn bound(template: Value) -> Document {
    bound_to(template, &Value::Null)
}

/// Binds `template` to `data`.
pub fn bound_to(template: Value, data: &Value) -> Document {
    let template = template_from_json(template).expect("the template is sound");
    let compiled = compile(template).expect("the template compiles");
    let host = FixedHost::default();
    bind(&compiled, data, &BindOptions::default(), &host).expect("it is bound")
}

/// Runs `check` on `cases` documents, the same ones every time.
fn each(cases: u32, seed: u8, check: impl Fn(&Made) -> Result<(), TestCaseError>) {
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 4_000,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let result = runner.run(&shape(), |shape| check(&shape.make()));
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// The words of `texts`, in order.
fn all_words(texts: &[String]) -> Vec<&str> {
    texts.iter().flat_map(|text| text.split(' ')).collect()
}

/// The letters of a text without spaces: words may be broken across lines.
fn squeezed(text: &str) -> String {
    text.chars().filter(char::is_ascii_lowercase).collect()
}

#[test]
fn pages_hold_every_word_once_in_order_and_inside() {
    let refused = std::cell::Cell::new(0);
    each(600, 1, |made| {
        let document = bound(made.template.clone());
        let mut shaper = Shaper::new(Arc::clone(&FONTS));
        let layout = layout(&document, &mut shaper, LayoutOptions::default());
        if let Some(error) = layout.warnings.iter().find(|found| found.is_error()) {
            prop_assert!(!error.path.is_empty(), "{error}");
            return Ok(());
        }
        let (texts, notes) = texts_by_tag(&layout, &shaper);
        let expected =
            |texts: &[String]| texts.iter().map(|text| squeezed(text)).collect::<Vec<_>>();
        prop_assert_eq!(texts, expected(&made.texts));
        prop_assert_eq!(notes, expected(&made.notes));
        let narrow = layout
            .warnings
            .iter()
            .any(|found| found.code == "line-too-narrow");
        for (index, page) in layout.pages.iter().enumerate() {
            check_page(index, page, narrow)?;
        }
        Ok(())
    });
    assert!(
        refused.get() < 30,
        "{} documents are refused",
        refused.get()
    );
}

/// The texts of the body and of footnotes, by tag in order; repeated headers are ignored.
fn texts_by_tag(layout: &Layout, shaper: &Shaper) -> (Vec<String>, Vec<String>) {
    let mut texts: BTreeMap<TagId, String> = BTreeMap::new();
    for page in &layout.pages {
        let mut tag = None;
        for item in &page.items {
            match item {
                Item::Tag(next) => tag = Some(*next),
                Item::Artifact(Artifact::Decoration) => {}
                Item::Artifact(_) => tag = None,
                Item::Text(run) => {
                    let Some(tag) = tag else { continue };
                    let said = texts.entry(tag).or_default();
                    for word in &page.words[run.words.start as usize..run.words.end as usize] {
                        said.push_str(&squeezed(&shaper.word(word.word).text));
                    }
                }
                _ => {}
            }
        }
    }
    // Letters and Roman numerals of lists are not words.
    texts.retain(|_, text| text.starts_with(['x', 'z']));
    let (notes, texts): (Vec<_>, Vec<_>) = texts
        .into_iter()
        .partition(|(tag, _)| layout.tags.kind(*tag) == TagKind::Note);
    let values = |pairs: Vec<(TagId, String)>| pairs.into_iter().map(|pair| pair.1).collect();
    (values(texts), values(notes))
}

/// Checks that every text is inside the page, and that none overlaps another.
fn check_page(index: usize, page: &Page, narrow: bool) -> Result<(), TestCaseError> {
    let runs: Vec<&TextRun> = page
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Text(run) => Some(run),
            _ => None,
        })
        .collect();
    for (place, run) in runs.iter().enumerate() {
        let inside = run.x > -1.0 && run.x + run.width < page.width + 1.0;
        prop_assert!(
            inside && run.y > 0.0 && run.y < page.height,
            "page {index}: {run:?}"
        );
        if narrow {
            continue;
        }
        for other in &runs[place + 1..] {
            let across = run.x + run.width > other.x + 0.6 && other.x + other.width > run.x + 0.6;
            let top = |run: &TextRun| run.y - run.size * 0.45;
            let over = run.y > top(other) && other.y > top(run);
            prop_assert!(
                !(across && over),
                "page {index}: {run:?} lies over {other:?}"
            );
        }
    }
    Ok(())
}

/// The words of a text that begin with `start`, in order; everything else is ignored.
fn words_in(text: &str, start: char) -> Vec<String> {
    let letters = squeezed(text);
    letters
        .match_indices(start)
        .map(|(at, _)| letters[at..].chars().take(8).collect())
        .collect()
}

/// The words of `texts`, as found by [`words_in`].
fn codes(texts: &[String]) -> Vec<String> {
    let codes = all_words(texts).into_iter();
    codes.map(|word| word.chars().take(8).collect()).collect()
}

/// The texts of elements `name` of an XML part.
fn element_texts(xml: &str, name: &str) -> String {
    let tree = roxmltree::Document::parse(xml).unwrap();
    let elements = tree
        .descendants()
        .filter(|node| node.tag_name().name() == name);
    elements.filter_map(|node| node.text()).collect()
}

#[test]
fn docx_holds_every_word_once_in_order() {
    each(60, 2, |made| {
        let written =
            docx::write(&bound(made.template.clone()), &docx::DocxOptions::default()).unwrap();
        let parts = parts(&written.bytes);
        let body = element_texts(&text(&parts, "word/document.xml"), "t");
        prop_assert_eq!(words_in(&body, 'x'), codes(&made.texts));
        let notes = match parts.contains_key("word/footnotes.xml") {
            true => element_texts(&text(&parts, "word/footnotes.xml"), "t"),
            false => String::new(),
        };
        prop_assert_eq!(words_in(&notes, 'z'), codes(&made.notes));
        Ok(())
    });
}

#[test]
fn html_holds_every_word_once_in_order() {
    each(60, 3, |made| {
        let written = html::write(&bound(made.template.clone()), None).unwrap();
        let page = String::from_utf8(written.bytes).unwrap();
        let mut said = String::new();
        for piece in page.split_once("<body").unwrap().1.split('<') {
            said.push_str(piece.split_once('>').map_or("", |(_, text)| text));
        }
        prop_assert_eq!(words_in(&said, 'x'), codes(&made.texts));
        prop_assert_eq!(words_in(&said, 'z'), codes(&made.notes));
        Ok(())
    });
}

#[test]
fn pptx_holds_every_word_once_in_order() {
    each(100, 4, |made| {
        // Portrait paper becomes the wide slides that most documents have. A word in two parts on
        // two slides could not be told from two words, so there are no long ones here.
        let mut template = made.template.to_string().replace(generator::LONG, "");
        template = template.replacen("\"height\":\"", "\"height\":\"1", 1);
        let template = serde_json::from_str(&template).unwrap();
        let written = pptx::write(&bound(template)).unwrap();
        let parts = parts(&written.bytes);
        let count = parts
            .keys()
            .filter(|name| name.starts_with("ppt/slides/slide"))
            .count();
        let (mut body, mut titles) = (String::new(), Vec::new());
        for slide in 1..=count {
            let xml = text(&parts, &format!("ppt/slides/slide{slide}.xml"));
            let tree = roxmltree::Document::parse(&xml).unwrap();
            let mut title = String::new();
            let in_header = |node: &roxmltree::Node<'_, '_>| {
                let mut above = node.ancestors();
                let row = above.find(|node| node.tag_name().name() == "tr");
                row.is_some_and(|row| {
                    let table = row.parent().unwrap();
                    let properties = table.first_element_child().unwrap();
                    let first = table.children().find(|node| node.tag_name().name() == "tr");
                    first == Some(row) && properties.attribute("firstRow").is_some()
                })
            };
            for node in tree
                .descendants()
                .filter(|node| node.tag_name().name() == "t")
            {
                let said = node.text().unwrap_or_default();
                let is_title = node.ancestors().any(|node| {
                    node.descendants().any(|inner| {
                        inner.tag_name().name() == "ph"
                            && inner.attribute("type") == Some("title")
                            && node.tag_name().name() == "sp"
                    })
                });
                if is_title {
                    title.push_str(said);
                } else if in_header(&node) {
                    // Repeated at the top of each slide of the table.
                    titles.push(squeezed(said));
                } else {
                    body.push_str(said);
                }
            }
            titles.push(squeezed(&title));
        }
        titles.sort();
        titles.dedup();
        let mut found = words_in(&body, 'x');
        found.extend(titles.iter().flat_map(|title| words_in(title, 'x')));
        // Rows that continue on the next slide do so side by side: each text is in order.
        for (number, expected) in made.texts.iter().enumerate() {
            let code = codes(std::slice::from_ref(expected));
            let own: Vec<String> = (found.iter())
                .filter(|word| word[..5] == code[0][..5])
                .cloned()
                .collect();
            prop_assert_eq!(own, code, "text {}", number);
        }
        prop_assert_eq!(found.len(), codes(&made.texts).len());
        prop_assert_eq!(words_in(&body, 'z'), codes(&made.notes));
        Ok(())
    });
}

/// As other programs read it: words are whole, except for the long ones, and inside the page.
#[test]
fn other_programs_read_every_word_of_the_pdf_inside_its_page() {
    if std::process::Command::new("pdftotext")
        .arg("-v")
        .output()
        .is_err()
    {
        assert!(
            std::env::var("REQUIRE_ALL").as_deref() != Ok("1"),
            "pdftotext is required"
        );
        eprintln!("SKIPPED: pdftotext is missing");
        return;
    }
    let folder = std::env::temp_dir().join(format!("platen-whole-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    each(12, 5, |made| {
        let document = bound(made.template.clone());
        let mut shaper = Shaper::new(Arc::clone(&FONTS));
        let layout = layout(&document, &mut shaper, LayoutOptions::default());
        if layout.warnings.iter().any(|found| found.is_error()) {
            return Ok(());
        }
        let pages = pdf::Pages::Kept(&layout.pages);
        let (bytes, _) =
            pdf::write(&document, &layout, pages, &shaper, &pdf::Options::default()).unwrap();
        let path = folder.join("any.pdf");
        std::fs::write(&path, bytes).unwrap();
        let output = std::process::Command::new("pdftotext")
            .arg("-bbox")
            .arg(&path)
            .arg("-")
            .output();
        check_bbox(
            &String::from_utf8_lossy(&output.unwrap().stdout),
            &layout,
            &shaper,
        )
    });
    let _ = std::fs::remove_dir_all(&folder);
}

fn check_bbox(page: &str, layout: &Layout, shaper: &Shaper) -> Result<(), TestCaseError> {
    let (mut found, mut size) = (BTreeMap::new(), (0.0, 0.0));
    for line in page.lines().map(str::trim) {
        let value = |name: &str| {
            let from = line.split_once(&format!("{name}=\"")).unwrap().1;
            from.split_once('"').unwrap().0.parse::<f32>().unwrap()
        };
        if line.starts_with("<page") {
            size = (value("width"), value("height"));
        } else if line.starts_with("<word") {
            let inside = value("xMin") > -1.0 && value("xMax") < size.0 + 1.0;
            let inside = inside && value("yMin") > -2.0 && value("yMax") < size.1 + 2.0;
            prop_assert!(inside, "{line}");
            let said = line.split_once('>').unwrap().1.split_once('<').unwrap().0;
            for word in words_in(said, 'x').into_iter().chain(words_in(said, 'z')) {
                *found.entry(word).or_insert(0) += 1;
            }
        }
    }
    // Words that a narrow line breaks are read as two; the pages themselves are checked above.
    let mut whole = BTreeMap::new();
    for page in &layout.pages {
        for word in &page.words {
            let said = squeezed(&shaper.word(word.word).text);
            if said.len() >= 8 && said.starts_with(['x', 'z']) {
                *whole.entry(said[..8].to_owned()).or_insert(0) += 1;
            }
        }
    }
    found.retain(|word, _| whole.contains_key(word));
    prop_assert_eq!(found, whole);
    Ok(())
}
