//! Signatures and timestamps as they are asked for in JSON.

use std::fmt;

use bytes::Bytes;
use platen_pades::{KeyFile, Level, Signer, Signing, add_timestamp, sign};
use platen_pdf::{Appearance, Certification, Extent, FileError, Limits, NamedFile, SignaturePlace};
use platen_render::RenderOptions;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::error::{PdfChangeError, wrong};
use crate::{
    Engine,
    signatures::{MAX_KEY_BYTES, now},
};

/// Left, bottom, width and height of what is drawn in a field whose size is not known, in points.
const DEFAULT_BOX: [f32; 4] = [0.0, 0.0, 200.0, 60.0];
/// Maximum width and height of what is to be seen, in points.
const MAX_SIZE: f32 = 14_400.0;

/// A signature, with what is to be seen of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SignChange {
    /// Name of the key.
    pub key: String,
    /// How much it proves: `b-b` (the default), `b-t`, `b-lt` or `b-lta`.
    pub level: Option<Level>,
    /// The field: one that is not signed, or the name of a new one.
    pub field: Option<String>,
    /// Why it is signed.
    pub reason: Option<String>,
    /// Where it is signed.
    pub location: Option<String>,
    /// How to reach who signs.
    pub contact: Option<String>,
    /// Certifies the document, and says what may be changed afterwards: `nothing`, `filling` or
    /// `comments`.
    pub certify: Option<Certification>,
    /// The page that shows it, from 1; the first without it.
    pub page: Option<usize>,
    /// Where it is to be seen: left, bottom, width and height, in points from the lower left corner
    /// of the page. Not to be seen without it, except in a field that has a place already.
    #[serde(rename = "box")]
    pub area: Option<[f32; 4]>,
    /// A picture or PDF that is context.
    pub file: Option<String>,
    /// A template that is context, with its `data` and `signature` (`name`, `time`, `reason`,
    /// `location`).
    pub template: Option<Json>,
    /// Data of the template.
    pub data: Option<Map<String, Json>>,
    /// Signs with a key that comes with the request instead of one of the service.
    #[serde(skip)]
    pub own_key: Option<OwnKey>,
}

/// A key among the files beside those that are signed, by their names.
#[derive(Clone)]
pub struct OwnKey {
    /// Certificates, and the key if there is no file for it: PKCS #12 or PEM.
    pub certificate: String,
    /// The key that goes with certificates in PEM.
    pub key: Option<String>,
    /// What opens a PKCS #12 file.
    pub password: Option<String>,
}

impl fmt::Debug for OwnKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without its password.
        formatter
            .debug_struct("OwnKey")
            .field("certificate", &self.certificate)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl OwnKey {
    fn read(
        &self,
        beside: &dyn Fn(&str) -> Result<Vec<u8>, PdfChangeError>,
    ) -> Result<KeyFile, PdfChangeError> {
        let mut bytes = beside(&self.certificate)?;
        if let Some(key) = &self.key {
            bytes.push(b'\n');
            bytes.extend(beside(key)?);
        }
        if bytes.len() as u64 > MAX_KEY_BYTES {
            return Err(wrong(format!(
                "`{}` is too large for a key",
                self.certificate
            )));
        }
        KeyFile::read(&bytes, self.password.as_deref()).map_err(PdfChangeError::Signature)
    }
}

/// What is context where a signature has a place and nothing else is asked for.
fn default_appearance(width: f32, height: f32) -> Json {
    let size = (height / 6.0).clamp(4.0, 10.0);
    let style = json!({"fontSize": format!("{size}pt"), "spaceAfter": "0pt"});
    let line = |text: &str, when: &str| json!({"type": "text", "content": text, "when": when, "style": style});
    json!({
        "kind": "document",
        "key": "signature",
        "page": {
            "size": {"width": format!("{width}pt"), "height": format!("{height}pt")},
            "margins": "2pt",
        },
        "body": [
            {
                "type": "text",
                "content": [{"text": "{{ signature.name }}", "bold": true}],
                "style": style,
            },
            line("{{ signature.time }}", "true"),
            line("{{ signature.reason }}", "signature.reason"),
            line("{{ signature.location }}", "signature.location"),
        ],
    })
}

impl Engine {
    /// Signs each file.
    pub(super) fn sign_files(
        &self,
        files: &mut [NamedFile<Bytes>],
        change: &SignChange,
        beside: &dyn Fn(&str) -> Result<Vec<u8>, PdfChangeError>,
        options: &RenderOptions,
    ) -> Result<(), PdfChangeError> {
        let signatures = self.signatures();
        let own;
        let signer: &dyn Signer = match &change.own_key {
            Some(key) => {
                own = key.read(beside)?;
                &own
            }
            None => self.key_of_service(&change.key)?,
        };
        let time = now();
        let name = signer.certificates().first().map(|it| it.name());
        let context = AppearanceContext {
            name: name.unwrap_or_default(),
            time,
            beside,
            options,
        };
        let signing = Signing {
            level: change.level.unwrap_or_default(),
            timestamp_url: signatures.timestamp_url().map(str::to_owned),
            field: change.field.clone(),
            reason: change.reason.clone(),
            location: change.location.clone(),
            contact: change.contact.clone(),
            time,
            certification: change.certify,
            appearance: self.appearance(change, &context)?,
        };
        let network = signatures.network(options.stop.as_ref());
        for file in files {
            platen_document::work::look();
            let made = sign(&file.bytes, &signing, signer, &network, &Limits::default());
            file.bytes = Bytes::from(made.map_err(|error| failed(file, error))?);
        }
        Ok(())
    }

