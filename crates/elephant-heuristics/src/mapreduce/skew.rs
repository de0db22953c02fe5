//! `mapper-skew`, `reducer-skew`: a few tasks do far more than the rest (Dr. Elephant `GenericSkewHeuristic`).

mod advice;
mod division;
mod evidence;
mod input;
mod limits;
mod records;
mod remote;
mod uneven;
mod unused;

use std::sync::Arc;

use division::Division;
use evidence::evidence;
use limits::{Limit, conditions};
use records::MoreRecords;
use remote::Remote;

use super::support::counters::{MissingCounters, counter, input_bytes, is_unreadable};
use super::support::lost_time::LostTime;
use super::support::role::Role;
use super::support::run_times::RunTimes;
use super::support::splits::Target;
use super::support::tasks::{no_task_reports, tasks, without_tasks};
use crate::declare::mapreduce as rule;
use elephant_base::severity::Severity;
use elephant_base::stats::split::TwoGroups;
use elephant_base::units::{Bytes, Millis, three_digits};
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, chart_limit, load_advised};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::spark::Facet;
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_rule::finding::{ChartLimit, ComparedWith, Judgement, Measure, TroubleKind, Verdict, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio, Size, Unit};
use elephant_rule::params::{Positive, choice, rule_params};
use elephant_rule::wording::percent;

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
        /// How tasks are divided into a small and a large group: means, or means-or-median.
        division: Division,
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
        /// Largest share of the time in which tasks of the job ran that a task should take. Short jobs
        /// need shorter tasks.
        target_share: Positive<Ratio>,
        /// The part of a task's run time that does not depend on its input, for advice.
        start_up_cost: Quantity<Duration>,
        /// Time in which only tasks of the large group were still running / time in which tasks of the job
        /// ran. It decides the severity, whatever the number of tasks.
        lost_share: Ascending<Ratio>,
        /// Time in which only tasks of the large group were still running. Short jobs lose little, however
        /// large the share.
        lost_time: Ascending<Duration>,
        /// Mean bytes of the large group / that of the small one. Such data is worth a note even if little time is lost
        /// so far, because data grows.
        uneven_ratio: Ascending<Ratio>,
        /// Mean bytes of the large group / most bytes that the tasks of a kind read.
        uneven_share: Ascending<Ratio>,
        /// Mean bytes of the large group. Less is never worth a note.
        uneven_bytes: Quantity<Size>,
        /// Whether run times are judged, too. Dr. Elephant judges only data before 2.0.14.
        judge_time: bool,
        /// Whether the time in which reduce tasks wait for map tasks is left out of their run time.
        without_waiting: bool,
        /// Map tasks whose input is local are compared with those whose input is remote only if there are this many
        /// of each: with fewer, a median says little.
        remote_tasks: Quantity<Count>,
        /// Remote input explains long map tasks if the median run time of remote ones is this multiple of that of
        /// local ones, ...
        remote_slowdown: Quantity<Ratio>,
        /// ... and if this share of the long tasks is remote.
        remote_share: Quantity<Ratio>,
        /// Long tasks compute more than others if processors worked for this share of the time by which they are
        /// longer.
        computing_share: Quantity<Ratio>,
        /// Reduce tasks that are not needed for busy_records of all records, the largest first / all reduce tasks.
        unused_reduces: Ascending<Ratio>,
        /// The share of the records that busy reduce tasks have.
        busy_records: Quantity<Ratio>,
    }
}

/// The difference of the two means, as a multiple of the small group's mean.
const DEVIATION: ChartLimit = chart_limit("deviation", ComparedWith::GroupDeviation);

pub(super) const MAPPER: Rule =
    rule!(DrElephant { version: "0.4.0" }, "mapper-skew", "Mapper Skew", tells Skew, Skew, |layers, advice| load_advised(
        layers, advice, |p, advice| Skewness(Role::Map, p, advice)
    ))
    .measured_by("lost_ratio", Worse::Higher)
    .charted(&[DEVIATION])
    .also_telling(&[TroubleKind::Stragglers]);
