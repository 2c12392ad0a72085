//! What only EXTENDED has, added to the CII that the library writes.

use serde_json::{Map, Value as Json, json};

use super::{
    AGREEMENT, DELIVERY, LINE_ELEMENT, SETTLEMENT, TRANSACTION,
    elements::Adder,
    schema::{LINE, WHOLE},
    tree::Element,
};
use crate::{
    Address, Extended, ExtendedLine, ExtendedParty, Invoice, Line, LineKind, MAX_XML,
    PaymentDiscount, PaymentTerms, Preceding, Problem, Vat,
};

/// `xml` of `invoice` with what only the profile has, and with `preceding` as earlier invoices beside
/// the first.
///
/// # Errors
/// What is wrong with elements that the author states by their names.
pub(crate) fn add(
    xml: String,
    invoice: &Invoice,
    preceding: &[Preceding],
) -> Result<String, Vec<Problem>> {
    let has_more = invoice.extended.is_some() || !preceding.is_empty();
    if !has_more && invoice.lines.iter().all(|line| line.extended.is_none()) {
        return Ok(xml);
    }
    let Some(mut tree) = Element::parse(&xml) else {
        return Ok(xml);
    };
    let mut adder = Adder {
        by_author: false,
        problems: Vec::new(),
    };
    let default = Extended::default();
    let extended = invoice.extended.as_ref().unwrap_or(&default);
    let (first, more) = first_terms(invoice, &extended.payment_terms);
    let stated = statements(extended, more, preceding);
    adder.add(&mut tree, WHOLE, &stated, "/extended");
    if let Some(discount) = first
        && let Some(terms) = tree.at(&[TRANSACTION, SETTLEMENT, "SpecifiedTradePaymentTerms"])
    {
        let stated = members([("ApplicableTradePaymentDiscountTerms", discount_of(discount))]);
        adder.add(
            terms,
            "TradePaymentTerms",
            &stated,
            "/extended/paymentTerms/0",
        );
    }
    adder.by_author = true;
    let path = "/extended/elements";
    adder.add(&mut tree, WHOLE, &extended.elements, path);
    let own = tree.child(TRANSACTION).into_iter();
    let own = own.flat_map(|it| &mut it.children);
    let own = own.filter(|it| it.local() == LINE_ELEMENT);
    for (index, (element, line)) in own.zip(&invoice.lines).enumerate() {
        if let Some(extended) = &line.extended {
            let path = format!("/lines/{index}/extended");
            add_to_line(&mut adder, element, line, extended, &path);
        }
    }
    if !adder.problems.is_empty() {
        return Err(adder.problems);
    }
    let written = tree.written(&xml);
    if written.len() > MAX_XML {
        let message = format!("the XML has more than {MAX_XML} bytes");
        return Err(vec![Problem::error("too-large", "", message)]);
    }
    Ok(written)
}

/// Whether the author states elements by their names.
pub(crate) fn has_elements(invoice: &Invoice) -> bool {
    let own = invoice.extended.iter().map(|it| &it.elements);
    let lines = invoice.lines.iter().filter_map(|it| it.extended.as_ref());
    let mut all = own.chain(lines.map(|it| &it.elements));
    all.any(|elements| !elements.is_empty())
}

fn add_to_line(
    adder: &mut Adder,
    element: &mut Element,
    line: &Line,
    extended: &ExtendedLine,
    path: &str,
) {
    let kind = extended.kind.unwrap_or_default();
    if kind != LineKind::Detail {
        let no_price = line.price.is_none();
        let settlement = "SpecifiedLineTradeSettlement";
        let parts = [
            (
                "SpecifiedLineTradeAgreement",
                "NetPriceProductTradePrice",
                no_price,
            ),
            (
                "SpecifiedLineTradeDelivery",
                "BilledQuantity",
                line.quantity.is_none(),
            ),
            (settlement, "ApplicableTradeTax", line.vat == Vat::default()),
        ];
        // What the library writes of lines that count, and is not stated.
        for (parent, name, _) in parts.iter().filter(|it| it.2) {
            let Some(own) = element.child(parent) else {
                continue;
            };
            own.remove(name);
            if own.children.is_empty() && *parent != settlement {
                element.remove(parent);
            }
        }
    }
    if extended.kind.is_some() || extended.parent.is_some() {
        let code = match kind {
            LineKind::Detail => "DETAIL",
            LineKind::Group => "GROUP",
            LineKind::Information => "INFORMATION",
        };
        let mut document = members([("LineStatusReasonCode", json!(code))]);
        let parent = extended.parent.as_ref();
        document.extend(parent.map(|it| ("ParentLineID".to_owned(), json!(it))));
        let stated = members([("AssociatedDocumentLineDocument", Json::Object(document))]);
        adder.by_author = false;
        adder.add(element, LINE, &stated, path);
        adder.by_author = true;
    }
    let path = format!("{path}/elements");
    adder.add(element, LINE, &extended.elements, &path);
}

