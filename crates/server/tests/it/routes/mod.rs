//! Tests by route.

mod audit;
mod auth;
mod batch;
mod convert;
mod delivery;
mod drafts;
mod flows;
mod html;
mod imports;
mod invoice;
mod keys;
mod limits;
mod pdf;
mod render;
mod results;
mod service;
mod studio;
mod templates;
