//! What each stage is among the operations of `POST /pdf`.

use platen_engine::OwnKey;
use platen_pdf::TextParts;
use serde_json::{Map, Value as Json, json};

use crate::core_font::core_font;

use super::{
    extract::Extraction,
    options::{Given, Wrong, invalid},
};

/// Maximum font size of a stamp, in points.
const MAX_FONT_SIZE: f32 = 500.0;

/// A stage as an operation.
#[derive(Debug, Default)]
pub(crate) struct Translated {
    /// The operation, as `POST /pdf` takes it.
    pub(crate) operation: Json,
    /// What is taken out instead.
    pub(crate) extraction: Option<Extraction>,
    /// Uploaded files that it needs, and their names in the operation.
    pub(crate) files: Vec<(String, String)>,
    /// What must be so before it is made.
    pub(crate) condition: Option<Condition>,
    /// The key of the form that it signs with.
    pub(crate) own_key: Option<OwnKey>,
}

/// What must be so before a stage is run.
#[derive(Debug)]
pub(crate) enum Condition {
    /// This is the timestamp authority of the service.
    TimestampUrl(String),
    /// The XML of an e-invoice has this conformance level.
    InvoiceLevel(String, String),
}

pub(super) type Translation = Result<Translated, Wrong>;

pub(super) fn plain(operation: Json) -> Translation {
    Ok(Translated {
        operation,
        ..Translated::default()
    })
}

/// An operation without those properties that are null.
fn without_nulls(mut operation: Json) -> Json {
    if let Json::Object(properties) = &mut operation {
        properties.retain(|_, value| !value.is_null());
    }
    operation
}

pub(super) fn merge(given: &Given) -> Translation {
    let file_bookmarks = given.get("fileBookmarks") == Some(&Json::Bool(true));
    plain(json!({"do": "merge", "fileBookmarks": file_bookmarks}))
}

pub(super) fn split(given: &Given) -> Translation {
    let every = given.integer("every");
    match (every, given.get("ranges")) {
        (Some(every), None) if every >= 1 => plain(json!({"do": "split", "every": every})),
        (None, Some(Json::Array(ranges)))
            if !ranges.is_empty() && ranges.iter().all(Json::is_string) =>
        {
            plain(json!({"do": "split", "ranges": ranges}))
        }
        (None, Some(got)) => Err(invalid("ranges", got, "a list of page selections")),
        (Some(every), _) => Err(invalid(
            "every",
            &every.into(),
            "at least 1, without ranges",
        )),
        (None, None) => Err(Wrong::Missing("every".to_owned())),
    }
}

pub(super) fn select(given: &Given) -> Translation {
    plain(json!({"do": "select", "pages": given.text("pages")}))
}

/// What is left without some pages is a selection that leaves them out.
pub(super) fn delete(given: &Given) -> Translation {
    let pages = given.text("pages").unwrap_or_default();
    if pages.contains('!') {
        let detail = "an exclusion (`!`) in `pages` of `delete`";
        return Err(Wrong::Refused(detail.to_owned()));
    }
    let others: Vec<String> = pages.split(',').map(|part| format!("!{part}")).collect();
    plain(json!({"do": "select", "pages": others.join(",")}))
}

pub(super) fn rotate(given: &Given) -> Translation {
    let angle = given.integer("angle").unwrap_or_default();
    if angle % 90 != 0 {
        return Err(invalid("angle", &angle.into(), "a multiple of 90"));
    }
    plain(without_nulls(json!({
        "do": "rotate", "degrees": angle.rem_euclid(360), "replace": true,
        "pages": given.text("pages"),
    })))
}

/// What all stamps have.
fn stamp(given: &Given, own: Json) -> Result<Json, Wrong> {
    let opacity = given.number("opacity").unwrap_or_default();
    if !(0.0..=1.0).contains(&opacity) {
        return Err(invalid("opacity", &opacity.into(), "a number from 0 to 1"));
    }
    let (x, y) = (
        given.number("x").unwrap_or_default(),
        given.number("y").unwrap_or_default(),
    );
    let position = given.text("position");
    let mut operation = json!({
        "do": "stamp",
        "at": position.is_none().then_some([x, y]),
        "position": position,
        "offset": position.map(|_| [x, y]),
        "pages": given.text("pages"),
        "rotation": given.number("rotation"),
        // 0 is opaque, as no opacity is.
        "opacity": (opacity > 0.0).then_some(opacity),
    });
    if let (Json::Object(operation), Json::Object(own)) = (&mut operation, own) {
        operation.extend(own);
    }
    Ok(without_nulls(operation))
}

