//! The reference of expressions: names, functions, types, and defaults of settings, from the tables that rules are
//! compiled with.

use std::fmt::Write;

use super::compile::FUNCTIONS;
use super::names::lines;
use super::unit::Type;
use elephant_model::model::conf::defaults::{self, Version};

/// A part of the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The namespace, or the kind of its lines.
    pub name: &'static str,
    /// A description of the lines.
    pub about: &'static str,
    /// The title of the first column.
    pub heading: &'static str,
    /// Its lines.
    pub lines: Vec<Line>,
    /// An example, as it is written in a rule file; empty for none.
    pub sample: &'static str,
}

/// A line of the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// As it is written in an expression.
    pub written: String,
    /// The type of its value.
    pub kind: String,
    /// What it means.
    pub meaning: String,
}

/// The namespaces and their descriptions.
const ABOUT: [(&str, &str); 9] = [
    ("app", "The application."),
    (
        "tasks",
        "The tasks of the subject: all tasks of an application, its map tasks, its reduce tasks, or the tasks of a stage.",
    ),
    ("attempts", "The attempts of those tasks."),
    (
        "task",
        "Inside aggregates: each successful task, with the data of its successful attempt. `attempt` has the same names for \
         every attempt, successful or not.",
    ),
    (
        "stage",
        "A stage attempt of a Spark application: the subject of a rule with `over: stage`; in other rules, inside aggregates.",
    ),
    (
        "job",
        "A job of a Spark application: the subject of a rule with `over: job`, whose tasks are those of its stages; in other \
         rules, inside aggregates.",
    ),
    (
        "executor",
        "An executor of a Spark application, or the driver if it runs the tasks: the subject of a rule with `over: executor`; in \
         other rules, inside aggregates. Times and sizes of tasks are sums over its attempts.",
    ),
    (
        "query",
        "A query (SQL execution) of a Spark application: the subject of a rule with `over: query`, whose tasks are those of its \
         stages, and whose jobs, stages and operators (`job`, `stage`, `node`) aggregates run over; with `over: operator`, the \
         query of the operator.",
    ),
    (
        "node",
        "An operator of a query, with the values of all stages in which it ran: the subject of a rule with `over: operator`; \
         inside aggregates with `over: query`, each operator of the query. `metric(\"…\")` reads any of its SQL metrics.",
    ),
];

const TYPES: [(&str, &str, &str); 8] = [
    ("text", "\"root.etl\"", "compared with == and !=; see also the functions of texts"),
    ("condition", "a < b", "true or false"),
    ("number", "0.25, 1e6", "a share, a ratio, a mean of counts"),
    ("count", "100", "a whole number; also fits where a number is expected"),
    ("time", "time(\"5min\")", "stored in milliseconds"),
    ("size", "size(\"64MB\")", "stored in bytes; 1 MB has 1024 × 1024"),
    ("speed", "size(\"1MB\") / time(\"1s\")", "a size divided by a time, per second"),
    ("unknown", "null", "no value: the history does not contain it; fits every type"),
];

const OPERATORS: [(&str, &str, &str); 6] = [
    ("number", "a + b, a - b, a * b, a / b, a % b", "of numbers with units; no value if b is 0"),
    ("condition", "a == b, a != b", "of any two values of one type"),
    ("condition", "a < b, a <= b, a > b, a >= b", "of numbers of one unit"),
    ("condition", "a && b, a || b, !a", "and, or, not; one of two may be unknown if the other decides"),
    ("condition", "x in [\"a\", \"b\"]", "whether x is in the list"),
    ("type of a", "condition ? a : b", "a if the condition is true, else b"),
];

