//! Handwritten messages, from the specification.

use bytes::BytesMut;

use super::*;

fn function(interface: &str, name: &str) -> &'static Function {
    let interface = format!("com.sun.star.{interface}");
    registry().function_named(&interface, name).unwrap()
}

fn tid(text: &str) -> Tid {
    Tid::from(text.as_bytes())
}

fn load_arguments() -> Vec<Value> {
    let hidden = vec![
        "Hidden".into(),
        Value::Long(0),
        Any::from(true).into(),
        Value::Enum(0),
    ];
    vec![
        "private:stream".into(),
        "_blank".into(),
        Value::Long(0),
        Value::Sequence(vec![Value::Struct(hidden)]),
    ]
}

#[test]
fn a_property_is_written_as_specified() {
    let mut encoder = Encoder::new(0);
    encoder.send_contexts();
    let mut out = BytesMut::new();
    let load = function("frame.XComponentLoader", "loadComponentFromURL");
    let interface = Type::interface("com.sun.star.frame.XComponentLoader");
    let arguments = load_arguments();
    encoder
        .request(
            &mut out,
            &tid("t"),
            &"o".into(),
            &interface,
            load,
            &arguments,
        )
        .unwrap();
    let property = b"\x06Hidden\0\0\0\0\x02\x01\0\0\0\0";
    assert!(out.ends_with(property));
    let mut head =
        b"\xf8\x03\x96\xff\xff\x23com.sun.star.frame.XComponentLoader\x01o\xff\xff\x01t\xff\xff"
            .to_vec();
    head.extend_from_slice(b"\0\xff\xff\x0eprivate:stream");
    assert!(out[HEADER_BYTES..].starts_with(&head));
}

#[test]
fn the_second_call_of_a_kind_has_a_short_header() {
    let mut encoder = Encoder::new(256);
    let read = function("io.XInputStream", "readBytes");
    let interface = Type::interface("com.sun.star.io.XInputStream");
    let mut decoder = Decoder::default();
    for turn in 0..2 {
        let mut out = BytesMut::new();
        encoder
            .request(
                &mut out,
                &tid("t"),
                &"o".into(),
                &interface,
                read,
                &[Value::Long(7)],
            )
            .unwrap();
        if turn == 1 {
            assert_eq!(&out[HEADER_BYTES..], [3, 0, 0, 0, 7]);
        }
        let messages = decode(&mut decoder, out.freeze(), &mut Calls::default()).unwrap();
        let [Message::Request(request)] = &messages[..] else {
            panic!("{messages:?}");
        };
        assert_eq!(request.arguments, [Value::Long(7)]);
        assert_eq!(request.function.name, "readBytes");
    }
}

#[test]
fn a_value_that_does_not_fit_is_not_written() {
    let mut encoder = Encoder::new(256);
    let mut out = BytesMut::new();
    let interface = Type::interface("com.sun.star.io.XInputStream");
    let read = function("io.XInputStream", "readBytes");
    for arguments in [
        vec![],
        vec![Value::Boolean(true)],
        vec![Value::Long(1), Value::Long(1)],
    ] {
        let error = encoder.request(
            &mut out,
            &tid("t"),
            &"o".into(),
            &interface,
            read,
            &arguments,
        );
        assert!(matches!(error, Err(CodecError::Mismatch(_))));
        assert!(out.is_empty());
    }
    let empty = encoder.request(&mut out, &tid(""), &"o".into(), &interface, read, &[]);
    assert_eq!(empty, Err(CodecError::EmptyThread));
}

#[test]
fn lengths_change_their_form_at_255() {
    let query = function("document.XTypeDetection", "queryTypeByURL");
    let interface = Type::interface("com.sun.star.document.XTypeDetection");
    for length in [0_usize, 1, 254, 255, 256, 70_000] {
        let mut encoder = Encoder::new(0);
        let mut out = BytesMut::new();
        let text = Value::String("x".repeat(length));
        encoder
            .request(
                &mut out,
                &tid("t"),
                &"o".into(),
                &interface,
                query,
                std::slice::from_ref(&text),
            )
            .unwrap();
        let head = if length < 255 { 1 } else { 5 };
        let header = 2 + 3 + 1 + interface.name().len() + 4 + 4;
        assert_eq!(out.len(), HEADER_BYTES + header + head + length);
        let messages =
            decode(&mut Decoder::default(), out.freeze(), &mut Calls::default()).unwrap();
        assert!(matches!(&messages[..], [Message::Request(it)] if it.arguments == [text.clone()]));
    }
}

