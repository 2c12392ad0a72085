//! The 95 % confidence interval of a median by order statistics, which assumes nothing about the
//! distribution of the values: of n values, the median of what they are drawn from lies between the
//! d-th smallest and the d-th largest, unless fewer than d of n fair coins show heads (H. A. David
//! and H. N. Nagaraja, Order Statistics, section 7.1).

use serde::{Deserialize, Serialize};

use crate::histogram::median;

/// A cell has enough values when both limits are nearer to the median than this share of it.
pub const NARROW: f64 = 0.05;
/// How often the median may lie outside, on each side.
const TAIL: f64 = 0.025;
/// Up to this many values the binomial distribution is summed; above, the normal one is as exact.
const MAX_SUMMED: usize = 1_000;

/// What the values of an interval are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Basis {
    /// The times of all requests, in milliseconds.
    Requests,
    /// The median times of interleaved rounds, in milliseconds.
    RoundTimes,
    /// The rates of interleaved rounds, per second.
    RoundRates,
}

/// The interval of a median.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Interval {
    /// What the values are.
    pub basis: Basis,
    /// Number of values.
    pub count: u64,
    /// The median of the values, in their unit.
    pub median: f64,
    /// The limits, in the unit of the values; absent if there are too few values for 95 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<(f64, f64)>,
}

impl Interval {
    /// The interval of some values; `None` if there are none.
    #[must_use]
    pub fn of(basis: Basis, values: &[f64]) -> Option<Self> {
        let median = median(values)?;
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        let limits = rank(values.len()).and_then(|rank| {
            let low = values.get(rank - 1)?;
            Some((*low, *values.get(values.len() - rank)?))
        });
        Some(Self {
            basis,
            count: values.len() as u64,
            median,
            limits,
        })
    }

    /// The distance of the farther limit, as a share of the median.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        let (low, high) = self.limits?;
        let farther = (self.median - low).max(high - self.median);
        (self.median > 0.0).then(|| farther / self.median)
    }

    /// Whether the cell had enough values; otherwise it ended at a bound.
    #[must_use]
    pub fn is_narrow(&self) -> bool {
        self.half_width().is_some_and(|width| width < NARROW)
    }

    /// Whether two intervals of the same kind of value have no value in common; `None` if one has
    /// no limits.
    #[must_use]
    pub fn differs_from(&self, other: &Self) -> Option<bool> {
        let (one, two) = (self.limits?, other.limits?);
        (self.basis == other.basis).then_some(one.1 < two.0 || two.1 < one.0)
    }
}

/// Number of values and distance of the limits: `500, ±1.2 %`.
impl std::fmt::Display for Interval {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = match (self.basis, self.count) {
            (Basis::Requests, _) => "",
            (_, 1) => " round",
            _ => " rounds",
        };
        write!(formatter, "{}{unit}", self.count)?;
        match self.half_width() {
            Some(width) => write!(formatter, ", ±{:.1} %", width * 100.0)?,
            None => write!(formatter, ", too few")?,
        }
        match self.is_narrow() {
            true => Ok(()),
            false => write!(formatter, " (bound)"),
        }
    }
}

/// The rank of the limits among this many sorted values, from 1; `None` for fewer than six.
fn rank(count: usize) -> Option<usize> {
    if count > MAX_SUMMED {
        let count = count as f64;
        return Some(((count - 1.959_964 * count.sqrt()) / 2.0).floor() as usize);
    }
    let count_i32 = i32::try_from(count).ok()?;
    let mut share = 0.5_f64.powi(count_i32);
    let (mut sum, mut rank) = (0.0, 0);
    while sum + share <= TAIL {
        sum += share;
        rank += 1;
        share *= (count - rank + 1) as f64 / rank as f64;
    }
    (rank > 0).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_tables() {
        // David and Nagaraja, and any table of the sign test at 5 %.
        for (count, wanted) in [
            (5, None),
            (6, Some(1)),
            (8, Some(1)),
            (9, Some(2)),
            (12, Some(3)),
            (20, Some(6)),
            (100, Some(40)),
            (1_000, Some(469)),
            (1_001, Some(469)),
            (10_000, Some(4_902)),
        ] {
            assert_eq!(rank(count), wanted, "{count}");
        }
    }

    #[test]
    fn limits_are_values_on_both_sides() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        let interval = Interval::of(Basis::Requests, &values).unwrap();
        assert_eq!(interval.limits, Some((6.0, 15.0)));
        assert_eq!(interval.to_string(), "20, ±42.9 % (bound)");
        assert!(!interval.is_narrow());
        let few = Interval::of(Basis::RoundRates, &values[..3]).unwrap();
        assert_eq!((few.limits, few.half_width()), (None, None));
        assert_eq!(few.to_string(), "3 rounds, too few (bound)");
        let same = Interval::of(Basis::RoundTimes, &[2.0; 6]).unwrap();
        assert_eq!(same.to_string(), "6 rounds, ±0.0 %");
        assert_eq!(Interval::of(Basis::Requests, &[]), None);
    }

    #[test]
    fn intervals_differ_when_they_do_not_touch() {
        let of = |value: f64| Interval::of(Basis::Requests, &[value; 6]).unwrap();
        assert_eq!(of(1.0).differs_from(&of(2.0)), Some(true));
        assert_eq!(of(1.0).differs_from(&of(1.0)), Some(false));
        let rates = Interval::of(Basis::RoundRates, &[2.0; 6]).unwrap();
        assert_eq!(of(1.0).differs_from(&rates), None);
    }
}
