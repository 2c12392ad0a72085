//! Stored assets, of a store that does not answer.

use std::sync::Arc;

use platen_engine::Error;
use platen_fault::{Backend, Code};
use platen_render::{Format, RenderOptions, StoredAssets, Unread};
use serde_json::json;

use crate::{assert_same, engine, inline, isolation, options, settings};

#[derive(Debug)]
struct Silent;

impl StoredAssets for Silent {
    fn asset(&self, _: &str) -> Option<Arc<[u8]>> {
        None
    }

    fn fonts(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn read_asset(&self, _: &str) -> Result<Option<Arc<[u8]>>, Unread> {
        Err(Unread)
    }

    fn read_fonts(&self, _: &str) -> Result<Vec<String>, Unread> {
        Err(Unread)
    }
}

pub fn what_a_silent_store_has_is_neither_left_out_nor_a_mistake() {
    let (engine, isolation) = (engine(), isolation(settings()));
    let options = RenderOptions {
        stored: Some(Arc::new(Silent)),
        ..options()
    };
    let pictured = json!({"key": "a", "name": "A", "body": [
        {"type": "image", "source": "logo", "alt": "The logo"}]});
    let written = json!({"key": "a", "name": "A",
        "theme": {"styles": {"house": {"fontFamily": "House of Nobody"}}},
        "body": [{"type": "text", "style": "house", "content": "Dear"}]});
    for (name, template) in [("a picture", pictured), ("a font", written)] {
        let source = template.to_string().into_bytes();
        let formats = [Format::Pdf];
        let inside = isolation.render(&engine, &source, b"{}", &formats, &options);
        let outside = inline(&engine, &source, "{}", &formats, &options);
        match &outside {
            Err(error @ Error::Assets(Unread)) => {
                let code = Code::BackendUnavailable(Backend::Store);
                assert_eq!(error.code(), code, "{name}");
            }
            other => panic!("{name}: {:?}", other.as_ref().map(|_| "made")),
        }
        assert_same(name, inside, outside);
    }
}
