//! LibreOffice's binary UNO remote protocol: a pure codec, and a client that converts documents.

pub mod codec;
