//! Reads the XML of an invoice.

use crate::{
    Invoice, MAX_XML, Problem, Profile, Syntax, Weight, bounds, extended, issue::broken_rules,
    restore,
};

/// Maximum number of tags of an XML file: a tree takes a hundred times the bytes of a short tag.
const MAX_TAGS: usize = 1_000_000;

/// Maximum number of attributes of a tag: the parser compares each with each.
const MAX_ATTRIBUTES: usize = 1_000;

/// An invoice that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The invoice as JSON has it.
    pub invoice: Invoice,
    /// Syntax of the XML.
    pub syntax: Syntax,
    /// The specification identifier as it stands there (BT-24).
    pub specification: Option<String>,
    /// Rules that it breaks, and content that has no place in the JSON.
    pub problems: Vec<Problem>,
}

/// Reads `xml`, which may be CII or UBL, in UTF-8 or UTF-16 with a byte-order mark.
///
/// Entities and document types are refused, and so are files of more than [`MAX_XML`] bytes and
/// elements more than 64 deep; an
/// invoice has at most 10,000 lines and 100 rates.
///
/// # Errors
/// Says why `xml` is not an invoice.
pub fn read(xml: &[u8]) -> Result<Reading, String> {
    if xml.len() > MAX_XML {
        return Err(format!(
            "the XML has {} bytes; at most {MAX_XML} are read",
            xml.len()
        ));
    }
    let elements = xml.iter().filter(|byte| **byte == b'<').count();
    if elements > MAX_TAGS {
        return Err(format!(
            "the XML has more than {MAX_TAGS} tags, which no invoice has"
        ));
    }
    // Between two `<` is a tag with all of its attributes.
    let attributes = |tag: &[u8]| tag.iter().filter(|byte| **byte == b'=').count();
    if xml
        .split(|byte| *byte == b'<')
        .any(|tag| attributes(tag) > MAX_ATTRIBUTES)
    {
        return Err(format!(
            "a tag of the XML has more than {MAX_ATTRIBUTES} attributes, which no invoice has"
        ));
    }
    let found = en16931_formats::read(xml).map_err(|error| error.to_string())?;
    bounds::check(&found.invoice)?;
    let mut invoice = restore::invoice(&found.invoice);
    let syntax = match found.syntax {
        en16931_formats::Syntax::Ubl => Syntax::Ubl,
        _ => Syntax::Cii,
    };
    invoice.syntax = Some(syntax);
    let mut whole = None;
    if syntax == Syntax::Cii && invoice.profile == Profile::Extended {
        (invoice.extended, whole) = extended::read(xml).unzip();
    }
    let whole = whole.unwrap_or_default();
    let is_unread = |path: &str| !whole.iter().any(|end| path.ends_with(end.as_str()));
    let mut problems: Vec<Problem> = found
        .entries
        .iter()
        .filter(|entry| is_unread(&entry.path))
        .map(|entry| {
            let rule = entry.rule.as_deref().unwrap_or("unread");
            Problem {
                weight: Weight::Warning,
                rule: rule.to_owned(),
                path: String::new(),
                message: format!("{}: {}", entry.path, entry.message),
                hint: entry.hint.clone(),
            }
        })
        .collect();
    if invoice.profile.has_lines() {
        problems.extend(broken_rules(&invoice, &found.invoice));
    }
    Ok(Reading {
        invoice,
        syntax,
        specification: found.invoice.specification_id.clone(),
        problems,
    })
}
