//! `tez-mapper-skew`, `tez-reducer-skew`, `tez-scope-skew`: a few tasks do far more than the rest (Dr. Elephant
//! `tez.heuristics.GenericDataSkewHeuristic`).

use super::support::{Role, Tasks};
use crate::declare::tez as rule;
use crate::mapreduce::{MissingCounters, counter, input_bytes, run_time, to_bytes, to_millis};
use elephant_base::severity::Severity;
use elephant_base::stats::split::{TwoGroups, two_groups};
use elephant_base::units::{Bytes, Millis};
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::Facet;
use elephant_model::model::table::TaskGroup;
use elephant_model::model::tez::Vertex;
use elephant_rule::finding::{Advice, Judgement, Measure, Subject, Verdict, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Ratio, Size};
use elephant_rule::params::{Positive, rule_params};
use elephant_rule::wording::limit;

rule_params! {
    /// Parameters of the rules on skew.
    pub(super) struct Skew / SkewLayer {
        /// Whether only succeeded DAGs are judged. If false, failed and killed ones are judged by their succeeded tasks.
        only_succeeded_jobs: bool,
        /// How a missing counter is read: unknown, or zero as in Dr. Elephant.
        missing_counters: MissingCounters,
        /// Whether the tasks of each vertex are compared with each other only. Vertices read different tables.
        by_vertex: bool,
        /// Difference of the two groups' means / the smaller mean.
        deviation: Ascending<Ratio>,
        /// Mean bytes of the large group, in blocks. Skew among small inputs costs nothing.
        large_group_blocks: Ascending<Ratio>,
        /// Block size of a DAG whose configuration does not contain it.
        block_size: Positive<Size>,
        /// Whether the block size of the DAG's configuration is used.
        block_size_from_job: bool,
        /// Number of tasks in the group with little work.
        group_tasks: Ascending<Count>,
    }
}

pub(super) const MAPPER: Rule =
    rule!(DrElephant { version: "master" }, "tez-mapper-skew", "Tez Mapper Skew", tells Skew, Skew, |layers, _| load(
        layers, |p| Skewness(Role::Mapper, p)
    ))
    .measured_by("deviation_ratio", Worse::Higher);
pub(super) const REDUCER: Rule =
    rule!(DrElephant { version: "master" }, "tez-reducer-skew", "Tez Reducer Skew", tells Skew, Skew, |layers, _| load(
        layers, |p| Skewness(Role::Reducer, p)
    ))
    .measured_by("deviation_ratio", Worse::Higher);
pub(super) const SCOPE: Rule =
    rule!(DrElephant { version: "master" }, "tez-scope-skew", "Tez Scope Skew", tells Skew, Skew, |layers, _| load(
        layers, |p| Skewness(Role::Scope, p)
    ))
    .measured_by("deviation_ratio", Worse::Higher);

/// The message of a finding about bytes.
const OF_DATA: &str = "{place}{large} read {large_bytes} on average, {small} read {small_bytes} ({limit})";
/// The message of a finding about run times.
const OF_TIME: &str = "{place}{large} run {large_time_ms} on average, {small} run {small_time_ms} ({limit})";

struct Skewness(Role, Skew);

/// Tasks that are compared with each other.
struct Compared<'a> {
    vertex: Option<&'a Vertex>,
    total: u64,
    bytes: TwoGroups,
    seconds: TwoGroups,
    /// The time split in milliseconds, for the evidence.
    times: TwoGroups,
}

/// A judgement on one of the two quantities.
struct Judged {
    severity: Severity,
    of_data: bool,
    limit: String,
}

