//! Map tasks that are few because their splits are large, and how to get more of them.

use crate::mapreduce::support::counters::{MissingCounters, input_bytes, mean_input};
use crate::mapreduce::support::splits::{SplitLimits, Unsplittable, divided_otherwise, reads_gzip};
use elephant_base::units::{Bytes, three_digits};
use elephant_catalogue::Advised;
use elephant_model::model::Application;
use elephant_model::model::conf::{ConfKey, defaults};
use elephant_model::model::table::TaskGroup;
use elephant_rule::finding::Advice;

/// What map tasks read, and what decides that it is so much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LargeSplits {
    /// What a map task reads on average, and all of them.
    read: Bytes,
    total: Bytes,
    block: Bytes,
    reason: Reason,
}

/// Why splits are as large as they are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Reason {
    /// A setting makes them far larger than blocks.
    Setting,
    /// They are blocks, or not much larger. A maximum below the size of a block divides it.
    Block,
    /// They are whole files, which cannot be split, as far as the settings and names tell.
    File(Option<Unsplittable>),
}

impl LargeSplits {
    /// `None` if map tasks read less than half a block, if their input is unknown, or if it is not divided by size.
    pub(super) fn of(app: &Advised<'_>, group: &TaskGroup) -> Option<Self> {
        let read = mean_input(group)?;
        let block = app.conf.bytes(ConfKey::BlockSize).filter(|block| block.get() > 1);
        let block = block.unwrap_or(defaults::BLOCK);
        let inputs = group.winners().filter_map(|row| input_bytes(group, row, MissingCounters::Unknown));
        let total = inputs.fold(0_u64, |sum, input| sum.saturating_add(input.unsigned_abs()));
        let splits = Self { read, total: Bytes::new(total), block, reason: Reason::Block };
        let by_setting = || {
            SplitLimits::of(app).setting_explains(read)
                && splits.in_blocks() > app.advice.blocks_per_task.get()
        };
        let whole_files = Unsplittable::of(app, read);
        let reason = if reads_gzip(app) {
            Reason::File(whole_files)
        } else if by_setting() {
            Reason::Setting
        } else if whole_files.is_some() {
            Reason::File(whole_files)
        } else {
            Reason::Block
        };
        let is_divided = divided_otherwise(app).is_none() && read.get() >= block.get() / 2;
        is_divided.then_some(Self { reason, ..splits })
    }

    /// Whether a setting makes splits far larger than blocks: then what is lost decides, and not how long tasks run.
    pub(super) const fn is_by_setting(self) -> bool {
        matches!(self.reason, Reason::Setting)
    }

    fn in_blocks(self) -> f64 {
        self.read.as_f64() / self.block.as_f64().max(1.0)
    }

    /// What each of this many map tasks reads, for messages: "read 46.7 blocks each", "reads 2 GiB".
    pub(super) fn shown(self, tasks: usize) -> String {
        let read = match self.reason {
            Reason::Setting => format!("{} blocks", three_digits(self.in_blocks())),
            Reason::Block | Reason::File(_) => self.read.to_string(),
        };
        if tasks == 1 { format!("reads {read}") } else { format!("read {read} each") }
    }

    /// The splits of this many map tasks; if a setting makes them larger than blocks, none smaller than a block.
    fn size(self, tasks: u32) -> Bytes {
        let size = Bytes::new(self.total.get() / u64::from(tasks.max(1)));
        match self.reason {
            Reason::Setting if size.get() / 2 < self.block.get() => self.block,
            // Rounded up, so that there are no more of them.
            Reason::Setting | Reason::Block | Reason::File(_) => {
                Bytes::from_mib(size.get().div_ceil(Bytes::PER_MIB))
            }
        }
    }

    /// The most map tasks that make sense: one for each block, if a setting makes splits larger than these.
    pub(super) fn most(self) -> f64 {
        match self.reason {
            Reason::Setting => self.total.as_f64() / self.block.as_f64().max(1.0),
            Reason::Block | Reason::File(_) => f64::INFINITY,
        }
    }

    /// What to change so that this many map tasks run.
    pub(super) fn advice(self, app: &Application, wanted: u32) -> Vec<Advice> {
        let size = self.size(wanted);
        let changes = SplitLimits::of(app).smaller(app, size);
        if let Reason::File(whole_files) = self.reason {
            let other = whole_files.map_or_else(|| OTHER_FILES.to_owned(), Unsplittable::advice);
            let by_block = whole_files.is_some_and(|it| it.by_block) && !reads_gzip(app);
            let larger_blocks = Advice::new("if the files have larger blocks, use smaller splits");
            let larger_blocks = (by_block && !changes.is_empty()).then(|| larger_blocks.set(changes));
            let other = Advice::new(format!("{other}: about {wanted} map tasks pay off"));
            return [other].into_iter().chain(larger_blocks.map(Advice::conditional)).collect();
        }
        if changes.is_empty() {
            return vec![format!("use smaller splits ({size}), so that about {wanted} map tasks run").into()];
        }
        vec![Advice::default().set(changes).and(&format!(" ({size}), for about {wanted} map tasks"))]
    }
}

