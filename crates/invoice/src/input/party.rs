//! Who sells, buys, receives and is paid.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Identifier;

/// Seller or buyer (BG-4, BG-7).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Party {
    /// Name (BT-27, BT-44).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Trading name (BT-28, BT-45).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trading_name: Option<String>,
    /// Identifiers (BT-29, BT-46); a buyer has one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub identifiers: Vec<Identifier>,
    /// Legal registration (BT-30, BT-47), such as a SIREN with scheme `0002`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub legal_registration: Option<Identifier>,
    /// VAT identifier (BT-31, BT-48), such as `DE123456789`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vat_id: Option<String>,
    /// Tax number of the seller (BT-32).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tax_number: Option<String>,
    /// Additional legal information of the seller (BT-33).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub legal_information: Option<String>,
    /// Electronic address (BT-34, BT-49).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub electronic_address: Option<Identifier>,
    /// Address (BG-5, BG-8).
    pub address: Address,
    /// Contact (BG-6, BG-9).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact: Option<Contact>,
}

/// A postal address (BG-5, BG-8, BG-12, BG-15).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Address {
    /// Street and number, or post-office box.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line1: Option<String>,
    /// Second line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line2: Option<String>,
    /// Third line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line3: Option<String>,
    /// City.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// Post code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_code: Option<String>,
    /// Region, state or province.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Country by ISO 3166-1, such as `FR`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
}

/// A contact (BG-6, BG-9).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Contact {
    /// Person or department.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Telephone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// E-mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

/// Who is paid (BG-10).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Payee {
    /// Name (BT-59).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Identifier (BT-60).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identifier: Option<Identifier>,
    /// Legal registration (BT-61).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub legal_registration: Option<Identifier>,
}

/// The seller's tax representative (BG-11).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TaxRepresentative {
    /// Name (BT-62).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// VAT identifier (BT-63).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vat_id: Option<String>,
    /// Address (BG-12).
    pub address: Address,
}

/// Delivery (BG-13).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Delivery {
    /// Name of who received it (BT-70).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Place (BT-71).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Identifier>,
    /// Date (BT-72).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Address (BG-15).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
}

/// How to pay (BG-16): by transfer (`accounts`), card or direct debit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Payment {
    /// Means by UNTDID 4461 (BT-81): `58` for a SEPA transfer, `59` for a SEPA direct debit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub means: Option<String>,
    /// Means in words (BT-82).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub means_text: Option<String>,
    /// What the payer is to write (BT-83).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Accounts to transfer to (BG-17).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<Account>,
    /// Card that was charged (BG-18).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    /// Direct debit (BG-19).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct_debit: Option<DirectDebit>,
}

/// An account (BG-17).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Account {
    /// IBAN, or another account number (BT-84).
    pub iban: String,
    /// Holder (BT-85).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// BIC (BT-86).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bic: Option<String>,
}

/// A card (BG-18).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Card {
    /// Last digits of the number (BT-87).
    pub number: String,
    /// Holder (BT-88).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
}

/// A direct debit (BG-19).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DirectDebit {
    /// Mandate (BT-89).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mandate: Option<String>,
    /// Creditor identifier (BT-90).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creditor: Option<String>,
    /// Account that is debited (BT-91).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iban: Option<String>,
}
