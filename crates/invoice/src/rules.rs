//! The rules of a profile that an invoice breaks.

use en16931::{
    Group, InvoiceAmount, invoice as model,
    validation::{Finding, Severity},
};

use crate::{Invoice, Problem, Vat, Weight, extended::Counted, place::pointer};

/// Rules about VAT: of lines that do not count, only the rate (`-05`) is looked at.
const OF_VAT: [&str; 10] = [
    "BR-S-", "BR-Z-", "BR-E-", "BR-AE-", "BR-IC-", "BR-G-", "BR-O-", "BR-AF-", "BR-AG-", "BR-B-",
];

/// The rules of the profile that `invoice` breaks, by what counts of it; `due` is to be paid.
pub(crate) fn broken_rules(
    invoice: &Invoice,
    counted: &Counted,
    due: InvoiceAmount,
) -> Vec<Problem> {
    // The library knows what is due but for others.
    let extended = invoice.extended.as_ref();
    let is_for_others = extended.is_some_and(|it| !it.third_party_payments.is_empty());
    let found = findings(invoice, &counted.model);
    let mut problems: Vec<Problem> = found
        .iter()
        .map(|finding| counted.placed(problem(finding)))
        .filter(|problem| problem.rule != "BR-CO-25" || !(is_for_others || has_more_terms(invoice)))
        .chain(payee_is_seller(invoice))
        .collect();
    let is_stated = invoice.due_date.is_some() || invoice.payment_terms.is_some();
    if is_for_others && due > InvoiceAmount::ZERO && !is_stated && !has_more_terms(invoice) {
        let message = format!("{due} is to be paid, and nothing says when");
        let problem = Problem::error("BR-CO-25", "/dueDate", message)
            .with_hint("state `dueDate` or `paymentTerms`");
        problems.push(problem);
    }
    problems.extend(broken_by_others(invoice, counted));
    problems
}

/// What the profile's rules say of `model`, but for information.
fn findings(invoice: &Invoice, model: &model::Invoice) -> Vec<Finding> {
    // The rules of EN 16931 ask for its own identifier; the others check their own.
    let report = invoice.profile.rules().validate(model);
    let findings = report.findings().iter();
    findings
        .filter(|it| it.severity != Severity::Info)
        .cloned()
        .collect()
}

/// The rules about single lines that groups and information break, which do not count.
fn broken_by_others(invoice: &Invoice, counted: &Counted) -> Vec<Problem> {
    let Some((model, places)) = counted.others(invoice) else {
        return Vec::new();
    };
    let place = |mut problem: Problem| {
        let rest = problem.path.strip_prefix("/lines/")?;
        let (index, field) = rest.split_once('/').unwrap_or((rest, ""));
        let place = places.get(index.parse::<usize>().ok()?)?;
        problem.path = format!("/lines/{place}/{field}")
            .trim_end_matches('/')
            .to_owned();
        Some(problem)
    };
    let found = findings(invoice, &model);
    let of_lines = found.iter().filter(|finding| {
        let is_of_vat = OF_VAT.iter().any(|it| finding.rule.starts_with(it));
        finding.path.group == Group::Line && (!is_of_vat || finding.rule.ends_with("-05"))
    });
    let mut problems: Vec<Problem> = of_lines.map(problem).filter_map(place).collect();
    let lines = counted.model.lines.iter().map(|it| &it.vat);
    let allowances = counted.model.allowances.iter().map(|it| &it.vat);
    let charges = counted.model.charges.iter().map(|it| &it.vat);
    let categories: Vec<&str> = lines
        .chain(allowances)
        .chain(charges)
        .map(|it| it.category.as_str())
        .collect();
    for index in places {
        let vat = &invoice.lines[index].vat;
        let category = vat.category.trim();
        if *vat != Vat::default() && !categories.contains(&category) {
            // The words of the rule are about lines that count, but the published test is about all.
            let message = format!("no line that counts has the category {category}");
            let name = match category {
                "K" => "IC",
                "L" => "AF",
                "M" => "AG",
                other => other,
            };
            let rule = format!("BR-FXEXT-{name}-01");
            let path = format!("/lines/{index}/vat/category");
            problems.push(Problem::error(&rule, path, message));
        }
    }
    problems
}

/// Whether terms of payment that only EXTENDED has say when to pay.
fn has_more_terms(invoice: &Invoice) -> bool {
    let extended = invoice.extended.iter();
    let mut terms = extended.flat_map(|it| &it.payment_terms);
    terms.any(|terms| terms.due_date.is_some() || terms.text.is_some())
}

/// The part of BR-17 that the library does not check: whether the payee is the seller, by its
/// name or an identifier.
fn payee_is_seller(invoice: &Invoice) -> Option<Problem> {
    let (payee, seller) = (invoice.payee.as_ref()?, &invoice.seller);
    let names = [seller.name.as_ref(), seller.trading_name.as_ref()];
    let same_name = payee.name.as_ref().is_some_and(|name| {
        let mut names = names.into_iter().flatten();
        names.any(|own| own.trim() == name.trim())
    });
    let same_identifier = payee.identifier.as_ref().is_some_and(|identifier| {
        let mut own = seller.identifiers.iter();
        own.any(|own| own.id.trim() == identifier.id.trim())
    });
    let message = "the payee is the seller, whom the invoice has already";
    (same_name || same_identifier).then(|| {
        Problem::error("BR-17", "/payee", message.to_owned())
            .with_hint("leave `payee` out, or name the party that is paid instead of the seller")
    })
}

fn problem(finding: &Finding) -> Problem {
    let mut message = finding.message.clone();
    if let Some(detail) = &finding.detail {
        message.push_str(&format!(
            " (expected {}, found {})",
            detail.expected, detail.actual
        ));
    }
    Problem {
        weight: if finding.severity == Severity::Fatal {
            Weight::Error
        } else {
            Weight::Warning
        },
        rule: finding.rule.clone(),
        path: pointer(&finding.path),
        message,
        hint: finding.hint.clone(),
    }
}
