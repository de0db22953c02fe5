//! Partitions of tables and folders: which of its columns a scan takes from their names, and which condition above it
//! should have chosen partitions but did not.
//!
//! Spark chooses partitions before it reads, by the conditions that need columns of partitions alone and that it can
//! evaluate itself (`FileSourceStrategy`, `DataSourceUtils.getPartitionFiltersAndDataFilters`). It takes these out of the
//! filter above the scan. So a condition there that names a column of partitions has not chosen any.

use crate::dynamic_pruning::is_given_up;
use crate::plan_text::{
    arguments, attributes, conjuncts, fields, first_list, items, lists, mentions, renamed, sides,
};
use crate::query::{PlacedOperator, Query};
use crate::words::{shortened, without_numbers};
use elephant_model::model::spark::OperatorKind;

/// Columns that describe files, not partitions (`FileFormat.METADATA_NAME` and its fields).
const OF_FILES: [&str; 7] = [
    "_metadata",
    "file_path",
    "file_name",
    "file_size",
    "file_block_start",
    "file_block_length",
    "file_modification_time",
];

/// Why a condition on a column of partitions does not choose partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WhyUnpruned {
    /// A function in Python computes it, which runs in tasks.
    Python,
    /// It also needs columns of the files.
    OtherColumns,
    /// Spark does not evaluate it in advance, for instance because its result may differ from call to call.
    NotEvaluated,
}

/// A condition on columns of partitions that is evaluated only after reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpruned {
    /// The filter with the condition, as an index into [`Query::operators`].
    pub filter: usize,
    /// The condition, without numbers of expressions.
    pub condition: String,
    /// The columns of partitions that it needs.
    pub columns: Vec<String>,
    /// Why it chooses nothing.
    pub why: WhyUnpruned,
}

/// The columns that a scan returns and does not read from files: those of partitions, as the plan names them ("day#12").
#[must_use]
pub fn partition_columns<'a>(scan: &PlacedOperator<'a>) -> Vec<&'a str> {
    let Some(read) = scan.fact("ReadSchema").and_then(fields) else { return Vec::new() };
    let Some(returned) = first_list(scan.text) else { return Vec::new() };
    let is_of_partition = |column: &&str| {
        let Some((name, number)) = column.rsplit_once('#') else { return false };
        let is_whole = number.trim_end_matches('L').bytes().all(|digit| digit.is_ascii_digit());
        let is_known = |known: &str| known.eq_ignore_ascii_case(name);
        is_whole && !read.iter().any(|field| is_known(field)) && !OF_FILES.iter().any(|field| is_known(field))
    };
    items(returned).into_iter().filter(is_of_partition).collect()
}

/// Whether conditions chose the partitions that a scan read. That a column has a value chooses nothing.
#[must_use]
pub fn chooses_partitions(scan: &PlacedOperator<'_>) -> bool {
    let told = scan.fact("PartitionFilters").map(|told| told.trim_start_matches('[').trim_end_matches(']'));
    let chooses = |filter: &&str| !filter.is_empty() && !is_not_null(filter) && !is_given_up(filter);
    told.is_some_and(|filters| items(filters).iter().any(chooses))
}

/// The condition that should choose the partitions of a scan, but is evaluated after reading; the first one above the
/// scan. `None` if no condition needs a column of partitions, or if none could choose by it.
#[must_use]
pub fn unpruned(query: &Query<'_>, scan: usize) -> Option<Unpruned> {
    let mut derived = Derived::of(query.operators.get(scan)?)?;
    let mut place = query.operators.get(scan)?.parent;
    while let Some((at, operator)) = place.and_then(|at| Some((at, query.operators.get(at)?))) {
        match operator.kind {
            OperatorKind::Pipeline | OperatorKind::Reference | OperatorKind::Transition => {}
            OperatorKind::Project => derived.add_project(operator.text),
            OperatorKind::Python => derived.add_python(operator.text),
            OperatorKind::Filter => {
                if let Some(found) = derived.unpruned(at, operator.text) {
                    return Some(found);
                }
            }
            // Above these, a condition may need rows of other partitions.
            _ => return None,
        }
        place = operator.parent;
    }
    None
}

/// The nearest filter above a scan, and its conditions without numbers of expressions; `None` if rows are moved, joined or
/// grouped before, or if it only asks for values that are not null.
#[must_use]
pub fn filter_above(query: &Query<'_>, scan: usize) -> Option<(usize, String)> {
    let mut place = query.operators.get(scan)?.parent;
    while let Some((at, operator)) = place.and_then(|at| Some((at, query.operators.get(at)?))) {
        match operator.kind {
            OperatorKind::Pipeline
            | OperatorKind::Reference
            | OperatorKind::Transition
            | OperatorKind::Project
            | OperatorKind::Python => {}
            OperatorKind::Filter => {
                let all = conditions(operator.text).into_iter().filter(|condition| !is_not_null(condition));
                let all = all.map(without_numbers).collect::<Vec<_>>().join(" AND ");
                return (!all.is_empty()).then(|| (at, shortened(&all)));
            }
            _ => return None,
        }
        place = operator.parent;
    }
    None
}