    fn key_of_service(&self, name: &str) -> Result<&dyn Signer, PdfChangeError> {
        let signatures = self.signatures();
        if let Some(signer) = signatures.key(name) {
            return Ok(signer.as_ref());
        }
        let known: Vec<&str> = signatures.names().collect();
        Err(wrong(match known.is_empty() {
            true => "there is no key to sign with: SIGNATURE_KEYS_DIR names their folder".into(),
            false => format!("there is no key `{name}`; there is {}", known.join(", ")),
        }))
    }

    /// Adds a timestamp to each file.
    pub(super) fn stamp_files(
        &self,
        files: &mut [NamedFile<Bytes>],
        options: &RenderOptions,
    ) -> Result<(), PdfChangeError> {
        let signatures = self.signatures();
        let Some(address) = signatures.timestamp_url() else {
            return Err(wrong("there is no timestamp authority: set TIMESTAMP_URL"));
        };
        let network = signatures.network(options.stop.as_ref());
        for file in files {
            platen_document::work::look();
            let made = add_timestamp(&file.bytes, address, &network, &Limits::default());
            file.bytes = Bytes::from(made.map_err(|error| failed(file, error))?);
        }
        Ok(())
    }

    /// What is to be seen of a signature; `None` if nothing is.
    fn appearance(
        &self,
        change: &SignChange,
        context: &AppearanceContext<'_>,
    ) -> Result<Option<Appearance>, PdfChangeError> {
        if change.file.is_some() && change.template.is_some() {
            return Err(wrong("a signature takes either `file` or `template`"));
        }
        let is_needed = change.file.is_some() || change.template.is_some();
        let place = change
            .area
            .map(|[left, bottom, width, height]| SignaturePlace {
                page: change.page.unwrap_or(1),
                area: [left, bottom, left + width, bottom + height],
            });
        // A field that exists may have a place, which is not known here.
        if place.is_none() && !is_needed && change.field.is_none() {
            return Ok(None);
        }
        let [.., width, height] = change.area.unwrap_or(DEFAULT_BOX);
        let fits = |size: f32| (1.0..=MAX_SIZE).contains(&size);
        if !fits(width) || !fits(height) {
            return Err(wrong(format!(
                "`box` is left, bottom, width and height in points; sizes are from 1 to {MAX_SIZE}"
            )));
        }
        let (file, extent) = self.look(change, (width, height), context)?;
        Ok(Some(Appearance {
            file,
            extent,
            place,
            is_needed,
        }))
    }

    /// A PDF that shows the signature, and what of it counts as its size.
    fn look(
        &self,
        change: &SignChange,
        (width, height): (f32, f32),
        context: &AppearanceContext<'_>,
    ) -> Result<(Vec<u8>, Extent), PdfChangeError> {
        let failed = PdfChangeError::Stamp;
        if let Some(file) = &change.file {
            let file = (context.beside)(file)?;
            return match file.starts_with(b"%PDF-") {
                true => Ok((file, Extent::Page)),
                false => {
                    let made = self.picture(&file, context.options).map_err(failed)?;
                    Ok((made, Extent::Drawn))
                }
            };
        }
        let default = || default_appearance(width, height);
        let template = change.template.clone().unwrap_or_else(default);
        let mut data = change.data.clone().unwrap_or_default();
        let signature = json!({
            "name": context.name,
            "time": platen_pades::time_text(context.time),
            "reason": change.reason,
            "location": change.location,
        });
        data.insert("signature".to_owned(), signature);
        let made = self.sheet(template.to_string(), Json::Object(data), context.options);
        Ok((made.map_err(failed)?, Extent::Page))
    }
}

/// What a signature shows, and what with.
struct AppearanceContext<'a> {
    name: String,
    time: i64,
    beside: &'a dyn Fn(&str) -> Result<Vec<u8>, PdfChangeError>,
    options: &'a RenderOptions,
}

fn failed(file: &NamedFile<Bytes>, error: platen_pades::Error) -> PdfChangeError {
    match error {
        platen_pades::Error::Pdf(error) => PdfChangeError::Pdf(FileError {
            name: Some(file.name.clone()),
            error,
        }),
        error => PdfChangeError::Signature(error),
    }
}
