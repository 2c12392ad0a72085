//! Binds the `invoice` section: evaluates it, and issues the e-invoice.

use jiff::{Span, civil::Date};
use platen_invoice::{Issued, Problem, Weight, invoice_of, issue};
use serde_json::{Map, Value as Json};

use super::Binder;
use crate::{
    Diagnostic,
    expression::{Entry, Scope},
    locale::Moment,
    template::{Expression, InvoiceSection, Text},
};

/// The name by which expressions of the document find what was computed.
pub(super) const VARIABLE: &str = "eInvoice";

/// Where the JSON pointers of the section begin.
const ROOT: &str = "/invoice";
/// Where elements of other syntaxes stand as they are.
const ELEMENTS: &str = "/invoice/extended/elements";
/// Names of dates in invoices.
const DATES: [&str; 6] = [
    "issueDate",
    "dueDate",
    "vatPointDate",
    "date",
    "start",
    "end",
];
/// Seconds per day.
const DAY: i64 = 86_400;

impl Binder<'_> {
    /// The e-invoice, if the template has a section for one; `Err` after reporting errors.
    pub(super) fn invoice(&mut self, root: &Scope<'_>) -> Result<Option<Issued>, ()> {
        let compiled = self.compiled;
        let Some(section) = &compiled.template().invoice else {
            return Ok(None);
        };
        self.path = ROOT.to_owned();
        let value = self.evaluate_fields(&section.mapping.0, root);
        self.path.clear();
        let value = value.ok_or(())?;
        let issued = invoice_of(value)
            .map_err(|problem| vec![problem])
            .and_then(|invoice| issue(&invoice));
        match issued {
            Ok(issued) => Ok(Some(issued)),
            Err(problems) => {
                for problem in &problems {
                    self.complain(section, problem);
                }
                Err(())
            }
        }
    }

    /// Reports what receivers may complain about.
    pub(super) fn warn_of_invoice(&mut self, issued: Option<&Issued>) {
        let compiled = self.compiled;
        if let (Some(issued), Some(section)) = (issued, &compiled.template().invoice) {
            for warning in &issued.warnings {
                self.complain(section, warning);
            }
        }
    }

    /// Reports `problem` where the author wrote what causes it.
    fn complain(&mut self, section: &InvoiceSection, problem: &Problem) {
        let (place, elements) = section.mapping.locate(&problem.path);
        let path = format!("{ROOT}{place}");
        let code = match problem.rule.as_str() {
            "invalid-value" => "invalid-value",
            "difference" => "invoice-difference",
            _ => "invoice-rule",
        };
        if !self.reports.wants(code, &path) {
            return;
        }
        let mut message = problem.message.clone();
        if code == "invoice-rule" && !message.contains(&problem.rule) {
            message = format!("{message} ({})", problem.rule);
        }
        if let Some(index) = elements.first() {
            message = format!("{message} (item {})", index + 1);
        } else if !problem.path.is_empty() && place.is_empty() {
            message = format!("{message} (`{}` is missing)", &problem.path[1..]);
        }
        let mut diagnostic = match problem.weight {
            Weight::Error => Diagnostic::error(code, path, message),
            Weight::Warning => Diagnostic::warning(code, path, message),
        };
        diagnostic.hint.clone_from(&problem.hint);
        self.reports.add(diagnostic);
    }

    /// `fields` with the values of their expressions; `None` after reporting an error.
    fn evaluate_fields(&mut self, fields: &Map<String, Json>, scope: &Scope<'_>) -> Option<Json> {
        let mut made = Map::with_capacity(fields.len());
        let mut sound = true;
        for (name, value) in fields {
            match self.below(name, |binder| binder.evaluate(value, scope)) {
                Some(value) => {
                    made.insert(name.clone(), self.as_day(name, value));
                }
                None => sound = false,
            }
        }
        sound.then_some(Json::Object(made))
    }

    /// The day of a time stamp, in the time zone of the document, where an invoice has a date: pages show
    /// that day, too.
    fn as_day(&self, name: &str, value: Json) -> Json {
        if !DATES.contains(&name) || self.path.starts_with(ELEMENTS) {
            return value;
        }
        let day = value.as_str().and_then(|text| {
            let zone = &self.evaluation.shared.zone;
            let Moment::DateTime(seconds) = Moment::parse(text, zone)? else {
                return None;
            };
            let days = Span::new().try_days(seconds.div_euclid(DAY)).ok()?;
            Date::constant(1970, 1, 1).checked_add(days).ok()
        });
        day.map_or(value, |day| Json::String(day.to_string()))
    }

    fn evaluate(&mut self, value: &Json, scope: &Scope<'_>) -> Option<Json> {
        match value {
            Json::String(text) if text.contains("{{") => {
                let value = self.dynamic_value(&Text(text.clone()), scope)?;
                Some(plain(value))
            }
            Json::Object(fields) if fields.contains_key("each") => {
                self.evaluate_repeat(fields, scope)
            }
            Json::Object(fields) => self.evaluate_fields(fields, scope),
            Json::Array(items) => {
                let mut made = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    let item =
                        self.below(&index.to_string(), |binder| binder.evaluate(item, scope))?;
                    made.push(item);
                }
                Some(Json::Array(made))
            }
            other => Some(other.clone()),
        }
    }

    /// A list with an item for each element of an expression.
    fn evaluate_repeat(&mut self, fields: &Map<String, Json>, scope: &Scope<'_>) -> Option<Json> {
        let expression = |name: &str| {
            let text = fields.get(name).and_then(Json::as_str);
            text.map(|text| Expression(text.to_owned()))
        };
        let rows = self.rows("each", &expression("each")?, scope)?;
        let rows = rows.as_refs();
        let name = fields.get("as").and_then(Json::as_str).unwrap_or("item");
        let when = expression("when");
        let value = fields.get("value").unwrap_or(&Json::Null);
        let mut made = Vec::with_capacity(rows.len());
        let mut sound = true;
        for (index, row) in rows.iter().enumerate() {
            if self.stopped() || !self.charge("each", scope) {
                return None;
            }
            let scope = scope.with(name, Entry::Json(row)).at(index, rows.len());
            if !self.holds("when", when.as_ref(), &scope) {
                continue;
            }
            match self.below("value", |binder| binder.evaluate(value, &scope)) {
                Some(item) => made.push(item),
                None => sound = false,
            }
        }
        sound.then_some(Json::Array(made))
    }
}

/// Values as text, which amounts, numbers and names are read from.
fn plain(value: Json) -> Json {
    match value {
        Json::Number(number) => Json::String(number.to_string()),
        Json::Bool(truth) => Json::String(truth.to_string()),
        other => other,
    }
}

/// What expressions see of `issued`.
pub(super) fn variable(issued: Option<&Issued>) -> Json {
    issued.map_or(Json::Null, |issued| issued.invoice.to_numbers())
}
