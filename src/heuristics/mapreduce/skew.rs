//! `mapper-skew`, `reducer-skew`: a few tasks do far more than the rest (Dr. Elephant `GenericSkewHeuristic`).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{Condition, MissingCounters, Role, change, counter, input_bytes, is_unreadable, limit};
use super::{change_towards, run_time, split_for, tasks, to_bytes, to_millis, whole_mib, without_tasks};
use super::{no_task_reports, rule};
use crate::finding::{ChartLimit, ComparedWith, Judgement, Measure, Verdict, Worse};
use crate::heuristics::split::{TwoGroups, two_groups};
use crate::heuristics::{Check, Rule, chart_limit, load};
use crate::model::conf::ConfKey;
use crate::model::counters::{Counter, CounterMask};
use crate::model::spark::Facet;
use crate::model::table::{TaskGroup, TaskKind};
use crate::model::{Application, Symbol};
use crate::params::cutoffs::Ascending;
use crate::params::quantity::{Count, Duration, Ratio, Size};
use crate::params::{Positive, choice, rule_params};
use crate::severity::Severity;
use crate::units::Bytes;

choice! {
    /// The group whose number of tasks must be large for skew to matter.
    pub(super) enum GroupGate {
        /// The tasks with little work, as in Dr. Elephant's code.
        SmallGroup = "small-group",
        /// The tasks with much work.
        LargeGroup = "large-group",
        /// All tasks, which is one reading of the wiki.
        AllTasks = "all-tasks",
    }
}

rule_params! {
    /// Parameters of `mapper-skew` and `reducer-skew`.
    pub(super) struct Skew / SkewLayer {
        /// Whether only succeeded jobs are judged. If false, failed and killed jobs are judged by their
        /// succeeded tasks.
        only_succeeded_jobs: bool,
        /// How a missing counter is read: unknown, or zero as in Dr. Elephant.
        missing_counters: MissingCounters,
        /// Difference of the two groups' means / the smaller mean.
        deviation: Ascending<Ratio>,
        /// Mean bytes of the large group, in blocks. Skew among small inputs costs nothing.
        large_group_blocks: Ascending<Ratio>,
        /// Block size of a job whose configuration does not contain it.
        block_size: Positive<Size>,
        /// Whether the block size of the job's configuration is used.
        block_size_from_job: bool,
        /// Number of tasks in the group that group_gate names.
        group_tasks: Ascending<Count>,
        /// The group that group_tasks counts: small-group, large-group or all-tasks.
        group_gate: GroupGate,
        /// Run time per task that advice aims at.
        target_run_time: Positive<Duration>,
        /// How much longer the slow group runs. A skew of a few seconds does no harm.
        time_gap: Ascending<Duration>,
    }
}

/// The difference of the two means, as a multiple of the small group's mean.
const DEVIATION: ChartLimit = chart_limit("deviation", ComparedWith::GroupDeviation);

pub(super) const MAPPER: Rule =
    rule!(DrElephant { version: "0.4.0" }, "mapper-skew", "Mapper Skew", Skew, |layers| load(layers, |p| {
        Skewness(Role::Map, p)
    }))
    .measured_by("deviation_ratio", Worse::Higher)
    .charted(&[DEVIATION]);
pub(super) const REDUCER: Rule =
    rule!(DrElephant { version: "0.4.0" }, "reducer-skew", "Reducer Skew", Skew, |layers| load(
        layers,
        |p| Skewness(Role::Reduce, p)
    ))
    .measured_by("deviation_ratio", Worse::Higher)
    .charted(&[DEVIATION]);

/// The messages about one of the two quantities.
struct Messages {
    /// What the groups of tasks do.
    verb: &'static str,
    two_groups: &'static str,
    /// All tasks are alike.
    one_group: &'static str,
}

const OF_DATA: Messages = Messages {
    verb: "read",
    two_groups: "{small_group} {small_group_avg_bytes} each, {large_group} {large_group_avg_bytes}: {deviation}× more \
                 ({limit})",
    one_group: "{all_tasks} {large_group_avg_bytes} each",
};

const OF_TIME: Messages = Messages {
    verb: "run",
    two_groups: "{small_group} {time_small_group_avg_ms} each, {large_group} {time_large_group_avg_ms}: {deviation}× \
                 longer ({limit})",
    one_group: "{all_tasks} {time_large_group_avg_ms} each",
};

struct Skewness(Role, Skew);

/// One of the two quantities that can be skewed.
struct Side {
    groups: TwoGroups,
    deviation: u64,
    severity: Severity,
    conditions: Vec<Condition<'static>>,
}

