//! Compares settings.

use std::collections::{BTreeMap, BTreeSet};

use crate::fingerprint::normalise;

/// Settings that differ between any two runs, by prefix of their names.
const OF_ONE_RUN: [&str; 14] = [
    "spark.app.id",
    "spark.app.name",
    "spark.app.startTime",
    "spark.app.submitTime",
    "spark.app.initial.",
    "spark.driver.host",
    "spark.yarn.app.id",
    "spark.yarn.app.container.log.dir",
    "spark.org.apache.hadoop.yarn.server.webproxy.amfilter.AmIpFilter.param.",
    "spark.eventLog.logFile",
    "spark.repl.class.",
    "mapreduce.job.name",
    "mapreduce.job.dir",
    "mapreduce.job.submit",
];
const ENDINGS: [&str; 6] = [".port", ".uuid", ".startTime", ".timestamps", ".query.id", ".session.id"];

/// The settings of two runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Configuration {
    /// Those that differ, in name order.
    pub settings: Vec<Setting>,
    /// How many more settings differ, but only in ids, ports and folders of a run.
    pub left_out: usize,
}

/// A setting that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// The first side's value.
    pub a: Option<String>,
    /// The second side's value.
    pub b: Option<String>,
}

/// The settings that differ between two configurations.
pub(super) fn compare(
    a: &BTreeMap<String, String>,
    b: &BTreeMap<String, String>,
    all: bool,
) -> Configuration {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let mut configuration = Configuration { settings: Vec::new(), left_out: 0 };
    for name in names {
        let (one, other) = (a.get(name), b.get(name));
        if one == other {
            continue;
        }
        if !all && is_noise(name, one, other) {
            configuration.left_out += 1;
            continue;
        }
        configuration.settings.push(Setting { name: name.clone(), a: one.cloned(), b: other.cloned() });
    }
    configuration
}

fn is_noise(name: &str, a: Option<&String>, b: Option<&String>) -> bool {
    if OF_ONE_RUN.iter().any(|start| name.starts_with(start))
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
    {
        return true;
    }
    // A quantity is never an id, even with many digits.
    a.zip(b).is_some_and(|(a, b)| !is_quantity(a) && !is_quantity(b) && normalise(a) == normalise(b))
}

/// A number, with or without a unit of a few letters.
fn is_quantity(value: &str) -> bool {
    let digits = value.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    let unit = digits.trim();
    digits.len() < value.len() && unit.len() <= 3 && unit.chars().all(|c| c.is_ascii_alphabetic() || c == '%')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conf(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn ids_of_a_run_are_noise_and_quantities_are_not() {
        let a = conf(&[
            ("spark.app.id", "app-1"),
            ("spark.driver.port", "1"),
            ("spark.network.timeout", "100000"),
            ("spark.staging", "/tmp/application_1795255938536_0001"),
            ("spark.executor.memory", "4g"),
            ("spark.gone", "x"),
            ("spark.same", "y"),
        ]);
        let b = conf(&[
            ("spark.app.id", "app-2"),
            ("spark.driver.port", "2"),
            ("spark.network.timeout", "300000"),
            ("spark.staging", "/tmp/application_1795255938536_0002"),
            ("spark.executor.memory", "8g"),
            ("spark.came", "x"),
            ("spark.same", "y"),
        ]);
        let changed = compare(&a, &b, false);
        let names: Vec<&str> = changed.settings.iter().map(|setting| setting.name.as_str()).collect();
        assert_eq!(names, ["spark.came", "spark.executor.memory", "spark.gone", "spark.network.timeout"]);
        assert_eq!(changed.left_out, 3);
        assert_eq!(compare(&a, &b, true).settings.len(), 7);
        assert_eq!(compare(&a, &a, true).settings, []);
    }
}
