//! Issues an invoice: computes, compares, checks, writes.

use en16931::{InvoiceAmount, Reconciler, invoice as model};

use crate::{
    Invoice, LineKind, Number, Problem, Profile, Syntax, Weight, bounds,
    convert::Converter,
    elements,
    extended::{self, Counted},
    place::pointer_of_term,
    read::read,
    restore,
    rules::broken_rules,
};

/// A finished invoice.
#[derive(Clone, Debug, PartialEq)]
pub struct Issued {
    /// The XML, in UTF-8.
    pub xml: String,
    /// The invoice with everything that was computed: amounts of lines, VAT and totals.
    pub invoice: Invoice,
    /// What receivers may complain about.
    pub warnings: Vec<Problem>,
}

impl Issued {
    /// The profile if PDF files carry the XML: CII of every profile but `peppol`.
    #[must_use]
    pub fn profile_in_pdf(&self) -> Option<Profile> {
        let profile = self.invoice.profile;
        let syntax = self.invoice.syntax.unwrap_or_else(|| profile.syntax());
        (syntax == Syntax::Cii && profile.conformance_level().is_some()).then_some(profile)
    }
}

/// Issues `invoice`.
///
/// # Errors
/// Everything that is wrong with it: values that are none, amounts that differ from what they are
/// computed as, rules of the profile, elements that the syntax does not have.
pub fn issue(invoice: &Invoice) -> Result<Issued, Vec<Problem>> {
    let mut converter = Converter::default();
    let mut made = converter.invoice(invoice);
    let reconciler = reconciler(invoice, &mut converter);
    if !converter.problems.is_empty() {
        return Err(converter.problems);
    }
    let mut counted = Counted::of(&made, invoice);
    bounds::check(&counted.model, made.lines.len())
        .map_err(|message| vec![Problem::error("too-large", "/lines", message)])?;
    if let Err(error) = reconciler.apply(&mut counted.model) {
        return Err(vec![
            Problem::error("vat", "/lines", error.to_string())
                .with_hint("state `vat.category` and, for category S, `vat.rate`"),
        ]);
    }
    made.vat_breakdown.clone_from(&counted.model.vat_breakdown);
    made.totals = counted.model.totals.clone();
    let collected = extended::collected(invoice.extended.as_ref());
    let due = collected.and_then(|collected| made.totals.due.checked_add(collected));
    made.totals.due = due.map_err(|error| {
        let path = "/extended/thirdPartyPayments";
        vec![Problem::error("too-large", path, error.to_string())]
    })?;
    let mut problems = differences(invoice, &made);
    if invoice.profile.has_lines() {
        problems.extend(broken_rules(invoice, &counted, made.totals.due));
    }
    let (errors, warnings): (Vec<_>, Vec<_>) = problems
        .into_iter()
        .partition(|problem| problem.weight == Weight::Error);
    if !errors.is_empty() {
        return Err(errors);
    }
    let computed = computed(invoice, &made);
    let xml = write(invoice, made)?;
    if extended::has_elements(invoice) {
        check_elements(&xml, invoice)?;
    }
    Ok(Issued {
        invoice: computed,
        xml,
        warnings,
    })
}

/// Checks the rules of what the author states by the names of elements: the model does not have it
/// before it is read.
fn check_elements(xml: &str, invoice: &Invoice) -> Result<(), Vec<Problem>> {
    let whole = "/extended/elements";
    let reading = read(xml.as_bytes())
        .map_err(|message| vec![Problem::error("invalid-value", whole, message)])?;
    let mut converter = Converter::default();
    converter.invoice(&reading.invoice);
    let problems = converter.problems.into_iter().chain(reading.problems);
    let broken = problems
        .filter(|it| it.weight == Weight::Error)
        .map(|problem| {
            // Where it is in the invoice that was read; the author stated it by other names.
            let line = problem.path.strip_prefix("/lines/");
            let line = line.and_then(|rest| rest.split('/').next()?.parse::<usize>().ok());
            let line = line.filter(|index| {
                let line = invoice.lines.get(*index);
                line.is_some_and(|it| {
                    it.extended
                        .as_ref()
                        .is_some_and(|it| !it.elements.is_empty())
                })
            });
            let path = match line {
                Some(index) => format!("/lines/{index}{whole}"),
                None => whole.to_owned(),
            };
            Problem {
                message: format!("{}: {}", problem.path, problem.message),
                path,
                ..problem
            }
        });
    let broken: Vec<_> = broken.collect();
    match broken.is_empty() {
        true => Ok(()),
        false => Err(broken),
    }
}

/// The invoice with everything that was computed.
fn computed(invoice: &Invoice, made: &model::Invoice) -> Invoice {
    let mut computed = restore::invoice(made);
    computed.profile = invoice.profile;
    computed.syntax = invoice.syntax;
    computed.exemptions.clone_from(&invoice.exemptions);
    computed.extended.clone_from(&invoice.extended);
    for (line, stated) in computed.lines.iter_mut().zip(&invoice.lines) {
        let Some(extended) = &stated.extended else {
            continue;
        };
        line.extended = Some(extended.clone());
        let kind = extended.kind.unwrap_or_default();
        if kind != LineKind::Detail {
            (line.price, line.quantity) = (stated.price, stated.quantity);
            line.unit.clone_from(&stated.unit);
        }
    }
    computed
}

