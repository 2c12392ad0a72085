//! Paginator of Platen: a bound document becomes pages of placed boxes. Pure.

pub mod figure;
