//! Changes that are not worth their memory.

use super::Trouble;
use super::recommended::Recommended;
use super::value::larger_splits;
use crate::savings::{Amounts, SavingStatus, WhyUnknown};
use elephant_base::severity::Severity;
use elephant_rule::finding::{Advice, Cap, CapReason, Finding, SettingChange, TroubleKind, When};
use elephant_ruleset::settings::TroubleParams;

/// Drops increases of memory from `recommended` if only garbage collection calls for them and the saving is within its
/// error. Advice on them becomes conditional. Increases after failures have another purpose: they stay, unless the failures
/// are rare and the increase takes much more memory than the whole run `used`, in GB-hours.
pub(super) fn drop_unpaid_memory(
    troubles: &mut [Trouble],
    recommended: &mut Vec<Recommended>,
    (findings, used): (&[Finding], Option<f64>),
    params: &TroubleParams,
) {
    let more = |trouble: &Trouble| trouble.savings.more_gb_hours.unwrap_or_default();
    let most = used.map(|used| params.much_more_memory.get() * used);
    let is_much = |trouble: &Trouble| most.is_some_and(|most| more(trouble).point > most);
    let is_unpaid = |trouble: &Trouble| {
        let is_optional = match trouble.kind {
            TroubleKind::GarbageCollection => true,
            TroubleKind::Failures => is_much(trouble) && are_rare(trouble, findings, params),
            _ => false,
        };
        is_optional && trouble.savings.status == SavingStatus::WithinError && more(trouble).low > 0.0
    };
    let unpaid: Vec<String> =
        troubles.iter().filter(|trouble| is_unpaid(trouble)).map(|trouble| trouble.id.clone()).collect();
    recommended.retain(|it| !it.why.iter().all(|id| unpaid.contains(id)));
    let stays = |change: &SettingChange| recommended.iter().any(|it| it.change.setting == change.setting);
    for trouble in troubles.iter_mut().filter(|trouble| unpaid.contains(&trouble.id)) {
        trouble.change.retain(stays);
        let failed = trouble.kind == TroubleKind::Failures;
        let when = if failed { When::FailsAgain } else { When::TimeMatters };
        for advice in &mut trouble.advice {
            if !advice.conditional && !advice.settings.is_empty() && !advice.settings.iter().any(stays) {
                advice.only(when);
            }
        }
    }
}

/// Whether few tasks failed, or few executors were lost, in all parts that the trouble is about.
fn are_rare(trouble: &Trouble, findings: &[Finding], params: &TroubleParams) -> bool {
    let share = |finding: &Finding, part, whole| {
        finding.count(part).zip(finding.count(whole)).map(|(part, whole)| part as f64 / whole.max(1) as f64)
    };
    let is_rare = |finding: &Finding| {
        share(finding, "failed_attempts_count", "tasks_count")
            .is_some_and(|share| share <= params.rare_failed_tasks.get())
            || share(finding, "lost_executors_count", "executors_count")
                .is_some_and(|share| share <= params.rare_lost_executors.get())
    };
    let mut own = findings.iter().filter(|finding| trouble.tells(finding) == Some(false)).peekable();
    own.peek().is_some() && own.all(is_rare)
}

/// What stays if less memory would save nothing.
const MEMORY: &str = "the memory";
/// Why it would not, if the sizes of containers are rounded up.
const IN_STEPS: &str = "the cluster grants memory in larger steps, so less would save nothing";
/// Why it would not, otherwise.
const SAVES_NOTHING: &str = "what the measurements allow to change would save nothing";

/// Drops decreases of memory from `recommended` that would save nothing. Troubles of too much memory for which nothing is
/// left to change are at most low, and say why; `without_change` are those whose changes were dropped before.
pub(super) fn drop_useless_memory(
    troubles: &mut [Trouble],
    recommended: &mut Vec<Recommended>,
    (findings, without_change): (&mut [Finding], &[String]),
) {
    let is_useless = |trouble: &Trouble| {
        let savings = &trouble.savings;
        trouble.kind == TroubleKind::MuchMemory
            && savings.status == SavingStatus::WithinError
            && savings.alone.as_ref().is_some_and(Amounts::is_nothing)
    };
    let useless: Vec<String> =
        troubles.iter().filter(|trouble| is_useless(trouble)).map(|trouble| trouble.id.clone()).collect();
    recommended.retain(|it| !it.why.iter().all(|id| useless.contains(id)));
    let stays = |change: &SettingChange| recommended.iter().any(|it| it.change.setting == change.setting);
    for trouble in troubles.iter_mut().filter(|trouble| trouble.kind == TroubleKind::MuchMemory) {
        if useless.contains(&trouble.id) {
            trouble.change.retain(stays);
            trouble.advice.retain(|advice| advice.settings.is_empty() || advice.settings.iter().any(stays));
            if trouble.advice.is_empty() {
                let why = if trouble.savings.by_size { IN_STEPS } else { SAVES_NOTHING };
                trouble.advice.push(Advice::to_keep(MEMORY, why));
            }
        } else if !without_change.contains(&trouble.id) {
            continue;
        }
        if trouble.change.is_empty() && trouble.advice.iter().all(|advice| advice.settings.is_empty()) {
            let told = trouble.advice.first().and_then(|advice| advice.kept_because.clone());
            let is_useless = useless.contains(&trouble.id);
            let other = if is_useless { CapReason::SavesNothing } else { CapReason::MemoryNeeded };
            trouble.cap_further(findings, &low(told.map_or(other, CapReason::MemoryStays)));
        }
    }
}

