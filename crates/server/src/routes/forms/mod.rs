//! Routes that clients of Gotenberg know, with its fields and its status codes.

pub(crate) mod chromium;
mod value;
