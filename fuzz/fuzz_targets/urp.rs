//! Any bytes from a peer: they decode to messages or a typed error, and messages survive encoding
//! and decoding.
#![no_main]

use bytes::{Buf, Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use platen_urp::codec::{
    BlockHeader, Decoder, Encoder, Function, HEADER_BYTES, Limits, Message, Pending, Tid, registry,
};

/// Every thread always awaits a reply of type `any`.
struct Always;

impl Pending for Always {
    fn take(&mut self, _: &Tid) -> Option<&'static Function> {
        registry().function_named("com.sun.star.container.XNameAccess", "getByName")
    }
}

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits {
        block_bytes: 1 << 20,
        values: 10_000,
        depth: 32,
    };
    let mut decoder = Decoder::new(limits);
    let (mut encoder, mut again) = (Encoder::new(3), Decoder::new(limits));
    let mut bytes = Bytes::copy_from_slice(bytes);
    while bytes.len() >= HEADER_BYTES {
        let mut header = [0; HEADER_BYTES];
        bytes.copy_to_slice(&mut header);
        let Ok(header) = BlockHeader::decode(header, &limits) else {
            return;
        };
        let block = bytes.split_to(bytes.len().min(header.size_bytes as usize));
        let Ok(messages) = decoder.decode(header, block, &mut Always) else {
            return;
        };
        for message in messages {
            let Message::Reply(reply) = message else {
                continue;
            };
            let Some(function) = Always.take(&reply.tid) else {
                return;
            };
            let mut out = BytesMut::new();
            // Types and object ids that may be read but never written are refused.
            if encoder
                .reply(&mut out, &reply.tid, function, &reply.outcome)
                .is_err()
            {
                return;
            }
            let size_bytes = (out.len() - HEADER_BYTES) as u32;
            let header = BlockHeader {
                size_bytes,
                messages: 1,
            };
            let block = out.freeze().slice(HEADER_BYTES..);
            let read = again
                .decode(header, block, &mut Always)
                .expect("our own bytes");
            assert_eq!(read.len(), 1);
        }
    }
});
