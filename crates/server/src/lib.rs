//! The HTTP service of Platen.
