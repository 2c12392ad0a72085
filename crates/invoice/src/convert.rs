//! From the author's [`Invoice`] to the model that is checked and written.

use en16931::{
    Date, DocumentReference, Identifier as ModelIdentifier, InvoiceAmount, Percentage, Quantity,
    UnitPriceAmount, invoice as model,
};
use rust_decimal::{Decimal, RoundingStrategy};

use crate::{
    Account, Address, Adjustment, Identifier, Invoice, Line, LineAdjustment, LineKind, Number,
    Party, Payment, Period, Problem, Vat, extended::sum_groups,
};

/// Types by UNTDID 1001 that are credit notes.
const CREDIT_NOTES: [&str; 6] = ["81", "83", "261", "381", "396", "532"];

/// Converts, and collects what is wrong on the way.
#[derive(Debug, Default)]
pub(crate) struct Converter {
    pub(crate) problems: Vec<Problem>,
}

/// `amount` with two decimals, half away from zero.
pub(crate) fn cents(amount: Decimal) -> Decimal {
    amount.round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero)
}

fn identifier(of: &Identifier) -> ModelIdentifier {
    match &of.scheme {
        Some(scheme) => ModelIdentifier::schemed(&of.id, scheme),
        None => ModelIdentifier::new(&of.id),
    }
}

fn reference(text: Option<&String>) -> Option<DocumentReference> {
    text.map(DocumentReference::new)
}

fn code(text: Option<&String>) -> Option<model::Code> {
    text.map(|text| model::Code::new(text.trim()))
}

fn address(of: &Address) -> model::PostalAddress {
    model::PostalAddress {
        line1: of.line1.clone(),
        line2: of.line2.clone(),
        line3: of.line3.clone(),
        city: of.city.clone(),
        post_code: of.post_code.clone(),
        subdivision: of.region.clone(),
        country: code(of.country.as_ref()),
    }
}

fn party(of: &Party) -> model::Party {
    let contact = of.contact.clone().unwrap_or_default();
    model::Party {
        name: of.name.clone(),
        trading_name: of.trading_name.clone(),
        identifiers: of.identifiers.iter().map(identifier).collect(),
        legal_registration: of.legal_registration.as_ref().map(identifier),
        vat_identifier: of.vat_id.clone(),
        tax_registration: of.tax_number.clone(),
        additional_legal_information: of.legal_information.clone(),
        electronic_address: of.electronic_address.as_ref().map(identifier),
        address: address(&of.address),
        contact: model::Contact {
            name: contact.name,
            phone: contact.phone,
            email: contact.email,
        },
    }
}

fn transfer(of: &Account) -> model::CreditTransfer {
    model::CreditTransfer {
        // People write IBANs in groups of four.
        account_identifier: Some(of.iban.replace(' ', "")),
        account_name: of.name.clone(),
        provider_identifier: of.bic.clone(),
    }
}

fn line_vat(of: &Vat) -> model::LineVat {
    model::LineVat {
        category: model::Code::new(of.category.trim()),
        rate: of.rate.map(|rate| Percentage::new(rate.0)),
    }
}

/// All amounts together; `None` if they are too large.
fn sum(all: &[LineAdjustment]) -> Option<Decimal> {
    let mut amounts = all.iter().map(|one| one.amount.0);
    amounts.try_fold(Decimal::ZERO, Decimal::checked_add)
}

/// The price that makes the net amount of a line that states no price.
fn price_of(of: &Line, net: Decimal, quantity: Decimal) -> Option<Decimal> {
    let per = of.price_quantity.map_or(Decimal::ONE, |per| per.0);
    net.checked_add(sum(&of.allowances)?)?
        .checked_sub(sum(&of.charges)?)?
        .checked_mul(per)?
        .checked_div(quantity)
}

impl Converter {
    pub(crate) fn problem(&mut self, path: &str, message: String) {
        self.problems
            .push(Problem::error("invalid-value", path, message));
    }

    pub(crate) fn date(&mut self, path: &str, text: Option<&String>) -> Option<Date> {
        let text = text?.trim();
        // A time stamp says its day first.
        let day = match text.as_bytes().get(10) {
            Some(b'T' | b' ') => &text[..10],
            _ => text,
        };
        match Date::parse(day) {
            Ok(date) => Some(date),
            Err(_) => {
                let message = format!("`{text}` is not a date: write it as 2026-11-26");
                self.problem(path, message);
                None
            }
        }
    }

