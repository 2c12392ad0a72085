//! Where a business term stands in [`crate::Invoice`].

use en16931::bt::{Group, Path};

/// The JSON pointer of `path`: the field of its term, or else of its group.
pub(crate) fn pointer(path: &Path) -> String {
    let group = match path.group {
        Group::Document => "",
        Group::Seller => "/seller",
        Group::Buyer => "/buyer",
        Group::Payee => "/payee",
        Group::TaxRepresentative => "/taxRepresentative",
        Group::Delivery => "/delivery",
        Group::Payment => "/payment",
        Group::DocumentAllowance => "/allowances",
        Group::DocumentCharge => "/charges",
        Group::Totals => "/totals",
        Group::VatBreakdown => "/vat",
        Group::Attachment => "/supportingDocuments",
        Group::Line => "/lines",
        _ => "",
    };
    let mut pointer = group.to_owned();
    if let Some(index) = path.index {
        pointer.push_str(&format!("/{index}"));
    }
    // Rules about these are reported without their group.
    if path.group == Group::Document && path.term.is_some_and(|it| (122..=125).contains(&it.0)) {
        return "/supportingDocuments".to_owned();
    }
    if let Some(field) = path.term.and_then(|term| field(term.0)) {
        // A term of the document may be reported with a group of its own.
        if path.group == Group::Document && field.contains('/') {
            return format!("/{field}");
        }
        let own = field.rsplit_once(' ').map_or(field, |(_, own)| own);
        pointer.push_str(&format!("/{own}"));
    }
    pointer
}

/// The JSON pointer of a term of the document such as `BT-9`, or of its earlier invoices; empty for
/// other terms.
pub(crate) fn pointer_of_term(term: &str) -> String {
    let group = term.split(['[', '/']).next();
    if matches!(group, Some("BG-3" | "BT-25" | "BT-26")) {
        return "/preceding".to_owned();
    }
    let number = term.strip_prefix("BT-").and_then(|term| term.parse().ok());
    match number.filter(|number| *number <= 26).and_then(field) {
        Some(field) => format!("/{field}"),
        None => String::new(),
    }
}

/// The field of business term `term`, from its group on.
fn field(term: u16) -> Option<&'static str> {
    Some(match term {
        1 => "number",
        2 => "issueDate",
        3 => "type",
        5 => "currency",
        6 => "vatCurrency",
        7 => "vatPointDate",
        8 => "vatPointCode",
        9 => "dueDate",
        10 => "buyerReference",
        11 => "project",
        12 => "contract",
        13 => "purchaseOrder",
        14 => "salesOrder",
        15 => "receivingAdvice",
        16 => "despatchAdvice",
        17 => "tender",
        18 => "object",
        19 => "buyerAccountingReference",
        20 => "paymentTerms",
        21 | 22 => "notes",
        23 => "businessProcess",
        24 => "profile",
        25 | 26 => "preceding",
        27 | 44 | 59 | 62 | 70 => "name",
        28 | 45 => "tradingName",
        29 | 46 => "identifiers",
        30 | 47 | 61 => "legalRegistration",
        31 | 48 | 63 => "vatId",
        32 => "taxNumber",
        33 => "legalInformation",
        34 | 49 => "electronicAddress",
        35 | 50 | 64 | 75 => "address/line1",
        36 | 51 | 65 | 76 => "address/line2",
        37 | 52 | 66 | 77 => "address/city",
        38 | 53 | 67 | 78 => "address/postCode",
        39 | 54 | 68 | 79 => "address/region",
        40 | 55 | 69 | 80 => "address/country",
        41 | 56 => "contact/name",
        42 | 57 => "contact/phone",
        43 | 58 => "contact/email",
        60 => "identifier",
        71 => "location",
        72 => "date",
        73 => "period/start",
        74 => "period/end",
        81 => "means",
        82 => "meansText",
        83 => "reference",
        84..=86 => "accounts",
        87 | 88 => "card",
        89 => "directDebit/mandate",
        90 => "directDebit/creditor",
        91 => "directDebit/iban",
        _ => return amount_field(term),
    })
}

/// The field of terms from BT-92 on: allowances, totals, VAT and lines.
fn amount_field(term: u16) -> Option<&'static str> {
    Some(match term {
        92 | 99 | 117 => "amount",
        93 | 100 | 116 => "base",
        94 | 101 => "percent",
        95 | 102 | 151 => "vat/category",
        96 | 103 | 152 => "vat/rate",
        97 | 104 | 120 => "reason",
        98 | 105 | 121 => "code",
        106 => "lines",
        107 => "allowances",
        108 => "charges",
        109 => "net",
        110 => "vat",
        111 => "vatInVatCurrency",
        112 => "gross",
        113 => "paid",
        114 => "rounding",
        115 => "due",
        118 => "category",
        119 => "rate",
        122 => "reference",
        123 | 154 => "description",
        124 => "url",
        125 => "file",
        126 => "id",
        127 => "note",
        128 => "object",
        129 => "quantity",
        130 => "unit",
        131 => "net",
        132 => "orderLine",
        133 => "buyerAccountingReference",
        134 => "period/start",
        135 => "period/end",
        136..=140 => "allowances",
        141..=145 => "charges",
        146 => "price",
        147 => "priceDiscount",
        148 => "grossPrice",
        149 | 150 => "priceQuantity",
        153 => "name",
        155 => "sellerItem",
        156 => "buyerItem",
        157 => "standardItem",
        158 => "classes",
        159 => "origin",
        160 | 161 => "attributes",
        162..=165 => "address/line3",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use en16931::bt::BtId;

    use super::*;

    #[test]
    fn terms_lead_to_their_fields() {
        let line = Path::at_term(Group::Line, 2, BtId(151));
        assert_eq!(pointer(&line), "/lines/2/vat/category");
        let due = Path::group_term(Group::Totals, BtId(115));
        assert_eq!(pointer(&due), "/totals/due");
        let country = Path::group_term(Group::Seller, BtId(40));
        assert_eq!(pointer(&country), "/seller/address/country");
        assert_eq!(pointer(&Path::document()), "");
    }
}
