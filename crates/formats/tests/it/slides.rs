//! Slides: no content of a page is dropped.

use platen_formats::pptx;
use serde_json::{Value, json};

use crate::{
    package::{parts, text},
    whole::{bound, captioned_cell},
};

/// The slides' XML in order, and the codes of the losses.
fn slides(template: Value) -> (Vec<String>, Vec<String>) {
    let mut whole = json!({"key": "t", "name": "T", "body": []});
    for (key, value) in template.as_object().unwrap() {
        whole[key] = value.clone();
    }
    let written = pptx::write(&bound(whole)).unwrap();
    let parts = parts(&written.bytes);
    let count = parts
        .keys()
        .filter(|name| name.starts_with("ppt/slides/slide"))
        .count();
    let slides = (1..=count).map(|number| text(&parts, &format!("ppt/slides/slide{number}.xml")));
    let codes = written.warnings.iter().map(|warning| warning.code.clone());
    (slides.collect(), codes.collect())
}

fn words(count: usize) -> String {
    let words: Vec<String> = (0..count).map(|index| format!("word{index}.")).collect();
    words.join(" ")
}

#[test]
fn footnotes_of_titles_are_kept() {
    let (slides, _) = slides(json!({"body": [
        {"type": "heading", "level": 1, "content": ["First", {"text": "", "footnote": "Note one"}]},
        {"type": "text", "content": "text"},
        {"type": "heading", "level": 1, "content": ["Second", {"text": "", "footnote": "Note two"}]},
        {"type": "keyValue", "items": [
            {"key": "Key", "value": ["value", {"text": "", "footnote": "Note three"}]}
        ]}
    ]}));
    assert!(
        slides[0].contains("Note one") && slides[0].contains("baseline=\"30000\"/><a:t>1</a:t>")
    );
    assert!(slides[1].contains("Note two") && slides[1].contains("Note three"));
}

#[test]
fn a_footer_keeps_what_stands_beside_the_page_number() {
    let (slides, _) = slides(json!({
        "page": {"footer": [
            {"type": "text", "content": "Policy 4711, page {{ pageNumber }} of {{ pageCount }}"}
        ]},
        "body": [{"type": "text", "content": "one"}, {"type": "pageBreak"}, {"type": "text", "content": "two"}]
    }));
    assert_eq!(slides.len(), 2);
    for slide in &slides {
        assert!(slide.contains("Policy 4711, page "), "{slide}");
        assert!(slide.contains("<a:t>2</a:t>"), "the number of slides");
        assert_eq!(slide.matches("type=\"slidenum\"").count(), 1);
    }
}

#[test]
fn a_cell_higher_than_a_slide_goes_on_at_the_next() {
    let text = words(900);
    for span in [1, 3] {
        let (slides, warnings) = slides(json!({"body": [{"type": "table",
        "columns": [{"header": "A", "width": "60mm"}, {"header": "B"}], "bodyRows": [
            {"cells": [{"content": text, "rowSpan": span}, "one"]},
            {"cells": if span == 1 { json!(["two", "three"]) } else { json!(["two"]) }},
            {"cells": if span == 1 { json!(["four", "five"]) } else { json!(["four"]) }}
        ]}]}));
        assert!(slides.len() > 3, "{span}: {}", slides.len());
        assert!(
            !warnings.contains(&"off-slide".to_owned()),
            "{span}: {warnings:?}"
        );
        let all = slides.concat();
        for index in 0..900 {
            assert_eq!(
                all.matches(&format!("word{index}.")).count(),
                1,
                "{span}: word {index}"
            );
        }
        for slide in &slides {
            let most = slide.matches("word").count();
            assert!(most < 320, "{span}: {most} words on a slide");
        }
    }
}

#[test]
fn a_heading_moves_with_the_table_or_chart_below_it() {
    for filler in 8..30 {
        let mut body: Vec<Value> = (0..filler)
            .map(|index| json!({"type": "text", "content": format!("filler {index}")}))
            .collect();
        body.push(json!({"type": "heading", "level": 2, "content": "Stranded"}));
        body.push(json!({"type": "table", "columns": [{"header": "Below"}],
            "bodyRows": [{"cells": [words(60)]}]}));
        let (slides, _) = slides(json!({"body": body}));
        let of = |text: &str| slides.iter().position(|slide| slide.contains(text));
        assert_eq!(of("Stranded"), of("Below"), "{filler}");
    }
}

