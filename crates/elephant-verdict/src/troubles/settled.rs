//! The third stage: one value for each setting, and advice that proposes no other.

use super::grouped::Grouped;
use super::recommended::Recommended;
use super::settled_advice::{SettledAdvice, WithoutChange};
use super::{Case, Trouble, configuration, on_platform, replayed_change, settled_advice};
use elephant_base::severity::Severity;
use elephant_rule::finding::{Cap, CapReason, Finding, TroubleKind};

/// Troubles that agree on the value of each setting.
pub(super) struct Settled<'f> {
    pub(super) findings: &'f mut [Finding],
    pub(super) troubles: Vec<Trouble>,
    /// One value for each setting.
    pub(super) recommended: Vec<Recommended>,
    /// Troubles whose changes are not recommended.
    pub(super) without: WithoutChange,
}

/// Settles what the troubles propose.
pub(super) fn settled<'f>(case: &Case<'_>, grouped: Grouped<'f>) -> Settled<'f> {
    let Grouped { findings, mut troubles } = grouped;
    // The presets of Dr. Elephant advise as its rules did.
    if case.is_by_saving() {
        on_platform::adapt(case.app, &mut troubles, findings);
    }
    let grounds = replayed_change::Grounds {
        app: case.app,
        replays: &case.replays,
        run_time: case.metrics.run_time,
        params: case.basis.rules.troubles(),
        idle_application: case.order().idle_application.get(),
    };
    let no_good = |judged: configuration::Judged<'_>| replayed_change::of(&grounds, judged);
    let mut values = configuration::settle(case.app, &mut troubles, no_good);
    let without = settled_advice::apply(case.app, &mut troubles, &mut values);
    if case.is_by_saving() {
        let advice = SettledAdvice::of(case.app, &values);
        for finding in findings.iter_mut() {
            advice.lead(&mut finding.advice);
        }
        excuse_right_settings(&mut troubles, findings, &without);
    }
    Settled { findings, troubles, recommended: values.recommended, without }
}

/// Troubles of settings that all stay are at most low, and are removed if changing the settings would do no good or nothing
/// else is left to do. Troubles of short tasks are removed, too, if fewer tasks would do no good. Their findings get the same severities.
fn excuse_right_settings(troubles: &mut Vec<Trouble>, findings: &mut [Finding], without: &WithoutChange) {
    let stays = |trouble: &&mut Trouble| match trouble.kind {
        TroubleKind::Settings => without.all.contains(&trouble.id),
        TroubleKind::ManyTasks => {
            without.no_good.contains(&trouble.id) && trouble.findings.iter().all(|told| !told.is_consequence)
        }
        _ => false,
    };
    for trouble in troubles.iter_mut().filter(stays) {
        let is_no_good = without.no_good.contains(&trouble.id);
        let why = if is_no_good { CapReason::NoGood } else { CapReason::SettingsStay };
        let is_left = !is_no_good && trouble.advice.iter().any(|advice| advice.kept_because.is_none());
        let at_most = if is_left { Severity::Low } else { Severity::None };
        trouble.cap(findings, &Cap { at_most, why });
        if !is_left {
            let own = findings.iter_mut().filter(|finding| trouble.tells(finding).is_some());
            own.for_each(|finding| finding.advice.clear());
        }
    }
    troubles.retain(|trouble| trouble.severity > Severity::None);
}
