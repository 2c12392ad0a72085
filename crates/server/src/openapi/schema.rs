//! Components of the description, made from the types.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value as Json};

use super::plain;
use crate::{
    problem::ProblemDocument,
    results::StoredResult,
    routes::{
        flows::{
            content::{FlowList, FlowVersionList, Publication},
            run::RetryRequest,
            view::{RunDocument, RunList},
        },
        health::{Health, Overview},
        pieces::{PieceDocument, PieceList},
        render::{
            Validation,
            batch::{BatchRequest, BatchResult, ItemResult},
            html::HtmlRequest,
            request::RenderRequest,
        },
        templates::{
            VersionDocument,
            content::TemplateList,
            preview::ValidateTemplateRequest,
            version::{DiffRequest, Difference, VersionList},
        },
    },
};

/// All schemas by name.
pub(super) fn components() -> Map<String, Json> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    add::<platen_document::template::Template>(&mut generator);
    add::<RenderRequest>(&mut generator);
    add::<HtmlRequest>(&mut generator);
    add::<platen_document::html::HtmlTemplate>(&mut generator);
    add::<Validation>(&mut generator);
    add::<BatchRequest>(&mut generator);
    add::<BatchResult>(&mut generator);
    add::<ItemResult>(&mut generator);
    add::<StoredResult>(&mut generator);
    add::<ValidateTemplateRequest>(&mut generator);
    add::<VersionDocument>(&mut generator);
    add::<VersionList>(&mut generator);
    add::<TemplateList>(&mut generator);
    add::<DiffRequest>(&mut generator);
    add::<Difference>(&mut generator);
    add::<platen_flow::model::Flow>(&mut generator);
    add::<FlowList>(&mut generator);
    add::<FlowVersionList>(&mut generator);
    add::<Publication>(&mut generator);
    add::<RunDocument>(&mut generator);
    add::<RunList>(&mut generator);
    add::<RetryRequest>(&mut generator);
    add::<PieceDocument>(&mut generator);
    add::<PieceList>(&mut generator);
    add::<Health>(&mut generator);
    add::<Overview>(&mut generator);
    add::<ProblemDocument>(&mut generator);
    let mut all = generator.take_definitions(true);
    all.values_mut().for_each(plain::open_booleans);
    plain::name_variants(&mut all);
    all
}

fn add<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}
