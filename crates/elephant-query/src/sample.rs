//! Plans for tests.

use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{
    Job, Operator, OperatorKind, Plan, PlanFact, PlanMetric, PlanText, Spark, SqlExecution, Stage,
    StageAttempt, counter_of,
};
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_model::model::{Application, Engine, Interner};

/// An operator with those below it.
pub(crate) struct Node {
    name: &'static str,
    text: String,
    metrics: Vec<(&'static str, u64)>,
    facts: Vec<(&'static str, &'static str)>,
    below: Vec<Node>,
}

impl Node {
    pub(crate) fn of(name: &'static str) -> Self {
        Self::text(name, name)
    }

    pub(crate) fn text(name: &'static str, text: &str) -> Self {
        Self { name, text: text.to_owned(), metrics: Vec::new(), facts: Vec::new(), below: Vec::new() }
    }

    pub(crate) fn with_metric(mut self, name: &'static str, accumulator: u64) -> Self {
        self.metrics.push((name, accumulator));
        self
    }

    pub(crate) fn with_fact(mut self, key: &'static str, value: &'static str) -> Self {
        self.facts.push((key, value));
        self
    }

    pub(crate) fn above(mut self, other: Self) -> Self {
        self.below.push(other);
        self
    }

    fn write(self, parent: Option<u32>, strings: &mut Interner, plan: &mut Plan) {
        let place = u32::try_from(plan.operators.len()).unwrap();
        let mut text = |added: &str| {
            let start = u32::try_from(plan.texts.len()).unwrap();
            plan.texts.push_str(added);
            PlanText { start, end: u32::try_from(plan.texts.len()).unwrap() }
        };
        let own = text(&self.text);
        for (key, value) in self.facts {
            let value = text(value);
            plan.facts.push(PlanFact { operator: place, key: strings.intern(key).unwrap(), value });
        }
        let kind = OperatorKind::of(self.name);
        plan.operators.push(Operator { name: strings.intern(self.name).unwrap(), kind, parent, text: own });
        for (name, accumulator) in self.metrics {
            let kind = strings.intern(if name.ends_with(" time") { "timing" } else { "sum" }).unwrap();
            let (name, counter) = (strings.intern(name).unwrap(), counter_of(name));
            plan.metrics.push(PlanMetric { operator: place, name, kind, counter, accumulator });
        }
        for node in self.below {
            node.write(Some(place), strings, plan);
        }
    }
}

pub(crate) fn app() -> Application {
    Application::new(Engine::Spark)
}

/// A query with this plan whose only stage holds these accumulators and wrote this many bytes of shuffle data.
pub(crate) fn query(root: Node, accumulators: &[u64], written: i64) -> (Application, Spark) {
    let mut app = app();
    let mut execution = SqlExecution::new(1);
    root.write(None, &mut app.strings, &mut execution.plan);
    let id = StageAttempt { stage: 0, attempt: 0 };
    let mut group = TaskGroup::new(TaskKind::Stage(id));
    let task = group.tasks.push(0);
    let row = group.attempts.push(u32::try_from(task).unwrap(), 0);
    group.attempts.set_counter(row, Counter::ShuffleBytesWritten, Some(written));
    app.groups.push(group);
    let mut stage = Stage::new(id);
    stage.group = Some(0);
    stage.job = Some(0);
    stage.accumulables = accumulators.iter().map(|&id| (id, 1)).collect();
    let mut job = Job::new(0);
    job.sql_execution = Some(1);
    job.stages = vec![0];
    let spark = Spark { jobs: vec![job], stages: vec![stage], sql: vec![execution], ..Spark::default() };
    (app, spark)
}
