//! OpenAPI operation objects.

use schemars::SchemaGenerator;
use serde_json::{Map, Value as Json, json};

use super::{example, problems};
use crate::{
    operation::{Answer, Operation, RequestBody, Tag},
    scope::Access,
};

/// Describes an operation and registers the schemas of its types with `generator`.
pub(super) fn describe(operation: &Operation, generator: &mut SchemaGenerator) -> Json {
    let mut described = json!({
        "operationId": operation.id(),
        "summary": operation.summary,
        "tags": [tag(operation.tag)],
        "responses": answers(operation, generator),
    });
    if !operation.parameters.is_empty() {
        let parameters = operation.parameters.iter();
        described["parameters"] = parameters.map(|one| one.describe()).collect();
    }
    if let Some(body) = &operation.body {
        described["requestBody"] = request_body(body, generator);
    }
    match operation.access {
        Access::Open => described["security"] = json!([]),
        Access::Metrics => described["security"] = json!([{}, {"bearer": []}]),
        // The document-level security applies.
        Access::AnyOf(scopes) => {
            let scopes: Vec<_> = scopes.iter().collect();
            described["x-platen-scopes"] = json!(scopes);
            if operation.for_editor {
                described["x-platen-editor-token"] = json!(true);
            }
        }
    }
    example::add(operation, &mut described);
    described
}

fn tag(tag: Tag) -> &'static str {
    match tag {
        Tag::Render => "render",
        Tag::Templates => "templates",
        Tag::Flows => "flows",
        Tag::Forms => "forms",
        Tag::Service => "service",
    }
}

fn request_body(body: &RequestBody, generator: &mut SchemaGenerator) -> Json {
    let mut described = json!({
        "required": body.required, "content": body.content.describe(generator),
    });
    if let Some(about) = body.about {
        described["description"] = about.into();
    }
    described
}

fn answers(operation: &Operation, generator: &mut SchemaGenerator) -> Json {
    let mut answers = Map::new();
    for status in operation.problems() {
        let name = match operation.tag {
            Tag::Forms => problems::name_of_text(status),
            _ => problems::name_of(status).to_owned(),
        };
        let reference = format!("#/components/responses/{name}");
        answers.insert(status.to_string(), json!({"$ref": reference}));
    }
    // A declared response takes precedence over a problem with the same status.
    for answer in &operation.answers {
        answers.insert(
            answer.status.to_string(),
            describe_answer(answer, generator),
        );
    }
    Json::Object(answers)
}

fn describe_answer(answer: &Answer, generator: &mut SchemaGenerator) -> Json {
    let header = |about: &str| json!({"description": about, "schema": {"type": "string"}});
    let headers = answer.headers.iter().chain([&problems::REQUEST_ID]);
    let headers = headers.map(|(name, about)| ((*name).to_owned(), header(about)));
    json!({
        "description": answer.about,
        "headers": Json::Object(headers.collect()),
        "content": answer.content.describe(generator),
    })
}
