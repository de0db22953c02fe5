//! What map tasks wrote to local disks beyond their output, in bytes, as Hadoop Vaidya judges it.

use elephant_base::severity::Severity;
use elephant_base::units::Bytes;
use elephant_model::model::Application;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_rule::finding::{Phrase, Word};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::Ratio;
use elephant_rule::wording::percent;

use crate::mapreduce::support::counters::is_unreadable;

/// The bytes on disk.
const ON_DISK: &str = "local disks took {written} for {output} of output, {share} more ({limit})";

/// The severity by bytes on disk, and its words.
pub(super) struct OnDisk {
    pub(super) severity: Severity,
    pub(super) words: Phrase,
}

impl OnDisk {
    /// `None` if a counter is missing, or without output.
    pub(super) fn of(app: &Application, group: &TaskGroup, limit: &Ascending<Ratio>) -> Option<Self> {
        let (written, output) = sums(group)?;
        let more = written_again(written, output, has_reduces(app))?;
        let severity = limit.severity(more);
        let size = |bytes: i128| Bytes::new(u64::try_from(bytes).unwrap_or_default());
        let words: [Word<'_>; 4] = [
            ("written", &size(written)),
            ("output", &size(output)),
            ("share", &percent(more)),
            ("limit", &limit.describe_in(severity, percent)),
        ];
        Some(Self { severity, words: Phrase::new(ON_DISK, &words) })
    }
}

/// The bytes that map tasks wrote to local disks, and those of their output.
fn sums(group: &TaskGroup) -> Option<(i128, i128)> {
    let counters = [Counter::FileBytesWritten, Counter::MapOutputBytes];
    if is_unreadable(group, &counters) {
        return None;
    }
    let both = group.winners().filter_map(|row| {
        let [written, output] = counters.map(|counter| group.attempts.count(row, counter));
        Some((i128::from(written?), i128::from(output?)))
    });
    both.fold(None, |sum: Option<(i128, i128)>, (written, output)| {
        let (all_written, all_output) = sum.unwrap_or_default();
        Some((all_written + written, all_output + output))
    })
}

/// Output is written once if reduce tasks fetch it. Map tasks of a job without reduce tasks sort nothing, so all they write
/// to local disks is beyond their output.
fn written_again(written: i128, output: i128, for_reduces: bool) -> Option<f64> {
    let once = if for_reduces { output } else { 0 };
    (output > 0).then(|| (written - once).max(0) as f64 / output as f64)
}

fn has_reduces(app: &Application) -> bool {
    app.group(TaskKind::Reduce).is_some_and(|group| !group.tasks.is_empty())
        || app.announced.reduces.is_some_and(|reduces| reduces > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Map tasks that each spilled once, with these MiB on disk for a MiB of output, before a reduce task.
    fn job(maps: usize, written: i64) -> Application {
        let mut group = elephant_sample::maps(&vec![(60, 64); maps]);
        for row in 0..maps {
            group.attempts.set_counter(row, Counter::SpilledRecords, Some(1000));
            group.attempts.set_counter(row, Counter::MapOutputRecords, Some(1000));
            group.attempts.set_counter(row, Counter::MapOutputBytes, Some(1 << 20));
            group.attempts.set_counter(row, Counter::FileBytesWritten, Some(written << 20));
        }
        let reduce = elephant_sample::tasks(TaskKind::Reduce, [(60, Some(70))]);
        elephant_sample::job(vec![group, reduce], &[])
    }

    #[test]
    fn bytes_on_disk_decide_only_where_they_are_asked_for() {
        let limits = "written_again: [90%, 1.5, 2, 3]";
        let found = elephant_sample::evaluate_with(&job(4, 2), "mapper-spill", limits).findings.remove(0);
        assert_eq!(found.severity, Severity::Low);
        assert!(
            found.message.ends_with(
                "a ratio of 1.00; local disks took 8 MiB for 4 MiB of output, 100 % more (low from 90 %)"
            ),
            "{}",
            found.message
        );
        assert_eq!(elephant_sample::severity(&job(4, 4), "mapper-spill", false), Some(Severity::None));
        let once = elephant_sample::evaluate_with(&job(4, 1), "mapper-spill", limits).findings.remove(0);
        assert_eq!(once.severity, Severity::None);
    }

    #[test]
    fn without_output_nothing_is_known() {
        assert_eq!(written_again(5, 0, true), None);
        assert_eq!(written_again(0, 0, false), None);
        assert_eq!(written_again(0, 5, true), Some(0.0), "compressed output");
        assert_eq!(written_again(5, 5, false), Some(1.0));
        let mut group = elephant_sample::maps(&[(60, 64); 2]);
        assert_eq!(sums(&group), None);
        // A task without one of the counters is left out of both sums.
        group.attempts.set_counter(0, Counter::FileBytesWritten, Some(7));
        assert_eq!(sums(&group), None);
        group.attempts.set_counter(0, Counter::MapOutputBytes, Some(3));
        assert_eq!(sums(&group), Some((7, 3)));
    }

    proptest! {
        /// Vaidya: the impact is 1 above a ratio of 3, else the ratio / 3; it reports an impact of 0.3 or more.
        #[test]
        fn a_limit_of_nine_tenths_is_vaidyas(written in 0u32..10_000, output in 1u32..3000) {
            let ratio = (f64::from(written) - f64::from(output)) / f64::from(output);
            let impact = if ratio > 3.0 { 1.0 } else { ratio / 3.0 };
            let ours = written_again(written.into(), output.into(), true).unwrap();
            // Equal up to rounding: compare in whole numbers at the limit.
            prop_assert_eq!(ours >= 0.9, 10 * u64::from(written) >= 19 * u64::from(output));
            prop_assert!((ours >= 0.9) == (impact >= 0.3) || (impact - 0.3).abs() < 1e-9);
        }
    }
}
