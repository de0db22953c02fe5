//! What can be searched for: `/rest/search-options`.

use std::io;

use serde::Serialize;

use super::super::json::bytes;
use super::heuristics::judges;
use super::record::text;
use elephant_base::severity::Severity;
use elephant_model::model::Engine;
use elephant_ruleset::RuleSet;

/// The type of all jobs of Spark.
pub const SPARK: &str = "Spark";

/// The types of jobs that Tez runs.
pub const TEZ_JOB_TYPES: &[&str] = &["Pig", "Hive"];

/// The types of MapReduce's jobs, as `elephant_model::model::job_type` tells them.
const JOB_TYPES: &[&str] = &["Pig", "Hive", "OozieLauncher", "Cascading", "Voldemort", "Kafka", "HadoopJava"];

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Answer<'a> {
    search_options: Options<'a>,
}

#[derive(Serialize)]
struct Options<'a> {
    jobcategory: Vec<Category<'a>>,
    severities: Vec<Level>,
    id: &'static str,
}

#[derive(Serialize)]
struct Category<'a> {
    name: String,
    jobtypes: Vec<Named<'a>>,
    heuristics: Vec<Named<'a>>,
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct Level {
    name: &'static str,
    value: u64,
}

/// The types of jobs, the rules that are on, and the severities.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn search_options(rules: &RuleSet) -> io::Result<Vec<u8>> {
    let category = |engine: Engine, types: &[&'static str]| Category {
        name: engine.name().to_ascii_uppercase(),
        jobtypes: types.iter().map(|name| Named { name }).collect(),
        heuristics: (rules.rules().iter())
            .filter(|rule| judges(rule, engine.name()))
            .map(|rule| Named { name: &rule.info.title })
            .collect(),
    };
    let levels = Severity::ALL.into_iter().rev();
    bytes(&Answer {
        search_options: Options {
            jobcategory: vec![
                category(Engine::MapReduce, JOB_TYPES),
                category(Engine::Spark, &[SPARK]),
                category(Engine::Tez, TEZ_JOB_TYPES),
            ],
            severities: levels.map(|it| Level { name: text(it), value: it.value() }).collect(),
            id: "search",
        },
    })
}
