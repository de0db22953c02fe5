//! The applications that a question is about.

use super::StoreError;
use super::database::{Database, Value, values};
use elephant_base::units::Timestamp;
use elephant_engine::engine::Filter;
use elephant_ruleset::Pattern;

pub(super) const MS_PER_DAY: i64 = 86_400_000;

/// The day of submission, counted from 1970 in UTC; -1 if it is unknown.
pub(super) const DAY: &str =
    "CASE WHEN application.submitted >= 0 THEN application.submitted / 86400000 ELSE -1 END";

const COUNTS: &str = "application.counts = TRUE";
/// The same condition as [`COUNTS`], but no index is used for it.
const COUNTS_WITHOUT_INDEX: &str = "application.counts IS TRUE";

/// What applications must have besides what a [`Filter`] tests. An empty list admits all.
#[derive(Debug, Clone, Default)]
pub struct Only {
    /// A finding of one of these rules.
    pub rules: Vec<String>,
    /// They are known to be of one of these clusters.
    pub clusters: Vec<String>,
    /// They belong to one of these flows.
    pub flows: Vec<Pattern>,
    /// They belong to a flow or job with one of these owners.
    pub owners: Vec<Pattern>,
}

impl Only {
    /// No condition.
    pub const ALL: &'static Self =
        &Self { rules: Vec::new(), clusters: Vec::new(), flows: Vec::new(), owners: Vec::new() };
}

/// The condition of a query, and the values in it.
#[derive(Debug, Clone)]
pub(super) struct Selection {
    pub(super) condition: String,
    pub(super) values: Vec<Value<'static>>,
    /// Whether no index has just these applications in the order of time, because patterns choose them.
    pub(super) by_patterns: bool,
    /// The same for sums by day; `None` if not all applications of a day and engine are selected.
    pub(super) days: Option<Days>,
    /// The rules of which each application has a finding; empty for all.
    pub(super) rules: Vec<String>,
}

/// The users, queues, flows or owners that match one of these patterns.
pub(super) fn kept_keys(
    database: &Database,
    kind: &'static str,
    patterns: &[Pattern],
) -> Result<Vec<String>, StoreError> {
    if patterns.is_empty() {
        return Ok(Vec::new());
    }
    let query = "SELECT DISTINCT key FROM group_sum WHERE kind = ?1 AND known = TRUE AND applications > 0 ORDER BY key";
    let mut keys = database.rows(query, &values![kind], |row| row.get::<String>(0))?;
    keys.retain(|key| patterns.iter().any(|pattern| pattern.matches(key)));
    Ok(keys)
}

impl Selection {
    /// The applications that a question is about, each once.
    pub(super) fn of(database: &Database, filter: &Filter, only: &Only) -> Result<Self, StoreError> {
        let Only { rules, clusters, flows, owners } = only;
        let mut selection = Self::filtered(database, filter, rules)?;
        for (kind, patterns) in [("flow", flows), ("owner", owners)] {
            if !patterns.is_empty() {
                selection = selection.looked_up().of_kept(database, kind, patterns)?;
            }
        }
        Ok(selection.in_clusters(clusters))
    }

    /// Only the applications whose flow or owner matches one of these patterns. No sums tell which of another kind of group
    /// they are.
    fn of_kept(
        mut self,
        database: &Database,
        kind: &'static str,
        patterns: &[Pattern],
    ) -> Result<Self, StoreError> {
        let keys = kept_keys(database, kind, patterns)?;
        self.among(&format!("application.{kind}"), keys.iter().map(|key| Some(key.as_str())));
        (self.by_patterns, self.days) = (true, None);
        Ok(self)
    }

