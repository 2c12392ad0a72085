//! Decodes values.

use std::sync::Arc;

use bytes::{Buf, Bytes};

use super::{
    CodecError, Limits,
    cache::{NOT_CACHED, ReceiveCache},
    idl::registry,
    types::{Type, TypeClass},
    value::{Any, Oid, Tid, Value},
};

/// The caches of the receiving side.
#[derive(Debug, Default)]
pub(super) struct ReceiveCaches {
    pub(super) types: ReceiveCache<Type>,
    pub(super) oids: ReceiveCache<Oid>,
    pub(super) tids: ReceiveCache<Tid>,
}

/// Decodes one block.
pub(super) struct Unmarshal<'a> {
    bytes: Bytes,
    caches: &'a mut ReceiveCaches,
    values_left: usize,
    depth_left: u32,
}

/// Set in a type class if the type is new and is added to the cache.
const CACHE_BIT: u8 = 0x80;

impl<'a> Unmarshal<'a> {
    pub(super) fn new(bytes: Bytes, caches: &'a mut ReceiveCaches, limits: &Limits) -> Self {
        Self {
            bytes,
            caches,
            values_left: limits.values,
            depth_left: limits.depth,
        }
    }

    pub(super) fn remaining(&self) -> usize {
        self.bytes.len()
    }

    fn need(&self, size: usize) -> Result<(), CodecError> {
        if self.bytes.len() < size {
            return Err(CodecError::Truncated);
        }
        Ok(())
    }

    pub(super) fn u8(&mut self) -> Result<u8, CodecError> {
        self.need(1)?;
        Ok(self.bytes.get_u8())
    }

    pub(super) fn u16(&mut self) -> Result<u16, CodecError> {
        self.need(2)?;
        Ok(self.bytes.get_u16())
    }

    fn u32(&mut self) -> Result<u32, CodecError> {
        self.need(4)?;
        Ok(self.bytes.get_u32())
    }

    fn u64(&mut self) -> Result<u64, CodecError> {
        self.need(8)?;
        Ok(self.bytes.get_u64())
    }

    fn compressed(&mut self) -> Result<usize, CodecError> {
        let number = match self.u8()? {
            0xff => self.u32()?,
            short => u32::from(short),
        };
        usize::try_from(number).map_err(|_| CodecError::Truncated)
    }

    /// A length-prefixed part of the block, sharing its memory.
    fn raw(&mut self) -> Result<Bytes, CodecError> {
        let length = self.compressed()?;
        self.need(length)?;
        Ok(self.bytes.split_to(length))
    }

    fn text(&mut self) -> Result<String, CodecError> {
        String::from_utf8(self.raw()?.into()).map_err(|_| CodecError::Text)
    }

    pub(super) fn ty(&mut self) -> Result<Type, CodecError> {
        let byte = self.u8()?;
        let class = TypeClass::from_byte(byte & !CACHE_BIT)?;
        let new = byte & CACHE_BIT != 0;
        if class.is_simple() {
            return match new {
                true => Err(CodecError::TypeClass(byte)),
                false => Ok(Type::simple(class)),
            };
        }
        let slot = self.u16()?;
        if new {
            let ty = Type::named(class, self.text()?);
            self.caches.types.store(slot, &ty)?;
            return Ok(ty);
        }
        let ty = self.caches.types.get(slot)?;
        if ty.class() != class {
            return Err(CodecError::Mismatch(ty.name().to_owned()));
        }
        Ok(ty)
    }

    pub(super) fn oid(&mut self) -> Result<Option<Oid>, CodecError> {
        let text = self.text()?;
        let slot = self.u16()?;
        if text.is_empty() {
            return match slot {
                NOT_CACHED => Ok(None),
                slot => self.caches.oids.get(slot).map(Some),
            };
        }
        let oid: Oid = Arc::from(text);
        self.caches.oids.store(slot, &oid)?;
        Ok(Some(oid))
    }

    pub(super) fn tid(&mut self) -> Result<Tid, CodecError> {
        let raw = self.raw()?;
        let slot = self.u16()?;
        if raw.is_empty() {
            return match slot {
                NOT_CACHED => Err(CodecError::EmptyThread),
                slot => self.caches.tids.get(slot),
            };
        }
        let tid: Tid = Arc::from(&raw[..]);
        self.caches.tids.store(slot, &tid)?;
        Ok(tid)
    }

    pub(super) fn any(&mut self) -> Result<Any, CodecError> {
        let ty = self.ty()?;
        if ty.class() == TypeClass::Any {
            return Err(CodecError::NestedAny);
        }
        let value = self.value(&ty)?;
        Ok(Any { ty, value })
    }

    pub(super) fn value(&mut self, ty: &Type) -> Result<Value, CodecError> {
        if self.values_left == 0 || self.depth_left == 0 {
            return Err(CodecError::TooManyValues);
        }
        self.values_left -= 1;
        self.depth_left -= 1;
        let value = self.value_inside(ty);
        self.depth_left += 1;
        value
    }

    fn value_inside(&mut self, ty: &Type) -> Result<Value, CodecError> {
        Ok(match ty.class() {
            TypeClass::Void => Value::Void,
            TypeClass::Char => Value::Char(self.u16()?),
            TypeClass::Boolean => match self.u8()? {
                0 => Value::Boolean(false),
                1 => Value::Boolean(true),
                other => return Err(CodecError::Boolean(other)),
            },
            TypeClass::Byte => Value::Byte(self.u8()?),
            TypeClass::Short => Value::Short(self.u16()?.cast_signed()),
            TypeClass::UnsignedShort => Value::UnsignedShort(self.u16()?),
            TypeClass::Long => Value::Long(self.u32()?.cast_signed()),
            TypeClass::UnsignedLong => Value::UnsignedLong(self.u32()?),
            TypeClass::Hyper => Value::Hyper(self.u64()?.cast_signed()),
            TypeClass::UnsignedHyper => Value::UnsignedHyper(self.u64()?),
            TypeClass::Float => Value::Float(f32::from_bits(self.u32()?)),
            TypeClass::Double => Value::Double(f64::from_bits(self.u64()?)),
            TypeClass::String => Value::String(self.text()?),
            TypeClass::Type => Value::Type(self.ty()?),
            TypeClass::Any => Value::Any(Box::new(self.any()?)),
            TypeClass::Enum => Value::Enum(self.u32()?.cast_signed()),
            TypeClass::Interface => Value::Interface(self.oid()?),
            TypeClass::Struct | TypeClass::Exception => {
                let members = registry().members(ty)?;
                let members = members.into_iter().map(|member| self.value(member));
                Value::Struct(members.collect::<Result<_, _>>()?)
            }
            TypeClass::Sequence => self.sequence(ty)?,
        })
    }

    fn sequence(&mut self, ty: &Type) -> Result<Value, CodecError> {
        let element = registry().element(ty)?;
        if element.class() == TypeClass::Byte {
            return Ok(Value::Bytes(self.raw()?));
        }
        let count = self.compressed()?;
        // Checked before allocating: every value except void takes at least one byte.
        if element.class() == TypeClass::Void {
            return Err(CodecError::UnknownType(ty.name().to_owned()));
        }
        self.need(count)?;
        if count > self.values_left {
            return Err(CodecError::TooManyValues);
        }
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(self.value(&element)?);
        }
        Ok(Value::Sequence(values))
    }
}
