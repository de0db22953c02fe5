//! A DAG while its records are read, and the application that it becomes.

use std::collections::BTreeMap;

use super::failure::failures;
use super::id::{DagId, Id};
use super::info::Info;
use super::vertex::{Events, Shared, VertexDraft};
use crate::OtherCounters;
use crate::build::{choose_representatives, mark_speculation};
use crate::counter_names::CounterNames;
use crate::problem::Problems;
use crate::reading::{MAX_TEXT_LEN, Moments, truncate};
use elephant_base::units::Timestamp;
use elephant_model::model::counters::CounterSet;
use elephant_model::model::tez::{Processor, Tez, Vertex, VertexFailure};
use elephant_model::model::{Announced, Application, Engine, Status};

/// A DAG with its vertices.
pub(super) struct DagDraft {
    app: Application,
    names: CounterNames,
    info: Info,
    events: Events,
    counters: Option<CounterSet>,
    vertices: BTreeMap<u32, VertexDraft>,
    /// Whether a record told something about the DAG itself.
    is_told: bool,
}

/// What is known about the application of a DAG, and about the query that it ran.
pub(super) struct Around<'a> {
    pub(super) app: Option<&'a Info>,
    pub(super) query: Option<&'a str>,
}

impl Default for DagDraft {
    fn default() -> Self {
        Self {
            app: Application::new(Engine::Tez),
            names: CounterNames::default(),
            info: Info::default(),
            events: Events::default(),
            counters: None,
            vertices: BTreeMap::new(),
            is_told: false,
        }
    }
}

impl DagDraft {
    /// Adds a record about the DAG or something in it.
    pub(super) fn add(&mut self, id: Id, info: Info, events: &[(String, i64)], others: OtherCounters) {
        let Self { app, names, vertices, .. } = self;
        let shared = &mut Shared { names, strings: &mut app.strings, others };
        let number = match id {
            Id::App(_) => return,
            Id::Dag(_) => return self.add_to_dag(info, events),
            Id::Vertex(_, number) | Id::Task(_, number, _) | Id::Attempt(_, number, ..) => number,
        };
        let vertex = vertices.entry(number).or_insert_with(|| VertexDraft::new(number));
        match id {
            Id::Task(.., task) => vertex.add_task(task, info, events, shared),
            Id::Attempt(.., task, attempt) => vertex.add_attempt((task, attempt), info, events, shared),
            Id::App(_) | Id::Dag(_) | Id::Vertex(..) => vertex.add(info, events, shared),
        }
    }

    fn add_to_dag(&mut self, mut info: Info, events: &[(String, i64)]) {
        if let Some(counters) = info.counters.take() {
            self.counters = Some(counters.record(&mut self.names, &mut self.app.strings));
        }
        self.is_told = true;
        self.events.add(events);
        self.info.merge(info);
    }

    /// Whether there was a record of this before.
    pub(super) fn knows(&self, id: Id) -> bool {
        let vertex = |number: u32| self.vertices.get(&number);
        match id {
            Id::App(_) | Id::Dag(_) => true,
            Id::Vertex(_, number) => vertex(number).is_some(),
            Id::Task(_, number, task) => vertex(number).is_some_and(|vertex| vertex.has_task(task)),
            Id::Attempt(_, number, task, attempt) => {
                vertex(number).is_some_and(|vertex| vertex.has_attempt(task, attempt))
            }
        }
    }

    /// The numbers of tasks known, and of those that the vertices announce.
    pub(super) fn tasks(&self) -> (u64, Option<u64>) {
        let known = self.vertices.values().map(|vertex| vertex.group.tasks.len() as u64).sum();
        (known, self.vertices.values().map(|vertex| vertex.info.tasks).sum())
    }

    /// The id of the query that the caller names, or that precedes the number in the name of the DAG.
    pub(super) fn query_id(&self) -> Option<&str> {
        let by_name = || Some(self.info.name.as_deref()?.rsplit_once(':')?.0);
        self.info.caller_id.as_deref().or_else(by_name)
    }

    /// The application, once all records were read. `broken` says that some could not be read.
    pub(super) fn finish(
        mut self,
        id: DagId,
        around: &Around<'_>,
        broken: bool,
        problems: &mut Problems,
    ) -> Application {
        self.check_application(id, problems);
        self.describe(id, around);
        let failures = self.failures();
        shorten(&mut self.app.diagnostics);
        let vertices = self.finish_vertices();
        let app = &mut self.app;
        let of = |processor| {
            let these = vertices.iter().filter(|vertex| vertex.processor == Some(processor));
            these.map(|vertex| vertex.announced).sum::<Option<u64>>()
        };
        app.announced = Announced { maps: of(Processor::Mapper), reduces: of(Processor::Reducer) };
        app.tez = Some(Box::new(Tez {
            application_id: id.app.to_string(),
            caller_type: self.info.caller_type.take(),
            caller_id: self.info.caller_id.take(),
            query: around.query.map(|query| truncate(query, MAX_TEXT_LEN).to_owned()),
            vertices,
            failures,
        }));
        let complete = super::complete::check(app, self.is_told, problems) && !broken;
        self.app.complete = complete;
        self.app.events_missing = !complete;
        self.app
    }

