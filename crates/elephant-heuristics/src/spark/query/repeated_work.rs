//! `spark-repeated-work`: parts of plans that are computed several times, in one query or in several.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use super::loss::{Limits, Loss};
use super::on_queries::{Judge, OnQueries};
use crate::declare::spark as rule;
use elephant_catalogue::{Rule, load};
use elephant_query::{
    Cost, Ground, OperatorKind, PlacedOperator, Query, TaskTime, below, name_of_query, name_of_source,
    sources_below, without_numbers,
};
use elephant_rule::finding::{Advice, Judgement, Measure, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;

rule_params! {
    /// Parameters of `spark-repeated-work`.
    pub(super) struct RepeatedWork / RepeatedWorkLayer {
        /// Time lost / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time lost.
        lost_time: Ascending<Duration>,
        /// Parts of plans with fewer operators are not compared.
        min_operators: Quantity<Count>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-repeated-work", "Spark Repeated Work", tells RepeatedWork, RepeatedWork, |layers, _| {
        load(layers, OnQueries::<RepeatedWork>)
    })
    .measured_by("lost_ratio", Worse::Higher);

const ACROSS: &str = "{queries} queries compute the same {operators} operators[ on {source}], {first} first; the others took up \
                      to {lost_ms} for them, {lost_ratio:%} of the run time ({limit})";
const WITHIN: &str = "{first} computes the same {operators} operators[ on {source}] {copies} times; all but one took up to \
                      {lost_ms}, {lost_ratio:%} of the run time ({limit})";

impl Judge for RepeatedWork {
    const FITS: &'static str = "no part of a plan is computed again for long";

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        let all = [Place::Across, Place::Within].into_iter().flat_map(|place| self.repeated(ground, place));
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let losses = all.filter_map(|part| {
            let cost = part.cost(ground)?;
            let loss = limits.loss(cost.wall, ground.run_time)?;
            Some((cost, loss, part))
        });
        let mut losses: Vec<(Cost, Loss, Part)> = losses.collect();
        losses.sort_by(|(one, _, part), (other, _, others)| {
            let costly = other.wall.cmp(&one.wall).then(others.operators.cmp(&part.operators));
            costly.then_with(|| part.copies.cmp(&others.copies))
        });
        // A part of a part that costs more, or the other way round, says nothing more.
        let mut told: BTreeSet<(usize, usize)> = BTreeSet::new();
        losses.retain(|(_, _, part)| {
            let own: Vec<(usize, usize)> = part.operators_of_all(ground).collect();
            let is_new = !own.iter().any(|operator| told.contains(operator));
            told.extend(own);
            is_new
        });
        losses.iter().filter_map(|(cost, loss, part)| judge_part(ground, part, cost, loss)).collect()
    }
}

/// Where equal parts are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In one query. Its copies have numbers of their own for the same expressions.
    Within,
    /// In several queries. Only if they start from one data frame are the numbers of expressions the same: another frame
    /// that happens to be built alike cannot share its work.
    Across,
}

/// A part of a plan that occurs several times.
struct Part {
    place: Place,
    operators: usize,
    /// Query and topmost operator of each copy, as places, in the order of the queries.
    copies: Vec<(usize, usize)>,
}

impl Part {
    /// What all copies but the first cost.
    fn cost(&self, ground: &Ground<'_>) -> Option<Cost> {
        let mut time = TaskTime::default();
        for &(query, top) in self.copies.iter().skip(1) {
            let query = ground.queries.get(query)?;
            time.add_all(&ground.time_of_all(query, below(query, top)));
        }
        ground.cost(&time)
    }

    /// The operators of all copies, as places of query and operator.
    fn operators_of_all(&self, ground: &Ground<'_>) -> impl Iterator<Item = (usize, usize)> {
        self.copies.iter().flat_map(|&(number, top)| {
            let operators = ground.queries.get(number).map(|query| below(query, top));
            operators.into_iter().flatten().map(move |operator| (number, operator))
        })
    }
}

/// A part of a plan, without what only wraps or stands for other operators.
#[derive(Debug, Clone, Copy)]
struct Shape {
    hash: u64,
    operators: usize,
    /// Whether its rows are read, shuffled or made by tasks, so that it costs something.
    works: bool,
}

impl RepeatedWork {
    /// The parts that occur several times.
    fn repeated(&self, ground: &Ground<'_>, place: Place) -> Vec<Part> {
        let shapes: Vec<Vec<Option<Shape>>> =
            ground.queries.iter().map(|query| shapes(query, place)).collect();
        let mut known: BTreeMap<(usize, u64), Vec<(usize, usize)>> = BTreeMap::new();
        let of_streams =
            ground.spark.jobs.iter().filter(|job| job.of_stream).filter_map(|job| job.sql_execution);
        let of_streams: BTreeSet<u64> = of_streams.collect();
        for (number, (query, shapes)) in ground.queries.iter().zip(&shapes).enumerate() {
            // The batches of a stream have one plan, and each reads other data.
            if place == Place::Across && (of_streams.contains(&query.execution.id) || reads_batch(query)) {
                continue;
            }
            for (top, shape) in shapes.iter().enumerate() {
                let Some(shape) =
                    shape.filter(|it| it.works && it.operators as f64 >= self.min_operators.get())
                else {
                    continue;
                };
                if is_wrapper(query.operators.get(top)) {
                    continue;
                }
                // Each query is its own place to look for copies, or all are one.
                let among = if place == Place::Within { number } else { usize::MAX };
                known.entry((among, shape.hash)).or_default().push((number, top));
            }
        }
        known
            .into_values()
            .filter_map(|mut copies| {
                if place == Place::Across {
                    copies.dedup_by_key(|(query, _)| *query);
                }
                let &(query, top) = copies.first().filter(|_| copies.len() > 1)?;
                let operators = shapes.get(query)?.get(top)?.as_ref()?.operators;
                Some(Part { place, operators, copies })
            })
            .collect()
    }
}

