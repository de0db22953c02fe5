//! What a trouble cost, as its finding measures it: removing it saves no more.
//!
//! A rule and a replay measure the same loss in different ways. Of the two, the smaller one is promised, so that no report
//! says "6 minutes lost, saves 7".

use super::estimate::{Amounts, Range};
use super::troubles::{Savings, TroubleSavings};

/// The most that removing a trouble can save, as far as its finding says what was lost.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Loss {
    pub(crate) wall_ms: Option<f64>,
    pub(crate) core_hours: Option<f64>,
    pub(crate) gb_hours: Option<f64>,
}

impl Loss {
    /// At most what was lost. Less time saves cores and memory in proportion.
    pub(crate) fn bound(&self, amounts: &Amounts) -> Amounts {
        let part = |most: Option<f64>, of: Option<f64>| match (most, of) {
            (Some(most), Some(of)) if of > most => (most / of).max(0.0),
            _ => 1.0,
        };
        let by_wall = part(self.wall_ms, Some(amounts.wall_ms.point));
        let by_cores = part(self.core_hours, amounts.core_hours.map(|cores| cores.high));
        let factor = by_wall.min(by_cores);
        let cut = |range: Range, most: Option<f64>| {
            let range = range.times(factor);
            match most {
                // The error goes to both sides of what is plausible.
                Some(most) if range.high > most => {
                    let range = range.within(most);
                    Range { point: f64::midpoint(range.low, range.high), ..range }
                }
                _ => range,
            }
        };
        Amounts {
            wall_ms: cut(amounts.wall_ms, self.wall_ms),
            core_hours: amounts.core_hours.map(|cores| cut(cores, self.core_hours)),
            gb_hours: amounts.gb_hours.map(|memory| cut(memory, self.gb_hours)),
        }
    }
}

impl Savings {
    /// At most what each trouble cost; `losses` are those of the troubles.
    pub(crate) fn bounded(mut self, losses: &[Loss]) -> Self {
        for (trouble, loss) in self.troubles.iter_mut().zip(losses) {
            let TroubleSavings { alone, share, .. } = trouble;
            for amounts in [alone, share].into_iter().flatten() {
                *amounts = loss.bound(amounts);
            }
        }
        let nothing = self.application.joint.times(0.0);
        let shares = self.troubles.iter().filter_map(|trouble| trouble.share.as_ref());
        self.application.joint = shares.fold(nothing, |sum, share| sum.plus(share));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(point: f64, error: f64) -> Range {
        Range { low: point - error, point, high: point + error }
    }

    #[test]
    fn no_more_is_saved_than_was_lost() {
        let saved = Amounts {
            wall_ms: range(400.0, 20.0),
            core_hours: Some(range(4.0, 0.2)),
            gb_hours: Some(range(8.0, 0.4)),
        };
        assert_eq!(Loss::default().bound(&saved), saved);
        let bounded = Loss { wall_ms: Some(300.0), ..Loss::default() }.bound(&saved);
        assert_eq!((bounded.wall_ms.low, bounded.wall_ms.high), (285.0, 300.0));
        assert_eq!((bounded.core_hours.unwrap().point, bounded.gb_hours.unwrap().point), (3.0, 6.0));
        // Only the upper end is too much.
        let bounded = Loss { wall_ms: Some(410.0), ..Loss::default() }.bound(&saved);
        assert_eq!(bounded.wall_ms, Range { low: 380.0, point: 395.0, high: 410.0 });
        assert_eq!(bounded.gb_hours, saved.gb_hours);
        let bounded = Loss { gb_hours: Some(5.0), ..Loss::default() }.bound(&saved);
        assert_eq!((bounded.gb_hours.unwrap().high, bounded.wall_ms), (5.0, saved.wall_ms));
        // Cores and time are of the same tasks.
        let bounded = Loss { core_hours: Some(2.1), ..Loss::default() }.bound(&saved);
        assert!((bounded.wall_ms.point - 200.0).abs() < 1e-9, "{bounded:?}");
    }
}
