//! The stage `sign`, whose key is among the files of the form.

use platen_engine::OwnKey;
use serde_json::{Map, Value as Json, json};

use super::{
    options::{Given, Wrong},
    translate::{Condition, Translated, Translation},
};

/// Every signature is PAdES, so that `pades` chooses nothing.
pub(super) fn sign(given: &Given) -> Translation {
    let text = |name: &str| given.text(name).map(str::to_owned);
    let Some(certificate) = text("certificate") else {
        return Err(Wrong::Missing("certificate".to_owned()));
    };
    let mut operation = Map::from_iter([("do".to_owned(), json!("sign"))]);
    for (name, ours) in [
        ("reason", "reason"),
        ("location", "location"),
        ("contactInfo", "contact"),
    ] {
        if let Some(text) = text(name) {
            operation.insert(ours.to_owned(), text.into());
        }
    }
    let timestamp = text("timestampUrl");
    if timestamp.is_some() {
        operation.insert("level".to_owned(), "b-t".into());
    }
    let key = text("key");
    let files = [Some(&certificate), key.as_ref()].into_iter().flatten();
    Ok(Translated {
        operation: Json::Object(operation),
        files: files.map(|name| (name.clone(), name.clone())).collect(),
        condition: timestamp.map(Condition::TimestampUrl),
        own_key: Some(OwnKey {
            certificate,
            key,
            password: text("certificatePassword"),
        }),
        ..Translated::default()
    })
}