fn judge_part(ground: &Ground<'_>, part: &Part, cost: &Cost, loss: &Loss) -> Option<Judgement> {
    let &(first, top) = part.copies.first()?;
    let first = ground.queries.get(first)?;
    let source = sources_below(first, top).first().and_then(|&scan| first.operators.get(scan));
    let judged = loss
        .judgement(Some(cost))
        .fact("copies_count", Measure::Count(part.copies.len() as u64))
        .fact("operators_count", Measure::Count(part.operators as u64));
    let judged = part.copies.iter().fold(judged, |judged, &(number, top)| match ground.queries.get(number) {
        Some(query) => judged.in_query(query.execution.id, Some(top)),
        None => judged,
    });
    let words: [(_, &dyn std::fmt::Display); 6] = [
        ("queries", &part.copies.len()),
        ("copies", &part.copies.len()),
        ("operators", &part.operators),
        ("source", &source.map(name_of_source).unwrap_or_default()),
        ("first", &name_of_query(first.execution)),
        ("limit", &loss.limit),
    ];
    let (template, advice) = match part.place {
        Place::Across => (
            ACROSS,
            "call cache() on the data frame that these queries start from, before the first of them, and unpersist() \
             after the last; or write it once and read it",
        ),
        Place::Within => (
            WITHIN,
            "compute it once: give the query the same data frame on both sides, or cache() it before; \
             spark.sql.exchange.reuse must be on",
        ),
    };
    Some(judged.message(template, &words).advice(|| vec![Advice::new(advice)]))
}

/// Whether a query reads a batch of a stream.
fn reads_batch(query: &Query<'_>) -> bool {
    query.operators.iter().any(|operator| operator.name.starts_with("MicroBatchScan"))
}

/// Whether an operator only wraps or stands for others.
fn is_wrapper(operator: Option<&PlacedOperator<'_>>) -> bool {
    operator.is_none_or(|it| matches!(it.kind, OperatorKind::Reference | OperatorKind::Pipeline))
}

/// The shape below each operator of the last plan; `None` below a cached table, whose work is shared already, and where a
/// part is reused.
fn shapes(query: &Query<'_>, place: Place) -> Vec<Option<Shape>> {
    let operators = &query.operators;
    let mut of_children: Vec<Vec<Shape>> = vec![Vec::new(); operators.len()];
    let mut shapes: Vec<Option<Shape>> = vec![None; operators.len()];
    let cached = below_caches(query);
    // Children come after their parents.
    for (at, operator) in operators.iter().enumerate().rev() {
        if operator.kind == OperatorKind::CachedScan {
            let parent = operator.parent.filter(|parent| operator.is_last && !cached.contains(parent));
            if let Some(of_parent) = parent.and_then(|parent| of_children.get_mut(parent)) {
                of_parent.push(shape_of_cache(query, at, place));
            }
        }
        if !operator.is_last || cached.contains(&at) {
            continue;
        }
        let mut children = of_children.get_mut(at).map(std::mem::take).unwrap_or_default();
        children.reverse();
        let shape = shape_of(operator, &children, place);
        if let Some(parent) = operator.parent.and_then(|parent| of_children.get_mut(parent)) {
            parent.push(shape);
        }
        if let Some(slot) = shapes.get_mut(at) {
            *slot = Some(shape);
        }
    }
    shapes
}

/// The shape of a cached table: what it is filled with tells it from others.
fn shape_of_cache(query: &Query<'_>, scan: usize, place: Place) -> Shape {
    let mut hasher = DefaultHasher::new();
    for (at, operator) in below(query, scan).filter_map(|at| Some((at, query.operators.get(at)?))) {
        // Each scan has numbers of its own for the columns of the table, unless it is in another query.
        let is_own = at == scan && place == Place::Within;
        let text = if is_own { without_numbers(operator.text) } else { operator.text.to_owned() };
        text.split(", [plan_id=").next().unwrap_or_default().hash(&mut hasher);
    }
    // The work of filling it is no work of the query.
    Shape { hash: hasher.finish(), operators: 0, works: false }
}

fn shape_of(operator: &PlacedOperator<'_>, children: &[Shape], place: Place) -> Shape {
    if let ([child], true) = (children, is_wrapper(Some(operator))) {
        return *child;
    }
    let mut hasher = DefaultHasher::new();
    let text = match place {
        Place::Within => without_numbers(operator.text),
        Place::Across => operator.text.to_owned(),
    };
    // Numbers of plans differ from query to query.
    text.split(", [plan_id=").next().unwrap_or_default().hash(&mut hasher);
    operator.facts.hash(&mut hasher);
    for child in children {
        child.hash.hash(&mut hasher);
    }
    let works = matches!(operator.kind, OperatorKind::Scan | OperatorKind::Exchange | OperatorKind::Source);
    Shape {
        hash: hasher.finish(),
        operators: 1 + children.iter().map(|child| child.operators).sum::<usize>(),
        works: works || children.iter().any(|child| child.works),
    }
}

/// The operators at and below scans of cached tables.
fn below_caches(query: &Query<'_>) -> BTreeSet<usize> {
    let mut cached = BTreeSet::new();
    for (place, operator) in query.operators.iter().enumerate() {
        let is_below = operator.parent.is_some_and(|parent| cached.contains(&parent));
        if is_below || operator.kind == OperatorKind::CachedScan {
            cached.insert(place);
        }
    }
    cached
}
