//! Options that select the applications to read and the rules to report.

use chrono::{NaiveDate, NaiveTime};
use clap::{Args, ValueEnum, ValueHint};

use super::output;
use elephant_base::units::Timestamp;
use elephant_engine::engine::Filter;
use elephant_model::model::Engine;
use elephant_ruleset::{Pattern, RuleError, RuleSet};

/// The heading of these options in the help.
pub(super) const HEADING: &str = "Filters";

/// Options that select applications.
#[derive(Debug, Args)]
pub(super) struct FilterArgs {
    /// Read only applications of this engine
    #[arg(long, value_enum, value_name = "ENGINE", help_heading = HEADING)]
    engine: Option<EngineArg>,
    /// Read only applications of this user: a word, a glob such as etl-*, or a regular expression such as /^etl-[0-9]+$/;
    /// repeatable, like --queue, --name and --app
    #[arg(long = "user", value_name = "PATTERN", value_hint = ValueHint::Other, help_heading = HEADING)]
    users: Vec<Pattern>,
    /// Read only applications in this queue, such as root.etl.*
    #[arg(long = "queue", value_name = "PATTERN", value_hint = ValueHint::Other, help_heading = HEADING)]
    queues: Vec<Pattern>,
    /// Read only applications with this name
    #[arg(long = "name", value_name = "PATTERN", value_hint = ValueHint::Other, help_heading = HEADING)]
    names: Vec<Pattern>,
    /// Read only the application with this id; `job_1_2` and `application_1_2` mean the same application
    #[arg(long = "app", value_name = "ID", value_hint = ValueHint::Other, help_heading = HEADING)]
    ids: Vec<Pattern>,
    /// Read only applications that were submitted at this time or later, such as 2026-11-20 or 2026-11-20T12:00:00Z;
    /// days begin at midnight UTC
    #[arg(long, value_name = "TIME", value_parser = moment, value_hint = ValueHint::Other, help_heading = HEADING)]
    since: Option<Timestamp>,
    /// Read only applications that were submitted before this time
    #[arg(long, value_name = "TIME", value_parser = moment, value_hint = ValueHint::Other, help_heading = HEADING)]
    until: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum EngineArg {
    /// Job histories of Hadoop
    Mapreduce,
    /// Event logs of Spark
    Spark,
    /// DAGs of Tez
    Tez,
}

impl FilterArgs {
    pub(super) fn filter(&self) -> Filter {
        Filter {
            engine: self.engine.map(|engine| match engine {
                EngineArg::Mapreduce => Engine::MapReduce,
                EngineArg::Spark => Engine::Spark,
                EngineArg::Tez => Engine::Tez,
            }),
            users: self.users.clone(),
            queues: self.queues.clone(),
            names: self.names.clone(),
            ids: self.ids.clone(),
            since: self.since,
            until: self.until,
        }
    }
}

/// The option that selects rules.
#[derive(Debug, Args)]
pub(super) struct OnlyRules {
    /// Report only findings of this rule; repeatable
    #[arg(long = "rule", value_name = "ID", help_heading = HEADING)]
    pub(super) only: Vec<String>,
}

impl OnlyRules {
    pub(super) fn of(&self, rules: RuleSet) -> Result<RuleSet, RuleError> {
        if self.only.is_empty() {
            return Ok(rules);
        }
        let rules = rules.only(&self.only)?;
        let on = rules.infos();
        for id in self.only.iter().filter(|id| on.iter().all(|info| info.id != id.as_str())) {
            output::print_message("warning", &format!("the rule {id} is off; a rule file can switch it on"));
        }
        Ok(rules)
    }
}

/// A time with its zone (RFC 3339), or the beginning of a day in UTC.
pub(super) fn moment(text: &str) -> Result<Timestamp, String> {
    if let Ok(day) = text.parse::<NaiveDate>() {
        return Ok(Timestamp::from_millis(day.and_time(NaiveTime::MIN).and_utc().timestamp_millis()));
    }
    Timestamp::from_rfc3339(text)
        .ok_or_else(|| "expected a time such as 2026-11-20 or 2026-11-20T12:00:00Z".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_days_or_times() {
        let millis = |text| moment(text).map(Timestamp::as_millis);
        assert_eq!(millis("1970-01-02"), Ok(86_400_000));
        assert_eq!(millis("1970-01-01T01:00:00+01:00"), Ok(0));
        assert_eq!(millis("1970-01-01T00:00:01.5Z"), Ok(1500));
        assert!(millis("yesterday").is_err() && millis("1970-13-01").is_err());
    }
}
