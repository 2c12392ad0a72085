//! Decodes blocks into messages.

use bytes::Bytes;

use super::{
    BlockHeader, CodecError, Limits, carries_context, flags,
    idl::{Function, registry},
    message::{Message, Reply, Request},
    types::{Type, TypeClass},
    unmarshal::{ReceiveCaches, Unmarshal},
    value::{Oid, Tid},
};

/// Supplies the pending calls, because a reply does not say which function it answers.
pub trait Pending {
    /// Removes the newest pending call of the thread.
    fn take(&mut self, tid: &Tid) -> Option<&'static Function>;
}

/// Decodes the blocks of one peer, in order.
#[derive(Debug, Default)]
pub struct Decoder {
    limits: Limits,
    caches: ReceiveCaches,
    last_type: Option<Type>,
    last_oid: Option<Oid>,
    last_tid: Option<Tid>,
    contexts: bool,
}

impl Decoder {
    /// A decoder with these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// From now on, requests carry the current context.
    pub fn expect_contexts(&mut self) {
        self.contexts = true;
    }

    /// Decodes the messages of a block; `block` excludes the header.
    ///
    /// # Errors
    /// See [`CodecError`]. The decoder cannot be used afterwards.
    pub fn decode(
        &mut self,
        header: BlockHeader,
        block: Bytes,
        pending: &mut dyn Pending,
    ) -> Result<Vec<Message>, CodecError> {
        let mut caches = std::mem::take(&mut self.caches);
        let mut reader = Unmarshal::new(block, &mut caches, &self.limits);
        let mut messages = Vec::new();
        for _ in 0..header.messages {
            messages.push(self.message(&mut reader, pending)?);
        }
        match reader.remaining() {
            0 => {}
            excess => return Err(CodecError::Excess(excess)),
        }
        self.caches = caches;
        Ok(messages)
    }

    fn message(
        &mut self,
        reader: &mut Unmarshal<'_>,
        pending: &mut dyn Pending,
    ) -> Result<Message, CodecError> {
        let first = reader.u8()?;
        if first & flags::LONG == 0 {
            let low = u16::from(first & 0x3f);
            let function = match first & flags::FUNCTION_14 {
                0 => low,
                _ => low << 8 | u16::from(reader.u8()?),
            };
            return self.request(reader, function, None).map(Message::Request);
        }
        if first & flags::REQUEST != 0 {
            return self.long_request(reader, first).map(Message::Request);
        }
        self.reply(reader, first, pending).map(Message::Reply)
    }

    fn long_request(
        &mut self,
        reader: &mut Unmarshal<'_>,
        first: u8,
    ) -> Result<Request, CodecError> {
        let must_reply = match first & flags::MORE_FLAGS {
            0 => None,
            _ => {
                let more = reader.u8()?;
                let must_reply = more & flags::MUST_REPLY != 0;
                if must_reply != (more & flags::SYNCHRONOUS != 0) {
                    return Err(CodecError::Flags(more));
                }
                Some(must_reply)
            }
        };
        let function = match first & flags::FUNCTION_16 {
            0 => u16::from(reader.u8()?),
            _ => reader.u16()?,
        };
        if first & flags::NEW_TYPE != 0 {
            let ty = reader.ty()?;
            if ty.class() != TypeClass::Interface {
                return Err(CodecError::Mismatch(ty.name().to_owned()));
            }
            self.last_type = Some(ty);
        }
        if first & flags::NEW_OID != 0 {
            let oid = reader.oid()?;
            self.last_oid = Some(oid.ok_or(CodecError::NothingBefore("object"))?);
        }
        if first & flags::NEW_TID != 0 {
            self.last_tid = Some(reader.tid()?);
        }
        self.request(reader, function, must_reply)
    }

    fn request(
        &self,
        reader: &mut Unmarshal<'_>,
        function: u16,
        must_reply: Option<bool>,
    ) -> Result<Request, CodecError> {
        let before = CodecError::NothingBefore;
        let interface = self.last_type.clone().ok_or(before("type"))?;
        let oid = self.last_oid.clone().ok_or(before("object"))?;
        let tid = self.last_tid.clone().ok_or(before("thread"))?;
        let function = registry().function(interface.name(), function)?;
        if must_reply.is_some() && !function.oneway {
            return Err(CodecError::Flags(flags::MORE_FLAGS));
        }
        if self.contexts && carries_context(&oid, function) {
            reader.oid()?;
        }
        let arguments = function.inputs().map(|ty| reader.value(ty));
        Ok(Request {
            arguments: arguments.collect::<Result<_, _>>()?,
            must_reply: must_reply.unwrap_or(!function.oneway),
            tid,
            oid,
            interface,
            function,
        })
    }

    fn reply(
        &mut self,
        reader: &mut Unmarshal<'_>,
        first: u8,
        pending: &mut dyn Pending,
    ) -> Result<Reply, CodecError> {
        if first & flags::NEW_TID != 0 {
            self.last_tid = Some(reader.tid()?);
        }
        let tid = self.last_tid.clone();
        let tid = tid.ok_or(CodecError::NothingBefore("thread"))?;
        let function = pending.take(&tid).ok_or(CodecError::UnexpectedReply)?;
        if first & flags::EXCEPTION != 0 {
            let exception = reader.any()?;
            if exception.ty.class() != TypeClass::Exception {
                return Err(CodecError::NotAnException);
            }
            let outcome = Err(exception);
            return Ok(Reply { tid, outcome });
        }
        let values = function.outputs().map(|ty| reader.value(ty));
        let outcome = Ok(values.collect::<Result<_, _>>()?);
        Ok(Reply { tid, outcome })
    }
}
