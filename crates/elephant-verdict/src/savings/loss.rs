//! What a trouble cost, as its finding measures it.
//!
//! A rule and a replay measure the time lost in different ways, and either may be right. If less was lost than a replay
//! saves, the range has both, so that a report does not contradict itself.

use super::estimate::{Amounts, Range};
use super::troubles::{SavingStatus, Savings, TroubleSavings};

/// What a trouble cost, as far as its finding says it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Loss {
    /// The time that one rule computed.
    pub(crate) wall_ms: Option<f64>,
    /// Whether that time adds up over the run. Then a replay that saves less may be wrong, too: the time that the
    /// driver spends on many small tasks is in no task.
    pub(crate) is_of_run: bool,
    /// Core-hours that tasks took, as logged: the upper limit of the saving.
    pub(crate) core_hours: Option<f64>,
    /// The part of all that is lost that the remedy gives back; `None` if it is all.
    pub(crate) part: Option<f64>,
    /// GB-hours that were not needed: the upper limit of the saving.
    pub(crate) gb_hours: Option<f64>,
}

impl Loss {
    /// The factor by which the time lost exceeds the most that removing the trouble alone saves in a replay. `None` if
    /// it does not, or if the time does not add up over the run.
    fn more_than(&self, alone: Option<&Amounts>) -> Option<f64> {
        let most = alone.map(|alone| alone.wall_ms.high).filter(|most| *most > 0.0)?;
        self.wall_ms.filter(|_| self.is_of_run).map(|lost| lost / most).filter(|times| *times > 1.0)
    }

    /// Fits the range of a saving to the loss. If less time was lost than a replay saves, the range is that of the loss,
    /// with the error of the replay, and reaches what the replay saves: with two estimates, the higher one is not also
    /// too low. Less time saves cores and memory in proportion.
    fn bound(&self, amounts: &Amounts, more: Option<f64>) -> Amounts {
        let part = |most: Option<f64>, of: Option<f64>| match (most, of) {
            (Some(most), Some(of)) if of > most => (most / of).max(0.0),
            _ => 1.0,
        };
        let by_wall = part(self.wall_ms, Some(amounts.wall_ms.point));
        let by_cores = part(self.core_hours, amounts.core_hours.map(|cores| cores.high));
        let lessened = |range: Range| {
            if let Some(more) = more {
                let high = range.high * more;
                return Range { point: f64::midpoint(range.low, high), high, ..range };
            }
            if by_wall >= 1.0 {
                return range;
            }
            let lost = range.point * by_wall;
            let low = (lost - (range.point - range.low)).max(0.0);
            let high = range.point.max(lost + (range.high - range.point));
            Range { low, point: f64::midpoint(low, high), high }
        };
        let cut = |range: Range, most: Option<f64>| {
            let range = lessened(range).times(by_cores);
            match most {
                Some(most) if range.high > most => {
                    let range = range.within(most);
                    Range { point: f64::midpoint(range.low, range.high), ..range }
                }
                _ => range,
            }
        };
        Amounts {
            wall_ms: cut(amounts.wall_ms, None),
            core_hours: amounts.core_hours.map(|cores| cut(cores, self.core_hours)),
            gb_hours: amounts.gb_hours.map(|memory| cut(memory, self.gb_hours)),
        }
    }
}

