//! SQL executions and their plans.

use rustc_hash::FxHashSet;

use super::held;
use super::{Builder, Symbols, moment};
use crate::spark::event::SqlStart;
use crate::spark::plan;
use elephant_base::units::Timestamp;
use elephant_model::model::spark::{Fallback, Operator, Plan, PlanFact, PlanMetric, PlanText, SqlExecution};

impl Builder {
    fn execution(&mut self, id: Option<i64>) -> Option<&mut SqlExecution> {
        let id = u64::try_from(id?).ok()?;
        if let Some(&place) = self.sql_places.get(&id) {
            return self.sql.get_mut(place);
        }
        let place = self.new_place::<SqlExecution>(self.sql.len())?;
        self.sql_places.insert(id, place);
        self.sql.push(SqlExecution::new(id));
        self.sql.get_mut(place)
    }

    /// Changes an execution, added if new, and counts its bytes.
    fn change_execution(&mut self, id: Option<i64>, change: impl FnOnce(&mut SqlExecution)) {
        let Some(execution) = self.execution(id) else { return };
        let before = held::of_execution(execution);
        change(execution);
        let after = held::of_execution(execution);
        self.held.change(before, after);
    }

    pub(super) fn sql_start(&mut self, start: SqlStart, symbols: &Symbols<'_>) {
        let plan = self.known_plan(start.plan, symbols);
        self.change_execution(start.id, |execution| {
            execution.root =
                start.root.and_then(|root| u64::try_from(root).ok()).filter(|&root| root != execution.id);
            execution.description = start.description;
            execution.call_stack = start.call_stack;
            execution.tags = start.tags;
            execution.started_at = moment(start.at);
            // A log whose events are out of order may tell a later plan before the first one.
            if execution.plan.operators.is_empty() {
                execution.plan = plan;
            } else {
                let later = std::mem::replace(&mut execution.plan, plan);
                change_plan(execution, later);
            }
        });
    }

    pub(super) fn plan_change(&mut self, id: Option<i64>, plan: plan::Plan, symbols: &Symbols<'_>) {
        let plan = self.known_plan(plan, symbols);
        self.change_execution(id, |execution| change_plan(execution, plan));
    }

    pub(super) fn subquery_metrics(&mut self, id: Option<i64>, metrics: plan::Plan, symbols: &Symbols<'_>) {
        let metrics = self.known_plan(metrics, symbols);
        self.change_execution(id, |execution| {
            for operator in 0..metrics.operators.len() {
                copy_operator(&metrics, operator, &mut execution.subqueries);
            }
        });
    }

    pub(super) fn sql_end(&mut self, id: Option<i64>, at: Option<Timestamp>, error: Option<String>) {
        self.change_execution(id, |execution| {
            execution.finished_at = at;
            execution.error = error;
        });
    }

    pub(super) fn driver_updates(&mut self, id: Option<i64>, updates: Vec<(i64, i64)>) {
        let mut held = self.driver_updates_held;
        let limits = self.limits;
        let mut beyond = 0;
        self.change_execution(id, |execution| {
            for (accumulator, value) in updates {
                let Ok(accumulator) = u64::try_from(accumulator) else { continue };
                if limits.has_room(held) {
                    execution.driver_updates.push((accumulator, value));
                    held += 1;
                } else {
                    beyond += 1;
                }
            }
        });
        self.driver_updates_held = held;
        self.seen.beyond_limit.driver_values += beyond;
    }

    /// What a native engine did not run of the last plan that it tells of.
    pub(super) fn fallbacks(&mut self, id: Option<i64>, all: Vec<Fallback>) {
        self.change_execution(id, |execution| execution.fallbacks = all);
    }

