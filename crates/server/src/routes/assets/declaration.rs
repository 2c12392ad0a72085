//! Declarations of the routes of assets.

use serde_json::json;

use super::{
    AssetApi, AssetDocument, AssetList, AssetUseList, AssetVersionList, delete_asset, get_asset,
    list_asset_uses, list_asset_versions, list_assets, put_asset,
    worker::{get_worker_asset, list_worker_fonts},
};
use crate::{
    auth::{Access, Scope},
    operation::{self, Content, Route, Tag, binary, delete, get, header, path, put, query},
    routes::templates::LOCATION,
};

/// Media types of assets.
const MEDIA_TYPES: [&str; 9] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/svg+xml",
    "application/pdf",
    "font/ttf",
    "font/otf",
    "font/collection",
];
const TAG: (&str, &str) = ("ETag", "Version number in quotes.");
const IF_MATCH: (&str, &str) = (
    "If-Match",
    "ETag of the version that is replaced or deleted; 412 if another is current. Without it, any is.",
);
const IF_NONE_MATCH: (&str, &str) = (
    "If-None-Match",
    "`*`: the asset is stored if there is none with this name, and nothing is replaced; 412 otherwise.",
);

/// The routes of assets.
pub(crate) fn routes() -> Vec<Route<AssetApi>> {
    let number = json!({"type": "integer", "minimum": 1});
    let force = json!({"type": "boolean", "default": false});
    let all = vec![
        get("/assets", list_assets)
            .scope(Scope::Read)
            .summary("Lists stored pictures and fonts by name.")
            .paged()
            .answer(200, operation::json::<AssetList>()),
        named(put("/assets/{name}", put_asset))
            .scope(Scope::Draft)
            .summary(
                "Stores a picture, a PDF file or a font, up to 16 MiB. To replace one needs the scope `publish`.",
            )
            .parameter(header(IF_MATCH))
            .parameter(header(IF_NONE_MATCH))
            .body(binary(&["application/octet-stream"]))
            .body_is("The file. Its content says what it is; the same bytes again make no version.")
            .answer(201, operation::json::<AssetDocument>())
            .answer_headers(&[TAG, LOCATION])
            .answer(200, operation::json::<AssetDocument>())
            .answer_is("The next version, or the current one if its bytes are the same.")
            .answer_headers(&[TAG, LOCATION])
            .problems(&[409, 412, 415, 422, 501, 504, 507]),
        named(get("/assets/{name}", get_asset))
            .scope(Scope::Read)
            .summary("Reads an asset, with its version as ETag.")
            .parameter(query(
                "version",
                number,
                "Version number; by default the current one.",
            ))
            .conditional()
            .ranged(binary(&MEDIA_TYPES))
            .answer(200, binary(&MEDIA_TYPES))
            .answer_headers(&[TAG])
            .problems(&[503]),
        named(delete("/assets/{name}", delete_asset))
            .scope(Scope::Publish)
            .summary("Deletes an asset that no template uses. Its version numbers are never reused.")
            .parameter(header(IF_MATCH))
            .parameter(query(
                "force",
                force,
                "Deletes it even if templates use it: they fail from then on.",
            ))
            .answer(204, Content::default())
            .problems(&[409, 412, 503]),
        named(get("/assets/{name}/versions", list_asset_versions))
            .scope(Scope::Read)
            .summary("Lists versions of an asset, newest first.")
            .paged()
            .answer(200, operation::json::<AssetVersionList>()),
        named(get("/assets/{name}/uses", list_asset_uses))
            .scope(Scope::Read)
            .summary("Lists the templates whose current version or draft uses an asset.")
            .answer(200, operation::json::<AssetUseList>())
            .problems(&[503]),
    ];
    all.into_iter()
        .map(|one| one.tag(Tag::Templates))
        .chain(worker_routes())
        .collect()
}

fn worker_routes() -> Vec<Route<AssetApi>> {
    let number = json!({"type": "integer", "minimum": 1});
    let about_version = "Version number; by default the current one.";
    let all = vec![
        named(get("/workers/assets/{name}", get_worker_asset))
            .access(Access::Open)
            .summary("For workers: reads an asset.")
            .parameter(query("version", number, about_version))
            .conditional()
            .ranged(binary(&MEDIA_TYPES))
            .answer(200, binary(&MEDIA_TYPES))
            .answer_headers(&[TAG])
            .problems(&[403]),
        get("/workers/fonts", list_worker_fonts)
            .access(Access::Open)
            .summary("For workers: lists the assets with the fonts of a family.")
            .parameter(query(
                "family",
                json!({"type": "string"}),
                "Name of the family.",
            ))
            .answer(200, operation::any_json())
            .problems(&[400, 403]),
    ];
    all.into_iter().map(|one| one.tag(Tag::Flows)).collect()
}

fn named(route: Route<AssetApi>) -> Route<AssetApi> {
    let pattern = json!({"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"});
    route.parameter(path("name", pattern, "Name of an asset."))
}
