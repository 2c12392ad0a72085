//! E-invoices by EN 16931: from business terms as JSON ([`Invoice`]) to UN/CEFACT CII and UBL, and
//! back.
//!
//! [`issue`] computes the VAT breakdown and the totals, checks the rules of the profile, and writes
//! the XML. What the author states of totals must agree with what is computed. [`read()`] reads an
//! XML file into the same JSON and says which rules it breaks. Neither does I/O.
//!
//! The model, the rules and the syntaxes are those of the crates `en16931` and `en16931-formats`;
//! nothing outside of this crate sees them.

mod bounds;
mod convert;
mod documents;
mod elements;
mod extended;
mod input;
mod issue;
mod mapping;
mod number;
mod place;
mod problem;
mod profile;
mod read;
mod restore;
mod rules;
mod xmp;

pub use self::{
    input::*,
    issue::{Issued, issue},
    mapping::{Mapping, check_mapping, invoice_of},
    number::Number,
    problem::{Problem, Weight},
    profile::{Profile, Syntax},
    read::{Reading, read},
    xmp::{MAX_XML, XmpExtension, XmpFields, xmp_extension, xmp_of},
};
