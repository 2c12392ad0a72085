//! What a connection has to remember.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use tokio::sync::oneshot;

use super::{Broken, Outcome, object::Exported};
use crate::codec::{Any, Function, Oid, Pending, Tid, Type, TypeClass, Value, registry};

/// Thread ids of ours begin so.
const THREAD_PREFIX: &str = "platen-";

#[derive(Default)]
pub(crate) struct State {
    /// Calls without a reply, a stack for each thread.
    pub(super) calls: HashMap<Tid, Vec<Waiting>>,
    /// Calls whose reply was just decoded, in its order.
    pub(super) answered: VecDeque<oneshot::Sender<Outcome>>,
    /// References to give back.
    pub(super) releases: Vec<(Oid, Type)>,
    pub(super) exports: HashMap<Oid, Arc<Exported>>,
    pub(super) exported_ever: u64,
    pub(super) broken: Option<Broken>,
    /// When the peer was heard last, since the start of the connection.
    pub(super) heard_ms: u128,
    free_threads: Vec<Tid>,
    threads: u64,
}

pub(super) struct Waiting {
    pub(super) function: &'static Function,
    pub(super) sender: oneshot::Sender<Outcome>,
}

impl State {
    /// A thread id that no call uses.
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

    /// Releases have no reply, so any thread will do.
    pub(super) fn release_thread(&self) -> Tid {
        let free = self.free_threads.last().cloned();
        free.unwrap_or_else(|| Tid::from(THREAD_PREFIX.as_bytes()))
    }

    pub(super) fn release(&mut self, oid: &Oid, interface: &Type) {
        if self.broken.is_none() {
            self.releases.push((oid.clone(), interface.clone()));
        }
    }

    /// Gives back all references inside a value that nobody will use.
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

    /// What is to be dropped once the state is unlocked: an object may hold references, which lock it.
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
