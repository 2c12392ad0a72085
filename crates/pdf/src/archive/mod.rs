//! Makes files archival: PDF/A-2b and PDF/A-3b (ISO 19005-2 and -3), whoever wrote them.
//!
//! What can be mended without a visible change is mended ([`mend`]): metadata, colors without a
//! profile, scripts, flags. What cannot is refused, with the rule that it breaks ([`check`]): fonts
//! that are not embedded, ink colors without a profile, content from outside of the file.

mod annotations;
mod artifacts;
mod attached;
mod check;
mod code_maps;
mod color_profile;
mod colors;
mod dictionaries;
mod drawn;
mod fonts;
mod glyphs;
mod limits;
mod mend;
mod once;
mod operations;
mod operators;
mod pictures;
mod roles;
mod structure;
mod tables;
mod validate;

use lopdf::{Dictionary, Document, Object, Stream, dictionary};

pub use self::{
    color_profile::srgb_profile,
    validate::{Validation, validate},
};
use crate::{
    Error, Limits,
    flatten::needs_appearances,
    metadata::{has_compressed_objects, text_string, write_packet},
    open::{array, open, save, value},
    xmp::Extension,
};

/// Maximum number of reasons in a message.
const MAX_REASONS: usize = 5;

/// How a file becomes archival.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archive {
    /// The part of ISO 19005 that the file satisfies.
    pub part: Part,
    /// Whether the file is to satisfy PDF/UA-1 as well.
    pub accessible: bool,
    /// Whether an accessible file is made of one that lacks something: without a title it gets its
    /// name, and pictures without an alternative text stay. Otherwise such a file is refused.
    pub lenient: bool,
    /// What its metadata says of an e-invoice.
    pub extension: Option<Extension>,
}

/// A part of ISO 19005, at conformance level B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// PDF/A-2b, which has no attachments.
    #[default]
    Two,
    /// PDF/A-3b, which has attachments of any kind.
    Three,
    /// Neither: only what [`Archive::accessible`] says.
    None,
}

impl Part {
    const fn number(self) -> Option<&'static str> {
        match self {
            Self::Two => Some("2"),
            Self::Three => Some("3"),
            Self::None => None,
        }
    }
}

/// Makes `document`, of the file `name`, archival, accessible or both. Calls `checkpoint` every
/// few thousand operations of content.
pub(crate) fn archive(
    document: &mut Document,
    archive: &Archive,
    name: &str,
    checkpoint: &dyn Fn(),
) -> Result<(), Error> {
    let mut reasons = Vec::new();
    conform(document, archive, name, &mut reasons, checkpoint)?;
    if !reasons.is_empty() {
        reasons.sort();
        reasons.dedup();
        let more = reasons.len().saturating_sub(MAX_REASONS);
        reasons.truncate(MAX_REASONS);
        let mut all = reasons.join("; ");
        if more > 0 {
            all.push_str(&format!("; and {more} more"));
        }
        let standard = match (archive.part, archive.accessible) {
            (Part::Two, false) => "PDF/A-2b",
            (Part::Three, false) => "PDF/A-3b",
            (Part::Two, true) => "PDF/A-2b and PDF/UA-1",
            (Part::Three, true) => "PDF/A-3b and PDF/UA-1",
            (Part::None, _) => "PDF/UA-1",
        };
        return Err(Error::NotArchival {
            standard,
            reasons: all,
        });
    }
    write_packet(document, &mut |kept| {
        if let Some(part) = archive.part.number() {
            kept.set_archival(part);
        }
        if archive.accessible {
            kept.set_accessible();
        }
        kept.extension.clone_from(&archive.extension);
    })?;
    if archive.part != Part::None {
        identify(document)?;
        document.version = "1.7".to_owned();
    }
    Ok(())
}

