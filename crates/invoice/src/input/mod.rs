//! An invoice as authors state it. Every field says its business term of EN 16931-1.

mod document;
mod extended;
mod party;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::{document::*, extended::*, party::*};
use crate::{Number, Profile, Syntax};

/// An invoice or credit note. Amounts are in `currency`; dates are `2026-11-26`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Invoice {
    /// Profile whose rules it obeys; `en16931` by default.
    pub profile: Profile,
    /// Syntax of the XML: `cii` by default, `ubl` for `peppol`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syntax: Option<Syntax>,
    /// Invoice number (BT-1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// Issue date (BT-2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue_date: Option<String>,
    /// Type by UNTDID 1001 (BT-3): `380` for an invoice, by default, `381` for a credit note.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_code: Option<String>,
    /// Currency by ISO 4217 (BT-5).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Currency in which VAT is accounted, if it is another (BT-6).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vat_currency: Option<String>,
    /// Date when VAT becomes due (BT-7).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vat_point_date: Option<String>,
    /// Code of the event when VAT becomes due (BT-8).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vat_point_code: Option<String>,
    /// Due date (BT-9).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_date: Option<String>,
    /// The buyer's reference (BT-10): the Leitweg-ID of German authorities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buyer_reference: Option<String>,
    /// Project (BT-11).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Contract (BT-12).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contract: Option<String>,
    /// The buyer's order (BT-13).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purchase_order: Option<String>,
    /// The seller's order (BT-14).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sales_order: Option<String>,
    /// Receiving advice (BT-15).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiving_advice: Option<String>,
    /// Despatch advice (BT-16).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub despatch_advice: Option<String>,
    /// Tender or lot (BT-17).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tender: Option<String>,
    /// What the invoice is about, such as a meter (BT-18).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<Identifier>,
    /// Where the buyer books it (BT-19).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buyer_accounting_reference: Option<String>,
    /// Payment terms (BT-20).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_terms: Option<String>,
    /// Business process (BT-23); Peppol's by default where the profile asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub business_process: Option<String>,
    /// Notes (BG-1).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// Earlier invoices that this one refers to (BG-3).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preceding: Vec<Preceding>,
    /// Seller (BG-4).
    pub seller: Party,
    /// Buyer (BG-7).
    pub buyer: Party,
    /// Who is paid, if not the seller (BG-10).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payee: Option<Payee>,
    /// The seller's tax representative (BG-11).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tax_representative: Option<TaxRepresentative>,
    /// Delivery (BG-13).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// Invoicing period (BG-14).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<Period>,
    /// How to pay (BG-16).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment: Option<Payment>,
    /// Allowances on the whole invoice (BG-20).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowances: Vec<Adjustment>,
    /// Charges on the whole invoice (BG-21).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub charges: Vec<Adjustment>,
    /// Why VAT is not charged, by category (BT-120, BT-121).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exemptions: Vec<Exemption>,
    /// Documents that support it, such as a time sheet (BG-24).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub supporting_documents: Vec<SupportingDocument>,
    /// What only the profile `extended` has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extended: Option<Extended>,
    /// Lines (BG-25).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
    /// Totals (BG-22). They are computed; what stands here must agree with that.
    pub totals: Totals,
    /// VAT breakdown (BG-23). It is computed; what stands here must agree with that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vat: Vec<VatGroup>,
}

/// An identifier, and the list that it is from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Identifier {
    /// The identifier.
    pub id: String,
    /// Its scheme: a code of ISO 6523 such as `0088` for GLN, or of EAS for electronic addresses,
    /// such as `EM` for e-mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

/// A note (BG-1).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Note {
    /// Text (BT-22).
    pub text: String,
    /// Subject by UNTDID 4451 (BT-21), such as `REG`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

/// An earlier invoice (BG-3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Preceding {
    /// Its number (BT-25).
    pub number: String,
    /// Its date (BT-26).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

/// A period (BG-14, BG-26).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Period {
    /// First day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// Last day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
}

/// VAT of a line, allowance or charge (BG-30).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Vat {
    /// Category by UNTDID 5305: `S` standard (by default), `Z` zero, `E` exempt, `AE` reverse
    /// charge, `K` intra-community, `G` export, `O` outside of VAT.
    #[serde(default = "standard")]
    pub category: String,
    /// Rate in per cent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rate: Option<Number>,
}

impl Default for Vat {
    fn default() -> Self {
        Self {
            category: standard(),
            rate: None,
        }
    }
}