    /// An amount with at most two decimals.
    pub(crate) fn amount(&mut self, path: &str, number: Number) -> InvoiceAmount {
        InvoiceAmount::from_decimal_exact(number.0.normalize()).unwrap_or_else(|_| {
            let message = format!(
                "{number} has more than two decimals or too many digits: round it, as amounts of \
                 an invoice are whole cents"
            );
            self.problem(path, message);
            InvoiceAmount::ZERO
        })
    }

    fn some_amount(&mut self, path: &str, number: Option<Number>) -> Option<InvoiceAmount> {
        number.map(|number| self.amount(path, number))
    }

    fn period(&mut self, path: &str, of: Option<&Period>) -> Option<model::Period> {
        let of = of?;
        Some(model::Period {
            start: self.date(&format!("{path}/start"), of.start.as_ref()),
            end: self.date(&format!("{path}/end"), of.end.as_ref()),
        })
    }

    fn payment(&mut self, of: &Payment) -> model::PaymentInstructions {
        let mut means = None;
        let stated = [
            !of.accounts.is_empty(),
            of.card.is_some(),
            of.direct_debit.is_some(),
        ];
        if stated.iter().filter(|stated| **stated).count() > 1 {
            let message = "an invoice is paid in one way: by `accounts`, `card` or `directDebit`";
            self.problem("/payment", message.to_owned());
        }
        if let Some(debit) = &of.direct_debit {
            means = Some(model::PaymentMeans::DirectDebit(model::DirectDebit {
                mandate_reference: debit.mandate.clone(),
                creditor_identifier: debit.creditor.clone(),
                debited_account: debit.iban.as_ref().map(|iban| iban.replace(' ', "")),
            }));
        } else if let Some(card) = &of.card {
            means = Some(model::PaymentMeans::Card(model::PaymentCard {
                primary_account_number: Some(card.number.clone()),
                holder_name: card.holder.clone(),
            }));
        } else if !of.accounts.is_empty() {
            let accounts = of.accounts.iter().map(transfer).collect();
            means = Some(model::PaymentMeans::CreditTransfer(accounts));
        }
        let usual = match &means {
            Some(model::PaymentMeans::CreditTransfer(_)) => Some("58"),
            Some(model::PaymentMeans::DirectDebit(_)) => Some("59"),
            Some(model::PaymentMeans::Card(_)) => Some("48"),
            None => None,
        };
        model::PaymentInstructions {
            means_code: code(of.means.as_ref()).or_else(|| usual.map(model::Code::new)),
            means_text: of.means_text.clone(),
            remittance_information: of.reference.clone(),
            means,
        }
    }

    fn adjustments(
        &mut self,
        path: &str,
        all: &[Adjustment],
    ) -> Vec<model::DocumentAllowanceCharge> {
        let convert = |(index, of): (usize, &Adjustment)| model::DocumentAllowanceCharge {
            amount: self.amount(&format!("{path}/{index}/amount"), of.amount),
            base_amount: self.some_amount(&format!("{path}/{index}/base"), of.base),
            percentage: of.percent.map(|percent| Percentage::new(percent.0)),
            vat: line_vat(&of.vat),
            reason: of.reason.clone(),
            reason_code: code(of.code.as_ref()),
        };
        all.iter().enumerate().map(convert).collect()
    }

    fn line_adjustments(
        &mut self,
        path: &str,
        all: &[LineAdjustment],
    ) -> Vec<model::LineAllowanceCharge> {
        let convert = |(index, of): (usize, &LineAdjustment)| model::LineAllowanceCharge {
            amount: self.amount(&format!("{path}/{index}/amount"), of.amount),
            base_amount: self.some_amount(&format!("{path}/{index}/base"), of.base),
            percentage: of.percent.map(|percent| Percentage::new(percent.0)),
            reason: of.reason.clone(),
            reason_code: code(of.code.as_ref()),
        };
        all.iter().enumerate().map(convert).collect()
    }

