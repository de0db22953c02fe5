//! Sums over the applications of a store, by what they have in common.

use std::cmp::{Ordering, Reverse};

use super::database::Row;
use super::day::name_of;
use super::selection::{Days, Selection};
use super::{Store, StoreError};
use elephant_base::severity::Severity;
use elephant_base::units::{Millis, Timestamp};
use elephant_engine::engine::Sort;

/// What applications are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// All of them together.
    Everything,
    /// The user.
    User,
    /// The queue.
    Queue,
    /// The job: engine and normalised name.
    Job,
    /// The day of submission in UTC.
    Day,
    /// The cluster that the user named, or that the configuration tells.
    Cluster,
    /// The flow of a scheduler.
    Flow,
    /// Who owns the flow or job, as a scheduler tells.
    Owner,
    /// The engine.
    Engine,
    /// How the application ended.
    Status,
    /// The kind of trouble. An application with several is in several groups; savings are those of the trouble.
    Trouble,
    /// The rule with findings. An application with findings of several is in several groups.
    Rule,
    /// The kind of failure among the troubles. An application with several is in several groups.
    Failure,
    /// The setting that is recommended. An application to which several are is in several groups; savings are those of the
    /// setting.
    Setting,
}

/// Sums over one group. What is unknown of an application is missing in the sum; `None` if it is unknown of all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    /// `None` if it is unknown, such as the user of a log without one.
    pub key: Option<String>,
    /// How many applications there are.
    pub applications: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Those that were killed.
    pub killed: u64,
    /// Applications that could not be judged.
    pub unjudged: u64,
    /// Applications whose memory is unknown, and which are missing in `used` and `wasted`.
    pub unmeasured: u64,
    /// Their run times together.
    pub run_time: Option<Millis>,
    /// Memory used.
    pub used_gb_hours: Option<f64>,
    /// The part of it that was not needed.
    pub wasted_gb_hours: Option<f64>,
    /// Memory used by the applications whose waste is known.
    pub judged_gb_hours: Option<f64>,
    /// Core time that was held, in core-hours.
    pub core_hours: Option<f64>,
    /// What the remedies of known effect save.
    pub saved_gb_hours: Option<f64>,
    /// Run time that these remedies save.
    pub saved_time: Option<Millis>,
    /// The time that remedies save at most in addition, where only an upper limit is known.
    pub limit_time: Option<Millis>,
    /// What the applications cost, if there are prices.
    pub cost: Option<f64>,
    /// What the remedies save of the cost, if there are prices.
    pub saved_cost: Option<f64>,
    /// Applications whose cost is unknown, and which are missing in `cost`, if there are prices.
    pub unpriced: u64,
    /// The highest severity of all applications.
    pub severity: Severity,
    /// How many applications have each severity, from none to critical.
    pub by_severity: [u64; Severity::ALL.len()],
}

/// Groups in the order that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Grouped {
    /// The groups that are shown.
    pub groups: Vec<Group>,
    /// How many groups there are, shown or not.
    pub of: u64,
}

impl Grouping {
    /// All but that of everything.
    pub const ALL: [Self; 13] = [
        Self::User,
        Self::Queue,
        Self::Job,
        Self::Day,
        Self::Cluster,
        Self::Flow,
        Self::Owner,
        Self::Engine,
        Self::Status,
        Self::Trouble,
        Self::Rule,
        Self::Failure,
        Self::Setting,
    ];

