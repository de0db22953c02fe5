//! Executors that an application does not need, next to stages with too few tasks: fewer executors or more tasks.

use super::Trouble;
use crate::finding::{Advice, Finding, Measure, SettingChange, TroubleKind as Kind};
use crate::model::conf::ConfKey;

/// From this share of spare executors on, these are a trouble of their own next to too few tasks: more tasks are not the only
/// remedy.
const SPARE: f64 = 0.5;
/// What advice begins with that needs the executors which another trouble gives back.
const KEEPING: &str = "if run time matters more than memory, keep the executors and ";
/// What advice begins with that gives back executors which more tasks would need.
const INSTEAD: &str = "if memory matters more than run time, instead ";

/// How many executors an application would need with its present tasks, if it has far more, next to stages with too few tasks.
pub(super) struct Spare {
    /// Fewer executors free more than more tasks do.
    pub(super) comes_first: bool,
    /// Settings of their number, which more tasks would be made for.
    pub(super) is_number: bool,
}

impl Spare {
    pub(super) fn of(troubles: &[Trouble], findings: &[Finding]) -> Option<Self> {
        let idle = findings.iter().filter(|finding| finding.tells == Kind::IdleExecutors);
        let share = |finding: &Finding| {
            let (enough, all) = (finding.count("enough_executors_count")?, finding.count("executors_count")?);
            Some(1.0 - enough as f64 / all as f64)
        };
        let spare = idle.filter_map(share).max_by(f64::total_cmp).filter(|spare| *spare >= SPARE)?;
        let few = findings.iter().filter(|finding| finding.tells == Kind::FewTasks);
        let lost = few.filter_map(|finding| match finding.measure("lost_ratio")? {
            Measure::Ratio(share) => *share,
            _ => None,
        });
        let mut changes =
            troubles.iter().filter(|it| it.kind == Kind::IdleExecutors).flat_map(|it| &it.change);
        Some(Self { comes_first: spare >= lost.sum(), is_number: changes.any(is_number) })
    }

    /// Whether too few tasks explain idle executors in spite of it.
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
    /// Advises more tasks on a condition: fewer executors are recommended.
    pub(super) fn needs_executors(&mut self) {
        self.change.clear();
        for advice in self.advice.iter_mut().filter(|advice| !advice.conditional) {
            advice.text.insert_str(0, KEEPING);
            advice.conditional = true;
        }
    }

    /// Adds the advice on fewer executors of a consequence on a condition: more tasks are recommended.
    pub(super) fn add_fewer_executors(&mut self, idle: &Self) {
        let fewer = idle.advice.iter().filter(|advice| advice.settings.iter().any(is_number));
        let fewer = fewer.map(|advice| Advice {
            text: format!("{INSTEAD}{}", advice.text),
            conditional: true,
            ..advice.clone()
        });
        self.advice.extend(fewer);
    }
}
