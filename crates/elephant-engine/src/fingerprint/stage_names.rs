//! The names of stages with findings, for comparing runs: a stage's id differs from run to run.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::stage_name;
use elephant_base::state::State;
use elephant_model::model::Application;
use elephant_model::model::spark::StageAttempt;
use elephant_rule::finding::{Finding, Subject};

/// A stage attempt with its name and its ordinal among stages of this name.
#[derive(Debug, Clone, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct StageName {
    /// Its id in this run.
    pub id: StageAttempt,
    /// Its name, mostly its call site.
    pub name: Option<String>,
    /// Its ordinal among the stages of this name, by id, from 1.
    pub ordinal: u64,
}

#[doc(hidden)]
impl StageName {
    /// The names of the stages that `findings` are about.
    pub fn of_findings<'a>(app: &Application, findings: impl Iterator<Item = &'a Finding>) -> Vec<Self> {
        let wanted: BTreeSet<StageAttempt> = findings
            .filter_map(|finding| match finding.subject {
                Subject::Stage(id) => Some(id),
                _ => None,
            })
            .collect();
        Self::of_stages(app, &wanted)
    }

    /// The names of these stages.
    pub(crate) fn of_stages(app: &Application, wanted: &BTreeSet<StageAttempt>) -> Vec<Self> {
        let Some(spark) = app.spark.as_ref().filter(|_| !wanted.is_empty()) else { return Vec::new() };
        let mut names = Vec::new();
        let mut seen: BTreeMap<Option<Rc<str>>, (u64, Option<u32>)> = BTreeMap::new();
        // Stages share few names, and normalising takes long.
        let mut normalised: FxHashMap<&str, Rc<str>> = FxHashMap::default();
        for stage in &spark.stages {
            let key = |name| Rc::clone(normalised.entry(name).or_insert_with(|| stage_name(name).into()));
            let (count, last) = seen.entry(stage.name.as_deref().map(key)).or_default();
            if *last != Some(stage.id.stage) {
                *last = Some(stage.id.stage);
                *count += 1;
            }
            if wanted.contains(&stage.id) {
                names.push(Self {
                    id: stage.id,
                    name: stage.name.as_deref().map(str::to_owned),
                    ordinal: *count,
                });
            }
        }
        names
    }
}
