//! What the XML of an invoice states beyond EN 16931, read into fields.

use std::borrow::Cow;

use en16931::{Date, invoice as model};
use roxmltree::{Document, Node};
use serde_json::Map;

use super::{
    AGREEMENT, DELIVERY, LINE_ELEMENT, SETTLEMENT, TRANSACTION,
    difference::Difference,
    schema::{LINE, WHOLE},
};
use crate::{
    Address, Extended, ExtendedLine, ExtendedParty, Invoice, Line, LineKind, LogisticsCharge,
    Number, PaymentDiscount, PaymentTerms, Preceding, ThirdPartyPayment, Vat,
};

/// The XML of an invoice of the profile.
pub(crate) struct Reader<'a> {
    document: Document<'a>,
}

impl<'a> Reader<'a> {
    /// Reads `text`, if it is well formed.
    pub(crate) fn new(text: &'a str) -> Option<Self> {
        let document = Document::parse(text).ok()?;
        Some(Self { document })
    }

    /// Adds the fields that only the profile has to `invoice`, which is `model` as an author states it.
    pub(crate) fn fields(&self, invoice: &mut Invoice, model: &mut model::Invoice) {
        let root = self.document.root_element();
        let mut extended = extended(root);
        // The library reads charges for logistics as charges.
        extended.logistics_charges = logistics_charges(root).unwrap_or_default();
        let others = model
            .charges
            .len()
            .checked_sub(extended.logistics_charges.len());
        match others {
            Some(others) => {
                model.charges.truncate(others);
                invoice.charges.truncate(others);
            }
            None => extended.logistics_charges.clear(),
        }
        // The library reads the first earlier invoice, which is all that the standard has in CII.
        let settlement = child(root, TRANSACTION).and_then(|it| child(it, SETTLEMENT));
        let earlier = settlement
            .into_iter()
            .flat_map(|it| children(it, "InvoiceReferencedDocument"));
        let more = earlier.skip(invoice.preceding.len()).filter_map(|node| {
            Some(Preceding {
                number: content(node, "IssuerAssignedID")?,
                date: date(node, "FormattedIssueDateTime"),
            })
        });
        invoice.preceding.extend(more);
        invoice.extended = (extended != Extended::default()).then_some(extended);
        let models = model.lines.iter_mut();
        for ((node, line), model) in lines(root).zip(&mut invoice.lines).zip(models) {
            without_measures(node, line, model);
            let document = child(node, "AssociatedDocumentLineDocument");
            let text = |name| content(document?, name);
            let kind = text("LineStatusReasonCode");
            let extended = ExtendedLine {
                parent: text("ParentLineID"),
                kind: kind.as_deref().and_then(kind_of),
                elements: Map::new(),
            };
            if extended == ExtendedLine::default() {
                continue;
            }
            if extended.kind.unwrap_or_default() != LineKind::Detail {
                // What the standard asks for, and such a line may be without.
                let part = |parent, name| child(child(node, parent)?, name);
                let price = part("SpecifiedLineTradeAgreement", "NetPriceProductTradePrice");
                let quantity = part("SpecifiedLineTradeDelivery", "BilledQuantity");
                let tax = part("SpecifiedLineTradeSettlement", "ApplicableTradeTax");
                let sum = part(
                    "SpecifiedLineTradeSettlement",
                    "SpecifiedTradeSettlementLineMonetarySummation",
                );
                let is_group = extended.kind == Some(LineKind::Group);
                line.price = line.price.filter(|_| price.is_some() && !is_group);
                line.quantity = line.quantity.filter(|_| quantity.is_some());
                line.unit = line.unit.take().filter(|_| quantity.is_some());
                line.net = line.net.filter(|_| sum.is_some());
                if tax.is_none() {
                    line.vat = Vat::default();
                }
            }
            line.extended = Some(extended);
        }
    }

    /// Adds what `written`, the XML of `invoice`, lacks of this one by the names of its elements. Gives
    /// what cannot be stated so.
    pub(crate) fn elements(&self, written: &str, invoice: &mut Invoice) -> Difference {
        let currency = invoice.currency.clone().unwrap_or_default();
        let mut difference = Difference::new(&currency);
        let root = self.document.root_element();
        let Ok(written) = Document::parse(written) else {
            return difference;
        };
        let other = written.root_element();
        let found = difference.of(root, other, WHOLE);
        if !found.is_empty() {
            invoice.extended.get_or_insert_default().elements = found;
        }
        let pairs = lines(root).zip(lines(other));
        for ((own, other), line) in pairs.zip(&mut invoice.lines) {
            let found = difference.of(own, other, LINE);
            if !found.is_empty() {
                line.extended.get_or_insert_default().elements = found;
            }
        }
        difference
    }
}

/// Takes the attributes of an item away that have a measure and no value, which only this profile has.
fn without_measures(node: Node<'_, '_>, line: &mut Line, model: &mut model::InvoiceLine) {
    let product = child(node, "SpecifiedTradeProduct").into_iter();
    let found = product.flat_map(|it| children(it, "ApplicableProductCharacteristic"));
    let has_value: Vec<bool> = found.map(|it| child(it, "Value").is_some()).collect();
    if has_value.len() == line.attributes.len() && has_value.contains(&false) {
        let mut index = 0..;
        let mut keep = || index.next().and_then(|at: usize| has_value.get(at)) == Some(&true);
        line.attributes.retain(|_| keep());
        let mut index = 0..;
        let mut keep = || index.next().and_then(|at: usize| has_value.get(at)) == Some(&true);
        model.item.attributes.retain(|_| keep());
    }
}

