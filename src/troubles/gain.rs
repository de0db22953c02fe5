//! Changes that are not worth their memory.

use super::Trouble;
use super::configuration::Recommended;
use crate::finding::{SettingChange, TroubleKind};
use crate::savings::{Amounts, SavingStatus};

/// The beginning of advice whose settings are not recommended.
const IF: &str = "if run time matters more than memory, ";

/// Drops increases of memory from `recommended` if only garbage collection calls for them and the saving is within its
/// error. Advice on them becomes conditional. Increases after failures stay, because they have another purpose.
pub(super) fn drop_unpaid(troubles: &mut [Trouble], recommended: &mut Vec<Recommended>) {
    let takes_more = |trouble: &Trouble| trouble.savings.more_gb_hours.is_some_and(|more| more.low > 0.0);
    let is_unpaid = |trouble: &Trouble| {
        trouble.kind == TroubleKind::GarbageCollection
            && trouble.savings.status == SavingStatus::WithinError
            && takes_more(trouble)
    };
    let unpaid: Vec<String> =
        troubles.iter().filter(|trouble| is_unpaid(trouble)).map(|trouble| trouble.id.clone()).collect();
    recommended.retain(|it| !it.why.iter().all(|id| unpaid.contains(id)));
    let stays = |change: &SettingChange| recommended.iter().any(|it| it.change.setting == change.setting);
    for trouble in troubles.iter_mut().filter(|trouble| unpaid.contains(&trouble.id)) {
        trouble.change.retain(stays);
        for advice in &mut trouble.advice {
            if !advice.conditional && !advice.settings.is_empty() && !advice.settings.iter().any(stays) {
                advice.text.insert_str(0, IF);
                advice.conditional = true;
            }
        }
    }
}

/// Advice if less memory would save nothing, because the cluster grants memory in larger steps.
const NO_LESS: &str = "keep the memory: with less of it, a replay saves nothing";

/// Drops decreases of memory from `recommended` that would save nothing.
pub(super) fn drop_useless(troubles: &mut [Trouble], recommended: &mut Vec<Recommended>) {
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
    for trouble in troubles.iter_mut().filter(|trouble| useless.contains(&trouble.id)) {
        trouble.change.retain(stays);
        trouble.advice.retain(|advice| advice.settings.is_empty() || advice.settings.iter().any(stays));
        if trouble.advice.is_empty() {
            trouble.advice.push(NO_LESS.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TroubleKind::{Failures, GarbageCollection, MuchMemory};
    use super::*;
    use crate::savings::Range;

    #[test]
    fn memory_that_saves_nothing_is_advised_on_a_condition() {
        let settled = |kind, status, why: &[&str]| {
            let mut trouble = Trouble { kind, ..Trouble::named("a") };
            trouble.savings.status = status;
            trouble.savings.more_gb_hours = Some(Range { low: 1.0, point: 2.0, high: 3.0 });
            let why = why.iter().map(|id| (*id).to_owned()).collect();
            let mut recommended = vec![Recommended { change: trouble.change[0].clone(), why }];
            let mut troubles = [trouble];
            drop_unpaid(&mut troubles, &mut recommended);
            let [trouble] = troubles;
            assert_eq!(trouble.change.is_empty(), recommended.is_empty());
            assert_eq!(trouble.advice[0].conditional, recommended.is_empty());
            assert_eq!(trouble.advice[0].text.starts_with(IF), recommended.is_empty());
            recommended.len()
        };
        assert_eq!(settled(GarbageCollection, SavingStatus::WithinError, &["a"]), 0);
        assert_eq!(settled(GarbageCollection, SavingStatus::Estimated, &["a"]), 1);
        assert_eq!(settled(GarbageCollection, SavingStatus::WithinError, &["a", "b"]), 1);
        assert_eq!(settled(Failures, SavingStatus::WithinError, &["a"]), 1);
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
            drop_useless(&mut troubles, &mut recommended);
            assert_eq!(troubles[0].change.is_empty(), recommended.is_empty());
            assert_eq!(troubles[0].advice[0].text == NO_LESS, recommended.is_empty());
            recommended.len()
        };
        assert_eq!(settled(MuchMemory, 0.0), 0);
        assert_eq!(settled(MuchMemory, 1.0), 1);
        assert_eq!(settled(GarbageCollection, 0.0), 1);
    }
}
