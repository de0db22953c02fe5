//! The applications that are read; the others are left out.

use std::iter;

use elephant_base::units::Timestamp;
use elephant_input::kind::SourceKind;
use elephant_input::storage::{Announced, Wanted};
use elephant_model::model::{Application, Engine};
use elephant_ruleset::Pattern;

/// Selects the applications to read; the default selects all.
///
/// An application must meet all conditions. A list of patterns is met if one of them matches; an empty list is no
/// condition. A value that the history does not contain meets no condition about it.
///
/// ```
/// use elephant_engine::engine::{Filter, Options, analyze};
/// use elephant_ruleset::RuleSet;
///
/// let filter = Filter { users: vec!["etl-*".parse()?], ..Filter::default() };
/// let options = Options { filter, ..Options::default() };
/// let report = analyze(&["../../testdata/hadoop1".into()], &RuleSet::new(elephant_heuristics::BUILT_IN)?, options);
/// assert_eq!((report.summary.applications, report.summary.left_out), (0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// The engine.
    pub engine: Option<Engine>,
    /// Users.
    pub users: Vec<Pattern>,
    /// Queues.
    pub queues: Vec<Pattern>,
    /// Names of applications.
    pub names: Vec<Pattern>,
    /// Ids. YARN's `application_1_2` and MapReduce's `job_1_2` are the same one.
    pub ids: Vec<Pattern>,
    /// Only applications that were submitted at this time or later.
    pub since: Option<Timestamp>,
    /// Only applications that were submitted before this time.
    pub until: Option<Timestamp>,
}

/// The values that a filter tests. `None` means unknown.
#[derive(Debug, Clone, Copy)]
pub struct Identity<'a> {
    /// The name of the engine.
    pub engine: &'a str,
    /// The id of the application.
    pub id: &'a str,
    /// Who ran it.
    pub user: Option<&'a str>,
    /// The queue that it ran in.
    pub queue: Option<&'a str>,
    /// Its name, as logged.
    pub name: Option<&'a str>,
    /// When it was submitted.
    pub start: Option<Timestamp>,
}

impl<'a> Identity<'a> {
    fn of(app: &'a Application) -> Self {
        Self {
            engine: app.engine.name(),
            id: &app.id,
            user: app.user.as_deref(),
            queue: app.queue.as_deref(),
            name: app.name.as_deref(),
            start: app.submitted_at.or(app.launched_at),
        }
    }
}

#[doc(hidden)]
impl Filter {
    /// Whether it selects every application.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        let has_window = self.since.is_some() || self.until.is_some();
        self.engine.is_none() && !has_window && !self.has_patterns()
    }

    /// Whether it has conditions on users, queues, names or ids.
    #[must_use]
    pub fn has_patterns(&self) -> bool {
        [&self.users, &self.queues, &self.names, &self.ids].into_iter().any(|patterns| !patterns.is_empty())
    }

    /// Whether it selects `app`.
    #[must_use]
    pub(crate) fn selects(&self, app: &Application) -> bool {
        self.admits(Identity::of(app))
    }

    /// Whether it selects an application of this identity.
    #[must_use]
    pub fn admits(&self, app: Identity<'_>) -> bool {
        self.conditions(app).all(|met| met == Some(true))
    }

    /// Whether it selects applications of this engine, by its name in reports.
    #[must_use]
    pub fn admits_engine(&self, engine: &str) -> bool {
        self.engine.is_none_or(|wanted| wanted.name() == engine)
    }

    /// Whether it leaves out every history of this kind.
    pub(super) fn leaves_out_kind(&self, kind: SourceKind) -> bool {
        match kind {
            SourceKind::SparkEventLog => !self.admits_engine(Engine::Spark.name()),
            SourceKind::JhistJson | SourceKind::JhistBinary | SourceKind::Hadoop1History => {
                !self.admits_engine(Engine::MapReduce.name())
            }
            SourceKind::TezJson | SourceKind::TezProto => !self.admits_engine(Engine::Tez.name()),
            SourceKind::Answers
            | SourceKind::JobConf
            | SourceKind::GcLog
            | SourceKind::ProcessLog
            | SourceKind::Trace(_)
            | SourceKind::Unrelated(_) => false,
        }
    }

    /// Whether it leaves out an application of which only the beginning was read, whatever follows.
    pub(super) fn leaves_out_beginning(&self, app: &Application) -> bool {
        self.conditions(Identity::of(app)).any(|met| met == Some(false))
    }

    /// Whether each condition is met; `None` if that is unknown.
    fn conditions<'s>(&'s self, app: Identity<'s>) -> impl Iterator<Item = Option<bool>> + 's {
        let fits = |patterns: &[Pattern], text: Option<&str>| {
            if patterns.is_empty() {
                return Some(true);
            }
            text.map(|text| patterns.iter().any(|pattern| pattern.matches(text)))
        };
        let texts = [(&self.users, app.user), (&self.queues, app.queue), (&self.names, app.name)];
        let texts = texts.into_iter().map(move |(patterns, text)| fits(patterns, text));
        let after = self.since.map_or(Some(true), |since| app.start.map(|start| start >= since));
        let before = self.until.map_or(Some(true), |until| app.start.map(|start| start < until));
        let known = [Some(self.admits_engine(app.engine)), self.has_id(app.id), after, before];
        known.into_iter().chain(texts)
    }

    fn has_id(&self, id: &str) -> Option<bool> {
        if self.ids.is_empty() {
            return Some(true);
        }
        let other = other_id(id);
        let mut names = iter::once(id).chain(other.as_deref());
        (!id.is_empty()).then(|| names.any(|name| self.ids.iter().any(|pattern| pattern.matches(name))))
    }
}