fn kind_of(code: &str) -> Option<LineKind> {
    Some(match code {
        "DETAIL" => LineKind::Detail,
        "GROUP" => LineKind::Group,
        "INFORMATION" => LineKind::Information,
        _ => return None,
    })
}

fn extended(root: Node<'_, '_>) -> Extended {
    let part = |name| child(child(root, TRANSACTION)?, name);
    let text = |part_name, document, name| content(child(part(part_name)?, document)?, name);
    let party = |parent, name| Some(party(child(part(parent)?, name)?));
    let settlement = part(SETTLEMENT);
    let all = |name: &'static str| {
        settlement
            .into_iter()
            .flat_map(move |it| children(it, name))
    };
    // The first ones without a discount are those of the standard.
    let is_first_plain = |(index, node): &(usize, Node<'_, '_>)| {
        *index == 0 && child(*node, "ApplicableTradePaymentDiscountTerms").is_none()
    };
    Extended {
        delivery_terms: text(
            AGREEMENT,
            "ApplicableTradeDeliveryTerms",
            "DeliveryTypeCode",
        ),
        delivery_note: text(
            DELIVERY,
            "DeliveryNoteReferencedDocument",
            "IssuerAssignedID",
        ),
        ship_from: party(DELIVERY, "ShipFromTradeParty"),
        final_recipient: party(DELIVERY, "UltimateShipToTradeParty"),
        invoicee: party(SETTLEMENT, "InvoiceeTradeParty"),
        payment_terms: all("SpecifiedTradePaymentTerms")
            .enumerate()
            .filter(|it| !is_first_plain(it))
            .map(|(_, node)| payment_terms(node))
            .collect(),
        logistics_charges: Vec::new(),
        third_party_payments: all("SpecifiedFinancialAdjustment")
            .filter_map(payment)
            .collect(),
        elements: Map::new(),
    }
}

/// The charges for logistics, if all can be read and stand behind other charges, as the schema asks.
fn logistics_charges(root: Node<'_, '_>) -> Option<Vec<LogisticsCharge>> {
    let settlement = child(child(root, TRANSACTION)?, SETTLEMENT)?;
    let names = settlement.children().map(|it| it.tag_name().name());
    let mut behind = names.skip_while(|name| *name != "SpecifiedLogisticsServiceCharge");
    if behind.any(|name| name == "SpecifiedTradeAllowanceCharge") {
        return None;
    }
    let charges = children(settlement, "SpecifiedLogisticsServiceCharge");
    charges.map(charge).collect()
}

fn charge(node: Node<'_, '_>) -> Option<LogisticsCharge> {
    let tax = child(node, "AppliedTradeTax")?;
    let rate = content(tax, "RateApplicablePercent");
    Some(LogisticsCharge {
        description: content(node, "Description").unwrap_or_default(),
        amount: Number::parse(&content(node, "AppliedAmount")?).ok()?,
        vat: Vat {
            category: content(tax, "CategoryCode").unwrap_or_default(),
            rate: rate.and_then(|it| Number::parse(&it).ok()),
        },
    })
}

fn payment(node: Node<'_, '_>) -> Option<ThirdPartyPayment> {
    Some(ThirdPartyPayment {
        reason: content(node, "Reason").unwrap_or_default(),
        amount: Number::parse(&content(node, "ActualAmount")?).ok()?,
    })
}

/// The text of XML in UTF-8, or in UTF-16 with a byte-order mark.
pub(crate) fn decoded(xml: &[u8]) -> Option<Cow<'_, str>> {
    let from: fn([u8; 2]) -> u16 = match xml {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return std::str::from_utf8(xml).ok().map(Cow::Borrowed),
    };
    let (pairs, _) = xml[2..].as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| from(*pair)).collect();
    String::from_utf16(&units).ok().map(Cow::Owned)
}

/// The lines.
fn lines<'a, 'input>(root: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    let transaction = child(root, TRANSACTION).into_iter();
    transaction.flat_map(|it| children(it, LINE_ELEMENT))
}

fn children<'a, 'input>(
    node: Node<'a, 'input>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    let elements = node.children().filter(Node::is_element);
    elements.filter(move |it| it.tag_name().name() == name)
}

fn child<'a, 'input>(node: Node<'a, 'input>, name: &'static str) -> Option<Node<'a, 'input>> {
    children(node, name).next()
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

fn content(node: Node<'_, '_>, name: &'static str) -> Option<String> {
    // A comment parts a text in two.
    let parts = child(node, name)?.children();
    let text: String = parts
        .filter(Node::is_text)
        .filter_map(|it| it.text())
        .collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn date(node: Node<'_, '_>, name: &'static str) -> Option<String> {
    let day = content(child(node, name)?, "DateTimeString").filter(|it| it.len() == 8)?;
    let parts = [day.get(..4)?, day.get(4..6)?, day.get(6..8)?];
    let date = Date::parse(&parts.join("-")).ok()?;
    Some(date.to_string())
}
