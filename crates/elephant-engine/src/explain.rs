//! Where the figures of findings come from: the histories of a report are read a second time.

use std::collections::BTreeMap;

use elephant_base::limits::Limits;
use elephant_explain::{Asked, Questions};
use elephant_input::discover::discover;
use elephant_input::inventory::{Inventory, Source};
use elephant_input::named::Named;
use elephant_input::part::Part;
use elephant_model::model::Subject;
use elephant_model::model::counters::CounterMask;
use elephant_model::model::spark::StageAttempt;
use elephant_model::model::table::TaskKind;
use elephant_parse::identify;
use elephant_rule::finding::Finding;
use elephant_ruleset::RuleSet;
use rayon::prelude::*;

use crate::results::Report;
use crate::storages;

/// Which findings are explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Explained {
    /// All of them.
    All,
    /// Those of a rule.
    Of {
        /// The id of the rule.
        rule: String,
        /// What they are about, by its name in reports; `None` for everything.
        subject: Option<String>,
    },
}

impl Explained {
    fn is(&self, finding: &Finding) -> bool {
        match self {
            Self::All => true,
            Self::Of { rule, subject } => {
                finding.rule == *rule
                    && subject.as_ref().is_none_or(|subject| finding.subject.name() == *subject)
            }
        }
    }
}

/// Explains findings of a report on the histories below these paths, which are read again. The number of findings that were
/// explained.
pub fn explain(
    named: Named<'_>,
    rules: &RuleSet,
    limits: &Limits,
    which: &Explained,
    report: &mut Report,
) -> usize {
    let storages = storages::of(named, limits);
    let inventory = discover(Named { storages: Some(&storages), ..named }, limits, identify);
    let histories = by_first_part(&inventory);
    let confs: BTreeMap<String, &Part> =
        inventory.confs.iter().map(|conf| (conf.path.display().to_string(), &conf.part)).collect();
    report.applications.par_iter_mut().for_each(|app| {
        let asked: Vec<Asked> =
            app.findings.iter().filter(|finding| which.is(finding)).map(|it| asked(it, rules)).collect();
        let (Some(first), false) = (app.sources.first(), asked.is_empty()) else { return };
        let conf = app.sources.iter().skip(1).find_map(|path| confs.get(path)).map(|part| (*part).clone());
        let questions = Questions { application: app.id.clone(), asked, conf };
        app.explanations = match histories.get(first) {
            Some(source) => elephant_explain::read(source, questions, limits),
            None => elephant_explain::not_found(questions, first),
        };
    });
    report.applications.iter().map(|app| app.explanations.len()).sum()
}

fn by_first_part(inventory: &Inventory) -> BTreeMap<String, &Source> {
    let named = |source| Some((first_part(source)?, source));
    inventory.histories.iter().filter_map(named).collect()
}

fn first_part(source: &Source) -> Option<String> {
    source.parts.first().map(Part::name)
}

fn asked(finding: &Finding, rules: &RuleSet) -> Asked {
    let kind = match &finding.subject {
        Subject::Tasks(name) => {
            [TaskKind::Map, TaskKind::Reduce].into_iter().find(|kind| kind.name() == *name)
        }
        Subject::Stage(stage) => Some(TaskKind::Stage(*stage)),
        _ => None,
    };
    let any = [TaskKind::Map, TaskKind::Reduce, TaskKind::Stage(StageAttempt { stage: 0, attempt: 0 })];
    let kinds = kind.map_or(any.to_vec(), |kind| vec![kind]);
    let mut reads = CounterMask::NONE;
    if let Ok(rule) = rules.rule(&finding.rule) {
        for kind in kinds {
            reads.insert_all(rule.reads(kind));
        }
    }
    Asked::of(finding, reads)
}
