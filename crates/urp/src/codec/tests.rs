//! Tests of the codec: handwritten messages, recorded conversations, arbitrary input.

mod anything;
mod captures;
mod messages;

use std::collections::HashMap;

use bytes::{Buf, Bytes};

use super::*;

/// Calls that await a reply, as a stack per thread.
#[derive(Default)]
pub(super) struct Calls(HashMap<Tid, Vec<&'static Function>>);

impl Calls {
    pub(super) fn push(&mut self, tid: &Tid, function: &'static Function) {
        self.0.entry(tid.clone()).or_default().push(function);
    }
}

impl Pending for Calls {
    fn take(&mut self, tid: &Tid) -> Option<&'static Function> {
        self.0.get_mut(tid)?.pop()
    }
}

/// Decodes one block with its header.
pub(super) fn decode(
    decoder: &mut Decoder,
    mut bytes: Bytes,
    calls: &mut Calls,
) -> Result<Vec<Message>, CodecError> {
    if bytes.len() < HEADER_BYTES {
        return Err(CodecError::Truncated);
    }
    let mut header = [0; HEADER_BYTES];
    bytes.copy_to_slice(&mut header);
    let header = BlockHeader::decode(header, decoder.limits())?;
    let size = header.size_bytes as usize;
    if bytes.len() < size {
        return Err(CodecError::Truncated);
    }
    decoder.decode(header, bytes.split_to(size), calls)
}
