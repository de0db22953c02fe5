//! Where a trouble shows, in a few words for its headline.

use super::{Telling, Trouble};
use crate::account::Owner;
use elephant_model::model::{Application, Subject};
use elephant_rule::finding::Finding;

/// Names the places of troubles.
pub(super) fn name(app: &Application, troubles: &mut [Trouble], findings: &[Finding]) {
    for trouble in troubles {
        trouble.place = place(app, trouble, findings);
    }
}

fn place(app: &Application, trouble: &Trouble, findings: &[Finding]) -> String {
    if trouble.kind.is_of_queries() {
        let queries = queries_of(app, trouble, findings);
        if !queries.is_empty() {
            return queries;
        }
    }
    match trouble.subjects.as_slice() {
        [] | [Subject::Application | Subject::Driver] => queries_of(app, trouble, findings),
        [subject] => of_part(app, subject),
        [Subject::Stage(one), Subject::Stage(other)] => format!("stages {one} and {other}"),
        [Subject::Tasks(one), Subject::Tasks(other)] => format!("{one} and {other} tasks"),
        [first, rest @ ..] if rest.iter().all(|subject| nouns(subject) == nouns(first)) => {
            format!("{} {}", rest.len() + 1, nouns(first))
        }
        [first, rest @ ..] => format!("{} and {} more", of_part(app, first), rest.len()),
    }
}

/// "stage 3.0 of query 7 "daily import"".
fn of_part(app: &Application, subject: &Subject) -> String {
    match subject {
        Subject::Stage(_) => match Owner::of(app, subject) {
            Some(owner) => format!("{} of {}", subject.name(), owner.name),
            None => subject.name().into_owned(),
        },
        Subject::Tasks(_) => format!("{} tasks", subject.name()),
        Subject::Query(id) => query(app, *id),
        Subject::Vertex(number) => {
            let vertex = app.tez.as_ref().and_then(|tez| tez.vertex(*number));
            vertex.map_or_else(|| subject.name().into_owned(), elephant_model::model::tez::Vertex::title)
        }
        _ => subject.name().into_owned(),
    }
}

/// The queries that the findings about a whole application name.
fn queries_of(app: &Application, trouble: &Trouble, findings: &[Finding]) -> String {
    let of = |telling: &Telling| {
        findings.iter().find(|it| it.rule == telling.rule && it.subject == telling.subject)
    };
    let told = trouble.findings.iter().filter_map(of).flat_map(|finding| &finding.in_queries);
    let mut ids: Vec<u64> = Vec::new();
    for named in told {
        if !ids.contains(&named.query) {
            ids.push(named.query);
        }
    }
    match ids.as_slice() {
        [] => String::new(),
        [one] => query(app, *one),
        [first, rest @ ..] => format!("query {first} and {} more", rest.len()),
    }
}

fn query(app: &Application, id: u64) -> String {
    let execution = app.spark.as_deref().and_then(|spark| spark.query(id));
    execution.map_or_else(|| format!("query {id}"), elephant_query::short_name_of_query)
}

/// What a subject is one of.
fn nouns(subject: &Subject) -> &'static str {
    match subject {
        Subject::Node(_) => "nodes",
        Subject::Tasks(_) => "kinds of tasks",
        Subject::Stage(_) => "stages",
        Subject::Vertex(_) => "vertices",
        Subject::Driver => "drivers",
        Subject::Executor(_) => "executors",
        Subject::Job(_) => "jobs",
        Subject::Query(_) => "queries",
        Subject::Operator(..) => "operator",
        _ => "parts",
    }
}
