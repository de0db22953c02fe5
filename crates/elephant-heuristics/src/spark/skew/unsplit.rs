//! Why adaptive execution could not split the skewed partitions of a join, whatever its settings are.
//!
//! `OptimizeSkewedJoin` looks for a join of two sorted or hashed shuffles that Spark planned itself, and for a side that its
//! type allows to split. A change of settings helps only where the plan has that form.

use elephant_model::engine_facts::spark::SPLITS_JOINS_BY_FORCE;
use elephant_model::model::Application;
use elephant_model::model::spark::{Spark, Stage};
use elephant_query::{JoinKind, OperatorKind, PlacedOperator, Queries, Query, SqlCounter, name_of_operator};
use elephant_rule::finding::{Advice, SettingChange};

/// The setting that splits a join although the result must then be shuffled again.
const FORCE: &str = "spark.sql.adaptive.forceOptimizeSkewedJoin";

/// What kept a join from being split.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// The user chose the partitions of a side: `repartition`, or a hint.
    Repartitioned { join: String },
    /// An operator lies between the join and the shuffle of a side.
    Between { join: String, operator: String },
    /// A side is not shuffled.
    NotShuffled { join: String },
    /// The type of the join allows no split of its larger side.
    Type { join: String, kind: String, side: Side },
    /// One task wrote the larger side; a partition is split only between the tasks that wrote it.
    OneWriter { join: String },
    /// An operator above the join needs the partitions as they are.
    NeededAbove { join: String, operator: String, forces: bool },
}

/// A side of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

