//! Finds speculation settings with which stragglers would have been copied in time.

use super::causes::Causes;
use super::side_effects;
use elephant_analysis::stragglers::detect::mr2::Mr2;
use elephant_analysis::stragglers::detect::mr2_speculation::{Fate, fates};
use elephant_analysis::stragglers::detect::spark::SparkSpeculation;
use elephant_analysis::stragglers::detect::spark_settings::{MULTIPLIERS, Medians, QUANTILES};
use elephant_analysis::stragglers::executions::Execution;
use elephant_analysis::stragglers::group::GroupStragglers;
use elephant_analysis::stragglers::replay::{Attempt, Options, Timeline};
use elephant_analysis::stragglers::speculation::Copies;
use elephant_base::units::Millis;
use elephant_base::whole::Whole;
use elephant_model::engine_facts::hadoop::PAUSE_WITHOUT_COPY_MS;
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_model::model::spark::ClusterManager;
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_model::model::{Application, Engine};
use elephant_rule::finding::{Advice, SettingChange};
use elephant_rule::wording::{change, plural};

/// Whether speculation was on for the group; `None` if the history does not show it.
pub(in crate::any) fn is_on(app: &Application, group: &TaskGroup) -> Option<bool> {
    let key = match (app.engine, group.kind) {
        (Engine::Spark, _) => ConfKey::Speculation,
        (Engine::Tez, _) => ConfKey::TezSpeculation,
        (Engine::MapReduce, TaskKind::Reduce) => ConfKey::ReduceSpeculative,
        (Engine::MapReduce, _) => ConfKey::MapSpeculative,
    };
    let set = app.in_force(key, Conf::flag).filter(|_| !app.conf.is_empty());
    // The history may lack settings of the site, but it contains the copies that were launched.
    if set != Some(true) && Copies::of(group).launched > 0 { Some(true) } else { set }
}

/// A group with those of its stragglers that a speculative copy may beat.
pub(in crate::any) struct Candidates<'v, 'a> {
    view: &'v GroupStragglers<'a>,
    tasks: Vec<Execution>,
}

impl<'v, 'a> Candidates<'v, 'a> {
    /// The groups that `of` selects, each with the stragglers that their input does not explain. Stragglers whose cause
    /// would slow down a copy as well are left out. Stragglers with an unknown cause are kept only if `unknown`.
    pub(in crate::any) fn of(
        views: &'v [GroupStragglers<'a>],
        causes: &Causes,
        unknown: bool,
        of: impl Fn(&GroupStragglers<'a>) -> bool,
    ) -> Vec<Self> {
        let selected = views.iter().enumerate().filter(|(_, view)| of(view));
        let candidates = selected.map(|(place, view)| {
            let helps = |task: &Execution| {
                let cause = causes.of_task(place, task.task());
                cause.map_or(Some(true), |found| found.primary.copy_helps()).unwrap_or(unknown)
            };
            Self { view, tasks: view.unexplained().filter(|task| helps(task)).copied().collect() }
        });
        candidates.collect()
    }
}

/// The condition of advice on stragglers whose cause is unknown.
const IF_UNKNOWN: &str = "if neither their input nor the code makes them slow, ";

