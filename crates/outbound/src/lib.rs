//! Outgoing requests of templates, pages and code. They reach allowed hosts only, at public
//! addresses only, and the address that was checked is the very address that is connected to: a
//! name that resolves otherwise the second time is of no use to an attacker. Redirects are answers,
//! which whoever asked may follow by asking again.
//!
//! [`Trust`] says whose certificates clients of TLS take, here and in requests of Platen's own.

mod address;
mod request;
mod stop;
mod trust;

pub use self::{
    address::{HostPattern, is_public},
    request::{Answer, Error, Outbound, RequestLimits, Settings, is_reserved},
    trust::{TlsRefusal, Trust, trusted_by_system},
};