pub(super) const REDUCER: Rule =
    rule!(DrElephant { version: "0.4.0" }, "reducer-skew", "Reducer Skew", tells Skew, Skew, |layers, advice| load_advised(
        layers, advice, |p, advice| Skewness(Role::Reduce, p, advice)
    ))
    .measured_by("lost_ratio", Worse::Higher)
    .charted(&[DEVIATION])
    .also_telling(&[TroubleKind::Stragglers]);

/// The messages about one of the two quantities.
struct Messages {
    /// What the groups of tasks do.
    verb: &'static str,
    two_groups: &'static str,
    /// The message if all tasks are alike.
    one_group: &'static str,
}

const OF_DATA: Messages = Messages {
    verb: "read",
    two_groups: "{small_group} {small_group_avg_bytes}[ {each}], {large_group} {large_group_avg_bytes}: {ratio}×[, but \
                 costs {little} time][; only the large ones still ran for {lost}, {share} of the time that tasks ran] ({limit})",
    one_group: "{all_tasks} {large_group_avg_bytes}[ {each}][ ({unused})]",
};

const OF_TIME: Messages = Messages {
    verb: "run",
    two_groups: "{small_group} {time_small_group_avg_ms}[ {each}], {large_group} {time_large_group_avg_ms}: {ratio}×[, \
                 with {records} the records][; only the long ones still ran for {lost}, {share} of the time that tasks ran] ({limit})",
    one_group: "{all_tasks} {time_large_group_avg_ms}[ {each}]",
};

struct Skewness(Role, Skew, Arc<AdviceParams>);

/// One of the two quantities that can be skewed.
struct Side {
    groups: TwoGroups,
    deviation: u64,
    /// What the large group cost; `None` if the times of a group are unknown.
    lost: Option<LostTime>,
    severity: Severity,
    limits: Vec<Limit>,
}

/// The values of one quantity, each with the attempt that it belongs to.
type Values = [(i64, usize)];

/// The judged tasks and the job that they belong to.
type Job<'a> = (&'a Advised<'a>, &'a TaskGroup, RunTimes);

