//! Reads the XML of an invoice.

use std::collections::HashSet;

use en16931_formats::report::{Entry, Kind};
use roxmltree::{Document, Node};

use crate::{
    Invoice, MAX_XML, Problem, Profile, Syntax, Weight, bounds, extended, issue::write, restore,
    rules::broken_rules,
};

/// Maximum number of tags of an XML file: a tree takes a hundred times the bytes of a short tag.
const MAX_TAGS: usize = 1_000_000;

/// Maximum number of attributes of a tag: the parser compares each with each.
const MAX_ATTRIBUTES: usize = 1_000;

/// Maximum number of elements beyond the first of their name in their parent, but for those of
/// [`MANY`]: the library compares each with each.
const MAX_REPEATED: usize = 10_000;

/// Elements that an invoice may have many of.
const MANY: [&str; 15] = [
    "AdditionalDocumentReference",
    "AdditionalItemProperty",
    "AllowanceCharge",
    "ApplicableProductCharacteristic",
    "ApplicableTradeTax",
    "AppliedTradeAllowanceCharge",
    "CommodityClassification",
    "CreditNoteLine",
    "DesignatedProductClassification",
    "IncludedSupplyChainTradeLineItem",
    "InvoiceLine",
    "PaymentMeans",
    "SpecifiedTradeAllowanceCharge",
    "SpecifiedTradeSettlementPaymentMeans",
    "TaxSubtotal",
];

/// Maximum number of reported elements without a place.
const MAX_UNREAD: usize = 1_000;

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
    let text = extended::decoded(xml);
    if text.as_deref().is_some_and(repeats_too_much) {
        return Err(format!(
            "the XML repeats elements more than {MAX_REPEATED} times, which no invoice does"
        ));
    }
    let mut found = en16931_formats::read(xml).map_err(|error| error.to_string())?;
    bounds::check(&found.invoice, found.invoice.lines.len())?;
    let mut invoice = restore::invoice(&found.invoice);
    let syntax = match found.syntax {
        en16931_formats::Syntax::Ubl => Syntax::Ubl,
        _ => Syntax::Cii,
    };
    invoice.syntax = Some(syntax);
    let is_extended = syntax == Syntax::Cii && invoice.profile == Profile::Extended;
    let reader = text.as_deref().filter(|_| is_extended);
    let reader = reader.and_then(extended::Reader::new);
    if let Some(reader) = &reader {
        reader.fields(&mut invoice, &mut found.invoice);
    }
    let mut problems = Vec::new();
    if invoice.profile.has_lines() {
        let mut counted = extended::Counted::of(&found.invoice, &invoice);
        let due = &mut counted.model.totals.due;
        if let Ok(collected) = extended::collected(invoice.extended.as_ref()) {
            *due = due.checked_sub(collected).unwrap_or(*due);
        }
        let due = found.invoice.totals.due;
        problems.extend(broken_rules(&invoice, &counted, due));
        problems.extend(extended::broken(&found.invoice, &invoice));
    }
    let lost = reader.and_then(|reader| {
        let written = write(&invoice, found.invoice.clone()).ok()?;
        Some(reader.elements(&written, &mut invoice))
    });
    problems.splice(0..0, unread(&found.entries, lost.as_ref()));
    Ok(Reading {
        invoice,
        syntax,
        specification: found.invoice.specification_id.clone(),
        problems,
    })
}

/// Whether elements are there again and again.
fn repeats_too_much(text: &str) -> bool {
    let Ok(document) = Document::parse(text) else {
        return false;
    };
    let mut repeated = 0;
    let mut names = HashSet::new();
    for parent in document.descendants() {
        names.clear();
        for child in parent.children().filter(Node::is_element) {
            let name = child.tag_name().name();
            if !names.insert(name) && !MANY.contains(&name) {
                repeated += 1;
            }
        }
    }
    repeated > MAX_REPEATED
}

/// What was not read: of `entries`, and of `lost` where it is known what the JSON has no place for.
fn unread(entries: &[Entry], lost: Option<&extended::Difference>) -> Vec<Problem> {
    // What is stated by the names of elements has a place.
    let is_lost = |entry: &&Entry| match (entry.kind, lost) {
        (Kind::Unmapped | Kind::Duplicate | Kind::Repeated | Kind::Prohibited, Some(lost)) => {
            lost.has(&entry.path)
        }
        _ => true,
    };
    let entries = entries.iter().filter(is_lost).take(MAX_UNREAD);
    let entries: Vec<&Entry> = entries.collect();
    let warning = |rule: &str, message| Problem {
        weight: Weight::Warning,
        rule: rule.to_owned(),
        path: String::new(),
        message,
        hint: None,
    };
    let told = entries.iter().map(|entry| entry.path.as_str());
    let silent = lost.map(|lost| lost.besides(told)).unwrap_or_default();
    let silent = silent.into_iter().map(|path| {
        let message = format!("{path}: the JSON has no place for all of this element");
        warning("unread", message)
    });
    let told = entries.iter().map(|entry| Problem {
        hint: entry.hint.clone(),
        ..warning(
            entry.rule.as_deref().unwrap_or("unread"),
            format!("{}: {}", entry.path, entry.message),
        )
    });
    told.chain(silent).collect()
}
