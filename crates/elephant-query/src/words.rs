//! Names of queries, operators and sources, short enough for a sentence.

use std::ops::Range;

use crate::plan_text;
use crate::query::{PlacedOperator, Query};
use elephant_model::engine_facts::spark::CALL_THROUGH_REFLECTION;
use elephant_model::model::spark::{OperatorKind, SqlExecution};

/// Maximum length of a name, in characters.
const MAX_LEN: usize = 60;

/// Tags that Spark itself gives to the jobs of a session or an operation.
const OF_SPARK: [&str; 3] = ["spark-session-", "SparkConnect_", "spark-job-tag-"];

/// "query 12 "daily import"", or "query 12" if only the call through Python is known.
#[must_use]
pub fn name_of_query(execution: &SqlExecution) -> String {
    let told = execution.description.as_deref().filter(|told| !told.contains(CALL_THROUGH_REFLECTION));
    let is_own = |tag: &&str| !OF_SPARK.iter().any(|start| tag.starts_with(start));
    let told = told.or_else(|| execution.tags.iter().map(String::as_str).find(is_own)).map(first_line);
    match told.filter(|told| !told.is_empty()) {
        Some(told) if told.contains(" at ") => format!("query {} ({})", execution.id, shortened(told)),
        Some(told) => format!("query {} \"{}\"", execution.id, shortened(told)),
        None => format!("query {}", execution.id),
    }
}

/// "query 12 "daily import"", or "query 12" if only a call site is known.
#[must_use]
pub fn short_name_of_query(execution: &SqlExecution) -> String {
    let told = execution.description.as_deref().map(first_line);
    let is_own = |told: &&str| !told.is_empty() && !told.contains(" at ");
    match told.filter(is_own) {
        Some(told) => format!("query {} \"{}\"", execution.id, shortened(told)),
        None => format!("query {}", execution.id),
    }
}

/// An operator with what it works on: "`SortMergeJoin` on k", "`BatchEvalPython` of slow", "Scan parquet default.sales".
#[must_use]
pub fn name_of_operator(operator: &PlacedOperator<'_>) -> String {
    let name = operator.name.split(" (").next().unwrap_or(operator.name);
    let name = name.split("(skew").next().unwrap_or(name);
    let lists = lists(operator.text);
    match operator.kind {
        OperatorKind::Join(_) => match lists.first().filter(|keys| !keys.is_empty()) {
            Some(keys) => format!("{name} on {}", shortened(keys)),
            None => name.to_owned(),
        },
        OperatorKind::Python => match lists.first().and_then(|calls| functions(calls)) {
            Some(called) => format!("{name} of {}", shortened(&called)),
            None => name.to_owned(),
        },
        OperatorKind::Aggregate | OperatorKind::Window | OperatorKind::Sort => {
            // "Window [functions], [keys], [order]"; "WindowGroupLimit [keys], [order], …".
            let place = usize::from(name == "Window");
            match lists.get(place).filter(|keys| !keys.is_empty()) {
                Some(keys) => {
                    format!("{name} by {}", shortened(&without_usual_order(&without_aliases(keys))))
                }
                None => name.to_owned(),
            }
        }
        _ => shortened(name),
    }
}

/// Where a scan reads, or a query writes: its table, its path, or the name of its node.
#[must_use]
pub fn name_of_source(operator: &PlacedOperator<'_>) -> String {
    // "Scan JDBCRelation(orders) [numPartitions=1]".
    if let Some((_, relation)) = operator.name.split_once("JDBCRelation(") {
        return shortened(relation.split(')').next().unwrap_or(relation));
    }
    let mut words = operator.name.split_whitespace().skip(1);
    let (format, table) = (words.next(), words.next());
    if let Some(table) = table.filter(|table| !table.starts_with('(')) {
        return shortened(table);
    }
    let path = operator.fact("Location").and_then(|told| told.split_once('[')).map(|(_, paths)| paths);
    let path = path.and_then(|paths| paths.split([',', ']']).next()).filter(|path| !path.is_empty());
    match (path, format) {
        (Some(path), _) => shortened_start(path),
        (None, Some(format)) => shortened(format),
        (None, None) => shortened(operator.name),
    }
}