impl Check for Skewness {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.2 };
        let Self(role, params, _) = self;
        let Some(group) = tasks(app, role.kind(), params.only_succeeded_jobs) else {
            return without_tasks(app, role.kind(), params.only_succeeded_jobs);
        };
        let bytes_of = |row| match role {
            Role::Map => input_bytes(group, row, params.missing_counters),
            Role::Reduce => counter(group, row, Counter::ReduceShuffleBytes, params.missing_counters),
        };
        let is_known = !is_unreadable(group, role.input());
        let winners = || group.winners().filter(|_| is_known);
        let bytes: Vec<(i64, usize)> = winners().filter_map(|row| Some((bytes_of(row)?, row))).collect();
        let run_times = RunTimes::of(app, *role, params.without_waiting);
        let timed = group.winners().filter(|_| params.judge_time);
        let times: Vec<(i64, usize)> =
            timed.filter_map(|row| Some((run_times.of_attempt(group, row)?, row))).collect();
        if bytes.is_empty() && times.is_empty() {
            return Verdict::NotEvaluated(no_task_reports(*role, group, "its input or its run time"));
        }
        let total = group.tasks.len() as u64;
        let block = params.block(app);
        let job = (app, group, run_times);
        let data = params.noted(job, *role, params.data_skew(job, &bytes, block));
        let time = params.time_skew(job, &times);
        let severity = data.severity.max(time.severity);
        let by_data = data.severity >= time.severity;
        let records = if by_data { None } else { MoreRecords::of(*role, params, job, time.groups.pivot) };
        let by_input = by_data || bytes.is_empty() || params.is_apart(&data) || records.is_some();
        let judgement = Judgement::of(role.subject(), severity)
            .tasks(total)
            // Long tasks that have no more data than the others are stragglers.
            .tells(if by_input { TroubleKind::Skew } else { TroubleKind::Stragglers })
            .facts(evidence(total, &bytes, &data, block, &times, &time))
            .facts((if by_data { &data } else { &time }).loss())
            .facts(records.into_iter().flat_map(MoreRecords::facts))
            .conditions(conditions(&data, &time, severity));
        let (side, messages) = if by_data && !bytes.is_empty() { (&data, OF_DATA) } else { (&time, OF_TIME) };
        self.explain(judgement, side, (&messages, records))
            .advice(|| {
                if !bytes.is_empty() && (by_data || params.is_apart(&data)) {
                    return self.data_advice(app, group, data.groups, block);
                }
                match records {
                    Some(records) => self.records_advice(job, records),
                    None => self.time_advice(job, time.groups),
                }
            })
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }

    fn reads(&self, kind: TaskKind) -> CounterMask {
        let Self(role, _, _) = self;
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
    /// How long tasks should run.
    const fn target(&self) -> Target {
        Target { run_time: self.target_run_time, share: self.target_share, start_up: self.start_up_cost }
    }

    fn block(&self, app: &Application) -> Bytes {
        let own = if self.block_size_from_job { app.conf.bytes(ConfKey::BlockSize) } else { None };
        own.filter(|block| block.get() > 0)
            .or_else(|| Bytes::from_f64(self.block_size.get()))
            .unwrap_or(Bytes::from_mib(64))
    }

    /// The number of tasks that decides whether skew matters, and the severity that it allows.
    fn compared(&self, groups: TwoGroups, total: u64) -> (Severity, f64) {
        let count = match self.group_gate {
            GroupGate::SmallGroup => groups.small.count,
            GroupGate::LargeGroup => groups.large.count,
            GroupGate::AllTasks => total,
        };
        // If all tasks are alike, there is nothing to compare.
        let is_apart = groups.small.count > 0;
        let severity = if is_apart { self.group_tasks.severity(count as f64) } else { Severity::None };
        (severity, count as f64)
    }

    fn data_skew(&self, job: Job<'_>, bytes: &Values, block: Bytes) -> Side {
        self.worst(bytes, |groups| {
            let in_blocks = |share: f64| Bytes::from_f64(share * block.as_f64()).unwrap_or(block).to_string();
            let blocks = groups.large.mean as f64 / block.as_f64().max(1.0);
            let severity = self.large_group_blocks.severity_in(groups.large.mean as f64, block.as_f64());
            let size = Limit::of(limits::SIZE, &self.large_group_blocks, (severity, blocks), in_blocks);
            let lost = LostTime::of((job.0, job.1, job.2), bytes, (groups.pivot, false));
            self.side(job, groups, groups.deviation(), lost, size)
        })
    }

    fn time_skew(&self, job: Job<'_>, times: &Values) -> Side {
        self.worst(times, |groups| {
            // Dr. Elephant compares whole seconds.
            let deviation = groups.in_units_of(1000).deviation();
            let is_explained = Remote::of(self, job, groups.pivot).is_some();
            let lost = LostTime::of((job.0, job.1, job.2), times, (groups.pivot, is_explained));
            self.side(job, groups, deviation, lost, None)
        })
    }

    fn side(
        &self,
        (_, group, _): Job<'_>,
        groups: TwoGroups,
        deviation: u64,
        lost: Option<LostTime>,
        size: Option<Limit>,
    ) -> Side {
        let compared = self.compared(groups, group.tasks.len() as u64);
        // Cut-offs are excesses: a large group with 17× the small one exceeds it by 16.
        let as_ratio = |more: f64| format!("{}×", three_digits(more + 1.0));
        let apart = self.deviation.severity(deviation as f64);
        // The time lost comes first: of equal conditions, the first is named.
        let limits: Vec<Limit> = self
            .cost(lost)
            .into_iter()
            .chain(Limit::of(limits::RATIO, &self.deviation, (apart, deviation as f64), as_ratio))
            .chain(size)
            .chain(Limit::of(limits::TASKS, &self.group_tasks, compared, Count::show))
            .collect();
        let severity = limits.iter().map(|limit| limit.severity).chain([Self::alike(groups)]).min();
        Side { groups, deviation, lost, severity: severity.unwrap_or_default(), limits }
    }

    /// Whether the large group has far more data than the small one, however little that is.
    fn is_apart(&self, data: &Side) -> bool {
        data.groups.small.count > 0 && self.deviation.severity(data.deviation as f64) > Severity::None
    }

    /// Without a small group, there is nothing to compare.
    const fn alike(groups: TwoGroups) -> Severity {
        if groups.small.count == 0 { Severity::None } else { Severity::Critical }
    }

    /// The limits on the time lost. If it is unknown, no finding is worse than low.
    fn cost(&self, lost: Option<LostTime>) -> Vec<Limit> {
        let Some(lost) = lost else {
            let is_judged = self.lost_share.values().is_some() || self.lost_time.values().is_some();
            return is_judged.then(Limit::unknown_cost).into_iter().collect();
        };
        let share = self.lost_share.severity(lost.share);
        let time = self.lost_time.severity(lost.time.as_f64());
        Limit::of(limits::SHARE, &self.lost_share, (share, lost.share), percent)
            .into_iter()
            .chain(Limit::of(limits::TIME, &self.lost_time, (time, lost.time.as_f64()), Duration::show))
            .collect()
    }
}

