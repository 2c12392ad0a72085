//! Scales: positions of values on an axis.

/// An axis from `low` to `high`, drawn between the positions `from` and `to`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) is_logarithmic: bool,
}

impl Scale {
    /// An axis that fits all values: from 0, or between powers of ten if it is logarithmic.
    pub(crate) fn of(values: impl Iterator<Item = f64>, is_logarithmic: bool) -> Self {
        let values: Vec<f64> = values.filter(|it| it.is_finite()).collect();
        let most = values.iter().copied().fold(0.0, f64::max);
        let (low, high) = if is_logarithmic {
            let positive = values.iter().copied().filter(|it| *it > 0.0);
            let least = positive.fold(f64::MAX, f64::min).min(most.max(1e-3));
            let most = most.max(least * 1.001);
            (
                10_f64.powf(least.max(1e-6).log10().floor()),
                10_f64.powf(most.log10().ceil()),
            )
        } else {
            (0.0, if most > 0.0 { most * 1.08 } else { 1.0 })
        };
        Self {
            low,
            high,
            from: 0.0,
            to: 1.0,
            is_logarithmic,
        }
    }

    pub(crate) fn onto(self, from: f64, to: f64) -> Self {
        Self { from, to, ..self }
    }

    pub(crate) fn place(&self, value: f64) -> f64 {
        let share = if self.is_logarithmic {
            let value = value.max(self.low);
            (value / self.low).log10() / (self.high / self.low).log10().max(1e-9)
        } else {
            (value - self.low) / (self.high - self.low).max(1e-12)
        };
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Round values along the axis.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        if self.is_logarithmic {
            let decades = (self.high / self.low).log10().round() as i32;
            let start = self.low.log10().round() as i32;
            return (0..=decades).map(|it| 10_f64.powi(start + it)).collect();
        }
        let rough = (self.high - self.low) / 6.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * power)
            .into_iter()
            .find(|step| *step >= rough)
            .unwrap_or(rough);
        let count = (self.high / step).floor() as usize;
        (0..=count).map(|index| index as f64 * step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let linear = Scale::of([3.0, 97.0].into_iter(), false);
        assert_eq!(linear.ticks(), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        let logarithmic = Scale::of([0.3, 250.0].into_iter(), true);
        assert_eq!(logarithmic.ticks().len(), 5);
        assert!((logarithmic.low - 0.1).abs() < 1e-9);
    }

    #[test]
    fn values_stand_between_the_ends() {
        let scale = Scale::of([1.0, 100.0].into_iter(), true).onto(10.0, 110.0);
        assert!((scale.place(10.0) - 60.0).abs() < 1e-6);
        assert_eq!(scale.place(0.0), 10.0);
        assert_eq!(scale.place(1e9), 110.0);
        let empty = Scale::of(std::iter::empty(), true);
        assert!(empty.place(1.0).is_finite());
    }
}
