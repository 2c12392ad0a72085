//! The stage that redacts areas.

use serde_json::{Value as Json, json};

use crate::{
    app::TestApp,
    documents::send,
    new_stages::{file_of, text_of},
    stages::{made, pipe, said},
};

#[test]
fn areas_are_redacted_or_the_form_says_why_not() {
    let app = TestApp::start();
    // One line, below the upper margin of an A4 page.
    let definition = json!({
        "kind": "document", "key": "letter", "page": {"size": "A4", "margins": "20mm"},
        "body": [{"type": "text", "content": "Secret of the house"}, {"type": "text", "content": "Public"}],
    });
    let letter = made(app.post(
        "/render/pdf",
        &json!({"definition": definition, "data": {}}),
    ))
    .bytes;
    let file = file_of("letter.pdf", &letter);
    let region = |y: f64| json!({"page": 1, "x": 0, "y": y, "width": 85, "height": 20});
    // The first word of the first line.
    let stages = json!([{"op": "redact", "regions": [region(766.0)]}]);
    let done = made(pipe(&app, &[file], &stages)).bytes;
    let text = text_of(&done);
    assert!(
        !text.contains("Secret") && text.contains("of the house") && text.contains("Public"),
        "{text}"
    );
    let regions = json!([region(766.0)]).to_string();
    let done = made(send(
        &app,
        "pdf/redact",
        &[file, ("regions", "", regions.as_bytes())],
    ))
    .bytes;
    assert_eq!(text_of(&done), text);
    let wrong = |stages: Json| {
        let stages = stages.to_string();
        said(&app, "pdf/pipe", &[file, ("stages", "", stages.as_bytes())])
    };
    let prefix = "Invalid form data: form field 'stages' is invalid: stage 0: redact: ";
    assert_eq!(
        wrong(json!([{"op": "redact"}])),
        format!("{prefix}regions is required")
    );
    assert_eq!(
        wrong(json!([{"op": "redact", "regions": [{"page": 1, "x": 0, "y": 0, "width": 5}]}])),
        format!("{prefix}regions[0].height is required")
    );
    let late = wrong(
        json!([{"op": "redact", "regions": [{"page": 2, "x": 0, "y": 0, "width": 5, "height": 5}]}]),
    );
    assert!(
        late.starts_with("Stage 'redact' failed on 'letter.pdf': "),
        "{late}"
    );
}