    /// The net amount of a line (BT-131): quantity times price, with charges, less allowances.
    fn net(&mut self, path: &str, of: &Line) -> Option<InvoiceAmount> {
        let kind = of.extended.as_ref().and_then(|it| it.kind);
        let counts = kind.unwrap_or_default() == LineKind::Detail;
        let Some(price) = of.price else {
            if of.net.is_none() && counts {
                let message = "the line has neither a `price` nor a `net` amount".to_owned();
                self.problem(path, message);
            }
            return self.some_amount(&format!("{path}/net"), of.net);
        };
        let quantity = of.quantity.map_or(Decimal::ONE, |quantity| quantity.0);
        let per = of.price_quantity.map_or(Decimal::ONE, |per| per.0);
        let computed = quantity
            .checked_mul(price.0)
            .and_then(|amount| amount.checked_div(per))
            .map(cents)
            .and_then(|amount| amount.checked_add(sum(&of.charges)?))
            .and_then(|amount| amount.checked_sub(sum(&of.allowances)?));
        let Some(computed) = computed else {
            let message = "quantity and price are too large, or `priceQuantity` is zero";
            self.problem(path, message.to_owned());
            return None;
        };
        if let Some(stated) = of.net
            && stated.0 != computed
        {
            let message = format!(
                "the line says {stated}, but {quantity} at {price}{} make {computed}",
                if per == Decimal::ONE {
                    String::new()
                } else {
                    format!(" for {per}")
                }
            );
            let problem = Problem::error("difference", format!("{path}/net"), message).with_hint(
                "leave `net` out, or compute it as quantity times price, rounded to cents, \
                 with charges and less allowances",
            );
            self.problems.push(problem);
        }
        Some(self.amount(path, Number(computed)))
    }

    fn line(&mut self, index: usize, of: &Line) -> model::InvoiceLine {
        let path = format!("/lines/{index}");
        let net_amount = self.net(&path, of).unwrap_or_default();
        let quantity = of.quantity.map_or(Decimal::ONE, |quantity| quantity.0);
        let price = of.price.map(|price| price.0);
        let price = price.or_else(|| price_of(of, net_amount.into_decimal(), quantity));
        let price = price.unwrap_or_default();
        let unit = of.unit.clone().unwrap_or_else(|| "C62".to_owned());
        model::InvoiceLine {
            id: of.id.clone().unwrap_or_else(|| (index + 1).to_string()),
            note: of.note.clone(),
            order_line_reference: reference(of.order_line.as_ref()),
            accounting_reference: of.buyer_accounting_reference.clone(),
            object_identifier: of.object.as_ref().map(identifier),
            quantity: Quantity::new(quantity),
            unit_code: model::Code::new(&unit),
            net_amount,
            period: self.period(&format!("{path}/period"), of.period.as_ref()),
            allowances: self.line_adjustments(&format!("{path}/allowances"), &of.allowances),
            charges: self.line_adjustments(&format!("{path}/charges"), &of.charges),
            price: model::PriceDetails {
                net_price: UnitPriceAmount::new(price),
                price_discount: of.price_discount.map(|price| UnitPriceAmount::new(price.0)),
                gross_price: of.gross_price.map(|price| UnitPriceAmount::new(price.0)),
                base_quantity: of.price_quantity.map(|per| Quantity::new(per.0)),
                base_quantity_code: of.price_quantity.map(|_| model::Code::new(unit)),
            },
            vat: line_vat(&of.vat),
            item: model::Item {
                name: of.name.clone(),
                description: of.description.clone(),
                seller_identifier: of.seller_item.clone(),
                buyer_identifier: of.buyer_item.clone(),
                standard_identifier: of.standard_item.as_ref().map(identifier),
                classification_identifiers: of.classes.iter().map(identifier).collect(),
                origin_country: code(of.origin.as_ref()),
                attributes: of
                    .attributes
                    .iter()
                    .map(|attribute| model::ItemAttribute {
                        name: Some(attribute.name.clone()),
                        value: Some(attribute.value.clone()),
                    })
                    .collect(),
            },
        }
    }