/// At most low, for this reason.
const fn low(why: CapReason) -> Cap {
    Cap { at_most: Severity::Low, why }
}

/// Too few tasks are at most low if fewer executors are recommended instead: both tell of the same idle cores, and the
/// executors that more tasks would need are to be released.
pub(super) fn cap_few_tasks(troubles: &mut [Trouble], findings: &mut [Finding]) {
    let instead = SavingStatus::Unknown(WhyUnknown::FewerExecutors);
    let few = troubles.iter_mut().filter(|trouble| trouble.kind == TroubleKind::FewTasks);
    few.filter(|trouble| trouble.savings.status == instead)
        .for_each(|trouble| trouble.cap_further(findings, &low(CapReason::FewerExecutors)));
}

/// Drops larger splits from `recommended` if their saving is unknown, or within its error: map tasks that read several
/// blocks read most of them from other nodes. Advice on them becomes conditional, and the trouble is at most low. Map tasks
/// that are very short surely spend much of their time on starting up, so severe troubles keep them.
pub(super) fn drop_unproven_splits(
    troubles: &mut [Trouble],
    recommended: &mut Vec<Recommended>,
    findings: &mut [Finding],
) {
    let is_split = |change: &SettingChange| larger_splits(change) == Some(true);
    let is_unproven = |trouble: &&mut Trouble| {
        trouble.kind == TroubleKind::ManyTasks
            && trouble.severity <= Severity::Moderate
            && trouble.savings.status != SavingStatus::Estimated
            && trouble.change.iter().any(is_split)
    };
    for trouble in troubles.iter_mut().filter(is_unproven) {
        recommended.retain(|it| !is_split(&it.change) || it.why.iter().any(|id| *id != trouble.id));
        trouble.change.retain(|change| !is_split(change));
        for advice in trouble.advice.iter_mut().filter(|advice| advice.settings.iter().any(is_split)) {
            advice.only(When::StartUpsMatter);
        }
        let why = match trouble.savings.status {
            SavingStatus::Unknown(_) => CapReason::SavingUnknown,
            _ => CapReason::WithinError,
        };
        trouble.cap_further(findings, &low(why));
    }
}

/// Lowers troubles of too few or too many tasks whose saving is within its error: a rule and a replay measure what was
/// lost in different ways, and what a replay does not confirm is no more than a note. A low trouble is removed, unless
/// others follow from it. Says whether one was removed.
pub(super) fn cap_unproven_numbers(
    troubles: &mut Vec<Trouble>,
    recommended: &mut Vec<Recommended>,
    findings: &mut [Finding],
) -> bool {
    let is_unproven = |trouble: &&mut Trouble| {
        let most = match trouble.kind {
            TroubleKind::FewTasks => Severity::Critical,
            // Replays leave out what the driver spends on each task.
            TroubleKind::ManyTasks => Severity::Moderate,
            _ => Severity::None,
        };
        trouble.severity <= most
            && trouble.savings.status == SavingStatus::WithinError
            && trouble.findings.iter().all(|told| !told.is_consequence)
    };
    for trouble in troubles.iter_mut().filter(is_unproven) {
        let is_low = trouble.severity <= Severity::Low;
        let at_most = if is_low { Severity::None } else { Severity::Low };
        trouble.cap_further(findings, &Cap { at_most, why: CapReason::WithinError });
        if is_low {
            let own = findings.iter_mut().filter(|finding| trouble.tells(finding).is_some());
            own.for_each(|finding| finding.advice.clear());
            recommended.retain(|it| it.why.iter().any(|id| *id != trouble.id));
        }
    }
    let before = troubles.len();
    troubles.retain(|trouble| trouble.severity > Severity::None);
    troubles.len() < before
}

#[cfg(test)]
mod tests {
    use super::super::tests::{built_in, finding};
    use super::TroubleKind::{Failures, FewTasks, GarbageCollection, ManyTasks, MuchMemory};
    use super::*;
    use crate::savings::Range;
    use elephant_model::model::conf::ConfKey;
    use elephant_rule::finding::{Measure, Subject};

