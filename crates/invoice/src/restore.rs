//! From the model back to [`Invoice`].

use en16931::{
    Date, DocumentReference, Identifier as ModelIdentifier, InvoiceAmount, Percentage,
    invoice as model,
};
use rust_decimal::Decimal;

use crate::{
    Account, Address, Adjustment, Attribute, Card, Contact, Delivery, DirectDebit, Exemption,
    Identifier, Invoice, Line, LineAdjustment, Note, Number, Party, Payee, Payment, Period,
    Preceding, Profile, TaxRepresentative, Totals, Vat, VatGroup, documents::document,
};

fn identifier(of: &ModelIdentifier) -> Identifier {
    Identifier {
        id: of.content().to_owned(),
        scheme: of.scheme().map(str::to_owned),
    }
}

fn code(of: Option<&model::Code>) -> Option<String> {
    of.map(|code| code.as_str().to_owned())
}

fn reference(of: Option<&DocumentReference>) -> Option<String> {
    of.map(|reference| reference.as_str().to_owned())
}

fn date(of: Option<Date>) -> Option<String> {
    of.map(|date| date.to_string())
}

fn amount(of: InvoiceAmount) -> Number {
    let mut amount = of.into_decimal();
    amount.rescale(2);
    Number(amount)
}

fn number(of: Decimal) -> Number {
    Number(of.normalize())
}

fn percent(of: Option<Percentage>) -> Option<Number> {
    of.map(|percent| number(percent.into_decimal()))
}

fn address(of: &model::PostalAddress) -> Address {
    Address {
        line1: of.line1.clone(),
        line2: of.line2.clone(),
        line3: of.line3.clone(),
        city: of.city.clone(),
        post_code: of.post_code.clone(),
        region: of.subdivision.clone(),
        country: code(of.country.as_ref()),
    }
}

fn party(of: &model::Party) -> Party {
    let contact = Contact {
        name: of.contact.name.clone(),
        phone: of.contact.phone.clone(),
        email: of.contact.email.clone(),
    };
    Party {
        name: of.name.clone(),
        trading_name: of.trading_name.clone(),
        identifiers: of.identifiers.iter().map(identifier).collect(),
        legal_registration: of.legal_registration.as_ref().map(identifier),
        vat_id: of.vat_identifier.clone(),
        tax_number: of.tax_registration.clone(),
        legal_information: of.additional_legal_information.clone(),
        electronic_address: of.electronic_address.as_ref().map(identifier),
        address: address(&of.address),
        contact: Some(contact).filter(|contact| *contact != Contact::default()),
    }
}

fn period(of: Option<&model::Period>) -> Option<Period> {
    of.map(|period| Period {
        start: date(period.start),
        end: date(period.end),
    })
}

fn payment(of: &model::PaymentInstructions) -> Payment {
    let mut made = Payment {
        means: code(of.means_code.as_ref()),
        means_text: of.means_text.clone(),
        reference: of.remittance_information.clone(),
        ..Payment::default()
    };
    match &of.means {
        None => {}
        Some(model::PaymentMeans::CreditTransfer(transfers)) => {
            let account = |transfer: &model::CreditTransfer| Account {
                iban: transfer.account_identifier.clone().unwrap_or_default(),
                name: transfer.account_name.clone(),
                bic: transfer.provider_identifier.clone(),
            };
            made.accounts = transfers.iter().map(account).collect();
        }
        Some(model::PaymentMeans::Card(card)) => {
            made.card = Some(Card {
                number: card.primary_account_number.clone().unwrap_or_default(),
                holder: card.holder_name.clone(),
            });
        }
        Some(model::PaymentMeans::DirectDebit(debit)) => {
            made.direct_debit = Some(DirectDebit {
                mandate: debit.mandate_reference.clone(),
                creditor: debit.creditor_identifier.clone(),
                iban: debit.debited_account.clone(),
            });
        }
    }
    made
}

fn vat(of: &model::LineVat) -> Vat {
    Vat {
        category: of.category.as_str().to_owned(),
        rate: percent(of.rate),
    }
}

fn adjustment(of: &model::DocumentAllowanceCharge) -> Adjustment {
    Adjustment {
        amount: amount(of.amount),
        base: of.base_amount.map(amount),
        percent: percent(of.percentage),
        vat: vat(&of.vat),
        reason: of.reason.clone(),
        code: code(of.reason_code.as_ref()),
    }
}

fn line_adjustment(of: &model::LineAllowanceCharge) -> LineAdjustment {
    LineAdjustment {
        amount: amount(of.amount),
        base: of.base_amount.map(amount),
        percent: percent(of.percentage),
        reason: of.reason.clone(),
        code: code(of.reason_code.as_ref()),
    }
}

