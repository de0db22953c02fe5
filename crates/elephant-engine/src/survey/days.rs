//! Stragglers by the day on which their application was submitted (S2, figures 5 and 6, and table 3).

use std::collections::BTreeMap;

use super::application::ApplicationStragglers;
use elephant_analysis::stragglers::cause::{Cause, CauseCounts};
use elephant_analysis::stragglers::labels::{DOS_DIAGNOSE, is_dos_straggler};
use elephant_base::stats::descriptive::pearson;
use elephant_base::units::Timestamp;

const MILLIS_OF_A_DAY: i64 = 86_400_000;

/// Fewer days have no correlation: two points always lie on a line.
const ENOUGH_DAYS: usize = 3;

/// The applications of one day.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StragglerDay {
    /// The beginning of the day (UTC).
    pub begin: Timestamp,
    /// Number of applications.
    pub applications: u64,
    /// Tasks that were judged.
    pub tasks: u64,
    /// Stragglers among them.
    pub stragglers: u64,
    /// Tasks with a DoS-index of at least 2.5 and at least 10, whether they are stragglers or not: a task with little
    /// input may have a high index although it took no longer than others. `None` if no input is known.
    pub dos: Option<(u64, u64)>,
    /// Causes of all stragglers.
    pub causes: CauseCounts,
    /// Causes of those stragglers that have a DoS-index of at least 10.
    pub diagnosed: CauseCounts,
}

/// How the daily counts of two causes correlate.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CauseCorrelation {
    /// One of the causes.
    pub one: Cause,
    /// The other.
    pub other: Cause,
    /// Pearson's correlation of their counts over the days. Each straggler counts for one cause, so a low value does not
    /// say that the causes are independent.
    pub pearson: f64,
}

impl StragglerDay {
    /// Adds an application to the day on which it was submitted, if that is known.
    pub(super) fn add_to(days: &mut BTreeMap<i64, Self>, app: &ApplicationStragglers) {
        let Some(submitted) = app.submitted_at else { return };
        let number = submitted.as_millis().div_euclid(MILLIS_OF_A_DAY);
        let begin = Timestamp::from_millis(number.saturating_mul(MILLIS_OF_A_DAY));
        let day = days.entry(number).or_insert_with(|| Self {
            begin,
            applications: 0,
            tasks: 0,
            stragglers: 0,
            dos: None,
            causes: CauseCounts::default(),
            diagnosed: CauseCounts::default(),
        });
        day.add(app);
    }

    fn add(&mut self, app: &ApplicationStragglers) {
        self.applications += 1;
        self.tasks += app.judged();
        self.stragglers += app.stragglers();
        for group in &app.groups {
            if let Some((report, diagnose)) = group.dos {
                let sum = self.dos.get_or_insert_default();
                *sum = (sum.0 + report, sum.1 + diagnose);
            }
            let stragglers = || group.stragglers.iter();
            self.causes.add(stragglers().filter_map(|straggler| straggler.cause.as_ref()));
            let diagnosed =
                stragglers().filter(|straggler| is_dos_straggler(straggler.dos_index, DOS_DIAGNOSE));
            self.diagnosed.add(diagnosed.filter_map(|straggler| straggler.cause.as_ref()));
        }
    }

    /// The correlations of the causes that S2's table 3 counts: busy CPUs, busy disks, slow requests to the
    /// file system. Only stragglers with a DoS-index of at least 10 count.
    pub(super) fn correlations(days: &[Self]) -> Vec<CauseCorrelation> {
        const PAIRS: [(Cause, Cause); 3] = [
            (Cause::Cpu, Cause::Disk),
            (Cause::Cpu, Cause::SlowFileSystem),
            (Cause::Disk, Cause::SlowFileSystem),
        ];
        if days.len() < ENOUGH_DAYS {
            return Vec::new();
        }
        let counts = |cause| days.iter().map(|day| day.diagnosed.count(cause) as f64).collect::<Vec<f64>>();
        let correlation = |(one, other)| {
            let pearson = pearson(&counts(one), &counts(other))?;
            Some(CauseCorrelation { one, other, pearson })
        };
        PAIRS.into_iter().filter_map(correlation).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of S2's table 3: busy CPUs, busy disks, slow requests.
    const TABLE_3: [(u64, u64, u64); 20] = [
        (46, 61, 29),
        (114, 14, 23),
        (161, 84, 35),
        (147, 23, 43),
        (158, 149, 69),
        (129, 184, 71),
        (352, 128, 82),
        (348, 129, 75),
        (121, 94, 98),
        (116, 77, 233),
        (100, 150, 132),
        (179, 239, 168),
        (126, 247, 161),
        (117, 41, 125),
        (104, 259, 85),
        (131, 66, 138),
        (236, 92, 67),
        (163, 63, 142),
        (172, 83, 58),
        (154, 101, 27),
    ];

    fn day((cpu, disk, slow): (u64, u64, u64)) -> StragglerDay {
        let mut causes = CauseCounts::default();
        for (cause, count) in [(Cause::Cpu, cpu), (Cause::Disk, disk), (Cause::SlowFileSystem, slow)] {
            let sum = causes.causes.iter_mut().find(|it| it.cause == cause).unwrap();
            sum.primary = count;
        }
        let begin = Timestamp::from_millis(0);
        let (applications, tasks, stragglers) = (1, 0, 0);
        StragglerDay {
            begin,
            applications,
            tasks,
            stragglers,
            dos: None,
            causes: CauseCounts::default(),
            diagnosed: causes,
        }
    }

    #[test]
    fn the_correlation_of_table_3_is_that_of_the_paper() {
        let days: Vec<StragglerDay> = TABLE_3.into_iter().map(day).collect();
        let correlations = StragglerDay::correlations(&days);
        assert_eq!((correlations[0].one, correlations[0].other), (Cause::Cpu, Cause::Disk));
        assert!((correlations[0].pearson - 0.0723).abs() < 5e-5, "{correlations:?}");
        assert!(StragglerDay::correlations(&days[..2]).is_empty());
        assert!(StragglerDay::correlations(&[]).is_empty());
        // A cause that never occurs has no correlation.
        let none: Vec<StragglerDay> = [(1, 0, 2), (2, 0, 1), (5, 0, 5)].into_iter().map(day).collect();
        assert_eq!(StragglerDay::correlations(&none).len(), 1);
    }
}
