//! `POST /invoice` and `POST /invoice/read`: e-invoices without a template, and back to JSON.

use axum::{body::Body, extract::State, response::Response};
use hyper::{HeaderMap, StatusCode};
use platen_document::Diagnostic;
use platen_engine::read_invoice;
use platen_invoice::{Invoice, Problem as InvoiceProblem, invoice_of, issue};
use platen_pdf::Limits;
use serde_json::{Value as Json, json as value};

use crate::{
    intake::body,
    operation::{Kind, Route, Tag, description, json, post, text},
    problem::Problem,
    rendering::slots::{Lane, Ticket},
    respond,
    routes::pdf::{PdfApi, say_of_each},
};

/// The routes.
pub(crate) fn routes() -> Vec<Route<PdfApi>> {
    let files = value!({
        "type": "array",
        "items": {"type": "string", "format": "binary"},
        "description": "PDF files that carry an e-invoice, or XML files.",
    });
    let form = value!({
        "type": "object", "required": ["files"], "properties": {"files": files},
    });
    vec![
        post("/invoice", write_invoice)
            .kind(Kind::Render)
            .tag(Tag::Render)
            .summary("Writes an e-invoice as XML: computes its totals and checks its rules.")
            .body(json::<Invoice>())
            .answer(200, text(&["text/xml"]))
            .problems(&[413, 415, 422]),
        post("/invoice/read", read_invoices)
            .kind(Kind::Render)
            .tag(Tag::Render)
            .summary(
                "Reads e-invoices from PDF or XML, by file name: JSON, and the rules they break.",
            )
            .body(description("multipart/form-data", form))
            .answer(
                200,
                description("application/json", value!({"type": "object"})),
            )
            .problems(&[413, 415, 422]),
    ]
}

/// Writes an e-invoice.
pub(crate) async fn write_invoice(
    State(api): State<PdfApi>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (bytes, _room) = body::read_json(&api.intake, &headers, body).await?;
    let given: Json = body::parse_long(bytes).await?;
    let work = move |_: &Ticket| {
        let issued = invoice_of(given)
            .map_err(|problem| vec![problem])
            .and_then(|invoice| issue(&invoice));
        issued.map_err(|problems| Problem::mistakes(problems.iter().map(diagnostic).collect()))
    };
    let issued = api.slots.run(Lane::Batch, work).await?;
    // What generators of clients take for text.
    let media_type = "text/xml; charset=utf-8";
    let mut response = respond::bytes_of(media_type, StatusCode::OK, issued.xml);
    let name = issued.invoice.profile.file_name();
    respond::file_headers(&mut response, name, media_type)?;
    Ok(response)
}

/// `problem` of the invoice in the body.
fn diagnostic(problem: &InvoiceProblem) -> Diagnostic {
    let code = match problem.rule.as_str() {
        "invalid-value" => "invalid-value",
        "difference" => "invoice-difference",
        _ => "invoice-rule",
    };
    let message = match code {
        "invoice-rule" => format!("{} ({})", problem.message, problem.rule),
        _ => problem.message.clone(),
    };
    let mut made = Diagnostic::error(code, problem.path.clone(), message).in_data();
    made.hint.clone_from(&problem.hint);
    made
}

/// Reads e-invoices.
pub(crate) async fn read_invoices(
    State(api): State<PdfApi>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    say_of_each(&api, &headers, body, |file, _| {
        read_invoice(&file.bytes, &Limits::default()).map_err(|error| {
            let mut problem = Problem::of_error(error.code(), &error);
            problem.detail = format!("{}: {}", file.name, problem.detail);
            problem
        })
    })
    .await
}