impl Savings {
    /// Limits the savings of each trouble by its loss; `losses` has one for each trouble.
    pub(crate) fn bounded(mut self, losses: &[Loss]) -> Self {
        for (trouble, loss) in self.troubles.iter_mut().zip(losses) {
            let TroubleSavings { alone, share, status, .. } = trouble;
            let more = loss.more_than(alone.as_ref());
            let is_surely = |amounts: &Option<Amounts>| amounts.as_ref().is_some_and(Amounts::is_surely_more);
            let before = is_surely(alone);
            for amounts in [&mut *alone, share].into_iter().flatten() {
                *amounts = loss.bound(&loss.part.map_or(*amounts, |part| amounts.times(part)), more);
            }
            // What many small tasks cost is within the error of the replay.
            let is_estimated = *status == SavingStatus::Estimated && loss.is_of_run;
            if is_estimated && before && !is_surely(alone) {
                *status = SavingStatus::WithinError;
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
    use crate::savings::troubles::ApplicationSavings;

    fn range(point: f64, error: f64) -> Range {
        Range { low: point - error, point, high: point + error }
    }

    #[test]
    fn a_loss_within_the_error_of_the_replay_is_not_saved_for_sure() {
        let status = |lost: f64, saves: SavingStatus| {
            let amounts =
                Amounts { wall_ms: range(21.0, 10.0), core_hours: None, gb_hours: Some(range(0.2, 0.3)) };
            let alone = Some(amounts);
            let trouble =
                TroubleSavings { status: saves, share: alone, alone, ..TroubleSavings::unknown("x") };
            let application = ApplicationSavings {
                joint: amounts,
                more_gb_hours: None,
                baseline: None,
                unknown: None,
                joint_cost: None,
                currency: None,
            };
            let savings = Savings { application, troubles: vec![trouble] };
            let loss = Loss { wall_ms: Some(lost), is_of_run: true, ..Loss::default() };
            savings.bounded(&[loss]).troubles.remove(0).status
        };
        assert_eq!(status(7.0, SavingStatus::Estimated), SavingStatus::WithinError);
        assert_eq!(status(12.0, SavingStatus::Estimated), SavingStatus::Estimated);
        assert_eq!(status(7.0, SavingStatus::Unknown("x".into())), SavingStatus::Unknown("x".into()));
    }

    #[test]
    fn a_remedy_that_gives_back_a_part_saves_that_part() {
        let amounts =
            Amounts { wall_ms: range(400.0, 20.0), core_hours: Some(range(4.0, 0.2)), gb_hours: None };
        let trouble = TroubleSavings {
            status: SavingStatus::Estimated,
            share: Some(amounts),
            alone: Some(amounts),
            ..TroubleSavings::unknown("x")
        };
        let application = ApplicationSavings {
            joint: amounts,
            more_gb_hours: None,
            baseline: None,
            unknown: None,
            joint_cost: None,
            currency: None,
        };
        let savings = Savings { application, troubles: vec![trouble] };
        let bounded = savings.bounded(&[Loss { part: Some(0.25), ..Loss::default() }]);
        let (joint, alone) = (bounded.application.joint, bounded.troubles[0].alone.unwrap());
        assert_eq!((joint.wall_ms, alone.wall_ms), (range(100.0, 5.0), range(100.0, 5.0)));
        assert_eq!(joint.core_hours, Some(range(1.0, 0.05)));
    }

    #[test]
    fn no_more_is_saved_than_was_lost() {
        let saved = Amounts {
            wall_ms: range(400.0, 20.0),
            core_hours: Some(range(4.0, 0.2)),
            gb_hours: Some(range(8.0, 0.4)),
        };
        assert_eq!(Loss::default().bound(&saved, None), saved);
        let bounded = Loss { wall_ms: Some(300.0), ..Loss::default() }.bound(&saved, None);
        assert_eq!(bounded.wall_ms, Range { low: 280.0, point: 340.0, high: 400.0 });
        let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
        let (cores, memory) = (bounded.core_hours.unwrap(), bounded.gb_hours.unwrap());
        assert!(near(cores.low, 2.8) && near(cores.point, 3.4) && near(cores.high, 4.0), "{cores:?}");
        assert!(near(memory.low, 5.6) && near(memory.high, 8.0), "{memory:?}");
        // An estimate that is hardly lower hardly changes the range.
        let bounded = Loss { wall_ms: Some(399.0), ..Loss::default() }.bound(&saved, None);
        assert_eq!(bounded.wall_ms, range(399.0, 20.0));
        // Only the upper end is more than was lost.
        assert_eq!(Loss { wall_ms: Some(410.0), ..Loss::default() }.bound(&saved, None), saved);
        let bounded = Loss { gb_hours: Some(5.0), ..Loss::default() }.bound(&saved, None);
        assert_eq!((bounded.gb_hours.unwrap().high, bounded.wall_ms), (5.0, saved.wall_ms));
        // Many small tasks cost more than a replay sees.
        let many = Loss { wall_ms: Some(630.0), is_of_run: true, ..Loss::default() };
        let more = many.more_than(Some(&saved));
        assert_eq!(many.bound(&saved, more).wall_ms, Range { low: 380.0, point: 505.0, high: 630.0 });
        assert_eq!(Loss { wall_ms: Some(630.0), ..Loss::default() }.more_than(Some(&saved)), None);
        assert_eq!(Loss { wall_ms: Some(410.0), ..many }.more_than(Some(&saved)), None);
        // Cores and time are of the same tasks.
        let bounded = Loss { core_hours: Some(2.1), ..Loss::default() }.bound(&saved, None);
        assert!((bounded.wall_ms.point - 200.0).abs() < 1e-9, "{bounded:?}");
    }
}
