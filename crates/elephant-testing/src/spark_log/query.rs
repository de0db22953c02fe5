//! SQL executions: plans, and the values of their metrics.

use serde_json::{Map, Value, json};

use super::START;

/// A SQL execution.
#[derive(Debug, Clone, Default)]
pub struct Query {
    pub id: u64,
    pub description: String,
    pub start: i64,
    pub end: i64,
    /// The ids of its jobs.
    pub jobs: Vec<u32>,
    /// The topmost operator of its plan.
    pub plan: Operator,
}

/// An operator of a plan.
#[derive(Debug, Clone, Default)]
pub struct Operator {
    pub name: String,
    /// "simpleString".
    pub text: String,
    pub metrics: Vec<Metric>,
    /// "metadata" of a scan.
    pub metadata: Vec<(String, String)>,
    pub children: Vec<Self>,
}

/// A metric of an operator, with the stage that gives it a value, or the driver.
#[derive(Debug, Clone)]
pub struct Metric {
    pub name: &'static str,
    pub kind: &'static str,
    pub stage: Option<u32>,
    pub value: i64,
}

impl Operator {
    /// An operator whose name is the first word of its text.
    pub fn new(text: &str, children: Vec<Self>) -> Self {
        let name = text.split([' ', '(']).next().unwrap_or_default().to_owned();
        Self { name, text: text.to_owned(), children, ..Self::default() }
    }

    /// Adds a metric with a value of a stage.
    #[must_use]
    pub fn counts(mut self, name: &'static str, kind: &'static str, stage: u32, value: i64) -> Self {
        self.metrics.push(Metric { name, kind, stage: Some(stage), value });
        self
    }

    /// Adds a metric with a value of the driver.
    #[must_use]
    pub fn told(mut self, name: &'static str, kind: &'static str, value: i64) -> Self {
        self.metrics.push(Metric { name, kind, stage: None, value });
        self
    }

    /// Sets its name.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// "sparkPlanInfo", with accumulators from `next` on.
    fn info(&self, next: &mut u64) -> Value {
        let metric = |metric: &Metric, next: &mut u64| {
            let info = json!({"name": metric.name, "accumulatorId": *next, "metricType": metric.kind});
            *next += 1;
            info
        };
        let metrics: Vec<Value> = self.metrics.iter().map(|it| metric(it, next)).collect();
        let children: Vec<Value> = self.children.iter().map(|child| child.info(next)).collect();
        let metadata: Map<String, Value> =
            self.metadata.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
        json!({"nodeName": self.name, "simpleString": self.text, "children": children, "metadata": metadata,
            "metrics": metrics})
    }

    /// All metrics in the order of their accumulators.
    fn all(&self) -> Vec<&Metric> {
        self.metrics.iter().chain(self.children.iter().flat_map(Self::all)).collect()
    }
}

/// The first accumulator of each query: those before belong to the metrics of tasks.
fn first_accumulator(place: usize) -> u64 {
    1000 * (place as u64 + 1)
}

/// The start of a query.
pub(super) fn start(query: &Query, place: usize) -> Value {
    json!({"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart", "executionId": query.id,
        "rootExecutionId": query.id, "description": query.description, "details": "", "physicalPlanDescription": "",
        "sparkPlanInfo": query.plan.info(&mut first_accumulator(place)), "time": START + query.start,
        "modifiedConfigs": {}})
}

/// The values that the driver tells, and the end of a query.
pub(super) fn ends(query: &Query, place: usize) -> [Value; 2] {
    let all = (first_accumulator(place)..).zip(query.plan.all());
    let told: Vec<Value> = all
        .filter(|(_, metric)| metric.stage.is_none())
        .map(|(id, metric)| json!([id, metric.value]))
        .collect();
    [
        json!({"Event": "org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates",
            "executionId": query.id, "accumUpdates": told}),
        json!({"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd", "executionId": query.id,
            "time": START + query.end}),
    ]
}

/// "Accumulables" of a stage.
pub(super) fn accumulables(queries: &[Query], stage: u32) -> Vec<Value> {
    let of_query = |(place, query): (usize, &Query)| {
        let all = (first_accumulator(place)..).zip(query.plan.all());
        let wanted = all.filter(|(_, metric)| metric.stage == Some(stage));
        let told = wanted.map(|(id, metric)| {
            json!({"ID": id, "Name": metric.name, "Value": metric.value.to_string(), "Internal": true,
                "Count Failed Values": true, "Metadata": "sql"})
        });
        told.collect::<Vec<_>>()
    };
    queries.iter().enumerate().flat_map(of_query).collect()
}
