//! What Factur-X EXTENDED has beyond EN 16931.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Address;
use crate::Number;

/// What only the profile `extended` has, by the elements of CII.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Extended {
    /// Terms of delivery by Incoterms, such as `EXW` (ApplicableTradeDeliveryTerms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_terms: Option<String>,
    /// Delivery note (DeliveryNoteReferencedDocument).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_note: Option<String>,
    /// Where the goods were sent from (ShipFromTradeParty).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ship_from: Option<ExtendedParty>,
    /// The final recipient of the goods (UltimateShipToTradeParty).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_recipient: Option<ExtendedParty>,
    /// Who gets the invoice, if not the buyer (InvoiceeTradeParty).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invoicee: Option<ExtendedParty>,
    /// More terms of payment, such as a discount for early payment (SpecifiedTradePaymentTerms).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub payment_terms: Vec<PaymentTerms>,
}

/// Another party.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExtendedParty {
    /// Name.
    pub name: String,
    /// Postal address.
    #[serde(default)]
    pub address: Address,
}

/// Terms of payment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PaymentTerms {
    /// The terms in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Until when they apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_date: Option<String>,
    /// What a payer may deduct under these terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discount: Option<PaymentDiscount>,
}

/// A discount for early payment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PaymentDiscount {
    /// From when the days count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Number of days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<Number>,
    /// The amount that the discount applies to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Number>,
    /// The discount in per cent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<Number>,
    /// The discount as an amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<Number>,
}
