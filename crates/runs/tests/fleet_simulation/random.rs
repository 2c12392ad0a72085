//! Random numbers that a seed repeats.

/// Source: <https://prng.di.unimi.it/splitmix64.c>.
pub struct SplitMix(pub u64);

impl SplitMix {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// From 0 to 1, without 1.
    pub fn share(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `below`.
    pub fn below(&mut self, below: usize) -> usize {
        (self.share() * below as f64) as usize
    }

    /// A time until the next event of many that know nothing of each other.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.share()).ln()
    }
}
