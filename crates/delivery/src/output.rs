//! Output buffer: bytes of heads and chunk sizes, then shared segments, written with one `writev`.

use std::{collections::VecDeque, io::IoSlice};

use bytes::{Buf, Bytes, BytesMut};

/// Maximum number of slices of one write (`IOV_MAX`).
const MAX_SLICES: usize = 1_024;
/// Number of slices kept on the stack.
const FEW_SLICES: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Output {
    /// Written first.
    pub(crate) head: BytesMut,
    segments: VecDeque<Bytes>,
    segments_bytes: usize,
}

impl Output {
    pub(crate) fn push(&mut self, segment: Bytes) {
        if !segment.is_empty() {
            self.segments_bytes += segment.len();
            self.segments.push_back(segment);
        }
    }

    pub(crate) fn extend(&mut self, segments: VecDeque<Bytes>) {
        if self.segments.is_empty() {
            self.segments_bytes = segments.iter().map(Bytes::len).sum();
            self.segments = segments;
        } else {
            segments.into_iter().for_each(|segment| self.push(segment));
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.head.len() + self.segments_bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `write` with the next slices and removes the number of bytes that it reports as
    /// written.
    pub(crate) fn write<E>(
        &mut self,
        write: impl FnOnce(&[IoSlice<'_>]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        let heads = usize::from(!self.head.is_empty());
        let slices = (heads + self.segments.len()).min(MAX_SLICES);
        let written = if slices <= FEW_SLICES {
            let mut few = [IoSlice::new(&[]); FEW_SLICES];
            for (slice, bytes) in few.iter_mut().zip(self.slices()) {
                *slice = IoSlice::new(bytes);
            }
            write(&few[..slices])?
        } else {
            let many: Vec<_> = self.slices().take(slices).map(IoSlice::new).collect();
            write(&many)?
        };
        self.advance(written);
        Ok(written)
    }

    fn slices(&self) -> impl Iterator<Item = &[u8]> {
        let head = Some(&self.head[..]).filter(|head| !head.is_empty());
        head.into_iter()
            .chain(self.segments.iter().map(|segment| &segment[..]))
    }

    fn advance(&mut self, mut written: usize) {
        let from_head = written.min(self.head.len());
        if from_head == self.head.len() {
            self.head.clear();
        } else {
            self.head.advance(from_head);
        }
        written -= from_head;
        self.segments_bytes -= written;
        while written > 0 {
            let Some(first) = self.segments.front_mut() else {
                return;
            };
            if first.len() > written {
                first.advance(written);
                return;
            }
            written -= first.len();
            self.segments.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_writes_lose_nothing() {
        for step in [1, 2, 3, 7, 1_000] {
            let mut output = Output::default();
            output.head.extend_from_slice(b"head");
            let parts = (0..2_000).map(|part| Bytes::from(format!("{part},")));
            output.extend(parts.clone().collect());
            output.push(Bytes::from_static(b"end"));
            let mut sink = Vec::new();
            while !output.is_empty() {
                let written = output.write(|slices| {
                    assert!(slices.len() <= MAX_SLICES);
                    let joined: Vec<u8> = slices.iter().flat_map(|slice| slice.to_vec()).collect();
                    let taken = &joined[..joined.len().min(step * 10)];
                    sink.extend_from_slice(taken);
                    Ok::<_, ()>(taken.len())
                });
                assert!(written.unwrap() > 0);
            }
            let expected = [
                b"head".to_vec(),
                parts.collect::<Vec<_>>().concat(),
                b"end".to_vec(),
            ];
            assert_eq!(sink, expected.concat());
        }
    }
}
