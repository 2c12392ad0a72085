//! Names in the data that collide with helper modules.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::{Helpers, Host, bind_html, parse_html_template};

/// A module whose helper doubles numbers.
#[derive(Debug)]
struct Doubling;

impl Helpers for Doubling {
    fn call(&self, _: &str, arguments: Vec<Json>) -> Result<Json, String> {
        let number = arguments[0].as_i64().ok_or("no number")?;
        Ok(json!(2 * number))
    }
}

impl Host for Doubling {
    fn asset(&self, _: &str) -> Option<Arc<[u8]>> {
        None
    }

    fn now_unix_seconds(&self) -> i64 {
        0
    }

    fn helpers(&self) -> Option<Arc<dyn Helpers>> {
        Some(Arc::new(Self))
    }
}

const MODULE: &str = "export const double = (number) => 2 * number;";
const TEXT: &str = "{{ helpers.double(n) if helpers is defined else 'none' }}";

#[test]
fn the_module_wins_over_a_field_of_its_name() {
    let data = json!({"helpers": [{"name": "Ann"}], "n": 3});
    let options = BindOptions::default();
    let document = compiled(json!({
        "helpers": MODULE,
        "body": [{"type": "text", "content": TEXT}],
    }));
    let document = bind(&document, &data, &options, &Doubling).unwrap();
    assert_eq!(text(&document.sections[0].body[0]), "6");
    let page = json!({"kind": "html", "key": "page", "helpers": MODULE, "html": TEXT});
    let page = parse_html_template(page.to_string().as_bytes()).unwrap();
    let page = bind_html(&page, &data, &options, &Doubling).unwrap();
    assert_eq!(page.html, "6");
    for warnings in [document.warnings, page.warnings] {
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        let warning = &warnings[0];
        assert_eq!(
            (&*warning.code, &*warning.path),
            ("hidden-by-helpers", "/helpers")
        );
    }
}

#[test]
fn without_a_module_data_may_have_any_name() {
    let data = json!({"helpers": [{"name": "Ann"}]});
    let body = json!([{"type": "text", "content": "{{ helpers[0].name }} {{ helpers|length }}"}]);
    let document = document(body, &data);
    assert_eq!(text(&document.sections[0].body[0]), "Ann 1");
    assert_eq!(document.warnings, []);
}

#[test]
fn the_module_wins_over_items_of_its_name() {
    let rows = json!([{"type": "repeat", "each": "people", "as": "helpers",
        "body": [{"type": "text", "content": TEXT}]}]);
    let template = json!({"key": "test", "name": "T", "helpers": MODULE, "body": rows});
    let data = json!({"people": ["Ann", "Bob"], "n": 2});
    let document = compiled(template.clone());
    let document = bind(&document, &data, &BindOptions::default(), &Doubling).unwrap();
    assert_eq!(texts(&document), ["4", "4"]);
    let found = crate::validate(template.to_string().as_bytes(), None);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (&*found[0].code, &*found[0].path),
        ("hidden-by-helpers", "/body/0/as")
    );
    assert!(!found[0].is_error());
}
