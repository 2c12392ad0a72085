//! What counts of an invoice with sub-lines, charges for logistics and payments to others: the model of
//! the standard that sums and rules are about.

use std::collections::HashMap;

use en16931::{AmountError, InvoiceAmount, Percentage, invoice as model};

use crate::{Extended, Invoice, LineKind, Problem, Vat, convert::Converter};

/// The kind of the line at `index`.
fn kind(invoice: &Invoice, index: usize) -> LineKind {
    let line = invoice.lines.get(index);
    let extended = line.and_then(|line| line.extended.as_ref());
    extended.and_then(|it| it.kind).unwrap_or_default()
}

fn parent(invoice: &Invoice, index: usize) -> Option<&str> {
    let line = invoice.lines.get(index)?;
    line.extended.as_ref()?.parent.as_deref().map(str::trim)
}

/// The model that sums and rules are about, and where its parts stand in the invoice.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) model: model::Invoice,
    /// The place of each of its lines in the invoice.
    lines: Vec<usize>,
    /// Number of charges that are those of the standard.
    charges: usize,
    /// The lines that do not count, with their places.
    others: Vec<(usize, model::InvoiceLine)>,
}

impl Counted {
    /// What counts of `made`, which is `invoice` as the standard has it.
    pub(crate) fn of(made: &model::Invoice, invoice: &Invoice) -> Self {
        let mut model = made.clone();
        let counts = |index: &usize| kind(invoice, *index) == LineKind::Detail;
        let all = std::mem::take(&mut model.lines).into_iter().enumerate();
        let (own, others): (Vec<_>, Vec<_>) = all.partition(|(index, _)| counts(index));
        let (lines, own): (Vec<usize>, Vec<_>) = own.into_iter().unzip();
        model.lines = own;
        let charges = model.charges.len();
        let more = invoice.extended.iter().flat_map(|it| &it.logistics_charges);
        model
            .charges
            .extend(more.map(|charge| {
                model::DocumentAllowanceCharge {
                    amount: InvoiceAmount::from_decimal_exact(charge.amount.0.normalize())
                        .unwrap_or_default(),
                    base_amount: None,
                    percentage: None,
                    vat: model::LineVat {
                        category: model::Code::new(charge.vat.category.trim()),
                        rate: charge.vat.rate.map(|rate| Percentage::new(rate.0)),
                    },
                    reason: Some(charge.description.clone()),
                    reason_code: None,
                }
            }));
        Self {
            model,
            lines,
            charges,
            others,
        }
    }

    /// The lines that do not count as a model of their own, if there are some, and their places.
    pub(crate) fn others(&self, invoice: &Invoice) -> Option<(model::Invoice, Vec<usize>)> {
        if self.others.is_empty() {
            return None;
        }
        let mut model = self.model.clone();
        let usual = model.lines.first().map(|line| line.vat.clone());
        let (places, mut lines): (Vec<usize>, Vec<_>) = self.others.iter().cloned().unzip();
        for (index, line) in places.iter().zip(&mut lines) {
            // They need neither a unit nor VAT.
            if line.unit_code.as_str().is_empty() {
                line.unit_code = model::Code::new("C62");
            }
            if invoice.lines[*index].vat == Vat::default()
                && let Some(usual) = &usual
            {
                line.vat = usual.clone();
            }
        }
        model.lines = lines;
        Some((model, places))
    }

    /// `problem` of the model at its place in the invoice.
    pub(crate) fn placed(&self, mut problem: Problem) -> Problem {
        let place = |rest: &str| -> Option<(usize, String)> {
            let (index, field) = rest.split_once('/').unwrap_or((rest, ""));
            let field = match field {
                "" => String::new(),
                field => format!("/{field}"),
            };
            Some((index.parse().ok()?, field))
        };
        if let Some((index, field)) = problem.path.strip_prefix("/lines/").and_then(place)
            && let Some(index) = self.lines.get(index)
        {
            problem.path = format!("/lines/{index}{field}");
        } else if let Some((index, field)) = problem.path.strip_prefix("/charges/").and_then(place)
            && let Some(index) = index.checked_sub(self.charges)
        {
            problem.path = format!("/extended/logisticsCharges/{index}{field}");
        }
        problem
    }
}

/// What is collected for others: it is due beside the total.
pub(crate) fn collected(extended: Option<&Extended>) -> Result<InvoiceAmount, AmountError> {
    let payments = extended.iter().flat_map(|it| &it.third_party_payments);
    let mut amounts = payments.map(|it| InvoiceAmount::from_decimal_exact(it.amount.0.normalize()));
    amounts.try_fold(InvoiceAmount::ZERO, |sum, amount| sum.checked_add(amount?))
}

