//! Troubles that are only a consequence of others: their findings are echoes.

use super::Trouble;
use super::value::compare;
use crate::finding::{Finding, Measure, SettingChange, TroubleKind as Kind};
use crate::model::Subject;

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
    (Kind::Skew, Kind::LongRun, Where::SameParts),
    (Kind::GarbageCollection, Kind::LongRun, Where::Anywhere),
    (Kind::GarbageCollection, Kind::SlowTasks, Where::SameParts),
    (Kind::Spill, Kind::LongRun, Where::SameParts),
    (Kind::Spill, Kind::SlowTasks, Where::SameParts),
    (Kind::FewTasks, Kind::LongRun, Where::SameParts),
    (Kind::FewTasks, Kind::Imbalance, Where::Anywhere),
    (Kind::FewTasks, Kind::IdleExecutors, Where::Anywhere),
    (Kind::ManyTasks, Kind::LongRun, Where::SameParts),
    (Kind::Stragglers, Kind::Speculation, Where::Anywhere),
    (Kind::Stragglers, Kind::Imbalance, Where::Anywhere),
    (Kind::Stragglers, Kind::LongRun, Where::SameParts),
    (Kind::Waiting, Kind::LongRun, Where::SameParts),
    (Kind::IdleExecutors, Kind::Imbalance, Where::Anywhere),
];

/// If only stragglers were still running for this share of the time, executors were idle because of them.
const MOST_OF_THE_TIME: f64 = 0.5;

/// Whether an application waited for stragglers most of the time.
fn waited_for_stragglers(findings: &[Finding]) -> bool {
    let measures = findings.iter().filter(|finding| finding.tells == Kind::Stragglers);
    measures.flat_map(|finding| &finding.evidence).any(|(name, measure)| {
        let share = if let Measure::Ratio(share) = measure { *share } else { None };
        *name == "delay_ratio" && share.is_some_and(|share| share >= MOST_OF_THE_TIME)
    })
}

/// The same troubles, with those that another explains below it. `findings` tell of them.
pub(super) fn under_their_causes(mut troubles: Vec<Trouble>, findings: &[Finding]) -> Vec<Trouble> {
    let waited = waited_for_stragglers(findings);
    let is_idle_for = |cause: &Trouble, other: &Trouble| {
        waited && (cause.kind, other.kind) == (Kind::Stragglers, Kind::IdleExecutors)
    };
    // In the order of kinds, causes come first; a consequence of a consequence goes to the first cause, too.
    troubles.sort_by(|a, b| (a.kind, a.rank()).cmp(&(b.kind, b.rank())));
    let mut kept: Vec<Trouble> = Vec::new();
    for trouble in troubles {
        let causes = kept.iter_mut().filter(|cause| cause.explains(&trouble) || is_idle_for(cause, &trouble));
        match causes.min_by(|a, b| a.rank().cmp(&b.rank())) {
            Some(cause) => cause.echo(trouble),
            None => kept.push(trouble),
        }
    }
    kept
}

/// Kinds that only say that a setting does not fit. Beside a trouble that calls for the same setting, they say nothing new.
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

    fn explains(&self, other: &Self) -> bool {
        let how =
            EXPLAINS.iter().find(|(cause, consequence, _)| (*cause, *consequence) == (self.kind, other.kind));
        if self.has_the_remedy_of(other) {
            return true;
        }
        let everywhere = |subject: &Subject| *subject == Subject::Application;
        how.is_some_and(|&(_, _, place)| {
            place == Where::Anywhere
                || self.subjects.iter().all(everywhere)
                || other.subjects.iter().all(|subject| everywhere(subject) || self.subjects.contains(subject))
        })
    }

    /// Lists the findings of a consequence. Its remedies are not repeated: without the cause they are not needed.
    fn echo(&mut self, consequence: Self) {
        let tellings = consequence.findings.into_iter();
        self.findings.extend(tellings.map(|telling| super::Telling { is_echo: true, ..telling }));
        self.severity = self.severity.max(consequence.severity);
        self.score = self.score.max(consequence.score);
    }
}