/// Advice to switch speculation on, if it is off and would have helped.
pub(in crate::any) fn switch_on(
    app: &Application,
    views: &[GroupStragglers<'_>],
    causes: &Causes<'_>,
) -> Vec<Advice> {
    if app.engine == Engine::Spark && ClusterManager::of_application(app) == Some(ClusterManager::Local) {
        return Vec::new();
    }
    if let Some(why) = side_effects::repeated(app) {
        return vec![Advice::new(format!("speculative execution would harm: {why}"))];
    }
    let lost = time_lost(views);
    let off = |unknown| Candidates::of(views, causes, unknown, |view| is_on(app, view.group) == Some(false));
    let on = |candidates: &[Candidates<'_, '_>], condition: &str| -> Vec<Advice> {
        match app.engine {
            Engine::Spark => switch_on_spark(app, candidates, (condition, lost)).into_iter().collect(),
            // No replay shows what Tez's speculator would have done.
            Engine::Tez => Vec::new(),
            Engine::MapReduce => {
                candidates.iter().filter_map(|it| switch_on_mapreduce(app, it, (condition, lost))).collect()
            }
        }
    };
    let sure = on(&off(false), "");
    if !sure.is_empty() {
        return sure;
    }
    on(&off(true), IF_UNKNOWN).into_iter().map(Advice::conditional).collect()
}

/// The time that the stragglers of groups took longer than other tasks.
pub(in crate::any) fn time_lost(views: &[GroupStragglers<'_>]) -> Millis {
    let of_view = |view: &GroupStragglers<'_>| -> Millis {
        let Some(limit) = view.labels.limit else { return Millis::ZERO };
        let beyond = |task: &Execution| Millis::from_seconds(task.duration - limit.reference);
        view.unexplained().filter_map(beyond).sum()
    };
    views.iter().map(of_view).sum()
}

/// The part of the time lost that copies give back, in thousandths.
fn part_of(given_back: Millis, lost: Millis) -> Option<u16> {
    let part = given_back.as_f64() / lost.as_f64();
    (lost > Millis::ZERO).then(|| u16::try_from((1000.0 * part.min(1.0)).as_u32()).ok())?
}

fn switch_on_spark(
    app: &Application,
    off: &[Candidates<'_, '_>],
    (condition, lost): (&str, Millis),
) -> Option<Advice> {
    let stragglers = SparkStragglers::of(app, off);
    let (best, caught) = stragglers.best();
    if caught == 0 {
        return None;
    }
    let mut changes = vec![change(app, ConfKey::Speculation, true)];
    changes.extend(stragglers.changes(app, best));
    let caught = of_all(caught, stragglers.all());
    let what = format!("{condition}enable speculative execution; {caught} would have been copied in time");
    let part = part_of(stragglers.given_back(best), lost);
    Some(Advice::new(what).set_for_first(changes).giving_back(part))
}

fn switch_on_mapreduce(
    app: &Application,
    off: &Candidates<'_, '_>,
    (condition, lost): (&str, Millis),
) -> Option<Advice> {
    let reference = off.view.labels.limit.map(|limit| limit.reference);
    let (mut copied, mut given_back) = (0, Millis::ZERO);
    for (task, fate) in fates_of_stragglers(off) {
        if let Fate::Speculated(at) = fate {
            copied += 1;
            let left = reference.and_then(|reference| Millis::from_seconds(task.duration - reference));
            given_back = given_back + left.and_then(|left| less(left, at)).unwrap_or_default();
        }
    }
    let kind = off.view.group.kind;
    (copied > 0).then(|| {
        let copied = of_all(copied, off.tasks.len() as u64);
        let name = kind.name();
        let what = format!(
            "{condition}enable speculative execution for {name} tasks; {copied} would have been copied"
        );
        Advice::new(what).set([change(app, switch(kind), true)]).giving_back(part_of(given_back, lost))
    })
}

const fn switch(kind: TaskKind) -> ConfKey {
    match kind {
        TaskKind::Reduce => ConfKey::ReduceSpeculative,
        _ => ConfKey::MapSpeculative,
    }
}

/// Advice for groups with speculation whose stragglers were missed.
pub(in crate::any) fn better_settings(
    app: &Application,
    watched: &[Candidates<'_, '_>],
    in_time: u64,
    lost: Millis,
) -> Vec<Advice> {
    if watched.iter().all(|it| it.tasks.is_empty()) {
        return vec![
            "a copy of these tasks would have been slow, too: their input or the code is the cause; \
             `elephant-rs stragglers` shows what is known of it"
                .into(),
        ];
    }
    match app.engine {
        Engine::Spark => {
            let stragglers = SparkStragglers::of(app, watched);
            let (best, caught) = stragglers.best();
            let expected = stragglers.caught(stragglers.current);
            if expected > in_time {
                return vec![format!(
                    "with the current settings {} should have been copied in time: check whether cores were free for \
                     copies, and whether executors were excluded",
                    of_all(expected, stragglers.all())
                )
                .into()];
            }
            if caught <= expected {
                return vec![
                    "no multiplier or quantile would have copied more of them in time: too few tasks had finished while \
                     they ran, or they did not run long enough; `elephant-rs stragglers` shows their causes"
                        .into(),
                ];
            }
            let caught = of_all(caught, stragglers.all());
            let part = part_of(stragglers.given_back(best), lost);
            let what = format!("copy earlier; {caught} would have been copied in time");
            vec![Advice::new(what).set(stragglers.changes(app, best)).giving_back(part)]
        }
        Engine::Tez => Vec::new(),
        // The speculator of Hadoop 0.20 and 1 has no such settings, and decides in another way.
        Engine::MapReduce if app.ran_on_job_tracker() => vec![SLOW_COPIES.into()],
        Engine::MapReduce => {
            let fates: Vec<Fate> =
                watched.iter().flat_map(fates_of_stragglers).map(|(_, fate)| fate).collect();
            let copied = fates.iter().filter(|fate| matches!(fate, Fate::Speculated(_))).count() as u64;
            if copied > 0 && watched.iter().all(|it| Copies::of(it.view.group).launched == 0) {
                return vec![format!(
                    "judging by reported progress, Hadoop's speculator should have copied {} but copied none: check \
                     whether the job really ran with {}=true, and whether containers were free",
                    of_all(copied, fates.len() as u64),
                    ConfKey::MapSpeculative.name(),
                )
                .into()];
            }
            vec![what_held_back(app, &fates)]
        }
    }
}

/// Spark's settings of speculation: quantile and multiplier.
type Setting = (f64, f64);

/// Stragglers that a second attempt could have helped, with the data to try settings on them.
struct SparkStragglers {
    groups: Vec<(Medians, Vec<(Attempt, Millis)>)>,
    current: Setting,
    min_runtime: Millis,
}

impl SparkStragglers {
    fn of(app: &Application, candidates: &[Candidates<'_, '_>]) -> Self {
        let defaults = defaults(app);
        let groups = candidates.iter().filter_map(|Candidates { view, tasks }| {
            let limit = view.labels.limit?;
            tasks.first()?;
            let timeline = Timeline::of(view.group, &view.executions);
            let places = timeline.places();
            let late = tasks.iter().filter_map(|task| {
                let attempt = timeline.attempts.get(*places.get(&task.attempt())?)?.clone();
                // A copy that starts later than this would be too late.
                let latest = Millis::from_seconds(task.duration - limit.reference)?;
                Some((attempt, latest))
            });
            let late: Vec<(Attempt, Millis)> = late.collect();
            Some((Medians::of(&timeline, defaults.median), late))
        });
        let default = (defaults.quantile, defaults.multiplier);
        Self {
            groups: groups.collect(),
            current: (
                app.conf.fraction(ConfKey::SpeculationQuantile).unwrap_or(default.0),
                app.conf.fraction(ConfKey::SpeculationMultiplier).unwrap_or(default.1),
            ),
            min_runtime: app
                .conf
                .spark_duration(ConfKey::SpeculationMinTaskRuntime)
                .or(Millis::from_f64(defaults.min_runtime_ms))
                .unwrap_or_default(),
        }
    }

    fn all(&self) -> u64 {
        self.groups.iter().map(|(_, late)| late.len() as u64).sum()
    }

    /// How many stragglers this setting would have copied in time.
    fn caught(&self, setting: Setting) -> u64 {
        self.left_of_each(setting).count() as u64
    }

    /// The time that these copies would have spared.
    fn given_back(&self, setting: Setting) -> Millis {
        self.left_of_each(setting).sum()
    }

    /// The time that is left when this setting copies a straggler, for each that it copies in time.
    fn left_of_each(&self, (quantile, multiplier): Setting) -> impl Iterator<Item = Millis> {
        self.groups.iter().flat_map(move |(medians, late)| {
            late.iter().filter_map(move |(attempt, latest)| {
                let first = medians.first_flag(attempt, quantile, multiplier, self.min_runtime)?;
                less(*latest, first)
            })
        })
    }

    /// The most conservative of the settings that catch most; the current one is preferred.
    fn best(&self) -> (Setting, u64) {
        // The current setting comes first, so that only changes that help are advised.
        let quantiles = std::iter::once(self.current.0).chain(QUANTILES);
        let grid = quantiles.flat_map(|quantile| MULTIPLIERS.map(|multiplier| (quantile, multiplier)));
        let mut best = (self.current, self.caught(self.current));
        for setting in grid {
            let caught = self.caught(setting);
            if caught > best.1 {
                best = (setting, caught);
            }
        }
        best
    }

    /// The setting changes that lead to `setting`. A setting that the application does not set has its default as
    /// present value.
    fn changes(&self, app: &Application, setting: Setting) -> Vec<SettingChange> {
        let keys = [ConfKey::SpeculationQuantile, ConfKey::SpeculationMultiplier];
        let values = [(setting.0, self.current.0), (setting.1, self.current.1)];
        let needed = keys.into_iter().zip(values).filter(|(_, (wanted, current))| !same(*wanted, *current));
        needed.map(|(key, (wanted, ..))| change(app, key, wanted)).collect()
    }
}

/// What is left of a time after another one; `None` if that is longer.
fn less(time: Millis, other: Millis) -> Option<Millis> {
    time.get().checked_sub(other.get()).map(Millis::new)
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

/// Spark's defaults for the application's version; for the latest version if it is unknown.
pub(in crate::any) fn defaults(app: &Application) -> SparkSpeculation {
    match app.version() {
        Some((..=2, _) | (3, ..=3)) => SparkSpeculation::V3,
        Some((3, _)) => SparkSpeculation::V3_4,
        _ => SparkSpeculation::V4,
    }
}

/// The decisions of Hadoop's speculator about stragglers of a group.
fn fates_of_stragglers<'c>(Candidates { view, tasks }: &'c Candidates<'_, '_>) -> Vec<(&'c Execution, Fate)> {
    if tasks.is_empty() {
        return Vec::new();
    }
    let timeline = Timeline::of(view.group, &view.executions);
    let places = timeline.places();
    let all = fates(&timeline, &Mr2::LEGACY, &Options::of_engine(Engine::MapReduce));
    tasks.iter().filter_map(|task| Some((task, *all.get(*places.get(&task.attempt())?)?))).collect()
}

/// The estimator of Hadoop 3.3 that gives more weight to recent progress.
const ESTIMATOR: &str = "org.apache.hadoop.mapreduce.v2.app.speculate.SimpleExponentialTaskRuntimeEstimator";

/// The pause of Hadoop's speculator after a copy, in milliseconds.
fn pause(app: &Application) -> Option<i64> {
    app.in_force(ConfKey::SpeculativeRetryAfter, Conf::integer)
}

/// What to look at if the speculator's settings are not the reason.
const SLOW_COPIES: &str = "copies started late or were slow themselves: `elephant-rs nodes` ranks the nodes, and a copy gains little on a slow one";

/// Why Hadoop's speculator did not copy most of the stragglers, and the remedy.
fn what_held_back(app: &Application, fates: &[Fate]) -> Advice {
    let count = |name: &str| fates.iter().filter(|fate| fate.name() == name).count();
    let shorter_pause = pause(app)
        .is_some_and(|pause| pause > PAUSE_WITHOUT_COPY_MS)
        .then(|| change(app, ConfKey::SpeculativeRetryAfter, PAUSE_WITHOUT_COPY_MS));
    let estimator = change(app, ConfKey::TaskEstimator, ESTIMATOR);
    let estimator = Some(estimator).filter(|change| change.from.as_ref() != Some(&change.to));
    let remedies = [None, shorter_pause, None, estimator];
    let reasons = [
        (
            count(Fate::ContainersWaited.name()),
            "the speculator copies nothing while tasks wait for containers: give the job's queue more capacity, or reduce the number of waiting tasks",
        ),
        (
            count(Fate::Paced.name()),
            "the speculator copies one task at a time and then pauses, by default for 15 s",
        ),
        (
            count(Fate::TooFewDone.name()),
            "the speculator waits until 5 % of the tasks have finished, and these ran before that: with more and smaller tasks it acts earlier",
        ),
        (
            count(Fate::NeverWorth.name()),
            "judging by reported progress, a new attempt would not have finished earlier (mapreduce.job.speculative.slowtaskthreshold has no effect in Hadoop 2 and 3); since Hadoop 3.3 an estimator can follow changes of speed",
        ),
    ];
    let main = reasons.into_iter().zip(remedies).rev().max_by_key(|((count, _), _)| *count);
    match main.filter(|((count, _), _)| *count > 0) {
        None => SLOW_COPIES.into(),
        Some(((_, what), None)) => what.into(),
        Some(((_, what), Some(change))) if change.setting == ConfKey::TaskEstimator.name() => {
            Advice::new(what).set([change]).conditional()
        }
        Some(((_, what), Some(change))) => Advice::new(what).set([change]),
    }
}

/// "2 of 3 stragglers", "the straggler".
fn of_all(some: u64, all: u64) -> String {
    if all == 1 && some == 1 {
        "the straggler".to_owned()
    } else {
        format!("{some} of {}", plural(all, "straggler"))
    }
}
