//! Which applications a viewer may see, whatever is asked.

use super::StoreError;
use super::database::Database;
use super::selection::{Selection, kept_keys};
use elephant_ruleset::Pattern;

/// The applications that a viewer may see: those of one of these users, and those in one of these queues.
#[derive(Debug, Clone, Default)]
pub struct Visible {
    /// Users.
    pub users: Vec<Pattern>,
    /// Queues.
    pub queues: Vec<Pattern>,
}

impl Visible {
    /// The same selection without what is not visible. No sums are kept of what remains.
    pub(super) fn within(&self, database: &Database, selection: Selection) -> Result<Selection, StoreError> {
        let users = kept_keys(database, "user", &self.users)?;
        let queues = kept_keys(database, "queue", &self.queues)?;
        let mut visible = Selection { by_patterns: true, days: None, ..selection };
        let any = [("\"user\"", users), ("queue", queues)].map(|(column, keys)| {
            if keys.is_empty() {
                return "FALSE".to_owned();
            }
            visible.in_list(&format!("application.{column}"), keys.iter().map(String::as_str))
        });
        visible.condition = format!("{} AND ({})", visible.condition, any.join(" OR "));
        Ok(visible)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use crate::{Asked, Grouping, Only, Order, Question, Search, View};
    use elephant_base::units::{Bytes, MbMillis, Millis, Timestamp};
    use elephant_engine::engine::Filter;
    use elephant_engine::results::ApplicationReport;
    use elephant_ruleset::JobIdentity;

    /// A run of a job that two users share.
    fn app(id: &str, user: &str, queue: &str) -> ApplicationReport {
        let mut app = ApplicationReport::blank(id);
        app.name = Some("nightly".to_owned());
        (app.user, app.queue) = (Some(user.to_owned()), Some(queue.to_owned()));
        app.sources = vec![format!("logs/{id}")];
        app.submitted_at = Some(Timestamp::from_millis(86_400_000));
        app.metrics.used = Some(MbMillis::of(Bytes::from_mib(1024), Millis::from_secs(3600)));
        app.identity = Some(JobIdentity {
            scheduler: "airflow".to_owned(),
            flow: Some("etl".to_owned()),
            run: Some("monday".to_owned()),
            ..JobIdentity::default()
        });
        app
    }

    fn visible(users: &[&str], queues: &[&str]) -> Visible {
        let patterns = |written: &[&str]| written.iter().map(|text| Pattern::parse(text).unwrap()).collect();
        Visible { users: patterns(users), queues: patterns(queues) }
    }

    #[test]
    fn no_question_tells_of_what_is_not_visible() {
        let apps = [app("a", "alice", "root.a"), app("b", "bob", "root.b"), app("c", "bob", "root.shared")];
        for mut store in testing::stores(&apps) {
            let filter = Filter::default();
            let asked = Asked { filter: &filter, only: Only::ALL, sort: None, most: 9 };
            let every = [
                Question::Overview,
                Question::Nodes,
                Question::Worst,
                Question::Unjudged,
                Question::Job("nightly".to_owned()),
            ];
            let every = every.into_iter().chain(Grouping::ALL.map(Question::Groups));
            for question in every.collect::<Vec<_>>() {
                for (rows, count) in [
                    (None, 3),
                    (Some(visible(&["alice"], &[])), 1),
                    (Some(visible(&["alice"], &["root.s*"])), 2),
                    (Some(visible(&["nobody"], &["none"])), 0),
                    (Some(visible(&[], &[])), 0),
                ] {
                    store.set_visible(rows);
                    let answer = store.answer(&question, asked).unwrap();
                    let found = answer.as_ref().map_or(0, |answer| answer.total.applications);
                    assert_eq!(found, count, "{question:?}");
                    let text = format!("{answer:?}");
                    assert!(count == 3 || !text.contains("root.b\""), "{question:?}: {text}");
                }
            }
        }
    }

    #[test]
    fn what_is_looked_up_is_visible_too() {
        let apps = [app("a", "alice", "root.a"), app("b", "bob", "root.b")];
        for mut store in testing::stores(&apps) {
            let ids = |store: &crate::Store| -> Vec<String> {
                let filter = Filter::default();
                let search = Search::of(&filter, Only::ALL, (Order::Latest, 9));
                store.search(&search).unwrap().runs.into_iter().map(|run| run.id).collect()
            };
            store.set_visible(Some(visible(&["alice"], &[])));
            assert_eq!(ids(&store), ["a"]);
            assert_eq!(store.application("b").unwrap(), []);
            let [own] = &*store.application("a").unwrap() else { panic!() };
            assert_eq!(own.before, None);
            let filter = Filter::default();
            let asked = Asked { filter: &filter, only: Only::ALL, sort: None, most: 9 };
            let flow = store.flow("etl", asked).unwrap().unwrap();
            assert_eq!((flow.jobs.total.applications, flow.executions[0].applications), (1, 1));
            assert_eq!(store.execution("etl", "monday").unwrap().unwrap().runs.len(), 1);
            let jobs = store.two_executions("etl", ["monday"; 2]).unwrap().unwrap();
            let counts = jobs.iter().flat_map(|job| &job.sides).flatten().map(|side| side.applications);
            assert_eq!(counts.collect::<Vec<_>>(), [1, 1]);
            let history = store.job_history("nightly", asked).unwrap().unwrap();
            let View::Job(runs) = &history.answer.view else { panic!() };
            assert_eq!((runs.of, history.realised.len()), (1, 0));
            store.set_visible(Some(visible(&["carol"], &[])));
            assert_eq!(store.flow("etl", asked).unwrap(), None);
            assert_eq!(store.job_history("nightly", asked).unwrap(), None);
            assert_eq!(testing::answer(&store, &Question::Job("nightly".to_owned()), &filter, 9), None);
        }
    }
}
