//! A mock soffice that replays a recorded conversation and requires every byte of the client to be
//! the same.
//!
//! `UPDATE=1` records the conversation again with the installed soffice.

use std::{
    fmt::Write as _,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use platen_urp::{Bridge, Client, Error, Input, Options, Output, Transfer};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::UnixStream,
};

use crate::{
    convert::{FLAT, make, pdf},
    soffice::{Soffice, program},
};

fn folder() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("captures")
}

/// Reads a block with its header; `None` at the end of the stream.
async fn read_block(stream: &mut (impl AsyncRead + Unpin)) -> Option<Vec<u8>> {
    let mut block = vec![0; 8];
    stream.read_exact(&mut block).await.ok()?;
    let size = u32::from_be_bytes(block[..4].try_into().unwrap()) as usize;
    block.resize(8 + size, 0);
    stream.read_exact(&mut block[8..]).await.ok()?;
    Some(block)
}

type Record = Arc<Mutex<Vec<(bool, Vec<u8>)>>>;

async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    client: bool,
    record: Record,
) {
    while let Some(block) = read_block(&mut from).await {
        record.lock().unwrap().push((client, block.clone()));
        if to.write_all(&block).await.is_err() {
            return;
        }
    }
    let _ = to.shutdown().await;
}

async fn connect(stream: UnixStream) -> Client {
    let (reader, writer) = stream.into_split();
    let bridge = Bridge::start(Box::new(reader), Box::new(writer), Options::default());
    Client::over(bridge.await.unwrap()).await.unwrap()
}

/// The calls of the conversation, and the checks of their results.
async fn conversation(client: &Client, docx: &Bytes) -> Vec<usize> {
    let version = client.version().await.unwrap();
    assert!(version.contains('.'));
    let mut sizes = Vec::new();
    for transfer in [Transfer::Stream, Transfer::File] {
        let mut conversion = pdf();
        conversion.import_filter = Some("MS Word 2007 XML".to_owned());
        (conversion.input, conversion.output) = (transfer, transfer);
        let (ours, mut theirs) = tokio::io::duplex(1 << 20);
        let output = Output::Stream(Box::new(ours));
        let converted = client.convert(Input::Bytes(docx.clone()), output, &conversion);
        let converted = converted.await.unwrap();
        let mut bytes = Vec::new();
        theirs.read_to_end(&mut bytes).await.unwrap();
        assert!(bytes.starts_with(b"%PDF"));
        assert_eq!(converted.size_bytes, Some(bytes.len() as u64));
        sizes.push(bytes.len());
    }
    let cut = docx.slice(..docx.len() / 2);
    let broken = client
        .convert(Input::Bytes(cut), Output::Bytes, &pdf())
        .await;
    assert!(matches!(broken, Err(Error::Broken)), "{broken:?}");
    sizes
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_soffice() {
    if std::env::var_os("UPDATE").is_some()
        && let Some(program) = program()
    {
        record(&program).await;
    }
    let docx = Bytes::from(std::fs::read(folder().join("letter.docx")).unwrap());
    let text = std::fs::read_to_string(folder().join("client.txt")).unwrap();
    let (client, mut server) = UnixStream::pair().unwrap();
    let mock = tokio::spawn(async move {
        for (number, line) in text.lines().enumerate() {
            let (side, hex) = line.split_once(' ').unwrap();
            let bytes: Vec<u8> = hex.as_bytes().chunks(2).map(byte).collect();
            if side == "S>C" {
                server.write_all(&bytes).await.unwrap();
                continue;
            }
            let heard = read_block(&mut server).await;
            let heard = heard.unwrap_or_else(|| panic!("frame {number} did not come"));
            assert_eq!(heard, bytes, "frame {number}");
        }
    });
    let client = connect(client).await;
    let sizes = conversation(&client, &docx).await;
    assert_eq!(sizes[0], sizes[1]);
    drop(client);
    mock.await.unwrap();
}

fn byte(hex: &[u8]) -> u8 {
    u8::from_str_radix(std::str::from_utf8(hex).unwrap(), 16).unwrap()
}

async fn record(program: &std::path::Path) {
    let soffice = Soffice::start(program).await;
    let docx = make(&soffice.client().await, FLAT, "MS Word 2007 XML").await;
    let record = Record::default();
    let (client, middle) = UnixStream::pair().unwrap();
    let (from_client, to_client) = middle.into_split();
    let server = UnixStream::connect(&soffice.pipe).await.unwrap();
    let (from_server, to_server) = server.into_split();
    tokio::spawn(pass(from_client, to_server, true, record.clone()));
    tokio::spawn(pass(from_server, to_client, false, record.clone()));
    let client = connect(client).await;
    conversation(&client, &docx).await;
    let mut text = String::new();
    for (client, block) in record.lock().unwrap().iter() {
        text.push_str(if *client { "C>S " } else { "S>C " });
        for byte in block {
            write!(text, "{byte:02x}").unwrap();
        }
        text.push('\n');
    }
    std::fs::write(folder().join("letter.docx"), &docx).unwrap();
    std::fs::write(folder().join("client.txt"), text).unwrap();
}
