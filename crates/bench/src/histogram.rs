//! Times in an HDR histogram with three significant digits, from a microsecond to ten minutes.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

const LONGEST_US: u64 = 600_000_000;
/// Shares of requests for which plots have a point.
const SHARES: [f64; 14] = [
    0.0, 0.1, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999, 1.0,
];

/// Statistics of a number of times, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Times {
    /// Minimum.
    pub min: f64,
    /// Median.
    pub p50: f64,
    /// 75th percentile.
    pub p75: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Maximum.
    pub max: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
    /// Pairs of a share of the requests and their maximum time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<(f64, f64)>,
}

impl Times {
    /// Computes the statistics of times in microseconds; `None` if there are none.
    #[must_use]
    pub fn of(micros: impl IntoIterator<Item = u64>) -> Option<Self> {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, LONGEST_US, 3).ok()?;
        for micros in micros {
            histogram.saturating_record(micros.clamp(1, LONGEST_US));
        }
        if histogram.is_empty() {
            return None;
        }
        let at = |share: f64| ms(histogram.value_at_quantile(share) as f64);
        Some(Self {
            min: ms(histogram.min() as f64),
            p50: at(0.5),
            p75: at(0.75),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            max: ms(histogram.max() as f64),
            mean: ms(histogram.mean()),
            deviation: ms(histogram.stdev()),
            shares: SHARES.iter().map(|share| (*share, at(*share))).collect(),
        })
    }
}

/// Converts to milliseconds with three decimals, as they are stored.
fn ms(micros: f64) -> f64 {
    micros.round() / 1e3
}

/// The median; of an even number of values, the mean of the middle two.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 0 => Some(f64::midpoint(values[middle - 1], values[middle])),
        _ => Some(values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_known_times() {
        let times = Times::of((1..=1000).map(|n| n * 1000)).unwrap();
        // Three significant digits: within a thousandth.
        for (found, wanted) in [
            (times.p50, 500.0),
            (times.p95, 950.0),
            (times.p99, 990.0),
            (times.max, 1000.0),
        ] {
            assert!((found - wanted).abs() / wanted < 0.002, "{found} {wanted}");
        }
        assert!((times.mean - 500.5).abs() < 1.0);
        assert!(times.shares.windows(2).all(|pair| pair[0].1 <= pair[1].1));
    }

    #[test]
    fn nothing_has_no_times_and_the_endless_is_cut() {
        assert_eq!(Times::of([]), None);
        let times = Times::of([u64::MAX]).unwrap();
        assert!(times.max >= 600_000.0 && times.max < 601_000.0);
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
    }
}
