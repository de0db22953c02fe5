//! The names and functions of expressions as tables, for the documentation; a test keeps them in step.

use std::fmt::Write;

use super::compile::FUNCTIONS;
use super::names::{NAMESPACES, lines};
use super::unit::Type;

/// The namespaces and their descriptions.
const ABOUT: [(&str, &str); 6] = [
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
    ("job", "Inside aggregates: each job of a Spark application."),
];

const EXECUTOR: (&str, &str) = (
    "executor",
    "An executor of a Spark application, or the driver if it runs the tasks: the subject of a rule with `over: executor`; in \
     other rules, inside aggregates. Times and sizes of tasks are sums over its attempts.",
);

/// The reference in Markdown: a table per namespace, and a table of the functions.
#[must_use]
pub(crate) fn markdown() -> String {
    let mut text = String::new();
    for (namespace, about) in ABOUT.into_iter().chain([EXECUTOR]) {
        debug_assert!(NAMESPACES.contains(&namespace));
        // Writing to a string never fails.
        let _ =
            writeln!(text, "### `{namespace}`\n\n{about}\n\n| name | type | meaning |\n| --- | --- | --- |");
        for (name, kind, meaning) in lines(namespace) {
            let _ = writeln!(text, "| `{namespace}.{name}` | {} | {} |", word(kind), cell(&meaning));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "### Functions\n\n| call | result |\n| --- | --- |");
    for (_, usage, meaning) in FUNCTIONS {
        let _ = writeln!(text, "| `{usage}` | {} |", cell(meaning));
    }
    text
}

/// The name of a type without its article.
fn word(kind: Type) -> String {
    kind.name().trim_start_matches("a ").to_owned()
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