fn line(of: &model::InvoiceLine) -> Line {
    let price = &of.price;
    let unit_price = |price: en16931::UnitPriceAmount| number(price.into_decimal());
    Line {
        id: Some(of.id.clone()),
        note: of.note.clone(),
        object: of.object_identifier.as_ref().map(identifier),
        order_line: reference(of.order_line_reference.as_ref()),
        buyer_accounting_reference: of.accounting_reference.clone(),
        period: period(of.period.as_ref()),
        quantity: Some(number(of.quantity.into_decimal())),
        unit: Some(of.unit_code.as_str().to_owned()),
        price: Some(unit_price(price.net_price)),
        price_quantity: price
            .base_quantity
            .map(|quantity| number(quantity.into_decimal())),
        gross_price: price.gross_price.map(unit_price),
        price_discount: price.price_discount.map(unit_price),
        allowances: of.allowances.iter().map(line_adjustment).collect(),
        charges: of.charges.iter().map(line_adjustment).collect(),
        net: Some(amount(of.net_amount)),
        vat: vat(&of.vat),
        name: of.item.name.clone(),
        description: of.item.description.clone(),
        seller_item: of.item.seller_identifier.clone(),
        buyer_item: of.item.buyer_identifier.clone(),
        standard_item: of.item.standard_identifier.as_ref().map(identifier),
        classes: of
            .item
            .classification_identifiers
            .iter()
            .map(identifier)
            .collect(),
        origin: code(of.item.origin_country.as_ref()),
        attributes: of
            .item
            .attributes
            .iter()
            .map(|attribute| Attribute {
                name: attribute.name.clone().unwrap_or_default(),
                value: attribute.value.clone().unwrap_or_default(),
            })
            .collect(),
        // The model has no place for it.
        extended: None,
    }
}

fn totals(of: &model::DocumentTotals) -> Totals {
    Totals {
        lines: Some(amount(of.line_total)),
        allowances: of.allowance_total.map(amount),
        charges: of.charge_total.map(amount),
        net: Some(amount(of.taxable_total)),
        vat: of.vat_total.map(amount),
        vat_in_vat_currency: of.vat_total_accounting.map(amount),
        gross: Some(amount(of.gross_total)),
        paid: of.paid.map(amount),
        rounding: of.rounding.map(amount),
        due: Some(amount(of.due)),
    }
}

fn vat_group(of: &model::VatBreakdown) -> VatGroup {
    VatGroup {
        category: of.category.as_str().to_owned(),
        rate: percent(of.rate),
        base: Some(amount(of.taxable_amount)),
        amount: Some(amount(of.tax_amount)),
        reason: of.exemption_reason.clone(),
        code: code(of.exemption_reason_code.as_ref()),
    }
}

/// Why VAT is not charged, of the groups that say so.
fn exemption(of: &model::VatBreakdown) -> Option<Exemption> {
    of.has_exemption_reason().then(|| Exemption {
        category: of.category.as_str().to_owned(),
        reason: of.exemption_reason.clone(),
        code: code(of.exemption_reason_code.as_ref()),
    })
}

fn delivery(of: &model::Delivery) -> Delivery {
    Delivery {
        name: of.party_name.clone(),
        location: of.location.as_ref().map(identifier),
        date: date(of.date),
        address: of.address.as_ref().map(address),
    }
}

/// The author's form of `of`.
pub(crate) fn invoice(of: &model::Invoice) -> Invoice {
    let specification = of.specification_id.as_deref().unwrap_or_default();
    Invoice {
        // The model has no place for it.
        extended: None,
        profile: Profile::of_specification(specification).unwrap_or_default(),
        syntax: None,
        number: of.number.clone(),
        issue_date: date(of.issue_date),
        type_code: code(of.type_code.as_ref()),
        currency: code(of.currency.as_ref()),
        vat_currency: code(of.vat_accounting_currency.as_ref()),
        vat_point_date: date(of.vat_point_date),
        vat_point_code: code(of.vat_point_date_code.as_ref()),
        due_date: date(of.due_date),
        buyer_reference: of.buyer_reference.clone(),
        project: reference(of.project_reference.as_ref()),
        contract: reference(of.contract_reference.as_ref()),
        purchase_order: reference(of.purchase_order_reference.as_ref()),
        sales_order: reference(of.sales_order_reference.as_ref()),
        receiving_advice: reference(of.receiving_advice_reference.as_ref()),
        despatch_advice: reference(of.despatch_advice_reference.as_ref()),
        tender: reference(of.tender_reference.as_ref()),
        object: of.object_identifier.as_ref().map(identifier),
        buyer_accounting_reference: of.accounting_reference.clone(),
        payment_terms: of.payment_terms.clone(),
        business_process: of.business_process.clone(),
        notes: of
            .notes
            .iter()
            .map(|note| Note {
                text: note.note.clone().unwrap_or_default(),
                subject: code(note.subject_code.as_ref()),
            })
            .collect(),
        preceding: of
            .preceding_invoices
            .iter()
            .map(|earlier| Preceding {
                number: earlier.reference.as_str().to_owned(),
                date: date(earlier.issue_date),
            })
            .collect(),
        seller: party(&of.seller),
        buyer: party(&of.buyer),
        payee: of.payee.as_ref().map(|payee| Payee {
            name: payee.name.clone(),
            identifier: payee.identifier.as_ref().map(identifier),
            legal_registration: payee.legal_registration.as_ref().map(identifier),
        }),
        tax_representative: of
            .tax_representative
            .as_ref()
            .map(|agent| TaxRepresentative {
                name: agent.name.clone(),
                vat_id: agent.vat_identifier.clone(),
                address: address(&agent.address),
            }),
        delivery: of.delivery.as_ref().map(delivery),
        period: period(of.invoicing_period.as_ref()),
        payment: of.payment.as_ref().map(payment),
        allowances: of.allowances.iter().map(adjustment).collect(),
        charges: of.charges.iter().map(adjustment).collect(),
        exemptions: of.vat_breakdown.iter().filter_map(exemption).collect(),
        supporting_documents: of.attachments.iter().map(document).collect(),
        lines: of.lines.iter().map(line).collect(),
        totals: totals(&of.totals),
        vat: of.vat_breakdown.iter().map(vat_group).collect(),
    }
}
