//! Pages printed by a real Chromium.

mod bench;
mod crashes;
mod hostile;
mod outside;
mod print;
mod soak;
mod speed;
