//! One number of tasks for each stage, where no setting decides on it, so that it is only in the text of advice.

use std::collections::BTreeMap;

use super::Trouble;
use crate::finding::{Advice, Finding};
use crate::model::spark::StageAttempt;

/// Makes all advice on more tasks of a stage name the largest number, which is enough for all of it, and only once in each
/// list.
pub(super) fn agree(troubles: &mut [Trouble], findings: &mut [Finding]) {
    let of_troubles = troubles.iter_mut().map(|trouble| &mut trouble.advice);
    let mut lists: Vec<&mut Vec<Advice>> =
        of_troubles.chain(findings.iter_mut().map(|finding| &mut finding.advice)).collect();
    let mut most: BTreeMap<StageAttempt, u64> = BTreeMap::new();
    for (stage, tasks) in lists.iter().flat_map(|list| list.iter()).filter_map(|advice| advice.more_tasks) {
        let known = most.entry(stage).or_default();
        *known = tasks.max(*known);
    }
    for list in &mut lists {
        for advice in list.iter_mut() {
            let Some((stage, now)) = advice.more_tasks else { continue };
            let Some(&tasks) = most.get(&stage).filter(|tasks| **tasks > now) else { continue };
            advice.text = with_number(&advice.text, now, tasks);
            advice.more_tasks = Some((stage, tasks));
        }
        let mut told: Vec<(StageAttempt, String)> = Vec::new();
        list.retain(|advice| {
            let Some((stage, _)) = advice.more_tasks else { return true };
            let is_new = !told.iter().any(|known| *known == (stage, advice.text.clone()));
            told.push((stage, advice.text.clone()));
            is_new
        });
    }
}

/// `text` with another number in place of `now`.
fn with_number(text: &str, now: u64, instead: u64) -> String {
    let now = now.to_string();
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
        let (number, after) = from.split_at(end);
        out += before;
        out += if number == now { instead.to_string() } else { number.to_owned() }.as_str();
        rest = after;
    }
    out + rest
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
