//! Paragraphs of many lines: total fit, hyphens, page ends.

use platen_layout::page::Item;
use serde_json::{Value, json};

use crate::harness::{Placed, sheet_with};

const ENGLISH: &str = include_str!("../../../../bench/text/en.txt");
const GERMAN: &str = include_str!("../../../../bench/text/de.txt");
/// Width of a space of Liberation Sans, in em.
const SPACE: f32 = 0.278;
const SIZE: f32 = 10.0;

/// Lines of a text on pages so high that it fits on one, with lines of `width` points.
fn lines(text: &str, locale: &str, align: &str, hyphenate: bool, width: f32) -> Vec<Vec<Placed>> {
    let page = json!({
        "size": {"width": format!("{}pt", width + 60.0), "height": "14000pt"}, "margins": "30pt"
    });
    let style =
        json!({"align": align, "hyphenate": hyphenate, "fontSize": "10pt", "spaceAfter": "9pt"});
    let paragraphs = text.split("\n\n").map(str::trim);
    let mut result = Vec::new();
    for paragraph in paragraphs {
        let body = json!([{"type": "text", "style": style, "content": paragraph}]);
        let sheet = sheet_with(
            json!({"locale": locale, "page": page, "body": body}),
            json!({}),
        );
        result.push(sheet.texts(0));
    }
    result
}

/// Every width at which a line has one word or twenty.
fn cases() -> Vec<(&'static str, &'static str, &'static str, bool, f32)> {
    let mut cases = Vec::new();
    for (text, locale) in [(ENGLISH, "en-GB"), (GERMAN, "de-DE")] {
        for width in [60.0, 95.0, 164.0, 241.0, 454.0] {
            for align in ["justify", "start", "center"] {
                for hyphenate in [true, false] {
                    cases.push((text, locale, align, hyphenate, width));
                }
            }
        }
    }
    cases
}

/// The text of lines, without the hyphens at their ends that are not in `original`.
fn joined(lines: &[Placed], original: &str) -> String {
    let mut text = String::new();
    let mut rest = original;
    for line in lines {
        let words = line.text.trim_end_matches('-');
        let whole = rest.strip_prefix(line.text.as_str());
        let (line, after) = match whole {
            Some(after) => (line.text.as_str(), after),
            None => (words, rest.strip_prefix(words).unwrap_or_default()),
        };
        text.push_str(line);
        rest = after.trim_start();
        if after.len() > rest.len() {
            text.push(' ');
        }
    }
    text
}

#[test]
fn every_word_is_there_in_its_order() {
    for (text, locale, align, hyphenate, width) in cases() {
        let paragraphs = text.split("\n\n").map(str::trim);
        for (set, original) in lines(text, locale, align, hyphenate, width)
            .iter()
            .zip(paragraphs)
        {
            assert_eq!(joined(set, original), original, "{align} {width}");
        }
    }
}

#[test]
fn no_line_is_wider_than_its_box() {
    for (text, locale, align, hyphenate, width) in cases() {
        for line in lines(text, locale, align, hyphenate, width).concat() {
            let inside = line.x > 29.9 && line.x + line.width < 30.0 + width + 0.1;
            assert!(inside, "{align} {width}: {line:?}");
        }
    }
}

#[test]
fn at_most_two_hyphens_follow_each_other_and_none_stands_before_the_last_line() {
    for (text, locale, align, hyphenate, width) in cases() {
        // Below, single words are wider than a line.
        if width < 150.0 {
            continue;
        }
        for set in lines(text, locale, align, hyphenate, width) {
            let hyphens: Vec<bool> = set.iter().map(|line| line.text.ends_with('-')).collect();
            let run = hyphens.windows(3).any(|three| three == [true; 3]);
            assert!(!run, "{align} {width}: {set:?}");
            let before_last = hyphens.len() > 1 && hyphens[hyphens.len() - 2];
            assert!(!before_last, "{align} {width}: {set:?}");
        }
    }
}

/// Mean space of a line, relative to that of the font.
fn space(line: &Placed, natural: f32) -> f32 {
    let count = line.text.matches(' ').count() as f32;
    1.0 + (line.width - natural) / (count * SPACE * SIZE)
}

#[test]
fn spaces_shrink_and_stretch_within_limits() {
    let natural = |text: &str| {
        let content = json!([{"text": text}]);
        let body = json!([{"type": "text", "style": {"fontSize": "10pt"}, "content": content}]);
        let page = json!({"size": {"width": "4000pt", "height": "400pt"}, "margins": "30pt"});
        sheet_with(json!({"page": page, "body": body}), json!({})).texts(0)[0].width
    };
    let mut tight = 0;
    for (text, locale, most) in [(ENGLISH, "en-GB", 2.5), (GERMAN, "de-DE", 4.0)] {
        for set in lines(text, locale, "justify", true, 241.0) {
            for line in &set[..set.len() - 1] {
                let space = space(line, natural(&line.text));
                assert!((0.59..most).contains(&space), "{space}: {line:?}");
                tight += usize::from(space < 0.95);
            }
        }
    }
    assert!(tight > 20, "{tight} lines are tight");
}

