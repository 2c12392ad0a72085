//! The fonts that templates can name.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, OnceLock},
};

use axum::{extract::State, response::Response};
use hyper::StatusCode;
use parking_lot::Mutex;
use platen_engine::{FontFamily, families_of};
use platen_storage::{DocumentSummary, Error};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    assets::AssetStore,
    auth::Scope,
    operation::{self, Route, Tag, get},
    problem::Problem,
    rendering::Renderer,
    respond::json,
};

/// Most font files whose families are kept.
const MAX_KNOWN: usize = 1_000;

/// Families of stored files, by name and version.
type StoredFamilies = HashMap<(String, u32), Vec<FontFamily>>;

/// State of the handler.
#[derive(Clone)]
pub(crate) struct FontApi {
    renderer: Arc<Renderer>,
    /// Those that every document can use.
    common: Arc<OnceLock<Vec<FontFamily>>>,
    /// Those of stored files, by name and version.
    stored: Arc<Mutex<StoredFamilies>>,
}

impl FontApi {
    pub(crate) fn new(renderer: &Arc<Renderer>) -> Self {
        Self {
            renderer: Arc::clone(renderer),
            common: Arc::default(),
            stored: Arc::default(),
        }
    }
}

/// The route of fonts.
pub(crate) fn routes() -> Vec<Route<FontApi>> {
    vec![
        get("/fonts", list_fonts)
            .scope(Scope::Read)
            .tag(Tag::Templates)
            .summary("Lists the families of fonts that templates can name.")
            .answer(200, operation::json::<FontList>()),
    ]
}

/// Families of fonts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct FontList {
    /// Families, sorted by name.
    families: Vec<FontEntry>,
}

/// A family of fonts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FontFamilyEntry")]
struct FontEntry {
    /// Name, as in `fontFamily`.
    name: String,
    /// Weights, 400 is regular, 700 is bold; of a variable font its least and greatest.
    weights: Vec<u16>,
    /// Whether it has italic faces.
    italic: bool,
    /// Scripts that it has letters of, as ISO 15924 codes.
    scripts: Vec<String>,
    /// Stored assets with its files; empty for fonts of the service.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    assets: Vec<String>,
}

impl FontEntry {
    fn of(family: &FontFamily) -> Self {
        Self {
            name: family.name.clone(),
            weights: family.weights.clone(),
            italic: family.italic,
            scripts: family
                .scripts
                .iter()
                .map(|script| (*script).to_owned())
                .collect(),
            assets: Vec::new(),
        }
    }

    /// Adds a file of the same family.
    fn add(&mut self, family: &FontFamily, asset: &str) {
        self.weights.extend(&family.weights);
        self.weights.sort_unstable();
        self.weights.dedup();
        self.italic |= family.italic;
        self.assets.push(asset.to_owned());
    }
}

/// Lists fonts.
pub(crate) async fn list_fonts(State(api): State<FontApi>) -> Result<Response, Problem> {
    let (common, renderer) = (Arc::clone(&api.common), Arc::clone(&api.renderer));
    // The characters of all fonts are read for the first answer.
    let found = tokio::task::spawn_blocking(move || {
        let families = common.get_or_init(|| renderer.engine.families());
        families.iter().map(FontEntry::of).collect::<Vec<_>>()
    });
    let found = found
        .await
        .map_err(|error| Problem::internal(format!("fonts were not read: {error}")))?;
    let key_of = |name: &str| name.to_lowercase();
    let mut families: BTreeMap<String, FontEntry> = found
        .into_iter()
        .map(|entry| (key_of(&entry.name), entry))
        .collect();
    let all = api.renderer.assets.all().await;
    let all = all.map_err(|error| AssetStore::problem(&error))?;
    for asset in all.into_iter().filter(|one| one.name.starts_with("font/")) {
        for family in stored(&api, &asset).await? {
            let mut entry = FontEntry::of(&family);
            entry.assets.push(asset.key.clone());
            match families.get_mut(&key_of(&family.name)) {
                // A font of the service comes first.
                Some(known) if known.assets.is_empty() => {}
                Some(known) => known.add(&family, &asset.key),
                None => drop(families.insert(key_of(&family.name), entry)),
            }
        }
    }
    let families = families.into_values().collect();
    Ok(json(StatusCode::OK, &FontList { families }))
}

/// The families of a stored font.
async fn stored(api: &FontApi, asset: &DocumentSummary) -> Result<Vec<FontFamily>, Problem> {
    let key = (asset.key.clone(), asset.version);
    if let Some(known) = api.stored.lock().get(&key) {
        return Ok(known.clone());
    }
    let file = match api.renderer.assets.find(&key.0, Some(key.1)).await {
        Ok(file) => file,
        // Deleted since.
        Err(Error::NotFound) => return Ok(Vec::new()),
        Err(error) => return Err(AssetStore::problem(&error)),
    };
    let read = tokio::task::spawn_blocking(move || families_of(&file.source));
    let families = read
        .await
        .map_err(|error| Problem::internal(format!("a font was not read: {error}")))?;
    let mut known = api.stored.lock();
    if known.len() >= MAX_KNOWN {
        known.clear();
    }
    known.insert(key, families.clone());
    Ok(families)
}