impl Side {
    const fn word(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

/// What kept the join of a stage from being split; `None` if its plan is unknown, was split, or lets Spark split it.
pub(super) fn obstacle(app: &Application, spark: &Spark, stage: &Stage) -> Option<Obstacle> {
    let execution = spark.query(spark.job_of(stage)?.sql_execution?)?;
    let query = Queries::of(app)?.query(execution);
    let place = u32::try_from(spark.stages.binary_search_by_key(&stage.id, |other| other.id).ok()?).ok()?;
    let is_join = |operator: &PlacedOperator<'_>| {
        let kind = matches!(operator.kind, OperatorKind::Join(JoinKind::SortMerge | JoinKind::ShuffledHash));
        kind && operator.is_last && operator.stages.contains(&place)
    };
    let joins = || (0..).zip(&query.operators).filter(|(_, operator)| is_join(operator));
    if joins().any(|(_, join)| join.name.contains("skew=true") || join.text.contains("skew=true")) {
        return None;
    }
    joins().find_map(|(join, _)| of_join(app, spark, &query, join))
}

fn of_join(app: &Application, spark: &Spark, query: &Query<'_>, place: usize) -> Option<Obstacle> {
    let operator = query.operators.get(place)?;
    let join = name_of_operator(operator);
    let tops: Vec<usize> = children(query, place).collect();
    let [left, right] = tops.as_slice() else { return None };
    let mut exchanges = Vec::new();
    for top in [*left, *right] {
        match way_down(query, top) {
            Way::Exchange(exchange) => exchanges.push(exchange),
            Way::Blocked(other) => {
                return Some(Obstacle::Between {
                    join,
                    operator: name_of_operator(query.operators.get(other)?),
                });
            }
            Way::NoShuffle => return Some(Obstacle::NotShuffled { join }),
        }
    }
    let sides: Vec<&PlacedOperator<'_>> =
        exchanges.iter().filter_map(|&exchange| query.operators.get(exchange)).collect();
    if sides.iter().any(|side| side.text.contains("REPARTITION_BY") || side.text.contains("REBALANCE_")) {
        return Some(Obstacle::Repartitioned { join });
    }
    let [one, other] = sides.as_slice() else { return None };
    let size = |side: &PlacedOperator<'_>| side.bytes(SqlCounter::DataSize);
    if let (Some(of_left), Some(of_right)) = (size(one), size(other)) {
        let (side, larger) = if of_left >= of_right { (Side::Left, one) } else { (Side::Right, other) };
        let kind = type_of(operator.text);
        if !kind.is_empty() && !may_be_split(&kind, side) {
            return Some(Obstacle::Type { join, kind, side });
        }
        if writers(spark, larger) == Some(1) {
            return Some(Obstacle::OneWriter { join });
        }
    }
    let forces = app.version().is_none_or(|version| version >= SPLITS_JOINS_BY_FORCE);
    let is_forced = app.conf.raw(FORCE).is_some_and(|set| set.trim().eq_ignore_ascii_case("true"));
    let above = needed_above(query, place).filter(|_| !is_forced);
    above.map(|operator| Obstacle::NeededAbove { join, operator, forces })
}

fn children<'q>(query: &'q Query<'_>, place: usize) -> impl Iterator<Item = usize> + 'q {
    let all = query.operators.iter().enumerate();
    all.filter(move |(_, other)| other.parent == Some(place)).map(|(place, _)| place)
}

/// What a side of a join comes from.
enum Way {
    Exchange(usize),
    Blocked(usize),
    NoShuffle,
}

/// The way from the top of a side down to its exchange: through sorts, and what stands for other operators.
fn way_down(query: &Query<'_>, top: usize) -> Way {
    let mut place = top;
    let mut blocked = None;
    loop {
        let Some(operator) = query.operators.get(place) else { return Way::NoShuffle };
        match operator.kind {
            OperatorKind::Exchange => return blocked.map_or(Way::Exchange(place), Way::Blocked),
            OperatorKind::Sort
            | OperatorKind::Reference
            | OperatorKind::Pipeline
            | OperatorKind::Transition => {}
            OperatorKind::Broadcast
            | OperatorKind::Scan
            | OperatorKind::CachedScan
            | OperatorKind::Source => {
                return Way::NoShuffle;
            }
            // The first one is what a user sees directly below the join.
            _ => blocked = blocked.or(Some(place)),
        }
        let mut below = children(query, place);
        match (below.next(), below.next()) {
            (Some(only), None) => place = only,
            (Some(_), Some(_)) => return Way::Blocked(blocked.unwrap_or(place)),
            (None, _) => return Way::NoShuffle,
        }
    }
}

/// The type of a join by its text: `SortMergeJoin [k#1], [k#2], LeftOuter` is `LeftOuter`. Empty if it was cut.
fn type_of(text: &str) -> String {
    let rest = text.rsplit_once("], ").map_or("", |(_, rest)| rest);
    rest.split([',', ' ', '(']).next().unwrap_or_default().to_owned()
}

/// Whether Spark may split a side of a join of this type (`ShuffledJoin.canSplitLeftSide`, `canSplitRightSide`). An
/// existence join has a name of its own each time.
fn may_be_split(kind: &str, side: Side) -> bool {
    match side {
        Side::Left => matches!(kind, "Inner" | "Cross" | "LeftSemi" | "LeftAnti" | "LeftOuter"),
        Side::Right => matches!(kind, "Inner" | "Cross" | "RightOuter"),
    }
}

/// How many tasks wrote a shuffle; `None` if it is unknown.
fn writers(spark: &Spark, exchange: &PlacedOperator<'_>) -> Option<u64> {
    let stages = exchange.stages.iter().filter_map(|&place| spark.stages.get(place as usize));
    // The stages that read the shuffle come after those that wrote it.
    stages.min_by_key(|stage| stage.id)?.announced_tasks
}

/// The operator that needs the partitions of a join without another shuffle: a second join, a window, or a final aggregate.
fn needed_above(query: &Query<'_>, place: usize) -> Option<String> {
    let mut aggregates = 0;
    let mut above = query.operators.get(place)?.parent;
    while let Some(operator) = above.and_then(|place| query.operators.get(place)) {
        match operator.kind {
            OperatorKind::Exchange | OperatorKind::Broadcast | OperatorKind::Write => return None,
            OperatorKind::Join(JoinKind::SortMerge | JoinKind::ShuffledHash) | OperatorKind::Window => {
                return Some(name_of_operator(operator));
            }
            OperatorKind::Aggregate => {
                aggregates += 1;
                // The first one aggregates each partition by itself.
                if aggregates > 1 {
                    return Some(name_of_operator(operator));
                }
            }
            _ => {}
        }
        above = operator.parent;
    }
    None
}

impl Obstacle {
    /// Whether it matters only if all settings would let Spark split the join.
    pub(super) const fn is_checked_last(&self) -> bool {
        matches!(self, Self::NeededAbove { .. })
    }

