//! What Factur-X EXTENDED has beyond EN 16931, in the text of CII that the library writes, and back:
//! its model is that of the standard.

use std::{fmt::Write as _, ops::Range};

use en16931::Date;
use roxmltree::{Document, Node};

use crate::{
    Address, Extended, ExtendedParty, Invoice, Number, PaymentDiscount, PaymentTerms, Profile,
    Syntax, convert::Converter,
};

/// An element to write, with its content, and the siblings that follow it by the schema.
struct Addition {
    parent: &'static str,
    text: String,
    followers: &'static [&'static str],
}

const AGREEMENT: &str = "ApplicableHeaderTradeAgreement";
const DELIVERY: &str = "ApplicableHeaderTradeDelivery";
const SETTLEMENT: &str = "ApplicableHeaderTradeSettlement";

const AFTER_DELIVERY_TERMS: &[&str] = &[
    "SellerOrderReferencedDocument",
    "BuyerOrderReferencedDocument",
    "QuotationReferencedDocument",
    "ContractReferencedDocument",
    "AdditionalReferencedDocument",
    "BuyerAgentTradeParty",
    "SpecifiedProcuringProject",
    "UltimateCustomerOrderReferencedDocument",
];
const AFTER_PARTIES_OF_DELIVERY: &[&str] = &[
    "ActualDeliverySupplyChainEvent",
    "DespatchAdviceReferencedDocument",
    "ReceivingAdviceReferencedDocument",
];
const AFTER_INVOICEE: &[&str] = &[
    "PayeeTradeParty",
    "PayerTradeParty",
    "TaxApplicableTradeCurrencyExchange",
    "SpecifiedTradeSettlementPaymentMeans",
    "ApplicableTradeTax",
    "BillingSpecifiedPeriod",
    "SpecifiedTradeAllowanceCharge",
    "SpecifiedLogisticsServiceCharge",
    "SpecifiedTradePaymentTerms",
    "SpecifiedTradeSettlementHeaderMonetarySummation",
];
const AFTER_PAYMENT_TERMS: &[&str] = &["SpecifiedTradeSettlementHeaderMonetarySummation"];

impl Converter {
    /// Checks what the author states beyond the standard.
    pub(crate) fn extended(&mut self, invoice: &Invoice) {
        let Some(extended) = &invoice.extended else {
            return;
        };
        if invoice.profile != Profile::Extended {
            let message = "only the profile `extended` has these fields";
            self.problem("/extended", message.to_owned());
        } else if invoice.syntax == Some(Syntax::Ubl) {
            let message = "only the syntax `cii` has these fields";
            self.problem("/extended", message.to_owned());
        }
        for (index, terms) in extended.payment_terms.iter().enumerate() {
            let path = format!("/extended/paymentTerms/{index}");
            self.date(&format!("{path}/dueDate"), terms.due_date.as_ref());
            let Some(discount) = &terms.discount else {
                continue;
            };
            let path = format!("{path}/discount");
            self.date(&format!("{path}/date"), discount.date.as_ref());
            if let Some(days) = discount.days
                && (!days.0.is_integer() || days.0.is_sign_negative())
            {
                let message = format!("{days} is no number of days");
                self.problem(&format!("{path}/days"), message);
            }
            for (name, amount) in [("base", discount.base), ("amount", discount.amount)] {
                if let Some(amount) = amount {
                    self.amount(&format!("{path}/{name}"), amount);
                }
            }
        }
    }
}

