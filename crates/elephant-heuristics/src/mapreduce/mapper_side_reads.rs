//! `mapper-side-reads`: map tasks read files beyond their input (Hadoop Vaidya, "reading HDFS files as side effect").

use super::support::counters::{MissingCounters, input_bytes, unreadable};
use super::support::role::Role;
use super::support::tasks::{no_task_reports, tasks, without_tasks};
use crate::declare::mapreduce as rule;
use elephant_base::severity::Severity;
use elephant_base::units::Bytes;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::spark::Facet;
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_rule::finding::{Advice, Judgement, Measure, Verdict, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Ratio, Size};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{limit, percent};

rule_params! {
    /// Parameters of `mapper-side-reads`.
    pub(super) struct SideReads / SideReadsLayer {
        /// Whether only succeeded jobs are judged. If false, failed and killed jobs are judged by their
        /// succeeded tasks.
        only_succeeded_jobs: bool,
        /// (Bytes read from file systems - bytes of the input) / bytes of the input.
        side_share: Ascending<Ratio>,
        /// Bytes read from file systems - bytes of the input. Small side files cost little, however large the share.
        side_bytes: Ascending<Size>,
        /// Whether a task that reports an input of zero reads only other files, as in Hadoop Vaidya. If false,
        /// such a task is left out: its input format does not count what it reads.
        zero_input_is_real: bool,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "mapper-side-reads", "Mapper Side Reads", tells Scan, SideReads, |layers, _| load(layers, OtherFiles))
        .measured_by("side_ratio", Worse::Higher);

/// The message of a finding.
const MESSAGE: &str = "{maps_read} {read_bytes} for {input_bytes} of input: {side_bytes} from other files[, {share} of the input] ({limit})";

/// The counters of a task's input: of the input format, and of Hadoop 1.
const INPUT: [Counter; 2] = [Counter::InputFormatBytesRead, Counter::MapInputBytes];

struct OtherFiles(SideReads);

/// What map tasks read, and their input.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Reads {
    tasks: u64,
    read: i128,
    input: i128,
}

impl Reads {
    /// The sums over the tasks that report both.
    fn of(group: &TaskGroup, zero_input_is_real: bool) -> Self {
        let both = group.winners().filter_map(|row| {
            let read = input_bytes(group, row, MissingCounters::Unknown)?;
            let input = INPUT.into_iter().find_map(|counter| group.attempts.count(row, counter))?;
            // Hadoop counts the read of the description of its split, too.
            let split = group.attempts.count(row, Counter::SplitRawBytes).unwrap_or_default();
            let files = i128::from(read) - i128::from(split);
            (input > 0 || zero_input_is_real).then(|| (files.max(0), i128::from(input)))
        });
        both.fold(Self::default(), |sum, (read, input)| Self {
            tasks: sum.tasks + 1,
            read: sum.read + read,
            input: sum.input + input,
        })
    }

    /// The bytes of other files.
    fn side(self) -> i128 {
        (self.read - self.input).max(0)
    }

    /// Those over the input; infinite without input.
    fn share(self) -> f64 {
        let side = self.side();
        if side == 0 { 0.0 } else { side as f64 / self.input as f64 }
    }
}

impl Check for OtherFiles {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        let Some(group) = tasks(app, TaskKind::Map, params.only_succeeded_jobs) else {
            return without_tasks(app, TaskKind::Map, params.only_succeeded_jobs);
        };
        if let Some(reason) = unreadable(app, TaskKind::Map, &read_counters()) {
            return Verdict::NotEvaluated(reason);
        }
        let reads = Reads::of(group, params.zero_input_is_real);
        if reads.tasks == 0 {
            let what = "its input (BYTES_READ of the input format, or MAP_INPUT_BYTES) and what it read";
            return Verdict::NotEvaluated(no_task_reports(Role::Map, group, what));
        }
        let (side, share) = (reads.side(), reads.share());
        let low = Severity::Low;
        let conditions = [
            ("side_share", params.side_share.severity(share), params.side_share.describe_in(low, percent)),
            ("side_bytes", params.side_bytes.severity(side as f64), params.side_bytes.describe(low)),
        ];
        let severity = conditions.iter().map(|(_, severity, _)| *severity).min().unwrap_or_default();
        let passed = params.side_share.describe_in(severity, percent);
        let size = |bytes: i128| Measure::Size(Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX)));
        let in_words = if share.is_finite() { percent(share) } else { String::new() };
        Judgement::of(Role::Map.subject(), severity)
            .tasks(reads.tasks)
            .fact("tasks_count", Measure::Count(reads.tasks))
            .fact("read_bytes", size(reads.read))
            .fact("input_bytes", size(reads.input))
            .fact("side_bytes", size(side))
            .fact("side_ratio", Measure::Ratio(share.is_finite().then_some(share)))
            .message(
                MESSAGE,
                &[
                    ("maps_read", &Role::Map.do_what(reads.tasks, "read")),
                    ("share", &in_words),
                    ("limit", &limit(severity, passed, &conditions)),
                ],
            )
            .advice(|| {
                vec![Advice::new(
                    "map tasks open other files than their input, each task for itself: ship small ones once to each node with \
                     the distributed cache (mapreduce.job.cache.files), and join large ones instead",
)]
            })
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }

    fn reads(&self, kind: TaskKind) -> CounterMask {
        if kind == TaskKind::Map { CounterMask::of(&read_counters()) } else { CounterMask::NONE }
    }
}