#[test]
fn footnotes_higher_than_a_slide_go_on_at_the_next() {
    let (slides, _) = slides(json!({"body": [
        {"type": "text", "content": ["Marked", {"text": "", "footnote": words(1500)}]},
        {"type": "text", "content": "after"}
    ]}));
    assert!(slides.len() > 2);
    let all = slides.concat();
    for index in 0..1500 {
        assert_eq!(
            all.matches(&format!("word{index}.")).count(),
            1,
            "word {index}"
        );
    }
}

#[test]
fn footnotes_and_captions_of_nodes_in_cells_are_kept() {
    let noted = json!({"body": [{"type": "text", "content": [
        "Text", {"text": "", "footnote": "The note"}
    ]}]});
    let (slides, _) = slides(
        json!({"body": [{"type": "table", "columns": [{}], "bodyRows": [
            {"cells": [noted]}, {"cells": [captioned_cell()]}
        ]}]}),
    );
    let all = slides.concat();
    for piece in ["Text¹", "The note", "The picture", "The table", "The chart"] {
        assert!(all.contains(piece), "{piece}\n{all}");
    }
}

#[test]
fn a_row_whose_line_is_taller_than_a_slide_stays_on_one() {
    for style in [json!({"fontSize": "250pt"}), json!({"padding": "150pt"})] {
        let tall = |span: usize| json!({"content": "7", "style": style, "rowSpan": span});
        let table = |rows: Value| json!({"type": "table", "columns": [{}, {}], "bodyRows": rows});
        let alone = table(json!([{"cells": [tall(1), "8"]}]));
        let above = table(json!([{"cells": [tall(1), "8"]}, {"cells": ["below", "it"]}]));
        let spanning = table(json!([{"cells": [tall(2), "8"]}, {"cells": ["beside"]}]));
        let items = json!([{"key": "7", "value": "8"}]);
        let pairs = json!({"type": "keyValue", "style": style, "items": items});
        for (rows, node) in [(1, alone), (2, above), (2, spanning), (1, pairs)] {
            let told = node.to_string();
            let (slides, warnings) = slides(json!({"body": [node]}));
            assert!(slides.len() <= rows, "{}: {told}", slides.len());
            let all = slides.concat();
            for text in ["7", "8"] {
                let count = all.matches(&format!("<a:t>{text}</a:t>")).count();
                assert_eq!(count, 1, "{text}: {told}");
            }
            assert!(warnings.contains(&"off-slide".to_owned()), "{told}");
        }
    }
}

#[test]
fn lines_taller_than_a_slide_go_on_until_they_end() {
    let words = ["A", "B", "C"];
    let (slides, warnings) = slides(json!({"body": [{"type": "table", "columns": [{}],
        "bodyRows": [{"cells": [{"content": words.join(" "), "style": {"fontSize": "400pt"}}]}]}]}));
    assert_eq!(slides.len(), words.len());
    for (slide, word) in slides.iter().zip(words) {
        let text = format!("<a:t>{word}");
        assert!(slide.contains(&text), "{word}: {slide}");
    }
    assert!(warnings.contains(&"off-slide".to_owned()));
}

#[test]
fn a_footnote_is_on_the_slide_of_its_mark() {
    let mut moved = false;
    for filler in 1..40 {
        let mut body: Vec<Value> = (0..filler)
            .map(|index| json!({"type": "text", "content": format!("filler {index}")}))
            .collect();
        body.push(json!({"type": "text", "content": [
            words(60), " Marked", {"text": "", "footnote": "The note"}
        ]}));
        let (slides, _) = slides(json!({"body": body}));
        let of = |text: &str| slides.iter().position(|slide| slide.contains(text));
        let marked = of("Marked");
        assert!(marked.is_some(), "{filler}");
        assert_eq!(of("The note"), marked, "{filler}");
        assert_eq!(of("baseline=\"30000\""), marked, "{filler}");
        moved |= marked == Some(1) && !slides[1].contains("filler");
    }
    assert!(moved, "no paragraph moved to another slide");
}

#[test]
fn footnotes_of_a_long_paragraph_are_on_the_slides_of_their_marks() {
    let parts = 0..6;
    let content: Vec<Value> = parts
        .clone()
        .flat_map(|index| {
            let note = format!("Note {index}.");
            let text = format!("{} part{index}.", words(200));
            [json!(text), json!({"text": "", "footnote": note})]
        })
        .collect();
    let (slides, _) = slides(json!({"body": [{"type": "text", "content": content}]}));
    assert!(slides.len() > 2, "{}", slides.len());
    let of = |text: &str| slides.iter().position(|slide| slide.contains(text));
    for index in parts {
        let marked = of(&format!("part{index}."));
        assert!(marked.is_some(), "{index}");
        assert_eq!(of(&format!("Note {index}.")), marked, "{index}");
    }
}