    /// The id of a DAG contains that of its application.
    fn check_application(&self, id: DagId, problems: &mut Problems) {
        let own = id.app.to_string();
        let stated = self.info.application_id.as_deref().filter(|stated| *stated != own);
        if let Some(stated) = stated {
            problems.warn("application-disagrees", None, || {
                format!("{id} is a DAG of {own} by its id, but its record names {stated}; the id counts")
            });
        }
    }

    fn describe(&mut self, id: DagId, around: &Around<'_>) {
        let Self { app, info, events, .. } = self;
        let moments = Moments::default();
        let of_app = |fact: fn(&Info) -> &Option<String>| around.app.and_then(|app| fact(app).clone());
        app.id = id.to_string();
        app.name = info.name.clone();
        app.user = info.user.clone().or_else(|| of_app(|app| &app.user));
        app.queue = info.queue.clone();
        app.engine_version = of_app(|app| &app.version);
        app.status = status(info.status.as_deref());
        app.submitted_at = moments.read(events.submitted.or(info.first).or(info.init).or(events.init));
        app.launched_at = moments.read(info.start.or(events.start));
        app.finished_at = moments.read(info.end.or(events.end));
        app.diagnostics = info.diagnostics.take();
        app.counters.total = self.counters.take();
        forget_impossible(app);
    }

    fn failures(&mut self) -> Vec<VertexFailure> {
        let Some(text) = self.app.diagnostics.as_deref().filter(|_| self.app.status == Status::Failed) else {
            return Vec::new();
        };
        let strings = &mut self.app.strings;
        let failures = failures(text).into_iter().map(|failure| {
            let mut of = VertexFailure::new(failure.vertex);
            of.name = failure.name.map(str::to_owned);
            (of.tasks, of.attempts) = (failure.tasks, failure.attempts);
            of.text = failure.text.and_then(|text| strings.intern(text));
            of
        });
        failures.collect()
    }

    /// The vertices by number, with what the plan of the DAG and its map of names say about them.
    fn finish_vertices(&mut self) -> Vec<Vertex> {
        for (name, id) in std::mem::take(&mut self.info.vertex_ids) {
            let Some(Id::Vertex(_, number)) = Id::parse(&id) else { continue };
            let vertex = self.vertices.entry(number).or_insert_with(|| VertexDraft::new(number));
            vertex.info.name = vertex.info.name.take().or(Some(name).filter(|name| !name.is_empty()));
        }
        let plan: BTreeMap<String, String> = std::mem::take(&mut self.info.plan).into_iter().collect();
        let mut vertices = Vec::with_capacity(self.vertices.len());
        for (number, draft) in std::mem::take(&mut self.vertices) {
            let VertexDraft { info, events, mut group, counters, .. } = draft;
            group.sort_rows();
            choose_representatives(&mut group);
            mark_speculation(&mut group);
            let class = info.processor.as_ref().or_else(|| plan.get(info.name.as_ref()?));
            let mut vertex = Vertex::new(number);
            vertex.processor =
                class.filter(|class| !class.is_empty()).map(|class| Processor::of_class(class));
            vertex.status = status(info.status.as_deref());
            vertex.announced = info.tasks;
            let moments = Moments::default();
            vertex.initialised_at = moments.read(info.init.or(events.init));
            vertex.started_at = moments.read(info.start.or(events.start));
            vertex.finished_at = moments.read(info.end.or(events.end));
            vertex.counters = counters;
            vertex.name = info.name;
            vertices.push(vertex);
            if !group.tasks.is_empty() {
                group.shrink();
                self.app.groups.push(group);
            }
        }
        vertices
    }
}

/// Cuts a text that is only shown to people.
fn shorten(text: &mut Option<String>) {
    if let Some(text) = text.as_mut().filter(|text| text.len() > MAX_TEXT_LEN) {
        *text = truncate(text, MAX_TEXT_LEN).to_owned();
    }
}

/// A DAG starts after it was submitted and ends after it started; times that contradict each other are unknown.
fn forget_impossible(app: &mut Application) {
    let before = |a: Option<Timestamp>, b: Option<Timestamp>| a.zip(b).is_some_and(|(a, b)| a < b);
    if before(app.launched_at, app.submitted_at) {
        app.submitted_at = app.launched_at;
    }
    if before(app.finished_at, app.launched_at) {
        (app.launched_at, app.finished_at) = (None, None);
    }
    if before(app.finished_at, app.submitted_at) {
        (app.submitted_at, app.finished_at) = (None, None);
    }
}

/// The states of a DAG and of a vertex (`DAGState`, `VertexState`).
fn status(state: Option<&str>) -> Status {
    match state {
        Some("SUCCEEDED") => Status::Succeeded,
        Some("FAILED" | "ERROR") => Status::Failed,
        Some("KILLED") => Status::Killed,
        Some(_) => Status::Running,
        None => Status::Unknown,
    }
}
