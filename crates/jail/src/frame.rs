//! Messages between a cell and its owner: a length of four bytes, little-endian, and the content.

use std::{
    io::{self, Read, Write},
    mem::ManuallyDrop,
    os::unix::net::UnixStream,
};

/// A bounded connection.
#[derive(Debug)]
pub struct Channel {
    /// Checked builds of the standard library make a call to close it that a cell may not make,
    /// so a cell leaves that to its end.
    stream: ManuallyDrop<UnixStream>,
    closes: bool,
    /// The longest message.
    limit_bytes: u32,
}

impl Channel {
    pub(crate) fn new(stream: UnixStream, limit_bytes: u32) -> Self {
        Self {
            stream: ManuallyDrop::new(stream),
            closes: true,
            limit_bytes,
        }
    }

    /// Leaves closing to the end of the process.
    pub(crate) fn keep_open(mut self) -> Self {
        self.closes = false;
        self
    }

    pub(crate) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    pub(crate) fn set_limit(&mut self, limit_bytes: u32) {
        self.limit_bytes = limit_bytes;
    }

    /// Sends a message.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] where it is too long; others where the other side is gone.
    pub fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let length = u32::try_from(message.len())
            .ok()
            .filter(|length| *length <= self.limit_bytes)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a message is too long"))?;
        let head = length.to_le_bytes();
        if message.len() <= 4096 {
            let mut whole = [0; 4100];
            whole[..4].copy_from_slice(&head);
            whole[4..4 + message.len()].copy_from_slice(message);
            return self.stream.write_all(&whole[..4 + message.len()]);
        }
        self.stream.write_all(&head)?;
        self.stream.write_all(message)
    }

    /// Waits for a message; `None` where the other side has ended.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] for one that is too long, whose content is not read;
    /// [`io::ErrorKind::UnexpectedEof`] for one that ends early.
    pub fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut head = [0; 4];
        let mut read = 0;
        while read < head.len() {
            match self.stream.read(&mut head[read..]) {
                Ok(0) if read == 0 => return Ok(None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => read += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A killed cell leaves the connection so.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        let length = u32::from_le_bytes(head);
        if length > self.limit_bytes {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a message is too long",
            ));
        }
        let mut message = vec![0; length as usize];
        self.stream.read_exact(&mut message)?;
        Ok(Some(message))
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        if self.closes {
            // SAFETY: the stream is not used again.
            unsafe { ManuallyDrop::drop(&mut self.stream) }
        }
    }
}
