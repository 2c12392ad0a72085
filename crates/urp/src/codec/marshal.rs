//! Encodes values.

use bytes::{BufMut, BytesMut};

use super::{
    CodecError,
    cache::{NOT_CACHED, Place, SendCache},
    idl::registry,
    types::{Type, TypeClass},
    value::{Any, Oid, Tid, Value},
};

/// The caches of the sending side.
#[derive(Debug)]
pub(super) struct SendCaches {
    pub(super) types: SendCache<Type>,
    pub(super) oids: SendCache<Oid>,
    pub(super) tids: SendCache<Tid>,
}

impl SendCaches {
    pub(super) fn new(slots: u16) -> Self {
        Self {
            types: SendCache::new(slots),
            oids: SendCache::new(slots),
            tids: SendCache::new(slots),
        }
    }
}

/// Checks that a value has a type before anything is written, so that an error leaves the caches
/// unchanged.
pub(super) fn check(value: &Value, ty: &Type) -> Result<(), CodecError> {
    let mismatch = || CodecError::Mismatch(ty.name().to_owned());
    match (value, ty.class()) {
        (Value::Void, TypeClass::Void)
        | (Value::Char(_), TypeClass::Char)
        | (Value::Boolean(_), TypeClass::Boolean)
        | (Value::Byte(_), TypeClass::Byte)
        | (Value::Short(_), TypeClass::Short)
        | (Value::UnsignedShort(_), TypeClass::UnsignedShort)
        | (Value::Long(_), TypeClass::Long)
        | (Value::UnsignedLong(_), TypeClass::UnsignedLong)
        | (Value::Hyper(_), TypeClass::Hyper)
        | (Value::UnsignedHyper(_), TypeClass::UnsignedHyper)
        | (Value::Float(_), TypeClass::Float)
        | (Value::Double(_), TypeClass::Double)
        | (Value::Type(_), TypeClass::Type)
        | (Value::Enum(_), TypeClass::Enum) => Ok(()),
        (Value::String(text), TypeClass::String) => fits(text.len()),
        (Value::Interface(oid), TypeClass::Interface) => match oid.as_deref() {
            Some(oid) if oid.is_empty() || !oid.is_ascii() => Err(CodecError::Text),
            _ => Ok(()),
        },
        (Value::Any(any), TypeClass::Any) => check_any(any),
        (Value::Struct(values), TypeClass::Struct | TypeClass::Exception) => {
            let members = registry().members(ty)?;
            if members.len() != values.len() {
                return Err(mismatch());
            }
            let mut pairs = values.iter().zip(members);
            pairs.try_for_each(|(value, member)| check(value, member))
        }
        (Value::Bytes(bytes), TypeClass::Sequence) if ty.name() == "[]byte" => fits(bytes.len()),
        (Value::Sequence(values), TypeClass::Sequence) if ty.name() != "[]byte" => {
            let element = registry().element(ty)?;
            fits(values.len())?;
            values.iter().try_for_each(|value| check(value, &element))
        }
        _ => Err(mismatch()),
    }
}

pub(super) fn check_any(any: &Any) -> Result<(), CodecError> {
    if any.ty.class() == TypeClass::Any {
        return Err(CodecError::NestedAny);
    }
    check(&any.value, &any.ty)
}

fn fits(length: usize) -> Result<(), CodecError> {
    match i32::try_from(length) {
        Ok(_) => Ok(()),
        Err(_) => Err(CodecError::TooManyValues),
    }
}

/// Encodes one message whose values have been checked.
pub(super) struct Marshal<'a> {
    pub(super) out: &'a mut BytesMut,
    pub(super) caches: &'a mut SendCaches,
}

impl Marshal<'_> {
    /// A compressed number: one byte, or `0xff` and four bytes.
    fn compressed(&mut self, number: usize) {
        match u8::try_from(number) {
            Ok(short) if short != 0xff => self.out.put_u8(short),
            _ => {
                self.out.put_u8(0xff);
                self.out.put_u32(u32::try_from(number).unwrap_or(u32::MAX));
            }
        }
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.compressed(bytes.len());
        self.out.put_slice(bytes);
    }

    pub(super) fn ty(&mut self, ty: &Type) {
        let class = ty.class() as u8;
        if ty.class().is_simple() {
            self.out.put_u8(class);
            return;
        }
        match self.caches.types.place(ty) {
            Place::Known(slot) => {
                self.out.put_u8(class);
                self.out.put_u16(slot);
            }
            Place::New(slot) => {
                self.out.put_u8(class | 0x80);
                self.out.put_u16(slot);
                self.raw(ty.name().as_bytes());
            }
        }
    }

    pub(super) fn oid(&mut self, oid: Option<&Oid>) {
        let Some(oid) = oid else {
            self.out.put_u8(0);
            self.out.put_u16(NOT_CACHED);
            return;
        };
        match self.caches.oids.place(oid) {
            Place::Known(slot) => {
                self.out.put_u8(0);
                self.out.put_u16(slot);
            }
            Place::New(slot) => {
                self.raw(oid.as_bytes());
                self.out.put_u16(slot);
            }
        }
    }

    pub(super) fn tid(&mut self, tid: &Tid) {
        match self.caches.tids.place(tid) {
            Place::Known(slot) => {
                self.out.put_u8(0);
                self.out.put_u16(slot);
            }
            Place::New(slot) => {
                self.raw(tid);
                self.out.put_u16(slot);
            }
        }
    }

    pub(super) fn any(&mut self, any: &Any) {
        self.ty(&any.ty);
        self.value(&any.value, &any.ty);
    }

    pub(super) fn value(&mut self, value: &Value, ty: &Type) {
        match value {
            Value::Void => {}
            Value::Char(value) | Value::UnsignedShort(value) => self.out.put_u16(*value),
            Value::Boolean(value) => self.out.put_u8(u8::from(*value)),
            Value::Byte(value) => self.out.put_u8(*value),
            Value::Short(value) => self.out.put_i16(*value),
            Value::Long(value) | Value::Enum(value) => self.out.put_i32(*value),
            Value::UnsignedLong(value) => self.out.put_u32(*value),
            Value::Hyper(value) => self.out.put_i64(*value),
            Value::UnsignedHyper(value) => self.out.put_u64(*value),
            Value::Float(value) => self.out.put_u32(value.to_bits()),
            Value::Double(value) => self.out.put_u64(value.to_bits()),
            Value::String(text) => self.raw(text.as_bytes()),
            Value::Type(ty) => self.ty(ty),
            Value::Any(any) => self.any(any),
            Value::Bytes(bytes) => self.raw(bytes),
            Value::Interface(oid) => self.oid(oid.as_ref()),
            Value::Struct(values) => {
                let members = registry().members(ty).unwrap_or_default();
                for (value, member) in values.iter().zip(members) {
                    self.value(value, member);
                }
            }
            Value::Sequence(values) => {
                self.compressed(values.len());
                if let Ok(element) = registry().element(ty) {
                    values.iter().for_each(|value| self.value(value, &element));
                }
            }
        }
    }
}