/// The remedy for gzip files of which each is not much larger than a block.
const OTHER_FILES: &str =
    "gzip files cannot be split: write them as ORC, Parquet or bzip2, or as more and smaller files";

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::severity::Severity;
    use elephant_base::units::Timestamp;
    use elephant_model::model::MasterAttempt;
    use elephant_model::model::counters::Counter;
    use elephant_model::model::table::{TaskKind, TimePoint};
    use elephant_rule::finding::TroubleKind;

    const MIN: &str = "mapreduce.input.fileinputformat.split.minsize";
    const MAX: &str = "mapreduce.input.fileinputformat.split.maxsize";
    const GIB: i64 = 1 << 30;

    /// Six map tasks of `minutes` that read 6 GiB each, then this many reduce tasks of a minute at once.
    fn job(minutes: i64, reduces: i64, settings: &[(&str, &str)]) -> Application {
        let end = 60 * minutes;
        let mut maps = elephant_sample::tasks(TaskKind::Map, (0..6).map(|_| (0, Some(end))));
        for row in 0..6 {
            maps.attempts.set_counter(row, Counter::HdfsBytesRead, Some(6 * GIB));
        }
        let mut groups = vec![maps];
        let last = end + 61 * i64::from(reduces > 0);
        if reduces > 0 {
            let times = (0..reduces).map(|_| (end + 1, Some(last)));
            let mut reduces = elephant_sample::tasks(TaskKind::Reduce, times);
            for row in 0..reduces.attempts.len() {
                let at = Some(Timestamp::from_millis(1000 * (end + 10)));
                reduces.attempts.set_time(row, TimePoint::ShuffleFinish, at);
            }
            groups.push(reduces);
        }
        let mut all = settings.to_vec();
        if settings.iter().all(|(name, _)| *name != "dfs.blocksize") {
            all.push(("dfs.blocksize", "128m"));
        }
        let mut app = elephant_sample::job(groups, &all);
        app.masters.push(MasterAttempt { started_at: None, node: None });
        app.finished_at = Some(Timestamp::from_millis(1000 * last));
        app
    }

    fn found(app: &Application) -> (Severity, String, Vec<Advice>) {
        let found = elephant_sample::evaluate(app, "mapper-time", false).findings.remove(0);
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
        assert_eq!(elephant_sample::severity(&app, "mapper-time", true), Some(Severity::None));
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
    fn large_blocks_are_divided_and_files_written_anew() {
        let told = |settings: &[(&str, &str)]| {
            let (severity, message, advice) = found(&job(12, 20, settings));
            assert_eq!(severity, Severity::Critical, "{settings:?}: {message}");
            assert!(message.contains("and read 6 GiB each while containers were free"), "{message}");
            let lines: Vec<String> = advice.iter().map(|line| line.text.clone()).collect();
            lines.join("; ")
        };
        let by_block = told(&[("dfs.blocksize", "6g")]);
        assert_eq!(by_block, format!("{MAX} → 2147483648 (2 GiB), for about 18 map tasks"));
        // A job in many waves has no idle containers, and one whose map tasks are short needs no more of them.
        assert_eq!(found(&job(1, 20, &[("dfs.blocksize", "6g")])).0, Severity::None);
        // Far more than the minimum, and not by it.
        for settings in [&[][..], &[(MIN, "512m")]] {
            let advice = told(settings);
            assert!(advice.contains("their files cannot be split or have larger blocks"), "{advice}");
            assert!(advice.contains(": about 18 map tasks pay off; if the files have larger"), "{advice}");
        }
        let input = ("mapreduce.input.fileinputformat.inputdir", "/logs/a.gz");
        let gzip = told(&[("dfs.blocksize", "4g"), input]);
        assert_eq!(gzip, format!("{OTHER_FILES}: about 18 map tasks pay off"));
        assert!(!told(&[(MIN, "8g"), input]).contains("if the files"));
    }

    #[test]
    fn input_that_is_not_divided_by_size_is_not_judged_by_its_splits() {
        let severity = |settings: &[(&str, &str)]| found(&job(12, 20, settings)).0;
        let table = ("mapreduce.job.inputformat.class", "org.apache.hadoop.hbase.mapreduce.TableInputFormat");
        assert_eq!(severity(&[table]), Severity::None);
        // Small files.
        assert_eq!(severity(&[("dfs.blocksize", "16g")]), Severity::None);
        let combines = (
            "mapreduce.job.inputformat.class",
            "org.apache.hadoop.mapreduce.lib.input.CombineTextInputFormat",
        );
        assert_eq!(severity(&[combines]), Severity::Critical);
    }
}