impl Wanted for Filter {
    fn may_be(&self, app: Announced<'_>) -> bool {
        let Announced { id, name, user, start } = app;
        // A server does not return the queue, and other values that it lacks may be in the history.
        let known = Self { queues: Vec::new(), ..self.clone() };
        let unknown = Identity { engine: Engine::Spark.name(), id, user, queue: None, name, start };
        known.conditions(unknown).all(|met| met != Some(false))
    }
}

/// The id of a job as YARN's application, and the other way round.
fn other_id(id: &str) -> Option<String> {
    let numbers = |prefix| id.strip_prefix(prefix);
    let job = numbers("application_").map(|numbers| format!("job_{numbers}"));
    job.or_else(|| numbers("job_").map(|numbers| format!("application_{numbers}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: Identity<'_> = Identity {
        engine: "mapreduce",
        id: "job_1526555215992_0001",
        user: Some("alice"),
        queue: None,
        name: Some("word count"),
        start: Some(Timestamp::from_millis(1000)),
    };

    fn patterns(texts: &[&str]) -> Vec<Pattern> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn every_condition_must_be_met_and_one_pattern_of_each_list() {
        let all = Filter::default();
        assert!(all.is_everything() && all.admits(JOB));
        let users = |texts| Filter { users: patterns(texts), ..Filter::default() };
        assert!(users(&["bob", "al?ce"]).admits(JOB) && !users(&["bob"]).admits(JOB));
        assert!(!users(&["Alice"]).admits(JOB), "case counts");
        let named = Filter { names: patterns(&["/^word/"]), ..users(&["alice"]) };
        assert!(named.admits(JOB));
        assert!(!Filter { engine: Some(Engine::Spark), ..named.clone() }.admits(JOB));
        assert!(Filter { engine: Some(Engine::MapReduce), ..named }.admits(JOB));
    }

    #[test]
    fn unknown_values_meet_no_condition() {
        let filter = Filter { queues: patterns(&["*"]), ..Filter::default() };
        assert!(!filter.admits(JOB));
        let at = Filter { until: Some(Timestamp::from_millis(9)), ..Filter::default() };
        assert!(!at.admits(Identity { start: None, ..JOB }));
    }

    #[test]
    fn ids_of_jobs_and_applications_are_interchangeable() {
        for id in
            ["job_1526555215992_0001", "application_1526555215992_0001", "application_*_0001", "/_0001$/"]
        {
            assert!(Filter { ids: patterns(&[id]), ..Filter::default() }.admits(JOB), "{id}");
        }
        for id in ["job_1526555215992_0002", "1526555215992_0001", "app-1526555215992-0001"] {
            assert!(!Filter { ids: patterns(&[id]), ..Filter::default() }.admits(JOB), "{id}");
        }
        let spark = Identity { id: "local-1", ..JOB };
        assert!(Filter { ids: patterns(&["local-*"]), ..Filter::default() }.admits(spark));
    }

    #[test]
    fn a_window_includes_its_begin_and_excludes_its_end() {
        let at = |ms| Some(Timestamp::from_millis(ms));
        let within = |since, until| Filter { since, until, ..Filter::default() }.admits(JOB);
        assert!(within(at(1000), at(1001)) && within(at(0), None));
        assert!(!within(at(1001), None) && !within(None, at(1000)));
    }
}
