//! What operators do around `platen serve`: secrets in files, proxies, hardening, backups,
//! migrations, and the steps of the guides.

mod backup;
mod guide;
mod hardening;
mod migrate;
mod moving;
mod proxies;
mod secrets;
mod service;
#[path = "../waiting/mod.rs"]
mod waiting;

#[allow(dead_code)]
#[path = "../../../storage/tests/it/postgres/server.rs"]
mod postgres;

#[allow(dead_code)]
#[path = "../../../storage/tests/it/s3/server.rs"]
mod s3;
