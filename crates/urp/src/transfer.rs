//! Transfers a document to LibreOffice and back.
//!
//! By default a whole file is sent as one byte sequence into a stream on LibreOffice's side, and
//! read back from a temporary file there: a few calls for any document. Streaming costs a call per
//! piece but keeps nothing in memory.

use std::path::{Path, PathBuf};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::{
    Client, Error, Reference,
    bridge::Export,
    codec::Value,
    property::Property,
    stream::{InputStream, OutputStream, ReadSeek},
};

/// Source of a document.
pub enum Input {
    /// An absolute path. With [`Transfer::File`] LibreOffice opens the file itself.
    Path(PathBuf),
    /// The content.
    Bytes(Bytes),
    /// A stream that can be read once.
    Stream(Box<dyn AsyncRead + Send + Unpin>),
    /// A stream that can seek.
    Seekable(Box<dyn ReadSeek>),
}

/// Destination of a result.
pub enum Output {
    /// An absolute path. With [`Transfer::File`] LibreOffice writes the file itself.
    Path(PathBuf),
    /// Memory.
    Bytes,
    /// A writer.
    Stream(Box<dyn AsyncWrite + Send + Unpin>),
}

/// How bytes are transferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfer {
    /// As a whole, or by LibreOffice opening the file.
    #[default]
    File,
    /// In pieces, on LibreOffice's demand.
    Stream,
}

/// Inputs larger than this are sent in pieces, to a temporary file on LibreOffice's side. In bytes.
const SEQUENCE_BYTES: usize = 32 * 1024 * 1024;

/// Size of a piece, in bytes.
pub(crate) const PIECE_BYTES: usize = 4 * 1024 * 1024;

/// Import filters that work, and are fastest, with a stream that cannot seek. The others need one
/// that can: without it, some produce an empty page and no error.
const WITHOUT_SEEK: [&str; 11] = [
    "MS Word 2007 XML",
    "MS Word 97",
    "MS Excel 97",
    "writer8",
    "calc8",
    "impress8",
    "HTML (StarWriter)",
    "HTML",
    "Text",
    "Text (encoded)",
    "Text - txt - csv (StarCalc)",
];

/// Later versions end when they read some kinds of documents by calls, so all are sent as a whole.
const LAST_VERSION_BY_CALLS: u32 = 7;

/// Whether LibreOffice can read any input by calls.
async fn reads_by_calls(client: &Client) -> Result<bool, Error> {
    let version = client.version().await?;
    let major = version.split('.').next().and_then(|it| it.parse().ok());
    Ok(major.is_some_and(|major: u32| major <= LAST_VERSION_BY_CALLS))
}

/// An input in the form in which LibreOffice loads it.
pub(crate) struct Source {
    pub(crate) url: String,
    pub(crate) property: Option<Property>,
    /// The stream that LibreOffice reads; it must live as long as the document.
    pub(crate) stream: Option<std::sync::Arc<InputStream>>,
    /// Objects that must exist until the document is closed.
    _held: (Option<Export>, Option<Reference>),
}

/// An output in the form in which LibreOffice stores to it.
pub(crate) struct Sink {
    pub(crate) url: String,
    pub(crate) property: Option<Property>,
    taker: Taker,
}

enum Taker {
    Nobody,
    Ours(std::sync::Arc<OutputStream>, #[expect(dead_code)] Export),
    Theirs(Reference, Box<Output>),
}

const STREAM_URL: &str = "private:stream";

/// The URL of an absolute path.
pub(crate) fn file_url(path: &Path) -> Result<String, Error> {
    use std::{fmt::Write, os::unix::ffi::OsStrExt};
    if !path.is_absolute() {
        return Err(Error::Path(path.to_owned()));
    }
    let mut url = String::from("file://");
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                url.push(char::from(byte));
            }
            // Writing to a string cannot fail.
            _ => drop(write!(url, "%{byte:02X}")),
        }
    }
    Ok(url)
}

impl Source {
    fn of(stream: Reference) -> Self {
        let any = stream.any();
        Self {
            url: STREAM_URL.to_owned(),
            property: Some(Property::new("InputStream", any)),
            stream: None,
            _held: (None, Some(stream)),
        }
    }

