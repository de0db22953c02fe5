//! Troubles that are only a consequence of others: their findings are listed under those.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use super::fewer_executors::FewerExecutors;
use super::value::compare;
use super::{Trouble, straggling};
use elephant_base::units::Millis;
use elephant_model::model::table::TaskKind;
use elephant_model::model::{Application, Subject};
use elephant_rule::finding::{Advice, Finding, Measure, SettingChange, TroubleKind as Kind};
use elephant_ruleset::settings::{OrderParams, TroubleParams};

/// Where a cause and its consequence must be for one to explain the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    /// Anywhere in the application.
    Anywhere,
    /// The consequence shows only in parts that have the cause, or only in the application as a whole.
    SameParts,
}

/// Which kind explains which: cause, consequence, where.
const EXPLAINS: &[(Kind, Kind, Where)] = &[
    (Kind::Failures, Kind::Imbalance, Where::Anywhere),
    (Kind::DriverTime, Kind::LongRun, Where::Anywhere),
    (Kind::Join, Kind::Skew, Where::SameParts),
    (Kind::Join, Kind::Spill, Where::SameParts),
    (Kind::Join, Kind::FewTasks, Where::SameParts),
    (Kind::Join, Kind::SlowTasks, Where::SameParts),
    (Kind::Join, Kind::Shuffle, Where::SameParts),
    (Kind::Join, Kind::Stragglers, Where::SameParts),
    (Kind::Join, Kind::LongRun, Where::SameParts),
    (Kind::Python, Kind::FewTasks, Where::SameParts),
    (Kind::Python, Kind::SlowTasks, Where::SameParts),
    (Kind::Python, Kind::LongRun, Where::SameParts),
    (Kind::RepeatedWork, Kind::LongRun, Where::SameParts),
    (Kind::SmallFiles, Kind::ManyTasks, Where::SameParts),
    (Kind::SmallFiles, Kind::SlowTasks, Where::SameParts),
    (Kind::SmallFiles, Kind::LongRun, Where::SameParts),
    (Kind::Scan, Kind::LongRun, Where::SameParts),
    (Kind::Scan, Kind::SlowTasks, Where::SameParts),
    (Kind::Rewrite, Kind::LongRun, Where::SameParts),
    (Kind::Rewrite, Kind::SlowTasks, Where::SameParts),
    (Kind::Join, Kind::Volume, Where::SameParts),
    (Kind::Volume, Kind::LongRun, Where::SameParts),
    (Kind::Volume, Kind::SlowTasks, Where::SameParts),
    (Kind::Volume, Kind::Shuffle, Where::SameParts),
    (Kind::Cache, Kind::LongRun, Where::SameParts),
    (Kind::Cache, Kind::SlowTasks, Where::SameParts),
    (Kind::Schema, Kind::FewTasks, Where::SameParts),
    (Kind::Schema, Kind::ManyTasks, Where::SameParts),
    (Kind::Schema, Kind::SlowTasks, Where::SameParts),
    (Kind::Schema, Kind::LongRun, Where::SameParts),
    (Kind::Fallback, Kind::LongRun, Where::SameParts),
    (Kind::Stream, Kind::FewTasks, Where::SameParts),
    (Kind::Stream, Kind::LongRun, Where::Anywhere),
    (Kind::Failures, Kind::LongRun, Where::Anywhere),
    (Kind::Failures, Kind::Stragglers, Where::SameParts),
    (Kind::Cancelled, Kind::Failures, Where::Anywhere),
    (Kind::Cancelled, Kind::LongRun, Where::Anywhere),
    (Kind::Skew, Kind::Stragglers, Where::SameParts),
    (Kind::Skew, Kind::Speculation, Where::SameParts),
    (Kind::Skew, Kind::Spill, Where::SameParts),
    (Kind::Skew, Kind::FewTasks, Where::SameParts),
    (Kind::Skew, Kind::SlowTasks, Where::SameParts),
    (Kind::Skew, Kind::Imbalance, Where::Anywhere),
    (Kind::Skew, Kind::FewExecutors, Where::SameParts),
    (Kind::Skew, Kind::LongRun, Where::SameParts),
    (Kind::GarbageCollection, Kind::LongRun, Where::Anywhere),
    (Kind::GarbageCollection, Kind::SlowTasks, Where::SameParts),
    (Kind::Spill, Kind::LongRun, Where::SameParts),
    (Kind::Spill, Kind::SlowTasks, Where::SameParts),
    (Kind::FewTasks, Kind::LongRun, Where::SameParts),
    (Kind::FewExecutors, Kind::LongRun, Where::SameParts),
    (Kind::FewTasks, Kind::Imbalance, Where::Anywhere),
    (Kind::FewTasks, Kind::IdleExecutors, Where::Anywhere),
    (Kind::ManyTasks, Kind::LongRun, Where::SameParts),
    (Kind::Failures, Kind::Shuffle, Where::Anywhere),
    (Kind::Skew, Kind::Shuffle, Where::SameParts),
    (Kind::Shuffle, Kind::LongRun, Where::SameParts),
    (Kind::Stragglers, Kind::Speculation, Where::Anywhere),
    (Kind::Stragglers, Kind::Imbalance, Where::Anywhere),
    (Kind::Stragglers, Kind::LongRun, Where::SameParts),
    (Kind::Waiting, Kind::LongRun, Where::SameParts),
    (Kind::IdleExecutors, Kind::Imbalance, Where::Anywhere),
];

