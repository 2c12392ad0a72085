//! What the XML of an invoice states beyond EN 16931, read into fields.

use std::{borrow::Cow, fmt::Write as _};

use en16931::Date;
use roxmltree::{Document, Node};

use super::{AGREEMENT, DELIVERY, SETTLEMENT, additions, child, children, descendant, terms_text};
use crate::{Address, Extended, ExtendedParty, Number, PaymentDiscount, PaymentTerms};

/// What the XML of an invoice, as CII has it, states beyond the standard, and the ends of the paths of
/// the elements that were read completely.
pub(crate) fn read(xml: &[u8]) -> Option<(Extended, Vec<String>)> {
    let text = decoded(xml)?;
    let document = Document::parse(&text).ok()?;
    let root = document.root_element();
    let part = |name| descendant(root, name);
    let party = |parent, name| Some(party(child(part(parent)?, name)?));
    let terms = children(part(SETTLEMENT)?, "SpecifiedTradePaymentTerms");
    // The first ones without a discount are those of the standard.
    let is_first_plain = |(index, node): &(usize, Node<'_, '_>)| {
        *index == 0 && child(*node, "ApplicableTradePaymentDiscountTerms").is_none()
    };
    let extended = Extended {
        delivery_terms: part(AGREEMENT)
            .and_then(|it| child(it, "ApplicableTradeDeliveryTerms"))
            .and_then(|it| content(it, "DeliveryTypeCode")),
        delivery_note: part(DELIVERY)
            .and_then(|it| child(it, "DeliveryNoteReferencedDocument"))
            .and_then(|it| content(it, "IssuerAssignedID")),
        ship_from: party(DELIVERY, "ShipFromTradeParty"),
        final_recipient: party(DELIVERY, "UltimateShipToTradeParty"),
        invoicee: party(SETTLEMENT, "InvoiceeTradeParty"),
        payment_terms: terms
            .enumerate()
            .filter(|it| !is_first_plain(it))
            .map(|(_, node)| payment_terms(node))
            .collect(),
    };
    let whole = whole(root, &extended);
    (extended != Extended::default()).then_some((extended, whole))
}

/// The text of XML in UTF-8, or in UTF-16 with a byte-order mark.
fn decoded(xml: &[u8]) -> Option<Cow<'_, str>> {
    let from: fn([u8; 2]) -> u16 = match xml {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return std::str::from_utf8(xml).ok().map(Cow::Borrowed),
    };
    let (pairs, _) = xml[2..].as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| from(*pair)).collect();
    String::from_utf16(&units).ok().map(Cow::Owned)
}

/// The elements that say no more than what was read of them: written again, they are the same.
fn whole(root: Node<'_, '_>, extended: &Extended) -> Vec<String> {
    let mut whole = Vec::new();
    for addition in additions(extended, &[]) {
        let name = addition.name();
        let found: Vec<_> = descendant(root, addition.parent)
            .into_iter()
            .flat_map(|it| children(it, name))
            .collect();
        if let [one] = found[..]
            && leaves(one) == leaves_of(&addition.text)
        {
            whole.push(format!("{}/{name}", addition.parent));
        }
    }
    let terms: Vec<_> = descendant(root, SETTLEMENT)
        .into_iter()
        .flat_map(|it| children(it, "SpecifiedTradePaymentTerms"))
        .collect();
    // The library reads the first ones but for their discount, and of the others nothing.
    let skipped = terms.len() - extended.payment_terms.len();
    let first = terms.first().copied();
    let mut written = terms.iter().skip(skipped).zip(&extended.payment_terms);
    let is_whole = written.all(|(node, terms)| {
        let mut found = leaves(*node);
        if Some(*node) == first {
            found.retain(|(name, _)| name != "DirectDebitMandateID");
        }
        found == leaves_of(&terms_text(terms))
    });
    if is_whole && !extended.payment_terms.is_empty() {
        whole.push(format!("{SETTLEMENT}/SpecifiedTradePaymentTerms"));
        whole.push("SpecifiedTradePaymentTerms/ApplicableTradePaymentDiscountTerms".to_owned());
    }
    whole
}

/// The elements without elements, with their texts; numbers in one form.
fn leaves(node: Node<'_, '_>) -> Vec<(String, String)> {
    let inner = node.descendants().filter(Node::is_element);
    let leaves = inner.filter(|it| !it.children().any(|it| it.is_element()));
    let read = leaves.map(|it| {
        let mut name = it.tag_name().name().to_owned();
        // Amounts are in the currency of the invoice.
        for attribute in it.attributes().filter(|it| it.name() != "currencyID") {
            let _ = write!(name, " {}={}", attribute.name(), attribute.value());
        }
        let parts = it.children().filter(Node::is_text);
        let text: String = parts.filter_map(|it| it.text()).collect();
        let text = text.trim();
        let number = Number::parse(text).map(|it| it.0.normalize().to_string());
        (name, number.unwrap_or_else(|_| text.to_owned()))
    });
    read.collect()
}

/// Those of an element that is written here.
fn leaves_of(text: &str) -> Vec<(String, String)> {
    let whole = format!("<a xmlns:ram=\"r\" xmlns:udt=\"u\">{text}</a>");
    Document::parse(&whole).map_or_else(|_| Vec::new(), |it| leaves(it.root_element()))
}

fn payment_terms(node: Node<'_, '_>) -> PaymentTerms {
    let discount = child(node, "ApplicableTradePaymentDiscountTerms");
    PaymentTerms {
        text: content(node, "Description"),
        due_date: date(node, "DueDateDateTime"),
        discount: discount.map(|node| {
            let number = |name| Number::parse(&content(node, name)?).ok();
            PaymentDiscount {
                date: date(node, "BasisDateTime"),
                days: number("BasisPeriodMeasure"),
                base: number("BasisAmount"),
                percent: number("CalculationPercent"),
                amount: number("ActualDiscountAmount"),
            }
        }),
    }
}

fn party(node: Node<'_, '_>) -> ExtendedParty {
    let address = child(node, "PostalTradeAddress");
    let part = |name| address.and_then(|address| content(address, name));
    ExtendedParty {
        name: content(node, "Name").unwrap_or_default(),
        address: Address {
            line1: part("LineOne"),
            line2: part("LineTwo"),
            line3: part("LineThree"),
            city: part("CityName"),
            post_code: part("PostcodeCode"),
            region: part("CountrySubDivisionName"),
            country: part("CountryID"),
        },
    }
}

fn content(node: Node<'_, '_>, name: &str) -> Option<String> {
    // A comment parts a text in two.
    let parts = child(node, name)?.children();
    let text: String = parts
        .filter(Node::is_text)
        .filter_map(|it| it.text())
        .collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn date(node: Node<'_, '_>, name: &str) -> Option<String> {
    let day = content(child(node, name)?, "DateTimeString").filter(|it| it.len() == 8)?;
    let parts = [day.get(..4)?, day.get(4..6)?, day.get(6..8)?];
    let date = Date::parse(&parts.join("-")).ok()?;
    Some(date.to_string())
}
