//! Which queue the writes of a run, or of a document, go through: always the same, so that they
//! happen in the order of their calls.

/// From 0 to 255; stored with each run. FNV-1a, folded. Source:
/// <https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>.
pub(super) fn shard_of(id: &str) -> i16 {
    let hash = id.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    i16::from((hash ^ (hash >> 8) ^ (hash >> 16) ^ (hash >> 24)) as u8)
}
