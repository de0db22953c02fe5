//! Texts of physical plans: operators, functions, types and the words of Spark stay; names and literals do not.
//!
//! Every sign that is no letter and no digit stays, so lists, conditions and attributes are found in the result where they are
//! in the original.

use crate::mask::Mask;
use crate::pseudonyms::Kind;
use crate::vocabulary::is_known;

const TYPES: [&str; 24] = [
    "bigint",
    "int",
    "integer",
    "smallint",
    "tinyint",
    "float",
    "double",
    "decimal",
    "string",
    "boolean",
    "binary",
    "date",
    "timestamp",
    "timestamp_ntz",
    "interval",
    "void",
    "char",
    "varchar",
    "array",
    "map",
    "struct",
    "long",
    "short",
    "byte",
];

/// Words of Spark in small letters, and formats.
const WORDS: [&str; 46] = [
    "true",
    "false",
    "null",
    "more",
    "fields",
    "as",
    "end",
    "at",
    "hash",
    "id",
    "codegen",
    "and",
    "parquet",
    "orc",
    "csv",
    "json",
    "text",
    "jdbc",
    "delta",
    "iceberg",
    "avro",
    "hive",
    "kafka",
    "rate",
    "memory",
    "console",
    "binaryFile",
    "xml",
    "noop",
    "local",
    "coalesced",
    "skewed",
    "empty",
    "first",
    "last",
    "partial",
    "paths",
    "unknown",
    "result",
    "output",
    "initial",
    "plan",
    "runId",
    "file",
    "isFinalPlan",
    "columnar",
];

/// Words in capitals or with one.
const CAPITALS: [&str; 26] = [
    "AND",
    "OR",
    "NOT",
    "IN",
    "AS",
    "ASC",
    "DESC",
    "NULLS",
    "FIRST",
    "LAST",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "LIKE",
    "RLIKE",
    "INSET",
    "IS",
    "NULL",
    "Inner",
    "LeftOuter",
    "RightOuter",
    "FullOuter",
    "LeftSemi",
    "LeftAnti",
];

/// Columns that describe files, not data (`FileFormat.METADATA_NAME`); rules know them by name.
const OF_FILES: [&str; 9] = [
    "_metadata",
    "file_path",
    "file_name",
    "file_size",
    "file_block_start",
    "file_block_length",
    "file_modification_time",
    "_groupingid",
    "spark_grouping_id",
];

/// What stands before numbers of Spark's own.
const BEFORE_NUMBERS: [&str; 18] = [
    "#",
    "id=",
    "plan_id=",
    "step=",
    "splits=",
    "numPartitions=",
    "*(",
    "^(",
    "WholeStageCodegen (",
    "Limit ",
    "limit=",
    "LIMIT ",
    "count(",
    "sum(",
    "codegen id : ",
    "Output [",
    "Input [",
    "Results [",
];

impl Mask {
    /// The replacement of a text of a plan, or of the name of an operator or an RDD.
    pub(crate) fn plan(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        while let Some((before, rest)) = text.split_at_checked(at) {
            let Some(first) = rest.chars().next() else { break };
            let len = if let Some(len) = path_len(before, rest) {
                let path = rest.get(..len).unwrap_or_default();
                out.push_str(&self.path(path));
                len
            } else if is_of_name(first) {
                let len = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
                let (word, after) = rest.split_at(len);
                out.push_str(&self.word_of_plan(word, before, after));
                len
            } else {
                out.push(first);
                first.len_utf8()
            };
            at += len;
        }
        out
    }

    fn word_of_plan(&mut self, word: &str, before: &str, after: &str) -> String {
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            return if is_of_spark(word, before, after) { word.to_owned() } else { self.digits(word) };
        }
        let is_kept = if after.starts_with('#') {
            OF_FILES.contains(&word) || is_python_result(word)
        } else if is_field(after) {
            false
        } else if TYPES.contains(&word)
            || WORDS.contains(&word)
            || CAPITALS.contains(&word)
            || is_line_of_id(word, before)
        {
            true
        } else if after.starts_with(['(', '=']) || word.starts_with(|c: char| c.is_ascii_uppercase()) {
            is_known(word) || word.len() == 1 && after.starts_with('=')
        } else {
            matches!(word, "L") && before.ends_with(|c: char| c.is_ascii_digit())
        };
        if is_kept { word.to_owned() } else { self.name(Kind::Name, word) }
    }
}

/// A number of an attribute: `12L` after `#`.
fn is_line_of_id(word: &str, before: &str) -> bool {
    before.ends_with('#')
        && word.strip_suffix('L').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
        || before.ends_with('#') && word.len() <= 6 && word.starts_with('x')
}

