//! `shuffle-sort`: reduce tasks spend more time on shuffle and sort than on their work (Dr. Elephant
//! `ShuffleSortHeuristic`).

mod early_start;

use early_start::{early_start, waiting};

use super::support::counters::to_millis;
use super::support::replayed::Lost;
use super::support::role::Role;
use super::support::tasks::{no_task_reports, tasks, without_tasks};
use crate::declare::mapreduce as rule;
use elephant_base::severity::Severity;
use elephant_base::stats::truncated_mean;
use elephant_base::units::{Millis, Timestamp};
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_model::model::spark::Facet;
use elephant_model::model::table::{TaskGroup, TaskKind, TimePoint};
use elephant_rule::finding::{Advice, Judgement, Measure, TroubleKind, Verdict, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{change, percent};

pub(crate) use early_start::slow_start;

rule_params! {
    /// Parameters of `shuffle-sort`.
    pub(super) struct ShuffleSort / ShuffleSortLayer {
        /// Whether only succeeded jobs are judged. If false, failed and killed jobs are judged by their
        /// succeeded tasks.
        only_succeeded_jobs: bool,
        /// Mean time of the shuffle or the sort phase.
        phase_time: Ascending<Duration>,
        /// Twice the time of the phase / mean time of the reduce function, rounded down.
        phase_ratio: Ascending<Ratio>,
        /// Time in which reduce tasks hold containers only to wait for map tasks / time of all attempts.
        wait_share: Ascending<Ratio>,
        /// Time that the job would save if reduce tasks started later, by a replay / its run time.
        lost_share: Ascending<Ratio>,
        /// The same time. Short jobs lose little, however large the share.
        lost_time: Ascending<Duration>,
        /// Reduce tasks start late if their slow start is at least this share of the map tasks.
        late_start: Quantity<Ratio>,
        /// The slow start that is advised then.
        earlier_start: Quantity<Ratio>,
        /// It is advised only if it starts reduce tasks earlier by at least this share of the mean shuffle time,
        /// because containers are held for longer, ...
        earlier_gain: Quantity<Ratio>,
        /// ... and if reduce tasks wait for map tasks for at most this share of the mean shuffle time.
        earlier_wait: Quantity<Ratio>,
        /// From how many map tasks a reduce task should fetch at once, if fetching is slow, ...
        parallel_copies: Quantity<Count>,
        /// ... in jobs with more map tasks than this.
        copies_from_maps: Quantity<Count>,
        /// How many streams should be merged at once, if the sort phase is slow.
        sort_factor: Quantity<Count>,
        /// The share of the memory for fetched data that may fill up before it is merged: higher than Hadoop's
        /// default of 66 %, but below the point where fetches wait for each merge.
        merge_percent: Quantity<Ratio>,
    }
}

pub(super) const RULE: Rule =
    rule!(DrElephant { version: "0.4.0" }, "shuffle-sort", "Shuffle & Sort", tells Shuffle, ShuffleSort, |layers, _| load(
        layers, Phases
    ))
    .measured_by("shuffle_reduce_ratio", Worse::Higher)
    .also_telling(&[TroubleKind::Spill]);

/// The message of a finding.
const MESSAGE: &str = "a reduce task spends {time} {phase} and {avg_reduce_ms} reducing ({limit})";

struct Phases(ShuffleSort);

/// Mean times of the three phases in milliseconds.
struct Means {
    shuffle: i64,
    sort: i64,
    reduce: i64,
}

impl Check for Phases {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        let Some(group) = tasks(app, TaskKind::Reduce, params.only_succeeded_jobs) else {
            return without_tasks(app, TaskKind::Reduce, params.only_succeeded_jobs);
        };
        let Some(means) = means(group) else {
            let what = "the ends of its shuffle and sort phases";
            return Verdict::NotEvaluated(no_task_reports(Role::Reduce, group, what));
        };
        let shuffle = params.judge_shuffle(app, group, &means);
        let sort = params.judge(means.sort, means.reduce);
        let severity = shuffle.severity.max(sort);
        let shuffle_limit = shuffle.limit.filter(|_| shuffle.severity >= sort);
        let by_shuffle = shuffle.severity > sort || (shuffle.severity == sort && means.shuffle >= means.sort);
        let (phase, time) = if by_shuffle { ("shuffling", means.shuffle) } else { ("sorting", means.sort) };
        let ratio = |phase: i64| Measure::Ratio(times_reduce(phase, means.reduce));
        let waiting = waiting(app, group);
        let fetches_long = params.phase_time.severity((means.shuffle - waiting.unwrap_or_default()) as f64);
        Judgement::of(Role::Reduce.subject(), severity)
            .tasks(group.tasks.len() as u64)
            // The sort phase merges what was fetched, on disk if it does not fit into memory.
            .tells(if by_shuffle { TroubleKind::Shuffle } else { TroubleKind::Spill })
            .fact("tasks_count", Measure::Count(group.tasks.len() as u64))
            .fact("avg_shuffle_ms", Measure::Time(to_millis(means.shuffle)))
            .facts(waiting.map(|waiting| ("avg_map_wait_ms", Measure::Time(to_millis(waiting)))))
            .fact("avg_sort_ms", Measure::Time(to_millis(means.sort)))
            .fact("avg_reduce_ms", Measure::Time(to_millis(means.reduce)))
            .fact("shuffle_reduce_ratio", ratio(means.shuffle))
            .fact("sort_reduce_ratio", ratio(means.sort))
            .facts(shuffle.lost.into_iter().flat_map(early_start::evidence))
            .message(
                MESSAGE,
                &[
                    ("time", &to_millis(time)),
                    ("phase", &phase),
                    ("limit", &shuffle_limit.unwrap_or_else(|| params.passed(severity))),
                ],
            )
            .advice(|| {
                let fetches_long = fetches_long > Severity::None;
                if by_shuffle {
                    params.shuffle_advice(app, group, &means, fetches_long)
                } else {
                    params.sort_advice(app)
                }
            })
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

/// The judgement on the shuffle phase.
struct Shuffle {
    severity: Severity,
    /// The limit in words, if it is not that of the phase's time.
    limit: Option<String>,
    /// What the job lost because reduce tasks started early.
    lost: Option<Lost>,
}

impl ShuffleSort {
    /// The limit in words: the one that a phase passed, or those that were not reached.
    fn passed(&self, severity: Severity) -> String {
        let time = self.phase_time.describe(severity);
        match severity {
            Severity::None => {
                format!("not reached: {time}, and {}", self.phase_ratio.describe_multiple(severity))
            }
            _ => time,
        }
    }

    /// Judges the shuffle phase. Waiting for map tasks does not make it slow, but holds containers: `wait_share` judges
    /// these, and `lost_share` what the job would save without the wait.
    fn judge_shuffle(&self, app: &Application, reduces: &TaskGroup, means: &Means) -> Shuffle {
        let whole = self.judge(means.shuffle, means.reduce);
        let Some(waiting) = waiting(app, reduces) else {
            return Shuffle { severity: whole, limit: None, lost: None };
        };
        let fetching = self.judge((means.shuffle - waiting).max(0), means.reduce);
        let attempts = app.groups.iter().map(|group| &group.attempts);
        let times =
            attempts.flat_map(|attempts| (0..attempts.len()).filter_map(|row| attempts.run_time(row)));
        let all = times.sum::<Millis>().as_f64();
        let held = waiting as f64 * reduces.winners().count() as f64;
        let by_wait = if all > 0.0 { self.wait_share.severity(held / all) } else { Severity::Critical };
        let severity = whole.min(fetching.max(by_wait));
        let lost = self.lost(app, reduces, means.shuffle).filter(|lost| lost.severity > Severity::None);
        if let Some(lost) = lost.as_ref().filter(|lost| lost.severity > severity) {
            return Shuffle {
                severity: lost.severity,
                limit: Some(lost.limit.clone()),
                lost: Some(lost.lost),
            };
        }
        let limit = (severity < whole).then(|| {
            let limit = self.wait_share.describe_in(severity.max(Severity::Low), percent);
            format!(
                "waiting for map tasks takes {} of the time of all attempts: {limit}",
                percent(held / all)
            )
        });
        Shuffle { severity, limit, lost: lost.map(|lost| lost.lost) }
    }

    fn judge(&self, phase: i64, reduce: i64) -> Severity {
        let by_time = self.phase_time.severity(phase as f64);
        if reduce <= 0 {
            return by_time;
        }
        // Dr. Elephant uses integer division here.
        let ratio = phase.saturating_mul(2) / reduce;
        by_time.min(self.phase_ratio.severity(ratio as f64))
    }
}

fn times_reduce(phase: i64, reduce: i64) -> Option<f64> {
    (reduce > 0).then(|| phase as f64 / reduce as f64)
}

fn means(group: &TaskGroup) -> Option<Means> {
    let (mut shuffles, mut sorts, mut reduces) = (Vec::new(), Vec::new(), Vec::new());
    for row in group.winners() {
        let time = |point| group.attempts.time(row, point).map(Timestamp::as_millis);
        let (Some(start), Some(finish)) = (time(TimePoint::Start), time(TimePoint::Finish)) else { continue };
        let Some(shuffled) = time(TimePoint::ShuffleFinish) else { continue };
        let sorted = time(TimePoint::SortFinish).unwrap_or(shuffled);
        if !(start <= shuffled && shuffled <= sorted && sorted <= finish) {
            continue;
        }
        shuffles.push(shuffled - start);
        sorts.push(sorted - shuffled);
        reduces.push(finish - sorted);
    }
    Some(Means {
        shuffle: truncated_mean(&shuffles)?,
        sort: truncated_mean(&sorts)?,
        reduce: truncated_mean(&reduces)?,
    })
}

impl ShuffleSort {
    /// Reduce tasks that start early hold their containers while map tasks still run. The advised share of map
    /// tasks follows from the fetch time after all map tasks have finished. Where that is short, fetching faster is no help.
    fn shuffle_advice(
        &self,
        app: &Application,
        reduces: &TaskGroup,
        means: &Means,
        fetches_long: bool,
    ) -> Vec<Advice> {
        let mut advice = Vec::new();
        if let Some((waiting, slow_start)) = early_start(app, reduces, means.shuffle) {
            let what = format!(
                "{} of the shuffle is spent waiting for running map tasks; start reduce tasks later",
                to_millis(waiting)
            );
            advice.push(Advice::new(what).set([change(app, ConfKey::SlowStart, format!("{slow_start:.2}"))]));
        }
        if fetches_long {
            advice.extend(self.earlier_start(app, reduces, means.shuffle));
        } else {
            if advice.is_empty() {
                advice.push(
                    "reduce tasks wait for the last map tasks, so shorten these; fetching is fast".into(),
                );
            }
            return advice;
        }
        advice.extend(self.fetch_faster(app));
        if advice.is_empty() {
            advice.push(
                "shuffle less data: filter and project in the map function, or aggregate with a combiner"
                    .into(),
            );
        }
        advice
    }

    /// Settings by which reduce tasks fetch faster, or less.
    fn fetch_faster(&self, app: &Application) -> Vec<Advice> {
        let mut advice = Vec::new();
        let copies = app.in_force(ConfKey::ParallelCopies, Conf::integer);
        let maps = app.group(TaskKind::Map).map_or(0, |group| group.tasks.len());
        let is_large = maps as f64 > self.copies_from_maps.get();
        if is_large && copies.is_some_and(|copies| (copies as f64) < self.parallel_copies.get()) {
            let what = Advice::new("fetch from more map tasks in parallel");
            advice.push(what.set([change(app, ConfKey::ParallelCopies, self.parallel_copies.get())]));
        }
        if app.conf.flag(ConfKey::MapOutputCompress) != Some(true) {
            let what = Advice::new("shuffle less data");
            advice.push(what.set([change(app, ConfKey::MapOutputCompress, true)]));
        }
        advice
    }

    fn sort_advice(&self, app: &Application) -> Vec<Advice> {
        let factor = app.in_force(ConfKey::SortFactor, Conf::integer);
        let mut advice = Vec::new();
        if factor.is_some_and(|factor| (factor as f64) < self.sort_factor.get()) {
            let what = Advice::new("merge more streams at once");
            advice.push(what.set([change(app, ConfKey::SortFactor, self.sort_factor.get())]));
        }
        let key = ConfKey::ShuffleMergePercent;
        if app.conf.fraction(key).is_none_or(|now| now < self.merge_percent.get()) {
            let what = Advice::new(
                "if the heap of the reduce tasks has room, keep more of the fetched data in memory",
            );
            advice.push(what.set([change(app, key, self.merge_percent.get())]).conditional());
        }
        if advice.is_empty() {
            advice.push("sort less data: filter in the map function, or aggregate with a combiner".into());
        }
        advice
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Maps of ten minutes, and five reduces that start after one minute, end their shuffle after `shuffled` seconds and
    /// reduce for five minutes.
    fn job(maps: usize, shuffled: i64) -> Application {
        let mut reduces = elephant_sample::tasks(TaskKind::Reduce, [(60, Some(shuffled + 300)); 5]);
        for row in 0..reduces.attempts.len() {
            for point in [TimePoint::ShuffleFinish, TimePoint::SortFinish] {
                reduces.attempts.set_time(row, point, Some(Timestamp::from_millis(shuffled * 1000)));
            }
        }
        let maps = elephant_sample::tasks(TaskKind::Map, vec![(0, Some(600)); maps]);
        elephant_sample::job(vec![maps, reduces], &[])
    }

    #[test]
    fn waiting_for_maps_is_not_a_slow_shuffle() {
        let severity = |maps, shuffled| elephant_sample::severity(&job(maps, shuffled), RULE.id, false);
        assert_eq!(severity(20, 605), Some(Severity::None));
        assert_eq!(elephant_sample::severity(&job(20, 605), RULE.id, true), Some(Severity::Moderate));
        // Reduces that wait hold 41 % of all container time.
        assert_eq!(severity(4, 605), Some(Severity::Moderate));
        // Five minutes of fetching after the last map.
        assert_eq!(severity(20, 900), Some(Severity::Moderate));
    }

    #[test]
    fn reduces_that_start_after_the_last_map_may_start_earlier() {
        // Twenty maps that end one after the other, and reduces that start after the last one and fetch for three minutes.
        let lines = |share: &str, apart: i64| {
            let maps =
                elephant_sample::tasks(TaskKind::Map, (1..=20).map(|map| (0, Some(600 + apart * map))));
            let last = 600 + 20 * apart;
            let mut reduces = elephant_sample::tasks(TaskKind::Reduce, [(last + 1, Some(last + 220)); 5]);
            for row in 0..reduces.attempts.len() {
                for point in [TimePoint::ShuffleFinish, TimePoint::SortFinish] {
                    let at = Timestamp::from_millis((last + 200) * 1000);
                    reduces.attempts.set_time(row, point, Some(at));
                }
            }
            let share = ("mapreduce.job.reduce.slowstart.completedmaps", share);
            let found = elephant_sample::evaluate(
                &elephant_sample::job(vec![maps, reduces], &[share]),
                RULE.id,
                false,
            );
            let lines = &found.findings[0].advice;
            let early = lines.iter().filter(|line| line.contains("start only after"));
            early.cloned().collect::<Vec<_>>()
        };
        let [line] = lines("1.0", 30).try_into().unwrap();
        assert!(line.conditional && line.settings[0].to == "0.80", "{line:?}");
        // They could start early, or hardly earlier.
        assert_eq!((lines("0.8", 30), lines("1.0", 1)), (Vec::new(), Vec::new()));
    }

    /// All maps but one end after ten minutes, and the last one after `last` seconds.
    fn waits_for_one(last: i64) -> Application {
        let mut job = job(20, last + 5);
        let at = Some(Timestamp::from_millis(1000 * last));
        job.groups[0].attempts.set_time(19, TimePoint::Finish, at);
        job
    }

    #[test]
    fn no_slow_start_helps_against_one_long_map() {
        let lines = |app: &Application| {
            let found =
                elephant_sample::evaluate_with(app, RULE.id, "wait_share: [1%, 30%, 40%, 50%]").findings;
            found[0].advice.iter().map(|line| line.text.clone()).collect::<Vec<_>>()
        };
        // With 95 % of the maps, the reduces would start two hours before the last one ends.
        let long = lines(&waits_for_one(7800));
        assert_eq!(long, ["reduce tasks wait for the last map tasks, so shorten these; fetching is fast"]);
        assert_eq!(slow_start(&waits_for_one(7800)), None);
        let short = lines(&waits_for_one(630));
        assert!(short[0].contains("slowstart.completedmaps") && short.len() == 1, "{short:?}");
    }
}
