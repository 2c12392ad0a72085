//! LibreOffice's binary UNO remote protocol: a pure codec, a connection over a pipe or TCP, typed calls, and the
//! conversion of documents.

pub mod bridge;
mod client;
pub mod codec;
mod convert;
mod document;
mod error;
mod interaction;
mod property;
mod stream;
mod transfer;

pub use bridge::{Bridge, Options, Reference};
pub use client::{Client, Setting};
pub use convert::{Authors, Conversion, Converted, Phase, Phases, Stage};
pub use document::Document;
pub use error::{Error, Exception};
pub use property::Property;
pub use stream::ReadSeek;
pub use transfer::{Input, Output, Transfer};
