//! Declarations of the template routes.

use serde_json::json;

use super::{
    CHANGE_NOTE, LOCATION, TemplateApi, VERSION_HEADERS, VersionDocument,
    content::{self, TemplateList},
    draft::{self, DraftDocument, DraftList},
    editors::{self, EditorList, EditorRequest},
    preview::{self, ValidateTemplateRequest},
    version::{self, DiffRequest, Difference, VersionList},
};
use crate::{
    auth::Scope,
    labels,
    operation::{
        self, Kind, Route, Tag, binary, delete, get, header, path, post, put, query, text,
    },
    rendering::validation::Validation,
    routes::render::response::DOCUMENT_HEADERS,
};

/// Path of the labels.
const LABELS: &str = "/templates/{key}/labels";

/// The template routes.
pub(crate) fn routes() -> Vec<Route<TemplateApi>> {
    let mut all = content_routes();
    all.extend(checks());
    all.extend(version_routes());
    all.extend(draft_routes());
    all.extend(sample_routes());
    all.extend(editor_routes());
    // An editor publishes by way of the draft, whose imports are checked.
    let mark = |one: Route<TemplateApi>| match one.path().starts_with("/templates/") {
        true if !one.changes_whole() && one.path() != VALIDATE => one.for_editor(),
        _ => one,
    };
    let marked = all.into_iter().map(mark);
    marked
        .chain(label_routes())
        .map(|one| one.tag(Tag::Templates))
        .collect()
}

fn label_routes() -> Vec<Route<TemplateApi>> {
    vec![
        labels::reads(get(LABELS, content::get_template_labels))
            .summary("Reads the labels of a template, with their revision as ETag."),
        labels::replaces(put(LABELS, content::put_template_labels))
            .summary("Replaces the labels of a template."),
    ]
}

/// The check of any template, which may import others.
const VALIDATE: &str = "/templates/{key}/validate";

fn content_routes() -> Vec<Route<TemplateApi>> {
    type Template = platen_document::template::Template;
    let template = operation::json::<Template>;
    let version = operation::json::<VersionDocument>;
    vec![
        get("/templates", content::list_templates)
            .scope(Scope::Read)
            .alias("/templates/")
            .summary("Lists templates by key.")
            .paged()
            .labelled()
            .answer(200, operation::json::<TemplateList>()),
        post("/templates", content::create_template)
            .scope(Scope::Publish)
            .alias("/templates/")
            .summary("Stores a new template.")
            .parameter(header(CHANGE_NOTE))
            .body(template())
            .answer(201, version())
            .answer_headers(&VERSION_HEADERS)
            .answer_headers(&[LOCATION])
            .problems(&[409]),
        get("/templates/{key}", content::get_template)
            .scope(Scope::Read)
            .summary("Reads a template, with its version as ETag.")
            .key()
            .conditional()
            .answer(200, template())
            .answer_headers(&VERSION_HEADERS),
        put("/templates/{key}", content::update_template)
            .scope(Scope::Publish)
            .summary("Stores a new version of a template.")
            .key()
            .expects_version()
            .parameter(header(CHANGE_NOTE))
            .body(template())
            .answer(200, version())
            .answer_headers(&VERSION_HEADERS),
        delete("/templates/{key}", content::delete_template)
            .scope(Scope::Publish)
            .summary("Deletes a template. Its version numbers are never reused.")
            .key()
            .expects_version()
            .answer(204, operation::Content::default()),
        get("/templates/{key}/schema", content::get_template_schema)
            .scope(Scope::Read)
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
        post(VALIDATE, preview::validate_template)
            .scope(Scope::Preview)
            .kind(Kind::Render)
            .summary("Validates a template and data without rendering.")
            .key()
            .body(operation::json::<ValidateTemplateRequest>())
            .answer(200, operation::json::<Validation>()),
        post("/templates/{key}/diff", version::diff_template)
            .scope(Scope::Read)
            .summary("Compares two versions.")
            .key()
            .body(operation::json::<DiffRequest>())
            .answer(200, operation::json::<Difference>()),
        preview::described(get(
            "/templates/{key}/preview.png",
            preview::preview_template_png,
        ))
        .scope(Scope::Preview)
        .answer(200, binary(&["image/png"]))
        .answer_headers(&DOCUMENT_HEADERS)
        .problems(&[501]),
        preview::described(get(
            "/templates/{key}/preview.svg",
            preview::preview_template_svg,
        ))
        .scope(Scope::Preview)
        .answer(200, text(&["image/svg+xml"]))
        .answer_headers(&DOCUMENT_HEADERS),
    ]
}

