//! Several processes that serve together: what each knows of the others.
//!
//! A supervisor opens the sockets and starts the processes. The first one owns the data folder:
//! it alone writes the database, does runs of flows and keeps pieces. The others make documents
//! from what they read there, and pass on what changes it (see [`Forward`]). Each has a socket of
//! its own besides those that all share; the supervisor holds all of them open, so a connection to
//! a process that is being replaced waits instead of failing.

mod accept_balancer;
mod forward;
mod gather;
mod group;
mod member;
mod supervisor;

pub use self::{
    accept_balancer::AcceptBalancer,
    forward::{Forward, ForwardError, client_of},
    gather::gather,
    group::{Channel, HANDOVER_GRACE, Membership, MembershipError, ProcessGroup, is_supervised},
    supervisor::{Settings, SuperviseError, supervise},
};