    /// The applications that `filter` admits and that have a finding of one of these rules, each once.
    fn filtered(database: &Database, filter: &Filter, rules: &[String]) -> Result<Self, StoreError> {
        let mut selection = Self {
            condition: COUNTS.to_owned(),
            values: Vec::new(),
            by_patterns: false,
            days: Days::of(filter).filter(|_| rules.is_empty()),
            rules: rules.to_vec(),
        };
        if let Some(engine) = filter.engine {
            selection.and("application.engine =", engine.name());
        }
        if let Some(since) = filter.since {
            selection.and("application.submitted >=", since.as_millis());
        }
        if let Some(until) = filter.until {
            selection.and("application.submitted <", until.as_millis());
        }
        if !rules.is_empty() {
            let of_rules = selection.in_list("finding.rule", rules.iter().map(String::as_str));
            selection.condition = format!(
                "{} AND application.application IN (SELECT finding.application FROM finding WHERE {of_rules})",
                selection.condition
            );
        }
        if filter.has_patterns() || !rules.is_empty() {
            let patterns = Filter { engine: None, since: None, until: None, ..filter.clone() };
            let among = (selection.condition.as_str(), selection.values.as_slice());
            (selection.condition, selection.values) = database.backend().admitted(patterns, among)?;
            selection.by_patterns = true;
        }
        Ok(selection)
    }

    /// Only the applications that are known to be of one of these clusters; all if there are none. No sums and no index
    /// tell clusters apart.
    fn in_clusters(mut self, clusters: &[String]) -> Self {
        if !clusters.is_empty() {
            self.among("application.cluster", clusters.iter().map(|cluster| Some(cluster.as_str())));
            (self.by_patterns, self.days) = (true, None);
        }
        self
    }

    /// Only the application at this place, whether or not it counts.
    pub(super) fn of_application(place: i64) -> Self {
        Self {
            condition: "application.application = ?1".to_owned(),
            values: vec![place.into()],
            by_patterns: true,
            days: None,
            rules: Vec::new(),
        }
    }

    /// Only applications with one of these ids.
    pub(super) fn of_ids(id: &str, other: &str) -> Self {
        Self {
            condition: format!("{COUNTS_WITHOUT_INDEX} AND application.id IN (?1, ?2)"),
            values: vec![id.to_owned().into(), other.to_owned().into()],
            by_patterns: true,
            days: None,
            rules: Vec::new(),
        }
    }

    /// Only the applications of one run of a flow.
    pub(super) fn of_execution(flow: &str, run: &str) -> Self {
        Self {
            condition: format!(
                "{COUNTS_WITHOUT_INDEX} AND application.flow = ?1 AND application.flow_run = ?2"
            ),
            values: vec![flow.to_owned().into(), run.to_owned().into()],
            by_patterns: true,
            days: None,
            rules: Vec::new(),
        }
    }

    /// Keeps only applications with a finding of one of these rules of at least this severity.
    pub(super) fn with_finding(&mut self, rules: &[String], severity: i64) {
        let of_rules = self.in_list("finding.rule", rules.iter().map(String::as_str));
        self.values.push(severity.into());
        self.condition = format!(
            "{} AND EXISTS (SELECT 1 FROM finding WHERE finding.application = application.application AND {of_rules} AND \
             finding.severity >= ?{})",
            self.condition,
            self.values.len()
        );
    }

    pub(super) fn and(&mut self, condition: &str, value: impl Into<Value<'static>>) {
        self.values.push(value.into());
        self.condition = format!("{} AND {condition} ?{}", self.condition, self.values.len());
    }

    /// The same for a query that looks up few applications by something else: no index of all that count is used.
    pub(super) fn looked_up(&self) -> Self {
        let condition = self.condition.replacen(COUNTS, COUNTS_WITHOUT_INDEX, 1);
        Self { condition, ..self.clone() }
    }

    /// Only the runs of one job. There are no sums of its days, and no index has just its runs in the order of time.
    pub(super) fn of_job(&self, job: i64) -> Self {
        let mut selection = Self { by_patterns: true, days: None, ..self.looked_up() };
        selection.and("application.job =", job);
        selection
    }