fn reconciler(invoice: &Invoice, converter: &mut Converter) -> Reconciler {
    let (paid, rounding, accounting) = converter.stated(invoice);
    let mut reconciler = Reconciler::new();
    for exemption in &invoice.exemptions {
        reconciler = reconciler.exemption(
            exemption.category.trim(),
            exemption.reason.as_deref(),
            exemption.code.as_deref(),
        );
    }
    if let Some(paid) = paid {
        reconciler = reconciler.paid(paid);
    }
    if let Some(rounding) = rounding {
        reconciler = reconciler.rounding(rounding);
    }
    if let Some(accounting) = accounting {
        reconciler = reconciler.vat_total_accounting(accounting);
    }
    reconciler
}

/// What the author states of the totals and is not so.
fn differences(stated: &Invoice, made: &model::Invoice) -> Vec<Problem> {
    let mut problems = Vec::new();
    let (totals, sums) = (&stated.totals, &made.totals);
    let zero = |amount: Option<InvoiceAmount>| amount.unwrap_or_default();
    let (allowances, charges) = (zero(sums.allowance_total), zero(sums.charge_total));
    for (field, what, stated, made) in [
        (
            "lines",
            "the sum of the lines",
            totals.lines,
            sums.line_total,
        ),
        (
            "allowances",
            "the sum of the allowances",
            totals.allowances,
            allowances,
        ),
        ("charges", "the sum of the charges", totals.charges, charges),
        (
            "net",
            "the total without VAT",
            totals.net,
            sums.taxable_total,
        ),
        ("vat", "the VAT", totals.vat, zero(sums.vat_total)),
        (
            "gross",
            "the total with VAT",
            totals.gross,
            sums.gross_total,
        ),
        ("due", "the amount due", totals.due, sums.due),
    ] {
        problems.extend(difference(format!("/totals/{field}"), what, stated, made));
    }
    for (index, group) in stated.vat.iter().enumerate() {
        let found = made.vat_breakdown.iter().find(|one| {
            let rate = one
                .rate
                .map_or_else(Default::default, en16931::Percentage::into_decimal);
            one.category.as_str() == group.category.trim()
                && rate == group.rate.map_or_else(Default::default, |rate| rate.0)
        });
        let (base, tax) =
            found.map_or_else(Default::default, |one| (one.taxable_amount, one.tax_amount));
        let of = format!(
            "of category {} at {} %",
            group.category,
            group.rate.unwrap_or_default()
        );
        let what = format!("the taxable amount {of}");
        problems.extend(difference(
            format!("/vat/{index}/base"),
            &what,
            group.base,
            base,
        ));
        let what = format!("the VAT {of}");
        problems.extend(difference(
            format!("/vat/{index}/amount"),
            &what,
            group.amount,
            tax,
        ));
    }
    problems
}

/// The problem that `what` is `made`, but `stated` otherwise.
fn difference(
    path: String,
    what: &str,
    stated: Option<Number>,
    made: InvoiceAmount,
) -> Option<Problem> {
    let stated = stated.filter(|stated| stated.0 != made.into_decimal())?;
    let message = format!("{what} is {made} by the lines, but stated as {stated}");
    let hint = "VAT is computed once for each rate, from the sum of its lines: compute it so on \
                the page, or show `eInvoice.totals` there";
    Some(Problem::error("difference", path, message).with_hint(hint))
}

/// The XML of `made`, which is `invoice` as the standard has it.
pub(crate) fn write(invoice: &Invoice, mut made: model::Invoice) -> Result<String, Vec<Problem>> {
    let syntax = match invoice.syntax.unwrap_or_else(|| invoice.profile.syntax()) {
        Syntax::Cii => en16931_formats::Syntax::Cii,
        Syntax::Ubl => en16931_formats::Syntax::Ubl,
    };
    let is_extended = invoice.profile == Profile::Extended
        && invoice.syntax.is_none_or(|syntax| syntax == Syntax::Cii);
    // The schema of this profile has more than one earlier invoice.
    let preceding = match invoice.preceding.split_first() {
        Some((_, more)) if is_extended => {
            made.preceding_invoices.truncate(1);
            more
        }
        _ => &[],
    };
    let written = en16931_formats::write_unchecked(&made, syntax).map_err(|error| {
        let terms = error.entries.iter().map(|entry| {
            let term = entry.term.as_deref().unwrap_or(&entry.path);
            let message = format!("{syntax} has no form for {term}: {}", entry.message);
            Problem::error("syntax", "", message)
        });
        terms.collect::<Vec<_>>()
    })?;
    let lost: Vec<Problem> = written
        .entries
        .iter()
        .filter(|entry| entry.is_loss())
        .map(|entry| {
            let term = entry.term.as_deref().unwrap_or(&entry.path);
            let message = format!("{syntax} has no place for {term}: {}", entry.message);
            let mut problem = Problem::error("syntax", pointer_of_term(term), message);
            let advice = "leave it out, say it in a note, or choose another `syntax`";
            problem.hint = entry.hint.clone().or_else(|| Some(advice.to_owned()));
            problem
        })
        .collect();
    if !lost.is_empty() {
        return Err(lost);
    }
    let xml = elements::cut(written.xml, invoice.profile);
    extended::add(xml, invoice, preceding)
}