    #[test]
    fn memory_that_saves_nothing_is_advised_on_a_condition() {
        let settled = |kind, status, why: &[&str]| {
            let mut trouble = Trouble { kind, ..Trouble::named("a") };
            trouble.savings.status = status;
            trouble.savings.more_gb_hours = Some(Range { low: 1.0, point: 2.0, high: 3.0 });
            let why = why.iter().map(|id| (*id).to_owned()).collect();
            let mut recommended = vec![Recommended { change: trouble.change[0].clone(), why }];
            let mut troubles = [trouble];
            drop_unpaid_memory(&mut troubles, &mut recommended, (&[], None), &built_in());
            let [trouble] = troubles;
            assert_eq!(trouble.change.is_empty(), recommended.is_empty());
            assert_eq!(trouble.advice[0].conditional, recommended.is_empty());
            assert_eq!((trouble.advice[0].when == [When::TimeMatters]), recommended.is_empty());
            recommended.len()
        };
        assert_eq!(settled(GarbageCollection, SavingStatus::WithinError, &["a"]), 0);
        assert_eq!(settled(GarbageCollection, SavingStatus::Estimated, &["a"]), 1);
        assert_eq!(settled(GarbageCollection, SavingStatus::WithinError, &["a", "b"]), 1);
        assert_eq!(settled(Failures, SavingStatus::WithinError, &["a"]), 1);
    }

    #[test]
    fn a_few_failures_do_not_double_the_memory_of_a_run() {
        let settled = |failed: u64, status: SavingStatus, used: Option<f64>| {
            let mut trouble = Trouble { kind: Failures, ..Trouble::named("a") };
            let evidence =
                [("failed_attempts_count", Measure::Count(failed)), ("tasks_count", Measure::Count(800))];
            let evidence = evidence.map(|(key, count)| (key.into(), count)).into();
            let told = finding("a", Failures, Subject::Executor("a".to_owned()), Severity::Moderate);
            let finding = Finding { evidence, ..told };
            trouble.savings.status = status;
            trouble.savings.more_gb_hours = Some(Range { low: 8.0, point: 10.0, high: 12.0 });
            let why = vec!["a".to_owned()];
            let mut recommended = vec![Recommended { change: trouble.change[0].clone(), why }];
            let mut troubles = [trouble];
            drop_unpaid_memory(&mut troubles, &mut recommended, (&[finding], used), &built_in());
            assert_eq!((troubles[0].advice[0].when == [When::FailsAgain]), recommended.is_empty());
            recommended.len()
        };
        let within = || SavingStatus::WithinError;
        assert_eq!(settled(3, within(), Some(10.0)), 0);
        assert_eq!(settled(3, within(), Some(30.0)), 1);
        assert_eq!(settled(3, within(), None), 1);
        assert_eq!(settled(30, within(), Some(10.0)), 1);
        assert_eq!(settled(3, SavingStatus::Estimated, Some(10.0)), 1);
    }

    #[test]
    fn larger_splits_of_unknown_saving_are_not_recommended() {
        let settled = |severity, status| {
            let setting = ConfKey::SplitMinSize.name();
            let mut trouble = Trouble { kind: ManyTasks, severity, ..Trouble::named(setting) };
            trouble.savings.status = status;
            let why = vec![trouble.id.clone()];
            let mut recommended = vec![Recommended { change: trouble.change[0].clone(), why }];
            let mut troubles = [trouble];
            drop_unproven_splits(&mut troubles, &mut recommended, &mut []);
            assert_eq!(troubles[0].advice[0].conditional, recommended.is_empty());
            // What the message says of the severity holds no more.
            let is_lowered = troubles[0].severity < severity;
            assert_eq!(troubles[0].caps.deciding().is_some(), is_lowered);
            (recommended.len(), troubles[0].severity)
        };
        let (low, moderate, critical) = (Severity::Low, Severity::Moderate, Severity::Critical);
        assert_eq!(settled(moderate, SavingStatus::Unknown("".into())), (0, low));
        assert_eq!(settled(moderate, SavingStatus::WithinError), (0, low));
        assert_eq!(settled(moderate, SavingStatus::Estimated), (1, moderate));
        assert_eq!(settled(critical, SavingStatus::Unknown("".into())), (1, critical));
    }

