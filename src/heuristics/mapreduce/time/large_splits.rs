//! Splits that a setting makes far larger than blocks, so that map tasks are few.

use super::mean_input;
use crate::finding::Advice;
use crate::heuristics::mapreduce::splits::{SplitLimits, reads_gzip};
use crate::heuristics::mapreduce::{MissingCounters, input_bytes};
use crate::model::Application;
use crate::model::conf::{ConfKey, defaults};
use crate::model::table::TaskGroup;
use crate::units::{Bytes, three_digits};

/// With at most this many blocks for each map task, splits are no reason for few of them.
const FEW_BLOCKS: f64 = 4.0;

/// Splits that are larger than blocks because a setting makes them so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LargeSplits {
    /// What a map task reads on average, and all of them.
    read: Bytes,
    total: Bytes,
    block: Bytes,
}

impl LargeSplits {
    /// `None` if map tasks read few blocks, or if their files may be the reason that they read more.
    pub(super) fn of(app: &Application, group: &TaskGroup) -> Option<Self> {
        let read = mean_input(group)?;
        let block = app.conf.bytes(ConfKey::BlockSize).filter(|block| block.get() > 1);
        let block = block.unwrap_or(defaults::BLOCK);
        let inputs = group.winners().filter_map(|row| input_bytes(group, row, MissingCounters::Unknown));
        let total = inputs.fold(0_u64, |sum, input| sum.saturating_add(input.unsigned_abs()));
        let by_setting = SplitLimits::of(app).setting_explains(read) && !reads_gzip(app);
        let splits = Self { read, total: Bytes::new(total), block };
        (by_setting && splits.in_blocks() > FEW_BLOCKS).then_some(splits)
    }

    fn in_blocks(self) -> f64 {
        self.read.as_f64() / self.block.as_f64().max(1.0)
    }

    /// "46.7", for messages.
    pub(super) fn blocks(self) -> String {
        three_digits(self.in_blocks())
    }

    /// The splits of this many map tasks, but none smaller than a block.
    fn size(self, tasks: u32) -> Bytes {
        let size = Bytes::new(self.total.get() / u64::from(tasks.max(1)));
        if size.get() / 2 < self.block.get() {
            return self.block;
        }
        Bytes::from_mib(size.get().div_ceil(Bytes::PER_MIB))
    }

    /// All that map tasks read, in blocks: the most map tasks that make sense.
    pub(super) fn all_blocks(self) -> f64 {
        self.total.as_f64() / self.block.as_f64().max(1.0)
    }

    /// What to set so that this many map tasks run.
    pub(super) fn advice(self, app: &Application, wanted: u32) -> Vec<Advice> {
        let size = self.size(wanted);
        let changes = SplitLimits::of(app).smaller(app, size);
        if changes.is_empty() {
            return vec![format!("use smaller splits ({size}), so that about {wanted} map tasks run").into()];
        }
        vec![Advice::default().set(changes).and(&format!(" ({size}), for about {wanted} map tasks"))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::TroubleKind;
    use crate::internal::sample;
    use crate::model::MasterAttempt;
    use crate::model::counters::Counter;
    use crate::model::table::{TaskKind, TimePoint};
    use crate::severity::Severity;
    use crate::units::Timestamp;

    const MIN: &str = "mapreduce.input.fileinputformat.split.minsize";
    const GIB: i64 = 1 << 30;

    /// Six map tasks of `minutes` that read 6 GiB each, then this many reduce tasks of a minute at once.
    fn job(minutes: i64, reduces: i64, settings: &[(&str, &str)]) -> Application {
        let end = 60 * minutes;
        let mut maps = sample::tasks(TaskKind::Map, (0..6).map(|_| (0, Some(end))));
        for row in 0..6 {
            maps.attempts.set_counter(row, Counter::HdfsBytesRead, Some(6 * GIB));
        }
        let mut groups = vec![maps];
        let last = end + 61 * i64::from(reduces > 0);
        if reduces > 0 {
            let times = (0..reduces).map(|_| (end + 1, Some(last)));
            let mut reduces = sample::tasks(TaskKind::Reduce, times);
            for row in 0..reduces.attempts.len() {
                let at = Some(Timestamp::from_millis(1000 * (end + 10)));
                reduces.attempts.set_time(row, TimePoint::ShuffleFinish, at);
            }
            groups.push(reduces);
        }
        let mut all = vec![("dfs.blocksize", "128m")];
        all.extend(settings);
        let mut app = sample::job(groups, &all);
        app.masters.push(MasterAttempt { started_at: None, node: None });
        app.finished_at = Some(Timestamp::from_millis(1000 * last));
        app
    }

    fn found(app: &Application) -> (Severity, String, Vec<Advice>) {
        let found = sample::evaluate(app, "mapper-time", false).findings.remove(0);
        assert!(found.severity == Severity::None || found.tells == TroubleKind::FewTasks);
        (found.severity, found.message.clone(), found.advice.clone())
    }

    #[test]
    fn splits_that_leave_containers_idle_are_judged_by_the_time_lost() {
        let (severity, message, advice) = found(&job(12, 20, &[(MIN, "8g")]));
        assert_eq!(severity, Severity::Critical, "{message}");
        assert!(
            message.contains("read 48 blocks each while containers were free; 18 would save"),
            "{message}"
        );
        // 36 GiB for 18 map tasks: twenty save hardly more.
        let [change] = advice[0].settings.as_slice() else { panic!("{advice:?}") };
        assert_eq!((change.setting.as_str(), change.to.as_str()), (MIN, "2147483648"));
        // As many containers as map tasks were free: none is known to be idle.
        assert_eq!(found(&job(12, 6, &[(MIN, "8g")])).0, Severity::Moderate);
        // As Dr. Elephant judges, tasks of 12 minutes are fine.
        let app = job(12, 20, &[(MIN, "8g")]);
        assert_eq!(sample::severity(&app, "mapper-time", true), Some(Severity::None));
    }

    #[test]
    fn without_a_replay_a_finding_is_at_most_moderate() {
        let (severity, message, advice) = found(&job(12, 0, &[(MIN, "8g")]));
        assert_eq!(severity, Severity::Moderate, "{message}");
        assert!(
            message.contains("twice as many would save about 6m, 50 % of the run time, if there"),
            "{message}"
        );
        // A quarter of the run: 24 map tasks.
        assert!(advice[0].text.ends_with("(1.5 GiB), for about 24 map tasks"), "{advice:?}");
        // How long tasks run counts if that is worse.
        assert_eq!(found(&job(70, 0, &[(MIN, "8g")])).0, Severity::Severe);
    }

    #[test]
    fn only_settings_are_the_reason() {
        let severity = |settings: &[(&str, &str)]| found(&job(12, 20, settings)).0;
        // Files that cannot be split, and blocks of 6 GiB.
        assert_eq!(severity(&[]), Severity::None);
        let input = ("mapreduce.input.fileinputformat.inputdir", "/logs/a.gz");
        assert_eq!(severity(&[(MIN, "8g"), input]), Severity::None);
        // Far more than the minimum, and not by it.
        assert_eq!(severity(&[(MIN, "512m")]), Severity::None);
        let combines = (
            "mapreduce.job.inputformat.class",
            "org.apache.hadoop.mapreduce.lib.input.CombineTextInputFormat",
        );
        assert_eq!(severity(&[combines]), Severity::Critical);
    }
}
