//! Rules that a user of the library writes in Rust.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::active::{ANY_ENGINE, ActiveRule, RuleCheck, RuleInfo};
use super::{RuleError, known_ids};
use elephant_catalogue::{Catalogue, Check};
use elephant_rule::finding::RuleFacts;
use elephant_rule::params::layers::Layers;

/// A rule written in Rust, for [`RuleSet::with_rules`](super::RuleSet::with_rules).
///
/// Rule files treat it like a built-in rule without parameters: they can switch it off, limit its severity, restrict
/// it to some applications and suppress its findings. Presets of Dr. Elephant leave it on.
#[derive(Clone)]
pub struct AddedRule {
    info: RuleInfo,
    check: Arc<dyn Check>,
}

impl AddedRule {
    /// A rule with this id in kebab-case, a title for reports, a page in Markdown (what the rule finds, why that matters,
    /// what to change) and its check.
    pub fn new(
        id: impl Into<String>,
        title: impl Into<String>,
        page: impl Into<String>,
        check: impl Check + 'static,
    ) -> Self {
        let info = RuleInfo { id: id.into().into(), title: title.into().into(), page: page.into().into() };
        Self { info, check: Arc::new(check) }
    }

    /// Its id.
    #[must_use]
    pub(crate) fn id(&self) -> &str {
        &self.info.id
    }

    /// The rule with the settings of these layers.
    pub(super) fn active(&self, mut layers: Layers<'_>) -> ActiveRule {
        layers.without_params();
        ActiveRule {
            info: self.info.clone(),
            folder: ANY_ENGINE,
            facts: RuleFacts::USER,
            enabled: layers.enabled(),
            max_severity: layers.max_severity(),
            check: RuleCheck::Native(Arc::clone(&self.check)),
            params: Vec::new(),
            thresholds: OnceLock::new(),
        }
    }
}

/// Checks that the ids are well formed and that each is used once.
pub(super) fn check_ids(catalogue: Catalogue, rules: &[AddedRule]) -> Result<(), RuleError> {
    let mut seen = BTreeSet::new();
    for rule in rules {
        let id = rule.id();
        let problem = if !is_kebab_case(id) {
            "an id consists of lower-case words and digits joined by hyphens, such as my-rule"
        } else if known_ids(catalogue).any(|known| known == id) {
            "a built-in rule has this id"
        } else if !seen.insert(id) {
            "another added rule has this id"
        } else {
            continue;
        };
        return Err(RuleError::AddedRule { id: id.to_owned(), problem });
    }
    Ok(())
}

fn is_kebab_case(id: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    id.split('-').all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PRESETS, RuleFile, RuleSet};
    use elephant_base::severity::Severity;
    use elephant_model::model::{Application, Engine};
    use elephant_rule::finding::{Judgement, Measure, Subject, Verdict};

    struct Always(Severity);

    impl Check for Always {
        fn check(&self, app: &Application) -> Verdict {
            Judgement::of(Subject::Application, self.0)
                .fact("tasks_count", Measure::Count(app.task_count()))
                .into()
        }
    }

    fn rule(id: &str) -> AddedRule {
        AddedRule::new(id, "My Rule", "Finds everything.", Always(Severity::Severe))
    }

    fn set(text: &str) -> Result<RuleSet, RuleError> {
        let file = RuleFile { name: "own.yaml".to_owned(), text: text.to_owned() };
        RuleSet::with_rules(elephant_heuristics::BUILT_IN, vec![rule("team-rule")], &[file])
    }

    fn severities(rules: &RuleSet, app: &Application) -> Vec<Severity> {
        let findings = rules.evaluate(app).findings;
        findings
            .iter()
            .filter(|finding| finding.rule == "team-rule")
            .map(|finding| finding.severity)
            .collect()
    }

    #[test]
    fn added_rule_runs_and_rule_files_apply_to_it() {
        let app = Application::new(Engine::Spark);
        let found = |text| severities(&set(text).unwrap(), &app);
        assert_eq!(found("rule: mapper-gc\nenabled: false\n"), [Severity::Severe]);
        assert_eq!(found("rule: team-rule\nmax_severity: low\n"), [Severity::Low]);
        assert_eq!(found("rule: team-*\nenabled: false\n"), []);
        assert_eq!(found("suppress: team-rule\nreason: known\n"), []);
        let scoped = set("rule: team-rule\nfor: {queue: etl}\nenabled: false\n").unwrap();
        assert_eq!(severities(&scoped, &app), [Severity::Severe]);
        let etl = Application { queue: Some("etl".to_owned()), ..Application::new(Engine::Spark) };
        assert_eq!(severities(&scoped, &etl), []);
        assert!(scoped.infos().iter().any(|info| info.id == "team-rule" && info.title == "My Rule"));
    }

    #[test]
    fn presets_leave_added_rules_on() {
        for (name, text) in PRESETS {
            let preset = RuleFile { name: (*name).to_owned(), text: (*text).to_owned() };
            let rules =
                RuleSet::with_rules(elephant_heuristics::BUILT_IN, vec![rule("team-rule")], &[preset])
                    .unwrap();
            assert_eq!(
                severities(&rules, &Application::new(Engine::MapReduce)),
                [Severity::Severe],
                "{name}"
            );
        }
    }

    #[test]
    fn mistakes_about_added_rules_are_reported() {
        let error = |result: Result<RuleSet, RuleError>| result.err().unwrap().to_string();
        let message = error(set("rule: team-rule\nlimit: 3\n"));
        assert!(message.contains("team-rule has no parameter \"limit\"; it has no parameters"), "{message}");
        let message = error(set("rule: team-rule\nmessage: x\n"));
        assert!(message.contains("has no parameter \"message\""), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        for (ids, problem) in [
            (["mapper-gc", "a"], "built-in"),
            (["a", "a"], "another"),
            (["My rule", "a"], "lower-case"),
            (["a--b", "a"], "lower-case"),
        ] {
            let message =
                error(RuleSet::with_rules(elephant_heuristics::BUILT_IN, ids.map(rule).to_vec(), &[]));
            assert!(message.contains(problem), "{message}");
        }
    }
}
