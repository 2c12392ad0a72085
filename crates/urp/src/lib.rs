//! A client for LibreOffice's binary UNO remote protocol.
//!
//! From the bottom up: [`codec`] converts between bytes and messages and does no I/O; [`Bridge`] is
//! a connection over a pipe or TCP, with calls in both directions and counted references;
//! [`Client`] knows the objects of a LibreOffice process; and [`Client::convert`] converts a
//! document in five phases with a timeout.
#![doc = ""]
#![doc = include_str!("../README.md")]

pub mod bridge;
mod client;
pub mod codec;
mod convert;
mod document;
mod error;
mod files;
mod filter;
mod interaction;
mod phase;
mod property;
mod stream;
mod transfer;

pub use bridge::{Bridge, Options, Reference};
pub use client::{Client, Setting};
pub use convert::{Authors, Conversion, Converted};
pub use document::Document;
pub use error::{Error, Exception};
pub use files::{Files, Reading};
pub use filter::Filter;
pub use phase::{Phase, Phases, Stage};
pub use property::Property;
pub use stream::ReadSeek;
pub use transfer::{Input, Output, Transfer};
