//! What Factur-X EXTENDED has beyond EN 16931, in the CII that the library writes, and back: the
//! library's model is that of the standard.

mod add;
mod check;
mod counted;
mod difference;
mod elements;
mod read;
mod schema;
mod tree;

pub(crate) use self::{
    add::{add, has_elements},
    counted::{Counted, broken, collected, sum_groups},
    difference::Difference,
    read::{Reader, decoded},
};

const TRANSACTION: &str = "SupplyChainTradeTransaction";
const LINE_ELEMENT: &str = "IncludedSupplyChainTradeLineItem";
const AGREEMENT: &str = "ApplicableHeaderTradeAgreement";
const DELIVERY: &str = "ApplicableHeaderTradeDelivery";
const SETTLEMENT: &str = "ApplicableHeaderTradeSettlement";
