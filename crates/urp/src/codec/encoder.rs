//! Encodes messages into blocks, one message each.

use bytes::{BufMut, BytesMut};

use super::{
    BlockHeader, CodecError, HEADER_BYTES, carries_context, flags,
    idl::Function,
    marshal::{Marshal, SendCaches, check, check_any},
    types::{Type, TypeClass},
    value::{Any, Oid, Tid, Value},
};

/// Encodes the messages of one side, in order.
#[derive(Debug)]
pub struct Encoder {
    caches: SendCaches,
    last_type: Option<Type>,
    last_oid: Option<Oid>,
    last_tid: Option<Tid>,
    contexts: bool,
}

impl Encoder {
    /// An encoder that uses `cache_slots` slots of each of the peer's caches, at most 256; 0
    /// disables caching.
    #[must_use]
    pub fn new(cache_slots: u16) -> Self {
        Self {
            caches: SendCaches::new(cache_slots),
            last_type: None,
            last_oid: None,
            last_tid: None,
            contexts: false,
        }
    }

    /// From now on, requests carry the current context, which is always null here.
    pub fn send_contexts(&mut self) {
        self.contexts = true;
    }

    /// Appends a block with a request.
    ///
    /// # Errors
    /// An argument does not match its parameter. Nothing is written then.
    pub fn request(
        &mut self,
        out: &mut BytesMut,
        tid: &Tid,
        oid: &Oid,
        interface: &Type,
        function: &Function,
        arguments: &[Value],
    ) -> Result<(), CodecError> {
        if tid.is_empty() {
            return Err(CodecError::EmptyThread);
        }
        check(&Value::Interface(Some(oid.clone())), interface)?;
        check_all(function.inputs(), arguments, function)?;
        let start = begin(out);
        self.request_header(out, tid, oid, interface, function.id);
        let mut marshal = Marshal {
            out,
            caches: &mut self.caches,
        };
        if self.contexts && carries_context(oid, function) {
            marshal.oid(None);
        }
        for (value, ty) in arguments.iter().zip(function.inputs()) {
            marshal.value(value, ty);
        }
        end(out, start)
    }

    fn request_header(
        &mut self,
        out: &mut BytesMut,
        tid: &Tid,
        oid: &Oid,
        interface: &Type,
        function: u16,
    ) {
        let new_type = self.last_type.as_ref() != Some(interface);
        let new_oid = self.last_oid.as_ref() != Some(oid);
        let new_tid = self.last_tid.as_ref() != Some(tid);
        let [high, low] = function.to_be_bytes();
        if !(new_type || new_oid || new_tid) && function < 0x4000 {
            if function < 0x40 {
                out.put_u8(low);
            } else {
                out.put_slice(&[flags::FUNCTION_14 | high, low]);
            }
            return;
        }
        let mut first = flags::LONG | flags::REQUEST;
        for (set, flag) in [
            (new_type, flags::NEW_TYPE),
            (new_oid, flags::NEW_OID),
            (new_tid, flags::NEW_TID),
            (high != 0, flags::FUNCTION_16),
        ] {
            first |= if set { flag } else { 0 };
        }
        out.put_u8(first);
        match high {
            0 => out.put_u8(low),
            _ => out.put_u16(function),
        }
        let mut marshal = Marshal {
            out,
            caches: &mut self.caches,
        };
        if new_type {
            marshal.ty(interface);
            self.last_type = Some(interface.clone());
        }
        if new_oid {
            marshal.oid(Some(oid));
            self.last_oid = Some(oid.clone());
        }
        if new_tid {
            marshal.tid(tid);
            self.last_tid = Some(tid.clone());
        }
    }

    /// Appends a block with a reply: the return value followed by the `out` and `inout` parameters,
    /// or an exception.
    ///
    /// # Errors
    /// A value does not match its type. Nothing is written then.
    pub fn reply(
        &mut self,
        out: &mut BytesMut,
        tid: &Tid,
        function: &Function,
        outcome: &Result<Vec<Value>, Any>,
    ) -> Result<(), CodecError> {
        if tid.is_empty() {
            return Err(CodecError::EmptyThread);
        }
        match outcome {
            Ok(values) => check_all(function.outputs(), values, function)?,
            Err(exception) if exception.ty.class() == TypeClass::Exception => {
                check_any(exception)?;
            }
            Err(_) => return Err(CodecError::NotAnException),
        }
        let start = begin(out);
        let new_tid = self.last_tid.as_ref() != Some(tid);
        let mut first = flags::LONG;
        first |= if new_tid { flags::NEW_TID } else { 0 };
        first |= match outcome {
            Ok(_) => 0,
            Err(_) => flags::EXCEPTION,
        };
        out.put_u8(first);
        let mut marshal = Marshal {
            out,
            caches: &mut self.caches,
        };
        if new_tid {
            marshal.tid(tid);
            self.last_tid = Some(tid.clone());
        }
        match outcome {
            Ok(values) => {
                for (value, ty) in values.iter().zip(function.outputs()) {
                    marshal.value(value, ty);
                }
            }
            Err(exception) => marshal.any(exception),
        }
        end(out, start)
    }
}

fn check_all<'a>(
    types: impl Iterator<Item = &'a Type>,
    values: &[Value],
    function: &Function,
) -> Result<(), CodecError> {
    let mut count = 0;
    for ty in types {
        let value = values.get(count);
        let value = value.ok_or_else(|| CodecError::Mismatch(function.name.to_owned()))?;
        check(value, ty)?;
        count += 1;
    }
    match values.len() == count {
        true => Ok(()),
        false => Err(CodecError::Mismatch(function.name.to_owned())),
    }
}

fn begin(out: &mut BytesMut) -> usize {
    let start = out.len();
    out.put_slice(&[0; HEADER_BYTES]);
    start
}

fn end(out: &mut BytesMut, start: usize) -> Result<(), CodecError> {
    let size = out.len() - start - HEADER_BYTES;
    let size_bytes = u32::try_from(size).map_err(|_| CodecError::TooManyValues)?;
    let header = BlockHeader {
        size_bytes,
        messages: 1,
    };
    out[start..start + HEADER_BYTES].copy_from_slice(&header.encode());
    Ok(())
}