impl Check for Skewness {
    fn check(&self, app: &Application) -> Verdict {
        let Self(role, params) = self;
        let Some(group) = tasks(app, role.kind(), params.only_succeeded_jobs) else {
            return without_tasks(app, role.kind(), params.only_succeeded_jobs);
        };
        let bytes_of = |row| match role {
            Role::Map => input_bytes(group, row, params.missing_counters),
            Role::Reduce => counter(group, row, Counter::ReduceShuffleBytes, params.missing_counters),
        };
        let is_known = !is_unreadable(group, role.input());
        let bytes: Vec<i64> = group.winners().filter(|_| is_known).filter_map(bytes_of).collect();
        let times: Vec<i64> = group.winners().filter_map(|row| run_time(group, row)).collect();
        if bytes.is_empty() && times.is_empty() {
            return Verdict::NotEvaluated(no_task_reports(*role, group, "its input or its run time"));
        }
        let total = group.tasks.len() as u64;
        let block = params.block(app);
        let data = params.data_skew(&bytes, total, block);
        let time = params.time_skew(&times, total);
        let severity = data.severity.max(time.severity);
        let by_data = data.severity >= time.severity;
        let judgement = Judgement::of(role.subject(), severity)
            .tasks(total)
            .facts(evidence(total, &bytes, &data, block, &times, &time));
        let (side, messages) = if by_data && !bytes.is_empty() { (&data, OF_DATA) } else { (&time, OF_TIME) };
        self.explain(judgement, side, &messages)
            .advice(|| {
                if by_data {
                    self.data_advice(app, group, data.groups, block)
                } else {
                    self.time_advice(app, group, time.groups)
                }
            })
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }

    fn reads(&self, kind: TaskKind) -> CounterMask {
        let Self(role, _) = self;
        if kind == role.kind() { CounterMask::of(role.input()) } else { CounterMask::NONE }
    }
}

impl Role {
    /// The counters that add up to a task's input.
    const fn input(self) -> &'static [Counter] {
        match self {
            Self::Map => &Counter::INPUT_BYTES,
            Self::Reduce => &[Counter::ReduceShuffleBytes],
        }
    }
}

impl Skew {
    fn block(&self, app: &Application) -> Bytes {
        let own = if self.block_size_from_job { app.conf.bytes(ConfKey::BlockSize) } else { None };
        own.filter(|block| block.get() > 0)
            .or_else(|| Bytes::from_f64(self.block_size.get()))
            .unwrap_or(Bytes::from_mib(64))
    }

    fn gate(&self, groups: TwoGroups, total: u64) -> Severity {
        if groups.small.count == 0 {
            // All tasks are alike, so there is nothing to compare.
            return Severity::None;
        }
        let count = match self.group_gate {
            GroupGate::SmallGroup => groups.small.count,
            GroupGate::LargeGroup => groups.large.count,
            GroupGate::AllTasks => total,
        };
        self.group_tasks.severity(count as f64)
    }

    fn data_skew(&self, bytes: &[i64], total: u64, block: Bytes) -> Side {
        let groups = two_groups(bytes);
        let blocks = self.large_group_blocks.severity_in(groups.large.mean as f64, block.as_f64());
        let in_blocks = |share: f64| Bytes::from_f64(share * block.as_f64()).unwrap_or(block).to_string();
        let size =
            ("large_group_blocks", blocks, self.large_group_blocks.describe_in(Severity::Low, in_blocks));
        self.side(groups, groups.deviation(), size, total)
    }

    fn time_skew(&self, times: &[i64], total: u64) -> Side {
        let groups = two_groups(times);
        // Dr. Elephant compares whole seconds.
        let deviation = groups.in_units_of(1000).deviation();
        let gap = groups.large.mean.saturating_sub(groups.small.mean);
        let gap = ("time_gap", self.time_gap.severity(gap as f64), self.time_gap.describe(Severity::Low));
        self.side(groups, deviation, gap, total)
    }

    fn side(&self, groups: TwoGroups, deviation: u64, size: Condition<'static>, total: u64) -> Side {
        let apart = self.deviation.severity(deviation as f64);
        let conditions = vec![
            ("deviation", apart, self.deviation.describe(Severity::Low)),
            size,
            ("group_tasks", self.gate(groups, total), self.group_tasks.describe(Severity::Low)),
        ];
        let severity = conditions.iter().map(|(_, severity, _)| *severity).min().unwrap_or_default();
        Side { groups, deviation, severity, conditions }
    }
}

impl Skewness {
    /// "200 map tasks read 1 MiB each, 1 reads 100 MiB: 99× more (critical from 16)".
    fn explain(&self, judgement: Judgement, side: &Side, messages: &Messages) -> Judgement {
        let Self(role, params) = self;
        let TwoGroups { small, large, .. } = side.groups;
        let template = if small.count == 0 { messages.one_group } else { messages.two_groups };
        judgement.message(
            template,
            &[
                ("all_tasks", &role.do_what(large.count, messages.verb)),
                ("small_group", &role.do_what(small.count, messages.verb)),
                ("large_group", &they_do(large.count, messages.verb)),
                ("deviation", &side.deviation),
                ("limit", &limit(side.severity, params.deviation.describe(side.severity), &side.conditions)),
            ],
        )
    }

