//! The state of a connection, guarded by one mutex.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use tokio::sync::oneshot;

use super::object::{Exported, Outcome};
use crate::codec::{
    Any, CodecError, Function, Oid, Pending, Tid, Type, TypeClass, Value, registry,
};

/// Prefix of the thread ids of this side.
const THREAD_PREFIX: &str = "platen-";

/// Why a connection ended.
#[derive(Clone, Debug)]
pub(crate) enum Broken {
    Dropped,
    Io(Arc<std::io::Error>),
    Codec(CodecError),
}

#[derive(Default)]
pub(crate) struct State {
    /// Pending calls, a stack per thread.
    pub(super) calls: HashMap<Tid, Vec<Waiting>>,
    /// Callers of the replies just decoded, in the order of the replies.
    pub(super) answered: VecDeque<oneshot::Sender<Outcome>>,
    /// References to release.
    pub(super) releases: Vec<(Oid, Type)>,
    pub(super) exports: HashMap<Oid, Arc<Exported>>,
    pub(super) exported_ever: u64,
    pub(super) broken: Option<Broken>,
    /// When the last message arrived, in milliseconds since the connection was started.
    pub(super) heard_ms: u128,
    free_threads: Vec<Tid>,
    threads: u64,
}

pub(super) struct Waiting {
    pub(super) function: &'static Function,
    pub(super) sender: oneshot::Sender<Outcome>,
}

impl State {
    /// A thread id that no call uses, recycled if possible.
    pub(super) fn take_thread(&mut self) -> Tid {
        if let Some(tid) = self.free_threads.pop() {
            return tid;
        }
        self.threads += 1;
        Tid::from(format!("{THREAD_PREFIX}{}", self.threads).as_bytes())
    }

    pub(super) fn give_thread(&mut self, tid: &Tid) {
        let idle = self.calls.get(tid).is_none_or(Vec::is_empty);
        if idle && tid.starts_with(THREAD_PREFIX.as_bytes()) && !self.free_threads.contains(tid) {
            self.free_threads.push(tid.clone());
        }
    }

    /// The thread id for releases. They have no reply, so any thread will do.
    pub(super) fn release_thread(&self) -> Tid {
        let free = self.free_threads.last().cloned();
        free.unwrap_or_else(|| Tid::from(THREAD_PREFIX.as_bytes()))
    }

    pub(super) fn release(&mut self, oid: &Oid, interface: &Type) {
        if self.broken.is_none() {
            self.releases.push((oid.clone(), interface.clone()));
        }
    }

    /// Releases all references inside a value that is discarded.
    pub(super) fn release_within(&mut self, value: &Value, ty: &Type) {
        match value {
            Value::Interface(Some(oid)) if !self.exports.contains_key(oid) => {
                self.release(oid, ty);
            }
            Value::Any(any) => {
                let Any { ty, value } = &**any;
                self.release_within(value, ty);
            }
            Value::Struct(values) => {
                let members = registry().members(ty).unwrap_or_default();
                for (value, member) in values.iter().zip(members) {
                    self.release_within(value, member);
                }
            }
            Value::Sequence(values) => {
                let Ok(element) = registry().element(ty) else {
                    return;
                };
                if element.class() > TypeClass::Type {
                    for value in values {
                        self.release_within(value, &element);
                    }
                }
            }
            _ => {}
        }
    }

    /// Empties the state and returns what must be dropped after unlocking: an object may hold
    /// references, and dropping them locks the state.
    pub(super) fn forget_all(&mut self) -> impl Sized + use<> {
        self.releases.clear();
        let calls = std::mem::take(&mut self.calls);
        let answered = std::mem::take(&mut self.answered);
        (calls, answered, std::mem::take(&mut self.exports))
    }
}

impl Pending for State {
    fn take(&mut self, tid: &Tid) -> Option<&'static Function> {
        let stack = self.calls.get_mut(tid)?;
        let Waiting { function, sender } = stack.pop()?;
        if stack.is_empty() {
            self.calls.remove(tid);
        }
        self.give_thread(tid);
        self.answered.push_back(sender);
        Some(function)
    }
}
