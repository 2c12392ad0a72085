//! Objects of this process that the peer can call.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
};

use super::connection::Inner;
use crate::{
    Error,
    codec::{Any, Function, Oid, Request, Tid, Type, TypeClass, Value, registry},
};

/// A boxed future.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Result of a call: the return value followed by the `out` and `inout` parameters, or an
/// exception.
pub type Outcome = Result<Vec<Value>, Any>;

/// An object that the peer can call.
pub trait Object: Send + Sync {
    /// Names of its interfaces, the main one first. `XInterface` is implied.
    fn interfaces(&self) -> &[&'static str];

    /// Handles a call to one of its interfaces.
    fn call(&self, incoming: Incoming) -> Boxed<'_, Outcome>;
}

/// A call from the peer.
pub struct Incoming {
    /// The function.
    pub function: &'static Function,
    /// Values of the `in` and `inout` parameters.
    pub arguments: Vec<Value>,
    pub(super) inner: Arc<Inner>,
    pub(super) tid: Tid,
}

pub(crate) struct Exported {
    object: Arc<dyn Object>,
    /// References that the peer holds.
    held: AtomicI64,
    dropped: AtomicBool,
}

/// An object that can be passed to the peer. Once this is dropped, calls to it fail.
pub struct Export {
    oid: Oid,
    exported: Arc<Exported>,
    inner: Weak<Inner>,
}

pub(super) fn export(inner: &Arc<Inner>, object: Arc<dyn Object>) -> Result<Export, Error> {
    let mut state = inner.state();
    if state.exports.len() >= inner.options.exports {
        return Err(Error::Option("too many objects are exported"));
    }
    state.exported_ever += 1;
    let oid: Oid = format!("platen-object-{}", state.exported_ever).into();
    let exported = Arc::new(Exported {
        object,
        held: AtomicI64::new(0),
        dropped: AtomicBool::new(false),
    });
    state.exports.insert(oid.clone(), Arc::clone(&exported));
    Ok(Export {
        oid,
        exported,
        inner: Arc::downgrade(inner),
    })
}

impl Export {
    /// A reference to pass as an argument, typed as the main interface.
    #[must_use]
    pub fn any(&self) -> Any {
        self.exported.held.fetch_add(1, Ordering::Relaxed);
        let name = self.exported.object.interfaces().first();
        Any::interface(
            name.unwrap_or(&"com.sun.star.uno.XInterface"),
            self.oid.clone(),
        )
    }

    /// References that the peer holds.
    #[must_use]
    pub fn held(&self) -> i64 {
        self.exported.held.load(Ordering::Relaxed)
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        self.exported.dropped.store(true, Ordering::Relaxed);
        if let Some(inner) = self.inner.upgrade() {
            let mut state = inner.state();
            let object = state.exports.remove(&self.oid);
            // Unlock first: dropping the object may drop references, which lock the state.
            drop(state);
            drop(object);
        }
    }
}

/// Handles a call in a separate task, because it may call back into the peer.
pub(super) fn serve(inner: &Arc<Inner>, request: Request) {
    let exported = inner.state().exports.get(&request.oid).cloned();
    if request.function.name == "release" {
        if let Some(exported) = exported {
            exported.held.fetch_sub(1, Ordering::Relaxed);
        }
        return;
    }
    let inner = Arc::clone(inner);
    let permit = Arc::clone(&inner.served).try_acquire_owned();
    tokio::spawn(async move {
        let outcome = match (exported, permit) {
            (Some(exported), Ok(_permit)) => run(&inner, &exported, &request).await,
            (None, _) => Err(runtime_exception("the object is gone")),
            (_, Err(_)) => Err(runtime_exception("too many calls at a time")),
        };
        if request.must_reply {
            let sent = inner.answer(&request.tid, request.function, &outcome, |_| {});
            if let Err(Error::Protocol(_)) = sent.await {
                let outcome = Err(runtime_exception("the answer does not fit"));
                let sent = inner.answer(&request.tid, request.function, &outcome, |_| {});
                // If the connection is broken, its pending calls have failed already.
                drop(sent.await);
            }
        }
    });
}

async fn run(inner: &Arc<Inner>, exported: &Exported, request: &Request) -> Outcome {
    if request.function.name == "queryInterface" {
        return Ok(vec![query(exported, request).into()]);
    }
    let incoming = Incoming {
        function: request.function,
        arguments: request.arguments.clone(),
        inner: Arc::clone(inner),
        tid: request.tid.clone(),
    };
    exported.object.call(incoming).await
}

fn query(exported: &Exported, request: &Request) -> Any {
    let Some(Value::Type(wanted)) = request.arguments.first() else {
        return Any::void();
    };
    let mut interfaces = exported.object.interfaces().iter();
    if !interfaces.any(|it| registry().derives(it, wanted.name())) {
        return Any::void();
    }
    exported.held.fetch_add(1, Ordering::Relaxed);
    Any::interface(wanted.name(), request.oid.clone())
}

/// A `RuntimeException`, which any function may throw.
#[must_use]
pub fn runtime_exception(message: &str) -> Any {
    object_exception("com.sun.star.uno.RuntimeException", message)
}

/// An exception without members beyond message and context.
#[must_use]
pub(crate) fn object_exception(name: &str, message: &str) -> Any {
    let members = vec![message.into(), Value::Interface(None)];
    Any::new(
        Type::named(TypeClass::Exception, name),
        Value::Struct(members),
    )
}