    /// The one change that lifts it.
    pub(super) fn advice(&self, app: &Application) -> Advice {
        match self {
            Self::Repartitioned { join } => format!(
                "Spark could not split the skewed partitions of {join}, because repartition() or a hint chose them: leave it \
                 out before the join, and set spark.sql.shuffle.partitions if another number is needed"
            )
            .into(),
            Self::Between { join, operator } => format!(
                "Spark could not split the skewed partitions of {join}, because {operator} lies between the join and its \
                 shuffle: do it before that shuffle, with other keys, or write its result first"
            )
            .into(),
            Self::NotShuffled { join } => format!(
                "Spark could not split the skewed partitions of {join}, because a side has no shuffle of its own (it is \
                 bucketed, cached or partitioned before): use more buckets, or add a random salt to the most frequent keys"
            )
            .into(),
            Self::Type { join, kind, side } => format!(
                "Spark could not split the larger side of {join}, because a {kind} join keeps the {} side whole: {}",
                side.word(),
                other_type(kind, *side)
            )
            .into(),
            Self::OneWriter { join } => format!(
                "Spark could not split the skewed partition of {join}, because one task wrote all of it: make the input of the \
                 join with more tasks; a partition is split only between the tasks that wrote it"
            )
            .into(),
            Self::NeededAbove { join, operator, forces: false } => format!(
                "Spark did not split the skewed partitions of {join}, because {operator} would then need another shuffle: from \
                 Spark 3.3 on, {FORCE}=true splits them all the same"
            )
            .into(),
            Self::NeededAbove { join, operator, .. } => {
                let from = app.conf.raw(FORCE);
                let set = SettingChange { setting: FORCE.to_owned(), from, to: "true".to_owned() };
                let why = format!(
                    "let Spark split the skewed partitions of {join}, although {operator} then needs another shuffle"
                );
                Advice::new(why).set([set])
            }
        }
    }
}

/// What to do about a side that the type of a join keeps whole.
fn other_type(kind: &str, side: Side) -> &'static str {
    match (kind, side) {
        ("FullOuter", _) => {
            "divide it into an inner join and the rows of each side without a match (left_anti), or add a random salt to the \
             most frequent keys"
        }
        ("LeftOuter" | "LeftSemi" | "LeftAnti", Side::Right) | ("RightOuter", Side::Left) => {
            "remove rows and keys that are not needed from it before the join, or add a random salt to the most frequent keys"
        }
        _ => "use an inner join if the result allows it, or add a random salt to the most frequent keys",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_joins_decide_which_side_may_be_split() {
        for (text, kind, left, right) in [
            ("SortMergeJoin [k#1], [k#2], Inner", "Inner", true, true),
            ("SortMergeJoin [k#1], [k#2], LeftOuter, (a#1 < b#2)", "LeftOuter", true, false),
            ("SortMergeJoin [k#1], [k#2], RightOuter", "RightOuter", false, true),
            ("SortMergeJoin [k#1], [k#2], FullOuter", "FullOuter", false, false),
            ("ShuffledHashJoin [k#1], [k#2], LeftSemi, BuildRight", "LeftSemi", true, false),
        ] {
            assert_eq!(type_of(text), kind);
            assert_eq!(
                (may_be_split(kind, Side::Left), may_be_split(kind, Side::Right)),
                (left, right),
                "{text}"
            );
        }
        assert_eq!(type_of("SortMergeJoin [k#1"), "");
    }

    #[test]
    fn every_obstacle_names_what_lifts_it() {
        let app = elephant_sample::app(&[]);
        let join = || "SortMergeJoin on k".to_owned();
        let operator = || "Window by k".to_owned();
        for (obstacle, expected) in [
            (Obstacle::Repartitioned { join: join() }, "leave it out before the join"),
            (Obstacle::Between { join: join(), operator: operator() }, "do it before that shuffle"),
            (Obstacle::NotShuffled { join: join() }, "use more buckets"),
            (Obstacle::Type { join: join(), kind: "FullOuter".to_owned(), side: Side::Left }, "left_anti"),
            (Obstacle::OneWriter { join: join() }, "with more tasks"),
            (
                Obstacle::NeededAbove { join: join(), operator: operator(), forces: false },
                "from Spark 3.3 on",
            ),
            (
                Obstacle::NeededAbove { join: join(), operator: operator(), forces: true },
                "--conf spark.sql.adaptive.force",
            ),
        ] {
            let text = obstacle.advice(&app).text;
            assert!(text.contains("SortMergeJoin on k") && text.contains(expected), "{text}");
        }
    }
}
