//! Reproducible randomness: the same seed gives the same numbers on every machine and in every version.

/// A stream of numbers (SplitMix64). Not for secrets.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of one thing in one simulation, independent of how much randomness other things use.
    pub fn keyed(seed: u64, key: &str) -> Self {
        // FNV-1a over the key, so that equal seeds with different keys are unrelated streams.
        let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mut random = Self { state: seed ^ hash };
        random.next_u64();
        random
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 (included) to 1 (excluded).
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit exactly")]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A normally distributed number (Box–Muller).
    pub fn normal(&mut self, mean: f64, sigma: f64) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        mean + sigma * radius * libm::cos(core::f64::consts::TAU * self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_reproducible_and_unrelated() {
        let first = |seed, key| Random::keyed(seed, key).next_u64();
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
    }

    /// Catches a wrong scale or shift: mean and scatter of many draws are what was asked for.
    #[test]
    fn normal_numbers_have_their_mean_and_scatter() {
        let mut random = Random::keyed(7, "normal");
        let draws: Vec<f64> = (0..50_000).map(|_| random.normal(10.0, 3.0)).collect();
        let mean = draws.iter().sum::<f64>() / 50_000.0;
        let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / 50_000.0;
        assert!((mean - 10.0).abs() < 0.06, "{mean}");
        assert!((variance.sqrt() - 3.0).abs() < 0.05, "{}", variance.sqrt());
    }
}
