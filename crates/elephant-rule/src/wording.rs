//! Phrases that rules share.

use crate::finding::{self, Measured, SettingChange};
use elephant_base::severity::Severity;
use elephant_base::units::with_thousands;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;

pub use crate::finding::percent;

/// A condition of a rule: the key of its cut-offs, the severity it allows, and its lowest cut-off in words.
pub type Condition<'a> = (&'a str, Severity, String);

/// The condition of a chart's limit in words: "tasks: 20, low from 50".
#[must_use]
pub fn condition(
    (limit, of): (&'static str, Measured),
    (name, measured): (&str, &dyn std::fmt::Display),
    cutoff: &str,
    holds: bool,
) -> finding::Condition {
    finding::Condition { limit: limit.into(), of, text: format!("{name}: {measured}, {cutoff}"), holds }
}

/// The text in brackets after a measured value: the limit that it passed, or the first condition that makes
/// it harmless.
#[must_use]
pub fn limit(severity: Severity, passed: String, conditions: &[Condition<'_>]) -> String {
    let harmless = conditions.iter().find(|(_, allowed, _)| *allowed == Severity::None);
    match harmless {
        Some((key, _, lowest)) if severity == Severity::None => {
            format!("{} not reached: {lowest}", key.replace('_', " "))
        }
        _ => passed,
    }
}

/// The limit that decides, of conditions that must all hold: the first one with the overall severity.
#[must_use]
pub fn decisive(severity: Severity, conditions: &[(Severity, String)]) -> String {
    let decides = conditions.iter().find(|(allowed, _)| *allowed == severity).or(conditions.first());
    decides.map(|(_, limit)| limit.clone()).unwrap_or_default()
}

/// Whole numbers with separated thousands: `3,000,000`.
#[must_use]
pub fn grouped(number: i128) -> String {
    with_thousands(&number.to_string())
}

/// The change of a setting, with the name that the application used. If it did not set it, with the name that its Hadoop
/// reads: Hadoop 0.20 and 1 do not know the names of Hadoop 2, which still reads the old ones.
#[must_use]
pub fn change(app: &Application, key: ConfKey, new: impl std::fmt::Display) -> SettingChange {
    let set = app.conf.find(key);
    SettingChange {
        setting: name_for(app, key).to_owned(),
        from: set.map(|(_, old)| old),
        to: new.to_string(),
    }
}

/// The name of a setting in texts: the one that the application used, or else the one that its Hadoop reads.
#[must_use]
pub fn name_for(app: &Application, key: ConfKey) -> &'static str {
    let usual = match key.names() {
        [_, first_name, ..] => by_hadoop(app, key.name(), first_name),
        _ => key.name(),
    };
    app.conf.find(key).map_or(usual, |(name, _)| name)
}

/// What Hadoop 2 and 3 call something, or what Hadoop 0.20 and 1 call it if a job tracker ran the job.
#[must_use]
pub fn by_hadoop(app: &Application, on_yarn: &'static str, on_job_tracker: &'static str) -> &'static str {
    if app.ran_on_job_tracker() { on_job_tracker } else { on_yarn }
}

/// "2 other stages"; empty without others, so that a message can leave out the part.
#[must_use]
pub fn other_stages(count: usize) -> String {
    if count > 0 { plural(count as u64, "other stage") } else { String::new() }
}

/// "1 task", "2 tasks".
#[must_use]
pub fn plural(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
