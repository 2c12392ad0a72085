//! Which templates use an asset.

use std::sync::Arc;

use platen_document::pins::{Named, pins_of};
use platen_storage::{DocumentStore, DraftKind, DraftStore, Error, Listing};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;

/// Templates read at once.
const PAGE: u32 = 200;

/// A template that uses an asset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AssetUse")]
pub(crate) struct Use {
    /// Key of the template.
    pub(crate) key: String,
    /// Display name.
    name: String,
    /// Whether it is the draft of the template that uses it.
    draft: bool,
}

/// What is looked for: the asset and the families of fonts that it has.
#[derive(Clone)]
struct Wanted {
    asset: Arc<str>,
    families: Arc<[String]>,
    /// Held until the last template is read, also if nobody waits for it any more.
    _turn: Arc<OwnedSemaphorePermit>,
}

impl Wanted {
    fn is_in(&self, source: &[u8]) -> bool {
        let text = String::from_utf8_lossy(source);
        // Most templates do not have the name anywhere and need not be parsed. Escapes may hide it.
        let may_have = !self.families.is_empty() || text.contains(&*self.asset);
        if !may_have && !text.contains("\\u") {
            return false;
        }
        let named = Named::of(source);
        let pins = pins_of(source);
        named.has_asset(&self.asset)
            || pins.assets.contains_key(&*self.asset)
            || self.families.iter().any(|family| named.has_family(family))
    }

    async fn check(&self, source: &Arc<[u8]>) -> bool {
        let (wanted, source) = (self.clone(), Arc::clone(source));
        let looked = tokio::task::spawn_blocking(move || wanted.is_in(&source));
        looked.await.unwrap_or(true)
    }
}

/// The templates whose current version or draft uses `asset`, or a family of its fonts. Names that
/// come from data are not known. It takes a `turn`, as it reads all of them.
///
/// # Errors
/// Of the store.
pub(crate) async fn uses(
    templates: &dyn DocumentStore,
    drafts: &dyn DraftStore,
    asset: &str,
    families: Vec<String>,
    turn: Arc<OwnedSemaphorePermit>,
) -> Result<Vec<Use>, Error> {
    let wanted = Wanted {
        asset: asset.into(),
        families: families.into(),
        _turn: turn,
    };
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = templates.list(Listing::page(after, PAGE)).await?;
        after = page.documents.last().map(|last| last.key.clone());
        for template in page.documents {
            match templates.get(template.key.clone(), None).await {
                Ok(stored) if wanted.check(&stored.source).await => found.push(Use {
                    key: template.key,
                    name: template.name,
                    draft: false,
                }),
                // Deleted since.
                Ok(_) | Err(Error::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        if !page.more {
            break;
        }
    }
    let mut after = None;
    loop {
        let page = drafts.list(DraftKind::Template, after, PAGE).await?;
        let is_last = page.len() < PAGE as usize;
        after = page.last().map(|last| last.key.clone());
        for draft in page {
            match drafts.get(DraftKind::Template, draft.key.clone()).await {
                Ok(stored) if wanted.check(&stored.source).await => found.push(Use {
                    key: draft.key,
                    name: draft.name,
                    draft: true,
                }),
                Ok(_) | Err(Error::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        if is_last {
            return Ok(found);
        }
    }
}
