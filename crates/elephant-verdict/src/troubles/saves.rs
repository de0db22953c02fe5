//! What the remedies of a rule's troubles save, as far as it can be computed: a fact of the rule, without any history.

use super::removal::COPIES;
use elephant_rule::finding::{RuleFacts, TroubleKind};

/// The rule about tasks of Spark that wait for shuffle data.
const FETCH_WAIT: &str = "spark-fetch-wait";

/// What reports compute for remedies of the troubles that a rule finds: run time, memory over time, or both. Empty if there
/// is no model for any of them.
#[must_use]
pub fn saves(rule: &str, facts: &RuleFacts) -> Vec<&'static str> {
    let mut all = Vec::new();
    for saving in [facts.tells].iter().chain(facts.also_tells).filter_map(|kind| saving(*kind, rule)) {
        if !all.contains(&saving) {
            all.push(saving);
        }
    }
    all
}

/// The main saving by a remedy of a trouble of this kind; `rule` finds the trouble.
fn saving(kind: TroubleKind, rule: &str) -> Option<&'static str> {
    use TroubleKind as Kind;
    match kind {
        Kind::Failures
        | Kind::Skew
        | Kind::Stragglers
        | Kind::Spill
        | Kind::GarbageCollection
        | Kind::FewTasks
        | Kind::ManyTasks
        | Kind::FewExecutors
        | Kind::LongRun
        | Kind::Waiting
        | Kind::DriverTime => Some("time"),
        kind if kind.is_of_queries() => Some("time"),
        Kind::Shuffle if rule == FETCH_WAIT => Some("time"),
        Kind::MuchMemory | Kind::IdleExecutors | Kind::Shuffle | Kind::Settings => Some("memory"),
        Kind::Speculation if rule == COPIES => Some("memory"),
        _ => None,
    }
}