    /// The parties and what is theirs.
    fn parties(&mut self, of: &Invoice, made: &mut model::Invoice) {
        made.seller = party(&of.seller);
        made.buyer = party(&of.buyer);
        made.payee = of.payee.as_ref().map(|payee| model::Payee {
            name: payee.name.clone(),
            identifier: payee.identifier.as_ref().map(identifier),
            legal_registration: payee.legal_registration.as_ref().map(identifier),
        });
        made.tax_representative =
            of.tax_representative
                .as_ref()
                .map(|agent| model::TaxRepresentative {
                    name: agent.name.clone(),
                    vat_identifier: agent.vat_id.clone(),
                    address: address(&agent.address),
                });
        made.delivery = of.delivery.as_ref().map(|delivery| model::Delivery {
            party_name: delivery.name.clone(),
            location: delivery.location.as_ref().map(identifier),
            date: self.date("/delivery/date", delivery.date.as_ref()),
            address: delivery.address.as_ref().map(address),
        });
    }

    /// The document's own terms.
    fn header(&mut self, of: &Invoice, made: &mut model::Invoice) {
        let type_code = of.type_code.clone().unwrap_or_else(|| "380".to_owned());
        if CREDIT_NOTES.contains(&type_code.trim()) {
            made.kind = model::DocumentKind::CreditNote;
        }
        made.specification_id = Some(of.profile.specification().to_owned());
        made.business_process = of
            .business_process
            .clone()
            .or_else(|| of.profile.business_process().map(str::to_owned));
        made.number.clone_from(&of.number);
        made.issue_date = self.date("/issueDate", of.issue_date.as_ref());
        made.type_code = code(Some(&type_code));
        made.currency = code(of.currency.as_ref());
        made.vat_accounting_currency = code(of.vat_currency.as_ref());
        made.vat_point_date = self.date("/vatPointDate", of.vat_point_date.as_ref());
        made.vat_point_date_code = code(of.vat_point_code.as_ref());
        made.due_date = self.date("/dueDate", of.due_date.as_ref());
        made.buyer_reference.clone_from(&of.buyer_reference);
        made.project_reference = reference(of.project.as_ref());
        made.contract_reference = reference(of.contract.as_ref());
        made.purchase_order_reference = reference(of.purchase_order.as_ref());
        made.sales_order_reference = reference(of.sales_order.as_ref());
        made.receiving_advice_reference = reference(of.receiving_advice.as_ref());
        made.despatch_advice_reference = reference(of.despatch_advice.as_ref());
        made.tender_reference = reference(of.tender.as_ref());
        made.object_identifier = of.object.as_ref().map(identifier);
        made.accounting_reference
            .clone_from(&of.buyer_accounting_reference);
        made.payment_terms.clone_from(&of.payment_terms);
        made.notes = of
            .notes
            .iter()
            .map(|note| model::InvoiceNote {
                subject_code: code(note.subject.as_ref()),
                note: Some(note.text.clone()),
            })
            .collect();
        made.preceding_invoices = of
            .preceding
            .iter()
            .enumerate()
            .map(|(index, earlier)| model::PrecedingInvoice {
                reference: DocumentReference::new(&earlier.number),
                issue_date: self.date(&format!("/preceding/{index}/date"), earlier.date.as_ref()),
            })
            .collect();
        made.invoicing_period = self.period("/period", of.period.as_ref());
        made.attachments = self.documents(&of.supporting_documents);
    }

    /// The model of `of`, without VAT breakdown and totals.
    pub(crate) fn invoice(&mut self, of: &Invoice) -> model::Invoice {
        let mut made = model::Invoice::default();
        self.extended(of);
        self.header(of, &mut made);
        self.parties(of, &mut made);
        made.payment = of.payment.as_ref().map(|payment| self.payment(payment));
        made.allowances = self.adjustments("/allowances", &of.allowances);
        made.charges = self.adjustments("/charges", &of.charges);
        made.lines = of
            .lines
            .iter()
            .enumerate()
            .map(|(index, line)| self.line(index, line))
            .collect();
        sum_groups(&mut made, of, self);
        made
    }

    /// What the author states and nothing computes: BT-111, BT-113, BT-114.
    pub(crate) fn stated(
        &mut self,
        of: &Invoice,
    ) -> (
        Option<InvoiceAmount>,
        Option<InvoiceAmount>,
        Option<InvoiceAmount>,
    ) {
        let totals = &of.totals;
        (
            self.some_amount("/totals/paid", totals.paid),
            self.some_amount("/totals/rounding", totals.rounding),
            self.some_amount("/totals/vatInVatCurrency", totals.vat_in_vat_currency),
        )
    }
}