/// The scans that feed an operator, by index.
#[must_use]
pub fn sources_below(query: &Query<'_>, operator: usize) -> Vec<usize> {
    let is_scan = |place: &usize| {
        query
            .operators
            .get(*place)
            .is_some_and(|other| matches!(other.kind, OperatorKind::Scan | OperatorKind::CachedScan))
    };
    below(query, operator).filter(is_scan).collect()
}

/// An operator and all that feed it, by index: each operator of a plan is followed by all below it.
#[must_use]
pub fn below(query: &Query<'_>, operator: usize) -> Range<usize> {
    let after = query.operators.get(operator + 1..).unwrap_or_default().iter();
    let fed = after.take_while(|other| other.parent.is_some_and(|parent| parent >= operator));
    operator..operator + 1 + fed.count()
}

/// The same without subqueries: their rows are no input, but choose what the operators above them keep or read.
pub fn feeding<'q>(query: &'q Query<'_>, operator: usize) -> impl Iterator<Item = usize> + 'q {
    let mut end_of_subquery = 0;
    below(query, operator).filter(move |&place| {
        let is_subquery = query.operators.get(place).is_some_and(PlacedOperator::is_subquery);
        if place >= end_of_subquery && place != operator && is_subquery {
            end_of_subquery = below(query, place).end;
        }
        place >= end_of_subquery
    })
}

/// A text without the numbers of expressions (`c_id#12L`) and plans, which differ from run to run.
#[must_use]
pub fn without_numbers(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('#') {
        let (before, after) = rest.split_at(at);
        plain.push_str(before);
        let after = after.get(1..).unwrap_or_default();
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let after = after.get(digits..).unwrap_or_default();
        rest = if digits > 0 { after.strip_prefix('L').unwrap_or(after) } else { after };
    }
    plain.push_str(rest);
    plain
}

/// The contents of the lists in brackets of a text, without numbers of expressions.
fn lists(text: &str) -> Vec<String> {
    plan_text::lists(text).into_iter().map(without_numbers).collect()
}

/// "a AS b, c" is "a, c".
fn without_aliases(keys: &str) -> String {
    let plain = keys.split(", ").map(|key| key.split(" AS ").next().unwrap_or(key));
    plain.collect::<Vec<_>>().join(", ")
}

/// Keys of a sort without the order that Spark takes if none is named.
fn without_usual_order(keys: &str) -> String {
    keys.replace(" ASC NULLS FIRST", "").replace(" DESC NULLS LAST", " DESC")
}

/// The names of the functions in a list of calls: "slow(id), fast(id)" is "slow, fast".
fn functions(calls: &str) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for call in plan_text::items(calls) {
        let name = call.split('(').next().map(str::trim).filter(|name| !name.is_empty())?;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Some(names.join(", "))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim()
}

