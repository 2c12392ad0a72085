//! References to objects of the peer.

use std::sync::Arc;

use super::{connection::Inner, object::Incoming};
use crate::{
    Error,
    codec::{Any, Oid, Tid, Type, TypeClass, Value, registry},
};

const ROOT: &str = "com.sun.star.uno.XInterface";

/// A reference to an object of the peer through one of its interfaces, released on drop.
pub struct Reference {
    inner: Arc<Inner>,
    oid: Oid,
    interface: Type,
    thread: Option<Tid>,
    counted: bool,
}

impl Reference {
    pub(super) fn new(inner: &Arc<Inner>, oid: Oid, interface: Type) -> Self {
        Self {
            inner: Arc::clone(inner),
            oid,
            interface,
            thread: None,
            counted: true,
        }
    }

    /// An object addressed by its well-known name. Since no reference was counted, none is
    /// released.
    pub(super) fn initial(inner: &Arc<Inner>, name: &str) -> Self {
        let interface = Type::interface(ROOT);
        let mut reference = Self::new(inner, name.into(), interface);
        reference.counted = false;
        reference
    }

    /// Makes calls run in a thread of the peer that is waiting for this process.
    pub(super) fn in_thread(mut self, tid: &Tid) -> Self {
        self.thread = Some(tid.clone());
        self
    }

    /// Calls a function by name. Returns the return value followed by the `out` and `inout`
    /// parameters.
    ///
    /// # Errors
    /// An exception, a broken connection, or arguments that do not match the function.
    pub async fn call(&self, function: &str, arguments: Vec<Value>) -> Result<Vec<Value>, Error> {
        let name = self.interface.name();
        // An interface missing from the table still has the functions of `XInterface`.
        let function = registry()
            .function_named(name, function)
            .or_else(|| registry().function_named(ROOT, function));
        let function = function.ok_or(Error::Option("the interface has no such function"))?;
        let thread = self.thread.as_ref();
        let inner = &self.inner;
        let called = inner.call(thread, &self.oid, &self.interface, function, &arguments);
        called.await
    }

    /// Calls a function and returns its return value.
    ///
    /// # Errors
    /// See [`Reference::call`].
    pub async fn get(&self, function: &'static str, arguments: Vec<Value>) -> Result<Value, Error> {
        let values = self.call(function, arguments).await?;
        let first = values.into_iter().next();
        first.ok_or(Error::Unexpected(function))
    }

    /// Calls a function that returns a reference; `None` is the null reference.
    ///
    /// # Errors
    /// See [`Reference::call`].
    pub async fn get_reference(
        &self,
        function: &'static str,
        arguments: Vec<Value>,
        interface: &str,
    ) -> Result<Option<Self>, Error> {
        let value = self.get(function, arguments).await?;
        self.adopt(value, interface)
            .ok_or(Error::Unexpected(function))
    }

    /// Adopts a reference received from the peer, bare or inside an any. The inner `None` is the
    /// null reference; the outer `None` means that the value is not a reference.
    #[must_use]
    pub fn adopt(&self, value: Value, interface: &str) -> Option<Option<Self>> {
        match value {
            Value::Interface(None) => Some(None),
            Value::Interface(Some(oid)) => Some(Some(self.beside(oid, Type::interface(interface)))),
            Value::Any(any) if any.ty.class() == TypeClass::Interface => {
                let Any { ty, value } = *any;
                match value {
                    Value::Interface(Some(oid)) => Some(Some(self.beside(oid, ty))),
                    _ => Some(None),
                }
            }
            Value::Any(any) if any.ty.class() == TypeClass::Void => Some(None),
            _ => None,
        }
    }

    fn beside(&self, oid: Oid, interface: Type) -> Self {
        let mut reference = Self::new(&self.inner, oid, interface);
        reference.thread = self.thread.clone();
        reference
    }

    /// The same object through another interface.
    ///
    /// # Errors
    /// The object lacks it, or the connection is broken.
    pub async fn query(&self, interface: &str) -> Result<Self, Error> {
        let found = self.find(interface).await?;
        found.ok_or_else(|| Error::NoInterface(interface.to_owned()))
    }

    /// The same object through another interface; `None` if the object lacks it.
    ///
    /// # Errors
    /// The connection is broken.
    pub async fn find(&self, interface: &str) -> Result<Option<Self>, Error> {
        let wanted = vec![Value::Type(Type::interface(interface))];
        self.get_reference("queryInterface", wanted, interface)
            .await
    }

    /// This reference as an argument. The peer must have returned it for the parameter's interface,
    /// see [`Reference::query`].
    #[must_use]
    pub fn value(&self) -> Value {
        Value::Interface(Some(self.oid.clone()))
    }

    /// This reference as an argument of type any.
    #[must_use]
    pub fn any(&self) -> Any {
        Any::new(self.interface.clone(), self.value())
    }
}

impl Incoming {
    /// Adopts a reference among the arguments. Calls to it run in the thread of this call, in which
    /// the peer is waiting.
    #[must_use]
    pub fn reference(&self, value: &Value, interface: &str) -> Option<Reference> {
        let Value::Interface(Some(oid)) = value else {
            return None;
        };
        let reference = Reference::new(&self.inner, oid.clone(), Type::interface(interface));
        Some(reference.in_thread(&self.tid))
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        if self.counted {
            let mut state = self.inner.state();
            state.release(&self.oid, &self.interface);
        }
    }
}
