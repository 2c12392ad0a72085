//! Notes of versions, and how templates name assets.

use serde_json::json;

use super::*;

fn pins() -> Pins {
    Pins {
        assets: [("logo.png".to_owned(), 3)].into(),
        fonts: [("acme sans".to_owned(), [("acme.ttf".to_owned(), 2)].into())].into(),
    }
}

#[test]
fn a_note_is_put_in_and_taken_out() {
    for source in [
        "{\"key\": \"a\",\n \"body\": [] }\n",
        "{\"key\":\"a\"}",
        "{ \"key\" : \"with } and $stored\" }",
    ] {
        let noted = pin(source.as_bytes(), &pins());
        assert_eq!(pins_of(&noted), pins());
        assert_eq!(&*unpin(&noted), source.as_bytes());
        assert!(pins_of(&unpin(&noted)).is_empty());
        let mut json: Json = serde_json::from_slice(&noted).unwrap();
        assert_eq!(Pins::take(&mut json), pins());
        assert_eq!(json, serde_json::from_str::<Json>(source).unwrap());
    }
    let first = b"{\"$stored\": {\"assets\": {\"a\": 1}}, \"key\": \"a\"}";
    assert_eq!(&*unpin(first), b"{ \"key\": \"a\"}");
    assert_eq!(&*unpin(b"no JSON with $stored"), b"no JSON with $stored");
}

#[test]
fn a_noted_version_is_asked_for() {
    let pins = pins();
    assert_eq!(pins.asset("logo.png"), "logo.png@3");
    assert_eq!(pins.asset("other.png"), "other.png");
    assert_eq!(pins.fonts("Acme SANS").unwrap(), ["acme.ttf@2"]);
    assert_eq!(pins.fonts("Other"), None);
    assert_eq!(split_version("logo@3"), Some(("logo", Some(3))));
    assert_eq!(split_version("logo"), Some(("logo", None)));
    for wrong in ["logo@0", "logo@x", "../logo", "", ".logo", "a/b", "a b"] {
        assert_eq!(split_version(wrong), None, "{wrong}");
    }
}

#[test]
fn templates_name_assets_in_many_ways() {
    let template = json!({
        "key": "a",
        "theme": {"fonts": {"body": ["Acme Sans", "Arial"]}},
        "page": {"background": {"image": "paper.pdf"}},
        "imports": [{"template": "b", "version": 1, "content": {"body": [{"type": "image", "source": "seal@2"}]}}],
        "assets": {"own": "data:,"},
        "body": [
            {"type": "image", "source": "{{ if paid then 'paid.svg' else \"due.svg\" }}"},
            {"type": "image", "source": "own"}
        ],
        "$stored": {"assets": {"former": 1}}
    });
    let named = Named::of(template.to_string().as_bytes());
    for name in ["paper.pdf", "seal", "paid.svg", "due.svg"] {
        assert!(named.has_asset(name), "{name}");
    }
    assert!(!named.has_asset("own") && !named.has_asset("former") && !named.has_asset("paid"));
    assert!(named.has_family("ACME Sans"));
    let page = json!({"kind": "html", "key": "a", "html": "<img src='logo.png'><p>word</p>", "css": "a{background:url(back.svg)}"});
    let named = Named::of(page.to_string().as_bytes());
    assert!(named.has_asset("logo.png") && named.has_asset("back.svg"));
}
