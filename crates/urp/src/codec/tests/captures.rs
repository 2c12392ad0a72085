//! Recorded conversations decode to the messages that were exchanged.

use bytes::Bytes;

use super::*;

const BOOTSTRAP: &str = include_str!("../../../captures/bootstrap.txt");
const CONVERSION: &str = include_str!("../../../captures/conversion.txt");

/// Frames of a capture: whether the client sent the frame, and its bytes. Long frames were
/// shortened when they were recorded; the missing part, from inside a file, is filled with zeros.
pub(super) fn frames(capture: &str) -> Vec<(bool, Bytes)> {
    let mut frames = Vec::new();
    for line in capture.lines() {
        let (client, hex) = match (line.strip_prefix("C>S "), line.strip_prefix("S>C ")) {
            (Some(hex), _) => (true, hex),
            (_, Some(hex)) => (false, hex),
            _ => continue,
        };
        let words = hex.split(' ').take_while(|word| !word.starts_with('.'));
        let mut bytes: Vec<u8> = words
            .map(|it| u8::from_str_radix(it, 16).unwrap())
            .collect();
        let size = u32::from_be_bytes(bytes[..4].try_into().unwrap());
        bytes.resize(size as usize + HEADER_BYTES, 0);
        frames.push((client, bytes.into()));
    }
    frames
}

/// Both sides of a connection.
#[derive(Default)]
struct Line {
    client: Decoder,
    server: Decoder,
    of_client: Calls,
    of_server: Calls,
}

impl Line {
    fn hear(&mut self, client: bool, frame: Bytes) -> Vec<Message> {
        let (decoder, waiting, asked) = match client {
            true => (&mut self.client, &mut self.of_server, &mut self.of_client),
            false => (&mut self.server, &mut self.of_client, &mut self.of_server),
        };
        let messages = decode(decoder, frame, waiting).unwrap();
        for message in &messages {
            if let Message::Request(request) = message
                && request.must_reply
            {
                asked.push(&request.tid, request.function);
            }
        }
        messages
    }

    /// Called when `commitChange` has been answered.
    fn agree(&mut self) {
        self.client.expect_contexts();
        self.server.expect_contexts();
    }
}

/// A short form of a message.
fn say(client: bool, message: &Message) -> String {
    let side = if client { '>' } else { '<' };
    match message {
        Message::Request(request) => {
            let interface = request.interface.name().rsplit('.').next().unwrap();
            format!("{side} {interface}.{}", request.function.name)
        }
        Message::Reply(Reply {
            outcome: Ok(values),
            ..
        }) => match &values[..] {
            [Value::Void] => format!("{side} void"),
            [Value::Any(any), ..] => format!("{side} any {:?}", any.ty),
            [Value::Interface(Some(_)), ..] => format!("{side} object"),
            [Value::Long(value), ..] => format!("{side} {value}"),
            other => format!("{side} {other:?}"),
        },
        Message::Reply(Reply {
            outcome: Err(exception),
            ..
        }) => {
            format!("{side} exception {:?}", exception.ty)
        }
    }
}

fn hear_all(line: &mut Line, capture: &str) -> Vec<String> {
    let mut said = Vec::new();
    for (client, frame) in frames(capture) {
        for message in line.hear(client, frame) {
            said.push(say(client, &message));
            // The server's `commitChange` is its third message; the reply to it ends the
            // negotiation.
            if said.len() >= 2 && said[said.len() - 2].ends_with("commitChange") {
                line.agree();
            }
        }
    }
    said
}

#[test]
fn the_bootstrap_reads() {
    let said = hear_all(&mut Line::default(), BOOTSTRAP);
    let start = [
        "< XProtocolProperties.requestChange",
        "> XProtocolProperties.requestChange",
        "< 0",
        "> 1",
        "< XProtocolProperties.commitChange",
        "> void",
        "> XInterface.queryInterface",
        "< any com.sun.star.uno.XInterface",
        "> XInterface.queryInterface",
        "< any com.sun.star.uno.XComponentContext",
        "> XComponentContext.getServiceManager",
        "< object",
        "> XMultiComponentFactory.createInstanceWithContext",
        "< object",
    ];
    assert_eq!(said[..start.len()], start);
    let asked = said.iter().filter(|it| it.starts_with("> X")).count();
    let answered = said.iter().filter(|it| it.starts_with("< ")).count();
    assert_eq!((asked, answered), (17, 19));
    assert_eq!(said.last().unwrap(), "< any string");
}

#[test]
fn a_conversion_reads() {
    let mut line = Line::default();
    // A conversation on another connection, whose first fourteen frames were those of the
    // bootstrap.
    let start: String = BOOTSTRAP
        .lines()
        .take_while(|it| !it.starts_with("# getValue"))
        .collect::<Vec<_>>()
        .join("\n");
    hear_all(&mut line, &start);
    let said = hear_all(&mut line, CONVERSION);
    let expected = [
        "> XComponentLoader.loadComponentFromURL",
        "< XInputStream.queryInterface",
        "> any void",
        "< XInputStream.queryInterface",
        "> any void",
        "< XInputStream.readBytes",
        "> 1011",
        "< XInputStream.queryInterface",
        "> any void",
        "< XInputStream.queryInterface",
        "> any void",
        "< object",
        "> XInterface.queryInterface",
        "< XInputStream.release",
        "< any com.sun.star.frame.XStorable2",
        "> XStorable2.storeToURL",
        "< XOutputStream.writeBytes",
        "> void",
        "< XOutputStream.closeOutput",
        "> void",
        "< XOutputStream.writeBytes",
        "> void",
        "< void",
        "> XInterface.queryInterface",
        "< XOutputStream.release",
        "< any com.sun.star.util.XCloseable",
        "> XCloseable.close",
        "< void",
        "> XComponent.release",
        "> XStorable2.release",
        "> XCloseable.release",
    ];
    assert_eq!(said, expected);
}

#[test]
fn the_first_frame_is_read_whole() {
    let (_, frame) = frames(BOOTSTRAP).swap_remove(0);
    let messages = Line::default().hear(false, frame);
    let [Message::Request(request)] = &messages[..] else {
        panic!("{messages:?}");
    };
    assert_eq!(&*request.oid, PROPERTIES_OID);
    assert_eq!(&*request.tid, b".UrpProtocolPropertiesTid");
    assert_eq!(
        request.arguments,
        [Value::Long(0xa675_fd24_u32.cast_signed())]
    );
    assert!(request.must_reply);
}

#[test]
fn any_cut_of_a_capture_is_an_error() {
    for (_, frame) in frames(BOOTSTRAP).into_iter().take(40) {
        for end in 0..frame.len() {
            let mut decoder = Decoder::default();
            assert!(decode(&mut decoder, frame.slice(..end), &mut Calls::default()).is_err());
        }
    }
}