pub(super) fn stamp_text(given: &Given) -> Translation {
    let size = given.size("fontSize")?.unwrap_or(12.0);
    if !(1.0..=MAX_FONT_SIZE).contains(&size) {
        let detail = format!("a `fontSize` below 1 or above {MAX_FONT_SIZE}");
        return Err(Wrong::Refused(detail));
    }
    let font = given.text("font").unwrap_or("Helvetica");
    let known = match font {
        "Helvetica" | "Times-Roman" | "Courier" => core_font(font),
        _ => None,
    };
    let Some(known) = known else {
        return Err(Wrong::Refused(format!("the `font` {font}")));
    };
    plain(stamp(
        given,
        json!({
            "text": given.text("text"), "font": known.family, "bold": known.bold, "fontSize": size,
            "color": given.text("color").unwrap_or("#000000"),
        }),
    )?)
}

pub(super) fn stamp_image(given: &Given) -> Translation {
    let image = given.text("image").unwrap_or_default();
    let ending = image
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_lowercase());
    if !matches!(ending.as_deref(), Some("png" | "jpg" | "jpeg")) {
        return Err(invalid(
            "image",
            &image.into(),
            "a .png, .jpg or .jpeg file",
        ));
    }
    let size = (given.size("width")?, given.size("height")?);
    let has_size = size.0.is_some() || size.1.is_some();
    // At a position, too, a pixel is a point without a size.
    let scale = (given.get("position").is_some() && !has_size).then_some(1.0);
    let size = has_size.then_some(size);
    let operation = stamp(given, json!({"file": image, "size": size, "scale": scale}))?;
    with_file(operation, image)
}

pub(super) fn stamp_pdf(given: &Given) -> Translation {
    let source = given.text("source").unwrap_or_default();
    let page = given.integer("sourcePage").unwrap_or(1);
    let Some(page) = u32::try_from(page).ok().filter(|page| *page >= 1) else {
        return Err(invalid("sourcePage", &page.into(), "at least 1"));
    };
    let scale = given.size("scale")?.unwrap_or(1.0);
    let own = json!({"file": source, "page": page, "scale": scale});
    with_file(stamp(given, own)?, source)
}

fn with_file(operation: Json, file: &str) -> Translation {
    Ok(Translated {
        operation,
        files: vec![(file.to_owned(), file.to_owned())],
        ..Translated::default()
    })
}

/// Values of fields are texts, or lists of texts.
pub(super) fn set_form(given: &Given) -> Translation {
    let fields = match given.get("fields") {
        Some(Json::Object(fields)) if !fields.is_empty() => fields,
        Some(got @ Json::Array(_)) => return Err(invalid("fields", got, "an object")),
        _ => return Err(Wrong::Missing("fields".to_owned())),
    };
    let is_value = |value: &Json| match value {
        Json::String(_) => true,
        Json::Array(list) => list.iter().all(Json::is_string),
        _ => false,
    };
    if let Some((name, got)) = fields.iter().find(|(_, value)| !is_value(value)) {
        let name = format!("fields.{}", name.chars().take(100).collect::<String>());
        return Err(invalid(&name, got, "a text or a list of texts"));
    }
    plain(json!({"do": "fill", "values": fields}))
}

pub(super) fn extract_text(given: &Given) -> Translation {
    if given.text("format") == Some("markdown") {
        return Err(Wrong::Refused("the `format` markdown".to_owned()));
    }
    let is_wanted = |name: &str| given.get(name) == Some(&Json::Bool(true));
    extraction(Extraction::Text {
        pages: given.text("pages").map(str::to_owned),
        parts: TextParts {
            invisible: is_wanted("invisible"),
            artifacts: is_wanted("artifacts"),
            annotations: is_wanted("annotations"),
        },
    })
}

pub(super) fn extract_attachments(given: &Given) -> Translation {
    let name = given.text("name").filter(|name| !name.is_empty());
    extraction(Extraction::Attachments {
        name: name.map(str::to_owned),
    })
}

fn extraction(extraction: Extraction) -> Translation {
    Ok(Translated {
        extraction: Some(extraction),
        ..Translated::default()
    })
}

pub(super) fn detach(given: &Given) -> Translation {
    plain(json!({"do": "detach", "file": given.text("name")}))
}