/// Points behind each glyph of the lines of a text of 150 points width.
fn tracked(text: &str, locale: &str, align: &str) -> Vec<f32> {
    let page = json!({"size": {"width": "210pt", "height": "14000pt"}, "margins": "30pt"});
    let style = json!({"align": align, "fontSize": "10pt"});
    let body = json!([{"type": "text", "style": style, "content": text}]);
    let parts = json!({"locale": locale, "page": page, "body": body});
    let sheet = sheet_with(parts, json!({}));
    let runs = sheet.layout.pages[0].items.iter();
    let runs = runs.filter_map(|item| match item {
        Item::Text(run) => Some(run),
        _ => None,
    });
    runs.map(|run| {
        let right = run.x + run.width;
        assert!(align != "justify" || right < 180.1, "{run:?}");
        assert!(run.tracking == 0.0 || right > 179.9, "{run:?}");
        run.tracking
    })
    .collect()
}

#[test]
fn letters_move_apart_only_in_justified_lines_that_would_gape_and_too_little_to_see() {
    let german = GERMAN.split("\n\n").next().unwrap();
    let tracking = tracked(german, "de-DE", "justify");
    let apart = tracking.iter().filter(|one| **one > 0.0).count();
    assert!(apart > 2 && apart < tracking.len() - 2, "{tracking:?}");
    // 3 % of the line's width are 1.4 % of an em behind each letter, or a little more if most are
    // narrow.
    assert!(
        tracking.iter().all(|one| (0.0..0.2).contains(one)),
        "{tracking:?}"
    );
    let nowhere = |tracking: Vec<f32>| tracking.iter().all(|one| *one == 0.0);
    assert!(nowhere(tracked(german, "de-DE", "start")));
    // Letters that join, and those that stand in the squares of a grid.
    let arabic = "الفاتورة مستحقة الدفع خلال ثلاثين يوما من تاريخ الاستلام الكامل للبضاعة ".repeat(4);
    assert!(nowhere(tracked(&arabic, "ar", "justify")));
    let japanese = "請求書は受領日から三十日以内にお支払いください。".repeat(4);
    assert!(nowhere(tracked(&japanese, "ja", "justify")));
}

#[test]
fn lines_of_letters_that_overlap_are_set() {
    for spacing in ["-3pt", "-5pt", "-20pt"] {
        let style = json!({"align": "justify", "fontSize": "10pt", "letterSpacing": spacing});
        let body = json!([{"type": "text", "style": style, "content": ENGLISH}]);
        let sheet = sheet_with(json!({"locale": "en-GB", "body": body}), json!({}));
        assert!(!sheet.texts(0).is_empty(), "{spacing}");
    }
}

#[test]
fn no_hyphen_ends_a_page() {
    let content: Vec<Value> = GERMAN
        .split("\n\n")
        .map(|text| json!({"type": "text", "style": {"align": "justify", "hyphenate": true}, "content": text}))
        .collect();
    let mut pages = 0;
    for height in (150..330).step_by(12) {
        let page =
            json!({"size": {"width": "230pt", "height": format!("{height}pt")}, "margins": "30pt"});
        let parts = json!({"locale": "de-DE", "page": page, "body": content.clone()});
        let sheet = sheet_with(parts, json!({}));
        for page in 0..sheet.page_count() {
            let lines = sheet.lines(page);
            let last = lines.last().unwrap();
            assert!(!last.ends_with('-'), "{height}: {last}");
            pages += 1;
        }
    }
    assert!(pages > 50);
}

#[test]
fn a_paragraph_of_a_hundred_thousand_words_is_set() {
    let text = "word and another one of them ".repeat(16_000);
    let page = json!({"size": {"width": "500pt", "height": "14000pt"}, "margins": "30pt"});
    let body = json!([{"type": "text", "style": {"align": "justify"}, "content": "{{ text }}"}]);
    let sheet = sheet_with(json!({"page": page, "body": body}), json!({"text": text}));
    let words: usize = (0..sheet.page_count())
        .flat_map(|page| sheet.texts(page))
        .map(|line| line.text.split(' ').count())
        .sum();
    assert_eq!(words, 96_000);
}

#[test]
fn words_wider_than_their_line_do_not_spoil_the_other_lines() {
    let long = "Donaudampfschifffahrtsgesellschaftskapitänswitwenrentenauszahlungsstelle";
    let text = format!("{} {long} {}", &GERMAN[..400], &GERMAN[..400]);
    for align in ["justify", "start"] {
        let set = lines(&text.replace("\n\n", " "), "de-DE", align, false, 120.0).concat();
        let hyphenated = set.iter().filter(|line| line.text.ends_with('-')).count();
        assert!((1..=8).contains(&hyphenated), "{set:?}");
        let whole: String = set
            .iter()
            .map(|line| line.text.trim_end_matches('-'))
            .collect();
        assert!(whole.contains(long), "{whole}");
    }
}
