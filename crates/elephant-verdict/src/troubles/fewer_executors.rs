//! Executors that an application does not need, next to stages with too few tasks: fewer executors or more tasks.

use super::Trouble;
use elephant_model::model::conf::ConfKey;
use elephant_rule::finding::{Advice, Finding, Measure, SettingChange, TroubleKind as Kind, When};

/// How to choose between fewer executors and more tasks, if an application has far more executors than its present
/// tasks need.
pub(super) struct FewerExecutors {
    /// Whether the share of spare executors is at least the share of the run that stages with too few tasks lose.
    pub(super) comes_first: bool,
    /// Whether the proposed changes set the number of executors, which more tasks would be made for.
    pub(super) is_number: bool,
    /// Whether they release executors that more tasks would need: by their number, or without a minimum.
    pub(super) releases: bool,
}

impl FewerExecutors {
    /// `None` if fewer than the share `least` of the executors are spare.
    pub(super) fn of(troubles: &[Trouble], findings: &[Finding], least: f64) -> Option<Self> {
        let idle = findings.iter().filter(|finding| finding.tells == Kind::IdleExecutors);
        let share = |finding: &Finding| {
            let (enough, all) = (finding.count("enough_executors_count")?, finding.count("executors_count")?);
            Some(1.0 - enough as f64 / all as f64)
        };
        let spare = idle.filter_map(share).max_by(f64::total_cmp).filter(|spare| *spare >= least)?;
        let few = findings.iter().filter(|finding| finding.tells == Kind::FewTasks);
        let lost = few.filter_map(|finding| match finding.measure("lost_ratio")? {
            Measure::Ratio(share) => *share,
            _ => None,
        });
        let mut changes =
            troubles.iter().filter(|it| it.kind == Kind::IdleExecutors).flat_map(|it| &it.change);
        let is_number = changes.clone().any(is_number);
        let is_minimum =
            changes.any(|it| ConfKey::DynamicAllocationMin.names().contains(&it.setting.as_str()));
        Some(Self { comes_first: spare >= lost.sum(), is_number, releases: is_number || is_minimum })
    }

    /// Whether too few tasks explain the idle executors all the same.
    pub(super) const fn is_explained(&self) -> bool {
        self.is_number && !self.comes_first
    }
}

fn is_number(change: &SettingChange) -> bool {
    let keys = [ConfKey::ExecutorInstances, ConfKey::CoresMax, ConfKey::DynamicAllocationMax];
    keys.iter().any(|key| key.names().contains(&change.setting.as_str()))
}

/// Whether all that a trouble advises depends on a condition.
pub(super) fn is_conditional(trouble: &Trouble) -> bool {
    !trouble.advice.is_empty() && trouble.advice.iter().all(|advice| advice.conditional)
}

impl Trouble {
    /// Makes advice on more tasks conditional, because fewer executors are recommended.
    pub(super) fn needs_executors(&mut self) {
        self.change.clear();
        for advice in self.advice.iter_mut().filter(|advice| !advice.conditional) {
            advice.only(When::ExecutorsStay);
        }
    }

    /// Adds a consequence's advice on fewer executors, on a condition, because more tasks are recommended.
    pub(super) fn add_fewer_executors(&mut self, idle: &Self) {
        let fewer = idle.advice.iter().filter(|advice| advice.settings.iter().any(is_number));
        let mut fewer: Vec<Advice> = fewer.cloned().collect();
        for advice in &mut fewer {
            advice.only(When::MemoryMatters);
        }
        self.advice.extend(fewer);
    }
}
