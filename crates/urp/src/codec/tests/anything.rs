//! Values survive encoding and decoding; arbitrary bytes give an error or messages, never a panic.

use bytes::BytesMut;
use proptest::prelude::*;

use super::{captures::frames, *};

fn ty(name: &str) -> Type {
    registry().type_named(name).unwrap()
}

/// An `any` of every type class.
fn any_any() -> impl Strategy<Value = Any> {
    let leaf = prop_oneof![
        Just(Any::void()),
        any::<bool>().prop_map(Any::from),
        any::<i16>().prop_map(Any::from),
        any::<i32>().prop_map(Any::from),
        any::<u16>().prop_map(|it| Any::new(ty("char"), Value::Char(it))),
        any::<u8>().prop_map(|it| Any::new(ty("byte"), Value::Byte(it))),
        any::<u16>().prop_map(|it| Any::new(ty("unsigned short"), Value::UnsignedShort(it))),
        any::<u32>().prop_map(|it| Any::new(ty("unsigned long"), Value::UnsignedLong(it))),
        any::<i64>().prop_map(|it| Any::new(ty("hyper"), Value::Hyper(it))),
        any::<u64>().prop_map(|it| Any::new(ty("unsigned hyper"), Value::UnsignedHyper(it))),
        (-1e30f32..1e30).prop_map(|it| Any::new(ty("float"), Value::Float(it))),
        (-1e300f64..1e300).prop_map(Any::from),
        ".{0,300}".prop_map(Any::from),
        "[a-z]{0,4}".prop_map(Any::from),
        prop::collection::vec(any::<u8>(), 0..600).prop_map(|it| Any::from(Bytes::from(it))),
        (0..400u32)
            .prop_map(|it| Any::new(ty("type"), Value::Type(Type::interface(format!("x.X{it}"))))),
        (0..400u32).prop_map(|it| Any::interface(&format!("x.X{it}"), format!("o{it}").into())),
        any::<i32>().prop_map(|it| Any::new(Type::named(TypeClass::Enum, "x.E"), Value::Enum(it))),
        Just(Any::new(Type::interface("x.X"), Value::Interface(None))),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let anys = prop::collection::vec(inner.clone(), 0..6);
        let named = ("[a-z]{0,9}", inner.clone());
        prop_oneof![
            anys.prop_map(|it| {
                let values = it.into_iter().map(Value::from).collect();
                Any::new(ty("[]any"), Value::Sequence(values))
            }),
            named.clone().prop_map(|(name, any)| {
                let members = vec![Value::String(name), any.into()];
                Any::new(ty("com.sun.star.beans.NamedValue"), Value::Struct(members))
            }),
            (named, any::<i32>()).prop_map(|((name, any), number)| {
                let number = Value::Long(number);
                let members = vec![Value::String(name), number, any.into(), Value::Enum(1)];
                let members = vec![Value::Struct(members)];
                Any::new(
                    ty("[]com.sun.star.beans.PropertyValue"),
                    Value::Sequence(members),
                )
            }),
            prop::collection::vec(prop::collection::vec(any::<bool>(), 0..4), 0..3).prop_map(
                |it| {
                    let row = |row: Vec<bool>| {
                        Value::Sequence(row.into_iter().map(Value::Boolean).collect())
                    };
                    Any::new(
                        ty("[][]boolean"),
                        Value::Sequence(it.into_iter().map(row).collect()),
                    )
                }
            ),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn conversations_come_back(
        slots in prop_oneof![Just(0), Just(1), Just(2), Just(7), Just(256)],
        calls in prop::collection::vec((0..400u32, 0..5u8, "[a-z]{1,3}", any_any(), any_any(), any::<bool>()), 1..40),
        contexts in any::<bool>(),
    ) {
        let mut client = Encoder::new(slots);
        let mut server = Encoder::new(slots);
        let (mut hear_client, mut hear_server) = (Decoder::default(), Decoder::default());
        if contexts {
            client.send_contexts();
            hear_client.expect_contexts();
        }
        let interface = ty("com.sun.star.container.XNameReplace");
        let replace = registry().function_named(interface.name(), "replaceByName").unwrap();
        let get = registry().function_named(interface.name(), "getByName").unwrap();
        let mut pending = Calls::default();
        for (oid, tid, name, argument, answer, fails) in calls {
            let oid: Oid = format!("object-{oid}").into();
            let tid: Tid = vec![tid + 1].into();
            for (function, arguments) in [
                (replace, vec![Value::String(name.clone()), argument.clone().into()]),
                (get, vec![Value::String(name.clone())]),
            ] {
                let mut out = BytesMut::new();
                client.request(&mut out, &tid, &oid, &interface, function, &arguments).unwrap();
                let messages = decode(&mut hear_client, out.freeze(), &mut Calls::default()).unwrap();
                let [Message::Request(request)] = &messages[..] else { panic!() };
                prop_assert_eq!((&request.oid, &request.tid, &request.arguments), (&oid, &tid, &arguments));
                pending.push(&tid, function);
                let outcome = if fails {
                    let members = vec![name.as_str().into(), Value::Interface(None)];
                    Err(Any::new(ty("com.sun.star.io.IOException"), Value::Struct(members)))
                } else if function.id == get.id {
                    Ok(vec![answer.clone().into()])
                } else {
                    Ok(vec![Value::Void])
                };
                let mut out = BytesMut::new();
                server.reply(&mut out, &tid, function, &outcome).unwrap();
                let messages = decode(&mut hear_server, out.freeze(), &mut pending).unwrap();
                let [Message::Reply(reply)] = &messages[..] else { panic!() };
                prop_assert_eq!(&reply.outcome, &outcome);
            }
        }
    }

    #[test]
    fn any_bytes_are_survived(
        blocks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 1..6),
        messages in 1..4u32,
    ) {
        let mut decoder = Decoder::default();
        for block in blocks {
            let header = BlockHeader { size_bytes: 0, messages };
            if decoder.decode(header, block.into(), &mut Calls::default()).is_err() {
                break;
            }
        }
    }

    #[test]
    fn changed_captures_are_survived(
        frame in 0..34usize, at in 0..600usize, byte in any::<u8>(), cut in any::<Option<u16>>(),
    ) {
        let frames = frames(include_str!("../../../captures/bootstrap.txt"));
        let mut decoder = Decoder::default();
        let mut calls = Calls::default();
        let get = registry().function_named("com.sun.star.uno.XInterface", "queryInterface").unwrap();
        for tid in [&b"plt-tid-0001"[..], b".UrpProtocolPropertiesTid"] {
            (0..40).for_each(|_| calls.push(&tid.into(), get));
        }
        for (index, (_, bytes)) in frames.into_iter().enumerate() {
            let mut bytes = bytes.to_vec();
            if index == frame {
                let at = at % bytes.len();
                bytes[at] = byte;
                bytes.truncate(cut.map_or(bytes.len(), usize::from));
            }
            let _ = decode(&mut decoder, bytes.into(), &mut calls);
        }
    }
}