    fn data_advice(
        &self,
        app: &Application,
        group: &TaskGroup,
        groups: TwoGroups,
        block: Bytes,
    ) -> Vec<String> {
        match self.0 {
            Role::Map => {
                let large = to_bytes(groups.large.mean);
                let even = split_for(group, self.1.target_run_time);
                let setting = match even {
                    // Larger splits balance the map tasks: at that size, the large group is not large.
                    Some(size) if size >= large => {
                        change_towards(app, ConfKey::SplitMinSize, size.get(), true)
                            .map(|change| format!("give all map tasks the same amount: {change} ({size})"))
                    }
                    _ => {
                        let size = even.unwrap_or_else(|| whole_mib(Bytes::new(block.min(large).get() / 2)));
                        change_towards(app, ConfKey::SplitMaxSize, size.get(), false)
                            .map(|change| format!("split the large inputs: {change} ({size})"))
                    }
                };
                let mut advice: Vec<String> = setting.into_iter().collect();
                advice.push(
                    "files compressed with gzip cannot be split: write large ones as bzip2, ORC or Parquet"
                        .to_owned(),
                );
                advice
            }
            Role::Reduce => {
                let combined = app.group(super::TaskKind::Map).is_some_and(|maps| {
                    maps.winners().any(|row| maps.attempts.count(row, Counter::CombineInputRecords) > Some(0))
                });
                let mut advice = vec![
                    "distribute the frequent keys: add a random prefix to them and aggregate twice, or use a \
                     partitioner that treats them separately (mapreduce.job.partitioner.class); in Hive \
                     hive.groupby.skewindata=true or hive.optimize.skewjoin=true"
                        .to_owned(),
                ];
                if !combined {
                    advice.push(
                        "no combiner ran: set one (mapreduce.job.combine.class) if the aggregation allows it"
                            .to_owned(),
                    );
                }
                advice
            }
        }
    }

    fn time_advice(&self, app: &Application, group: &TaskGroup, groups: TwoGroups) -> Vec<String> {
        let Self(role, _) = self;
        let mut advice = vec![match common_node(app, group, groups.pivot) {
            Some((node, there, long)) => format!(
                "{there} of the {long} long {} ran on {node}: check that node, and exclude it from the cluster \
                 (yarn.resourcemanager.nodes.exclude-path) while it is slow",
                role.plural()
            ),
            None => format!(
                "the long {} read no more than the others: look for records that cost more than others, and check \
                 the nodes that they ran on",
                role.plural()
            ),
        }];
        if app.conf.flag(role.speculative()) == Some(false) {
            advice.push(change(app, role.speculative(), true));
        }
        advice
    }
}

/// "1 reads", "20 read".
fn they_do(tasks: u64, verb: &str) -> String {
    let singular = if tasks == 1 { "s" } else { "" };
    format!("{tasks} {verb}{singular}")
}

/// The node that ran most of the tasks with at least `pivot` milliseconds, if there is one: its name, its
/// number of these tasks, and their total number.
fn common_node<'a>(app: &'a Application, group: &TaskGroup, pivot: i64) -> Option<(&'a str, usize, usize)> {
    let mut by_node: BTreeMap<Symbol, usize> = BTreeMap::new();
    let mut long = 0;
    for row in group.winners().filter(|&row| run_time(group, row).is_some_and(|time| time >= pivot)) {
        long += 1;
        if let Some(node) = group.attempts.node(row) {
            *by_node.entry(node).or_default() += 1;
        }
    }
    let (&node, &there) = by_node.iter().max_by_key(|(node, count)| (**count, Reverse(**node)))?;
    let nodes_of_all: BTreeSet<Symbol> = group.winners().filter_map(|row| group.attempts.node(row)).collect();
    // One task is not a pattern, and neither is a node that ran all tasks.
    let tells = there >= 2 && there * 2 > long && nodes_of_all.len() > 1;
    if tells { Some((app.strings.get(node)?, there, long)) } else { None }
}

fn evidence(
    total: u64,
    bytes: &[i64],
    data: &Side,
    block: Bytes,
    times: &[i64],
    time: &Side,
) -> Vec<(&'static str, Measure)> {
    let mut evidence = vec![("tasks_count", Measure::Count(total))];
    if !bytes.is_empty() {
        let TwoGroups { small, large, .. } = data.groups;
        evidence.extend([
            ("deviation_ratio", Measure::Ratio(Some(data.deviation as f64))),
            ("small_group_count", Measure::Count(small.count)),
            ("small_group_avg_bytes", Measure::Size(to_bytes(small.mean))),
            ("large_group_count", Measure::Count(large.count)),
            ("large_group_avg_bytes", Measure::Size(to_bytes(large.mean))),
            ("block_bytes", Measure::Size(block)),
        ]);
    }
    if !times.is_empty() {
        let TwoGroups { small, large, .. } = time.groups;
        evidence.extend([
            ("time_deviation_ratio", Measure::Ratio(Some(time.deviation as f64))),
            ("time_small_group_count", Measure::Count(small.count)),
            ("time_small_group_avg_ms", Measure::Time(to_millis(small.mean))),
            ("time_large_group_count", Measure::Count(large.count)),
            ("time_large_group_avg_ms", Measure::Time(to_millis(large.mean))),
        ]);
    }
    evidence
}
