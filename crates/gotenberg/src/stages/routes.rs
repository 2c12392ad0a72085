//! `/forms/pdf/…`: a list of stages, the route of each stage, and what files say of themselves.

use axum::response::Response;
use platen_server::{
    deferred,
    operation::{Content as Declared, Kind as Count, Route, Tag, binary, description, post},
    problem::Problem,
};
use serde_json::{Map, Value as Json, json};

use super::{
    list::Stages,
    options::{Kind, StageOption},
    read::{
        read_pdf_attachments, read_pdf_form, read_pdf_info, read_stage_bookmarks,
        read_stage_metadata,
    },
    table::{each_stage, find},
    unknown::refuse_unknown,
    validate::validate_pdf,
};
use crate::{api::FormApi, form::FormRequest};

macro_rules! handlers {
    ($($handler:ident, $op:literal, $path:literal, $summary:literal, $options:tt, $translate:expr;)*) => {
        /// The routes of stages.
        fn stage_routes() -> Vec<Route<FormApi>> {
            vec![$(declared(post($path, $handler).summary($summary), $op)),*]
        }

        $(async fn $handler(request: FormRequest) -> Result<Response, Problem> {
            run_one(request, $op).await
        })*
    };
}
each_stage!(handlers);

/// Runs a list of stages.
pub(crate) async fn run_stages(mut request: FormRequest) -> Result<Response, Problem> {
    let form = &mut request.form;
    let text = form.values.needed("stages");
    let mut stages = match text.is_empty() {
        true => Stages::default(),
        false => Stages::read(form, &text)?,
    };
    stages.take_files(form);
    refuse_unknown(form, true);
    let files = form.take_pdfs()?;
    stages.finish(request, files).await
}

/// Runs the stage `op`, whose options are form fields.
async fn run_one(mut request: FormRequest, op: &str) -> Result<Response, Problem> {
    let stage = find(op).ok_or_else(|| Problem::internal(format!("no stage {op}")))?;
    let form = &mut request.form;
    let stages = Stages::of_fields(form, stage)?;
    refuse_unknown(form, false);
    let files = form.take_pdfs()?;
    stages.finish(request, files).await
}

/// The routes that make PDF files.
pub(crate) fn routes() -> Vec<Route<FormApi>> {
    let stages = json!({
        "type": "string", "contentMediaType": "application/json",
        "description": "Array of stages: objects with `op` and its options.",
    });
    let pipe = post("/forms/pdf/pipe", run_stages)
        .summary("Gotenberg 9: runs stages on PDF files, one after another.")
        .body(form(
            Map::from_iter([("stages".to_owned(), stages)]),
            &["files", "stages"],
        ));
    let mut all = vec![of_files(pipe)];
    all.extend(stage_routes());
    all
}

/// The routes that say what files are.
pub(crate) fn read_routes() -> Vec<Route<FormApi>> {
    let text = |name: &str| (name.to_owned(), json!({"type": "string"}));
    let password = || form(Map::from_iter([text("password")]), &["files"]);
    let of_pages = || {
        form(
            Map::from_iter([text("password"), text("pages")]),
            &["files"],
        )
    };
    let profile = json!({
        "type": "string",
        "description": "PDF/A-2b, PDF/A-3b or PDF/UA-1; repeated or as a JSON array for PDF/A and PDF/UA together.",
    });
    let of_profile = form(
        Map::from_iter([text("password"), ("profile".to_owned(), profile)]),
        &["files", "profile"],
    );
    let said = || description("application/json", json!({"type": "object"}));
    let all = vec![
        post("/forms/pdf/info", read_pdf_info)
            .summary("Gotenberg 9: says of PDF files what they are, by name.")
            .body(password()),
        post("/forms/pdf/metadata", read_stage_metadata)
            .summary("Gotenberg 9: reads document properties of PDF files, by name.")
            .body(password()),
        post("/forms/pdf/bookmarks", read_stage_bookmarks)
            .summary("Gotenberg 9: reads the bookmarks of PDF files, by name.")
            .body(password()),
        post("/forms/pdf/attachments", read_pdf_attachments)
            .summary("Gotenberg 9: lists the files attached to PDF files, by name.")
            .body(password()),
        post("/forms/pdf/form", read_pdf_form)
            .summary("Gotenberg 9: lists the form fields of PDF files, by name.")
            .body(of_pages()),
        post("/forms/pdf/validate", validate_pdf)
            .summary("Gotenberg 9: lists what keeps PDF files from PDF/A or PDF/UA, by name.")
            .body(of_profile),
    ];
    let declare = |route: Route<FormApi>| {
        deferred::declared(route.answer(200, said()))
            .kind(Count::Render)
            .tag(Tag::Forms)
            .problems(&[403, 415])
    };
    all.into_iter().map(declare).collect()
}

/// Declares what the route of a stage takes and makes.
fn declared(route: Route<FormApi>, op: &str) -> Route<FormApi> {
    let options = find(op).map(|stage| stage.options).unwrap_or_default();
    let mut required = vec!["files"];
    required.extend(options.iter().filter(|it| it.is_needed).map(|it| it.name));
    let supported = options
        .iter()
        .filter(|it| !matches!(it.kind, Kind::Refused));
    let properties = supported.map(|option| (option.name.to_owned(), schema(option)));
    of_files(route.body(form(properties.collect(), &required)))
}

fn schema(option: &StageOption) -> Json {
    match option.kind {
        Kind::Integer => json!({"type": "integer"}),
        Kind::Number => json!({"type": "number"}),
        Kind::Truth => json!({"type": "boolean"}),
        Kind::Word(words) => json!({"type": "string", "enum": words}),
        Kind::Json => json!({"type": "string", "contentMediaType": "application/json"}),
        _ => json!({"type": "string"}),
    }
}

fn of_files(route: Route<FormApi>) -> Route<FormApi> {
    let made = match route.path() {
        "/forms/pdf/extract-text" => binary(&["text/plain", "application/zip"]),
        "/forms/pdf/extract-attachments" => {
            binary(&["application/octet-stream", "application/zip"])
        }
        _ => binary(&["application/pdf", "application/zip"]),
    };
    let route = route.answer(200, made);
    deferred::declared(route)
        .kind(Count::Render)
        .tag(Tag::Forms)
        .answer(204, Declared::default())
        .answer_is("Accepted; the result goes to the URL in `Gotenberg-Webhook-Url`.")
        .problems(&[403, 409, 415, 501])
}

fn form(mut properties: Map<String, Json>, required: &[&str]) -> Declared {
    let file = json!({"type": "string", "format": "binary"});
    let list = |about: &str| json!({"type": "array", "items": file, "description": about});
    let files = list("PDF files, and files that stages name.");
    properties.insert("files".to_owned(), files);
    properties.insert("archives".to_owned(), list("ZIP files of further `files`."));
    description(
        "multipart/form-data",
        json!({"type": "object", "required": required, "properties": properties}),
    )
}

#[cfg(test)]
mod tests {
    use super::{super::table::STAGES, *};

    #[test]
    fn every_stage_has_a_name_and_a_route_of_its_own() {
        let routes = stage_routes();
        assert_eq!(routes.len(), STAGES.len());
        for (stage, route) in STAGES.iter().zip(routes) {
            assert_eq!(route.path(), format!("/forms/pdf/{}", stage.op));
        }
    }
}