/// Areas are objects of a page and four numbers; the operation checks that they are on it.
pub(super) fn redact(given: &Given) -> Translation {
    let list = match given.get("regions") {
        Some(Json::Array(list)) if !list.is_empty() => list,
        Some(got @ Json::Object(_)) => return Err(invalid("regions", got, "a list")),
        _ => return Err(Wrong::Missing("regions".to_owned())),
    };
    for (index, region) in list.iter().enumerate() {
        for name in ["page", "x", "y", "width", "height"] {
            let at = format!("regions[{index}].{name}");
            let Some(got) = region.get(name) else {
                return Err(Wrong::Missing(at));
            };
            let is_right = match name {
                "page" => got.as_u64().is_some_and(|page| page >= 1),
                "width" | "height" => got.as_f64().is_some_and(|size| size > 0.0),
                _ => got.is_number(),
            };
            if !is_right {
                let want = match name {
                    "page" => "a page from 1",
                    "width" | "height" => "a number above 0",
                    _ => "a number",
                };
                return Err(invalid(&at, got, want));
            }
        }
    }
    plain(json!({"do": "redact", "regions": list}))
}

pub(super) fn flatten_form(_: &Given) -> Translation {
    plain(json!({"do": "flatten"}))
}

/// What a producer left uncompressed is always compressed.
pub(super) fn optimize(given: &Given) -> Translation {
    match given.get("compressStreams") {
        Some(Json::Bool(false)) => Err(Wrong::Refused("`compressStreams` false".to_owned())),
        _ => plain(json!({"do": "optimize"})),
    }
}

/// Gotenberg's names of document properties, and the keys under which they are stored.
pub(super) const PROPERTIES: [(&str, &str); 8] = [
    ("title", "Title"),
    ("author", "Author"),
    ("subject", "Subject"),
    ("keywords", "Keywords"),
    ("creator", "Creator"),
    ("producer", "Producer"),
    ("creationDate", "CreationDate"),
    ("modDate", "ModDate"),
];

pub(super) fn set_metadata(given: &Given) -> Translation {
    let known = PROPERTIES.into_iter().filter_map(|(name, key)| {
        let text = given.text(name)?;
        Some((key.to_owned(), Json::from(text)))
    });
    let metadata: Map<String, Json> = known.collect();
    plain(json!({"do": "metadata", "metadata": metadata}))
}

pub(super) fn set_bookmarks(given: &Given) -> Translation {
    let list = match given.get("bookmarks") {
        Some(Json::Array(list)) if !list.is_empty() => list,
        Some(Json::Object(_)) => {
            let got = given.get("bookmarks").unwrap_or(&Json::Null);
            return Err(invalid("bookmarks", got, "a list"));
        }
        _ => return Err(Wrong::Missing("bookmarks".to_owned())),
    };
    let bookmarks = bookmarks(list, "bookmarks")?;
    plain(json!({"do": "bookmarks", "bookmarks": bookmarks}))
}

/// Bookmarks as operations have them. Their depth is that of JSON, which has a bound.
fn bookmarks(list: &[Json], at: &str) -> Result<Vec<Json>, Wrong> {
    let one = |(index, bookmark): (usize, &Json)| {
        let at = format!("{at}[{index}]");
        let Json::Object(bookmark) = bookmark else {
            return Err(invalid(&at, bookmark, "an object"));
        };
        let known = ["title", "pageNumber", "children"];
        if let Some(name) = bookmark.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(Wrong::Unknown(format!("{at}.{name}")));
        }
        let title = bookmark.get("title").and_then(Json::as_str);
        let Some(title) = title.filter(|title| !title.is_empty()) else {
            return Err(Wrong::Missing(format!("{at}.title")));
        };
        let Some(number) = bookmark.get("pageNumber") else {
            return Err(Wrong::Missing(format!("{at}.pageNumber")));
        };
        let page = number.as_u64().and_then(|page| u32::try_from(page).ok());
        let Some(page) = page.filter(|page| *page >= 1) else {
            let name = format!("{at}.pageNumber");
            return Err(invalid(&name, number, "a page number"));
        };
        let children = match bookmark.get("children") {
            None | Some(Json::Null) => Vec::new(),
            Some(Json::Array(list)) => bookmarks(list, &format!("{at}.children"))?,
            Some(got) => return Err(invalid(&format!("{at}.children"), got, "a list")),
        };
        Ok(json!({"title": title, "page": page, "children": children}))
    };
    list.iter().enumerate().map(one).collect()
}

