//! Checks of what an author states beyond the standard.

use en16931::VatCategory;
use rust_decimal::Decimal;

use super::collected;
use crate::{
    Address, ExtendedLine, Invoice, Line, LineKind, PaymentTerms, Profile, Syntax,
    convert::Converter,
};

impl Converter {
    /// Checks what the author states beyond the standard.
    pub(crate) fn extended(&mut self, invoice: &Invoice) {
        for (index, line) in invoice.lines.iter().enumerate() {
            if let Some(extended) = &line.extended {
                self.has_extended(&format!("/lines/{index}/extended"), invoice);
                self.sub_line(&format!("/lines/{index}"), line, extended);
            }
        }
        let Some(extended) = &invoice.extended else {
            return;
        };
        self.has_extended("/extended", invoice);
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
        for (index, charge) in extended.logistics_charges.iter().enumerate() {
            let path = format!("/extended/logisticsCharges/{index}");
            self.amount(&format!("{path}/amount"), charge.amount);
            let category = charge.vat.category.trim();
            match VatCategory::from_code(category) {
                None => {
                    let message = format!("`{category}` is no category of VAT, such as S");
                    self.problem(&format!("{path}/vat/category"), message);
                }
                Some(known) if known.carries_tax() && charge.vat.rate.is_none() => {
                    let message = format!("category {category} has a rate");
                    self.problem(&format!("{path}/vat/rate"), message);
                }
                Some(_) => {}
            }
        }
        for (index, payment) in extended.third_party_payments.iter().enumerate() {
            let path = format!("/extended/thirdPartyPayments/{index}/amount");
            self.amount(&path, payment.amount);
        }
        if let Err(error) = collected(Some(extended)) {
            self.problem("/extended/thirdPartyPayments", error.to_string());
        }
    }

    fn has_extended(&mut self, path: &str, invoice: &Invoice) {
        if invoice.profile != Profile::Extended {
            let message = "only the profile `extended` has these fields";
            self.problem(path, message.to_owned());
        } else if invoice.syntax == Some(Syntax::Ubl) {
            let message = "only the syntax `cii` has these fields";
            self.problem(path, message.to_owned());
        }
    }

    fn sub_line(&mut self, path: &str, line: &Line, extended: &ExtendedLine) {
        if extended.kind == Some(LineKind::Group) && line.price.is_some() {
            let message = "a group has no `price`: its net amount is the sum of its sub-lines";
            self.problem(&format!("{path}/price"), message.to_owned());
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