/// Changes the objects of `document`, of the file `name`, to those of an archival file. `reasons` get
/// the rules that it breaks and that cannot be mended.
fn conform(
    document: &mut Document,
    archive: &Archive,
    name: &str,
    reasons: &mut Vec<String>,
    checkpoint: &dyn Fn(),
) -> Result<(), Error> {
    let checks_tags = archive.accessible && !archive.lenient;
    if archive.part != Part::None {
        // The form says so no more once it is mended.
        let leaves_looks = needs_appearances(document);
        mend::mend(document, reasons)?;
        output_intent(document)?;
        annotations::mend(document, leaves_looks, reasons)?;
        mend::own_resources(document)?;
        let (lenders, borrowing, devices) = {
            let drawn = drawn::look(document, checkpoint)?;
            glyphs::check(document, &drawn.fonts, reasons, checkpoint);
            if checks_tags {
                glyphs::check_texts(document, &drawn.fonts, reasons);
            }
            reasons.extend(drawn.reasons);
            let mut lenders: Vec<&Dictionary> = drawn.borrowing.values().copied().collect();
            lenders.sort_by_key(|lender| std::ptr::from_ref(*lender).addr());
            lenders.dedup_by(|one, other| std::ptr::eq(*one, *other));
            let number = |lender: &Dictionary| {
                lenders.binary_search_by_key(&std::ptr::from_ref(lender).addr(), |it| {
                    std::ptr::from_ref(*it).addr()
                })
            };
            let borrowing = drawn.borrowing.iter();
            let borrowing: Vec<_> = borrowing
                .filter_map(|(form, lender)| Some((*form, number(lender).ok()?)))
                .collect();
            let lenders: Vec<Dictionary> = lenders.into_iter().cloned().collect();
            (lenders, borrowing, drawn.devices)
        };
        let lenders: Vec<_> = lenders
            .into_iter()
            .map(|it| document.add_object(it))
            .collect();
        for (form, lender) in borrowing {
            if let Ok(Object::Stream(form)) = document.get_object_mut(form) {
                form.dict.set("Resources", lenders[lender]);
            }
        }
        check::check(document, reasons);
        limits::check(document, reasons);
        pictures::check(document, reasons);
        colors::check(document, devices, reasons, checkpoint);
        attached::mend(document, archive.part, reasons)?;
    }
    if archive.accessible {
        let stem = name.strip_suffix(".pdf").unwrap_or(name).trim();
        let title = Some(stem).filter(|stem| archive.lenient && !stem.is_empty());
        accessible(document, title, archive.lenient, reasons, checkpoint)?;
    }
    if checks_tags {
        structure::check(document, reasons)?;
        annotations::check(document, reasons)?;
        structure::check_pages(document, reasons)?;
        check::accessible(document, reasons);
        if archive.part == Part::None {
            let drawn = drawn::look(document, checkpoint)?;
            glyphs::check(document, &drawn.fonts, reasons, checkpoint);
            glyphs::check_texts(document, &drawn.fonts, reasons);
        }
    }
    Ok(())
}

/// Makes `file` satisfy PDF/UA-1 as far as it can, with `name` as its title if it has none; what
/// else it claims to be, it stays. For files of LibreOffice, whose metadata does not say all that it
/// needs to.
///
/// # Errors
/// The file cannot be read, or lacks what cannot be added: its structure or its language.
pub fn make_accessible(file: &[u8], name: &str, limits: &Limits) -> Result<Vec<u8>, Error> {
    let mut document = open(file, limits)?;
    let how = Archive {
        part: Part::None,
        accessible: true,
        lenient: true,
        extension: None,
    };
    archive(&mut document, &how, name, &|| {})?;
    save(&mut document, has_compressed_objects(file))
}

/// Gives the file identifiers, if it has none.
fn identify(document: &mut Document) -> Result<(), Error> {
    let is_text = |it: &Object| it.as_str().is_ok_and(|text| !text.is_empty());
    let id = array(document, document.trailer.get(b"ID").ok());
    if id.len() != 2 || !id.iter().all(is_text) {
        // Of the content, by FNV-1a: the same file gets the same.
        let mut id = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
        let mut add = |bytes: &[u8]| {
            for byte in bytes {
                id = (id ^ u128::from(*byte)).wrapping_mul((1 << 88) + 0x13b);
            }
        };
        for (number, object) in &document.objects {
            add(&number.0.to_be_bytes());
            if let Object::Stream(stream) = object {
                add(&stream.content);
            }
        }
        let text = Object::string_literal(id.to_be_bytes().to_vec());
        document.trailer.set("ID", vec![text.clone(), text]);
    }
    let catalog = document.catalog_mut()?;
    catalog.remove(b"Version");
    Ok(())
}

/// Adds an output intent of sRGB, if the file has none.
fn output_intent(document: &mut Document) -> Result<(), Error> {
    let own = colors::kept_intents(document);
    if !own.is_empty() {
        document.catalog_mut()?.set("OutputIntents", own);
        return Ok(());
    }
    let mut profile = Stream::new(dictionary! { "N" => 3 }, srgb_profile());
    profile.compress()?;
    let profile = document.add_object(profile);
    let intent = document.add_object(dictionary! {
        "Type" => "OutputIntent",
        "S" => "GTS_PDFA1",
        "OutputConditionIdentifier" => Object::string_literal("sRGB"),
        "Info" => Object::string_literal("sRGB IEC61966-2.1"),
        "DestOutputProfile" => profile,
    });
    document
        .catalog_mut()?
        .set("OutputIntents", vec![Object::Reference(intent)]);
    Ok(())
}

