//! The words that may stay: those that Spark, Hadoop, the JVM and SQL engines use themselves.
//!
//! `vocabulary/words.txt` holds single words in lower case. They were taken from the names and texts in the class files of
//! Spark 3.5, Hadoop 3.3 and Hive 2.3, as far as public histories contain them, and from the tables of this program. A name
//! such as `ShuffleExchangeExec` is known if all its words are.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use elephant_model::diagnosis::{exit_code_marks, signature_strings};

static WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("../vocabulary/words.txt").split_whitespace().collect());

/// Source files of Spark, Hadoop, Scala and the JDK in call sites and stack traces, without their suffixes.
static FILES: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("../vocabulary/files.txt").split_whitespace().collect());

/// Packages whose classes are no secret, as far as their words are known.
const PACKAGES: [&str; 15] = [
    "org.apache.",
    "java.",
    "javax.",
    "scala.",
    "sun.",
    "jdk.",
    "com.sun.",
    "py4j.",
    "io.netty.",
    "org.codehaus.janino.",
    "com.esotericsoftware.",
    "com.databricks.",
    "com.nvidia.spark.",
    "org.sparkproject.",
    "numpy.",
];

/// The longest word that can be known.
const LONGEST: usize = 120;

/// More numbers than these in a name are an address, a telephone number, a number of a person.
const MOST_NUMBERS: usize = 2;

/// Parts of the classes of jobs by which their tools and inputs are known (`elephant_model::model::JobTool`).
const OF_CLASSES: [&str; 18] = [
    "OozieLauncherInputFormat",
    "oozie.action.hadoop.LauncherMapper",
    "templeton.tool.LaunchMapper",
    ".sqoop.",
    "org.apache.hadoop.tools.mapred.",
    "org.apache.hadoop.tools.DistCp",
    "org.apache.hadoop.hive.",
    "org.apache.pig.",
    "org.apache.hadoop.streaming.",
    "voldemort.store.readonly.mr.",
    "DBInputFormat",
    "TableInputFormat",
    "TableSnapshotInputFormat",
    "KafkaInputFormat",
    "EtlInputFormat",
    "NLineInputFormat",
    "CombineFileInputFormat",
    "CombineHiveInputFormat",
];

/// Whether all words of a name are known: `numOutputRows`, `FILE_BYTES_READ`, `HTTPServer`. Single letters and short numbers
/// between them are, too.
pub(crate) fn is_known(name: &str) -> bool {
    if name.is_empty() || name.len() > LONGEST || !name.is_ascii() {
        return false;
    }
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    words(name).all(is_known_word) && words(name).filter(is_number).count() <= MOST_NUMBERS
}

fn is_known_word(word: &str) -> bool {
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return word.len() <= 4;
    }
    word.len() == 1 || WORDS.contains(word) || WORDS.contains(word.to_ascii_lowercase().as_str())
}

/// The words of a name: where letters follow digits or small ones capitals, and what is between signs.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let pieces = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|piece| !piece.is_empty());
    pieces.flat_map(|piece| {
        let mut rest = piece;
        std::iter::from_fn(move || {
            let (word, after) = rest.split_at_checked(word_len(rest))?;
            rest = after;
            (!word.is_empty()).then_some(word)
        })
    })
}

/// The length of the first word of a name: digits, capitals (`HTTP` of `HTTPServer`), or letters with at most a first capital.
fn word_len(name: &str) -> usize {
    let count = |is: fn(&u8) -> bool, from: usize| name.bytes().skip(from).take_while(is).count();
    let digits = count(u8::is_ascii_digit, 0);
    if digits > 0 {
        return digits;
    }
    let capitals = count(u8::is_ascii_uppercase, 0);
    let small = count(u8::is_ascii_lowercase, capitals);
    match (capitals, small) {
        (0, small) => small,
        (1, small) => 1 + small,
        (capitals, 0) => capitals,
        // "HDFSs" and "IDs" are plurals.
        (capitals, 1) if name.as_bytes().get(capitals) == Some(&b's') => capitals + 1,
        (capitals, _) => capitals - 1,
    }
}

