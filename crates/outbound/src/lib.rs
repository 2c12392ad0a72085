//! Outgoing requests of templates, pages and code. Only allowed hosts can be reached, and only at
//! public addresses. The client connects to exactly the address that it has checked, so a name that
//! resolves differently the second time (DNS rebinding) does not help an attacker. Redirects are
//! returned rather than followed; the caller may request the new address, which is checked again.
//!
//! [`Trust`] defines which certificate authorities TLS clients trust, here and in Platen's own
//! requests.

mod address;
mod error;
mod request;
mod resolve;
mod stop;
mod tcp;
mod trust;
mod url_rules;

pub use self::{
    address::{HostPattern, is_public},
    error::{Error, NoConnection},
    request::{Answer, Outbound, RequestLimits, Settings, is_reserved},
    stop::StopOnDrop,
    trust::{TlsRefusal, Trust, trusted_by_system},
    url_rules::UrlRules,
};
