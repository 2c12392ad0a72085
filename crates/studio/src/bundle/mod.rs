//! What browsers load: the modules of Studio as one script, its styles as one sheet, without what
//! only people read. Made at the first request, from the files as they are.

mod mangle;
mod modules;
mod styles;

pub use self::{modules::link, styles::joined};