/// `xml` with what `extended` states, each at its place.
pub(crate) fn add(xml: String, extended: &Extended) -> String {
    let additions = additions(extended);
    let Ok(document) = Document::parse(&xml) else {
        return xml;
    };
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for parent in [AGREEMENT, DELIVERY, SETTLEMENT] {
        let own = additions.iter().filter(|it| it.parent == parent);
        if let Some(node) = descendant(document.root_element(), parent) {
            edits.extend(edits_of(&xml, node, own.collect()));
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut made = String::with_capacity(xml.len() + 4096);
    let mut from = 0;
    for (range, text) in edits {
        made.push_str(&xml[from..range.start]);
        made.push_str(&text);
        from = range.end;
    }
    made.push_str(&xml[from..]);
    made
}

/// What is put where in the text of `parent`.
fn edits_of(
    xml: &str,
    parent: Node<'_, '_>,
    mut own: Vec<&Addition>,
) -> Vec<(Range<usize>, String)> {
    let range = parent.range();
    let text = &xml[range.clone()];
    if own.is_empty() {
        return Vec::new();
    }
    if let Some(head) = text.strip_suffix("/>") {
        let name = head.trim_start_matches('<').split_whitespace().next();
        let content: String = own.iter().map(|it| it.text.as_str()).collect();
        let whole = format!("{head}>{content}</{}>", name.unwrap_or_default());
        return vec![(range, whole)];
    }
    let mut edits = Vec::new();
    for child in parent.children().filter(Node::is_element) {
        let name = child.tag_name().name();
        let is_next = |it: &&Addition| it.followers.contains(&name);
        let (next, rest): (Vec<_>, Vec<_>) = own.into_iter().partition(is_next);
        let at = child.range().start;
        edits.extend(next.iter().map(|it| (at..at, it.text.clone())));
        own = rest;
    }
    let end = range.start + text.rfind("</").unwrap_or(text.len());
    edits.extend(own.iter().map(|it| (end..end, it.text.clone())));
    edits
}

/// The elements, in the order of the schema.
fn additions(extended: &Extended) -> Vec<Addition> {
    let mut additions = Vec::new();
    let mut add = |parent, followers, text: String| {
        additions.push(Addition {
            parent,
            text,
            followers,
        });
    };
    if let Some(code) = &extended.delivery_terms {
        let code = element("DeliveryTypeCode", code);
        let text =
            format!("<ram:ApplicableTradeDeliveryTerms>{code}</ram:ApplicableTradeDeliveryTerms>");
        add(AGREEMENT, AFTER_DELIVERY_TERMS, text);
    }
    let parties = [
        ("UltimateShipToTradeParty", &extended.final_recipient),
        ("ShipFromTradeParty", &extended.ship_from),
    ];
    for (name, party) in parties {
        if let Some(party) = party {
            add(DELIVERY, AFTER_PARTIES_OF_DELIVERY, party_text(name, party));
        }
    }
    if let Some(note) = &extended.delivery_note {
        let id = element("IssuerAssignedID", note);
        let text = format!(
            "<ram:DeliveryNoteReferencedDocument>{id}</ram:DeliveryNoteReferencedDocument>"
        );
        add(DELIVERY, &[], text);
    }
    if let Some(party) = &extended.invoicee {
        let text = party_text("InvoiceeTradeParty", party);
        add(SETTLEMENT, AFTER_INVOICEE, text);
    }
    for terms in &extended.payment_terms {
        add(SETTLEMENT, AFTER_PAYMENT_TERMS, terms_text(terms));
    }
    additions
}

fn party_text(name: &str, party: &ExtendedParty) -> String {
    let Address {
        line1,
        line2,
        line3,
        city,
        post_code,
        region,
        country,
    } = &party.address;
    let parts = [
        ("PostcodeCode", post_code),
        ("LineOne", line1),
        ("LineTwo", line2),
        ("LineThree", line3),
        ("CityName", city),
        ("CountryID", country),
        ("CountrySubDivisionName", region),
    ];
    let mut text = format!("<ram:{name}>{}", element("Name", &party.name));
    if parts.iter().any(|(_, part)| part.is_some()) {
        text += "<ram:PostalTradeAddress>";
        text.extend(
            parts
                .iter()
                .filter_map(|(name, part)| Some(element(name, part.as_ref()?.trim()))),
        );
        text += "</ram:PostalTradeAddress>";
    }
    let _ = write!(text, "</ram:{name}>");
    text
}

fn terms_text(terms: &PaymentTerms) -> String {
    let mut text = "<ram:SpecifiedTradePaymentTerms>".to_owned();
    text.extend(terms.text.as_ref().map(|it| element("Description", it)));
    text.extend(date_text("DueDateDateTime", terms.due_date.as_deref()));
    if let Some(discount) = &terms.discount {
        text += "<ram:ApplicableTradePaymentDiscountTerms>";
        text.extend(date_text("BasisDateTime", discount.date.as_deref()));
        if let Some(days) = discount.days {
            let _ = write!(
                text,
                "<ram:BasisPeriodMeasure unitCode=\"DAY\">{}</ram:BasisPeriodMeasure>",
                days.0.normalize()
            );
        }
        let numbers = [
            ("BasisAmount", discount.base),
            ("CalculationPercent", discount.percent),
            ("ActualDiscountAmount", discount.amount),
        ];
        for (name, number) in numbers {
            text.extend(number.map(|it| element(name, &it.0.normalize().to_string())));
        }
        text += "</ram:ApplicableTradePaymentDiscountTerms>";
    }
    text += "</ram:SpecifiedTradePaymentTerms>";
    text
}

fn element(name: &str, text: &str) -> String {
    let mut made = format!("<ram:{name}>");
    for one in text.chars() {
        match one {
            '&' => made.push_str("&amp;"),
            '<' => made.push_str("&lt;"),
            '>' => made.push_str("&gt;"),
            // XML has no other control characters.
            one if one.is_control() && !matches!(one, '\n' | '\t') => {}
            '\u{fffe}' | '\u{ffff}' => {}
            one => made.push(one),
        }
    }
    let _ = write!(made, "</ram:{name}>");
    made
}

/// A date, which was checked before.
fn date_text(name: &str, text: Option<&str>) -> Option<String> {
    let day = text?.trim().get(..10)?.replace('-', "");
    Some(format!(
        "<ram:{name}><udt:DateTimeString format=\"102\">{day}</udt:DateTimeString></ram:{name}>"
    ))
}

/// Elements, and what is read of them: all of their descendants.
const READ: [(&str, &str, &[&str]); 6] = [
    (
        AGREEMENT,
        "ApplicableTradeDeliveryTerms",
        &["DeliveryTypeCode"],
    ),
    (
        DELIVERY,
        "DeliveryNoteReferencedDocument",
        &["IssuerAssignedID"],
    ),
    (DELIVERY, "ShipFromTradeParty", PARTY),
    (DELIVERY, "UltimateShipToTradeParty", PARTY),
    (SETTLEMENT, "InvoiceeTradeParty", PARTY),
    (
        SETTLEMENT,
        "SpecifiedTradePaymentTerms",
        &[
            "Description",
            "DueDateDateTime",
            "DateTimeString",
            "ApplicableTradePaymentDiscountTerms",
            "BasisDateTime",
            "BasisPeriodMeasure",
            "BasisAmount",
            "CalculationPercent",
            "ActualDiscountAmount",
        ],
    ),
];
const PARTY: &[&str] = &[
    "Name",
    "PostalTradeAddress",
    "PostcodeCode",
    "LineOne",
    "LineTwo",
    "LineThree",
    "CityName",
    "CountryID",
    "CountrySubDivisionName",
];

/// What the XML of an invoice, as CII has it, states beyond the standard, and the names of the elements
/// of which nothing is left unread.
pub(crate) fn read(xml: &[u8]) -> Option<(Extended, Vec<&'static str>)> {
    let document = Document::parse(std::str::from_utf8(xml).ok()?).ok()?;
    let root = document.root_element();
    let is_read = |node: Node<'_, '_>, known: &[&str]| {
        let mut inner = node.descendants().skip(1).filter(Node::is_element);
        inner.all(|it| {
            let unit = it.attribute("unitCode").unwrap_or("DAY");
            known.contains(&it.tag_name().name()) && unit == "DAY"
        })
    };
    let whole = READ.into_iter().filter(|(parent, name, known)| {
        let mut found = descendant(root, parent)
            .into_iter()
            .flat_map(|it| children(it, name));
        found.all(|node| is_read(node, known))
    });
    let whole = whole.map(|(_, name, _)| name).collect();
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
    (extended != Extended::default()).then_some((extended, whole))
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

fn descendant<'a, 'input>(root: Node<'a, 'input>, name: &str) -> Option<Node<'a, 'input>> {
    let transaction = child(root, "SupplyChainTradeTransaction")?;
    child(transaction, name)
}

fn children<'a, 'input>(
    node: Node<'a, 'input>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    let elements = node.children().filter(Node::is_element);
    elements.filter(move |it| it.tag_name().name() == name)
}

fn child<'a, 'input>(node: Node<'a, 'input>, name: &str) -> Option<Node<'a, 'input>> {
    let mut elements = node.children().filter(Node::is_element);
    elements.find(|it| it.tag_name().name() == name)
}

fn content(node: Node<'_, '_>, name: &str) -> Option<String> {
    let text = child(node, name)?.text()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn date(node: Node<'_, '_>, name: &str) -> Option<String> {
    let day = content(child(node, name)?, "DateTimeString")?;
    let parts = [day.get(..4)?, day.get(4..6)?, day.get(6..8)?];
    let date = Date::parse(&parts.join("-")).ok()?;
    Some(date.to_string())
}