/// All counters of the sums.
fn read_counters() -> Vec<Counter> {
    Counter::INPUT_BYTES.into_iter().chain(INPUT).chain([Counter::SplitRawBytes]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_rule::finding::Finding;
    use proptest::prelude::*;

    /// Map tasks that each read these MiB from HDFS, of which these are input by `counter`.
    fn job(tasks: &[(i64, Option<i64>)], counter: Counter) -> Application {
        let mut group = elephant_sample::maps(&tasks.iter().map(|(read, _)| (60, *read)).collect::<Vec<_>>());
        for (row, (_, input)) in tasks.iter().enumerate() {
            group.attempts.set_counter(row, counter, input.map(|mib| mib << 20));
        }
        elephant_sample::job(vec![group], &[])
    }

    fn found(app: &Application, more: &str) -> Option<Finding> {
        let on = format!("enabled: true\n{more}");
        elephant_sample::evaluate_with(app, RULE.id, &on).findings.into_iter().next()
    }

    #[test]
    fn reads_of_other_files_are_told() {
        for counter in INPUT {
            let told = found(&job(&[(3072, Some(2048)); 4], counter), "").unwrap();
            assert!(told.severity > Severity::None);
            assert!(
                told.message.starts_with(
                    "4 map tasks read 12 GiB for 8 GiB of input: 4 GiB from other files, 50 % of the input"
                ),
                "{}",
                told.message
            );
        }
        let normal = found(&job(&[(2048, Some(2048)); 4], Counter::InputFormatBytesRead), "").unwrap();
        assert_eq!(normal.severity, Severity::None, "Vaidya's own formula gives 0.5 here");
    }

    #[test]
    fn an_input_of_zero_is_unknown_unless_it_is_called_real() {
        let app = job(&[(3072, Some(0)); 4], Counter::InputFormatBytesRead);
        assert_eq!(found(&app, ""), None);
        let told = found(&app, "zero_input_is_real: true").unwrap();
        assert!(told.severity > Severity::None, "{}", told.message);
        // Nothing was read at all.
        let idle = job(&[(0, Some(0)); 2], Counter::InputFormatBytesRead);
        assert_eq!(found(&idle, "zero_input_is_real: true").unwrap().severity, Severity::None);
        assert_eq!(found(&job(&[(3072, None); 4], Counter::MapInputBytes), ""), None);
    }

    #[test]
    fn the_split_itself_is_no_side_read() {
        let mut app = job(&[(64, Some(64)); 2], Counter::InputFormatBytesRead);
        let group = app.groups.first_mut().unwrap();
        for row in 0..2 {
            group.attempts.set_counter(row, Counter::HdfsBytesRead, Some((64 << 20) + 117));
            group.attempts.set_counter(row, Counter::SplitRawBytes, Some(117));
        }
        assert_eq!(Reads::of(&app.groups[0], false).side(), 0);
    }

    proptest! {
        /// Vaidya less one: impact = 1 from a ratio of 2 on, else ratio / 2, of which 0.05 is reported.
        #[test]
        fn a_limit_of_a_tenth_is_vaidyas(read in 0i64..400, input in 0i64..200) {
            let app = job(&[(read, Some(input))], Counter::MapInputBytes);
            let limits = "side_share: [10%, never, never, never]\nside_bytes: off\nzero_input_is_real: true";
            let told = found(&app, limits).unwrap().severity;
            // Without input, only reads count; else 10 * (read - input) >= input.
            let expected = if input == 0 { read > 0 } else { 10 * (read - input) >= input };
            prop_assert_eq!(told > Severity::None, expected);
        }
    }
}