/// `pythonUDF0`: what Spark calls the result of a Python function.
fn is_python_result(word: &str) -> bool {
    word.strip_prefix("pythonUDF").is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a word is the name of a field in a type: `id` of `struct<id:bigint>`.
fn is_field(after: &str) -> bool {
    let mut signs = after.chars();
    signs.next() == Some(':') && signs.next().is_some_and(|c| c.is_ascii_alphabetic())
}

/// Whether a number is one of Spark's own: of an expression, a pipeline, a plan, partitions, a limit. Others are literals.
fn is_of_spark(number: &str, before: &str, after: &str) -> bool {
    if number.len() > 9 {
        return false;
    }
    if BEFORE_NUMBERS.iter().any(|start| before.ends_with(start)) || after.starts_with(" more field") {
        return true;
    }
    // "(12) Scan" and "12" in a tree of plans.
    if before.trim_end_matches('(').ends_with('\n') || before.trim_end_matches('(').is_empty() {
        return true;
    }
    // The nearest call: of "decimal(38,18)" or "hashpartitioning(a#1, 200)". Its arguments are short.
    let start = before.len().saturating_sub(4096);
    let near = (start..=before.len()).find_map(|at| before.get(at..)).unwrap_or_default();
    let call = near.rsplit_once('(').map(|(call, _)| call).unwrap_or_default();
    let is_type = ["decimal", "char"].iter().any(|name| call.to_ascii_lowercase().ends_with(name));
    let is_last = before.ends_with(", ") && after.starts_with(')') || before.ends_with('(');
    is_type || is_last && near.contains("artitioning(")
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()
}

/// The length of the path or URL that starts here.
fn path_len(before: &str, rest: &str) -> Option<usize> {
    let is_start =
        before.is_empty() || before.ends_with(|c: char| c.is_ascii_whitespace() || "[(,=<".contains(c));
    if !is_start {
        return None;
    }
    let head = rest.get(..16).unwrap_or(rest);
    let is_absolute = rest.starts_with('/') && rest.chars().nth(1).is_some_and(is_of_name);
    let scheme = head.split_once(":/").map(|(scheme, _)| scheme).unwrap_or_default();
    let is_url = !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric());
    let end = || rest.find(|c: char| c.is_ascii_whitespace() || ",[]()<>".contains(c)).unwrap_or(rest.len());
    (is_absolute || is_url).then(end)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{mask, shape};

    #[test]
    fn plans_keep_operators_and_lose_names() {
        for (plan, expected) in [
            ("Scan parquet hr.staff", "Scan parquet name_*.name_*"),
            ("WholeStageCodegen (12)", "WholeStageCodegen (12)"),
            (
                "SortMergeJoin(skew=true) [id#12L], [id#3], Inner",
                "SortMergeJoin(skew=true) [name_*#12L], [name_*#3], Inner",
            ),
            (
                "Exchange hashpartitioning(name#4, 200), ENSURE_REQUIREMENTS, [plan_id=12]",
                "Exchange hashpartitioning(name_*#4, 200), ENSURE_REQUIREMENTS, [plan_id=12]",
            ),
            (
                "Filter (isnotnull(day#1) AND (day#1 = Alice))",
                "Filter (isnotnull(name_*#1) AND (name_*#1 = Name_*))",
            ),
            (
                "BatchEvalPython [pay(day#3)#8], [pythonUDF0#11]",
                "BatchEvalPython [name_*(name_*#3)#8], [pythonUDF0#11]",
            ),
            (
                "struct<id:bigint,v:array<struct<a:int>>>",
                "struct<name_*:bigint,name_*:array<struct<name_*:int>>>",
            ),
            ("InMemoryFileIndex[hdfs://nn/user/bob]", "InMemoryFileIndex[hdfs://host-*/user/user-*]"),
            ("CollectLimit 21", "CollectLimit 21"),
            ("MapPartitionsRDD", "MapPartitionsRDD"),
            ("Execute InsertIntoHadoopFsRelationCommand", "Execute InsertIntoHadoopFsRelationCommand"),
            (
                "HashAggregate(keys=[id#1], functions=[count(1)])",
                "HashAggregate(keys=[name_*#1], functions=[count(1)])",
            ),
        ] {
            assert_eq!(shape(&mask().plan(plan)), expected);
        }
    }

    #[test]
    fn a_column_has_one_name_in_all_texts() {
        let mut mask = mask();
        let attribute = mask.plan("[Id#3]");
        let field = mask.plan("struct<id:bigint>");
        let (attribute, field) = (attribute.trim_matches(['[', ']']), field.trim_start_matches("struct<"));
        let (attribute, field) = (attribute.split('#').next().unwrap(), field.split(':').next().unwrap());
        assert!(attribute.eq_ignore_ascii_case(field), "{attribute} {field}");
        assert!(!mask.plan("(pay#1 > 4711)").contains("4711"));
    }
}