    /// A plan with the names of the application; empty if the limit on operators is reached.
    fn known_plan(&mut self, plan: plan::Plan, symbols: &Symbols<'_>) -> Plan {
        let count = self.operators_held.saturating_add(plan.operators.len());
        if !plan.operators.is_empty() && !self.limits.has_room(count - 1) {
            self.seen.beyond_limit.operators += plan.operators.len() as u64;
            return Plan::default();
        }
        self.operators_held = count;
        let operator = |operator: &plan::Operator| {
            let plan::Operator { name, kind, parent, text } = *operator;
            Some(Operator { name: symbols.symbol(name)?, kind, parent, text })
        };
        // Places count from the first operator, so all of them must have names.
        let Some(operators) = plan.operators.iter().map(operator).collect() else { return Plan::default() };
        let metric = |metric: &plan::Metric| {
            Some(PlanMetric {
                operator: metric.operator,
                name: symbols.symbol(Some(metric.name))?,
                kind: symbols.symbol(Some(metric.kind))?,
                counter: metric.counter,
                accumulator: metric.accumulator,
            })
        };
        let fact = |fact: &plan::Fact| {
            let plan::Fact { operator, key, value } = *fact;
            Some(PlanFact { operator, key: symbols.symbol(Some(key))?, value })
        };
        Plan {
            operators,
            metrics: plan.metrics.iter().filter_map(metric).collect(),
            facts: plan.facts.iter().filter_map(fact).collect(),
            texts: plan.texts,
        }
    }

    /// Forgets the replaced operators that never ran, or that a later plan has again.
    pub(super) fn forget_unused_operators(&mut self) {
        let mut wanted: FxHashSet<u64> = self
            .sql
            .iter()
            .flat_map(|execution| &execution.replaced.metrics)
            .map(|metric| metric.accumulator)
            .collect();
        if wanted.is_empty() {
            return;
        }
        let of_stages = self.stages.iter().flat_map(|record| record.stage.accumulables.iter());
        let of_driver = self.sql.iter().flat_map(|execution| &execution.driver_updates);
        let with_values: FxHashSet<u64> =
            of_stages.chain(of_driver).map(|(id, _)| *id).filter(|id| wanted.remove(id)).collect();
        for execution in &mut self.sql {
            let last: FxHashSet<u64> = accumulators(&execution.plan).collect();
            let replaced = std::mem::take(&mut execution.replaced);
            let mut known = FxHashSet::default();
            for place in 0..replaced.operators.len() {
                let of_operator = metrics_at(&replaced, place);
                let ran = of_operator.iter().any(|metric| with_values.contains(&metric.accumulator));
                let again = of_operator.iter().any(|metric| last.contains(&metric.accumulator));
                let repeats = !of_operator.iter().all(|metric| known.insert(metric.accumulator));
                if ran && !again && !repeats {
                    copy_operator(&replaced, place, &mut execution.replaced);
                }
            }
        }
    }
}

/// Sets a later plan; keeps the operators that it replaces.
fn change_plan(execution: &mut SqlExecution, plan: Plan) {
    let earlier = std::mem::replace(&mut execution.plan, plan);
    let kept: FxHashSet<u64> = accumulators(&execution.plan).collect();
    for place in 0..earlier.operators.len() {
        let metrics = metrics_at(&earlier, place);
        if !metrics.is_empty() && !metrics.iter().any(|metric| kept.contains(&metric.accumulator)) {
            copy_operator(&earlier, place, &mut execution.replaced);
        }
    }
}

fn accumulators(plan: &Plan) -> impl Iterator<Item = u64> {
    plan.metrics.iter().map(|metric| metric.accumulator)
}

fn metrics_at(plan: &Plan, place: usize) -> &[PlanMetric] {
    u32::try_from(place).map_or(&[], |place| plan.metrics_of(place))
}

/// Adds an operator of a plan, without its parent, to another plan.
fn copy_operator(from: &Plan, place: usize, into: &mut Plan) {
    let (Ok(at), Ok(new)) = (u32::try_from(place), u32::try_from(into.operators.len())) else { return };
    let Some(operator) = from.operators.get(place) else { return };
    let text = copy_text(from, operator.text, into);
    into.operators.push(Operator { parent: None, text, ..*operator });
    into.metrics.extend(from.metrics_of(at).iter().map(|metric| PlanMetric { operator: new, ..*metric }));
    for fact in from.facts_of(at) {
        let value = copy_text(from, fact.value, into);
        into.facts.push(PlanFact { operator: new, key: fact.key, value });
    }
}

fn copy_text(from: &Plan, text: PlanText, into: &mut Plan) -> PlanText {
    let start = into.texts.len();
    into.texts.push_str(from.text(text));
    let range = u32::try_from(start).ok().zip(u32::try_from(into.texts.len()).ok());
    range.map_or_else(PlanText::default, |(start, end)| PlanText { start, end })
}
