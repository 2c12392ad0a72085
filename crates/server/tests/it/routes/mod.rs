//! Tests by route.

mod assets;
mod audit;
mod auth;
mod batch;
mod convert;
mod delivery;
mod drafts;
mod flows;
mod fonts;
mod html;
mod idempotency;
mod imports;
mod invoice;
mod keys;
mod labels;
mod limits;
mod pdf;
mod render;
mod results;
mod service;
mod studio;
mod templates;
