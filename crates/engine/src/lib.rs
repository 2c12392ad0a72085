//! A job of Platen from template and data to bytes.
