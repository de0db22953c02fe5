//! `elephant-rs rules list`

use super::show::parameters;
use crate::params::layers::Origin;
use crate::report::wrap::clean;
use crate::rules::{ActiveRule, RuleSet};

/// One line per rule, and below it the parameters that a file has changed, or all parameters.
pub(super) fn list(rules: &RuleSet, all: bool) -> String {
    let longest = rules.rules().iter().map(|active| active.info.id.len()).max().unwrap_or_default();
    let line = |active: &ActiveRule| {
        let notes = notes(active, rules);
        let notes = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join("; ")) };
        let listed = active.params.iter().filter(|parameter| all || parameter.origin != Origin::BuiltIn);
        let listed = parameters(listed);
        format!("{:<longest$}  {}{notes}\n{listed}", active.info.id, clean(&active.info.title))
    };
    rules.rules().iter().map(line).collect()
}

fn notes(active: &ActiveRule, rules: &RuleSet) -> Vec<String> {
    let mut notes = Vec::new();
    if !active.enabled.value {
        notes.push(format!("off: {}", active.enabled.origin));
    }
    if let Some(cap) = &active.max_severity {
        notes.push(format!("at most {}: {}", cap.value, cap.origin));
    }
    let scoped = rules.documents_about(active).filter(|document| !document.scope.is_everything()).count();
    match scoped {
        0 => {}
        1 => notes.push("1 document for some applications".to_owned()),
        count => notes.push(format!("{count} documents for some applications")),
    }
    notes
}