impl Check for Skewness {
    fn check(&self, app: &Application) -> Verdict {
        let Self(role, params) = self;
        let tasks = match Tasks::of(app, *role, params.only_succeeded_jobs) {
            Ok(tasks) => tasks,
            Err(why) => return why.into(),
        };
        let counters: &[Counter] =
            if *role == Role::Reducer { &[Counter::ReduceShuffleBytes] } else { &Counter::INPUT_BYTES };
        if let Some(verdict) = tasks.unreadable(app, counters) {
            return verdict;
        }
        let has_data = |(group, row): (&TaskGroup, usize)| {
            run_time(group, row).is_some() || self.bytes(group, row).is_some()
        };
        if params.missing_counters == MissingCounters::Unknown && !tasks.winners().any(has_data) {
            return tasks.none_reports("bytes read or a run time").into();
        }
        let compared = self.compared(&tasks).into_iter().map(|of| (params.judge(app, &of), of));
        // Of equals, the first.
        let worst =
            compared.reduce(|worst, next| if next.0.severity > worst.0.severity { next } else { worst });
        let Some((judged, of)) = worst else { return Verdict::NotApplicable };
        self.judgement(&judged, &of).into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

impl Skewness {
    fn bytes(&self, group: &TaskGroup, row: usize) -> Option<i64> {
        let Self(role, params) = self;
        match role {
            Role::Reducer => counter(group, row, Counter::ReduceShuffleBytes, params.missing_counters),
            Role::Mapper | Role::Scope => input_bytes(group, row, params.missing_counters),
        }
    }

    fn compared<'a>(&self, tasks: &Tasks<'a>) -> Vec<Compared<'a>> {
        let of = |vertex: Option<&'a Vertex>, groups: &[&'a TaskGroup]| {
            let winners = || groups.iter().flat_map(|group| group.winners().map(|row| (*group, row)));
            let bytes: Vec<i64> = winners().filter_map(|(group, row)| self.bytes(group, row)).collect();
            let times: Vec<i64> = winners().filter_map(|(group, row)| run_time(group, row)).collect();
            let times = two_groups(&times);
            Compared {
                vertex,
                total: groups.iter().map(|group| group.tasks.len() as u64).sum(),
                bytes: two_groups(&bytes),
                // Dr. Elephant compares whole seconds.
                seconds: times.in_units_of(Millis::from_secs(1).get().cast_signed()),
                times,
            }
        };
        if self.1.by_vertex {
            return tasks.vertices.iter().map(|(vertex, group)| of(Some(vertex), &[group])).collect();
        }
        let groups: Vec<&TaskGroup> = tasks.vertices.iter().map(|(_, group)| *group).collect();
        vec![of(None, &groups)]
    }

    fn judgement(&self, judged: &Judged, of: &Compared<'_>) -> Judgement {
        let Self(role, _) = self;
        let groups = if judged.of_data { of.bytes } else { of.times };
        let place = of.vertex.map(|vertex| format!("in {}, ", vertex.title())).unwrap_or_default();
        let subject = of.vertex.map_or(role.subject(), |vertex| Subject::Vertex(vertex.number));
        let deviation = if judged.of_data { of.bytes.deviation() } else { of.seconds.deviation() };
        Judgement::of(subject, judged.severity)
            .tasks(of.total)
            .fact("tasks_count", Measure::Count(of.total))
            .fact("deviation_ratio", Measure::Ratio(Some(deviation as f64)))
            .fact("large_tasks_count", Measure::Count(groups.large.count))
            .fact("small_tasks_count", Measure::Count(groups.small.count))
            .fact("large_bytes", Measure::Size(to_bytes(of.bytes.large.mean)))
            .fact("small_bytes", Measure::Size(to_bytes(of.bytes.small.mean)))
            .fact("large_time_ms", Measure::Time(to_millis(of.times.large.mean)))
            .fact("small_time_ms", Measure::Time(to_millis(of.times.small.mean)))
            .message(
                if judged.of_data { OF_DATA } else { OF_TIME },
                &[
                    ("place", &place),
                    ("large", &role.count(groups.large.count)),
                    ("small", &groups.small.count),
                    ("limit", &judged.limit),
                ],
            )
            .advice(|| vec![Advice::new(remedy(*role))])
    }
}

impl Skew {
    /// The worse of the two judgements; of equals, that on data, which has a remedy.
    fn judge(&self, app: &Application, of: &Compared<'_>) -> Judged {
        let (data, time) = (self.of_data(app, of), self.of_time(of));
        if time.severity > data.severity { time } else { data }
    }

    fn of_data(&self, app: &Application, of: &Compared<'_>) -> Judged {
        let set = if self.block_size_from_job { app.conf.bytes(ConfKey::BlockSize) } else { None };
        let block = set.unwrap_or_else(|| Bytes::from_f64(self.block_size.get()).unwrap_or_default());
        let blocks = of.bytes.large.mean as f64 / block.as_f64();
        let low = Severity::Low;
        let size = (
            "large_group_blocks",
            self.large_group_blocks.severity(blocks),
            self.large_group_blocks.describe(low),
        );
        self.judged(of.bytes, true, Some(size))
    }

    fn of_time(&self, of: &Compared<'_>) -> Judged {
        self.judged(of.seconds, false, None)
    }

    fn judged(
        &self,
        groups: TwoGroups,
        of_data: bool,
        size: Option<(&'static str, Severity, String)>,
    ) -> Judged {
        let deviation = groups.deviation() as f64;
        let low = Severity::Low;
        let mut conditions = vec![
            ("deviation", self.deviation.severity(deviation), self.deviation.describe(low)),
            (
                "group_tasks",
                self.group_tasks.severity(groups.small.count as f64),
                self.group_tasks.describe(low),
            ),
        ];
        conditions.extend(size);
        let severity = conditions.iter().map(|(_, severity, _)| *severity).min().unwrap_or_default();
        let passed = format!("{}× apart, {}", groups.deviation(), self.deviation.describe(severity));
        Judged { severity, of_data, limit: limit(severity, passed, &conditions) }
    }
}

/// What helps.
const fn remedy(role: Role) -> &'static str {
    match role {
        Role::Mapper => {
            "look for a few large files that cannot be split (gzip), and group splits evenly: tez.grouping.max-size and \
             tez.grouping.min-size bound what one task reads"
        }
        Role::Reducer => {
            "a few keys have most rows: filter or salt them, or let Hive join them apart (hive.optimize.skewjoin) or \
             aggregate in two steps (hive.groupby.skewindata)"
        }
        Role::Scope => {
            "a few keys or files have most of the data: join them with USING 'skewed', or bound what one task reads with \
             pig.maxCombinedSplitSize"
        }
    }
}