fn members<const N: usize>(all: [(&str, Json); N]) -> Map<String, Json> {
    all.into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
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

/// What the fields of the profile say, by the names of its elements.
fn statements(
    extended: &Extended,
    terms: &[PaymentTerms],
    preceding: &[Preceding],
) -> Map<String, Json> {
    let some = |name: &'static str, value: Option<Json>| value.map(|it| (name.to_owned(), it));
    let list = |name: &'static str, values: Vec<Json>| {
        (!values.is_empty()).then(|| (name.to_owned(), Json::Array(values)))
    };
    let code = extended.delivery_terms.as_ref();
    let note = extended.delivery_note.as_ref();
    let agreement: Map<_, _> = some(
        "ApplicableTradeDeliveryTerms",
        code.map(|code| json!({"DeliveryTypeCode": code})),
    )
    .into_iter()
    .collect();
    let delivery: Map<_, _> = [
        some(
            "UltimateShipToTradeParty",
            extended.final_recipient.as_ref().map(party_of),
        ),
        some(
            "ShipFromTradeParty",
            extended.ship_from.as_ref().map(party_of),
        ),
        some(
            "DeliveryNoteReferencedDocument",
            note.map(|note| json!({"IssuerAssignedID": note})),
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    let charges = extended.logistics_charges.iter().map(|charge| {
        json!({
            "Description": charge.description,
            "AppliedAmount": charge.amount,
            "AppliedTradeTax": tax_of(&charge.vat),
        })
    });
    let payments = extended.third_party_payments.iter();
    let payments = payments.map(|it| json!({"Reason": it.reason, "ActualAmount": it.amount}));
    let settlement: Map<_, _> = [
        some(
            "InvoiceeTradeParty",
            extended.invoicee.as_ref().map(party_of),
        ),
        list("SpecifiedLogisticsServiceCharge", charges.collect()),
        list(
            "SpecifiedTradePaymentTerms",
            terms.iter().map(terms_of).collect(),
        ),
        list("SpecifiedFinancialAdjustment", payments.collect()),
        list(
            "InvoiceReferencedDocument",
            preceding.iter().map(earlier_of).collect(),
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    members([(
        TRANSACTION,
        json!({AGREEMENT: agreement, DELIVERY: delivery, SETTLEMENT: settlement}),
    )])
}

fn tax_of(vat: &Vat) -> Json {
    let mut tax = members([
        ("TypeCode", json!("VAT")),
        ("CategoryCode", json!(vat.category.trim())),
    ]);
    tax.extend(
        vat.rate
            .map(|rate| ("RateApplicablePercent".to_owned(), json!(rate))),
    );
    Json::Object(tax)
}

fn earlier_of(earlier: &Preceding) -> Json {
    let mut document = members([("IssuerAssignedID", json!(earlier.number))]);
    let date = earlier.date.as_ref();
    document.extend(date.map(|it| ("FormattedIssueDateTime".to_owned(), json!(it))));
    Json::Object(document)
}

/// The members that are there.
fn present<const N: usize>(all: [(&str, Option<Json>); N]) -> Map<String, Json> {
    let there = all
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    there.collect()
}

fn party_of(party: &ExtendedParty) -> Json {
    let Address {
        line1,
        line2,
        line3,
        city,
        post_code,
        region,
        country,
    } = &party.address;
    let text = |part: &Option<String>| part.as_ref().map(|it| json!(it));
    let address = present([
        ("PostcodeCode", text(post_code)),
        ("LineOne", text(line1)),
        ("LineTwo", text(line2)),
        ("LineThree", text(line3)),
        ("CityName", text(city)),
        ("CountryID", text(country)),
        ("CountrySubDivisionName", text(region)),
    ]);
    let name = Some(json!(party.name)).filter(|_| !party.name.is_empty());
    let mut made = present([("Name", name)]);
    if !address.is_empty() {
        made.insert("PostalTradeAddress".to_owned(), Json::Object(address));
    }
    Json::Object(made)
}

fn terms_of(terms: &PaymentTerms) -> Json {
    Json::Object(present([
        ("Description", terms.text.as_ref().map(|it| json!(it))),
        (
            "DueDateDateTime",
            terms.due_date.as_ref().map(|it| json!(it)),
        ),
        (
            "ApplicableTradePaymentDiscountTerms",
            terms.discount.as_ref().map(discount_of),
        ),
    ]))
}

fn discount_of(discount: &PaymentDiscount) -> Json {
    let days = |days| json!({"#text": days, "@unitCode": "DAY"});
    let number = |number: Option<crate::Number>| number.map(|it| json!(it));
    Json::Object(present([
        ("BasisDateTime", discount.date.as_ref().map(|it| json!(it))),
        ("BasisPeriodMeasure", discount.days.map(days)),
        ("BasisAmount", number(discount.base)),
        ("CalculationPercent", number(discount.percent)),
        ("ActualDiscountAmount", number(discount.amount)),
    ]))
}
