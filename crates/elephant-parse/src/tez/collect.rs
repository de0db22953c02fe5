//! Gathers the records of all files of a history by DAG.

use std::collections::BTreeMap;

use super::dag::{Around, DagDraft};
use super::id::{AppId, DagId, Id};
use super::info::Info;
use super::record::{Record, Subject};
use crate::problem::{Level, Problems};
use crate::{OtherCounters, Parsed, too_many};
use elephant_base::limits::{self, Held, LimitReached, Limits, Remainder};
use elephant_model::model::conf::{Conf, Property};

/// What a DAG takes without its tables, a vertex, and a task with an attempt.
const PER_DAG: usize = 16 << 10;
const PER_VERTEX: usize = 2 << 10;
const PER_ROW: usize = 512;
/// What a counter takes, and what its name may take the first time.
const PER_COUNTER: usize = 24;

/// The records read so far.
pub(super) struct Records {
    dags: BTreeMap<DagId, DagDraft>,
    apps: BTreeMap<AppId, Info>,
    queries: BTreeMap<String, String>,
    limits: Limits,
    others: OtherCounters,
    held: Held,
    /// Tasks and attempts, and DAGs, vertices and queries.
    rows: usize,
    items: usize,
    /// The option whose limit was reached.
    limit: Option<&'static str>,
    /// Whether nothing more may be read.
    is_stopped: bool,
    /// Whether some records could not be read.
    pub(super) broken: bool,
    pub(super) problems: Problems,
}

impl Records {
    pub(super) fn within(limits: &Limits, others: OtherCounters) -> Self {
        Self {
            dags: BTreeMap::new(),
            apps: BTreeMap::new(),
            queries: BTreeMap::new(),
            limits: *limits,
            others,
            held: Held::within(limits),
            rows: 0,
            items: 0,
            limit: None,
            is_stopped: false,
            broken: false,
            problems: Problems::default(),
        }
    }

    /// Adds a record. Returns whether reading goes on.
    pub(super) fn add(&mut self, record: Record) -> bool {
        let Record { subject, info, events } = record;
        let counters = info.counters.as_ref().map_or(0, super::counters::RawCounters::len);
        self.held.add(info.held() + counters * PER_COUNTER);
        match subject {
            Subject::Query(id) => self.add_query(id, info),
            Subject::Tez(Id::App(app)) => self.apps.entry(app).or_default().merge(info),
            Subject::Tez(id) => self.add_to_dag(id, info, &events),
        }
        match self.held.beyond() {
            None => true,
            Some(reached) => {
                self.stop_at(reached);
                false
            }
        }
    }

    fn add_query(&mut self, id: String, info: Info) {
        if !self.queries.contains_key(&id) && !self.has_room_for_item() {
            return;
        }
        let text = self.queries.entry(id).or_default();
        if let Some(query) = info.query {
            *text = query;
        }
    }

    fn add_to_dag(&mut self, id: Id, info: Info, events: &[(String, i64)]) {
        let Some(of) = id.dag() else { return };
        if !self.dags.contains_key(&of) {
            if !self.has_room_for_item() {
                return;
            }
            self.held.add(PER_DAG);
            self.dags.insert(of, DagDraft::default());
        }
        let is_new = self.dags.get(&of).is_some_and(|dag| !dag.knows(id));
        let is_row = matches!(id, Id::Task(..) | Id::Attempt(..));
        let has_room = !is_new || if is_row { self.has_room_for_row() } else { self.has_room_for_item() };
        if let Some(dag) = self.dags.get_mut(&of).filter(|_| has_room) {
            dag.add(id, info, events, self.others);
        }
    }

    fn has_room_for_row(&mut self) -> bool {
        let room = self.limits.has_room(self.rows);
        self.rows += usize::from(room);
        self.held.add(if room { PER_ROW } else { 0 });
        self.warn_unless(room)
    }

    fn has_room_for_item(&mut self) -> bool {
        let room = self.limits.has_room_for_other_items(self.items);
        self.items += usize::from(room);
        self.held.add(if room { PER_VERTEX } else { 0 });
        self.warn_unless(room)
    }

    fn warn_unless(&mut self, room: bool) -> bool {
        if !room {
            self.limit.get_or_insert(limits::TASKS);
            self.problems.warn(limits::REACHED, None, || too_many(&self.limits));
        }
        room
    }

    /// Records that reading stopped at a limit.
    pub(super) fn stop_at(&mut self, reached: LimitReached) {
        self.limit.get_or_insert(reached.option());
        self.is_stopped = true;
        self.problems
            .warn(limits::REACHED, None, || format!("only the beginning of the history was read: {reached}"));
    }

    /// Whether nothing more may be read.
    pub(super) const fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// The applications by id, and the configurations of those that ran them.
    pub(super) fn into_parsed(mut self) -> Parsed {
        let mut parsed = Parsed { beyond_memory: self.held.beyond().is_some(), ..Parsed::default() };
        if self.dags.is_empty() && !self.broken {
            self.report_no_dag();
        }
        for (id, dag) in std::mem::take(&mut self.dags) {
            let query = dag.query_id().and_then(|query| self.queries.get(query));
            let around = Around {
                app: self.apps.get(&id.app),
                query: query.map(String::as_str).filter(|query| !query.is_empty()),
            };
            let (kept, announced) = dag.tasks();
            let limit = self.limit.map(|option| Remainder { option, kept, announced });
            let broken = self.broken || limit.is_some();
            let mut app = dag.finish(id, &around, broken, &mut self.problems);
            app.limit = limit;
            parsed.applications.push(app);
        }
        parsed.confs = self.apps.into_iter().map(|(id, info)| (id.to_string(), conf(info))).collect();
        parsed.problems = self.problems;
        parsed
    }

    /// Queries that ran no DAG, and records of applications alone, cannot be judged.
    fn report_no_dag(&mut self) {
        let what = if self.queries.is_empty() { "records of Tez" } else { "queries of Hive" };
        self.problems.add(Level::Error, "no-dag", None, || {
            format!("there are {what}, but no record of a DAG of Tez (TEZ_DAG_ID) or of a part of one; there is nothing to judge")
        });
    }
}

fn conf(info: Info) -> Conf {
    let mut conf = Conf::default();
    for (name, value) in info.config {
        conf.insert(name, Property { value, is_final: false });
    }
    conf
}
