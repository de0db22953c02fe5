//! One number of tasks for each stage, where no setting decides on it, so that it is only in the text of advice.

use std::collections::{BTreeMap, BTreeSet};

use super::Trouble;
use elephant_model::model::spark::StageAttempt;
use elephant_rule::finding::{Advice, Finding};

/// Gives all advice on more tasks of a stage the words with the largest number, which is enough for all of it, and each
/// list only once.
pub(super) fn agree(troubles: &mut [Trouble], findings: &mut [Finding]) {
    let of_troubles = troubles.iter_mut().map(|trouble| &mut trouble.advice);
    let mut lists: Vec<&mut Vec<Advice>> =
        of_troubles.chain(findings.iter_mut().map(|finding| &mut finding.advice)).collect();
    let mut most: BTreeMap<StageAttempt, (u64, Advice)> = BTreeMap::new();
    for advice in lists.iter().flat_map(|list| list.iter()) {
        let Some((stage, tasks)) = advice.more_tasks else { continue };
        if most.get(&stage).is_none_or(|(known, _)| tasks > *known) {
            most.insert(stage, (tasks, advice.clone()));
        }
    }
    for list in &mut lists {
        let mut told: BTreeSet<StageAttempt> = BTreeSet::new();
        list.retain_mut(|advice| {
            let Some((stage, now)) = advice.more_tasks else { return true };
            if let Some((_, larger)) = most.get(&stage).filter(|(tasks, _)| *tasks > now) {
                advice.text.clone_from(&larger.text);
                advice.when.clone_from(&larger.when);
                advice.more_tasks = larger.more_tasks;
            }
            told.insert(stage)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_gets_one_number_of_tasks() {
        let stage = |stage| StageAttempt { stage, attempt: 0 };
        let advice = |id, tasks: u64| {
            let text = format!("use more tasks: pass {tasks} as the number, or repartition({tasks}); now 12");
            Advice::new(text).for_tasks(stage(id), tasks)
        };
        let with = |advice: Vec<Advice>| Trouble { advice, ..Trouble::named("a") };
        let mut troubles =
            [with(vec![advice(1, 301), advice(1, 120), advice(2, 5)]), with(vec![advice(1, 120)])];
        agree(&mut troubles, &mut []);
        assert_eq!(troubles[0].advice, [advice(1, 301), advice(2, 5)]);
        assert_eq!(troubles[1].advice, [advice(1, 301)]);
    }
}