fn version_routes() -> Vec<Route<TemplateApi>> {
    vec![
        get("/templates/{key}/versions", version::list_template_versions)
            .scope(Scope::Read)
            .summary("Lists versions, newest first.")
            .key()
            .paged()
            .answer(200, operation::json::<VersionList>()),
        get(
            "/templates/{key}/versions/{version}",
            version::get_template_version,
        )
        .scope(Scope::Read)
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
        .scope(Scope::Publish)
        .summary("Restores the content of an earlier version as a new version.")
        .key()
        .version()
        .expects_version()
        .parameter(header(CHANGE_NOTE))
        .answer(200, operation::json::<VersionDocument>())
        .answer_headers(&VERSION_HEADERS),
    ]
}

fn draft_routes() -> Vec<Route<TemplateApi>> {
    let content = || operation::any_json();
    let revision = || header(draft::IF_MATCH_HEADER);
    let base = json!({"type": "integer", "minimum": 1});
    vec![
        get("/drafts/templates", draft::list_template_drafts)
            .scope(Scope::Read)
            .summary("Lists drafts of templates by key.")
            .paged()
            .answer(200, operation::json::<DraftList>()),
        get("/templates/{key}/draft", draft::get_template_draft)
            .scope(Scope::Read)
            .summary("Reads the draft of a template, with its revision as ETag.")
            .key()
            .answer(200, content())
            .answer_headers(&draft::HEADERS),
        put("/templates/{key}/draft", draft::put_template_draft)
            .scope(Scope::Draft)
            .summary(
                "Stores the draft of a template. It may be unfinished, and nobody is served it.",
            )
            .key()
            .parameter(revision())
            .parameter(query(
                "base",
                base,
                "The version that the draft changes; absent if the template is new.",
            ))
            .body(content())
            .answer(200, operation::json::<DraftDocument>())
            .answer_headers(&draft::HEADERS)
            .problems(&[409, 412]),
        delete("/templates/{key}/draft", draft::delete_template_draft)
            .scope(Scope::Draft)
            .summary("Discards the draft of a template.")
            .key()
            .expects_version()
            .answer(204, operation::Content::default()),
        post(
            "/templates/{key}/draft/publication",
            draft::publish_template_draft,
        )
        .scope(Scope::Publish)
        .summary("Publishes the draft as a new version, if the version that it changes is current.")
        .key()
        .expects_version()
        .parameter(header(CHANGE_NOTE))
        .answer(200, operation::json::<VersionDocument>())
        .answer_headers(&VERSION_HEADERS)
        .problems(&[409, 422]),
    ]
}

fn editor_routes() -> Vec<Route<TemplateApi>> {
    const EDITOR: &str = "/templates/{key}/editors/{id}";
    let id = || {
        let schema = json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"});
        path("id", schema, "ID that the editor has chosen for itself.")
    };
    vec![
        put(EDITOR, editors::put_template_editor)
            .scope(Scope::Draft)
            .summary("Registers an editor of the template by a heartbeat, and returns all editors.")
            .key()
            .parameter(id())
            .optional_body(operation::json::<EditorRequest>())
            .body_is("A heartbeat: editors expire 100 seconds after their last one.")
            .answer(200, operation::json::<EditorList>()),
        delete(EDITOR, editors::delete_template_editor)
            .scope(Scope::Draft)
            .summary("Removes an editor that has closed the template.")
            .key()
            .parameter(id())
            .answer(204, operation::Content::default()),
    ]
}

fn sample_routes() -> Vec<Route<TemplateApi>> {
    vec![
        get("/templates/{key}/sample", draft::get_template_sample)
            .scope(Scope::Read)
            .summary("Reads the sample data of a template, with its revision as ETag.")
            .key()
            .answer(200, operation::any_json())
            .answer_headers(&draft::HEADERS[..1]),
        put("/templates/{key}/sample", draft::put_template_sample)
            .scope(Scope::Draft)
            .summary("Stores sample data, with which editors show the template.")
            .key()
            .parameter(header(draft::IF_MATCH_HEADER))
            .body(operation::any_json())
            .answer(200, operation::json::<DraftDocument>())
            .answer_headers(&draft::HEADERS[..1])
            .problems(&[409, 412]),
        delete("/templates/{key}/sample", draft::delete_template_sample)
            .scope(Scope::Draft)
            .summary("Deletes the sample data of a template.")
            .key()
            .expects_version()
            .answer(204, operation::Content::default()),
    ]
}
