//! Applications as members of what a scheduler ran: an execution of a flow, one of its tasks, a flow or a job.

use super::database::{Row, Value, values};
use super::runs::{RUN, run};
use super::search::Search;
use super::selection::Selection;
use super::whole_record::other_name;
use super::{Run, Store, StoreError, StoredApplication, stored_report};
use elephant_base::severity::Severity;
use elephant_base::units::Timestamp;

/// What stands between the names of a flow, its run and its task in the name of an execution. Names may have it, too, so
/// that each of them in the name of an execution is tried.
const BETWEEN: char = '/';
/// No name has more of them that are tried.
const MOST_TRIED: usize = 20;
/// No index has the applications that a scheduler started in the order of time: only so many of the last ones are looked
/// through.
const LOOKED_THROUGH: usize = 50_000;
/// No index has ends: of applications that ended since some time, those are looked through that were submitted at most so
/// many milliseconds before it, which is a week.
pub const LONGEST_MS: i64 = 7 * 86_400_000;
/// Flows whose scheduler is looked up.
const MOST_FLOWS: usize = 10_000;

/// What the applications that are asked for have in common.
#[derive(Debug, Clone, Copy)]
pub enum MemberOf<'a> {
    /// The execution of a flow with [this name](Run::flow_execution).
    FlowExecution(&'a str),
    /// The execution of a job with [this name](Run::job_execution).
    JobExecution(&'a str),
    /// The flow with this name.
    Flow(&'a str),
    /// The job with this key.
    Job(&'a str),
    /// Any execution of a flow, of this user if there is one. Only the last applications of the store are looked through.
    AnyExecution(Option<&'a str>),
    /// These users; they ended from the first time to the second one. Those that ran for more than a week before may be
    /// missing.
    Users(&'a [&'a str], [Timestamp; 2]),
    /// What a search finds.
    Found(&'a Search<'a>),
}

/// An application without its findings.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    place: i64,
    /// Its line in lists.
    pub run: Run,
    /// The name of its engine.
    pub engine: String,
    /// The key of its job.
    pub job: String,
    /// The scheduler that started it.
    pub scheduler: Option<String>,
    /// The address of its page in the scheduler.
    pub link: Option<String>,
    /// When it finished.
    pub finished: Option<Timestamp>,
    /// The sum of the scores of its findings.
    pub score: u64,
    /// The whole report on it as JSON, if it was stored.
    pub report: Option<String>,
}

impl Run {
    /// The name of the execution of a flow that it is a part of: flow and run.
    #[must_use]
    pub fn flow_execution(&self) -> Option<String> {
        Some(format!("{}{BETWEEN}{}", self.flow.as_ref()?, self.flow_run.as_ref()?))
    }

    /// The name of the execution of a job that it is a part of: flow, run and task; its own id as YARN has it if no
    /// scheduler tells them.
    #[must_use]
    pub fn job_execution(&self) -> String {
        match (self.flow_execution(), &self.task) {
            (Some(execution), Some(task)) => format!("{execution}{BETWEEN}{task}"),
            _ => self.yarn_id(),
        }
    }

    /// The id of the application at YARN, which `MapReduce`'s jobs have besides their own.
    #[must_use]
    pub fn yarn_id(&self) -> String {
        let numbers = self.id.strip_prefix("job_");
        numbers.map_or_else(|| self.id.clone(), |numbers| format!("application_{numbers}"))
    }
}

/// Some rows of a table that has the columns of `application`.
struct Rows {
    table: String,
    selection: Selection,
}

impl Rows {
    fn of(condition: impl Into<String>, values: Vec<Value<'static>>) -> Self {
        let condition = condition.into();
        let selection = Selection { condition, values, by_patterns: true, days: None, rules: Vec::new() };
        Self { table: "application".to_owned(), selection }
    }

    /// The applications whose `columns`, joined, are the name of an execution; `None` if it has no flow.
    fn of_execution(name: &str, columns: &[&str]) -> Option<Self> {
        let flows = name.match_indices(BETWEEN).take(MOST_TRIED).filter_map(|(at, _)| name.get(..at));
        let mut values: Vec<Value<'static>> = vec![name.to_owned().into()];
        values.extend(flows.map(|flow| Value::from(flow.to_owned())));
        let places: Vec<String> = (2..=values.len()).map(|at| format!("?{at}")).collect();
        let joined = columns.join(&format!(" || '{BETWEEN}' || "));
        let condition = format!(
            "application.counts IS TRUE AND application.flow IN ({}) AND {joined} = ?1",
            places.join(", ")
        );
        (!places.is_empty()).then(|| Self::of(condition, values))
    }

    /// The application with this id, if it is an execution of its own.
    fn alone(id: &str) -> Self {
        let condition = "application.counts IS TRUE AND application.id IN (?1, ?2) AND (application.flow IS NULL OR \
                         application.flow_run IS NULL OR application.task IS NULL)";
        Self::of(condition, vec![id.to_owned().into(), other_name(id).into()])
    }

    fn of_any_execution(user: Option<&str>) -> Self {
        let table = format!(
            "(SELECT * FROM application WHERE application.counts = TRUE ORDER BY {LATEST} LIMIT {LOOKED_THROUGH}) AS application"
        );
        let of_flow = "application.flow IS NOT NULL AND application.flow_run IS NOT NULL";
        let (condition, values) = match user {
            None => (of_flow.to_owned(), Vec::new()),
            Some(user) => (format!("{of_flow} AND application.\"user\" = ?1"), vec![user.to_owned().into()]),
        };
        Self { table, ..Self::of(condition, values) }
    }

    fn of_users(users: &[&str], [from, to]: [Timestamp; 2]) -> Self {
        let mut values: Vec<Value<'static>> = vec![
            from.as_millis().into(),
            to.as_millis().into(),
            from.as_millis().saturating_sub(LONGEST_MS).into(),
        ];
        let times = values.len();
        values.extend(users.iter().map(|user| Value::from((*user).to_owned())));
        let places: Vec<String> = (times + 1..=values.len()).map(|at| format!("?{at}")).collect();
        let among = if places.is_empty() { "NULL".to_owned() } else { places.join(", ") };
        let condition = format!(
            "application.counts = TRUE AND application.finished >= ?1 AND application.finished <= ?2 AND \
             application.submitted >= ?3 AND application.\"user\" IN ({among})"
        );
        Self::of(condition, values)
    }
}

/// The latest first.
const LATEST: &str = "application.submitted DESC NULLS LAST, application.application DESC";

impl Store {
    /// The last `most` applications of what they are members of, the latest submission first.
    pub fn members(&self, of: MemberOf<'_>, most: usize) -> Result<Vec<Member>, StoreError> {
        self.database.reading(|| {
            for Rows { table, selection } in self.rows_of(of)? {
                let members = self.members_among(&table, &selection, most)?;
                if !members.is_empty() {
                    return Ok(members);
                }
            }
            Ok(Vec::new())
        })
    }

    /// Where the members that are visible may be: the first that has any has all.
    fn rows_of(&self, of: MemberOf<'_>) -> Result<Vec<Rows>, StoreError> {
        const FLOW: [&str; 3] = ["application.flow", "application.flow_run", "application.task"];
        let named = |name: &str| vec![Value::from(name.to_owned())];
        let rows: Vec<Rows> = match of {
            MemberOf::FlowExecution(name) => {
                let [flow, run, _] = FLOW;
                Rows::of_execution(name, &[flow, run]).into_iter().collect()
            }
            MemberOf::JobExecution(name) => {
                Rows::of_execution(name, &FLOW).into_iter().chain([Rows::alone(name)]).collect()
            }
            MemberOf::Flow(name) => {
                vec![Rows::of("application.counts IS TRUE AND application.flow = ?1", named(name))]
            }
            MemberOf::Job(key) => {
                let job =
                    "application.counts IS TRUE AND application.job = (SELECT job FROM job WHERE key = ?1)";
                vec![Rows::of(job, named(key))]
            }
            MemberOf::AnyExecution(user) => vec![Rows::of_any_execution(user)],
            MemberOf::Users(users, times) => vec![Rows::of_users(users, times)],
            MemberOf::Found(search) => {
                return Ok(vec![Rows { table: "application".to_owned(), selection: self.matching(search)? }]);
            }
        };
        let seen = |rows: Rows| Ok(Rows { selection: self.seen(rows.selection)?, ..rows });
        rows.into_iter().map(seen).collect()
    }

    fn members_among(
        &self,
        table: &str,
        Selection { condition, values, .. }: &Selection,
        most: usize,
    ) -> Result<Vec<Member>, StoreError> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let query = format!(
            "SELECT {RUN}, application.application AS place, application.engine AS engine, job.key AS key, \
             application.scheduler AS scheduler, application.link AS link, application.finished AS finished, \
             application.score AS score, report.json AS json FROM (SELECT application.* FROM {table} WHERE {condition} \
             ORDER BY {LATEST} LIMIT {most}) AS application JOIN job ON job.job = application.job LEFT JOIN trouble ON \
             trouble.application = application.application AND trouble.n = 0 LEFT JOIN report ON report.application = \
             application.application ORDER BY {LATEST}"
        );
        self.database.rows(&query, values, Member::of)
    }

    /// All that is stored of these applications, in their order.
    pub fn whole(&self, members: &[&Member]) -> Result<Vec<StoredApplication>, StoreError> {
        self.database.reading(|| {
            let whole: Result<Vec<_>, _> = members.iter().map(|member| self.stored(member.place)).collect();
            Ok(whole?.into_iter().flatten().collect())
        })
    }

    /// How many applications that ended after this time have each severity, the lowest first. Those that ran for more
    /// than a week before may be missing.
    pub fn severities_since(&self, end: Timestamp) -> Result<[u64; Severity::ALL.len()], StoreError> {
        let submitted = end.as_millis().saturating_sub(LONGEST_MS);
        let since = "application.counts = TRUE AND application.submitted >= ?1 AND application.finished > ?2";
        let counted = self.database.reading(|| {
            let rows = Rows::of(since, values![submitted, end.as_millis()].to_vec());
            let Selection { condition, values, .. } = self.seen(rows.selection)?;
            let query = format!(
                "SELECT application.severity, count(*) FROM application WHERE {condition} GROUP BY 1"
            );
            self.database.rows(&query, &values, |row| {
                Ok((usize::try_from(row.count(0)?).unwrap_or(usize::MAX), row.count(1)?))
            })
        })?;
        let mut counts = [0; Severity::ALL.len()];
        for (severity, applications) in counted {
            if let Some(count) = counts.get_mut(severity) {
                *count = applications;
            }
        }
        Ok(counts)
    }

    /// The schedulers whose flows the store has, in alphabetical order.
    pub fn schedulers(&self) -> Result<Vec<String>, StoreError> {
        self.database.reading(|| {
            let Selection { condition, values, .. } =
                self.seen(Rows::of("application.flow = some.flow", Vec::new()).selection)?;
            let query = format!(
                "SELECT DISTINCT scheduler FROM (SELECT (SELECT application.scheduler FROM application WHERE {condition} \
                 ORDER BY application.submitted DESC LIMIT 1) AS scheduler FROM (SELECT DISTINCT key AS flow FROM group_sum \
                 WHERE kind = 'flow' AND known = TRUE AND applications > 0 LIMIT {MOST_FLOWS}) AS some) AS told WHERE \
                 scheduler IS NOT NULL ORDER BY scheduler"
            );
            self.database.rows(&query, &values, |row| row.get(0))
        })
    }
}