/// The keys of a document that defines a rule.
const FILE: [(&str, &str, &str); 17] = [
    ("word", "rule", "required: the id, in kebab-case; it differs from those of built-in rules"),
    ("text", "title", "the name in reports; default: the id"),
    ("word", "engine", "`mapreduce`, `spark` or `any`, the default"),
    (
        "word",
        "over",
        "what is judged: `application` (the default), `map`, `reduce`, `stage`, `executor`, `job`, `query` or `operator`; each stage, executor, job, query or operator on its own",
    ),
    ("condition", "when", "if it does not hold, the rule does not apply; it cannot use values"),
    (
        "Markdown",
        "description",
        "the page that `rules show` prints: what the rule finds, why, what to change",
    ),
    (
        "mapping",
        "values",
        "names, each with an expression; a value can use those above it; all of them are evidence in the JSON report",
    ),
    (
        "mapping",
        "thresholds",
        "required: four cut-offs, from low to critical, by the name of a value: `{rising: [1, 2, 4, 8]}` if larger values are \
         worse, `{falling: [64MB, 32MB, 16MB, 8MB]}` if smaller ones are. Cut-offs have the unit of the value (64MB, 5min, \
         50MB/s, 20%, 1/8) or are `never`. `decimals: 2` next to rising or falling cuts the value and the cut-offs to so many decimals",
    ),
    (
        "text",
        "severity",
        "how several thresholds are combined: `min(a, b)` if all must be passed, `max(a, b)` if one is enough; can be nested",
    ),
    ("number", "score_tasks", "the number of tasks in the score; default: that of the subject"),
    (
        "text",
        "message",
        "required: one sentence. `{name}` or `{expression}` shows a value in its unit, `{x:%}` in percent, `{x:plain}` as digits; \
         `{{` and `}}` are braces. The threshold that decides follows in brackets",
    ),
    (
        "list",
        "advice",
        "texts, with `{…}` as in messages, or `{when: condition, text: …, set: {setting: value}}`. A setting is part of the \
         recommended configuration; in its value, `{…}` is a number without a unit. A value that is unknown is left out",
    ),
    (
        "list",
        "examples",
        "for `rules test`: `{name: …, values: {…}, severity: …}`, or a history instead of values; severity may also be \
         not-evaluated or not-applicable",
    ),
    (
        "mapping",
        "for",
        "only for some applications: `engine`, `job_type`, `queue`, `user` or `name`, each with a word, a glob such as `etl-*`, a \
         regular expression in quotes such as `'/^etl-/'`, or a list of them",
    ),
    ("true, false", "enabled", "whether the rule is on"),
    ("word", "max_severity", "no finding of the rule is worse: `low`, `moderate` or `severe`"),
    (
        "document",
        "suppress",
        "instead of rule: the rule whose findings are left out, with `reason`, and perhaps `until` (a day), `for`, `application` \
         and `subject`",
    ),
];

/// A whole rule.
const SAMPLE: &str = r#"rule: etl-small-files
title: ETL reads small files
over: map
when: app.queue.startsWith("root.etl")
values:
  read: mean(task.input_bytes)
  maps: tasks.total
thresholds:
  read: {falling: [64MB, 32MB, 16MB, 8MB]}
  maps: {rising: [100, 500, 1000, 5000]}
severity: min(read, maps)
message: "{maps} map tasks read {read} each"
advice:
  - text: read several files per task
    set: {mapred.min.split.size: "{in_bytes(size('128MB'))}"}
examples:
  - values: {read: 2MB, maps: 2000}
    severity: severe
"#;

/// The name of the section about rule files.
const ABOUT_FILES: &str = "file";

