//! Tests of form fields.

use super::*;
use crate::bound::FormFieldKind;

/// What is wrong with a field, in the template or with data.
fn wrong(field: Json, data: &Json) -> Vec<(String, String)> {
    let template = json!({ "key": "test", "body": [field] });
    let compiled = template_from_json(template).and_then(crate::compile);
    let bound = |compiled: CompiledTemplate| {
        bind(&compiled, data, &BindOptions::default(), &HOST).map(|_| ())
    };
    let found = compiled.and_then(bound).unwrap_err();
    let told = found.into_iter();
    told.map(|one| (one.code.to_string(), one.path.to_string()))
        .collect()
}

#[test]
fn a_field_has_the_properties_of_its_kind() {
    for (more, place) in [
        (json!({ "kind": "dropDown" }), "kind"),
        (json!({ "options": ["a"] }), "options"),
        (json!({ "each": "rows" }), "each"),
        (json!({ "checked": "true" }), "checked"),
        (json!({ "kind": "checkBox", "value": "x" }), "value"),
        (json!({ "kind": "date", "lines": 2 }), "lines"),
        (
            json!({ "kind": "radio", "options": ["a"], "maxLength": 3 }),
            "maxLength",
        ),
        (json!({ "submit": "https://example.com" }), "submit"),
    ] {
        let mut field = json!({ "type": "formField", "name": "f" });
        let own = field.as_object_mut().unwrap();
        own.extend(more.as_object().unwrap().clone());
        let found = wrong(field, &json!({}));
        let expected = ("invalid-form-field".to_owned(), format!("/body/0/{place}"));
        assert!(found.contains(&expected), "{more}: {found:?}");
    }
}

#[test]
fn a_value_is_one_of_the_options() {
    let field = json!({
        "type": "formField", "name": "f", "kind": "radio", "each": "rows", "value": "{{ v }}"
    });
    let rows = json!(["a", 2, { "value": "c", "label": "C" }]);
    for (value, chosen) in [("2", Some(1)), ("c", Some(2)), ("", None)] {
        let document = document(json!([field]), &json!({ "rows": rows, "v": value }));
        let BlockKind::FormField(field) = &document.sections[0].body[0].kind else {
            panic!();
        };
        assert_eq!(field.chosen(), chosen);
        assert!(matches!(&field.kind, FormFieldKind::Radio(options) if options.len() == 3));
    }
    let found = wrong(field.clone(), &json!({ "rows": rows, "v": "C" }));
    assert_eq!(
        found,
        [("invalid-form-field".to_owned(), "/body/0/value".to_owned())]
    );
    let found = wrong(field, &json!({ "rows": [{ "label": "c" }], "v": "" }));
    assert_eq!(
        found,
        [("invalid-form-field".to_owned(), "/body/0/each".to_owned())]
    );
}

#[test]
fn names_and_addresses_are_checked() {
    let field = json!({ "type": "formField", "name": "{{ n }}" });
    let found = wrong(field, &json!({ "n": " " }));
    assert_eq!(
        found,
        [("invalid-form-field".to_owned(), "/body/0/name".to_owned())]
    );
    let field = json!({
        "type": "formField", "kind": "button", "name": "b", "submit": "javascript:alert(1)"
    });
    let found = wrong(field, &json!({}));
    assert_eq!(found[0].0, "invalid-link");
}
