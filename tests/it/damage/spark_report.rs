//! Reports on the bytes of a Spark event log, and results that no report may contain.

use elephant_rs::engine::{Options, analyze};
use elephant_rs::results::Level;
use elephant_rs::results::Report;
use elephant_rs::rules::RuleSet;
use elephant_rs::severity::Severity;
use serde_json::{Map, Value};

/// Reads logs into JSON reports, including findings of severity none.
pub(super) struct Reporter {
    folder: tempfile::TempDir,
    rules: RuleSet,
}

impl Reporter {
    pub(super) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            rules: RuleSet::new(elephant_rs::rules::BUILT_IN).unwrap(),
        }
    }

    /// The report on a log of these bytes.
    pub(super) fn report(&self, log: &[u8]) -> Damaged {
        let path = self.folder.path().join("application_1700000000000_0001");
        std::fs::write(&path, log).unwrap();
        let options = Options { min_severity: Severity::None, ..Options::default() };
        Damaged::new(&analyze(&[path], &self.rules, options))
    }
}

/// The report on a log that may be damaged.
pub(super) struct Damaged {
    json: Value,
    /// Whether the report has a problem that is more than a note.
    pub is_warned: bool,
}

impl Damaged {
    fn new(report: &Report) -> Self {
        let mut json = Vec::new();
        elephant_rs::report::write_json(report, &mut json).unwrap();
        let is_warned = report.problems.iter().any(|problem| problem.problem.level != Level::Info);
        Self { json: serde_json::from_slice(&json).unwrap(), is_warned }
    }

    /// The applications.
    pub(super) fn applications(&self) -> &[Value] {
        self.json["applications"].as_array().unwrap()
    }

    /// The problems in the report.
    pub(super) fn problems(&self) -> &Value {
        &self.json["problems"]
    }

    /// Whether the report says that data may be missing.
    pub(super) fn admits_damage(&self) -> bool {
        self.is_warned || self.applications().iter().any(|app| app["complete"] == false)
    }

    /// Results of rules and metrics, except those that depend on file size.
    pub(super) fn verdicts(&self) -> Vec<(Value, Value, Value)> {
        let about_the_file = |finding: &Value| finding["rule"] == "spark-event-log-limit";
        let of = |app: &Value| {
            let findings =
                app["findings"].as_array().unwrap().iter().filter(|finding| !about_the_file(finding));
            (app["metrics"].clone(), findings.cloned().collect(), app["status"].clone())
        };
        self.applications().iter().map(of).collect()
    }

    /// Impossible numbers in the report.
    pub(super) fn impossible(&self) -> Vec<String> {
        let mut found = Vec::new();
        for app in self.applications() {
            numbers("", app, &mut found);
            metrics(app["metrics"].as_object().unwrap(), &mut found);
        }
        found
    }
}

fn numbers(place: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                numbers(&format!("{place}.{key}"), value, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| numbers(place, value, found)),
        Value::Number(number) => {
            let number = number.as_f64().unwrap();
            // The residual of a replay is an error, and no share of anything.
            let is_residual = place.ends_with("residual_percent");
            let is_share = place.ends_with("_percent") && !is_residual;
            // A replay may be shorter than the run.
            let may_be_negative = is_residual;
            if (number < 0.0 && !may_be_negative) || (is_share && number > 100.0) {
                found.push(format!("{place} is {number}"));
            }
        }
        _ => {}
    }
}

fn metrics(metrics: &Map<String, Value>, found: &mut Vec<String>) {
    let number = |key: &str| metrics[key].as_f64();
    let mut at_most = |part: &str, whole: &str| {
        if let (Some(part_is), Some(whole_is)) = (number(part), number(whole))
            && part_is > whole_is * (1.0 + 1e-9)
        {
            found.push(format!("{part} is {part_is}, {whole} is {whole_is}"));
        }
    };
    for part in ["wasted", "failed_attempts", "killed_attempts", "losing_attempts"] {
        let part = if part == "wasted" { "resource_wasted".to_owned() } else { part.to_owned() };
        at_most(&format!("{part}_gb_hours"), "resource_used_gb_hours");
    }
    let tasks = &metrics["tasks"]["task"];
    let count = |key: &str| tasks[key].as_u64().unwrap_or_default();
    let ended = count("succeeded_count") + count("failed_count") + count("killed_count");
    if ended > count("total_count") || count("total_count") > count("attempts_count") {
        found.push(format!("tasks: {tasks}"));
    }
    if count("speculative_attempts_count") > count("attempts_count") {
        found.push(format!("attempts: {tasks}"));
    }
    for (what, parts) in
        [("jobs", ["succeeded_count", "failed_count"]), ("stages", ["completed_count", "failed_count"])]
    {
        let counts = &metrics["spark"][what];
        let count = |key: &str| counts[key].as_u64().unwrap_or_default();
        if parts.into_iter().map(count).sum::<u64>() > count("total_count") {
            found.push(format!("{what}: {counts}"));
        }
    }
}