/// The whole reference.
#[must_use]
pub fn sections() -> Vec<Section> {
    let file = Section {
        name: ABOUT_FILES,
        about: "A rule file is YAML: a document for each rule, separated by lines of three hyphens. A document that names a \
                built-in rule changes it; these are the keys of one that defines a rule. `--rules FILE` uses the file, `rules \
                check FILE` checks it, `rules test FILE` runs its examples.",
        heading: "key",
        lines: FILE.iter().map(listed).collect(),
        sample: SAMPLE,
    };
    let types = Section {
        name: "types",
        about: "The types of values, and how to write them. A sum, a comparison or a threshold of different types is an error.",
        heading: "written",
        lines: TYPES.iter().map(listed).collect(),
        sample: "",
    };
    let operators = Section {
        name: "operators",
        about: "They combine values, as in C or Java.",
        heading: "written",
        lines: OPERATORS.iter().map(listed).collect(),
        sample: "",
    };
    let functions = Section {
        name: "functions",
        about: "Aggregates, from `sum` to `split`, run over rows and take a condition as last argument.",
        heading: "call",
        lines: FUNCTIONS.iter().map(|(_, usage, gives, meaning)| listed(&(gives, usage, meaning))).collect(),
        sample: "",
    };
    let defaults = Section {
        name: "defaults",
        about: "The values that functions of settings return for a setting that is not set. If the version of the engine is unknown, \
                only defaults that never changed are known; a job history does not contain the version of Hadoop.",
        heading: "setting",
        lines: defaults::SPARK
            .iter()
            .map(|of| default("Spark", of))
            .chain(defaults::HADOOP.iter().map(|of| default("Hadoop", of)))
            .collect(),
        sample: "",
    };
    let namespaces = ABOUT.into_iter().map(namespace);
    [file, types, operators].into_iter().chain(namespaces).chain([functions, defaults]).collect()
}

fn namespace((name, about): (&'static str, &'static str)) -> Section {
    let line = |(field, kind, meaning): (String, Type, String)| Line {
        written: format!("{name}.{field}"),
        kind: word(kind),
        meaning,
    };
    Section { name, about, heading: "name", lines: lines(name).into_iter().map(line).collect(), sample: "" }
}

fn listed((kind, written, meaning): &(&str, &str, &str)) -> Line {
    Line { written: (*written).to_owned(), kind: (*kind).to_owned(), meaning: (*meaning).to_owned() }
}

fn default(engine: &str, (name, values): &defaults::Default) -> Line {
    let from = |((major, minor), value): &(Version, &str)| format!("{value} from {major}.{minor}");
    let values: Vec<String> = values.iter().map(from).collect();
    Line { written: (*name).to_owned(), kind: engine.to_owned(), meaning: values.join(", ") }
}

/// The reference in Markdown: a table for each section.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::new();
    // The guide explains the keys itself.
    let sections = sections().into_iter().filter(|section| section.name != ABOUT_FILES);
    for Section { name, about, heading, lines, .. } in sections {
        let is_namespace = ABOUT.iter().any(|(known, _)| *known == name);
        let (first, rest) = name.split_at(1);
        let title =
            if is_namespace { format!("`{name}`") } else { format!("{}{rest}", first.to_uppercase()) };
        let kind = if name == "defaults" { "engine" } else { "type" };
        let meaning = if name == "defaults" { "default" } else { "meaning" };
        // Writing to a string never fails.
        let _ = writeln!(
            text,
            "### {title}\n\n{about}\n\n| {heading} | {kind} | {meaning} |\n| --- | --- | --- |"
        );
        for Line { written, kind, meaning } in lines {
            let _ = writeln!(text, "| `{}` | {kind} | {} |", cell(&written), cell(&meaning));
        }
        text.push('\n');
    }
    text.pop();
    text
}

/// The name of a type without its article.
fn word(kind: Type) -> String {
    kind.name().trim_start_matches("a ").to_owned()
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::super::names::NAMESPACES;
    use super::*;

    #[test]
    fn every_namespace_and_function_is_listed() {
        let sections = sections();
        for name in NAMESPACES.into_iter().filter(|name| *name != "attempt") {
            let section = sections.iter().find(|section| section.name == name);
            assert_eq!(section.map(|section| section.lines.len()), Some(lines(name).len()), "{name}");
        }
        let written = |wanted: &str| sections.iter().any(|s| s.lines.iter().any(|l| l.written == wanted));
        assert!(FUNCTIONS.iter().all(|(_, usage, ..)| written(usage)));
        assert!(written("counter(\"group\", \"name\")") && written("spark.sql.shuffle.partitions"));
    }
}
