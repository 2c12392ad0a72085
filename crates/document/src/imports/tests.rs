//! Imports: what is taken, what clashes, what is refused, and how content is embedded.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::{embed, strip, wanted};
use crate::{parse_template, template::Template};

fn house() -> Json {
    json!({
        "key": "house",
        "locale": "de-DE",
        "theme": {
            "fonts": {"body": "Liberation Serif"},
            "colors": {"primary": "#003366"},
            "styles": {"fine": {"fontSize": "8pt", "color": "#555555"}}
        },
        "page": {"margins": "25mm", "footer": [{"type": "use", "macro": "address"}]},
        "macros": {"address": {"body": [{"type": "text", "content": "Acme", "style": "fine"}]}},
        "body": [{"type": "text", "content": "Sample"}]
    })
}

fn with(template: &Json, contents: &[&Json]) -> Result<Template, Vec<crate::Diagnostic>> {
    let source = template.to_string().into_bytes();
    let wanted = wanted(&source);
    assert_eq!(wanted.len(), contents.len());
    let contents: Vec<_> = wanted
        .into_iter()
        .zip(contents)
        .map(|(wanted, content)| (wanted, Arc::from(content.to_string().into_bytes())))
        .collect();
    let whole = embed(&source, &contents);
    assert_eq!(&*strip(&whole), source, "what was embedded comes out again");
    parse_template(&whole)
}

fn codes(result: Result<Template, Vec<crate::Diagnostic>>) -> Vec<(String, String)> {
    let found = result.expect_err("mistakes");
    let found = found.into_iter().map(|one| (one.code, one.path));
    found.collect()
}

#[test]
fn a_template_takes_what_it_does_not_have() {
    let letter = json!({
        "key": "letter",
        "imports": [{"template": "house", "version": 3}],
        "theme": {"colors": {"primary": "#aa0000"}, "styles": {"fine": {"color": "#777777"}}},
        "page": {"size": "A5"},
        "body": [{"type": "use", "macro": "address"}]
    });
    let linked = with(&letter, &[&house()]).expect("a template");
    let expected = json!({
        "key": "letter",
        "locale": "de-DE",
        "theme": {
            "fonts": {"body": "Liberation Serif"},
            "colors": {"primary": "#aa0000"},
            "styles": {"fine": {"fontSize": "8pt", "color": "#777777"}}
        },
        "page": {"size": "A5", "margins": "25mm", "footer": [{"type": "use", "macro": "address"}]},
        "macros": {"address": {"body": [{"type": "text", "content": "Acme", "style": "fine"}]}},
        "body": [{"type": "use", "macro": "address"}]
    });
    let by_hand = parse_template(expected.to_string().as_bytes()).expect("a template");
    assert_eq!(linked, by_hand);
}

#[test]
fn a_body_is_taken_on_request_and_filled_by_macros() {
    let letter = json!({
        "key": "letter",
        "imports": [{"template": "house", "version": 1, "take": ["body", "macros", "theme"]}],
        "macros": {"content": {"body": [{"type": "text", "content": "Dear Ms Weber"}]}}
    });
    let mut base = house();
    base["macros"]["content"] = json!({"body": []});
    base["body"] =
        json!([{"type": "use", "macro": "address"}, {"type": "use", "macro": "content"}]);
    let linked = with(&letter, &[&base]).expect("a template");
    assert_eq!(linked.body.len(), 2);
    assert_eq!(linked.macros["content"].body.len(), 1);
    assert_eq!(linked.locale, "en-US", "`locale` was not asked for");
}

#[test]
fn a_schema_is_taken_on_request() {
    let base = json!({"key": "house", "inputSchema": {"type": "object"}, "body": []});
    for (take, is_taken) in [(json!(["inputSchema"]), true), (json!(["body"]), false)] {
        let import = json!({"template": "house", "version": 1, "take": take});
        let letter = json!({"key": "letter", "imports": [import]});
        let linked = with(&letter, &[&base]).expect("a template");
        assert_eq!(linked.input_schema.is_some(), is_taken);
        let mut letter = letter;
        letter["imports"][0]["content"] = base.clone();
        assert_eq!(super::input_schema(&letter).is_some(), is_taken);
    }
}

#[test]
fn imports_that_differ_clash_unless_the_template_decides() {
    let mut other = house();
    other["theme"]["colors"]["primary"] = json!("#111111");
    let imports = json!([{"template": "house", "version": 1}, {"template": "other", "version": 1}]);
    let letter = json!({"key": "letter", "imports": imports, "body": []});
    let found = codes(with(&letter, &[&house(), &other]));
    assert_eq!(found, [("import-clash".into(), "/imports/1".into())]);
    let letter = json!({
        "key": "letter", "imports": imports, "body": [],
        "theme": {"colors": {"primary": "#222222"}}
    });
    with(&letter, &[&house(), &other]).expect("a template");
}