/// Whether this is a source file of an engine, without its suffix.
pub(crate) fn is_engine_file(stem: &str) -> bool {
    FILES.contains(stem)
}

/// Whether a dotted name is that of a class of an engine or the JVM.
pub(crate) fn is_engine_class(name: &str) -> bool {
    PACKAGES.iter().any(|package| name.starts_with(package))
}

/// The strings by which the kind of a failure is known, prepared for a search.
static FAILURES: LazyLock<Vec<Vec<Finder<'static>>>> = LazyLock::new(|| {
    signature_strings().map(|all| all.iter().map(|string| Finder::new(*string)).collect()).collect()
});

static MARKS: LazyLock<Vec<Finder<'static>>> = LazyLock::new(|| exit_code_marks().map(Finder::new).collect());

/// The longest exit code, with its sign.
const LONGEST_CODE: usize = 5;

/// Where a message tells an exit code: the words before it, and the code.
fn exit_codes(text: &str) -> impl Iterator<Item = Range<usize>> {
    MARKS.iter().flat_map(move |mark| {
        mark.find_iter(text.as_bytes()).map(move |at| {
            let after = at + mark.needle().len();
            let digits =
                text.bytes().skip(after).take_while(|byte| byte.is_ascii_digit() || *byte == b'-').count();
            at..after + if digits <= LONGEST_CODE { digits } else { 0 }
        })
    })
}

static CLASSES: LazyLock<Vec<Finder<'static>>> =
    LazyLock::new(|| OF_CLASSES.iter().map(Finder::new).collect());

/// Where a message contains the strings by which its kind of failure is known: in order, not overlapping.
pub(crate) fn failure_spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for finders in FAILURES.iter() {
        let places = finders.iter().map(|finder| {
            finder.find_iter(text.as_bytes()).map(|at| at..at + finder.needle().len()).collect::<Vec<_>>()
        });
        let places: Vec<Vec<_>> = places.take_while(|places| !places.is_empty()).collect();
        if places.len() == finders.len() {
            spans.extend(places.into_iter().flatten());
        }
    }
    spans.extend(exit_codes(text));
    merged(spans)
}

/// Where the name of a class shows the tool of its job.
pub(crate) fn class_spans(text: &str) -> Vec<Range<usize>> {
    let all = CLASSES
        .iter()
        .flat_map(|finder| finder.find_iter(text.as_bytes()).map(|at| at..at + finder.needle().len()));
    merged(all.collect())
}

fn merged(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_unstable_by_key(|span| (span.start, span.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_engines_are_known() {
        for name in [
            "internal",
            "executorRunTime",
            "FILE_BYTES_READ",
            "ShuffleExchangeExec",
            "InsertIntoHadoopFsRelationCommand",
            "WholeStageCodegen",
            "JDBCRDD",
            "NewHadoopRDD",
            "toPandas",
            "SortMergeJoin",
            "$anonfun$apply$12",
        ] {
            assert!(is_known(name), "{name}");
        }
        for name in [
            "alice",
            "AcmePayroll",
            "customer_id",
            "hunter2",
            "",
            "sales",
            "größe",
            "1234567",
            "10.20.30.40",
            "port 078-05-1120",
        ] {
            assert!(!is_known(name), "{name}");
        }
    }

    #[test]
    fn words_are_in_order_and_in_lower_case() {
        let all: Vec<&str> = include_str!("../vocabulary/words.txt").split_whitespace().collect();
        assert!(all.is_sorted_by(|a, b| a < b), "sort vocabulary/words.txt");
        assert!(all.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())));
        let files: Vec<&str> = include_str!("../vocabulary/files.txt").split_whitespace().collect();
        assert!(files.is_sorted_by(|a, b| a < b), "sort vocabulary/files.txt");
    }

    #[test]
    fn signatures_are_found_if_all_their_strings_are_there() {
        let text = "x No space left on device y";
        assert_eq!(failure_spans(text).first(), Some(&(2..25)));
        assert!(failure_spans("Region of acme").is_empty());
        assert_eq!(failure_spans("x nonzero status of 15.").first(), Some(&(2..22)));
        assert_eq!(failure_spans("exit code 4711471").first(), Some(&(1..10)));
    }
}