pub(super) fn attach(given: &Given) -> Translation {
    let file = given.text("file").unwrap_or_default();
    let name = given.text("name").filter(|name| !name.is_empty());
    let name = name.unwrap_or(file);
    let operation = without_nulls(json!({
        "do": "attach", "file": name, "mediaType": given.text("mimeType"),
        "relationship": given.text("relationship"),
    }));
    Ok(Translated {
        operation,
        files: vec![(file.to_owned(), name.to_owned())],
        ..Translated::default()
    })
}

/// Gotenberg's names of permissions, and those of operations.
const PERMISSIONS: [(&str, &str); 7] = [
    ("print", "printing"),
    ("printHighQuality", "highQuality"),
    ("modifyContent", "modifying"),
    ("extractText", "copying"),
    ("modifyAnnotations", "annotating"),
    ("fillForms", "filling"),
    ("assemble", "assembling"),
];

pub(super) fn encrypt(given: &Given) -> Translation {
    let user = given.text("userPassword").unwrap_or_default();
    let owner = given.text("ownerPassword").unwrap_or_default();
    if user.is_empty() && owner.is_empty() {
        return Err(Wrong::Missing("userPassword".to_owned()));
    }
    match given.text("algorithm") {
        None | Some("aes256") => {}
        Some(other) => return Err(Wrong::Refused(format!("the `algorithm` {other}"))),
    }
    let mut allow = Map::new();
    match given.get("permissions") {
        None => {}
        Some(Json::Object(permissions)) => {
            for (name, value) in permissions {
                let found = PERMISSIONS.iter().find(|(known, _)| known == name);
                let (_, known) =
                    found.ok_or_else(|| Wrong::Unknown(format!("permissions.{name}")))?;
                if !value.is_boolean() {
                    let name = format!("permissions.{name}");
                    return Err(invalid(&name, value, "true or false"));
                }
                allow.insert((*known).to_owned(), value.clone());
            }
        }
        Some(other) => return Err(invalid("permissions", other, "an object")),
    }
    plain(json!({
        "do": "encrypt", "userPassword": user, "ownerPassword": owner, "allow": allow,
    }))
}

pub(super) fn decrypt(given: &Given) -> Translation {
    let password = given.text("password").unwrap_or_default();
    plain(json!({"do": "decrypt", "password": password}))
}

pub(super) fn timestamp(given: &Given) -> Translation {
    let url = given.text("timestampUrl").unwrap_or_default().to_owned();
    Ok(Translated {
        operation: json!({"do": "timestamp"}),
        condition: Some(Condition::TimestampUrl(url)),
        ..Translated::default()
    })
}

pub(super) fn remediate(given: &Given) -> Translation {
    if given.get("aggressive") == Some(&Json::Bool(true)) {
        return Err(Wrong::Refused("`aggressive`".to_owned()));
    }
    let profile = given.get("profile").cloned().unwrap_or_default();
    let profiles: Vec<&str> = match &profile {
        Json::Array(list) => list.iter().filter_map(Json::as_str).collect(),
        other => other.as_str().into_iter().collect(),
    };
    if profiles == ["Factur-X"] {
        return factur_x(given);
    }
    for option in ["xml", "level"] {
        if let Some(got) = given.get(option) {
            return Err(invalid(option, got, "the profile Factur-X with it"));
        }
    }
    let standard = |name: &str| match name {
        "PDF/A-2b" => Some("pdf-a-2b"),
        "PDF/A-3b" => Some("pdf-a-3b"),
        _ => None,
    };
    let operation = match profiles.as_slice() {
        ["PDF/UA-1"] => json!({"do": "archive", "accessible": true}),
        [one] if standard(one).is_some() => json!({"do": "archive", "standard": standard(one)}),
        [one, other] if standard(one).is_some() && *other == "PDF/UA-1" => {
            json!({"do": "archive", "standard": standard(one), "accessible": true})
        }
        [other, one] if standard(one).is_some() && *other == "PDF/UA-1" => {
            json!({"do": "archive", "standard": standard(one), "accessible": true})
        }
        _ => return Err(Wrong::Refused(format!("the `profile` {profile}"))),
    };
    plain(operation)
}

fn factur_x(given: &Given) -> Translation {
    let Some(xml) = given.text("xml") else {
        let detail = "the `profile` Factur-X without `xml`";
        return Err(Wrong::Refused(detail.to_owned()));
    };
    let Some(level) = given.text("level") else {
        return Err(Wrong::Missing("level".to_owned()));
    };
    Ok(Translated {
        operation: json!({"do": "invoice", "file": xml}),
        files: vec![(xml.to_owned(), xml.to_owned())],
        condition: Some(Condition::InvoiceLevel(xml.to_owned(), level.to_owned())),
        ..Translated::default()
    })
}
