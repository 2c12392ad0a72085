//! Where the nodes of a template are on its pages.

use serde_json::{Value, json};

use crate::harness::{Sheet, sheet_with_nodes};

/// Paths and pages of the boxes, with top and height rounded to points.
fn boxes(sheet: &Sheet) -> Vec<(&str, u32, f32, f32)> {
    let boxes = sheet.layout.node_boxes.iter();
    let rounded = boxes.map(|one| {
        let area = one.area;
        (&*one.path, one.page, area.y.round(), area.height.round())
    });
    rounded.collect()
}

fn rows(count: usize) -> Value {
    (0..count).map(|number| json!({"n": number})).collect()
}

#[test]
fn a_long_table_has_a_box_on_each_page_of_it() {
    let table = json!({"type": "table", "rows": "rows", "columns": [{"header": "N", "value": "{{ item.n }}"}]});
    let sheet = sheet_with_nodes(json!([table]), json!({"rows": rows(60)}));
    let found = boxes(&sheet);
    let pages: Vec<u32> = found.iter().map(|one| one.1).collect();
    let expected: Vec<u32> = (0..sheet.layout.pages.len() as u32).collect();
    assert!(expected.len() > 2);
    assert_eq!(pages, expected);
    assert!(found.iter().all(|one| one.0 == "/body/0"), "{found:?}");
    assert!(
        found
            .iter()
            .all(|one| one.2 >= 30.0 && one.2 + one.3 <= 371.0),
        "{found:?}"
    );
}

#[test]
fn a_split_panel_and_what_is_in_it_are_on_both_pages() {
    let lines = "word ".repeat(900);
    let body = json!([{"type": "panel", "body": [{"type": "text", "content": lines}]}]);
    let sheet = sheet_with_nodes(body, json!({}));
    assert!(sheet.layout.pages.len() > 1);
    for page in 0..sheet.layout.pages.len() as u32 {
        let on: Vec<&str> = (boxes(&sheet).into_iter())
            .filter(|one| one.1 == page)
            .map(|one| one.0)
            .collect();
        assert_eq!(on, ["/body/0", "/body/0/body/0"], "page {page}");
    }
}

#[test]
fn what_is_positioned_is_where_it_was_put() {
    let body = json!([{"type": "positioned", "left": "50pt", "top": "200pt", "width": "80pt", "height": "40pt",
        "body": [{"type": "text", "content": "x"}]}]);
    let sheet = sheet_with_nodes(body, json!({}));
    let outer = &sheet
        .layout
        .node_boxes
        .iter()
        .find(|one| &*one.path == "/body/0")
        .unwrap()
        .area;
    assert_eq!(
        (outer.x, outer.y, outer.width, outer.height),
        (50.0, 200.0, 80.0, 40.0)
    );
    let inner = sheet
        .layout
        .node_boxes
        .iter()
        .find(|one| &*one.path == "/body/0/body/0");
    assert_eq!(inner.unwrap().area.y, 200.0);
}

#[test]
fn each_turn_of_a_repeat_has_its_box() {
    let body = json!([{"type": "repeat", "each": "rows", "body": [
        {"type": "text", "style": {"spaceAfter": "20pt"}, "content": "{{ item.n }}"}]}]);
    let sheet = sheet_with_nodes(body, json!({"rows": rows(3)}));
    let found = boxes(&sheet);
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|one| one.0 == "/body/0/body/0"));
}

#[test]
fn nothing_is_recorded_that_nobody_asked_for() {
    let body = json!([{"type": "text", "content": "x"}]);
    let sheet = crate::harness::sheet(body, json!({}));
    assert!(sheet.layout.node_boxes.is_empty());
}