/// Gives each group the sum of its sub-lines.
pub(crate) fn sum_groups(made: &mut model::Invoice, invoice: &Invoice, converter: &mut Converter) {
    let has_parts = (0..made.lines.len())
        .any(|index| parent(invoice, index).is_some() || kind(invoice, index) == LineKind::Group);
    if !has_parts {
        return;
    }
    let mut ids: HashMap<String, usize> = HashMap::new();
    for (index, line) in made.lines.iter().enumerate() {
        if ids.insert(line.id.trim().to_owned(), index).is_some() {
            let message = format!(
                "two lines have the number `{}`: sub-lines need one",
                line.id
            );
            converter.problem(&format!("/lines/{index}/id"), message);
        }
    }
    let mut sums: HashMap<usize, InvoiceAmount> = HashMap::new();
    // Sub-lines stand behind what they are part of.
    for index in (0..made.lines.len()).rev() {
        let path = format!("/lines/{index}");
        let sum = sums.get(&index).copied();
        let kind = kind(invoice, index);
        if kind == LineKind::Group {
            let stated = invoice.lines[index].net;
            let sum = sum.unwrap_or_default();
            if let Some(stated) = stated
                && stated.0 != sum.into_decimal()
            {
                let message = format!("the group says {stated}, but its lines make {sum}");
                let problem = Problem::error("BR-FXEXT-08", format!("{path}/net"), message)
                    .with_hint("leave `net` out: it is computed");
                converter.problems.push(problem);
            }
            made.lines[index].net_amount = sum;
        }
        let Some(id) = parent(invoice, index) else {
            continue;
        };
        match ids.get(id).filter(|parent| **parent < index) {
            Some(parent) if kind != LineKind::Information => {
                let sum = sums.entry(*parent).or_default();
                match sum.checked_add(made.lines[index].net_amount) {
                    Ok(more) => *sum = more,
                    Err(error) => converter.problem(&path, error.to_string()),
                }
            }
            Some(_) => {}
            None => {
                let (rule, message) = match ids.contains_key(id) {
                    true => (
                        "invalid-value",
                        format!("the line `{id}` is not before its part"),
                    ),
                    false => ("BR-FXEXT-11", format!("no line has the number `{id}`")),
                };
                let problem = Problem::error(rule, format!("{path}/extended/parent"), message)
                    .with_hint("put sub-lines behind the line that they are part of");
                converter.problems.push(problem);
            }
        }
    }
}

/// The rules about groups that an invoice breaks, which somebody else wrote.
pub(crate) fn broken(found: &model::Invoice, invoice: &Invoice) -> Vec<Problem> {
    let mut sums: HashMap<&str, InvoiceAmount> = HashMap::new();
    let mut problems = Vec::new();
    let ids: HashMap<&str, usize> = (found.lines.iter().enumerate())
        .map(|(index, line)| (line.id.trim(), index))
        .collect();
    for (index, line) in found.lines.iter().enumerate() {
        let Some(parent) = parent(invoice, index) else {
            continue;
        };
        if !ids.contains_key(parent) {
            let message = format!("no line has the number `{parent}`");
            let path = format!("/lines/{index}/extended/parent");
            problems.push(Problem::error("BR-FXEXT-11", path, message));
        }
        if kind(invoice, index) != LineKind::Information {
            let sum = sums.entry(parent).or_default();
            *sum = sum.checked_add(line.net_amount).unwrap_or(*sum);
        }
    }
    for index in 0..found.lines.len() {
        let above = parent(invoice, index).and_then(|id| ids.get(id));
        let has_net = |index: usize| invoice.lines.get(index).is_some_and(|it| it.net.is_some());
        let is_group = |index: usize| kind(invoice, index) == LineKind::Group;
        if let Some(above) = above
            && is_group(*above)
            && has_net(*above)
            && is_group(index)
            && !has_net(index)
        {
            let message = "the group that it is part of has a net amount, and it has none";
            let path = format!("/lines/{index}/net");
            problems.push(Problem::error("BR-FXEXT-12", path, message.to_owned()));
        }
    }
    for (index, line) in found.lines.iter().enumerate() {
        let sum = sums.get(line.id.trim()).copied().unwrap_or_default();
        let stated = invoice.lines.get(index).and_then(|it| it.net);
        if kind(invoice, index) == LineKind::Group && stated.is_some() && line.net_amount != sum {
            let message = format!(
                "the group says {}, but its lines make {sum}",
                line.net_amount
            );
            let path = format!("/lines/{index}/net");
            problems.push(Problem::error("BR-FXEXT-08", path, message));
        }
    }
    problems
}