/// Whether any trouble explains those of this kind.
fn may_be_explained(kind: Kind) -> bool {
    let by_change =
        OF_SETTINGS.contains(&kind) || matches!(kind, Kind::IdleExecutors | Kind::Shuffle | Kind::Waiting);
    by_change || EXPLAINS.iter().any(|(_, consequence, _)| *consequence == kind)
}

/// A kind of trouble that executors wait for, with the key of the waiting time as a share of the run time.
type WaitedFor = (Kind, &'static str);

/// Other cores are idle while only stragglers or tasks with more data run.
const LATE_TASKS: [WaitedFor; 2] = [(Kind::Skew, "lost_ratio"), (Kind::Stragglers, "delay_ratio")];
/// Other cores are idle while only attempts run that fail.
const FAILED_ATTEMPTS: [WaitedFor; 1] = [(Kind::Failures, "lost_ratio")];

/// The share of the idle time of executors in which they waited for these troubles.
fn waited_while_idle(findings: &[Finding], waited_for: &[WaitedFor]) -> f64 {
    let shares = |(kind, key): WaitedFor| {
        let of_kind = findings.iter().filter(move |finding| finding.tells == kind);
        let share = move |finding: &Finding| match finding.measure(key) {
            Some(Measure::Ratio(share)) => *share,
            _ => None,
        };
        of_kind.filter_map(move |finding| Some((&finding.subject, share(finding)?)))
    };
    // Executors wait for one skewed stage after the other.
    let of_stages = |of: WaitedFor| {
        let mut each: BTreeMap<&Subject, f64> = BTreeMap::new();
        for (subject, share) in shares(of).filter(|(subject, _)| matches!(subject, Subject::Stage(_))) {
            let known = each.entry(subject).or_default();
            *known = known.max(share);
        }
        if of.0 == Kind::Skew { each.into_values().sum::<f64>().min(1.0) } else { 0.0 }
    };
    let largest = |of: WaitedFor| {
        let largest = shares(of).map(|(_, share)| share).max_by(f64::total_cmp)?;
        Some(largest.max(of_stages(of)))
    };
    let waited: f64 = waited_for.iter().copied().filter_map(largest).sum();
    let idle = largest((Kind::IdleExecutors, "idle_cores_ratio")).filter(|idle| *idle > 0.0);
    waited / idle.unwrap_or(1.0)
}

/// Whether waiting for map tasks takes at least half of the shuffle, and a few long map tasks or stragglers among them
/// cause at least half of that wait.
fn waits(cause: &Trouble, shuffle: &Trouble, findings: &[Finding]) -> bool {
    let longest = |trouble: &Trouble, of: &Subject, key: &str| {
        let told = findings.iter().filter(|it| trouble.tells(it).is_some() && it.subject == *of);
        told.filter_map(|finding| finding.time(key)).max()
    };
    let (maps, reduces) = (Subject::Tasks(TaskKind::Map.name()), Subject::Tasks(TaskKind::Reduce.name()));
    let lost = match cause.kind {
        Kind::Stragglers => longest(cause, &Subject::Application, "map_delay_ms"),
        _ => longest(cause, &maps, "lost_ms"),
    };
    let waited = longest(shuffle, &reduces, "avg_map_wait_ms");
    let shuffled = longest(shuffle, &reduces, "avg_shuffle_ms");
    let is_half = |part: Option<Millis>, whole: Option<Millis>| {
        part.zip(whole).is_some_and(|(part, whole)| 2 * part.get() >= whole.get() && part > Millis::ZERO)
    };
    is_half(lost, waited) && is_half(waited, shuffled)
}

/// Whether a replay shows what the job loses because its reduce tasks start early. A setting prevents that, so the shuffle
/// is no consequence: the loss stays whatever else is removed.
fn has_own_remedy(shuffle: &Trouble, findings: &[Finding]) -> bool {
    let is_replayed = |it: &Finding| shuffle.tells(it).is_some() && it.measure("lost_held_ratio").is_some();
    shuffle.kind == Kind::Shuffle && findings.iter().any(is_replayed)
}

/// Whether a job waited for a task whose failed attempts took most of that time: their retries start as soon as they can,
/// so capacity would not shorten the wait.
pub(super) fn waits_for_failures(finding: &Finding) -> bool {
    finding.tells == Kind::Waiting && finding.time("failed_before_ms").is_some()
}

/// Whether a job waited because its own tasks, which are too many, took turns in its containers.
fn waits_for_tasks_of(cause: &Trouble, waiting: &Finding) -> bool {
    let Some(Measure::Text(which)) = waiting.measure("waiting_tasks_text") else { return false };
    let is_kind = |subject: &Subject| match subject {
        Subject::Tasks(kind) => which.strip_suffix('s') == Some(*kind),
        _ => false,
    };
    waiting.count("at_a_time_count").is_some() && cause.subjects.iter().any(is_kind)
}

/// The troubles that executors waited for during at least this share of their idle time.
fn idle_for(findings: &[Finding], share: f64) -> Vec<WaitedFor> {
    let kinds = [&LATE_TASKS[..], &FAILED_ATTEMPTS[..]].into_iter();
    kinds.filter(|of| waited_while_idle(findings, of) >= share).flatten().copied().collect()
}

/// The same troubles, with each consequence listed under the trouble that explains it. `findings` are those about them.
/// Stragglers and skew together, or failures, explain idle executors if executors waited for them for at least the
/// share `idle_by_stragglers` of the idle time. Failures explain only stragglers that are mostly the tasks that failed.
pub(super) fn under_their_causes(
    app: &Application,
    mut troubles: Vec<Trouble>,
    findings: &[Finding],
    (order, params): (&OrderParams, &TroubleParams),
) -> Vec<Trouble> {
    let explaining = idle_for(findings, order.idle_by_stragglers.get());
    let is_idle_for = |cause: &Trouble, other: &Trouble| {
        other.kind == Kind::IdleExecutors && explaining.iter().any(|(kind, _)| *kind == cause.kind)
    };
    let waits_for =
        |cause: &Trouble, other: &Trouble| other.kind == Kind::Shuffle && waits(cause, other, findings);
    let waits_for_retries = |cause: &Trouble, other: &Trouble| {
        let mut told = findings.iter().filter(|it| other.tells(it).is_some());
        (cause.kind, other.kind) == (Kind::Failures, Kind::Waiting) && told.any(waits_for_failures)
    };
    let waits_for_others = |cause: &Trouble, other: &Trouble| waits_for_many_tasks(cause, other, findings);
    let spare = FewerExecutors::of(&troubles, findings, params.spare_executors.get());
    let stragglers_failed = LazyCell::new(|| straggling::is_of_failures(app, params));
    let explains = |cause: &Trouble, other: &Trouble| {
        cause.explains(other)
            && match (cause.kind, other.kind) {
                (Kind::FewTasks, Kind::IdleExecutors) => !has_another(cause, other, spare.as_ref()),
                (Kind::Failures, Kind::Stragglers) => {
                    fail_on_slow_nodes(cause, other, findings).unwrap_or_else(|| *stragglers_failed)
                }
                _ => true,
            }
    };
    // In the order of kinds, causes come first; a consequence of a consequence goes to the first cause, too.
    troubles.sort_by(|a, b| (a.kind, a.rank()).cmp(&(b.kind, b.rank())));
    let mut kept: Vec<Trouble> = Vec::new();
    for trouble in troubles {
        if !may_be_explained(trouble.kind) || has_own_remedy(&trouble, findings) {
            kept.push(trouble);
            continue;
        }
        let causes = kept.iter_mut().filter(|cause| {
            explains(cause, &trouble)
                || is_idle_for(cause, &trouble)
                || waits_for(cause, &trouble)
                || waits_for_retries(cause, &trouble)
                || waits_for_others(cause, &trouble)
        });
        match causes.min_by(|a, b| a.rank().cmp(&b.rank())) {
            Some(cause) => {
                if cause.kind == Kind::FewTasks && spare.is_some() {
                    cause.add_fewer_executors(&trouble);
                }
                cause.add_consequence(trouble);
            }
            None => kept.push(trouble),
        }
    }
    let is_instead = spare.is_some_and(|spare| spare.releases && spare.comes_first);
    if is_instead && kept.iter().any(|trouble| trouble.kind == Kind::IdleExecutors) {
        kept.iter_mut().filter(|trouble| trouble.kind == Kind::FewTasks).for_each(Trouble::needs_executors);
    }
    kept
}

/// Whether stragglers that slow nodes caused are a consequence of failures: most failures happened on one of these nodes.
/// `None` if no node caused the stragglers.
fn fail_on_slow_nodes(failures: &Trouble, stragglers: &Trouble, findings: &[Finding]) -> Option<bool> {
    let name = |subject: &Subject| match subject {
        Subject::Node(name) => Some(name.clone()),
        _ => None,
    };
    let slow: Vec<String> = stragglers.subjects.iter().filter_map(name).collect();
    let told = findings.iter().filter(|it| failures.tells(it).is_some());
    let mut hosts = told.filter_map(|finding| match finding.measure("worst_host_text")? {
        Measure::Text(host) => Some(host),
        _ => None,
    });
    (!slow.is_empty()).then(|| hosts.any(|host| slow.contains(host)))
}

/// Whether idle executors have another cause than too few tasks: they are a worse trouble.
fn has_another(cause: &Trouble, idle: &Trouble, spare: Option<&FewerExecutors>) -> bool {
    spare.map_or(idle.severity > cause.severity, |spare| !spare.is_explained())
}

/// Whether a wait for containers is that of the too many tasks of `cause`.
fn waits_for_many_tasks(cause: &Trouble, other: &Trouble, findings: &[Finding]) -> bool {
    cause.kind == Kind::ManyTasks
        && other.kind == Kind::Waiting
        && cause.severity >= other.severity
        && findings.iter().any(|it| other.tells(it).is_some() && waits_for_tasks_of(cause, it))
}

/// Merges troubles once their changes are settled. If a trouble calls for all changes that another one calls for, both
/// have one cause, and the one that explains more stands for both. Returns the ids of merged troubles, each with the id
/// of the one that stays.
pub(super) fn under_the_same_change(troubles: &mut Vec<Trouble>) -> Vec<(String, String)> {
    without_the_changes_of_causes(troubles);
    let mut gone = Vec::new();
    let mut place = 0;
    while let Some(trouble) = troubles.get(place) {
        if trouble.change.is_empty() {
            place += 1;
            continue;
        }
        let stands_for = |(other, cause): (usize, &Trouble)| {
            (other != place && cause.stands_for(trouble)).then_some((cause.kind, other))
        };
        match troubles.iter().enumerate().filter_map(stands_for).min() {
            Some((_, cause)) => {
                let consequence = troubles.remove(place);
                let cause = if cause > place { cause - 1 } else { cause };
                if let Some(cause) = troubles.get_mut(cause) {
                    gone.push((consequence.id.clone(), cause.id.clone()));
                    cause.add_consequence(consequence);
                }
                // Troubles that the merged one stood for may now be merged into its cause.
                place = 0;
            }
            None => place += 1,
        }
    }
    gone
}

/// A trouble with a remedy of its own does not repeat that of a cause, such as more heap against garbage collection.
fn without_the_changes_of_causes(troubles: &mut [Trouble]) {
    let with_changes = |(place, trouble): (usize, &Trouble)| (!trouble.change.is_empty()).then_some(place);
    let with_changes: Vec<usize> = troubles.iter().enumerate().filter_map(with_changes).collect();
    for &place in &with_changes {
        let Some(trouble) = troubles.get(place) else { continue };
        let others = with_changes.iter().filter_map(|&other| troubles.get(other));
        let others = others.filter(|cause| cause.comes_before(trouble) && trouble.contains(cause));
        let known: Vec<SettingChange> = others.flat_map(|cause| cause.change.clone()).collect();
        let repeats = |advice: &Advice| {
            !advice.settings.is_empty() && advice.settings.iter().all(|change| known.contains(change))
        };
        let Some(trouble) = troubles.get_mut(place) else { continue };
        if trouble.change.iter().any(|change| !known.contains(change)) {
            trouble.advice.retain(|advice| !repeats(advice));
            let firm = trouble.advice.iter().filter(|advice| !advice.conditional);
            let left: Vec<&SettingChange> = firm.flat_map(|advice| &advice.settings).collect();
            trouble.change.retain(|change| left.contains(&change));
        }
    }
}

/// Kinds that only say that a setting does not fit. They add nothing to a trouble that calls for the same setting.
const OF_SETTINGS: [Kind; 2] = [Kind::LittleMemory, Kind::Settings];

impl Trouble {
    /// Whether it calls for every setting that `other` calls for.
    fn has_the_remedy_of(&self, other: &Self) -> bool {
        let rises = |change: &SettingChange| compare(&change.setting, &change.to, change.from.as_deref()?);
        let is_in = |wanted: &SettingChange| {
            let own = self.change.iter().find(|own| own.setting == wanted.setting);
            own.is_some_and(|own| own.to == wanted.to || rises(own) == rises(wanted))
        };
        OF_SETTINGS.contains(&other.kind) && !other.change.is_empty() && other.change.iter().all(is_in)
    }

    /// Whether its change contains that of `other`.
    fn contains(&self, other: &Self) -> bool {
        !other.change.is_empty() && other.change.iter().all(|change| self.change.contains(change))
    }

    /// Whether it may cause `other`, by its kind. A rule of thumb causes nothing that was measured.
    fn comes_before(&self, other: &Self) -> bool {
        let of_thumb = |trouble: &Self| OF_SETTINGS.contains(&trouble.kind);
        (of_thumb(self), self.kind) < (of_thumb(other), other.kind)
    }

    /// Whether it calls for all that `other` calls for, and may cause it.
    fn stands_for(&self, other: &Self) -> bool {
        self.contains(other) && self.comes_before(other)
    }

    fn explains(&self, other: &Self) -> bool {
        let how =
            EXPLAINS.iter().find(|(cause, consequence, _)| (*cause, *consequence) == (self.kind, other.kind));
        if self.has_the_remedy_of(other) {
            return true;
        }
        // The copies wasted more than the stragglers cost that they were meant to replace.
        if other.kind == Kind::Speculation && other.severity > self.severity {
            return false;
        }
        let everywhere = |subject: &Subject| *subject == Subject::Application;
        how.is_some_and(|&(_, _, place)| {
            place == Where::Anywhere
                || self.subjects.iter().all(everywhere)
                || other.subjects.iter().all(|subject| everywhere(subject) || self.subjects.contains(subject))
        })
    }

    /// Lists the findings of a consequence. Its remedies are not repeated: without the cause they are not needed. Only
    /// stragglers next to skewed tasks, which stay when the data is even, keep remedies of their own.
    fn add_consequence(&mut self, consequence: Self) {
        if (self.kind, consequence.kind) == (Kind::Skew, Kind::Stragglers) {
            self.has_stragglers = true;
            self.add_remedies_besides(&consequence.advice);
        }
        let tellings = consequence.findings.into_iter();
        self.findings.extend(tellings.map(|telling| super::Telling { is_consequence: true, ..telling }));
        self.severity = self.severity.max(consequence.severity);
        self.score = self.score.max(consequence.score);
    }
}