    /// Its name in reports and addresses; empty for everything.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Everything => "",
            Self::User => "user",
            Self::Queue => "queue",
            Self::Job => "job",
            Self::Day => "day",
            Self::Cluster => "cluster",
            Self::Flow => "flow",
            Self::Owner => "owner",
            Self::Engine => "engine",
            Self::Status => "status",
            Self::Trouble => "trouble",
            Self::Rule => "rule",
            Self::Failure => "failure",
            Self::Setting => "setting",
        }
    }

    /// The table, the key, and the savings of memory, time and cores, and the limits of time.
    pub(super) const fn parts(self) -> (&'static str, &'static str, [&'static str; 4]) {
        const ALL: &str = "application";
        const OF_ALL: [&str; 4] = [
            "application.saved_memory",
            "application.saved_time",
            "application.saved_core_time",
            "application.limit_time",
        ];
        match self {
            Self::Everything => (ALL, "CAST(NULL AS TEXT)", OF_ALL),
            Self::User => (ALL, "application.\"user\"", OF_ALL),
            Self::Queue => (ALL, "application.queue", OF_ALL),
            Self::Job => ("application JOIN job USING (job)", "job.key", OF_ALL),
            Self::Day => (ALL, DAY_AS_TEXT, OF_ALL),
            Self::Cluster => (ALL, "application.cluster", OF_ALL),
            Self::Flow => (ALL, "application.flow", OF_ALL),
            Self::Owner => (ALL, "application.owner", OF_ALL),
            Self::Engine => (ALL, "application.engine", OF_ALL),
            Self::Status => (ALL, "application.status", OF_ALL),
            Self::Trouble => (
                "(SELECT application, kind, CAST(sum(saved_memory) AS BIGINT) AS of_memory, CAST(sum(saved_time) AS BIGINT) \
                 AS of_time, CAST(sum(limit_time) AS BIGINT) AS of_limits FROM trouble GROUP BY application, kind) AS part JOIN application USING (application)",
                "part.kind",
                ["of_memory", "of_time", NOTHING, "of_limits"],
            ),
            Self::Rule => (
                "(SELECT DISTINCT application, rule FROM finding) AS part JOIN application USING (application)",
                "part.rule",
                [NOTHING; 4],
            ),
            Self::Failure => (
                "(SELECT application, failure, CAST(sum(saved_memory) AS BIGINT) AS of_memory, CAST(sum(saved_time) AS BIGINT) \
                 AS of_time, CAST(sum(limit_time) AS BIGINT) AS of_limits FROM trouble WHERE failure IS NOT NULL GROUP BY \
                 application, failure) AS part JOIN application USING (application)",
                "part.failure",
                ["of_memory", "of_time", NOTHING, "of_limits"],
            ),
            Self::Setting => (
                "(SELECT application, name AS setting, CAST(sum(saved_memory) AS BIGINT) AS of_memory, CAST(sum(saved_time) \
                 AS BIGINT) AS of_time FROM setting GROUP BY application, name) AS part JOIN application USING (application)",
                "part.setting",
                ["of_memory", "of_time", NOTHING, NOTHING],
            ),
        }
    }

    /// The kept sums for these days: their table, their key, and a condition that takes the values of the days.
    pub(super) fn kept(self, days: &Days) -> Option<(&'static str, &'static str, String)> {
        const KEY: &str = "CASE WHEN known THEN key END";
        let (kind, key) = match self {
            Self::Everything => ("all", "CAST(NULL AS TEXT)"),
            Self::Engine => ("all", "engine"),
            Self::Day => ("all", "CAST(day AS TEXT)"),
            Self::Status => ("status", KEY),
            Self::User => ("user", KEY),
            Self::Queue => ("queue", KEY),
            Self::Trouble => ("trouble", KEY),
            Self::Rule => ("rule", KEY),
            Self::Flow => ("flow", KEY),
            Self::Owner => ("owner", KEY),
            Self::Failure => ("failure", KEY),
            Self::Job if days.are_all() => {
                return Some(("job_sum JOIN job USING (job)", "job.key", days.condition(1)));
            }
            Self::Job | Self::Cluster | Self::Setting => return None,
        };
        let table = if days.are_all() && self != Self::Day { "group_sum" } else { "group_day" };
        Some((table, key, format!("kind = '{kind}' AND {}", days.condition(1))))
    }
}

const NOTHING: &str = "CAST(NULL AS BIGINT)";
/// The day of submission as a key; see `DAY`.
const DAY_AS_TEXT: &str =
    "CAST(CASE WHEN application.submitted >= 0 THEN application.submitted / 86400000 ELSE -1 END AS TEXT)";

