//! What the applications of an answer amount to in a month.

use super::Answer;

/// The days of a month.
const DAYS: f64 = 30.0;
const MS_PER_DAY: f64 = 86_400_000.0;

/// What runs amount to in thirty days, if they go on as often and each as costly as until now. `None` is unknown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerMonth {
    /// How many there are.
    pub runs: f64,
    /// Memory used.
    pub used_gb_hours: Option<f64>,
    /// What the remedies of known effect save of it.
    pub saved_gb_hours: Option<f64>,
    /// What they cost, if there are prices.
    pub cost: Option<f64>,
    /// What the remedies save of the cost, if there are prices.
    pub saved_cost: Option<f64>,
}

impl Answer {
    /// What the runs amount to in a month; `None` if they are too few, or of less than a day, to tell how often there is one.
    #[must_use]
    pub fn per_month(&self) -> Option<PerMonth> {
        let total = &self.total;
        let (from, until) = self.from.zip(self.until)?;
        let days = until.as_millis().checked_sub(from.as_millis())? as f64 / MS_PER_DAY;
        let between = total.applications.checked_sub(1).filter(|between| *between > 0)?;
        if days < 1.0 {
            return None;
        }
        let runs = DAYS * between as f64 / days;
        // The mean of those of which it is known.
        let each = |sum: Option<f64>, unknown: u64| {
            let known = total.applications.saturating_sub(unknown);
            sum.filter(|_| known > 0).map(|sum| runs * sum / known as f64)
        };
        Some(PerMonth {
            runs,
            used_gb_hours: each(total.used_gb_hours, total.unmeasured),
            saved_gb_hours: each(total.saved_gb_hours, 0),
            cost: each(total.cost, total.unpriced),
            saved_cost: each(total.saved_cost, 0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Group, View};
    use elephant_base::units::Timestamp;

    fn answer(days: i64, total: Group) -> Answer {
        let at = |days: i64| Some(Timestamp::from_millis(days * 86_400_000));
        Answer { total, from: at(100), until: at(100 + days), currency: None, view: View::Worst(Vec::new()) }
    }

    #[test]
    fn a_daily_run_is_thirty_in_a_month() {
        let total = Group {
            applications: 11,
            unmeasured: 1,
            unpriced: 6,
            used_gb_hours: Some(20.0),
            saved_gb_hours: Some(5.5),
            cost: Some(10.0),
            saved_cost: None,
            ..Group::default()
        };
        let month = answer(10, total).per_month().unwrap();
        assert_eq!((month.runs, month.used_gb_hours, month.saved_gb_hours), (30.0, Some(60.0), Some(15.0)));
        // Five runs have a known cost.
        assert_eq!((month.cost, month.saved_cost), (Some(60.0), None));
    }

    #[test]
    fn too_few_runs_are_no_rate() {
        for (days, applications) in [(10, 1), (10, 0), (0, 50), (-3, 50)] {
            let total = Group { applications, ..Group::default() };
            assert_eq!(answer(days, total).per_month(), None, "{days} {applications}");
        }
        let all_unknown = Group { applications: 3, unmeasured: 3, ..Group::default() };
        assert_eq!(answer(2, all_unknown).per_month().unwrap().used_gb_hours, None);
    }
}
