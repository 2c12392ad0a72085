//! What Factur-X EXTENDED has beyond EN 16931, in the text of CII that the library writes, and back:
//! its model is that of the standard.

mod read;

use std::{fmt::Write as _, ops::Range};

use roxmltree::{Document, Node};
use rust_decimal::Decimal;

pub(crate) use self::read::read;

use crate::{
    Address, Extended, ExtendedParty, Invoice, PaymentDiscount, PaymentTerms, Profile, Syntax,
    convert::Converter, xmp::escaped,
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

impl Addition {
    /// The name of its element.
    fn name(&self) -> &str {
        let name = self.text.trim_start_matches("<ram:");
        name.split('>').next().unwrap_or_default()
    }
}

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
        if let Some(code) = &extended.delivery_terms
            && !(code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase()))
        {
            let message = format!("`{code}` is no code of Incoterms, such as EXW");
            self.problem("/extended/deliveryTerms", message);
        }
        let parties = [
            ("shipFrom", &extended.ship_from),
            ("finalRecipient", &extended.final_recipient),
            ("invoicee", &extended.invoicee),
        ];
        for (name, party) in parties {
            let Some(party) = party else { continue };
            let path = format!("/extended/{name}");
            let country = party.address.country.as_deref().unwrap_or_default().trim();
            if party.address != Address::default() && country.is_empty() {
                let message = "an address has a country, such as FR";
                self.problem(&format!("{path}/address/country"), message.to_owned());
            }
        }
        for (index, terms) in extended.payment_terms.iter().enumerate() {
            self.payment_terms(&format!("/extended/paymentTerms/{index}"), terms);
        }
    }

    fn payment_terms(&mut self, path: &str, terms: &PaymentTerms) {
        self.date(&format!("{path}/dueDate"), terms.due_date.as_ref());
        if *terms == PaymentTerms::default() {
            let message = "terms of payment say `text`, `dueDate` or `discount`";
            self.problem(path, message.to_owned());
        }
        let Some(discount) = &terms.discount else {
            return;
        };
        let path = format!("{path}/discount");
        self.date(&format!("{path}/date"), discount.date.as_ref());
        if discount.percent.is_none() && discount.amount.is_none() {
            let message = "a discount has `percent` or `amount`";
            self.problem(&path, message.to_owned());
        }
        if let Some(days) = discount.days
            && (!days.0.is_integer() || days.0.is_sign_negative())
        {
            let message = format!("{days} is no number of days");
            self.problem(&format!("{path}/days"), message);
        }
        if let Some(percent) = discount.percent
            && !(Decimal::ZERO..=Decimal::ONE_HUNDRED).contains(&percent.0)
        {
            let message = format!("{percent} is no percentage from 0 to 100");
            self.problem(&format!("{path}/percent"), message);
        }
        for (name, amount) in [("base", discount.base), ("amount", discount.amount)] {
            if let Some(amount) = amount {
                self.amount(&format!("{path}/{name}"), amount);
            }
        }
    }
}

/// `xml` of `invoice` with what `extended` states, each at its place.
pub(crate) fn add(xml: String, invoice: &Invoice, extended: &Extended) -> String {
    let (first, more) = first_terms(invoice, &extended.payment_terms);
    let additions = additions(extended, more);
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
    if let Some(discount) = first
        && let Some(settlement) = descendant(document.root_element(), SETTLEMENT)
        && let Some(terms) = child(settlement, "SpecifiedTradePaymentTerms")
    {
        let range = terms.range();
        let end = range.start + xml[range].rfind("</").unwrap_or_default();
        edits.push((end..end, discount_text(discount)));
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

/// The discount of the terms that the standard has, which other terms repeat, and the terms beyond.
fn first_terms<'a>(
    invoice: &Invoice,
    terms: &'a [PaymentTerms],
) -> (Option<&'a PaymentDiscount>, &'a [PaymentTerms]) {
    let day = |text: Option<&String>| text.map(|text| text.trim().chars().take(10).collect());
    let due: Option<String> = day(invoice.due_date.as_ref());
    let is_stated = invoice.payment_terms.is_some() || due.is_some();
    match terms.split_first() {
        Some((first, rest))
            if is_stated
                && first.discount.is_some()
                && first.text == invoice.payment_terms
                && day(first.due_date.as_ref()) == due =>
        {
            (first.discount.as_ref(), rest)
        }
        _ => (None, terms),
    }
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
fn additions(extended: &Extended, payment_terms: &[PaymentTerms]) -> Vec<Addition> {
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
    for terms in payment_terms {
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
    text.extend(terms.discount.as_ref().map(discount_text));
    text += "</ram:SpecifiedTradePaymentTerms>";
    text
}

fn discount_text(discount: &PaymentDiscount) -> String {
    let mut text = "<ram:ApplicableTradePaymentDiscountTerms>".to_owned();
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
    text
}

fn element(name: &str, text: &str) -> String {
    // XML has no other control characters.
    let lawful = |one: &char| {
        matches!(one, '\n' | '\t') || !(one.is_control() || matches!(one, '\u{fffe}' | '\u{ffff}'))
    };
    let text: String = text.chars().filter(lawful).collect();
    format!("<ram:{name}>{}</ram:{name}>", escaped(&text))
}

/// A date, which was checked before.
fn date_text(name: &str, text: Option<&str>) -> Option<String> {
    let day = text?.trim().get(..10)?.replace('-', "");
    Some(format!(
        "<ram:{name}><udt:DateTimeString format=\"102\">{day}</udt:DateTimeString></ram:{name}>"
    ))
}

fn descendant<'a, 'input>(root: Node<'a, 'input>, name: &str) -> Option<Node<'a, 'input>> {
    let transaction = child(root, "SupplyChainTradeTransaction")?;
    child(transaction, name)
}

fn children<'a, 'input>(
    node: Node<'a, 'input>,
    name: &str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    let elements = node.children().filter(Node::is_element);
    elements.filter(move |it| it.tag_name().name() == name)
}

fn child<'a, 'input>(node: Node<'a, 'input>, name: &str) -> Option<Node<'a, 'input>> {
    let mut elements = node.children().filter(Node::is_element);
    elements.find(|it| it.tag_name().name() == name)
}
