//! The life of a run: accepted into a durable row, hinted to a slot, held under a lease, journalled,
//! ended once and answered once.
//!
//! The [`Dispatcher`] is the side of the app: it alone speaks to the stores. Slots that do the work
//! are in this process ([`embedded`]) or in workers that are connected ([`session`], [`worker`]);
//! both do it through [`RunChannel`], and what they write carries the epoch of their lease. The
//! steps themselves are executed by [`execution`], which also runs flows without any scheduler.

mod accept;
mod answer;
mod callbacks;
mod channel;
mod claim;
mod clock;
mod depth;
mod dispatcher;
pub mod embedded;
mod error;
pub mod execution;
pub mod fault;
mod fleet;
mod flow_cache;
mod identity;
mod journals;
mod lifecycle;
mod maintenance;
mod mask;
pub mod protocol;
mod publication;
mod ready_queue;
mod retry;
mod room;
pub mod session;
mod settings;
mod startup;
mod triggers;
mod waiters;
mod work;
pub mod worker;
mod writes;

/// What starts a run takes at most as much memory as JSON, as [`platen_document::json_weight`] counts it. Bytes.
pub const MAX_TRIGGER_BYTES: u64 = 256 << 20;

pub use platen_storage::runs::{Lane, Run, RunFilter, RunState};

pub use self::{
    accept::{Receipt, Request},
    answer::Answer,
    channel::RunChannel,
    depth::{MAX_VALUE_DEPTH, is_too_deep},
    dispatcher::Dispatcher,
    error::Error,
    execution::{Record, StepReport},
    flow_cache::FlowVersion,
    mask::{MASKED, Mask},
    ready_queue::{DEFERRED_FLOW, Depth},
    retry::Retry,
    settings::{Fleet, Settings},
    waiters::Event,
};