#[test]
fn hostile_blocks_are_typed_errors() {
    let release = b"\xf8\x02\x96\0\0\x1bcom.sun.star.uno.XInterface\x01o\0\0\x01t\0\0";
    let cases: [(&[u8], CodecError); 12] = [
        (b"\xe0\x00\x15\0\0", CodecError::TypeClass(0x15)),
        (b"\xe0\x00\x16\0\0", CodecError::CacheSlot(0)),
        (b"\xe0\x00\x16\xff\xff", CodecError::CacheSlot(0xffff)),
        (b"\xe0\x00\x96\x01\0\x01x", CodecError::CacheSlot(256)),
        (b"\x00", CodecError::NothingBefore("type")),
        (b"\x80", CodecError::NothingBefore("thread")),
        (b"\x88\x01t\0\0", CodecError::UnexpectedReply),
        (b"\x88\0\xff\xff", CodecError::EmptyThread),
        (b"\xe0\x00\x86", CodecError::TypeClass(0x86)),
        (b"\xc1\x80\x00", CodecError::Flags(0x80)),
        (b"\xe0\x00\x96\0\0\x05com", CodecError::Truncated),
        (b"\xe0\x00\x92\0\0\x01x", CodecError::TypeClass(0x12)),
    ];
    for (bytes, expected) in cases {
        let header = BlockHeader {
            size_bytes: bytes.len() as u32,
            messages: 1,
        };
        let block = Bytes::copy_from_slice(bytes);
        let error = Decoder::default().decode(header, block, &mut Calls::default());
        assert_eq!(error.unwrap_err(), expected, "{bytes:02x?}");
    }
    let header = BlockHeader {
        size_bytes: 0,
        messages: 1,
    };
    let excess = [&release[..], b"!"].concat();
    let error = Decoder::default().decode(header, excess.into(), &mut Calls::default());
    assert_eq!(error.unwrap_err(), CodecError::Excess(1));
}

#[test]
fn a_header_is_bounded() {
    let limits = Limits {
        block_bytes: 100,
        ..Limits::default()
    };
    let read = |size: u32, messages: u32| {
        let header = BlockHeader {
            size_bytes: size,
            messages,
        };
        BlockHeader::decode(header.encode(), &limits)
    };
    assert!(read(100, 1).is_ok());
    assert_eq!(read(5, 0), Err(CodecError::EmptyBlock));
    assert_eq!(read(5, 6), Err(CodecError::Truncated));
    assert!(matches!(
        read(101, 1),
        Err(CodecError::BlockTooLarge { .. })
    ));
}

#[test]
fn a_long_sequence_that_is_not_there_costs_nothing() {
    let mut block =
        b"\xf8\x05\x96\0\0\x28com.sun.star.lang.XMultiComponentFactory\x01o\0\0\x01t\0\0".to_vec();
    let mut decoder = Decoder::default();
    let header = BlockHeader {
        size_bytes: 0,
        messages: 1,
    };
    let mut calls = Calls::default();
    decoder
        .decode(header, block.clone().into(), &mut calls)
        .unwrap();
    calls.push(
        &tid("t"),
        function("lang.XMultiComponentFactory", "getAvailableServiceNames"),
    );
    block = b"\x88\x01t\xff\xff\xff\xff\xff\xff\xff\x01a".to_vec();
    let error = decoder
        .decode(header, block.into(), &mut calls)
        .unwrap_err();
    assert_eq!(error, CodecError::Truncated);
}

#[test]
fn depth_is_bounded() {
    // Deeply nested: an `any` of a named value of an `any` of a named value, and so on.
    let mut any = Any::from(1);
    let ty = Type::named(TypeClass::Struct, "com.sun.star.beans.NamedValue");
    for _ in 0..100 {
        any = Any::new(ty.clone(), Value::Struct(vec!["n".into(), any.into()]));
    }
    let mut out = BytesMut::new();
    let replace = function("container.XNameReplace", "replaceByName");
    let interface = Type::interface("com.sun.star.container.XNameReplace");
    Encoder::new(0)
        .request(
            &mut out,
            &tid("t"),
            &"o".into(),
            &interface,
            replace,
            &["n".into(), any.into()],
        )
        .unwrap();
    let error = decode(&mut Decoder::default(), out.freeze(), &mut Calls::default());
    assert_eq!(error.unwrap_err(), CodecError::TooManyValues);
}
