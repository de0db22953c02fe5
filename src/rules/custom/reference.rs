//! The names and functions of expressions as tables, for the documentation and for `elephant-rs rules names`.

use std::fmt::Write;

use super::compile::FUNCTIONS;
use super::names::{NAMESPACES, lines};
use super::unit::Type;

/// A namespace: its name, and what it is about.
const ABOUT: [(&str, &str); 6] = [
    ("app", "The application."),
    (
        "tasks",
        "The tasks of what is judged: all tasks of an application, its maps, its reduces, the tasks of a stage.",
    ),
    ("attempts", "The attempts of those tasks."),
    (
        "task",
        "Within aggregates: each task that succeeded, by the attempt that stands for it. `attempt` has the same names for \
         every attempt, however it ended.",
    ),
    (
        "stage",
        "A stage attempt of a Spark application: what a rule `over: stage` judges; else within aggregates.",
    ),
    ("job", "Within aggregates: each job of a Spark application."),
];

const EXECUTOR: (&str, &str) = (
    "executor",
    "An executor of a Spark application, or the driver where it runs the tasks: what a rule `over: executor` judges; else \
     within aggregates. Times and sizes of tasks are added up over its attempts.",
);

/// The reference in Markdown: a table for each namespace, and one of the functions.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::new();
    for (namespace, about) in ABOUT.into_iter().chain([EXECUTOR]) {
        debug_assert!(NAMESPACES.contains(&namespace));
        // Writing to a string does not fail.
        let _ =
            writeln!(text, "### `{namespace}`\n\n{about}\n\n| name | type | meaning |\n| --- | --- | --- |");
        for (name, kind, meaning) in lines(namespace) {
            let _ = writeln!(text, "| `{namespace}.{name}` | {} | {} |", word(kind), cell(&meaning));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "### Functions\n\n| call | gives |\n| --- | --- |");
    for (_, usage, meaning) in FUNCTIONS {
        let _ = writeln!(text, "| `{usage}` | {} |", cell(meaning));
    }
    text
}

/// A type without its article.
fn word(kind: Type) -> String {
    kind.name().trim_start_matches("a ").to_owned()
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
