//! Why a task ended.

use super::TaskEnd;
use crate::model::table::EndReason;
use crate::parse::reading::truncate;
use crate::parse::scan::{Cursor, Scan};
use crate::parse::spark::strings::Strings;

/// Maximum length of failure messages: their first line says what happened.
const MAX_MESSAGE_LEN: usize = 240;

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

/// "Task End Reason": its kind and, for a failure, the first line of its message.
pub(super) fn read(cursor: &mut Cursor<'_>, strings: &mut Strings, end: &mut TaskEnd) -> Scan<()> {
    if cursor.literal(b"{\"Reason\":\"Success\"}").is_ok() {
        end.reason = Some(EndReason::Success);
        return Ok(());
    }
    let keys: [&[u8]; 7] = [
        b"\"Reason\":",
        b"\"Class Name\":",
        b"\"Description\":",
        b"\"Message\":",
        b"\"Loss Reason\":",
        b"\"Kill Reason\":",
        b"\"Job ID\":",
    ];
    let mut kind = None;
    let mut texts: [Option<String>; 2] = [None, None];
    cursor.members(&keys, |key, cursor| {
        if key == 6 {
            return cursor.skip_value();
        }
        let text = cursor.string_or_skip()?.map(|raw| raw.text().into_owned());
        match key {
            0 => kind = text,
            1 => texts[0] = text,
            _ => texts[1] = text,
        }
        Ok(())
    })?;
    let [class, description] = texts;
    let described = [class.as_deref(), description.as_deref()];
    let says = |what: &str| described.into_iter().flatten().any(|text| text.contains(what));
    end.resubmitted = kind.as_deref() == Some("Resubmitted");
    let known = REASONS.iter().find(|(word, _)| kind.as_deref() == Some(word)).map(|&(_, reason)| reason);
    end.reason = known.map(|reason| match reason {
        EndReason::Success | EndReason::FetchFailed => reason,
        _ if says("memory limits") || says("exceeding physical memory") => EndReason::ContainerOverMemory,
        EndReason::ExecutorLost => reason,
        _ if says("OutOfMemoryError") || says("SparkOutOfMemoryError") => EndReason::OutOfMemory,
        _ => reason,
    });
    end.unknown_reason = known.is_none();
    if end.reason != Some(EndReason::Success) {
        let text = message(class.as_deref(), description.as_deref());
        end.message = text.or(kind).and_then(|text| strings.intern(&text));
    }
    Ok(())
}

/// "java.io.IOException: disk full", from a class and a description, which may repeat it and continue for
/// pages.
fn message(class: Option<&str>, description: Option<&str>) -> Option<String> {
    // In a Python traceback, the last line says what happened; Spark 4 starts with a line that announces the
    // traceback.
    let line = |text: &str| {
        let traceback = text.lines().take(2).any(|line| line.contains("Traceback (most recent call last)"));
        let mut lines =
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("SQLSTATE"));
        if traceback { lines.next_back().map(str::to_owned) } else { lines.next().map(str::to_owned) }
    };
    let description = description.and_then(line);
    let text = match (class, description) {
        (Some(class), Some(text)) if !text.starts_with(class) => format!("{class}: {text}"),
        (_, Some(text)) => text,
        (class, None) => class?.to_owned(),
    };
    Some(truncate(&text, MAX_MESSAGE_LEN).to_owned())
}
