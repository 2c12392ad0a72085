//! Declarations of the template routes.

use serde_json::json;

use super::{
    CHANGE_NOTE, LOCATION, TemplateApi, VERSION_HEADERS, VersionDocument,
    content::{self, TemplateList},
    preview::{self, ValidateTemplateRequest},
    version::{self, DiffRequest, Difference, VersionList},
};
use crate::{
    auth::Access,
    operation::{self, Kind, Route, Tag, binary, delete, get, header, post, put, text},
    rendering::validation::Validation,
    routes::render::response::DOCUMENT_HEADERS,
};

/// The template routes.
pub(crate) fn routes() -> Vec<Route<TemplateApi>> {
    let mut all = content_routes();
    all.extend(checks());
    all.extend(version_routes());
    all.into_iter().map(|one| one.tag(Tag::Templates)).collect()
}

fn content_routes() -> Vec<Route<TemplateApi>> {
    type Template = platen_document::template::Template;
    let template = operation::json::<Template>;
    let version = operation::json::<VersionDocument>;
    vec![
        get("/templates", content::list_templates)
            .alias("/templates/")
            .summary("Lists templates by key.")
            .paged()
            .answer(200, operation::json::<TemplateList>()),
        post("/templates", content::create_template)
            .alias("/templates/")
            .access(Access::Admin)
            .summary("Stores a new template.")
            .parameter(header(CHANGE_NOTE))
            .body(template())
            .answer(201, version())
            .answer_headers(&VERSION_HEADERS)
            .answer_headers(&[LOCATION])
            .problems(&[409]),
        get("/templates/{key}", content::get_template)
            .summary("Reads a template, with its version as ETag.")
            .key()
            .conditional()
            .answer(200, template())
            .answer_headers(&VERSION_HEADERS),
        put("/templates/{key}", content::update_template)
            .access(Access::Admin)
            .summary("Stores a new version of a template.")
            .key()
            .expects_version()
            .parameter(header(CHANGE_NOTE))
            .body(template())
            .answer(200, version())
            .answer_headers(&VERSION_HEADERS),
        delete("/templates/{key}", content::delete_template)
            .access(Access::Admin)
            .summary("Deletes a template. Its version numbers are never reused.")
            .key()
            .expects_version()
            .answer(204, operation::Content::default()),
        get("/templates/{key}/schema", content::get_template_schema)
            .summary("Reads the JSON Schema of a template's data.")
            .key()
            .conditional()
            .answer(
                200,
                operation::description("application/schema+json", json!({})),
            )
            .answer_headers(&VERSION_HEADERS),
    ]
}

fn checks() -> Vec<Route<TemplateApi>> {
    vec![
        post("/templates/{key}/validate", preview::validate_template)
            .kind(Kind::Render)
            .summary("Validates a template and data without rendering.")
            .key()
            .body(operation::json::<ValidateTemplateRequest>())
            .answer(200, operation::json::<Validation>()),
        post("/templates/{key}/diff", version::diff_template)
            .summary("Compares two versions.")
            .key()
            .body(operation::json::<DiffRequest>())
            .answer(200, operation::json::<Difference>()),
        preview::described(get(
            "/templates/{key}/preview.png",
            preview::preview_template_png,
        ))
        .answer(200, binary(&["image/png"]))
        .answer_headers(&DOCUMENT_HEADERS)
        .problems(&[501]),
        preview::described(get(
            "/templates/{key}/preview.svg",
            preview::preview_template_svg,
        ))
        .answer(200, text(&["image/svg+xml"]))
        .answer_headers(&DOCUMENT_HEADERS),
    ]
}

fn version_routes() -> Vec<Route<TemplateApi>> {
    vec![
        get("/templates/{key}/versions", version::list_template_versions)
            .summary("Lists versions, newest first.")
            .key()
            .paged()
            .answer(200, operation::json::<VersionList>()),
        get(
            "/templates/{key}/versions/{version}",
            version::get_template_version,
        )
        .summary("Reads a version.")
        .key()
        .version()
        .conditional()
        .answer(
            200,
            operation::json::<platen_document::template::Template>(),
        )
        .answer_headers(&VERSION_HEADERS),
        post(
            "/templates/{key}/versions/{version}/restore",
            version::restore_template_version,
        )
        .access(Access::Admin)
        .summary("Restores the content of an earlier version as a new version.")
        .key()
        .version()
        .expects_version()
        .parameter(header(CHANGE_NOTE))
        .answer(200, operation::json::<VersionDocument>())
        .answer_headers(&VERSION_HEADERS),
    ]
}