impl Member {
    fn of(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            place: row.get("place")?,
            run: run(row)?,
            engine: row.get("engine")?,
            job: row.get("key")?,
            scheduler: row.get("scheduler")?,
            link: row.get("link")?,
            finished: row.get::<Option<i64>>("finished")?.map(Timestamp::from_millis),
            score: row.count("score")?,
            report: row.get::<Option<Vec<u8>>>("json")?.and_then(|packed| stored_report::unpacked(&packed)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Visible;
    use crate::testing::{stores, with_stores};
    use elephant_engine::results::ApplicationReport;
    use elephant_ruleset::JobIdentity;

    /// An application of a run and a task of a flow; an empty name is unknown.
    fn app(number: i64, [flow, run, task]: [&str; 3]) -> ApplicationReport {
        let known = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        let mut app = ApplicationReport::blank(&format!("job_1_{number:04}"));
        app.sources = vec![format!("{number}.jhist")];
        app.submitted_at = Some(Timestamp::from_millis(1_000 * number));
        app.finished_at = Some(Timestamp::from_millis(1_000 * number + 500));
        app.user = Some(if number % 2 == 0 { "even" } else { "odd" }.to_owned());
        app.identity = known(flow).map(|flow| JobIdentity {
            scheduler: "airflow".to_owned(),
            flow: Some(flow),
            run: known(run),
            task: known(task),
            ..JobIdentity::default()
        });
        app
    }

    fn ids(members: &[Member]) -> Vec<&str> {
        members.iter().map(|member| member.run.id.trim_start_matches("job_1_000")).collect()
    }

    #[test]
    fn executions_are_found_by_their_names_also_with_slashes() {
        let apps = [
            app(1, ["a/b", "c", "x"]),
            app(2, ["a", "b/c", "x"]),
            app(3, ["a", "b", "c"]),
            app(4, ["a", "b", ""]),
            app(5, ["a", "", "x"]),
            app(6, ["", "", ""]),
        ];
        with_stores(&apps, |store| {
            let of_flow = |name| store.members(MemberOf::FlowExecution(name), 9).unwrap();
            assert_eq!(ids(&of_flow("a/b/c")), ["2", "1"]);
            assert_eq!(ids(&of_flow("a/b")), ["4", "3"]);
            for name in ["", "a", "a/", "/", "a/b/c/x", "%/%"] {
                assert_eq!(of_flow(name), [], "{name}");
            }
            let of_job = |name: &str| store.members(MemberOf::JobExecution(name), 9).unwrap();
            assert_eq!(ids(&of_job("a/b/c/x")), ["2", "1"]);
            assert_eq!(ids(&of_job("a/b/c")), ["3"]);
            // What is no part of an execution is one itself, by each of its names.
            for name in ["application_1_0004", "job_1_0005", "application_1_0006"] {
                assert_eq!(of_job(name).len(), 1, "{name}");
                assert_eq!(of_job(name)[0].run.job_execution(), name.replace("job", "application"));
            }
            assert_eq!(of_job("application_1_0001"), []);
            let names: Vec<_> = of_flow("a/b").iter().map(|member| member.run.job_execution()).collect();
            assert_eq!(names, ["application_1_0004", "a/b/c"]);
            assert_eq!(store.schedulers().unwrap(), ["airflow"]);
        });
    }

    #[test]
    fn the_last_members_come_first_and_are_bounded() {
        let apps: Vec<_> =
            (1..=6).map(|number| app(number, ["f", if number < 3 { "" } else { "r" }, "t"])).collect();
        with_stores(&apps, |store| {
            let found = |of| store.members(of, 3).unwrap();
            assert_eq!(ids(&found(MemberOf::Flow("f"))), ["6", "5", "4"]);
            assert_eq!(ids(&found(MemberOf::AnyExecution(Some("odd")))), ["5", "3"]);
            let job = found(MemberOf::Flow("f"))[0].job.clone();
            assert_eq!(ids(&found(MemberOf::Job(&job))), ["6", "5", "4"]);
            assert_eq!(found(MemberOf::Job("f")), []);
            let time = |ms| Timestamp::from_millis(ms);
            let ended = |from, to| found(MemberOf::Users(&["odd", "none"], [time(from), time(to)]));
            assert_eq!(ids(&ended(1_500, 5_500)), ["5", "3", "1"]);
            assert_eq!(ids(&ended(1_501, 5_499)), ["3"]);
            assert_eq!(found(MemberOf::Users(&[], [time(0), time(9_000)])), []);
            assert_eq!(store.severities_since(time(1_500)).unwrap(), [5, 0, 0, 0, 0]);
            let members = found(MemberOf::Flow("f"));
            let whole = store.whole(&members.iter().rev().collect::<Vec<_>>()).unwrap();
            assert_eq!(
                whole.iter().map(|app| app.run.id.as_str()).collect::<Vec<_>>(),
                ["job_1_0004", "job_1_0005", "job_1_0006"]
            );
        });
    }

    #[test]
    fn nothing_tells_of_what_is_not_visible() {
        let apps: Vec<_> = (1..=4).map(|number| app(number, ["f", "r", "t"])).collect();
        for mut store in stores(&apps) {
            let job = store.members(MemberOf::Flow("f"), 1).unwrap()[0].job.clone();
            let all = [Timestamp::from_millis(0), Timestamp::from_millis(9_000)];
            for (users, wanted) in [(vec!["even"], vec!["4", "2"]), (vec![], vec![])] {
                let users = users.into_iter().map(elephant_ruleset::Pattern::exactly).collect();
                store.set_visible(Some(Visible { users, queues: Vec::new() }));
                for of in [
                    MemberOf::FlowExecution("f/r"),
                    MemberOf::JobExecution("f/r/t"),
                    MemberOf::Flow("f"),
                    MemberOf::Job(&job),
                    MemberOf::AnyExecution(None),
                    MemberOf::Users(&["odd", "even"], all),
                ] {
                    assert_eq!(ids(&store.members(of, 9).unwrap()), wanted, "{of:?}");
                }
                let count = store.severities_since(all[0]).unwrap()[0];
                assert_eq!(count, wanted.len() as u64);
                assert_eq!(store.schedulers().unwrap().is_empty(), wanted.is_empty());
            }
        }
    }
}
