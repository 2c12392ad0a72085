//! Deflated data (7.4.4).

use std::io::{Read, Write};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};

/// The data of a zlib stream; `None` if it is damaged, or larger than `most` bytes.
pub(crate) fn inflate(bytes: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    let mut reader = ZlibDecoder::new(bytes).take(most as u64 + 1);
    reader.read_to_end(&mut data).ok()?;
    (data.len() <= most).then_some(data)
}

/// How much is compressed between two calls of a checkpoint, in bytes.
const PART: usize = 1 << 20;

/// Compresses `data`; `level` goes from 1, the fastest, to 9. `checkpoint` is called before each
/// mebibyte.
pub(crate) fn deflate(
    data: &[u8],
    level: u32,
    checkpoint: &dyn Fn(),
) -> Result<Vec<u8>, std::io::Error> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(level));
    for part in data.chunks(PART) {
        checkpoint();
        encoder.write_all(part)?;
    }
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_damaged_or_too_large_is_not_inflated() {
        let packed = deflate(&[7; 1_000], 9, &|| {}).expect("data");
        assert_eq!(inflate(&packed, 1_000), Some(vec![7; 1_000]));
        assert_eq!(inflate(&packed, 999), None);
        assert_eq!(inflate(&packed[..packed.len() - 6], 1_000), None);
    }
}