    #[test]
    fn numbers_of_tasks_whose_saving_is_within_its_error_are_at_most_low() {
        let settled = |kind, severity, status: SavingStatus, is_consequence| {
            let mut trouble = Trouble { kind, severity, ..Trouble::named("a") };
            trouble.savings.status = status;
            trouble.findings[0].is_consequence = is_consequence;
            let mut recommended =
                vec![Recommended { change: trouble.change[0].clone(), why: vec!["a".to_owned()] }];
            let mut troubles = vec![trouble];
            let removed = cap_unproven_numbers(&mut troubles, &mut recommended, &mut []);
            assert_eq!((removed, recommended.is_empty()), (troubles.is_empty(), troubles.is_empty()));
            let left = troubles.first();
            assert_eq!(
                left.and_then(|it| it.caps.deciding()) == Some(&low(CapReason::WithinError)),
                left.is_some_and(|it| it.severity < severity)
            );
            left.map_or(Severity::None, |trouble| trouble.severity)
        };
        let within = || SavingStatus::WithinError;
        let (none, low, moderate, severe) =
            (Severity::None, Severity::Low, Severity::Moderate, Severity::Severe);
        assert_eq!(settled(FewTasks, severe, within(), false), low);
        assert_eq!(settled(FewTasks, low, within(), false), none);
        assert_eq!(settled(ManyTasks, moderate, within(), false), low);
        assert_eq!(settled(ManyTasks, severe, within(), false), severe);
        assert_eq!(settled(FewTasks, low, within(), true), low);
        assert_eq!(settled(FewTasks, low, SavingStatus::Estimated, false), low);
        assert_eq!(settled(FewTasks, moderate, SavingStatus::Unknown("".into()), false), moderate);
        assert_eq!(settled(GarbageCollection, moderate, within(), false), moderate);
    }

    #[test]
    fn few_tasks_are_at_most_low_next_to_executors_that_are_to_go() {
        let settled = |kind, why: WhyUnknown| {
            let mut troubles = [Trouble { kind, ..Trouble::named("a") }];
            troubles[0].savings.status = SavingStatus::Unknown(why);
            cap_few_tasks(&mut troubles, &mut []);
            (troubles[0].severity, troubles[0].caps.deciding().map(|cap| cap.why.clone()))
        };
        assert_eq!(
            settled(FewTasks, WhyUnknown::FewerExecutors),
            (Severity::Low, Some(CapReason::FewerExecutors))
        );
        assert_eq!(settled(FewTasks, "fewer executors are recommended instead".into()).0, Severity::Critical);
        assert_eq!(settled(ManyTasks, WhyUnknown::FewerExecutors).0, Severity::Critical);
    }

    #[test]
    fn less_memory_that_saves_nothing_is_not_recommended() {
        let settled = |kind, gb_hours: f64| {
            let mut trouble = Trouble { kind, ..Trouble::named("a") };
            trouble.savings.status = SavingStatus::WithinError;
            let range = Range { low: 0.0, point: gb_hours, high: gb_hours };
            trouble.savings.alone = Some(Amounts { gb_hours: Some(range), ..Amounts::default() });
            let change = trouble.change[0].clone();
            let mut recommended = vec![Recommended { change, why: vec!["a".to_owned()] }];
            let mut troubles = [trouble];
            drop_useless_memory(&mut troubles, &mut recommended, (&mut [], &[]));
            assert_eq!(troubles[0].change.is_empty(), recommended.is_empty());
            assert_eq!(troubles[0].advice[0].kept_because.is_some(), recommended.is_empty());
            assert_eq!(troubles[0].severity == Severity::Low, recommended.is_empty());
            recommended.len()
        };
        assert_eq!(settled(MuchMemory, 0.0), 0);
        assert_eq!(settled(MuchMemory, 1.0), 1);
        assert_eq!(settled(GarbageCollection, 0.0), 1);
    }

    #[test]
    fn memory_that_is_needed_for_another_reason_is_no_severe_trouble() {
        const KEEP: &str = "keep spark.executor.memory: ";
        let of = |advice: &str, without: &[&str]| {
            let kept_because = advice.strip_prefix(KEEP).map(str::to_owned);
            let advice = vec![Advice { kept_because, ..Advice::new(advice) }];
            let mut troubles =
                [Trouble { kind: MuchMemory, change: Vec::new(), advice, ..Trouble::named("a") }];
            let without: Vec<String> = without.iter().map(|id| (*id).to_owned()).collect();
            drop_useless_memory(&mut troubles, &mut Vec::new(), (&mut [], &without));
            (troubles[0].severity, troubles[0].caps.deciding().map(|cap| cap.why.words().into_owned()))
        };
        let keep = "keep spark.executor.memory: less would make spill worse";
        let worse = Some("less would make spill worse".to_owned());
        assert_eq!(of(keep, &["a"]), (Severity::Low, worse));
        let more = "not less, but more, because of failures: spark.executor.memory=4g (now 3g)";
        assert_eq!(of(more, &["a"]).1.as_deref(), Some("another trouble needs the memory"));
        assert_eq!(of(keep, &[]).0, Severity::Critical);
    }
}
