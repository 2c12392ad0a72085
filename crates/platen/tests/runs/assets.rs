//! Workers render with the assets that the service stores.

use serde_json::json;

use crate::process::Service;

fn drawing(color: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"><path d=\"M0 0h9v9z\" fill=\"{color}\"/></svg>"
    )
}

#[test]
fn a_worker_gets_stored_pictures_from_its_app() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[("PLATEN_ROLE", "app")]);
    let store = |name: &str, color: &str| {
        let put = ureq::put(format!("{}/assets/{name}", service.url)).send(drawing(color));
        put.unwrap().status().as_u16()
    };
    assert_eq!(
        (store("seal.svg", "red"), store("stamp.svg", "red")),
        (201, 201)
    );
    let template = json!({
        "key": "letter", "name": "Letter",
        "body": [
            {"type": "image", "source": "seal.svg", "alt": "by the template"},
            {"type": "image", "source": "{{ stamp }}", "alt": "by data"}
        ]
    });
    assert_eq!(service.post("/templates", &template).status, 201);
    let flow = json!({
        "kind": "flow", "key": "f", "name": "F", "trigger": {"type": "webhook"}, "templates": ["letter"],
        "steps": [
            {"name": "made", "type": "render", "template": "letter", "format": "html", "data": {"stamp": "stamp.svg"}},
            {"name": "reply", "type": "respond", "body": "{{ steps.made.output }}"}
        ]
    });
    service.publish_whole(&flow);
    let _worker = service.worker(1, &[]);
    let shown = || {
        let answer = service.post("/webhooks/f/sync", &json!({}));
        assert_eq!(answer.status, 200, "{answer:?}");
        let run = service.run(answer.headers["x-run-id"].to_str().unwrap());
        assert_ne!(run["worker"], "embedded");
        answer.text
    };
    // What the service itself shows for a version.
    let picture = |version: u32| {
        let source = format!("seal.svg@{version}");
        let definition =
            json!({"key": "x", "body": [{"type": "image", "source": source, "alt": ""}]});
        let page = service.post(
            "/render/html",
            &json!({"definition": definition, "data": {}}),
        );
        let (_, rest) = page.text.split_once("src=\"").unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    };
    let first = shown();
    assert!(first.contains(&picture(1)), "{first}");
    for name in ["seal.svg", "stamp.svg"] {
        assert_eq!(store(name, "blue"), 200);
    }
    let second = shown();
    for version in [1, 2] {
        assert!(second.contains(&picture(version)), "{version}: {second}");
    }
}
