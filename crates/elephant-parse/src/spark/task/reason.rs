//! Why a task ended.

use super::TaskEnd;
use crate::reading::truncate;
use crate::scan::{Cursor, RawStr, Scan};
use crate::spark::failure_text::{MAX_LINE_LEN, TRACEBACK, last_cause, lines, with_cause};
use crate::spark::strings::Strings;
use elephant_model::model::table::EndReason;

/// Spark's names of end reasons (`JsonProtocol.taskEndReasonFromJson`).
const REASONS: [(&str, EndReason); 9] = [
    ("Success", EndReason::Success),
    ("Resubmitted", EndReason::Other),
    ("FetchFailed", EndReason::FetchFailed),
    ("ExceptionFailure", EndReason::Exception),
    ("TaskResultLost", EndReason::ResultLost),
    ("TaskKilled", EndReason::Killed),
    ("TaskCommitDenied", EndReason::CommitDenied),
    ("ExecutorLostFailure", EndReason::ExecutorLost),
    ("UnknownReason", EndReason::Other),
];

/// "Task End Reason": its kind and, for a failure, the first line of its message and its last cause.
pub(super) fn read(cursor: &mut Cursor<'_>, strings: &mut Strings, end: &mut TaskEnd) -> Scan<()> {
    if cursor.literal(b"{\"Reason\":\"Success\"}").is_ok() {
        end.reason = Some(EndReason::Success);
        return Ok(());
    }
    let keys: [&[u8]; 8] = [
        b"\"Reason\":",
        b"\"Class Name\":",
        b"\"Description\":",
        b"\"Message\":",
        b"\"Loss Reason\":",
        b"\"Kill Reason\":",
        b"\"Full Stack Trace\":",
        b"\"Job ID\":",
    ];
    let (mut kind, mut class, mut description, mut trace) = (None, None, None, None);
    cursor.members(&keys, |key, cursor| {
        match key {
            0 => kind = cursor.string_or_skip()?,
            1 => class = cursor.string_or_skip()?,
            2..=5 => description = cursor.string_or_skip()?,
            6 => trace = cursor.string_or_skip()?,
            _ => cursor.skip_value()?,
        }
        Ok(())
    })?;
    let text = |raw: Option<RawStr<'_>>| raw.map(|raw| raw.text().into_owned());
    let cause = trace.or(description).and_then(last_cause);
    let (kind, class, description) = (text(kind), text(class), text(description));
    let described = [class.as_deref(), description.as_deref(), cause.as_deref()];
    let says = |what: &str| described.into_iter().flatten().any(|text| text.contains(what));
    end.resubmitted = kind.as_deref() == Some("Resubmitted");
    let known = REASONS.iter().find(|(word, _)| kind.as_deref() == Some(word)).map(|&(_, reason)| reason);
    end.reason = known.map(|reason| match reason {
        // Tasks that Spark kills with their stage repeat the error of the task that ended it, memory and all.
        EndReason::Success | EndReason::FetchFailed | EndReason::Killed => reason,
        _ if says("memory limits") || says("exceeding physical memory") => EndReason::ContainerOverMemory,
        EndReason::ExecutorLost => reason,
        // Also SparkOutOfMemoryError, and Netty's subclass for direct buffers.
        _ if says("OutOfMemoryError") || says("OutOfDirectMemoryError") => EndReason::OutOfMemory,
        _ => reason,
    });
    end.unknown_reason = known.is_none();
    if end.reason != Some(EndReason::Success) {
        let text = message(class.as_deref(), description.as_deref()).or(kind);
        let text = text.map(|text| with_cause(text, cause));
        end.message = text.and_then(|text| strings.intern(&text));
    }
    Ok(())
}

