//! How much longer an application took because attempts failed.

use super::Failures;
use super::cost::Cost;
use crate::mapreduce::ReplayedJob;
use elephant_analysis::replay::mapreduce::{Cause, Kind};
use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_model::model::{Application, Engine, Status};
use elephant_rule::finding::{Measure, Phrase};
use elephant_rule::wording::{decisive, percent};

// The time that an application waited for failed attempts.
const ALONE: &str = "for {time} nothing else ran, {share} of the time in which tasks ran[ ({limit})]";
const REPLAYED: &str =
    "without them the job would have taken {time} less, {share} of its run time[ ({limit})]";

/// The time that an application waited for failed attempts.
#[derive(Debug, Default)]
pub(super) struct Delay {
    time: Millis,
    /// As a share of the time in which tasks ran, or of the run time.
    share: f64,
    /// Whether it is what a replay of the job saves without these attempts. Otherwise nothing else ran meanwhile.
    is_replayed: bool,
}

impl Delay {
    /// The time in which nothing else ran, or what a replay of the job saves if that is longer: failed attempts hold
    /// containers that other tasks wait for. All of a run that failed is lost, and attempts with unknown ends may have
    /// run at any time, so neither has a delay.
    pub(super) fn of(app: &Application, params: &Failures, cost: &Cost) -> Self {
        if app.status != Status::Succeeded || cost.any_open {
            return Self::default();
        }
        let alone = Self { time: cost.alone, share: cost.lost_share(), is_replayed: false };
        // They cannot cost more than the time in which they ran.
        let most = Self { time: cost.any, share: cost.share_of_run(cost.any), is_replayed: true };
        if app.engine != Engine::MapReduce || params.severity(&most) <= params.severity(&alone) {
            return alone;
        }
        match Self::replayed(app) {
            Some(replayed) if params.severity(&replayed) > params.severity(&alone) => replayed,
            _ => alone,
        }
    }

    fn replayed(app: &Application) -> Option<Self> {
        let lost = ReplayedJob::of(app)?.lost(&Kind::ALL.map(Cause::FailedAttempts))?;
        Some(Self { time: lost.time, share: lost.share, is_replayed: true })
    }

    pub(super) fn evidence(&self) -> Vec<(&'static str, Measure)> {
        if !self.is_replayed {
            return Vec::new();
        }
        vec![("delay_ms", Measure::Time(self.time)), ("delay_ratio", Measure::Ratio(Some(self.share)))]
    }
}

impl Failures {
    fn severity(&self, delay: &Delay) -> Severity {
        if delay.time == Millis::ZERO {
            return Severity::None;
        }
        self.lost_share.severity(delay.share).min(self.lost_time.severity(delay.time.as_f64()))
    }

    /// The severity by the time that the application waited for failed attempts, and its phrase. The phrase has the
    /// limit if that severity is higher than `other`.
    pub(super) fn wait(&self, delay: &Delay, other: Severity) -> (Severity, Phrase) {
        let severity = self.severity(delay);
        if severity == Severity::None {
            return Default::default();
        }
        let limits = [
            (self.lost_share.severity(delay.share), self.lost_share.describe_in(severity, percent)),
            (self.lost_time.severity(delay.time.as_f64()), self.lost_time.describe(severity)),
        ];
        let limit = if severity > other { decisive(severity, &limits) } else { String::new() };
        let share = percent(delay.share);
        let template = if delay.is_replayed { REPLAYED } else { ALONE };
        (severity, Phrase::new(template, &[("time", &delay.time), ("share", &share), ("limit", &limit)]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::RULE;
    use elephant_base::severity::Severity;
    use elephant_base::units::{Millis, Timestamp};
    use elephant_model::model::table::{Outcome, TaskKind, TimePoint};
    use elephant_model::model::{Application, Status};
    use elephant_rule::finding::Finding;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1000 * seconds)
    }

    /// A job whose maps and reduces run from and to these seconds. The first map starts `failed` times before it succeeds,
    /// and each time fails after the given seconds.
    fn job(maps: &[(i64, i64)], reduces: &[(i64, i64)], failed: &[(i64, i64)]) -> Application {
        let spans =
            |spans: &[(i64, i64)]| spans.iter().map(|&(start, end)| (start, Some(end))).collect::<Vec<_>>();
        let mut group = elephant_sample::tasks(TaskKind::Map, spans(maps));
        for (number, &(start, end)) in (1..).zip(failed) {
            let row = group.attempts.push(0, number);
            group.attempts.set_outcome(row, Outcome::Failed);
            group.attempts.set_time(row, TimePoint::Start, Some(at(start)));
            group.attempts.set_time(row, TimePoint::Finish, Some(at(end)));
        }
        let mut late = elephant_sample::tasks(TaskKind::Reduce, spans(reduces));
        let last_map = maps.iter().map(|&(_, end)| end).max().unwrap_or_default();
        for row in 0..late.attempts.len() {
            let start = late.attempts.time(row, TimePoint::Start).unwrap();
            late.attempts.set_time(row, TimePoint::ShuffleFinish, Some(start.max(at(last_map + 1))));
        }
        let mut app = elephant_sample::job(vec![group, late], &[]);
        app.status = Status::Succeeded;
        app.submitted_at = Some(at(0));
        app.finished_at = maps.iter().chain(reduces).map(|&(_, end)| end).max().map(at);
        app
    }

    fn found(app: &Application) -> Finding {
        elephant_sample::evaluate(app, RULE.id, false).findings.remove(0)
    }

    #[test]
    fn reduces_that_wait_for_a_map_that_fails_do_nothing_else() {
        // The first map times out after ten minutes, while the reduces wait for it.
        let mut maps = vec![(600, 640)];
        maps.extend([(0, 40); 9]);
        let app = job(&maps, &[(20, 660); 4], &[(0, 600)]);
        let found = found(&app);
        assert_eq!(found.severity, Severity::Critical, "{}", found.message);
        assert_eq!(found.time("lost_ms"), Some(Millis::from_secs(560)));
    }

    #[test]
    fn waiting_for_a_container_is_not_waiting_for_a_failure() {
        // The attempt fails after a second; its retry starts ten minutes later.
        let mut maps = vec![(600, 640)];
        maps.extend([(0, 40); 9]);
        let found = found(&job(&maps, &[(20, 660); 4], &[(0, 1)]));
        assert_eq!(found.severity, Severity::None, "{}", found.message);
        assert_eq!(found.time("lost_ms"), Some(Millis::ZERO));
    }

    #[test]
    fn failed_attempts_that_others_wait_for_cost_the_job_time() {
        // Two containers: the failed attempts of the first map take one of them for as long as three maps.
        let mut maps = vec![(90, 120)];
        maps.extend((0..5).map(|map| (30 * map, 30 * map + 30)));
        let found = found(&job(&maps, &[], &[(0, 30), (30, 60), (60, 90)]));
        assert!(found.message.contains("without them the job would have taken"), "{}", found.message);
        assert!(found.severity >= Severity::Severe, "{}", found.message);
        assert!(found.time("delay_ms") >= Some(Millis::from_secs(30)), "{}", found.message);
    }

    #[test]
    fn a_failure_that_nothing_waits_for_is_no_delay() {
        let maps: Vec<(i64, i64)> = (0..20).map(|map| (30 * map, 30 * map + 30)).collect();
        let found = found(&job(&maps, &[], &[]));
        assert_eq!((found.severity, found.time("delay_ms")), (Severity::None, None));
    }
}