/// The start of a text.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_LEN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The end of a path, which says most.
fn shortened_start(path: &str) -> String {
    let count = path.chars().count();
    match count.checked_sub(MAX_LEN).filter(|over| *over > 0) {
        Some(over) => format!("…{}", path.chars().skip(over).collect::<String>()),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Queries;
    use crate::sample::{self, Node};

    fn operator<'a>(name: &'a str, text: &'a str) -> PlacedOperator<'a> {
        PlacedOperator {
            name,
            text,
            kind: OperatorKind::of(name),
            parent: None,
            repeats: None,
            is_last: true,
            is_placed_by_value: false,
            stages: Vec::new(),
            values: Vec::new(),
            facts: Vec::new(),
        }
    }

    #[test]
    fn operators_are_named_with_what_they_work_on() {
        for (name, text, expected) in [
            (
                "SortMergeJoin(skew=true)",
                "SortMergeJoin(skew=true) [c_id#12L], [id#3], Inner",
                "SortMergeJoin on c_id",
            ),
            (
                "BroadcastNestedLoopJoin",
                "BroadcastNestedLoopJoin BuildRight, Inner, (a#1 < b#2)",
                "BroadcastNestedLoopJoin",
            ),
            (
                "BatchEvalPython",
                "BatchEvalPython [slow(id#0L)#3L, f(x#1)#4], [pythonUDF0#11L]",
                "BatchEvalPython of slow, f",
            ),
            (
                "BatchEvalPython",
                "BatchEvalPython [f(sha2(cast(id#0L as string), 256))#7L], [x#9L]",
                "BatchEvalPython of f",
            ),
            ("HashAggregate", "HashAggregate(keys=[k#1L], functions=[sum(u#4L)])", "HashAggregate by k"),
            ("HashAggregate", "HashAggregate(keys=[], functions=[count(1)])", "HashAggregate"),
            ("Exchange", "Exchange hashpartitioning(k#1L, 8)", "Exchange"),
            ("Sort", "Sort [v#1 ASC NULLS FIRST, w#2 DESC NULLS LAST], true, 0", "Sort by v, w DESC"),
            ("Window", "Window [rank(v#1) AS r#4], [k#2], [v#1 ASC NULLS FIRST]", "Window by k"),
            ("Window", "Window [rank(v#1) AS r#4], [v#1 ASC NULLS FIRST]", "Window by v"),
        ] {
            assert_eq!(name_of_operator(&operator(name, text)), expected);
        }
    }

    #[test]
    fn sources_are_tables_or_paths() {
        assert_eq!(name_of_source(&operator("Scan parquet default.sales", "")), "default.sales");
        let mut of_path = operator("Scan parquet", "");
        of_path.facts = vec![("Location", "InMemoryFileIndex(1 paths)[file:/data/in]")];
        assert_eq!(name_of_source(&of_path), "file:/data/in");
        assert_eq!(name_of_source(&operator("Scan JDBCRelation(orders) [numPartitions=1]", "")), "orders");
    }

    #[test]
    fn queries_from_python_have_no_call() {
        let mut execution = SqlExecution::new(4);
        execution.description = Some("save at NativeMethodAccessorImpl.java:0".to_owned());
        assert_eq!(name_of_query(&execution), "query 4");
        execution.tags = vec!["spark-session-1-execution-root-id-2".to_owned(), "nightly".to_owned()];
        assert_eq!(name_of_query(&execution), "query 4 \"nightly\"");
        execution.description = Some("save at App.scala:12".to_owned());
        assert_eq!(name_of_query(&execution), "query 4 (save at App.scala:12)");
    }

    #[test]
    fn subqueries_feed_no_operator() {
        let keys = Node::of("SubqueryBroadcast").above(Node::of("BroadcastExchange"));
        let again = Node::of("ReusedSubquery").above(Node::of("Subquery"));
        let scan = Node::of("Scan parquet default.sales").above(keys);
        let filter = Node::of("Filter").above(scan).above(again);
        let (mut app, spark) =
            sample::query(Node::of("Union").above(filter).above(Node::of("Range")), &[], 0);
        app.spark = Some(Box::new(spark));
        let queries = Queries::of(&app).unwrap();
        let query = queries.iter().next().unwrap();
        assert_eq!(feeding(&query, 0).collect::<Vec<_>>(), [0, 1, 2, 7]);
        assert_eq!(feeding(&query, 1).collect::<Vec<_>>(), [1, 2]);
        // Of a subquery itself, all is wanted.
        assert_eq!(feeding(&query, 3).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(below(&query, 1), 1..7);
    }

    #[test]
    fn numbers_of_expressions_are_left_out() {
        assert_eq!(without_numbers("c_id#12L, a#3 # b#"), "c_id, a  b");
    }
}
