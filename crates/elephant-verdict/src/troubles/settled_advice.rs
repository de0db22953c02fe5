//! Advice after one configuration is settled: it proposes the recommended values and nothing without effect.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::configuration::SettledValues;
use super::recommended::Recommended;
use super::value::{compare, options_on_top, rises};
use super::{Trouble, consequences, without_effect};
use elephant_model::model::Application;
use elephant_rule::finding::{Advice, SettingChange, TroubleKind};

/// The settled settings of an application, by name.
pub(super) struct SettledAdvice<'a> {
    app: &'a Application,
    recommended: BTreeMap<&'a str, &'a Recommended>,
    /// Why settings stay as they are.
    kept: BTreeMap<&'a str, &'a str>,
    /// All recommended changes.
    changes: Vec<SettingChange>,
}

/// The ids of troubles whose changes are all dropped.
#[derive(Debug, Default)]
pub(super) struct WithoutChange {
    pub(super) all: Vec<String>,
    /// The ids of troubles whose changes would all do no good.
    pub(super) no_good: Vec<String>,
}

/// Makes troubles propose the recommended values, and merges troubles that another one stands for. Advice and
/// configuration then name only the troubles that remain.
pub(super) fn apply(
    app: &Application,
    troubles: &mut Vec<Trouble>,
    settled: &mut SettledValues,
) -> WithoutChange {
    // Which troubles remain depends on the changes that they keep, so try it on a copy first.
    let mut tried = troubles.clone();
    SettledAdvice::of(app, settled).settle(&mut tried, settled);
    for (gone, stays) in consequences::under_the_same_change(&mut tried) {
        settled.merge(&gone, &stays);
    }
    let without = SettledAdvice::of(app, settled).settle(troubles, settled);
    consequences::under_the_same_change(troubles);
    without
}

impl<'a> SettledAdvice<'a> {
    pub(super) fn of(app: &'a Application, settled: &'a SettledValues) -> Self {
        let mut kept = BTreeMap::new();
        for (setting, why) in &settled.kept {
            kept.entry(setting.as_str()).or_insert(why.as_str());
        }
        let recommended = settled.recommended.iter();
        Self {
            app,
            kept,
            recommended: recommended.clone().map(|it| (it.change.setting.as_str(), it)).collect(),
            changes: recommended.map(|it| it.change.clone()).collect(),
        }
    }

    fn settle(&self, troubles: &mut [Trouble], settled: &SettledValues) -> WithoutChange {
        let mut without = WithoutChange::default();
        for trouble in troubles {
            // Conditional advice counts only for troubles of settings.
            let is_of_settings = trouble.kind == TroubleKind::Settings;
            let lines = trouble.advice.iter().filter(|advice| is_of_settings || !advice.conditional);
            let mut changes = lines.flat_map(|advice| &advice.settings).peekable();
            if changes.peek().is_some() && changes.all(|change| settled.harmful.contains(&change.setting)) {
                without.no_good.push(trouble.id.clone());
            }
            if self.lead(&mut trouble.advice) {
                without.all.push(trouble.id.clone());
            }
            let firm = || trouble.advice.iter().filter(|advice| !advice.conditional);
            trouble.change.retain_mut(|change| match self.of_setting(change) {
                Some(it) if firm().any(|advice| advice.settings.contains(it)) => {
                    change.clone_from(it);
                    true
                }
                _ => false,
            });
        }
        without
    }

    fn of_setting(&self, change: &SettingChange) -> Option<&'a SettingChange> {
        self.recommended.get(change.setting.as_str()).map(|it| &it.change)
    }

    /// Makes advice propose the recommended values and nothing without effect. If nothing of it is left, it says why the
    /// settings stay, and this returns true.
    pub(super) fn lead(&self, advice: &mut Vec<Advice>) -> bool {
        let mut reasons: Vec<Advice> = Vec::new();
        advice.retain_mut(|line| {
            let lost: Vec<(SettingChange, Advice)> = line
                .settings
                .iter()
                .filter_map(|change| Some((change.clone(), self.why_lost(change, line)?)))
                .collect();
            if !lost.is_empty() && lost.len() == line.settings.len() {
                reasons.extend(lost.into_iter().map(|(_, why)| why).take(1));
                return false;
            }
            for (change, _) in &lost {
                line.remove(change);
            }
            self.rewrite(line);
            true
        });
        let is_empty = advice.is_empty();
        if is_empty {
            advice.extend(reasons.into_iter().take(1));
        }
        is_empty && !advice.is_empty()
    }

    /// Why a change of a line is dropped: for its own sake, or because the setting that it serves stays.
    fn why_lost(&self, change: &SettingChange, line: &Advice) -> Option<Advice> {
        let served = || line.served_by(change).filter(|_| !line.conditional);
        self.why_stays(change, line)
            .or_else(|| self.why_stays(served()?, line))
            .or_else(|| self.why_stays(line.served_elsewhere(change)?, line))
    }

    /// Why a setting stays as it is. Advice on a consequence is not recommended, but its settings still have an effect together.
    fn why_stays(&self, change: &SettingChange, line: &Advice) -> Option<Advice> {
        if let Some(opposite) = self.opposite_of(change) {
            return Some(opposite.into());
        }
        let inert = || without_effect::why(self.app, change, &[&self.changes, &line.settings]);
        // The setting stays because of its amount: other options of a JVM may change.
        let is_other = || {
            let order = change.from.as_deref().and_then(|from| compare(&change.setting, &change.to, from));
            order == Some(Ordering::Equal)
        };
        let kept = self.kept.get(change.setting.as_str()).copied().filter(|_| !is_other());
        let why = kept.or_else(inert)?;
        Some(Advice::to_keep(&change.setting, why))
    }

    /// The settled change in words, if it goes in the opposite direction of `change`.
    fn opposite_of(&self, change: &SettingChange) -> Option<String> {
        let Recommended { change: settled, why } = self.recommended.get(change.setting.as_str())?;
        let (wanted, settled_rises) = (rises(change)?, rises(settled)?);
        let way = if settled_rises { "not less, but more" } else { "not more, but less" };
        (wanted != settled_rises).then(|| format!("{way}, because of {}: {settled}", why.join(", ")))
    }

    /// Replaces the values of settings that are settled.
    fn rewrite(&self, line: &mut Advice) {
        for change in line.settings.clone() {
            let Some(settled) = self.of_setting(&change).filter(|settled| **settled != change) else {
                continue;
            };
            // Advice on another option of a JVM is not about the heap.
            let other_options = if line.conditional { options_on_top(&change, settled) } else { None };
            line.replace(&change, other_options.unwrap_or_else(|| settled.clone()));
        }
    }
}