/// "java.io.IOException: disk full", from a class and a description, which may repeat it and continue for
/// pages.
fn message(class: Option<&str>, description: Option<&str>) -> Option<String> {
    // Spark 4 starts with a line that announces the traceback.
    let line = |text: &str| {
        let traceback = text.lines().take(2).any(|line| line.contains(TRACEBACK));
        if traceback { lines(text).next_back() } else { lines(text).next() }.map(str::to_owned)
    };
    let description = description.and_then(line);
    let text = match (class, description) {
        (Some(class), Some(text)) if !text.starts_with(class) => format!("{class}: {text}"),
        (_, Some(text)) => text,
        (class, None) => class?.to_owned(),
    };
    Some(truncate(&text, MAX_LINE_LEN).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spark::failure_text::CAUSED_BY;

    /// The reason and the message of a task with this end.
    fn read_text(json: &str) -> (Option<EndReason>, String) {
        let (mut strings, mut end) = (Strings::default(), TaskEnd::default());
        read(&mut Cursor::new(json.as_bytes()), &mut strings, &mut end).unwrap();
        (end.reason, end.message.map(|local| strings.get(local).to_owned()).unwrap_or_default())
    }

    fn exception(description: &str, trace: &str) -> (Option<EndReason>, String) {
        let texts = serde_json::json!({
            "Reason": "ExceptionFailure", "Class Name": "a.WriteException", "Description": description,
            "Stack Trace": [{"Declaring Class": "a.B"}], "Full Stack Trace": trace,
        });
        read_text(&texts.to_string())
    }

    #[test]
    fn the_last_cause_is_kept() {
        let (reason, text) = exception(
            "Task failed while writing rows.",
            "a.WriteException: Task failed while writing rows.\n\tat a.B.c(B.java:1)\nCaused by: b.C: first\n\tat a.B.d(B.java:2)\n\
             Caused by: java.lang.OutOfMemoryError: Java heap space\n\tat a.B.e(B.java:3)\n\t... 12 more\n",
        );
        assert_eq!(reason, Some(EndReason::OutOfMemory));
        assert_eq!(
            text,
            "a.WriteException: Task failed while writing rows.\nCaused by: java.lang.OutOfMemoryError: Java heap space"
        );
        let netty = "a.WriteException: no\nCaused by: io.netty.util.internal.OutOfDirectMemoryError: failed to allocate";
        assert_eq!(exception("no", netty).0, Some(EndReason::OutOfMemory));
        let (reason, text) = exception("no", "a.WriteException: no\n\tat a.B.c(B.java:1)\n");
        assert_eq!((reason, text.as_str()), (Some(EndReason::Exception), "a.WriteException: no"));
        let (_, text) = exception("no", "a.WriteException: no\nCaused by: a.WriteException: no");
        assert_eq!(text, "a.WriteException: no", "a cause that says the same is left out");
    }

    /// Spark 3.5 kills the other tasks of a failed stage with the message of its failure.
    #[test]
    fn a_killed_task_did_not_run_out_of_memory() {
        let killed = r#"{"Reason":"TaskKilled","Kill Reason":"Stage cancelled: Job aborted due to stage failure: Task 3 in stage 1.0
            failed 4 times: java.lang.OutOfMemoryError: Java heap space; Container killed by YARN for exceeding physical memory
            limits."}"#;
        assert_eq!(read_text(&killed.replace('\n', " ")).0, Some(EndReason::Killed));
    }

    #[test]
    fn the_last_line_of_a_traceback_is_the_cause() {
        let (_, text) = exception(
            "[TASK_WRITE_FAILED] Task failed.",
            "a.WriteException: [TASK_WRITE_FAILED] Task failed.\n\tat a.B.c(B.java:1)\nCaused by: \
             org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n\
             \u{20}   1 // 0\nZeroDivisionError: division \"\u{fc}\u{2603}\" by zero\n\n\tat a.B.d(B.java:2)\n",
        );
        assert_eq!(
            text,
            "a.WriteException: [TASK_WRITE_FAILED] Task failed.\nCaused by: \
             org.apache.spark.api.python.PythonException: ZeroDivisionError: division \"\u{fc}\u{2603}\" by zero"
        );
    }

    #[test]
    fn fetch_failures_keep_the_cause_in_their_message() {
        let json = r#"{"Reason":"FetchFailed","Block Manager Address":{"Executor ID":"1"},"Shuffle ID":0,
            "Message":"org.apache.spark.shuffle.FetchFailedException: Failed to connect to n1\n\tat a.B.c(B.java:1)\nCaused by: java.io.IOException: Connection reset\n\tat a.B.d(B.java:2)\n"}"#;
        let (reason, text) = read_text(json);
        assert_eq!(reason, Some(EndReason::FetchFailed));
        assert_eq!(
            text,
            "org.apache.spark.shuffle.FetchFailedException: Failed to connect to n1\nCaused by: \
             java.io.IOException: Connection reset"
        );
    }

    #[test]
    fn messages_stay_short() {
        let long = "\u{2603}\n".repeat(100_000);
        let (_, text) = exception(&long, &format!("x\nCaused by: {}: {long}\n", "y".repeat(100_000)));
        assert!(text.len() <= 2 * MAX_LINE_LEN + CAUSED_BY.len() + 1, "{}", text.len());
        let (_, text) = exception("no", &format!("x\nCaused by: {}", "y\n".repeat(100_000)));
        assert_eq!(text, "a.WriteException: no\nCaused by: y");
    }
}
