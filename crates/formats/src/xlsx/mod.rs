//! XLSX by `rust_xlsxwriter`.

mod number_format;

pub use self::number_format::number_format;
