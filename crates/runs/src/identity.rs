//! Names and tokens of runs.

/// Digits and letters without look-alikes. Source: <https://www.crockford.com/base32.html>.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A name that sorts by time: 48 bits of milliseconds, 80 of randomness.
/// Source: <https://github.com/ulid/spec>.
pub(crate) fn name(now_ms: u64) -> String {
    let mut random = [0; 10];
    fill(&mut random);
    let low = random
        .iter()
        .fold(0_u128, |value, byte| value << 8 | u128::from(*byte));
    let value = u128::from(now_ms & 0xffff_ffff_ffff) << 80 | low;
    encode(value, 26)
}

/// 125 bits of randomness.
pub(crate) fn token() -> String {
    let mut random = [0; 16];
    fill(&mut random);
    encode(u128::from_le_bytes(random), 25)
}

fn encode(value: u128, letters: u32) -> String {
    let letter = |place: u32| ALPHABET[(value >> (5 * place) & 31) as usize];
    (0..letters)
        .rev()
        .map(|place| char::from(letter(place)))
        .collect()
}

fn fill(bytes: &mut [u8]) {
    // Without randomness names would collide and tokens could be guessed.
    getrandom::fill(bytes).expect("the system provides random bytes");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_time_and_differ() {
        let (early, late) = (name(1_700_000_000_000), name(1_700_000_000_001));
        assert!(early < late && early.len() == 26, "{early} {late}");
        assert_ne!(name(5), name(5));
        assert_ne!(token(), token());
    }
}
