//! Worker processes under a supervisor, and how they communicate.
//!
//! A supervisor opens the sockets and starts the processes. The first one, the leader, owns the
//! data folder: it alone writes the database, executes flow runs and stores custom actions. The
//! followers render documents from what they read there, and forward requests that change it (see
//! [`Forward`]). Each process has a peer socket in addition to the shared ones. The supervisor
//! keeps all sockets open, so a connection to a process under replacement waits instead of failing.

mod accept_balancer;
mod forward;
mod gather;
mod group;
mod member;
mod supervisor;

pub use self::{
    accept_balancer::AcceptBalancer,
    forward::{Forward, ForwardError, Sender, base_url_of, client_of, shows_credentials},
    gather::gather,
    group::{Channel, HANDOVER_GRACE, Membership, MembershipError, ProcessGroup, is_supervised},
    supervisor::{Settings, SuperviseError, supervise},
};
