//! What Factur-X EXTENDED has beyond EN 16931.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::{Address, Vat};
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
    /// Charges for transport and the like (SpecifiedLogisticsServiceCharge), which count as charges.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logistics_charges: Vec<LogisticsCharge>,
    /// Amounts that are collected for others (SpecifiedFinancialAdjustment), which are due beside the
    /// total.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub third_party_payments: Vec<ThirdPartyPayment>,
    /// Any other element of the profile by its name, from `ExchangedDocument` and
    /// `SupplyChainTradeTransaction` on.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub elements: Map<String, Json>,
}

/// A charge for transport and the like (BG-X-42).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogisticsCharge {
    /// What it is for (BT-X-271).
    pub description: String,
    /// Amount without VAT (BT-X-272).
    pub amount: Number,
    /// VAT (BT-X-273, BT-X-274).
    #[serde(default)]
    pub vat: Vat,
}

/// An amount that is collected for another (BT-179).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ThirdPartyPayment {
    /// For whom, or what for.
    pub reason: String,
    /// Amount.
    pub amount: Number,
}

/// What only lines of the profile `extended` have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ExtendedLine {
    /// Number of the line that it is part of, which stands before it (BT-X-304).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// What kind of line it is (BT-X-8); `detail` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<LineKind>,
    /// Any other element of lines by its name, from `SpecifiedTradeProduct`,
    /// `SpecifiedLineTradeAgreement` and so on.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub elements: Map<String, Json>,
}

/// What kind of line it is (BT-X-8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LineKind {
    /// It counts.
    #[default]
    Detail,
    /// It has the sum of its sub-lines, which count instead.
    Group,
    /// It only informs, such as a part of a set.
    Information,
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