impl Side {
    /// The mean of the large group over that of the small one.
    fn ratio(&self) -> String {
        let TwoGroups { small, large, .. } = self.groups;
        three_digits(large.mean as f64 / small.mean.max(1) as f64)
    }

    /// What the large group cost.
    fn loss(&self) -> Vec<(&'static str, Measure)> {
        let share = ("lost_ratio", Measure::Ratio(self.lost.map(|lost| lost.share)));
        self.lost.map(|lost| ("lost_ms", Measure::Time(lost.time))).into_iter().chain([share]).collect()
    }
}

impl Skewness {
    /// "4 reduce tasks run 1m 2s each, 1 runs 12m 8s: 11.7×; only the long ones still ran for 11m 6s, 91 % of
    /// the time that tasks ran (critical from 50 %)".
    fn explain(
        &self,
        judgement: Judgement,
        side: &Side,
        (messages, records): (&Messages, Option<MoreRecords>),
    ) -> Judgement {
        let Self(role, _, _) = self;
        let TwoGroups { small, large, .. } = side.groups;
        let (template, first) =
            if small.count == 0 { (messages.one_group, large) } else { (messages.two_groups, small) };
        let lost = side.lost.filter(|lost| lost.time > Millis::ZERO);
        judgement.message(
            template,
            &[
                ("all_tasks", &role.do_what(large.count, messages.verb)),
                ("small_group", &role.do_what(small.count, messages.verb)),
                ("large_group", &they_do(large.count, messages.verb)),
                ("each", &if first.count == 1 { "" } else { "each" }),
                ("ratio", &side.ratio()),
                ("little", &if side.is_noted() { "little" } else { "" }),
                ("records", &records.map(MoreRecords::ratio).unwrap_or_default()),
                ("lost", &lost.map(|lost| lost.time.to_string()).unwrap_or_default()),
                ("share", &lost.map(|lost| percent(lost.share)).unwrap_or_default()),
                ("limit", &side.limit()),
                ("unused", &side.limit_of_unused()),
            ],
        )
    }
}

/// "1 reads", "20 read".
fn they_do(tasks: u64, verb: &str) -> String {
    let singular = if tasks == 1 { "s" } else { "" };
    format!("{tasks} {verb}{singular}")
}