    /// Prepares the input for loading.
    pub(crate) async fn put(
        client: &Client,
        input: Input,
        transfer: Transfer,
        filter: Option<&str>,
    ) -> Result<Self, Error> {
        let without_seek = filter.is_some_and(|filter| WITHOUT_SEEK.contains(&filter));
        let wants_whole = transfer == Transfer::Stream && !reads_by_calls(client).await?;
        match (input, transfer) {
            (Input::Path(path), Transfer::File) => Ok(Self {
                url: file_url(&path)?,
                property: None,
                stream: None,
                _held: (None, None),
            }),
            (Input::Path(path), Transfer::Stream) => {
                let file = tokio::fs::File::open(&path).await;
                let file = file.map_err(|error| missing(&path, &error))?;
                if wants_whole {
                    return put_stream(client, file).await;
                }
                let stream = InputStream::anywhere(Box::new(file), !without_seek);
                Self::ours(client, stream)
            }
            (Input::Bytes(bytes), Transfer::Stream) if !wants_whole => {
                let bytes = std::io::Cursor::new(bytes);
                let stream = InputStream::anywhere(Box::new(bytes), !without_seek);
                Self::ours(client, stream)
            }
            (Input::Seekable(source), Transfer::Stream) if !wants_whole => {
                Self::ours(client, InputStream::anywhere(source, !without_seek))
            }
            (Input::Stream(source), Transfer::Stream) if without_seek && !wants_whole => {
                Self::ours(client, InputStream::once(source))
            }
            (Input::Bytes(bytes), _) => put_bytes(client, bytes).await,
            (Input::Stream(source), _) => put_stream(client, source).await,
            (Input::Seekable(source), _) => put_stream(client, source).await,
        }
    }

    fn ours(client: &Client, stream: std::sync::Arc<InputStream>) -> Result<Self, Error> {
        let export = client.bridge.export(stream.clone())?;
        Ok(Self {
            url: STREAM_URL.to_owned(),
            property: Some(Property::new("InputStream", export.any())),
            stream: Some(stream),
            _held: (Some(export), None),
        })
    }
}

fn missing(path: &Path, error: &std::io::Error) -> Error {
    Error::Missing(format!("{}: {error}", path.display()))
}

async fn put_bytes(client: &Client, bytes: Bytes) -> Result<Source, Error> {
    if bytes.len() > SEQUENCE_BYTES {
        return put_stream(client, std::io::Cursor::new(bytes)).await;
    }
    let service = "com.sun.star.io.SequenceInputStream";
    let argument = crate::codec::Any::from(bytes).into();
    let stream = client.create_with(service, vec![argument]).await?;
    let stream = stream.query("com.sun.star.io.XInputStream").await?;
    Ok(Source::of(stream))
}

/// Sends a stream of unknown length: as a sequence if it is short, otherwise to a temporary file.
async fn put_stream(
    client: &Client,
    mut source: impl AsyncRead + Send + Unpin,
) -> Result<Source, Error> {
    let mut bytes = BytesMut::new();
    while bytes.len() < SEQUENCE_BYTES {
        let left = (SEQUENCE_BYTES - bytes.len()) as u64;
        let read = (&mut source).take(left).read_buf(&mut bytes).await;
        if read.map_err(Error::Input)? == 0 {
            return Box::pin(put_bytes(client, bytes.freeze())).await;
        }
    }
    let file = client.create("com.sun.star.io.TempFile").await?;
    let output = file.query("com.sun.star.io.XOutputStream").await?;
    loop {
        let piece = bytes.split().freeze();
        output.call("writeBytes", vec![Value::Bytes(piece)]).await?;
        bytes.reserve(PIECE_BYTES);
        let read = (&mut source)
            .take(PIECE_BYTES as u64)
            .read_buf(&mut bytes)
            .await;
        if read.map_err(Error::Input)? == 0 {
            break;
        }
    }
    output.call("flush", vec![]).await?;
    let seekable = file.query("com.sun.star.io.XSeekable").await?;
    seekable.call("seek", vec![Value::Hyper(0)]).await?;
    let stream = file.query("com.sun.star.io.XInputStream").await?;
    Ok(Source::of(stream))
}

