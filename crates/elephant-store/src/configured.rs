//! The settings that applications ran with; equal settings are stored once.

use std::collections::{BTreeMap, BTreeSet};

use super::StoreError;
use super::database::{Database, values};
use elephant_model::model::conf::{Conf, ConfKey, secrets};

/// Settings that name an application, its owner or its place, or that only its event log depends on. None of them decides
/// what it costs.
const NAMES: &[ConfKey] = &[
    ConfKey::Queue,
    ConfKey::JobName,
    ConfKey::User,
    ConfKey::CacheFiles,
    ConfKey::CacheFileSizes,
    ConfKey::CacheArchives,
    ConfKey::CacheArchiveSizes,
    ConfKey::SparkMaster,
    ConfKey::SparkAppName,
    ConfKey::SparkAppId,
    ConfKey::SparkQueue,
    ConfKey::SecondaryJars,
    ConfKey::ProcessTreeMetrics,
    ConfKey::EventLogRolling,
    ConfKey::EventLogRollingMaxFileSize,
    ConfKey::EventLogBlockUpdates,
];

/// Configurations that one statement looks up.
const PLACES_AT_ONCE: usize = 500;

/// Settings by their current names.
pub(super) type Settings = BTreeMap<String, String>;

/// Inserts the text of settings, and returns its place.
pub(super) fn insert(database: &Database, settings: &str) -> Result<i64, StoreError> {
    database.insert(
        "INSERT INTO configuration (settings) VALUES (?1) RETURNING configuration",
        &values![settings],
    )
}

/// The settings at these places.
pub(super) fn at(database: &Database, places: &BTreeSet<i64>) -> Result<BTreeMap<i64, Settings>, StoreError> {
    let places: Vec<i64> = places.iter().copied().collect();
    let mut settings = BTreeMap::new();
    for places in places.chunks(PLACES_AT_ONCE) {
        let (these, values) = database.backend().among_ids(places);
        let query = format!("SELECT configuration, settings FROM configuration WHERE configuration {these}");
        database.visit(&query, &values, |row| {
            let text: String = row.get(1)?;
            settings.insert(row.get(0)?, serde_json::from_str(&text).map_err(StoreError::Settings)?);
            Ok(true)
        })?;
    }
    Ok(settings)
}

/// The settings of an application that decide what it costs, as the table has them.
pub(super) fn text(conf: &Conf) -> String {
    let decisive = ConfKey::ALL.iter().filter(|key| !NAMES.contains(key));
    let settings: BTreeMap<&str, String> =
        decisive.filter_map(|&key| Some((key.name(), shown(key.name(), &conf.text(key)?)))).collect();
    serde_json::to_string(&settings).unwrap_or_default()
}

/// Options of a JVM may contain a password.
fn shown(name: &str, value: &str) -> String {
    secrets::shown(name, value).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ids_are_not_part_of_a_configuration() {
        let app = elephant_sample::app(&[
            ("spark.executor.memory", "4g"),
            ("spark.app.id", "application_1_1"),
            ("spark.yarn.queue", "etl"),
            ("spark.unknown", "1"),
        ]);
        assert_eq!(text(&app.conf), r#"{"spark.executor.memory":"4g"}"#);
    }

    #[test]
    fn old_names_are_the_same_setting() {
        let old = elephant_sample::app(&[("spark.yarn.executor.memoryOverhead", "512")]);
        assert_eq!(text(&old.conf), r#"{"spark.executor.memoryOverhead":"512"}"#);
    }
}
