//! Documents by whatever backend they need: the native renderer, in this process or in a sandbox, and
//! Chromium for templates of HTML; helpers in JavaScript for both.

mod engine;
mod error;
mod helpers;
mod html;
mod isolation;
mod print;
mod produce;

pub use self::{
    engine::{Engine, IsolationSource, memory_bound},
    error::Error,
    helpers::validate,
    html::{Page, Template, key_of, media_type_of},
    isolation::{Isolation, IsolationError, IsolationSettings, RenderWorker},
    print::PrintedDocument,
    produce::{Data, Job, Origin, PreparedTemplate, Product},
};