impl Store {
    /// The groups of the selected applications, at most `most` of them.
    pub(super) fn grouped(
        &self,
        grouping: Grouping,
        selection: &Selection,
        (sort, most): (Option<Sort>, Option<usize>),
    ) -> Result<Grouped, StoreError> {
        let of_rules = (grouping == Grouping::Rule).then(|| selection.rows_of_rules());
        let selection = of_rules.as_ref().unwrap_or(selection);
        let kept = selection.days.as_ref().and_then(|days| Some((days, grouping.kept(days)?)));
        let mut groups = if let Some((days, (table, key, condition))) = kept {
            let statement = format!("SELECT {key}, {KEPT} FROM {table} WHERE {condition} GROUP BY 1");
            self.database.rows(&statement, &days.values(), Sums::of)?
        } else {
            let (table, key, [saved_memory, saved_time, _, limit_time]) = grouping.parts();
            let statement = format!(
                "SELECT {key}, {COUNTED}, CAST(sum({saved_memory}) AS BIGINT), CAST(sum({saved_time}) AS BIGINT), \
                 {JUDGED}, CAST(sum(coalesce({limit_time}, 0)) AS BIGINT) FROM {table} WHERE {} GROUP BY 1",
                selection.condition
            );
            self.database.rows(&statement, &selection.values, Sums::of)?
        };
        groups.retain(|group| group.applications > 0);
        for group in groups.iter_mut().filter(|_| grouping == Grouping::Day) {
            group.key = group.key.take().and_then(|day| name_of(day.parse().ok()?));
        }
        let latest_first = sort.is_none() && grouping == Grouping::Day;
        groups.sort_by(|a, b| if latest_first { b.key.cmp(&a.key) } else { Sums::order(a, b, sort) });
        let of = groups.len() as u64;
        groups.truncate(most.unwrap_or(usize::MAX));
        let mut groups: Vec<Group> = groups.into_iter().map(Group::from).collect();
        self.add_costs(grouping, selection, &mut groups)?;
        Ok(Grouped { groups, of })
    }

    /// The first and the last submission of the selected applications.
    pub(super) fn period(
        &self,
        selection: &Selection,
    ) -> Result<(Option<Timestamp>, Option<Timestamp>), StoreError> {
        if selection.by_patterns {
            let statement = format!(
                "SELECT min(submitted), max(submitted) FROM application WHERE {}",
                selection.condition
            );
            let moment = |ms: Option<i64>| ms.map(Timestamp::from_millis);
            let ends = self
                .database
                .first(&statement, &selection.values, |row| Ok((moment(row.get(0)?), moment(row.get(1)?))))?;
            return Ok(ends.unwrap_or_default());
        }
        let end = |order: &str| {
            let statement = format!(
                "SELECT submitted FROM application WHERE {} AND submitted IS NOT NULL ORDER BY submitted {order} LIMIT 1",
                selection.condition
            );
            self.database
                .first(&statement, &selection.values, |row| Ok(Timestamp::from_millis(row.get::<i64>(0)?)))
        };
        Ok((end("")?, end("DESC")?))
    }
}

/// Sums of applications.
const COUNTED: &str = "count(*), count(*) FILTER (WHERE application.status = 'failed'), count(*) FILTER (WHERE \
     application.status = 'killed'), count(*) FILTER (WHERE NOT \
     application.judged), count(*) FILTER (WHERE application.used IS NULL), CAST(sum(application.run_time) AS BIGINT), \
     CAST(sum(application.used) AS BIGINT), CAST(sum(application.wasted) AS BIGINT), CAST(sum(application.core_time) AS \
     BIGINT), count(*) FILTER (WHERE application.severity = 1), count(*) FILTER (WHERE application.severity = 2), count(*) \
     FILTER (WHERE application.severity = 3), count(*) FILTER (WHERE application.severity = 4)";

/// The memory of applications whose waste is known.
const JUDGED: &str =
    "CAST(sum(CASE WHEN application.wasted IS NOT NULL THEN application.used END) AS BIGINT)";

/// The same from sums that are kept, with the savings.
const KEPT: &str = "CAST(sum(applications) AS BIGINT), CAST(sum(failed) AS BIGINT), CAST(sum(killed) AS BIGINT), CAST(sum(unjudged) AS BIGINT), \
     CAST(sum(applications - measured) AS BIGINT), CAST(CASE WHEN sum(timed) > 0 THEN sum(run_time) END AS BIGINT), \
     CAST(CASE WHEN sum(measured) > 0 THEN sum(used) END AS BIGINT), CAST(CASE WHEN sum(compared) > 0 THEN sum(wasted) \
     END AS BIGINT), CAST(CASE WHEN sum(counted) > 0 THEN sum(core_time) END AS BIGINT), CAST(sum(low) AS BIGINT), \
     CAST(sum(moderate) AS BIGINT), CAST(sum(severe) AS BIGINT), CAST(sum(critical) AS BIGINT), \
     CAST(CASE WHEN sum(saving_memory) > 0 THEN sum(saved_memory) END AS BIGINT), CAST(CASE WHEN sum(saving_time) > 0 THEN \
     sum(saved_time) END AS BIGINT), CAST(CASE WHEN sum(compared) > 0 THEN sum(compared_used) END AS BIGINT), \
     CAST(sum(limit_time) AS BIGINT)";