    /// Keeps only the rows of the asked rules in a table that has a row for each rule of an application.
    pub(super) fn rows_of_rules(&self) -> Self {
        let mut selection = self.clone();
        if !self.rules.is_empty() {
            selection.among("part.rule", self.rules.iter().map(|rule| Some(rule.as_str())));
        }
        selection
    }

    /// Keeps only rows whose `column` is one of `keys`.
    pub(super) fn among<'a>(&mut self, column: &str, keys: impl Iterator<Item = Option<&'a str>>) {
        let (unknown, known): (Vec<_>, Vec<_>) = keys.partition(Option::is_none);
        let mut any = vec!["FALSE".to_owned()];
        if !unknown.is_empty() {
            any.push(format!("{column} IS NULL"));
        }
        if !known.is_empty() {
            any.push(self.in_list(column, known.into_iter().flatten()));
        }
        self.condition = format!("{} AND ({})", self.condition, any.join(" OR "));
    }

    /// The condition that `column` is one of `keys`, whose values are added.
    pub(super) fn in_list<'a>(&mut self, column: &str, keys: impl Iterator<Item = &'a str>) -> String {
        let mut places: Vec<String> = Vec::new();
        for key in keys {
            self.values.push(key.to_owned().into());
            places.push(format!("?{}", self.values.len()));
        }
        format!("{column} IN ({})", places.join(", "))
    }
}

impl Selection {
    /// Keeps only rows of kept sums whose key is one of `keys`.
    pub(super) fn among_known<'a>(
        &mut self,
        known: &str,
        column: &str,
        keys: impl Iterator<Item = Option<&'a str>>,
    ) {
        let (unknown, keys): (Vec<_>, Vec<_>) = keys.partition(Option::is_none);
        let mut wanted = Self {
            condition: "TRUE".to_owned(),
            values: self.values.clone(),
            by_patterns: false,
            days: None,
            rules: Vec::new(),
        };
        wanted.among(column, keys.into_iter());
        let unknown = if unknown.is_empty() { "FALSE" } else { "TRUE" };
        self.condition = format!(
            "{} AND ({known} = TRUE AND {} OR {known} = FALSE AND {unknown})",
            self.condition, wanted.condition
        );
        self.values = wanted.values;
    }
}

/// Whole days, for which sums are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Days {
    since: Option<i64>,
    until: Option<i64>,
    engine: Option<&'static str>,
}

impl Days {
    /// `None` if the filter admits only some applications of a day.
    fn of(filter: &Filter) -> Option<Self> {
        let whole = |moment: Option<Timestamp>| match moment.map(Timestamp::as_millis) {
            None => Some(None),
            Some(ms) => (ms >= 0 && ms % MS_PER_DAY == 0).then_some(Some(ms / MS_PER_DAY)),
        };
        let (since, until) = (whole(filter.since)?, whole(filter.until)?);
        let engine = filter.engine.map(elephant_model::model::Engine::name);
        (!filter.has_patterns()).then_some(Self { since, until, engine })
    }

    /// Whether all days are selected, so that sums over all of them will do.
    pub(super) const fn are_all(&self) -> bool {
        self.since.is_none() && self.until.is_none()
    }

    pub(super) const fn engine(&self) -> Option<&'static str> {
        self.engine
    }

    /// A condition on `day` and `engine`, whose values begin at this place.
    pub(super) fn condition(&self, mut place: usize) -> String {
        let mut condition = String::from("TRUE");
        let mut and = |test: &str, is_asked: bool| {
            if is_asked {
                condition = format!("{condition} AND {test} ?{place}");
                place += 1;
            }
        };
        and("day >=", self.since.is_some());
        and("day <", self.until.is_some());
        and("engine =", self.engine.is_some());
        // The day of unknown submissions is before all others.
        if self.until.is_some() { condition + " AND day >= 0" } else { condition }
    }

    pub(super) fn values(&self) -> Vec<Value<'static>> {
        let numbers = [self.since, self.until].into_iter().flatten().map(Value::from);
        numbers.chain(self.engine.map(Value::from)).collect()
    }
}