fn standard() -> String {
    "S".to_owned()
}

/// Why VAT is not charged (BT-120, BT-121).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Exemption {
    /// Category that it is for.
    pub category: String,
    /// Reason in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Reason by the VATEX list, such as `VATEX-EU-IC`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// An allowance or charge on the whole invoice (BG-20, BG-21).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Adjustment {
    /// Amount without VAT (BT-92, BT-99).
    pub amount: Number,
    /// Amount that a percentage is of (BT-93, BT-100).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Number>,
    /// Percentage (BT-94, BT-101).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<Number>,
    /// VAT (BT-95, BT-96, BT-102, BT-103).
    #[serde(default)]
    pub vat: Vat,
    /// Reason in words (BT-97, BT-104).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Reason by UNTDID 5189 or 7161 (BT-98, BT-105).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// An allowance or charge of a line (BG-27, BG-28).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LineAdjustment {
    /// Amount without VAT (BT-136, BT-141).
    pub amount: Number,
    /// Amount that a percentage is of (BT-137, BT-142).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Number>,
    /// Percentage (BT-138, BT-143).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<Number>,
    /// Reason in words (BT-139, BT-144).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Reason by UNTDID 5189 or 7161 (BT-140, BT-145).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A line (BG-25).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Line {
    /// Number of the line (BT-126); 1, 2, 3 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Note (BT-127).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What the line is about, such as a meter (BT-128).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<Identifier>,
    /// Line of the buyer's order (BT-132).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_line: Option<String>,
    /// Where the buyer books it (BT-133).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buyer_accounting_reference: Option<String>,
    /// Period (BG-26).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<Period>,
    /// Quantity (BT-129); 1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity: Option<Number>,
    /// Unit by UN/ECE Recommendation 20 (BT-130): `C62` for pieces, by default, `HUR` for hours,
    /// `DAY`, `KGM`, `LTR`, `MTR`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Net price of an item (BT-146).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Number>,
    /// Number of items that the price is for (BT-149); 1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_quantity: Option<Number>,
    /// Price before the discount (BT-148).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gross_price: Option<Number>,
    /// Discount on the price (BT-147).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_discount: Option<Number>,
    /// Allowances (BG-27).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowances: Vec<LineAdjustment>,
    /// Charges (BG-28).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub charges: Vec<LineAdjustment>,
    /// Net amount (BT-131). It is computed from quantity and price; what stands here must agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub net: Option<Number>,
    /// VAT (BG-30).
    pub vat: Vat,
    /// Name of the item (BT-153).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Description (BT-154).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The seller's number of the item (BT-155).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seller_item: Option<String>,
    /// The buyer's number of the item (BT-156).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buyer_item: Option<String>,
    /// A number by a standard, such as a GTIN with scheme `0160` (BT-157).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_item: Option<Identifier>,
    /// Classes by UNTDID 7143 (BT-158).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Identifier>,
    /// Country of origin (BT-159).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Attributes (BG-32).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<Attribute>,
    /// What only the profile `extended` has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extended: Option<ExtendedLine>,
}

/// An attribute of an item (BG-32).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Attribute {
    /// Name (BT-160).
    pub name: String,
    /// Value (BT-161).
    pub value: String,
}

/// Totals (BG-22).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Totals {
    /// Sum of the lines (BT-106).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Number>,
    /// Sum of the allowances (BT-107).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowances: Option<Number>,
    /// Sum of the charges (BT-108).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charges: Option<Number>,
    /// Total without VAT (BT-109).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub net: Option<Number>,
    /// VAT (BT-110).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vat: Option<Number>,
    /// VAT in the currency of accounting (BT-111); not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vat_in_vat_currency: Option<Number>,
    /// Total with VAT (BT-112).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gross: Option<Number>,
    /// What was paid already (BT-113); not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paid: Option<Number>,
    /// Rounding (BT-114); not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounding: Option<Number>,
    /// Amount due (BT-115).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<Number>,
}

/// A group of the VAT breakdown (BG-23).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VatGroup {
    /// Category (BT-118).
    #[serde(default = "standard")]
    pub category: String,
    /// Rate in per cent (BT-119).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rate: Option<Number>,
    /// Taxable amount (BT-116).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base: Option<Number>,
    /// Tax (BT-117).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub amount: Option<Number>,
    /// Why VAT is not charged (BT-120).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The reason's code (BT-121).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
}