/// Whether `tag` has the form of a language tag (RFC 3066).
fn is_language(tag: &str) -> bool {
    tag.split('-').enumerate().all(|(index, part)| {
        let is_allowed = |it: u8| it.is_ascii_alphabetic() || (index > 0 && it.is_ascii_digit());
        (1..=8).contains(&part.len()) && part.bytes().all(is_allowed)
    })
}

fn has_title(document: &Document) -> bool {
    let info = value(document, &document.trailer, b"Info");
    let title = info.and_then(|info| value(document, info.as_dict().ok()?, b"Title"));
    let title = title.and_then(|title| lopdf::decode_text_string(title).ok());
    title.is_some_and(|title| !title.trim().is_empty())
}

fn set_title(document: &mut Document, title: &str) {
    let mut info = match value(document, &document.trailer, b"Info") {
        Some(Object::Dictionary(info)) => info.clone(),
        _ => Dictionary::new(),
    };
    info.set("Title", text_string(title));
    let info = document.add_object(info);
    document.trailer.set("Info", info);
}

/// What PDF/UA-1 asks of the whole file (ISO 14289-1, 7.1 and 7.2).
fn accessible(
    document: &mut Document,
    title: Option<&str>,
    lenient: bool,
    reasons: &mut Vec<String>,
    checkpoint: &dyn Fn(),
) -> Result<(), Error> {
    mend::direct_names(document);
    mend::pages(document)?;
    dictionaries::each_mut(document, &mut |_, dictionary| fonts::mend(dictionary));
    languages(document, reasons);
    let catalog = document.catalog()?;
    if value(document, catalog, b"StructTreeRoot").is_none() {
        reasons.push("it has no structure: make it with tags".to_owned());
    }
    let language =
        value(document, catalog, b"Lang").and_then(|it| lopdf::decode_text_string(it).ok());
    if language.is_none() {
        reasons.push("it does not say its language".to_owned());
    }
    match (has_title(document), title) {
        (true, _) => {}
        (false, Some(title)) => set_title(document, title),
        (false, None) => reasons.push("it has no title".to_owned()),
    }
    let mut preferences = match value(document, document.catalog()?, b"ViewerPreferences") {
        Some(Object::Dictionary(preferences)) => preferences.clone(),
        _ => Dictionary::new(),
    };
    preferences.set("DisplayDocTitle", true);
    let catalog = document.catalog_mut()?;
    catalog.set("ViewerPreferences", preferences);
    catalog.set("MarkInfo", dictionary! { "Marked" => true });
    let pages: Vec<_> = document.page_iter().collect();
    for page in pages {
        let has_annotations = document.get_dictionary(page)?.has(b"Annots");
        if has_annotations {
            document.get_dictionary_mut(page)?.set("Tabs", "S");
        }
    }
    roles::map(document, reasons)?;
    roles::complete_items(document);
    structure::name_notes(document)?;
    if let Some(layers) = mend::layers(document)? {
        document.catalog_mut()?.set("OCProperties", layers);
    }
    let version = document.version.parse::<f32>().unwrap_or(0.0);
    if version > 1.7 {
        document.version = "1.7".to_owned();
    }
    artifacts::mark(document, lenient, reasons, checkpoint)?;
    annotations::describe(document, lenient)
}

/// Languages are language tags (ISO 14289-1, 7.2): those of operating systems become some, and empty ones go.
fn languages(document: &mut Document, reasons: &mut Vec<String>) {
    dictionaries::each_mut(document, &mut |_, dictionary| {
        let Some(tag) = dictionary
            .get(b"Lang")
            .ok()
            .filter(|it| it.as_str().is_ok())
        else {
            return;
        };
        let before = lopdf::decode_text_string(tag).unwrap_or_default();
        let after = before.trim().replace('_', "-");
        match after.is_empty() {
            true => drop(dictionary.remove(b"Lang")),
            false if after != before => dictionary.set("Lang", text_string(&after)),
            false => {}
        }
        if !after.is_empty() && !is_language(&after) {
            reasons.push(format!(
                "its language {after:.40?} is no language tag (ISO 14289-1, 7.2)"
            ));
        }
    });
}
