//! The reading task: dispatches replies to pending calls, and calls to exported objects.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::oneshot,
};

use super::{
    connection::Inner,
    object::{self, Outcome},
    state::Broken,
};
use crate::codec::{
    Any, BlockHeader, CodecError, Decoder, HEADER_BYTES, Message, PROPERTIES_OID, Request, Type,
    TypeClass, Value, registry,
};

/// Initial buffer of a block; it grows only as bytes arrive, so a merely claimed size costs
/// nothing.
const PIECE_BYTES: usize = 1024 * 1024;

/// The only protocol property that is accepted.
const CURRENT_CONTEXT: &str = "CurrentContext";

type Stream = Box<dyn AsyncRead + Send + Unpin>;

pub(super) async fn run(inner: Arc<Inner>, mut stream: Stream, ready: oneshot::Sender<()>) {
    let why = tokio::select! {
        why = read_all(&inner, &mut stream, ready) => why,
        () = inner.closing.notified() => Broken::Dropped,
    };
    inner.end(why);
    inner.close_writer().await;
}

async fn read_all(inner: &Arc<Inner>, stream: &mut Stream, ready: oneshot::Sender<()>) -> Broken {
    let mut decoder = Decoder::new(inner.options.limits);
    let mut ready = Some(ready);
    loop {
        let (header, block) = match read_block(stream, &decoder).await {
            Ok(block) => block,
            Err(why) => return why,
        };
        inner.heard();
        let decoded = {
            let mut state = inner.state();
            let decoded = decoder.decode(header, block, &mut *state);
            decoded.map(|messages| (messages, std::mem::take(&mut state.answered)))
        };
        let (messages, mut answered) = match decoded {
            Ok(decoded) => decoded,
            Err(error) => return Broken::Codec(error),
        };
        for message in messages {
            match message {
                Message::Reply(reply) => {
                    if let Some(Err(outcome)) =
                        answered.pop_front().map(|it| it.send(reply.outcome))
                    {
                        forget(inner, outcome);
                    }
                }
                Message::Request(request) if &*request.oid == PROPERTIES_OID => {
                    match negotiate(inner, &request).await {
                        Ok(false) => {}
                        Ok(true) => {
                            decoder.expect_contexts();
                            ready.take().map(|ready| ready.send(()));
                        }
                        Err(why) => return why,
                    }
                }
                Message::Request(request) => object::serve(inner, request),
            }
        }
    }
}

/// Releases the references in an outcome that no caller waits for any more.
fn forget(inner: &Inner, outcome: Outcome) {
    if let Err(exception) = outcome {
        let mut state = inner.state();
        state.release_within(&exception.value, &exception.ty);
    }
}

async fn read_block(
    stream: &mut Stream,
    decoder: &Decoder,
) -> Result<(BlockHeader, Bytes), Broken> {
    let failed = |error| Broken::Io(Arc::new(error));
    let mut head = [0; HEADER_BYTES];
    stream.read_exact(&mut head).await.map_err(failed)?;
    let header = BlockHeader::decode(head, decoder.limits()).map_err(Broken::Codec)?;
    let size = usize::try_from(header.size_bytes).unwrap_or(usize::MAX);
    let mut block = BytesMut::with_capacity(size.min(PIECE_BYTES));
    while block.len() < size {
        let left = size - block.len();
        if block.capacity() == block.len() {
            block.reserve(left.min(block.len().max(PIECE_BYTES)));
        }
        let mut limited = (&mut *stream).take(left as u64);
        let read = limited.read_buf(&mut block).await.map_err(failed)?;
        if read == 0 {
            return Err(failed(std::io::ErrorKind::UnexpectedEof.into()));
        }
    }
    Ok((header, block.freeze()))
}

/// Answers protocol negotiation. Returns true once it is complete.
///
/// This side never requests a change itself, so the peer may always commit its own.
async fn negotiate(inner: &Inner, request: &Request) -> Result<bool, Broken> {
    let mut agreed = false;
    let outcome = match request.function.name {
        "requestChange" => Ok(vec![Value::Long(1)]),
        "commitChange" => match only_contexts(&request.arguments) {
            true => {
                agreed = true;
                Ok(vec![Value::Void])
            }
            false => Err(invalid_change()),
        },
        "getProperties" => Ok(vec![Value::Sequence(Vec::new())]),
        _ => {
            return Err(Broken::Codec(CodecError::UnknownFunction {
                interface: request.interface.name().to_owned(),
                function: request.function.id,
            }));
        }
    };
    let sent = inner.answer(&request.tid, request.function, &outcome, |encoder| {
        if agreed {
            encoder.send_contexts();
        }
    });
    match sent.await {
        Ok(()) => Ok(agreed),
        Err(_) => Err(Broken::Dropped),
    }
}

fn only_contexts(arguments: &[Value]) -> bool {
    let [Value::Sequence(properties)] = arguments else {
        return false;
    };
    properties.iter().all(|property| {
        let Value::Struct(members) = property else {
            return false;
        };
        matches!(members.first(), Some(Value::String(name)) if name == CURRENT_CONTEXT)
    })
}

fn invalid_change() -> Any {
    let name = "com.sun.star.bridge.InvalidProtocolChangeException";
    debug_assert!(registry().type_named(name).is_ok());
    let property = vec![CURRENT_CONTEXT.into(), Any::void().into()];
    let members = vec![
        "only the current context can be agreed on".into(),
        Value::Interface(None),
        Value::Struct(property),
        Value::Long(1),
    ];
    Any::new(
        Type::named(TypeClass::Exception, name),
        Value::Struct(members),
    )
}
