//! Messages between a cell and its owner: a length of four bytes, little-endian, and the content.

use std::{
    io::{self, Read, Write},
    mem::ManuallyDrop,
    os::unix::net::UnixStream,
};

/// A connection with a limit on the length of messages.
#[derive(Debug)]
pub struct Channel {
    /// With debug assertions, the standard library makes a system call before closing a descriptor
    /// that cells may not make; so a cell leaves closing to its end.
    stream: ManuallyDrop<UnixStream>,
    closes: bool,
    /// Maximum length of a message, in bytes.
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
    /// [`io::ErrorKind::InvalidInput`] if the message is too long; other kinds if the other side
    /// has exited.
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

    /// Waits for a message; `None` if the other side has exited.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] if the message is too long, in which case its content is not
    /// read; [`io::ErrorKind::UnexpectedEof`] if it is incomplete.
    pub fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut head = [0; 4];
        let mut read = 0;
        while read < head.len() {
            match self.stream.read(&mut head[read..]) {
                Ok(0) if read == 0 => return Ok(None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => read += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // How the connection of a killed cell ends.
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
