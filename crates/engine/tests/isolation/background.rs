//! PDF files behind the text.

use platen_engine::Error;
use platen_render::{Error as RenderError, Format};
use serde_json::json;

use crate::{assert_same, engine, inline, isolation, options, settings};

pub fn damaged_backgrounds_are_mistakes() {
    let (engine, isolation) = (engine(), isolation(settings()));
    let file = "data:application/pdf;base64,JVBERi0xLjcgbm90aGluZw==";
    let template = json!({
        "key": "a", "name": "A", "assets": {"paper": file},
        "page": {"background": {"image": "paper"}},
        "body": [{"type": "text", "content": "Dear"}],
    });
    let source = template.to_string().into_bytes();
    let formats = [Format::Pdf];
    let inside = isolation.render(&engine, &source, b"{}", &formats, &options());
    let outside = inline(&engine, &source, "{}", &formats, &options());
    let mistakes = match &outside {
        Err(Error::Render(RenderError::Mistakes(mistakes))) => mistakes.clone(),
        other => panic!("{:?}", other.as_ref().map(|_| "made")),
    };
    assert_eq!(mistakes[0].code, "invalid-image", "{mistakes:?}");
    assert_same("a damaged background", inside, outside);
}
