//! Files where LibreOffice runs, for a client that does not share a folder with it.

use std::path::Path;

use bytes::BytesMut;
use futures_core::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::{
    Client, Error, Reference,
    codec::Value,
    transfer::{PIECE_BYTES, file_url, read_piece},
};

/// Files and folders as LibreOffice sees them.
pub struct Files(Reference);

/// A file that is being read.
pub struct Reading {
    input: Reference,
    left: u64,
}

impl Client {
    /// The files where LibreOffice runs.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn files(&self) -> BoxFuture<'_, Result<Files, Error>> {
        Box::pin(async move {
            let access = self.create("com.sun.star.ucb.SimpleFileAccess").await?;
            let access = access.query("com.sun.star.ucb.XSimpleFileAccess").await?;
            Ok(Files(access))
        })
    }

    /// LibreOffice's folder for temporary files, as a URL.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn temporary_folder(&self) -> BoxFuture<'_, Result<String, Error>> {
        Box::pin(async move {
            let paths = self.create("com.sun.star.util.PathSubstitution").await?;
            let paths = paths.query("com.sun.star.util.XStringSubstitution").await?;
            let found = paths.get("getSubstituteVariableValue", vec!["$(temp)".into()]);
            match found.await? {
                Value::String(url) => Ok(url),
                _ => Err(Error::Unexpected("getSubstituteVariableValue")),
            }
        })
    }
}

impl Files {
    /// Creates a folder.
    ///
    /// # Errors
    /// LibreOffice cannot, or the connection is broken.
    pub fn create_folder<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let url = file_url(path)?;
            self.0
                .call("createFolder", vec![url.as_str().into()])
                .await
                .map(drop)
        })
    }

    /// Removes a file, or a folder with all that is in it, if it exists.
    ///
    /// # Errors
    /// LibreOffice cannot, or the connection is broken.
    pub fn remove<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let url = file_url(path)?;
            let exists = self.0.get("exists", vec![url.as_str().into()]).await?;
            match exists {
                Value::Boolean(true) => self
                    .0
                    .call("kill", vec![url.as_str().into()])
                    .await
                    .map(drop),
                _ => Ok(()),
            }
        })
    }

    /// Writes a new file.
    ///
    /// # Errors
    /// The source cannot be read, LibreOffice cannot write, or the connection is broken.
    pub fn write<'a>(
        &'a self,
        path: &'a Path,
        mut source: impl AsyncRead + Send + Unpin + 'a,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let url = file_url(path)?;
            let interface = "com.sun.star.io.XOutputStream";
            let output =
                self.0
                    .get_reference("openFileWrite", vec![url.as_str().into()], interface);
            let output = output.await?.ok_or(Error::Unexpected("openFileWrite"))?;
            let mut piece = BytesMut::new();
            loop {
                let left = (PIECE_BYTES - piece.len()) as u64;
                let read = (&mut source).take(left).read_buf(&mut piece).await;
                let is_end = read.map_err(Error::Input)? == 0;
                if piece.len() == PIECE_BYTES || (is_end && !piece.is_empty()) {
                    let piece = Value::Bytes(piece.split().freeze());
                    output.call("writeBytes", vec![piece]).await?;
                }
                if is_end {
                    break;
                }
            }
            output.call("closeOutput", vec![]).await.map(drop)
        })
    }

    /// Opens a file.
    ///
    /// # Errors
    /// LibreOffice cannot read it, or the connection is broken.
    pub fn open<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Reading, Error>> {
        Box::pin(async move {
            let url = file_url(path)?;
            let interface = "com.sun.star.io.XInputStream";
            let input = self
                .0
                .get_reference("openFileRead", vec![url.as_str().into()], interface);
            let input = input.await?.ok_or(Error::Unexpected("openFileRead"))?;
            let seekable = input.query("com.sun.star.io.XSeekable").await?;
            let left = match seekable.get("getLength", vec![]).await? {
                Value::Hyper(length) => u64::try_from(length).unwrap_or(0),
                _ => return Err(Error::Unexpected("getLength")),
            };
            Ok(Reading { input, left })
        })
    }
}

impl Reading {
    /// Bytes that are left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// LibreOffice cannot read on, or the connection is broken.
    pub fn next_piece(&mut self) -> BoxFuture<'_, Result<Option<bytes::Bytes>, Error>> {
        Box::pin(async move {
            if self.left == 0 {
                self.input.call("closeInput", vec![]).await?;
                return Ok(None);
            }
            let piece = read_piece(&self.input, self.left).await?;
            self.left = self.left.saturating_sub(piece.len() as u64);
            Ok(Some(piece))
        })
    }
}