/// An expression that is computed from columns of partitions.
struct Expression {
    /// As plans name it: "day#12", or "pythonUDF0#20".
    name: String,
    /// What it stands for: "day", or "month(day)".
    text: String,
    /// The columns of partitions.
    columns: Vec<String>,
    is_of_python: bool,
}

/// The expressions that are computed from columns of partitions, on the way up from a scan.
struct Derived(Vec<Expression>);

impl Derived {
    fn of(scan: &PlacedOperator<'_>) -> Option<Self> {
        let columns = partition_columns(scan);
        let known = columns.iter().map(|column| Expression {
            name: (*column).to_owned(),
            text: without_numbers(column),
            columns: vec![without_numbers(column)],
            is_of_python: false,
        });
        (!columns.is_empty()).then(|| Self(known.collect()))
    }

    /// The expressions that a text needs.
    fn needed<'s>(&'s self, text: &'s str) -> impl Iterator<Item = &'s Expression> {
        self.0.iter().filter(move |expression| mentions(text, &expression.name))
    }

    fn add(&mut self, name: &str, text: &str, calls_python: bool) {
        let mut columns: Vec<String> = Vec::new();
        for column in self.needed(text).flat_map(|expression| &expression.columns) {
            if !columns.contains(column) {
                columns.push(column.clone());
            }
        }
        if columns.is_empty() {
            return;
        }
        let is_of_python = calls_python || self.needed(text).any(|expression| expression.is_of_python);
        let text = self.spelled_out(text);
        self.0.push(Expression { name: name.to_owned(), text, columns, is_of_python });
    }

    /// "`Project [id#1, substr(day#3, 1, 7) AS month#9]`".
    fn add_project(&mut self, text: &str) {
        for item in first_list(text).map(items).unwrap_or_default() {
            if let Some((expression, name)) = item.rsplit_once(" AS ") {
                self.add(name, expression, false);
            }
        }
    }

    /// "`BatchEvalPython [month(day#3)#8], [pythonUDF0#11]`".
    fn add_python(&mut self, text: &str) {
        let lists = lists(text);
        let [calls, results, ..] = lists.as_slice() else { return };
        for (call, result) in items(calls).into_iter().zip(items(results)) {
            self.add(result, call, true);
        }
    }

    /// A text with names that tell something, and without numbers of expressions.
    fn spelled_out(&self, text: &str) -> String {
        let computed =
            self.0.iter().filter(|expression| without_numbers(&expression.name) != expression.text);
        let plain = computed
            .fold(text.to_owned(), |text, expression| renamed(&text, &expression.name, &expression.text));
        without_numbers(&plain)
    }

    fn unpruned(&self, filter: usize, text: &str) -> Option<Unpruned> {
        let condition = conditions(text).into_iter().find(|condition| self.could_choose(condition))?;
        let needed: Vec<&Expression> = self.needed(condition).collect();
        let why = if needed.iter().any(|expression| expression.is_of_python) {
            WhyUnpruned::Python
        } else if self.needs_others(condition) {
            WhyUnpruned::OtherColumns
        } else {
            WhyUnpruned::NotEvaluated
        };
        let mut columns: Vec<String> =
            needed.iter().flat_map(|expression| expression.columns.clone()).collect();
        columns.sort();
        columns.dedup();
        Some(Unpruned { filter, condition: shortened(&self.spelled_out(condition)), columns, why })
    }

    /// Whether a condition says something about columns of partitions that a condition on them alone could say, too: it
    /// compares them with a value. One that compares them with other columns, or that holds for other rows as well (OR),
    /// needs all partitions.
    fn could_choose(&self, condition: &str) -> bool {
        let needs = |text: &str| self.needed(text).next().is_some();
        if !needs(condition) || is_not_null(condition) || condition.contains(" OR ") {
            return false;
        }
        match sides(condition) {
            Some((left, right)) => {
                (needs(left) && attributes(right).is_empty()) || (needs(right) && attributes(left).is_empty())
            }
            None if self.needs_others(condition) => {
                arguments(condition).into_iter().any(|argument| attributes(argument).is_empty())
            }
            None => true,
        }
    }

    /// Whether a text needs columns that do not come from those of partitions.
    fn needs_others(&self, text: &str) -> bool {
        attributes(text).iter().any(|attribute| !self.0.iter().any(|known| known.name == *attribute))
    }
}

/// The conditions of a filter ("`Filter (isnotnull(a#1) AND (b#2 > 3))`") that must all hold.
fn conditions(text: &str) -> Vec<&str> {
    text.split_once(' ').map(|(_, condition)| conjuncts(condition)).unwrap_or_default()
}

