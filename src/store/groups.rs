//! Sums over the applications of a store, by what they have in common.

use rusqlite::Row;

use super::costs::MICRO;
use super::selection::Selection;
use super::{Store, StoreError};
use crate::engine::Filter;
use crate::severity::Severity;
use crate::units::{Millis, Timestamp};

/// What applications are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grouping {
    /// All of them together.
    Everything,
    User,
    Queue,
    Job,
    /// The day of submission in UTC.
    Day,
    Engine,
    Status,
    /// The kind of trouble. An application with several is in several groups; savings are those of the trouble.
    Trouble,
    /// The rule with findings. An application with findings of several is in several groups.
    Rule,
}

/// Sums over one group. What is unknown of an application is missing in the sum; `None` if it is unknown of all.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Group {
    /// `None` if it is unknown, such as the user of a log without one.
    pub(crate) key: Option<String>,
    pub(crate) applications: u64,
    pub(crate) failed: u64,
    /// Applications that could not be judged.
    pub(crate) unjudged: u64,
    /// Applications whose memory is unknown, and which are missing in `used` and `wasted`.
    pub(crate) unmeasured: u64,
    pub(crate) run_time: Option<Millis>,
    pub(crate) used_gb_hours: Option<f64>,
    pub(crate) wasted_gb_hours: Option<f64>,
    pub(crate) core_hours: Option<f64>,
    /// What the remedies of known effect save.
    pub(crate) saved_gb_hours: f64,
    pub(crate) saved_time: Millis,
    /// What they cost, and what the remedies save of it, if there are prices.
    pub(crate) cost: Option<f64>,
    pub(crate) saved_cost: Option<f64>,
    pub(crate) severity: Severity,
}

/// Groups, those that waste most first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grouped {
    pub(crate) groups: Vec<Group>,
    /// How many groups there are, shown or not.
    pub(crate) of: u64,
}

impl Grouping {
    /// The table, the key, and the savings of memory, time and cores.
    pub(super) const fn parts(self) -> (&'static str, &'static str, [&'static str; 3]) {
        const ALL: &str = "application";
        const OF_ALL: [&str; 3] =
            ["application.saved_memory", "application.saved_time", "application.saved_core_time"];
        match self {
            Self::Everything => (ALL, "NULL", OF_ALL),
            Self::User => (ALL, "application.user", OF_ALL),
            Self::Queue => (ALL, "application.queue", OF_ALL),
            Self::Job => ("application JOIN job USING (job)", "job.key", OF_ALL),
            Self::Day => (ALL, "date(submitted / 1000, 'unixepoch')", OF_ALL),
            Self::Engine => (ALL, "application.engine", OF_ALL),
            Self::Status => (ALL, "application.status", OF_ALL),
            Self::Trouble => (
                "(SELECT application, kind, sum(saved_memory) AS of_memory, sum(saved_time) AS of_time FROM trouble GROUP BY \
                 application, kind) JOIN application USING (application)",
                "kind",
                ["of_memory", "of_time", "NULL"],
            ),
            Self::Rule => (
                "(SELECT DISTINCT application, rule FROM finding) JOIN application USING (application)",
                "rule",
                ["NULL", "NULL", "NULL"],
            ),
        }
    }
}

impl Store {
    /// The groups of the applications that `filter` admits, at most `most` of them.
    pub(crate) fn grouped(
        &self,
        grouping: Grouping,
        filter: &Filter,
        most: Option<usize>,
    ) -> Result<Grouped, StoreError> {
        let selection = Selection::of(&self.connection, filter)?;
        let (table, key, [saved_memory, saved_time, saved_cores]) = grouping.parts();
        let cost = self.cost_of("core_time", "used");
        let saved_cost = self.cost_of(saved_cores, saved_memory);
        // Of equal groups, the first by name comes first.
        let statement = format!(
            "SELECT {key}, count(*), sum(status = 'failed'), sum(NOT judged), sum(used IS NULL), sum(run_time), sum(used), \
             sum(wasted), sum(core_time), sum({saved_memory}), sum({saved_time}), max(application.severity), sum({cost}), sum({saved_cost}) FROM \
             {table} WHERE {} GROUP BY 1 ORDER BY sum(wasted) DESC NULLS LAST, sum(used) DESC NULLS LAST, count(*) DESC, 1",
            selection.condition
        );
        let mut statement = self.connection.prepare(&statement)?;
        let groups = statement.query_map(&*selection.values(), group)?;
        let mut groups = groups.collect::<Result<Vec<Group>, _>>()?;
        groups.retain(|group| group.applications > 0);
        if grouping == Grouping::Day {
            groups.sort_by(|a, b| b.key.cmp(&a.key));
        }
        let of = groups.len() as u64;
        groups.truncate(most.unwrap_or(usize::MAX));
        Ok(Grouped { groups, of })
    }
}

impl Store {
    /// The first and the last submission of the applications that `filter` admits.
    pub(super) fn period(
        &self,
        filter: &Filter,
    ) -> Result<(Option<Timestamp>, Option<Timestamp>), StoreError> {
        let selection = Selection::of(&self.connection, filter)?;
        let statement =
            format!("SELECT min(submitted), max(submitted) FROM application WHERE {}", selection.condition);
        let moment = |row: &Row<'_>, place| {
            Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(place)?.map(Timestamp::from_millis))
        };
        Ok(self
            .connection
            .query_row(&statement, &*selection.values(), |row| Ok((moment(row, 0)?, moment(row, 1)?)))?)
    }
}

fn group(row: &Row<'_>) -> rusqlite::Result<Group> {
    let known = |place: usize| -> rusqlite::Result<Option<u64>> {
        Ok(row.get::<_, Option<i64>>(place)?.map(|value| value.max(0).cast_unsigned()))
    };
    let money = |place: usize| -> rusqlite::Result<Option<f64>> {
        Ok(row.get::<_, Option<i64>>(place)?.map(|sum| sum as f64 / MICRO))
    };
    // Counts, and savings of known effect, are 0 without any.
    let number = |place: usize| -> rusqlite::Result<u64> { Ok(known(place)?.unwrap_or_default()) };
    let severity = usize::try_from(number(11)?).ok().and_then(|value| Severity::ALL.get(value).copied());
    Ok(Group {
        key: row.get(0)?,
        applications: number(1)?,
        failed: number(2)?,
        unjudged: number(3)?,
        unmeasured: number(4)?,
        run_time: known(5)?.map(Millis::new),
        used_gb_hours: known(6)?.map(super::gb_hours),
        wasted_gb_hours: known(7)?.map(super::gb_hours),
        core_hours: known(8)?.map(|time| time as f64 / super::MS_PER_HOUR),
        saved_gb_hours: super::gb_hours(number(9)?),
        saved_time: Millis::new(number(10)?),
        cost: money(12)?,
        saved_cost: money(13)?,
        severity: severity.unwrap_or(Severity::None),
    })
}
