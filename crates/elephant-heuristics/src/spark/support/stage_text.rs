//! Shows names of stages and logged messages.

use crate::shown::{MESSAGE, STAGE_NAME};
use elephant_model::model::spark::{Stage, without_folders};

/// "stage 3.0 (count at App.scala:10)".
pub(crate) fn label(stage: &Stage) -> String {
    match stage.name.as_deref().map(|name| cut(&without_folders(name), STAGE_NAME)) {
        Some(name) if !name.is_empty() => format!("stage {} ({name})", stage.id),
        _ => format!("stage {}", stage.id),
    }
}

/// The first line of a message without its full stop, shortened.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().collect();
    cut(words.join(" ").trim_end_matches(['.', ':']), MESSAGE)
}

/// The root cause of a failure in one line. Spark wraps the message of the last failed attempt in sentences
/// about tasks and stages; the most specific exception follows the last "Caused by".
pub(crate) fn cause(text: &str) -> String {
    let root = text.rsplit_once("Caused by: ").map(|(_, root)| root);
    let last = || text.split_once("ost recent failure:").map(|(_, rest)| rest);
    let inner = root.or_else(last).unwrap_or(text).trim_start();
    // "Lost task 1.3 in stage 4.0 (TID 9) (host executor 1): java.io.IOException: …"
    let behind = inner.strip_prefix("Lost task ").and_then(|rest| rest.split_once("): "));
    first_line(unwrapped(behind.map_or(inner, |(_, rest)| rest)))
}

/// Removes a Python traceback in front of the exception that ends it.
fn unwrapped(text: &str) -> &str {
    let traceback =
        text.lines().next().is_some_and(|line| line.contains("Traceback (most recent call last)"));
    let indented = |line: &&str| !line.starts_with([' ', '\t']) && !line.trim().is_empty();
    let raised = || text.lines().skip(1).find(indented);
    if traceback { raised().unwrap_or(text) } else { text }
}

/// `text` shortened to `most` characters, with "…" for the rest.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::spark::StageAttempt;

    #[test]
    fn stages_are_shown_with_their_call_site() {
        let mut stage = Stage::new(StageAttempt { stage: 3, attempt: 1 });
        assert_eq!(label(&stage), "stage 3.1");
        stage.name = Some("collect at /opt/app/scripts/job.py:12".into());
        assert_eq!(label(&stage), "stage 3.1 (collect at job.py:12)");
        stage.name = Some("x".repeat(50).into());
        assert_eq!(label(&stage), format!("stage 3.1 ({}…)", "x".repeat(40)));
    }

    #[test]
    fn the_cause_is_found_in_the_message_of_spark() {
        let lost = "Job aborted due to stage failure: Task 5 in stage 3.0 failed 4 times, most recent failure: Lost task \
                    5.3 in stage 3.0 (TID 28) (127.0.0.1 executor 1): ";
        assert_eq!(
            cause(&format!("{lost}java.io.IOException: disk full.\n\tat A.b")),
            "java.io.IOException: disk full"
        );
        assert_eq!(cause(&format!("{lost}a.B: c\n\tat A.b\nCaused by: d.E: f\n\tat A.b")), "d.E: f");
        let excluded = "Aborting TaskSet 1.0 because task 5 cannot run anywhere\nMost recent failure:\nLost task 5.1 in stage \
                        1.0 (TID 5) (n3 executor 3): a.B: c\n\tat A.b\n";
        assert_eq!(cause(excluded), "a.B: c");
        let python =
            "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: no\n\n\tat A.b";
        assert_eq!(cause(&format!("{lost}PythonException: {python}")), "ValueError: no");
    }

    #[test]
    fn messages_keep_their_first_line() {
        assert_eq!(first_line("  gone  for good.\n\tat A.b(A.java:1)"), "gone for good");
        assert_eq!(first_line(""), "");
    }
}