#[test]
fn a_unit_clashes_with_a_part_of_it() {
    let whole = json!({"key": "a", "theme": {"styles": {"fine": {"color": "#111111"}}}});
    let part = json!({"key": "b", "theme": {"styles": {"fine": {}}}});
    let imports = json!([{"template": "a", "version": 1}, {"template": "b", "version": 1}]);
    let letter = json!({"key": "letter", "imports": imports, "body": []});
    with(&letter, &[&whole, &part]).expect("an empty style gives nothing");
}

#[test]
fn imports_are_linked_through_several_templates() {
    let mut inner = house();
    for version in 1..=6 {
        let next = json!({
            "key": format!("step{version}"),
            "imports": [{"template": inner["key"], "version": version, "content": inner}],
            "body": []
        });
        inner = next;
    }
    let letter = json!({
        "key": "letter", "imports": [{"template": "step", "version": 1}],
        "body": [{"type": "use", "macro": "address"}]
    });
    with(&letter, &[&inner]).expect("seven templates in a chain");
    let next = json!({
        "key": "x", "imports": [{"template": "i", "version": 1, "content": inner}], "body": []
    });
    let next = json!({
        "key": "y", "imports": [{"template": "x", "version": 1, "content": next}], "body": []
    });
    let found = codes(with(&letter, &[&next]));
    assert_eq!(found, [("import-invalid".into(), "/imports/0".into())]);
}

#[test]
fn mistakes_name_the_import() {
    let letter = |import: Json| json!({"key": "letter", "imports": [import], "body": []});
    let import = json!({"template": "house", "version": 1});
    let broken = json!({"key": "house", "body": [{"type": "txt"}]});
    let page = json!({"kind": "html", "key": "house", "html": ""});
    for wrong in [broken, page, json!([]), json!(1)] {
        let found = codes(with(&letter(import.clone()), &[&wrong]));
        assert_eq!(
            found,
            [("import-invalid".into(), "/imports/0".into())],
            "{wrong}"
        );
    }
    let alone = parse_template(letter(import).to_string().as_bytes());
    assert_eq!(
        codes(alone),
        [("import-unresolved".into(), "/imports/0".into())]
    );
    for import in [
        json!({"template": "house"}),
        json!({"template": "house", "version": 0}),
        json!({"template": "house", "version": 1, "take": ["everything"]}),
        json!({"template": "house", "version": 1, "conten": {}}),
        json!("house"),
    ] {
        let found = codes(parse_template(
            letter(import.clone()).to_string().as_bytes(),
        ));
        assert!(found[0].1.starts_with("/imports/0"), "{import}: {found:?}");
        assert!(!found[0].0.starts_with("import-"), "{import}: {found:?}");
    }
    let many = vec![json!({"template": "house", "version": 1, "content": house()}); 17];
    let many = json!({"key": "letter", "imports": many, "body": []});
    let found = codes(parse_template(many.to_string().as_bytes()));
    assert_eq!(found, [("import-invalid".into(), "/imports".into())]);
}

#[test]
fn the_rest_of_the_source_stays_as_it_was_written() {
    let source = b"{ \"key\" : \"a\",\n  \"imports\": [ {\"version\": 2, \"template\": \"house\" } ,\n {\"template\":\"b\",\"version\":1}],\n \"body\": [ ] }";
    let found = wanted(source);
    assert_eq!(
        found
            .iter()
            .map(|one| (one.template.as_str(), one.version, one.path.as_str()))
            .collect::<Vec<_>>(),
        [("house", 2, "/imports/0"), ("b", 1, "/imports/1")]
    );
    let contents: Vec<_> = found
        .into_iter()
        .map(|wanted| (wanted, Arc::from(&b" { \"key\" : \"x\" } "[..])))
        .collect();
    let whole = embed(source, &contents);
    assert!(wanted(&whole).is_empty());
    // The spaces around an embedded template stay; nothing else does.
    let stripped = String::from_utf8(strip(&whole).into_owned()).expect("text");
    assert_eq!(
        stripped.replace(' ', ""),
        String::from_utf8_lossy(source).replace(' ', "")
    );
    for (given, left) in [
        (
            r#"{"imports":[{"content":{},"template":"a","version":1}]}"#,
            r#"{"imports":[{"template":"a","version":1}]}"#,
        ),
        (
            r#"{"imports":[{"template":"a","content" : {"imports":[]}, "version":1}]}"#,
            r#"{"imports":[{"template":"a", "version":1}]}"#,
        ),
        (
            r#"{"imports":[{"template":"a","version":1,"cont\u0065nt":{"body":[]}}]}"#,
            r#"{"imports":[{"template":"a","version":1}]}"#,
        ),
        (r#"{"imports":7}"#, r#"{"imports":7}"#),
        (
            r#"{"imports":[{"template":"a","#,
            r#"{"imports":[{"template":"a","#,
        ),
        (r#"{"a":"\"imports\""}"#, r#"{"a":"\"imports\""}"#),
    ] {
        assert_eq!(String::from_utf8_lossy(&strip(given.as_bytes())), left);
    }
}