impl Sink {
    /// Prepares the output for storing.
    pub(crate) async fn make(
        client: &Client,
        output: Output,
        transfer: Transfer,
    ) -> Result<Self, Error> {
        match (output, transfer) {
            (Output::Path(path), Transfer::File) => Ok(Self {
                url: file_url(&path)?,
                property: None,
                taker: Taker::Nobody,
            }),
            (Output::Stream(sink), Transfer::Stream) => Self::ours(client, sink),
            (Output::Path(path), Transfer::Stream) => {
                let file = tokio::fs::File::create(&path).await;
                Self::ours(client, Box::new(file.map_err(Error::Output)?))
            }
            (output, _) => {
                let file = client.create("com.sun.star.io.TempFile").await?;
                let stream = file.query("com.sun.star.io.XOutputStream").await?;
                Ok(Self {
                    url: STREAM_URL.to_owned(),
                    property: Some(Property::new("OutputStream", stream.any())),
                    taker: Taker::Theirs(file, Box::new(output)),
                })
            }
        }
    }

    fn ours(client: &Client, sink: Box<dyn AsyncWrite + Send + Unpin>) -> Result<Self, Error> {
        let stream = OutputStream::new(sink);
        let export = client.bridge.export(stream.clone())?;
        Ok(Self {
            url: STREAM_URL.to_owned(),
            property: Some(Property::new("OutputStream", export.any())),
            taker: Taker::Ours(stream, export),
        })
    }

    /// Why the output could not be written, if so.
    pub(crate) fn failure(&self) -> Option<Error> {
        match &self.taker {
            Taker::Ours(stream, _) => stream.failure().map(Error::Output),
            _ => None,
        }
    }

    /// Delivers the output. Returns the bytes if they were requested in memory, and their number if
    /// known.
    pub(crate) async fn get(self) -> Result<(Option<Bytes>, Option<u64>), Error> {
        match self.taker {
            Taker::Nobody => Ok((None, None)),
            Taker::Ours(stream, _) => {
                stream.finish().await.map_err(Error::Output)?;
                Ok((None, Some(stream.written())))
            }
            Taker::Theirs(file, output) => {
                let seekable = file.query("com.sun.star.io.XSeekable").await?;
                let length = match seekable.get("getLength", vec![]).await? {
                    Value::Hyper(length) => u64::try_from(length).unwrap_or(0),
                    _ => return Err(Error::Unexpected("getLength")),
                };
                seekable.call("seek", vec![Value::Hyper(0)]).await?;
                let input = file.query("com.sun.star.io.XInputStream").await?;
                let bytes = read_all(&input, length, *output).await?;
                Ok((bytes, Some(length)))
            }
        }
    }
}

async fn read_all(input: &Reference, length: u64, output: Output) -> Result<Option<Bytes>, Error> {
    let mut sink = match output {
        Output::Bytes => return read_bytes(input, length).await.map(Some),
        Output::Stream(sink) => sink,
        Output::Path(path) => {
            let file = tokio::fs::File::create(&path).await;
            Box::new(file.map_err(Error::Output)?)
        }
    };
    let mut left = length;
    while left > 0 {
        let piece = read_piece(input, left).await?;
        left = left.saturating_sub(piece.len() as u64);
        sink.write_all(&piece).await.map_err(Error::Output)?;
    }
    sink.flush().await.map_err(Error::Output)?;
    Ok(None)
}

async fn read_bytes(input: &Reference, length: u64) -> Result<Bytes, Error> {
    let first = read_piece(input, length).await?;
    if first.len() as u64 == length {
        return Ok(first);
    }
    let mut bytes = BytesMut::from(&first[..]);
    while (bytes.len() as u64) < length {
        let piece = read_piece(input, length - bytes.len() as u64).await?;
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes.freeze())
}

pub(crate) async fn read_piece(input: &Reference, left: u64) -> Result<Bytes, Error> {
    if left == 0 {
        return Ok(Bytes::new());
    }
    let wanted = left.min(PIECE_BYTES as u64);
    let wanted = Value::Long(i32::try_from(wanted).unwrap_or(i32::MAX));
    let values = input.call("readBytes", vec![wanted]).await?;
    match values.into_iter().nth(1) {
        Some(Value::Bytes(bytes)) if !bytes.is_empty() => Ok(bytes),
        _ => Err(Error::Unexpected("readBytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_urls() {
        let url = file_url(Path::new("/a b/ü#%.docx")).unwrap();
        assert_eq!(url, "file:///a%20b/%C3%BC%23%25.docx");
        assert!(file_url(Path::new("a.docx")).is_err());
    }
}