/// Sums as the tables have them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sums {
    key: Option<String>,
    applications: u64,
    failed: u64,
    killed: u64,
    unjudged: u64,
    unmeasured: u64,
    run_time: Option<u64>,
    used: Option<u64>,
    wasted: Option<u64>,
    core_time: Option<u64>,
    /// Applications that are low, moderate, severe and critical.
    by_severity: [u64; 4],
    saved_memory: Option<u64>,
    saved_time: Option<u64>,
    judged: Option<u64>,
    limit_time: u64,
}

impl Sums {
    /// Which of two groups comes first. Equal ones are in the order of their names, unknown ones last.
    fn order(a: &Self, b: &Self, sort: Option<Sort>) -> Ordering {
        let first = |sums: &Self| match sort {
            Some(Sort::Saving) => [sums.saved_memory, sums.saved_time],
            Some(Sort::Severity) => [Some(sums.severity().value()), None],
            Some(Sort::RunTime) => [sums.run_time, None],
            Some(Sort::Name) => [None, None],
            Some(Sort::Waste) | None => [sums.wasted, sums.used],
        };
        let worst = |sums: &Self| {
            let by_name = sort == Some(Sort::Name);
            Reverse((first(sums), (!by_name).then_some((sums.wasted, sums.used, sums.applications))))
        };
        let name = |sums: &Self| (sums.key.is_none(), sums.key.clone());
        worst(a).cmp(&worst(b)).then_with(|| name(a).cmp(&name(b)))
    }

    fn of(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            key: row.get(0)?,
            applications: row.count(1)?,
            failed: row.count(2)?,
            killed: row.count(3)?,
            unjudged: row.count(4)?,
            unmeasured: row.count(5)?,
            run_time: row.amount(6)?,
            used: row.amount(7)?,
            wasted: row.amount(8)?,
            core_time: row.amount(9)?,
            by_severity: [row.count(10)?, row.count(11)?, row.count(12)?, row.count(13)?],
            saved_memory: row.amount(14)?,
            saved_time: row.amount(15)?,
            judged: row.amount(16)?,
            limit_time: row.count(17)?,
        })
    }

    /// The highest severity of all applications.
    fn severity(&self) -> Severity {
        let above_none = Severity::ALL.into_iter().skip(1).zip(self.by_severity);
        above_none
            .filter(|(_, count)| *count > 0)
            .map(|(severity, _)| severity)
            .next_back()
            .unwrap_or(Severity::None)
    }
}

impl From<Sums> for Group {
    fn from(sums: Sums) -> Self {
        let severity = sums.severity();
        let [low, moderate, severe, critical] = sums.by_severity;
        let none = sums.applications.saturating_sub(low + moderate + severe + critical);
        Self {
            key: sums.key,
            applications: sums.applications,
            failed: sums.failed,
            killed: sums.killed,
            unjudged: sums.unjudged,
            unmeasured: sums.unmeasured,
            run_time: sums.run_time.map(Millis::new),
            used_gb_hours: sums.used.map(super::gb_hours),
            wasted_gb_hours: sums.wasted.map(super::gb_hours),
            core_hours: sums.core_time.map(|time| time as f64 / super::MS_PER_HOUR),
            judged_gb_hours: sums.judged.map(super::gb_hours),
            saved_gb_hours: sums.saved_memory.map(super::gb_hours),
            saved_time: sums.saved_time.map(Millis::new),
            limit_time: Some(sums.limit_time).filter(|limit| *limit > 0).map(Millis::new),
            cost: None,
            saved_cost: None,
            unpriced: 0,
            severity,
            by_severity: [none, low, moderate, severe, critical],
        }
    }
}