fn is_not_null(condition: &str) -> bool {
    condition.trim_start_matches('(').starts_with("isnotnull(")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Queries;
    use crate::sample::{self, Node};

    const SCAN: &str =
        "FileScan parquet [id#1L,v#2,day#3] Batched: true, ReadSchema: struct<id:bigint,v:string>";

    fn scan() -> Node {
        Node::text("Scan parquet ", SCAN)
            .with_fact("ReadSchema", "struct<id:bigint,v:array<struct<a:int,b:int>>>")
    }

    /// What is found above the scan with these operators, from the top down.
    fn found(above: &[(&'static str, &str)]) -> Option<Unpruned> {
        let plan = above.iter().rev().fold(scan(), |below, (name, text)| Node::text(name, text).above(below));
        let (mut app, spark) = sample::query(plan, &[], 0);
        app.spark = Some(Box::new(spark));
        let queries = Queries::of(&app).unwrap();
        let query = queries.iter().next().unwrap();
        unpruned(&query, query.operators.len() - 1)
    }

    fn why(filter: &str) -> Option<WhyUnpruned> {
        found(&[("Filter", &format!("Filter {filter}"))]).map(|found| found.why)
    }

    #[test]
    fn columns_that_are_not_read_from_files_are_those_of_partitions() {
        let (mut app, spark) = sample::query(scan(), &[], 0);
        app.spark = Some(Box::new(spark));
        let queries = Queries::of(&app).unwrap();
        let query = queries.iter().next().unwrap();
        assert_eq!(partition_columns(&query.operators[0]), ["day#3"]);
    }

    #[test]
    fn a_condition_on_partitions_with_other_columns_chooses_none() {
        use WhyUnpruned::{NotEvaluated, OtherColumns};
        assert_eq!(why("(isnotnull(day#3) AND (concat(day#3, v#2) >= 2026-01-03))"), Some(OtherColumns));
        assert_eq!(why("StartsWith(concat(day#3, v#2), 2026)"), Some(OtherColumns));
        assert_eq!(why("((rand(5) < 0.5) AND (normalized(day#3) = 2026-01-03))"), Some(NotEvaluated));
    }

    #[test]
    fn conditions_that_need_all_partitions_are_left_out() {
        for filter in [
            "isnotnull(day#3)",
            "(v#2 = 5)",
            "(day#3 = cast(v#2 as date))",
            "Contains(v#2, day#3)",
            "((day#3 = 2026-01-03) OR (v#2 = 5))",
            "(isnotnull(v#2) AND (id#31L > 5))",
        ] {
            assert_eq!(why(filter), None, "{filter}");
        }
        let aggregate = ("HashAggregate", "HashAggregate(keys=[day#3], functions=[])");
        assert_eq!(found(&[("Filter", "Filter (f(day#3) = 3)"), aggregate]), None);
    }

    #[test]
    fn functions_in_python_are_followed_from_the_scan_to_the_filter() {
        let python =
            ("BatchEvalPython", "BatchEvalPython [month(day#3)#8, f(v#2)#9], [pythonUDF0#20, pythonUDF1#21]");
        let found = found(&[("Filter", "Filter (pythonUDF0#20 = 2026-01)"), python]).unwrap();
        assert_eq!(found.why, WhyUnpruned::Python);
        assert_eq!(found.condition, "(month(day) = 2026-01)");
        assert_eq!(found.columns, ["day"]);
        assert_eq!(found.filter, 0);
    }

    #[test]
    fn names_of_computed_columns_are_spelled_out() {
        let project = ("Project", "Project [id#1L, substring(day#3, 1, 7) AS month#9]");
        let found = found(&[("Filter", "Filter (concat(month#9, v#2) = 2026-01a)"), project]).unwrap();
        assert_eq!(found.condition, "(concat(substring(day, 1, 7), v) = 2026-01a)");
    }

    #[test]
    fn that_a_column_has_a_value_chooses_nothing() {
        let of = |filters: &'static str| {
            let (mut app, spark) = sample::query(scan().with_fact("PartitionFilters", filters), &[], 0);
            app.spark = Some(Box::new(spark));
            let queries = Queries::of(&app).unwrap();
            let query = queries.iter().next().unwrap();
            chooses_partitions(&query.operators[0])
        };
        assert!(!of("[]") && !of("[isnotnull(day#3)]"));
        assert!(of("[isnotnull(day#3), (day#3 = 2026-01-03)]"));
        assert!(of("[dynamicpruningexpression(day#3 IN dynamicpruning#9)]"));
        // The optimiser found nothing to reuse, and gave up.
        assert!(!of("[isnotnull(day#3), dynamicpruningexpression(true)]"));
    }
}
