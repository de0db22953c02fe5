//! `tez-mapper-speed`, `tez-scope-speed`: tasks read their input slowly (Dr. Elephant
//! `tez.heuristics.MapperSpeedHeuristic`, `ScopeSpeedHeuristic`).

use super::support::{Role, Tasks};
use crate::declare::tez as rule;
use crate::mapreduce::{MissingCounters, input_bytes, run_time, to_bytes, to_millis};
use elephant_base::severity::Severity;
use elephant_base::stats::median;
use elephant_base::units::BytesPerSecond;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::Facet;
use elephant_rule::finding::{Advice, Judgement, Measure, Verdict, Worse};
use elephant_rule::params::cutoffs::{Ascending, Descending};
use elephant_rule::params::quantity::{Duration, Speed};
use elephant_rule::params::rule_params;
use elephant_rule::wording::limit;

rule_params! {
    /// Parameters of the rules on speed.
    pub(super) struct Reading / ReadingLayer {
        /// Whether only succeeded DAGs are judged. If false, failed and killed ones are judged by their succeeded tasks.
        only_succeeded_jobs: bool,
        /// How a missing counter is read: unknown, or zero as in Dr. Elephant.
        missing_counters: MissingCounters,
        /// Median of the input read per second.
        speed: Descending<Speed>,
        /// Median run time. Short tasks spend most of it on their start.
        run_time: Ascending<Duration>,
    }
}

pub(super) const MAPPER: Rule =
    rule!(DrElephant { version: "master" }, "tez-mapper-speed", "Tez Mapper Speed", tells SlowTasks, Reading, |layers, _| load(
        layers, |p| Speeds(Role::Mapper, p)
    ))
    .measured_by("speed_bytes_per_second", Worse::Lower);
pub(super) const SCOPE: Rule =
    rule!(DrElephant { version: "master" }, "tez-scope-speed", "Tez Scope Speed", tells SlowTasks, Reading, |layers, _| load(
        layers, |p| Speeds(Role::Scope, p)
    ))
    .measured_by("speed_bytes_per_second", Worse::Lower);

/// The message of a finding.
const MESSAGE: &str =
    "a {role} task reads {input_bytes} in {run_time_ms}, {speed_bytes_per_second} ({limit})";

struct Speeds(Role, Reading);

impl Check for Speeds {
    fn check(&self, app: &Application) -> Verdict {
        let Self(role, params) = self;
        let tasks = match Tasks::of(app, *role, params.only_succeeded_jobs) {
            Ok(tasks) => tasks,
            Err(why) => return why.into(),
        };
        if let Some(verdict) = tasks.unreadable(app, &Counter::INPUT_BYTES) {
            return verdict;
        }
        let missing = params.missing_counters;
        // A task that took no time has no speed; Dr. Elephant divides by its time.
        let samples = tasks.winners().filter_map(|(group, row)| {
            let time = run_time(group, row).filter(|time| *time > 0)?;
            Some((input_bytes(group, row, missing)?, time))
        });
        let samples: Vec<(i64, i64)> = samples.collect();
        let nothing_read = samples.iter().all(|(bytes, _)| *bytes == 0);
        if missing == MissingCounters::Unknown && nothing_read {
            return tasks.none_reports("bytes read from a file system and a run time").into();
        }
        let middle = |of: fn(&(i64, i64)) -> i64| median(&samples.iter().map(of).collect::<Vec<_>>());
        let middles = (middle(|(bytes, _)| *bytes), middle(|(_, time)| *time), middle(speed));
        let (Some(bytes), Some(time), Some(speed)) = middles else { return Verdict::NotApplicable };
        let low = Severity::Low;
        let conditions = [
            ("speed", params.speed.severity(speed as f64), params.speed.describe(low)),
            ("run_time", params.run_time.severity(time as f64), params.run_time.describe(low)),
        ];
        let severity = conditions.iter().map(|(_, severity, _)| *severity).min().unwrap_or_default();
        let rate = BytesPerSecond::new(to_bytes(speed).as_f64());
        Judgement::of(role.subject(), severity)
            .tasks(tasks.total())
            .fact("tasks_count", Measure::Count(tasks.total()))
            .fact("input_bytes", Measure::Size(to_bytes(bytes)))
            .fact("run_time_ms", Measure::Time(to_millis(time)))
            .fact("speed_bytes_per_second", Measure::Speed(rate))
            .message(
                MESSAGE,
                &[
                    ("role", &role.name()),
                    ("limit", &limit(severity, params.speed.describe(severity), &conditions)),
                ],
            )
            .advice(|| vec![Advice::new(REMEDY)])
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

/// Whole bytes per second.
fn speed((bytes, time): &(i64, i64)) -> i64 {
    bytes.saturating_mul(1000).checked_div(*time).unwrap_or_default()
}

/// What helps.
const REMEDY: &str = "if the tasks compute more than they read, give each of them less input (tez.grouping.max-size); \
    otherwise look for many small files, a format that is read row by row, or a remote file system";
