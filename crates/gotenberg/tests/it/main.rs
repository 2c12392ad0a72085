//! The dialect of Gotenberg as its clients see it: a real server on a port of its own, over real sockets.

#[path = "../../../server/tests/it/app.rs"]
#[expect(dead_code, reason = "tests of other crates use the rest")]
mod app;
mod change_fields;
mod changes;
mod clients;
mod dialect;
mod documents;
#[path = "../../../pdf/tests/it/fixture.rs"]
#[expect(dead_code, reason = "tests of another crate use the rest")]
mod fixture;
mod forms;
mod marks;
mod new_stages;
mod office_fields;
mod page_fields;
#[path = "../../../server/tests/it/programs.rs"]
mod programs;
mod redact_stage;
mod signed_stages;
mod stage_forms;
mod stages;
mod variables;
mod webhook;

/// The routes of Gotenberg.
const EXTENSIONS: &[platen_server::ExtensionFactory] = &[platen_gotenberg::extension];
