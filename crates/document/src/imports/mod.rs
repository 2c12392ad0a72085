//! Imports of stored templates. Whoever loads a template embeds the imported versions in its source
//! ([`embed`]), so that the source makes the same documents wherever it is read; the parser links
//! them (`link`).

mod link;
mod source;
#[cfg(test)]
mod tests;

pub use self::link::input_schema;
pub(crate) use self::link::{has_imports, link};
pub(crate) use self::source::member_around;
pub use self::source::{Wanted, embed, strip, wanted};

/// Most imports of a template.
pub const MAX_IMPORTS: usize = 16;
/// Most templates in a chain in which each imports the next.
pub const MAX_IMPORT_DEPTH: usize = 8;
