//! Bounds of an invoice: rules compare every line with every group of the VAT breakdown.

use en16931::{Percentage, invoice as model};

/// Maximum number of lines of an invoice.
pub(crate) const MAX_LINES: usize = 10_000;
/// Maximum number of VAT groups: categories and rates.
const MAX_GROUPS: usize = 100;
/// Maximum number of JSON values of an invoice.
pub(crate) const MAX_VALUES: usize = 500_000;

/// Says which bound `invoice` exceeds; `lines` is the number of all lines, whether they count or not.
pub(crate) fn check(invoice: &model::Invoice, lines: usize) -> Result<(), String> {
    if lines > MAX_LINES {
        return Err(format!("an invoice has at most {MAX_LINES} lines"));
    }
    let mut groups: Vec<(&str, Option<Percentage>)> = Vec::new();
    let lines = invoice.lines.iter().map(|line| &line.vat);
    let allowances = invoice.allowances.iter().map(|one| &one.vat);
    let charges = invoice.charges.iter().map(|one| &one.vat);
    for vat in lines.chain(allowances).chain(charges) {
        let group = (vat.category.as_str(), vat.rate);
        if !groups.contains(&group) {
            groups.push(group);
        }
        if groups.len() > MAX_GROUPS {
            break;
        }
    }
    if groups.len().max(invoice.vat_breakdown.len()) > MAX_GROUPS {
        return Err(format!(
            "an invoice has at most {MAX_GROUPS} rates and categories of VAT"
        ));
    }
    Ok(())
}
